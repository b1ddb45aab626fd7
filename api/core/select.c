/* SPDX-License-Identifier: MIT */
/* Choosing a backend, and remembering why the others were not chosen. */
#include "api/core/open.h"

#include <portprof/backend.h>

#include "api/common/diag.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the names of capability bits ---- */

static const char *const cap_names[] = {
	"sample", "count", "group", "events", "hardware", "exact-pc",
	"whole-space", "kernel", "chain", "pid-tid", "time", "cpu",
	"process", "thread", "attach", "children", "fair", "lost-exact",
	"exclusive", "modules", "system", "exec-safe", "command",
	"unwind", "package", "waits",
};

enum { CAP_NAMES = sizeof(cap_names) / sizeof(cap_names[0]) };

const char *portprof_cap_name(uint64_t cap)
{
	for (unsigned i = 0; i < CAP_NAMES; i++)
		if (cap == (uint64_t)1 << i)
			return cap_names[i];
	return NULL;
}

const char *ppi_cap_list(uint64_t caps, char *out, size_t bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < CAP_NAMES && used < bytes; i++) {
		if (!(caps & (uint64_t)1 << i))
			continue;
		used += (size_t)snprintf(out + used, bytes - used, "%s%s",
		                         used ? ", " : "", cap_names[i]);
	}
	return out;
}

/* ---- choosing a backend ---- */

/* Both or neither. */
static void pass_over(struct ppi_passed_over *list, const char *name,
                      const char *reason)
{
	char *own_name = strdup(name), *own_reason = strdup(reason);

	if (own_name && own_reason &&
	    ppi_vector_reserve(&list->names, sizeof(own_name), 1) &&
	    ppi_vector_reserve(&list->reasons, sizeof(own_reason), 1)) {
		ppi_vector_add(&list->names, sizeof(own_name), &own_name, 1);
		ppi_vector_add(&list->reasons, sizeof(own_reason), &own_reason,
		               1);
		return;
	}
	free(own_name);
	free(own_reason);
}

void ppi_passed_over_free(struct ppi_passed_over *list)
{
	for (size_t i = 0; i < list->names.count; i++) {
		free(PPI_AT(&list->names, char *)[i]);
		free(PPI_AT(&list->reasons, char *)[i]);
	}
	ppi_vector_free(&list->names);
	ppi_vector_free(&list->reasons);
}

/* Without what is missing, as far as probing knows; the first reason. */
static const struct ppi_limit *find_limit(const struct ppi_probe *probe,
                                          uint64_t missing)
{
	for (size_t i = 0; i < probe->limit_count; i++)
		if (probe->limits[i].caps & missing)
			return &probe->limits[i];
	return NULL;
}

portprof_status ppi_select_refuse(const struct ppi_backend_ops *ops,
                                  const struct ppi_probe *probe,
                                  uint64_t missing, struct ppi_diag *why)
{
	/* what it never can is said before what it cannot here */
	uint64_t never = missing & ~ops->caps;
	const struct ppi_limit *limit = never ? NULL :
	                                        find_limit(probe, missing);
	char list[256];

	ppi_cap_list(never ? never : limit ? limit->caps & missing : missing,
	             list, sizeof(list));
	if (!limit)
		return ppi_because(
			why, PORTPROF_REASON_NO_BACKEND,
			ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                 "choose backend",
		                 "backend %s lacks what was asked for: %s",
		                 ops->name, list));
	ppi_fail(why, limit->status, 0, "choose backend",
	         "backend %s lacks %s here: %s", ops->name, list, limit->words);
	return limit->status == PORTPROF_E_UNSUPPORTED
	       ? ppi_because(why, PORTPROF_REASON_BACKEND_LIMIT, limit->status)
	       : limit->status;
}

/*
 * Probing takes ten times as long as opening a counter. What could be done
 * before is tried, then; where that fails, and a new probe does not find what
 * the old one did, nothing is known by it. False: go on with what `probe` says.
 */
