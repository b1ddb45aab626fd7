/* SPDX-License-Identifier: MIT */
/* What a sampling session counted, lost and left out. */
#ifndef PERF_ACCOUNT_H
#define PERF_ACCOUNT_H

#include "backends/perf/session/perf_session.h"

/* What closed sources leave behind, per event of the plan. */
struct perf_tally {
	uint64_t total, lost;
	uint64_t emitted;      /* sum of the weights of samples */
	uint64_t helper;       /* whole system: our own thread's, */
	uint64_t left_out;     /* that, and the idle task's */
	double variance;       /* of the weights that are estimates */
	uint64_t samples;
	uint64_t period;       /* the kernel's now; 0 = by rate */
	uint64_t rate_hz;      /* the kernel's now; 0 = by period */
	bool is_off, was_off;  /* one event of several: perf_steer.c */
	/* ppi_perf_rate_watch */
	uint64_t seen_samples, seen_emitted, seen_lost;
	uint64_t throttled;
	uint64_t unclear;      /* samples that came, and nobody knows whose */
	uint64_t lost_records; /* as LOST records tell, all events */
	bool is_short;         /* some count could not be read */
};

/* The target's own clock. */
struct perf_spent {
	uint64_t cpu_time_ns;  /* of the target while running, until started_at */
	uint64_t started_at_ns;
	bool has_cpu_time;
	bool has_chosen_threads; /* some were added or removed while open */
};

void ppi_perf_clock_start(struct ppi_backend_session *bs);
void ppi_perf_clock_stop(struct ppi_backend_session *bs);
void ppi_perf_account(struct ppi_backend_session *bs, size_t event,
                      struct ppi_account *out);
/* With what open sources have counted so far. */
struct perf_tally ppi_perf_tally_now(struct ppi_backend_session *bs,
                                     size_t event);
/* Add what a source counted and lost to a tally; to that which its event
 * keeps, because it is about to be closed. */
void ppi_perf_tally_source(struct ppi_backend_session *bs,
                           const struct perf_source *source,
                           struct perf_tally *tally);
void ppi_perf_tally_closing(struct ppi_backend_session *bs,
                            const struct perf_source *source);

#endif
