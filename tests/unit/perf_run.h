/* SPDX-License-Identifier: MIT */
/* A session of the perf backend on the simulated kernel, for unit tests. */
#ifndef PERF_RUN_H
#define PERF_RUN_H

#include "backends/perf/session/perf_session.h"
#include "tests/sim/perf_sim.h"

enum { RUN_EVENTS = 8, RUN_RECORDS = 200000, RUN_THREADS = 2048 };

struct perf_run {
	struct ppi_plan plan;
	struct ppi_event events[RUN_EVENTS];
	struct ppi_backend_session bs;
	struct ppi_diag why;
	struct ppi_diag refusals[RUN_EVENTS];
	char notes[32][PPI_NOTE_BYTES];
	size_t room; /* records a drain may bring at once */

	/* What was drained. */
	portprof_record *records;
	size_t record_count;
	uint64_t *words;
	size_t word_count, word_room;
};

/* A plan of no event yet, for the whole simulated process. */
void run_init(struct perf_run *run, enum ppi_mode mode);
/* Resolve and add an event; the status of resolving. */
portprof_status run_add(struct perf_run *run, const char *text,
                        uint64_t rate_hz);
portprof_status run_open(struct perf_run *run);
void run_start(struct perf_run *run);
/* Stop and drain until empty. */
void run_stop(struct perf_run *run);
void run_drain(struct perf_run *run);
void run_close(struct perf_run *run);

uint64_t run_weight(const struct perf_run *run, uint32_t event);
uint64_t run_weight_of(const struct perf_run *run, int64_t tid);
uint64_t run_samples(const struct perf_run *run, uint32_t event);
size_t run_kind(const struct perf_run *run, uint32_t kind);
const portprof_module *run_module(const struct perf_run *run,
                                  const char *path);
const char *run_name(const struct perf_run *run, int64_t tid);
struct ppi_account run_account(struct perf_run *run, size_t event);
bool run_has_note(const struct perf_run *run, const char *part);

/* One thread works for ns at pc. */
void run_work(int64_t tid, uint64_t pc, uint64_t ns, uint64_t kernel_ns);

#endif
