/* SPDX-License-Identifier: MIT */
/* CPU time of the process without our helper, and clocks that are wrong. */
#include "backends/common/cpu_meter.h"

#include <stdio.h>
#include <string.h>

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
