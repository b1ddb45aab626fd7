/* SPDX-License-Identifier: MIT */
/* How often clocks interrupt and rings are emptied, and at what cost. */
#ifndef PERF_RATE_H
#define PERF_RATE_H

#include "backends/backend.h"
#include "backends/perf/perf_kernel.h"

/* kernel/events/core.c, perf_swevent_start_hrtimer: a shorter one is
 * stretched, but reported as asked. */
enum { PERF_PERIOD_MIN_NS = 10000 };

/* Time of one sampling interrupt here; measured for 2 ms by the first who asks
 * in this process, 0 where that failed. */
uint64_t ppi_perf_rate_interrupt_ns(const struct perf_kernel *kernel);

/* What a sample and a switch add to the threads that are measured. */
extern const struct ppi_costs_ops ppi_perf_costs;

/* Samples a second that the sysctl allows: UINT64_MAX where it limits none. */
uint64_t ppi_perf_rate_allowed_hz(const struct perf_kernel *kernel);

/* The period asked for, or the shortest at which samples take no more than a
 * quarter of a CPU. Measures only for more than 1000 samples a second. */
uint64_t ppi_perf_rate_grant(const struct perf_kernel *kernel,
                             uint64_t period_ns);

/* Every two seconds: does it still hold? Else longer periods from now on. */
void ppi_perf_rate_watch(struct ppi_backend_session *bs, uint64_t now_ns);

/* Sampling, once the layout and the shape of records are known: how large rings
 * are. */
void ppi_perf_size_rings(struct ppi_backend_session *bs);
/* After rings became smaller: copy no more of stacks than leaves time between
 * two drains. Before any event is open. */
void ppi_perf_fit_stacks(struct ppi_backend_session *bs);
/* How often rings are emptied. */
void ppi_perf_choose_nap(struct ppi_backend_session *bs);

#endif