static bool try_as_before(const struct ppi_backend_ops *ops,
                          const void *kernel, uint64_t needed_caps,
                          ppi_try_fn attempt, void *context,
                          struct ppi_probe *probe, struct ppi_diag *why,
                          portprof_status *status)
{
	uint64_t caps_before;
	bool is_tried;

	probe->may_be_old = needed_caps & PORTPROF_CAP_COUNT;
	ops->probe(kernel, probe);
	if (!probe->is_old)
		return false;
	caps_before = probe->caps;
	is_tried = !(needed_caps & ~caps_before);
	if (is_tried)
		*status = attempt(ops, kernel, probe, context, why);
	if (is_tried && *status == PORTPROF_OK)
		return true;
	*probe = (struct ppi_probe){ .may_be_old = false };
	ops->probe(kernel, probe);
	return is_tried && probe->is_usable && probe->caps == caps_before;
}

static portprof_status consider(const struct ppi_backend_ops *ops,
                                bool is_named, uint64_t needed_caps,
                                ppi_try_fn attempt, void *context,
                                struct ppi_diag *why)
{
	const void *kernel = ppi_backend_kernel(ops);
	struct ppi_probe probe = { 0 };
	portprof_status status;

	if (!kernel)
		return ppi_because(
			why, PORTPROF_REASON_NO_BACKEND,
			ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                 "choose backend", "backend %s: this operating "
		                 "system does not have it", ops->name));
	/* what it can never do needs no probe */
	if (needed_caps & ~ops->caps)
		return ppi_select_refuse(ops, &probe, needed_caps & ~ops->caps,
		                         why);
	if (try_as_before(ops, kernel, needed_caps, attempt, context, &probe,
	                  why, &status))
		return status;
	if (!probe.is_usable)
		return ppi_fail(why, probe.status, probe.os_errno,
		                "probe backend", "%s", probe.reason);
	if (needed_caps & ~probe.caps)
		return ppi_select_refuse(ops, &probe,
		                         needed_caps & ~probe.caps, why);
	if (probe.only_by_name && !is_named)
		return ppi_because(
			why, PORTPROF_REASON_NO_BACKEND,
			ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                 "choose backend", "only when named: %s",
		                 probe.reason));
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
	ppi_nearest_say(&nearest, hint, sizeof(hint));
	return ppi_suggest(
		why, &nearest,
		ppi_fail(why, PORTPROF_E_INVALID, 0, "choose backend",
	                 "this build has no backend '%.64s'%s (it has auto, "
	                 "%s)", name, hint, known));
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

/* The refusal that is the answer when no backend could do it. */
struct answer {
	struct ppi_diag why;
	const char *name;
	int weight;
	unsigned missing; /* capabilities that it never claimed */
};

static unsigned count_bits(uint64_t bits)
{
	unsigned count = 0;

	for (; bits; bits &= bits - 1)
		count++;
	return count;
}

/*
 * What something can be done about goes before what a backend cannot do, and
 * that before what it never claimed, of which the least; of equals the best
 * backend's. Backends of other systems are no answer at all.
 */
static void weigh(struct answer *answer, const struct ppi_backend_ops *ops,
                  uint64_t needed_caps, const struct ppi_diag *why)
{
	bool is_final = why->status == PORTPROF_E_UNSUPPORTED ||
	                why->status == PORTPROF_E_NOTFOUND;
	int weight = !is_final                   ? 3 :
	             !(needed_caps & ~ops->caps) ? 2 :
	                                           1;
	unsigned missing = count_bits(needed_caps & ~ops->caps);

	if (!ppi_backend_kernel(ops) || weight < answer->weight ||
	    (weight == answer->weight && missing >= answer->missing))
		return;
	answer->missing = missing;
	answer->why = *why;
	answer->name = ops->name;
	answer->weight = weight;
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
	struct answer answer = { .weight = 0 };

	/* a rank below 0 is only for those who ask by name */
	for (size_t i = 0; (ops = ppi_backend_at(i)) &&
	                   ppi_backend_rank(ops) >= 0; i++) {
		struct ppi_diag now = { 0 };
		portprof_status status = consider(ops, false, needed_caps,
		                                  attempt, context, &now);

		if (ends_search(status)) {
			*why = now;
			return status;
		}
		weigh(&answer, ops, needed_caps, &now);
		pass_over(passed_over, ops->name, now.words);
	}
	if (answer.weight == 0)
		return ppi_because(
			why, PORTPROF_REASON_NO_BACKEND,
			ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                 "choose backend", "this build has no backend "
		                 "that measures anything here"));
	*why = answer.why;
	return why->status;
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
