/* SPDX-License-Identifier: MIT */
/* CPU time for backends without a PMU: measured without our helper thread, by
 * clocks that are watched, and the event names that mean it. */
#include "backends/common/cpu_time.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- CPU time, and clocks that are wrong ---- */

/* A reading takes time, and real time may be adjusted while CPU time is not
 * (adjtime(2): 1/2000; a clock that is wrong is wrong by more than 1/32). */
enum { READING_NS = 2000000, ADJUSTED = 32 };

/* ---- one clock ---- */

void ppi_cpu_watch_init(struct ppi_cpu_watch *watch,
                        const struct ppi_cpu_clock *clock, unsigned cpus)
{
	memset(watch, 0, sizeof(*watch));
	watch->clock = clock;
	watch->cpus = cpus ? cpus : 1;
}

static void blame(struct ppi_cpu_watch *watch, enum ppi_cpu_fault fault)
{
	if (watch->fault == PPI_CPU_RIGHT)
		watch->fault = fault;
}

void ppi_cpu_watch_begin(struct ppi_cpu_watch *watch, bool is_read,
                         uint64_t ns, uint64_t at_ns)
{
	if (!is_read) {
		blame(watch, PPI_CPU_UNREADABLE);
		ns = watch->seen_ns;
	}
	watch->base_ns = watch->seen_ns = ns;
	watch->began_ns = watch->at_ns = at_ns;
}

/* The most that all CPUs can have added in that time. */
static uint64_t most(const struct ppi_cpu_watch *watch, uint64_t real_ns)
{
	uint64_t extra = READING_NS + watch->clock->step_ns +
	                 watch->clock->back_ns + watch->clock->late_ns;

	return (real_ns + real_ns / ADJUSTED + extra) * watch->cpus;
}

uint64_t ppi_cpu_watch_see(struct ppi_cpu_watch *watch, bool is_read,
                           uint64_t ns, uint64_t at_ns)
{
	if (!is_read) {
		blame(watch, PPI_CPU_UNREADABLE);
		return watch->seen_ns;
	}
	if (ns < watch->seen_ns) {
		if (watch->seen_ns - ns >
		    watch->clock->step_ns + watch->clock->back_ns)
			blame(watch, PPI_CPU_WENT_BACK);
		return watch->seen_ns;
	}
	if (ns - watch->seen_ns > most(watch, at_ns - watch->at_ns) ||
	    ns - watch->base_ns > most(watch, at_ns - watch->began_ns))
		blame(watch, PPI_CPU_RAN_AHEAD);
	watch->seen_ns = ns;
	watch->at_ns = at_ns;
	return ns;
}

static const char *const source_names[] = {
	[PPI_CPU_NONE] = "no clock",
	[PPI_CPU_CLOCK] = "clock_gettime",
	[PPI_CPU_RUSAGE] = "getrusage",
	[PPI_CPU_LWP] = "sysctl kern.lwp",
	[PPI_CPU_USAGE] = "/proc/self/usage",
};

const char *ppi_cpu_source_name(enum ppi_cpu_source source)
{
	return source_names[source];
}

void ppi_cpu_fault_words(const struct ppi_cpu_watch *watch, const char *whose,
                         const char *system, char *out, size_t bytes)
{
	static const char *const what[] = {
		[PPI_CPU_RIGHT] = "is right",
		[PPI_CPU_UNREADABLE] = "could not be read",
		[PPI_CPU_WENT_BACK] = "went back",
		[PPI_CPU_RAN_AHEAD] = "ran faster than real time",
	};

	snprintf(out, bytes, "the CPU time of the %s (%s of %s) %s: totals are "
	         "not known exactly", whose,
	         ppi_cpu_source_name(watch->clock->source), system,
	         what[watch->fault]);
}

/* ---- the process without the helper ---- */

void ppi_cpu_meter_init(struct ppi_cpu_meter *meter,
                        const struct ppi_cpu_rules *rules,
                        ppi_cpu_reader *read, void *self, unsigned cpus)
{
	memset(meter, 0, sizeof(*meter));
	meter->rules = rules;
	meter->read = read;
	meter->self = self;
	ppi_cpu_watch_init(&meter->process, &rules->process, cpus);
	ppi_cpu_watch_init(&meter->helper, &rules->thread, 1);
}

