/* SPDX-License-Identifier: MIT */
/* Processes by samples of the CPUs: whose samples those are. */
#ifndef PERF_FAMILY_H
#define PERF_FAMILY_H

#include "backends/perf/records/perf_records.h"
#include "backends/perf/session/perf_session.h"

struct perf_family {
	uint64_t *bits; /* one for each process of the target; NULL: what is
	                 * sampled is the target's */
	bool has_ended; /* one of those, or several */
};

/* Whether a CPU may be sampled, and the kernel says which group its thread is in,
 * if that is the question. CPUs are found. */
bool ppi_perf_may_sample_cpus(const struct ppi_backend_session *bs);
/* Whether the target is measured so. CPUs are found. */
bool ppi_perf_is_by_cpu(const struct ppi_backend_session *bs);
/* From now on perf_state.family is whose samples are the target's. Carriers tell
 * already. */
portprof_status ppi_perf_family_open(struct ppi_backend_session *bs,
                                     struct ppi_diag *why);
/* Add those that belong to the target now: records may have been lost. 0 or a
 * negative errno. */
int ppi_perf_family_look(struct ppi_backend_session *bs);
/* Whether a sample of a CPU is of the target. */
bool ppi_perf_is_of_target(struct ppi_backend_session *bs,
                           const struct perf_seen *seen);
bool ppi_perf_family_has(const struct perf_state *state, uint64_t pid);
/* FORK and EXIT records, in the order of time; nothing without a family. */
void ppi_perf_family_begin(struct perf_state *state, uint64_t parent,
                           uint64_t pid);
void ppi_perf_family_end(struct perf_state *state, uint64_t pid);

#endif
