/* SPDX-License-Identifier: MIT */
/* Which processes and threads a session measures. */
#ifndef PERF_TARGET_H
#define PERF_TARGET_H

#include "backends/perf/records/perf_records.h"
#include "backends/perf/session/perf_session.h"

/* Whether processes that others create belong to the target. */
static inline bool perf_follows(const struct ppi_plan *plan)
{
	return plan->follow_children || plan->target.kind == PPI_TARGET_SYSTEM;
}

/* ---- perf_target.c: its processes and threads ---- */

/* Whether what descends from the target already is measured, too. */
bool ppi_perf_has_family(const struct ppi_plan *plan);
/* Whether a process was named as the target, or as one of several. */
bool ppi_perf_is_target(const struct ppi_target *target, int64_t pid);
/* The processes that were named, and then those of their family, each once;
 * `pids` is to be freed. 0 or a negative errno. */
int ppi_perf_target_processes(const struct ppi_backend_session *bs,
                              int64_t **pids, size_t *count);
/* The threads of those, as ppi_perf_proc_threads has them. */
int ppi_perf_target_threads(const struct ppi_backend_session *bs,
                            int64_t **tids, size_t *count);
/* Whether the target can do without a thread that was refused: it has ended,
 * or is of one process among several and of another user. */
bool ppi_perf_may_miss(const struct ppi_backend_session *bs, int64_t tid,
                       portprof_status status);
/* A note about those that were. */
void ppi_perf_note_missed(struct ppi_backend_session *bs, size_t threads);

/* ---- perf_target.c: why it cannot be measured ---- */

/* Why an event of a thread, which may be somebody else's, could not be opened, in
 * words; os_error is positive. */
portprof_status ppi_perf_refuse_source(const struct ppi_backend_session *bs,
                                       const struct ppi_event *event,
                                       int64_t tid,
                                       int os_error, struct ppi_diag *why);
/* Why a process's threads could not be listed; os_error is positive. */
portprof_status ppi_perf_refuse_threads(const struct ppi_backend_session *bs,
                                        int os_error, struct ppi_diag *why);

/* ---- perf_cgroup.c: a control group ---- */

/* Of a plan that has one. */
portprof_status ppi_perf_open_cgroup(struct ppi_backend_session *bs,
                                     struct ppi_diag *why);
/* An event of a CPU: of all that runs there, or of the cgroup. */
int ppi_perf_open_on_cpu(const struct ppi_backend_session *bs,
                         struct perf_event_attr *attr, int cpu, int group_fd);
/* Where CPUs are sampled: whether the kernel tells samples' groups of this
 * hierarchy. */
portprof_status ppi_perf_cgroup_check(struct ppi_backend_session *bs,
                                      struct ppi_diag *why);
/* Whether a sample's thread was in the group, or in one below it. */
bool ppi_perf_cgroup_has(struct ppi_backend_session *bs,
                         const struct perf_seen *seen);
/* CPU time of all that ever ran in it; false where that is not told. */
bool ppi_perf_cgroup_time(const struct ppi_backend_session *bs, uint64_t *ns);
/* Whether it is the cgroup that was refused; told then. */
bool ppi_perf_refuse_cgroup(const struct ppi_backend_session *bs, int os_error,
                            struct ppi_diag *why);

#endif