static bool read_process(const struct ppi_cpu_meter *meter, uint64_t *ns)
{
	return meter->read(meter->self, meter->rules->process.source,
	                   PPI_CPU_PROCESS, ns) == 0;
}

static bool read_helper(const struct ppi_cpu_meter *meter, uint64_t *ns)
{
	return meter->read(meter->self, meter->rules->thread.source,
	                   PPI_CPU_HELPER, ns) == 0;
}

void ppi_cpu_meter_begin(struct ppi_cpu_meter *meter, uint64_t at_ns)
{
	uint64_t process = 0, helper = 0;
	bool is_read = read_process(meter, &process);

	ppi_cpu_watch_begin(&meter->process, is_read, process, at_ns);
	is_read = read_helper(meter, &helper);
	ppi_cpu_watch_begin(&meter->helper, is_read, helper, at_ns);
	meter->is_on = true;
}

uint64_t ppi_cpu_meter_now(struct ppi_cpu_meter *meter, uint64_t at_ns)
{
	uint64_t process = 0, helper = 0, used;
	bool is_read;

	if (!meter->is_on)
		return meter->done_ns;
	is_read = read_process(meter, &process);
	process = ppi_cpu_watch_see(&meter->process, is_read, process, at_ns);
	is_read = read_helper(meter, &helper);
	helper = ppi_cpu_watch_see(&meter->helper, is_read, helper, at_ns);
	used = process - meter->process.base_ns;
	helper -= meter->helper.base_ns;
	used = used > helper ? used - helper : 0;
	/* the two are not read at once */
	if (meter->done_ns + used > meter->now_ns)
		meter->now_ns = meter->done_ns + used;
	return meter->now_ns;
}

void ppi_cpu_meter_end(struct ppi_cpu_meter *meter, uint64_t at_ns)
{
	meter->done_ns = ppi_cpu_meter_now(meter, at_ns);
	meter->is_on = false;
}

bool ppi_cpu_meter_is_right(const struct ppi_cpu_meter *meter, char *out,
                            size_t bytes)
{
	const struct ppi_cpu_watch *watch = &meter->process;
	const char *whose = "process";

	if (watch->fault == PPI_CPU_RIGHT) {
		watch = &meter->helper;
		whose = "helper thread";
	}
	if (watch->fault == PPI_CPU_RIGHT)
		return true;
	if (out)
		ppi_cpu_fault_words(watch, whose, meter->rules->system, out,
		                    bytes);
	return false;
}

/* Names that exist on other backends: known, but not to be had here. */
static const char *const other_names[] = {
	"page-faults", "faults", "minor-faults", "major-faults",
	"context-switches", "cs", "voluntary-switches",
	"involuntary-switches", "cpu-migrations", "migrations",
	"alignment-faults", "emulation-faults", "dummy", "bpf-output",
	"cgroup-switches", "cycles", "cpu-cycles", "instructions",
	"cache-references", "cache-misses", "branches",
	"branch-instructions", "branch-misses", "bus-cycles", "ref-cycles",
	"stalled-cycles-frontend", "stalled-cycles-backend",
};

/* ---- event names that mean CPU time ---- */

static bool is_same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		char x = *a == '_' ? '-' : (char)tolower((unsigned char)*a);

		if (x != *b)
			return false;
	}
	return *a == *b;
}

