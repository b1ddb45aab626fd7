/* SPDX-License-Identifier: MIT */
/* From a config to a backend that is opened on a plan: for sessions and groups. */
#ifndef PPI_OPEN_H
#define PPI_OPEN_H

#include <stddef.h>
#include <stdint.h>

#include "api/core/session_config.h"
#include "base/fork_guard.h"
#include "base/vector.h"

/* ---- choosing a backend: by name, or by needs and rank ---- */

/* Why each better backend was passed over, best first. */
struct ppi_passed_over {
	struct ppi_vector names, reasons; /* char *, as many */
};
void ppi_passed_over_free(struct ppi_passed_over *list);

/* Called for each candidate that probing and capabilities let through: plan
 * it and open it. E_INVALID and E_NOMEM end the search; any other failure
 * passes on to the next backend under "auto". */
typedef portprof_status (*ppi_try_fn)(const struct ppi_backend_ops *ops,
                                      const void *kernel,
                                      const struct ppi_probe *probe,
                                      void *context, struct ppi_diag *why);

/* What a backend lacks: E_UNSUPPORTED, or what would help, as `probe` says. */
portprof_status ppi_select_refuse(const struct ppi_backend_ops *ops,
                                  const struct ppi_probe *probe,
                                  uint64_t missing, struct ppi_diag *why);

/* E_INVALID: no backend of that name is in this build. */
portprof_status ppi_select_unknown(const char *name, struct ppi_diag *why);

/*
 * Try backends until one opens. When none does, `why` is about the best one
 * that was refused, and of others about which something can be done.
 */
portprof_status ppi_select(const char *name, uint64_t needed_caps,
                           ppi_try_fn attempt, void *context,
                           struct ppi_passed_over *passed_over,
                           struct ppi_diag *why);

/* "chain, attach": the names of all bits in `caps`. Returns out. */
const char *ppi_cap_list(uint64_t caps, char *out, size_t bytes);

/* ---- the plan (plan.c): everything checked once, then never changed ---- */

/* A plan with the memory it points into. */
struct ppi_plan_box {
	struct ppi_plan plan;
	struct ppi_event *events;
	struct ppi_range *ranges;
};

/* Events of the config, members of groups one by one; the default is one. And
 * those of them that are no backend's, but of waits. */
size_t ppi_plan_event_count(const portprof_config *config);
size_t ppi_plan_wait_count(const portprof_config *config);

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

/* Without the events of waits, which are measured from elsewhere. */
void ppi_plan_leave_waits(struct ppi_plan_box *box);

void ppi_plan_free(struct ppi_plan_box *box);

/* ---- opened ---- */

enum { PPI_NOTES_MAX = 24 };

struct ppi_opened {
	struct ppi_fork_guard guard;
	portprof_config *config;    /* own copy */
	struct ppi_plan_box box;
	struct ppi_backend_session bs;
	struct ppi_area *area;      /* to leave samples in; NULL = none */
	struct ppi_backend_ops collector; /* with the name of who measures */
	struct ppi_backend_ops beside; /* of waits, around that */
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
