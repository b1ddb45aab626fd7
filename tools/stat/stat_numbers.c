/* SPDX-License-Identifier: MIT */
/* What counts say: differences of readings, means of runs, and metrics. */
#include "config.h"

#include "tools/stat/stat.h"

#include <math.h>
#include <string.h>

/* ---- readings and runs ---- */

bool ppi_stat_is_number(const struct ppi_stat_value *value)
{
	return value->status == PORTPROF_COUNT_OK ||
	       value->status == PORTPROF_COUNT_SCALED;
}

/* Of the statuses of several runs the one that says most against the mean. */
static uint64_t worse(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void ppi_stat_sum_add(struct ppi_stat_sum *sum,
                      const struct ppi_stat_value *value)
{
	double distance, from_first;

	sum->status = worse(sum->status, value->status);
	sum->raw += value->raw;
	sum->enabled_ns += value->enabled_ns;
	sum->running_ns += value->running_ns;
	if (!ppi_stat_is_number(value))
		return;
	sum->is_by_wait4 |= value->is_by_wait4;
	if (sum->runs == 0 || value->value < sum->least)
		sum->least = value->value;
	if (sum->runs == 0 || value->value > sum->most)
		sum->most = value->value;
	/* distances from the first are small, and exact: large numbers that
	 * differ little lose no digits, whatever the machine rounds to */
	if (sum->runs == 0)
		sum->first = value->value;
	from_first = value->value - sum->first;
	distance = from_first - sum->offset;
	sum->offset += distance / ++sum->runs;
	sum->squares += distance * (from_first - sum->offset);
	sum->mean = sum->first + sum->offset;
}

double ppi_stat_deviation(const struct ppi_stat_sum *sum)
{
	return sum->runs < 2 ? NAN : sqrt(sum->squares / (sum->runs - 1));
}

double ppi_stat_error(const struct ppi_stat_sum *sum)
{
	return sum->runs < 2 ? NAN
	                     : ppi_stat_deviation(sum) / sqrt(sum->runs);
}

static uint64_t scale(uint64_t raw, uint64_t enabled, uint64_t running)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)raw * enabled / running;

	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
#else
	long double scaled = (long double)raw * enabled / running;

	return scaled >= 18446744073709551615.0L ? UINT64_MAX
	                                         : (uint64_t)scaled;
#endif
}

static bool was_read(const portprof_count *count)
{
	return count->status != PORTPROF_COUNT_ERROR &&
	       count->status != PORTPROF_COUNT_REFUSED;
}

struct ppi_stat_value ppi_stat_between(const portprof_count *before,
                                       const portprof_count *after)
{
	struct ppi_stat_value value = { .status = after->status };

	if (!was_read(after) || after->status == PORTPROF_COUNT_NEVER_RAN)
		return value;
	if (!was_read(before)) {
		value.status = before->status;
		return value;
	}
	value.raw = after->raw - before->raw;
	value.enabled_ns = after->enabled_ns - before->enabled_ns;
	value.running_ns = after->running_ns - before->running_ns;
	if (value.enabled_ns == 0) {
		value.status = PPI_STAT_IDLE;
	} else if (value.running_ns == 0) {
		value.status = PORTPROF_COUNT_NEVER_RAN;
	} else if (value.running_ns >= value.enabled_ns) {
		value.status = PORTPROF_COUNT_OK;
		value.exact = value.raw;
	} else {
		value.status = PORTPROF_COUNT_SCALED;
		value.exact = scale(value.raw, value.enabled_ns,
		                    value.running_ns);
	}
	value.value = (double)value.exact;
	return value;
}

/* ---- metrics ---- */

/*
 * What counts mean together. Only events of one group are related: those of
 * different groups did not count the same instructions.
 */

