/* SPDX-License-Identifier: MIT */
/* Config to plan: everything checked once, then never changed. */
#ifndef PPI_PLAN_H
#define PPI_PLAN_H

#include "api/core/session_config.h"

/* A plan with the memory it points into. */
struct ppi_plan_box {
	struct ppi_plan plan;
	struct ppi_event *events;
	struct ppi_range *ranges;
};

/* Events of the config, members of groups one by one; the default is one. */
size_t ppi_plan_event_count(const portprof_config *config);

/*
 * What `config` asks of any backend: capabilities that follow from target,
 * events, chains and sinks. E_INVALID for what no backend could do.
 */
portprof_status ppi_plan_needs(const portprof_config *config,
                               enum ppi_mode mode, uint64_t *caps,
                               struct ppi_diag *why);

/*
 * When no backend could do it: E_NOTFOUND for the first event whose name none of
 * those that came into question knows, be they usable or not. Who mistyped a name
 * is helped by the nearest ones, and not by more rights. Where events may be left
 * out, only if none of the names is known.
 */
portprof_status ppi_plan_check_names(const portprof_config *config,
                                     enum ppi_mode mode, struct ppi_diag *why);

/*
 * Resolve the events on one backend and fill the box; undone on failure.
 * `refusals` may be NULL, or has one element an event: then events refused
 * for any reason but E_INVALID are told there and left unresolved.
 */
portprof_status ppi_plan_build(const portprof_config *config,
                               enum ppi_mode mode,
                               const struct ppi_backend_ops *ops,
                               const void *kernel, struct ppi_plan_box *box,
                               struct ppi_diag *refusals,
                               struct ppi_diag *why);

/*
 * Where samples hold what their group counted: each event whose string has a period
 * or rate is sampled; of a group without one, the first. The others lose theirs.
 */
void ppi_plan_choose_sampled(struct ppi_event *events, size_t count);

void ppi_plan_free(struct ppi_plan_box *box);

#endif
