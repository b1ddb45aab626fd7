/* SPDX-License-Identifier: MIT */
/* Choosing a backend, and remembering why the others were not chosen. */
#include "api/internal/select.h"

#include "api/internal/cap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pass_over(struct ppi_passed_over *list, const char *name,
                      const char *reason)
{
	size_t next = list->count + 1;
	char **names = realloc(list->names, next * sizeof(*names));
	char **reasons;

	if (!names)
		return;
	list->names = names;
	reasons = realloc(list->reasons, next * sizeof(*reasons));
	if (!reasons)
		return;
	list->reasons = reasons;
	names[list->count] = strdup(name);
	reasons[list->count] = strdup(reason);
	if (names[list->count] && reasons[list->count]) {
		list->count = next;
		return;
	}
	free(names[list->count]);
	free(reasons[list->count]);
}

void ppi_passed_over_free(struct ppi_passed_over *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->names[i]);
		free(list->reasons[i]);
	}
	free(list->names);
	free(list->reasons);
	memset(list, 0, sizeof(*list));
}

static portprof_status refuse_caps(const struct ppi_backend_ops *ops,
                                   const struct ppi_probe *probe,
                                   uint64_t missing, struct ppi_diag *why)
{
	char list[256];
	/* what it could do with more rights is told by the probe's reason */
	bool never = (missing & ~ops->caps) != 0;

	ppi_cap_list(missing, list, sizeof(list));
	if (never || !probe->reason[0])
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "choose backend",
		                "backend %s lacks what was asked for: %s",
		                ops->name, list);
	return ppi_fail(why, PORTPROF_E_DENIED, probe->os_errno,
	                "choose backend", "backend %s lacks %s here: %s",
	                ops->name, list, probe->reason);
}

static portprof_status consider(const struct ppi_backend_ops *ops,
                                bool is_named, uint64_t needed_caps,
                                ppi_try_fn attempt, void *context,
                                struct ppi_diag *why)
{
	const void *kernel = ppi_backend_kernel(ops);
	struct ppi_probe probe = { 0 };

	/* what it can never do needs no probe */
	if (needed_caps & ~ops->caps)
		return refuse_caps(ops, &probe, needed_caps & ~ops->caps, why);
	if (!kernel)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "choose backend", "backend %s: this operating "
		                "system does not have it", ops->name);
	ops->probe(kernel, &probe);
	if (!probe.is_usable)
		return ppi_fail(why, probe.status, probe.os_errno,
		                "probe backend", "%s", probe.reason);
	if (needed_caps & ~probe.caps)
		return refuse_caps(ops, &probe, needed_caps & ~probe.caps, why);
	if (probe.only_by_name && !is_named)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "choose backend", "only when named: %s",
		                probe.reason);
	return attempt(ops, kernel, &probe, context, why);
}

portprof_status ppi_select_unknown(const char *name, struct ppi_diag *why)
{
	const struct ppi_backend_ops *ops;
	struct ppi_nearest nearest;
	char hint[320], known[256] = "";

	ppi_nearest_begin(&nearest, name);
	ppi_nearest_offer(&nearest, "auto");
	for (size_t i = 0; (ops = ppi_backend_at(i)); i++) {
		size_t used = strlen(known);

		/* another system's is no help here */
		if (!ppi_backend_kernel(ops))
			continue;
		ppi_nearest_offer(&nearest, ops->name);
		snprintf(known + used, sizeof(known) - used, "%s%s",
		         used ? ", " : "", ops->name);
	}
	return ppi_fail(why, PORTPROF_E_INVALID, 0, "choose backend",
	                "this build has no backend '%.64s'%s (it has auto, "
	                "%s)", name,
	                ppi_nearest_say(&nearest, hint, sizeof(hint)), known);
}

static portprof_status select_named(const char *name, uint64_t needed_caps,
                                    ppi_try_fn attempt, void *context,
                                    struct ppi_diag *why)
{
	const struct ppi_backend_ops *ops = ppi_backend_find(name);

	return ops ? consider(ops, true, needed_caps, attempt, context,
	                      why) :
	             ppi_select_unknown(name, why);
}

/*
 * The best refusal is the answer. Of the others those are told after it that
 * something can be done about, and not what they can never do.
 */
static portprof_status refuse_all(const struct ppi_passed_over *list,
                                  uint64_t changeable,
                                  const struct ppi_diag *first,
                                  struct ppi_diag *why)
{
	char others[PORTPROF_WORDS_BYTES / 2] = "";

	for (size_t i = 1; i < list->count; i++) {
		size_t used = strlen(others);

		if (changeable >> i & 1)
			snprintf(others + used, sizeof(others) - used,
			         "; %s: %s", list->names[i], list->reasons[i]);
	}
	return ppi_fail(why, first->status, first->os_errno, first->step,
	                "%s%s%s%s", others[0] ? list->names[0] : "",
	                others[0] ? ": " : "", first->words, others);
}

static bool can_be_changed(portprof_status status)
{
	return status != PORTPROF_E_UNSUPPORTED &&
	       status != PORTPROF_E_NOTFOUND;
}

static bool ends_search(portprof_status status)
{
	return status == PORTPROF_OK || status == PORTPROF_E_INVALID ||
	       status == PORTPROF_E_NOMEM;
}

static portprof_status select_best(uint64_t needed_caps, ppi_try_fn attempt,
                                   void *context,
                                   struct ppi_passed_over *passed_over,
                                   struct ppi_diag *why)
{
	const struct ppi_backend_ops *ops;
	struct ppi_diag first = { 0 };
	uint64_t changeable = 0; /* by number in the list */

	/* a rank below 0 is only for those who ask by name */
	for (size_t i = 0; (ops = ppi_backend_at(i)) && ops->rank >= 0; i++) {
		struct ppi_diag now = { 0 };
		portprof_status status = consider(ops, false, needed_caps,
		                                  attempt, context, &now);

		if (ends_search(status)) {
			*why = now;
			return status;
		}
		if (first.status == PORTPROF_OK)
			first = now;
		if (can_be_changed(status) && passed_over->count < 64)
			changeable |= UINT64_C(1) << passed_over->count;
		pass_over(passed_over, ops->name, now.words);
	}
	if (first.status == PORTPROF_OK)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                "choose backend", "this build has no backend "
		                "that measures anything");
	return refuse_all(passed_over, changeable, &first, why);
}

portprof_status ppi_select(const char *name, uint64_t needed_caps,
                           ppi_try_fn attempt, void *context,
                           struct ppi_passed_over *passed_over,
                           struct ppi_diag *why)
{
	if (strcmp(name, "auto") != 0)
		return select_named(name, needed_caps, attempt, context, why);
	return select_best(needed_caps, attempt, context, passed_over, why);
}