static const struct {
	const char *of, *by; /* canonical names, without modifiers */
	double factor;
	const char *unit;
} ratios[] = {
	{ "instructions", "cycles", 1, "instructions per cycle" },
	/* by the names of CPUs' own tables */
	{ "INST_RETIRED", "CPU_CYCLES", 1, "instructions per cycle" },
	{ "INST_RETIRED", "CPU_CLK_UNHALTED", 1, "instructions per cycle" },
	{ "INSTRUCTION_RETIRED", "UNHALTED_CORE_CYCLES", 1,
	  "instructions per cycle" },
	{ "RETIRED_INSTRUCTIONS", "CYCLES_NOT_IN_HALT", 1,
	  "instructions per cycle" },
	{ "L1D_CACHE_REFILL", "INST_RETIRED", 1000, "per 1000 instructions" },
	{ "L2D_CACHE_REFILL", "INST_RETIRED", 1000, "per 1000 instructions" },
	{ "BR_MIS_PRED", "INST_RETIRED", 1000, "per 1000 instructions" },
	{ "cycles", "task-clock", 1, "GHz" },
	{ "ref-cycles", "task-clock", 1, "GHz" },
	{ "branch-misses", "branches", 100, "% of branches" },
	{ "cache-misses", "cache-references", 100, "% of cache-references" },
	{ "L1-dcache-load-misses", "L1-dcache-loads", 100,
	  "% of L1-dcache-loads" },
	{ "L1-icache-load-misses", "L1-icache-loads", 100,
	  "% of L1-icache-loads" },
	{ "LLC-load-misses", "LLC-loads", 100, "% of LLC-loads" },
	{ "LLC-store-misses", "LLC-stores", 100, "% of LLC-stores" },
	{ "dTLB-load-misses", "dTLB-loads", 100, "% of dTLB-loads" },
	{ "dTLB-store-misses", "dTLB-stores", 100, "% of dTLB-stores" },
	{ "iTLB-load-misses", "iTLB-loads", 100, "% of iTLB-loads" },
	{ "node-load-misses", "node-loads", 100, "% of node-loads" },
	{ "stalled-cycles-frontend", "cycles", 100, "% of cycles" },
	{ "stalled-cycles-backend", "cycles", 100, "% of cycles" },
	{ "branch-misses", "instructions", 1000, "per 1000 instructions" },
	{ "cache-misses", "instructions", 1000, "per 1000 instructions" },
	{ "L1-dcache-load-misses", "instructions", 1000,
	  "per 1000 instructions" },
	{ "LLC-load-misses", "instructions", 1000, "per 1000 instructions" },
	{ "dTLB-load-misses", "instructions", 1000, "per 1000 instructions" },
	{ "page-faults", "instructions", 1000, "per 1000 instructions" },
};

enum { RATIOS = sizeof(ratios) / sizeof(ratios[0]) };

static bool is_named(const struct ppi_stat_event *event, const char *name)
{
	const char *canonical = event->canonical;
	const char *colons = strstr(canonical, "::");
	size_t length;

	if (colons) /* whose event it is goes before it */
		canonical = colons + 2;
	length = strcspn(canonical, ":");
	return event->refusal.status == PORTPROF_OK &&
	       strlen(name) == length &&
	       strncmp(canonical, name, length) == 0;
}

/* The event of that name in the group of event `index`, of the same privilege
 * levels; CPU time has none: it is all of it. SIZE_MAX: not there. */
static size_t find_partner(const struct ppi_stat *stat, size_t index,
                           const char *name)
{
	const struct ppi_stat_event *event = &stat->events[index];
	const struct ppi_stat_group *group = &stat->groups[event->group];

	for (size_t i = group->first; i < group->first + group->count; i++) {
		const struct ppi_stat_event *other = &stat->events[i];

		if (i != index && is_named(other, name) &&
		    (other->info.unit == PORTPROF_UNIT_NANOSECONDS ||
		     (other->info.counts_user == event->info.counts_user &&
		      other->info.counts_kernel == event->info.counts_kernel)))
			return i;
	}
	return SIZE_MAX;
}

static double divide(const struct ppi_stat_value *of,
                     const struct ppi_stat_value *by, double factor)
{
	return ppi_stat_is_number(of) && ppi_stat_is_number(by) &&
	                       by->value > 0
	               ? of->value / by->value * factor
	               : NAN;
}

static double scale_of(const struct ppi_stat_event *event)
{
	const char *unit = event->info.scaled_unit;

	return unit && unit[0] ? event->info.scale : 1;
}

