/* SPDX-License-Identifier: MIT */
/* A backend opened on a plan: what sessions and groups have in common. */
#ifndef PPI_OPEN_H
#define PPI_OPEN_H

#include "api/core/session_config.h"
#include "api/core/plan.h"
#include "api/core/select.h"
#include "base/fork_guard.h"

enum { PPI_NOTES_MAX = 24 };

struct ppi_opened {
	struct ppi_fork_guard guard;
	portprof_config *config;    /* own copy */
	struct ppi_plan_box box;
	struct ppi_backend_session bs;
	struct ppi_area *area;      /* to leave samples in; NULL = none */
	struct ppi_backend_ops collector; /* with the name of who measures */
	struct ppi_passed_over passed_over;
	bool has_helper;            /* took it */
	char notes[PPI_NOTES_MAX][PPI_NOTE_BYTES];
};

/* Choose, plan, open; in the helper thread, which is taken, but for counters
 * that need none (counts_alone). Undone on failure.
 * `opened` must not move afterwards. */
portprof_status ppi_opened_open(struct ppi_opened *opened,
                                const portprof_config *config,
                                enum ppi_mode mode, struct ppi_diag *why);

/* Give all back; in a forked child only memory and descriptors. */
void ppi_opened_close(struct ppi_opened *opened);

/* The public answers that both kinds of handle give. */
portprof_status ppi_opened_event(const struct ppi_opened *opened, size_t index,
                                 portprof_event_info *info);
portprof_status ppi_opened_passed_over(const struct ppi_opened *opened,
                                       size_t index, const char **name,
                                       const char **reason);

/* What the events of a group resolved to; they go with the group. */
const struct ppi_event *ppi_group_events(const portprof_group *group,
                                         size_t *count);

/* An event in its public form. */
void ppi_event_info_fill(const struct ppi_event *event,
                         portprof_event_info *info);

#endif
