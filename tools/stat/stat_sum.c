/* SPDX-License-Identifier: MIT */
/* Arithmetic of counts: differences of readings, means of runs. */
#include "config.h"

#include "tools/stat/stat.h"

#include <math.h>

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