/* What is shown beside event `index` of its preset. */
static struct ppi_stat_metric preset_of(const struct ppi_stat *stat,
                                        const struct ppi_stat_value *values,
                                        size_t index)
{
	const struct ppi_stat_event *event = &stat->events[index];
	const portprof_preset *preset = event->preset;
	double known[PORTPROF_PRESET_EVENTS_MAX];

	for (size_t i = 0; i < PORTPROF_PRESET_EVENTS_MAX; i++) {
		size_t at = index - event->part + i;

		known[i] = NAN;
		if (preset->events[i] && ppi_stat_is_number(&values[at]))
			known[i] = values[at].value *
			           scale_of(&stat->events[at]);
	}
	for (size_t i = 0; i < preset->formula_count; i++)
		if (preset->formulas[i].event == event->part)
			return (struct ppi_stat_metric){
				preset->formulas[i].unit,
				portprof_preset_value(preset, i, known)
			};
	return (struct ppi_stat_metric){ .unit = NULL };
}

static struct ppi_stat_metric ratio(const struct ppi_stat *stat,
                                    const struct ppi_stat_value *values,
                                    size_t index)
{
	for (size_t i = 0; i < RATIOS; i++) {
		size_t by;

		if (!is_named(&stat->events[index], ratios[i].of))
			continue;
		by = find_partner(stat, index, ratios[i].by);
		if (by != SIZE_MAX)
			return (struct ppi_stat_metric){
				ratios[i].unit,
				divide(&values[index], &values[by],
				       ratios[i].factor)
			};
	}
	return (struct ppi_stat_metric){ .unit = NULL };
}

/* Per second of the CPU time in the group. */
static struct ppi_stat_metric rate(const struct ppi_stat *stat,
                                   const struct ppi_stat_value *values,
                                   size_t index)
{
	static const struct {
		double least, factor;
		const char *unit;
	} steps[] = {
		{ 1e9, 1e-9, "G/sec" }, { 1e6, 1e-6, "M/sec" },
		{ 1e3, 1e-3, "K/sec" }, { 0, 1, "/sec" },
	};
	size_t by = find_partner(stat, index, "task-clock");
	double each = by == SIZE_MAX ? NAN : divide(&values[index],
	                                            &values[by], 1e9);

	for (size_t i = 0; !isnan(each); i++)
		if (each >= steps[i].least)
			return (struct ppi_stat_metric){
				steps[i].unit, each * steps[i].factor
			};
	return (struct ppi_stat_metric){ by == SIZE_MAX ? NULL : "/sec", NAN };
}

struct ppi_stat_metric ppi_stat_metric(const struct ppi_stat *stat,
                                       const struct ppi_stat_value *values,
                                       size_t index, uint64_t wall_ns)
{
	const struct ppi_stat_event *event = &stat->events[index];
	struct ppi_stat_metric metric = { .unit = NULL };

	if (event->refusal.status != PORTPROF_OK)
		return metric;
	if (event->preset)
		metric = preset_of(stat, values, index);
	if (metric.unit)
		return metric;
	if (event->info.unit == PORTPROF_UNIT_NANOSECONDS) {
		metric.unit = "CPUs utilized";
		metric.value = ppi_stat_is_number(&values[index]) && wall_ns
		                       ? values[index].value / (double)wall_ns
		                       : NAN;
		return metric;
	}
	if (event->info.scaled_unit && event->info.scaled_unit[0]) {
		metric.unit = event->info.scaled_unit;
		metric.value = ppi_stat_is_number(&values[index])
		                       ? values[index].value * event->info.scale
		                       : NAN;
		return metric;
	}
	metric = ratio(stat, values, index);
	return metric.unit ? metric : rate(stat, values, index);
}

double ppi_stat_idle_ns(const struct ppi_stat *stat,
                        const struct ppi_stat_value *values, size_t index)
{
	const struct ppi_stat_value *value = &values[index];
	double enabled = (double)value->enabled_ns;

	if (stat->options.targets.scope != PPI_SCOPE_SYSTEM ||
	    stat->options.targets.cgroup_name ||
	    stat->events[index].info.unit != PORTPROF_UNIT_NANOSECONDS ||
	    !ppi_stat_is_number(value))
		return NAN;
	return enabled > value->value ? enabled - value->value : 0;
}
