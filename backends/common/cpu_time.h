/* SPDX-License-Identifier: MIT */
/* CPU time for backends without a PMU: the events that mean it, and a meter. */
#ifndef PPI_CPU_TIME_H
#define PPI_CPU_TIME_H

#include "backends/backend.h"
#include "base/clock_ns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- events ---- */

/*
 * Accept "cpu-clock" and "task-clock" (with or without "perf::", upper or
 * lower case, '-' or '_'), in nanoseconds of CPU time, user and kernel mode
 * together. `means` goes into the description. Other names: E_UNSUPPORTED
 * when they are known events, E_NOTFOUND with the nearest names otherwise.
 * u or k alone is E_UNSUPPORTED: these backends cannot tell the modes apart.
 * Whether the backend samples or counts at all is not asked here: its
 * capabilities say so.
 */
portprof_status ppi_cpu_time_resolve(const struct ppi_event_request *request,
                                     enum ppi_mode mode, const char *means,
                                     struct ppi_event *event,
                                     struct ppi_diag *why);

/* Whether an event is named so, however its name is written: perf::PAGE_FAULTS
 * is page-faults. */
bool ppi_event_name_is(const char *name, const char *known);

/* Refuse a name that is none of the backend's: E_UNSUPPORTED and `words`, which
 * follow the name, when it is a known event; else E_NOTFOUND with the nearest
 * names. */
portprof_status ppi_cpu_time_refuse(const struct ppi_event_request *request,
                                    const char *words, struct ppi_diag *why);

/* ---- the process without our helper, and a watch on its clocks ---- */

/* What is wrong with a clock: it cannot measure CPU time. */
enum ppi_cpu_fault {
	PPI_CPU_RIGHT,
	PPI_CPU_UNREADABLE,
	PPI_CPU_WENT_BACK,  /* further than its rules allow */
	PPI_CPU_RAN_AHEAD   /* faster than real time on all CPUs */
};

/* A clock and what it read when it was looked at last. */
struct ppi_cpu_watch {
	const struct ppi_cpu_clock *clock;
	unsigned cpus;              /* that may advance it at the same time */
	uint64_t base_ns, began_ns; /* at the start, in its time and in real */
	uint64_t seen_ns, at_ns;
	enum ppi_cpu_fault fault;   /* the first one, for good */
};

void ppi_cpu_watch_init(struct ppi_cpu_watch *watch,
                        const struct ppi_cpu_clock *clock, unsigned cpus);
/* The reading from which time counts. */
void ppi_cpu_watch_begin(struct ppi_cpu_watch *watch, bool is_read,
                         uint64_t ns, uint64_t at_ns);
/* Another one; returns the clock's time, which never goes back. */
uint64_t ppi_cpu_watch_see(struct ppi_cpu_watch *watch, bool is_read,
                           uint64_t ns, uint64_t at_ns);

/* One slot of a kernel seam: ppi_cpu_read, or a simulated kernel's. */
typedef int ppi_cpu_reader(void *self, enum ppi_cpu_source source,
                           int64_t whose, uint64_t *ns);

struct ppi_cpu_meter {
	const struct ppi_cpu_rules *rules;
	ppi_cpu_reader *read;
	void *self;
	struct ppi_cpu_watch process, helper;
	uint64_t done_ns;  /* of stretches that are over */
	uint64_t now_ns;   /* of all: what was returned last */
	bool is_on;
};

void ppi_cpu_meter_init(struct ppi_cpu_meter *meter,
                        const struct ppi_cpu_rules *rules,
                        ppi_cpu_reader *read, void *self, unsigned cpus);

/* at_ns: CLOCK_MONOTONIC. While off the total stands still. */
void ppi_cpu_meter_begin(struct ppi_cpu_meter *meter, uint64_t at_ns);
uint64_t ppi_cpu_meter_now(struct ppi_cpu_meter *meter, uint64_t at_ns);
void ppi_cpu_meter_end(struct ppi_cpu_meter *meter, uint64_t at_ns);

/* False: the total is not known. `out`, unless NULL, says why, in words. */
bool ppi_cpu_meter_is_right(const struct ppi_cpu_meter *meter, char *out,
                            size_t bytes);

/* The call that a source is: "getrusage". */
const char *ppi_cpu_source_name(enum ppi_cpu_source source);

/* What a fault of this clock means to the user. */
void ppi_cpu_fault_words(const struct ppi_cpu_watch *watch, const char *whose,
                         const char *system, char *out, size_t bytes);

#endif