/* libpfm4's prefixes: perf::cpu-clock, perf::PERF_COUNT_SW_CPU_CLOCK. */
static const char *without_prefix(const char *name)
{
	static const char *const prefixes[] = { "perf::", "PERF_COUNT_SW_",
		                                "PERF_COUNT_HW_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncasecmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			name += strlen(prefixes[i]);
	return name;
}

static bool has_mask(const struct ppi_event_request *request)
{
	for (size_t i = 0; i < request->part_count; i++)
		if (request->parts[i].key_bytes == request->parts[i].bytes)
			return true;
	return false;
}

bool ppi_event_name_is(const char *name, const char *known)
{
	return is_same_name(without_prefix(name), known);
}

portprof_status ppi_cpu_time_refuse(const struct ppi_event_request *request,
                                    const char *words, struct ppi_diag *why)
{
	const char *name = without_prefix(request->name);
	struct ppi_nearest nearest;
	/* PMU::EVENT, EVENT:MASK, GROUP:TRACEPOINT and PAPI's presets are of a
	 * PMU, or of Linux */
	bool is_of_pmu = strchr(name, ':') || has_mask(request) ||
	                 strncasecmp(name, "PAPI_", 5) == 0;
	char hint[320];

	ppi_nearest_begin(&nearest, name);
	ppi_nearest_offer(&nearest, "cpu-clock");
	ppi_nearest_offer(&nearest, "task-clock");
	for (size_t i = 0; i < sizeof(other_names) / sizeof(*other_names);
	     i++) {
		if (is_same_name(name, other_names[i]) || is_of_pmu)
			return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
			                "resolve event",
			                "'%s' %s", name, words);
		ppi_nearest_offer(&nearest, other_names[i]);
	}
	ppi_nearest_say(&nearest, hint, sizeof(hint));
	return ppi_suggest(why, &nearest,
	                   ppi_fail(why, PORTPROF_E_NOTFOUND, 0,
	                            "resolve event", "no event '%s'%s", name,
	                            hint));
}

static portprof_status refuse_modifiers(const struct ppi_event_request *request,
                                        struct ppi_diag *why)
{
	const char *what = NULL;

	if (request->has_modes && !(request->user && request->kernel))
		what = "user and kernel time are not separate here: drop the "
		       "u, k and h modifiers";
	else if (request->hypervisor)
		what = "the hypervisor's time is not seen: drop 'h'";
	if (what)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "resolve event",
		                "'%s' on this backend: %s", request->text,
		                what);
	if (request->part_count == 0)
		return PORTPROF_OK;
	return ppi_event_refuse_part(request, &request->parts[0],
				     PORTPROF_E_UNSUPPORTED, why,
				     "this backend "
				     "measures CPU time and has no PMU, where "
				     "it would have a meaning");
}

/* A count has no rate. */
static void describe(struct ppi_event *event, enum ppi_mode mode,
                     const char *means)
{
	if (mode == PPI_COUNT)
		snprintf(event->description, sizeof(event->description), "%s",
		         means);
	else if (event->rate_hz)
		snprintf(event->description, sizeof(event->description),
		         "%s, %llu times a second", means,
		         (unsigned long long)event->rate_hz);
	else if (event->period)
		snprintf(event->description, sizeof(event->description),
		         "%s, every %llu ns", means,
		         (unsigned long long)event->period);
	else
		snprintf(event->description, sizeof(event->description),
		         "%s, at the session's rate", means);
}

portprof_status ppi_cpu_time_resolve(const struct ppi_event_request *request,
                                     enum ppi_mode mode, const char *means,
                                     struct ppi_event *event,
                                     struct ppi_diag *why)
{
	const char *name = without_prefix(request->name);
	portprof_status status;
	bool is_cpu_clock;

	is_cpu_clock = is_same_name(name, "cpu-clock");
	if (!is_cpu_clock && !is_same_name(name, "task-clock"))
		return ppi_cpu_time_refuse(
			request, "is not CPU time, and nothing else can be "
			"measured this way: use cpu-clock or task-clock", why);
	status = refuse_modifiers(request, why);
	if (status)
		return status;
	memset(event, 0, sizeof(*event));
	event->request = *request;
	event->unit = PORTPROF_UNIT_NANOSECONDS;
	event->is_cpu_time = true;
	event->counts_user = event->counts_kernel = true;
	event->period = request->period;
	event->rate_hz = request->rate_hz;
	describe(event, mode, means);
	/* fits: the name is short, and modes and one rate are all there is */
	ppi_event_format(request, is_cpu_clock ? "cpu-clock" : "task-clock", "",
	                 event->canonical, sizeof(event->canonical));
	return PORTPROF_OK;
}
