/* SPDX-License-Identifier: MIT */
/*
 * From a config to a backend that is opened on a plan: select.c chooses one, plan.c
 * makes the plan, and what else it needs is taken here.
 */
#include "api/core/open.h"

#include <portprof/backend.h>

#include "api/common/diag.h"
#include "api/core/helper.h"
#include "api/unwind/unwind.h"
#include "base/library.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What one attempt needs, and what opening answers. */
struct attempt {
	struct ppi_opened *opened;
	enum ppi_mode mode;
	portprof_status status;
	struct ppi_diag *why;
};

static void open_now(void *context)
{
	struct attempt *attempt = context;
	struct ppi_backend_session *bs = &attempt->opened->bs;

	attempt->status = bs->ops->open(bs, attempt->why);
}

static portprof_status take_memory(struct ppi_opened *opened,
                                   enum ppi_mode mode, struct ppi_diag *why)
{
	struct ppi_backend_session *bs = &opened->bs;
	size_t events = ppi_plan_event_count(opened->config);

	bs->state = calloc(1, bs->ops->state_size ? bs->ops->state_size : 1);
	if (mode == PPI_COUNT && opened->config->number[PPI_KEY_PARTIAL])
		bs->refusals = calloc(events ? events : 1,
		                      sizeof(*bs->refusals));
	if (bs->state && (bs->refusals || mode == PPI_SAMPLE ||
	                  !opened->config->number[PPI_KEY_PARTIAL]))
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open", "out of memory");
}

static void free_memory(struct ppi_opened *opened)
{
	free(opened->bs.state);
	free(opened->bs.refusals);
	opened->bs.state = NULL;
	opened->bs.refusals = NULL;
	ppi_plan_free(&opened->box);
}

/* Events are resolved by the backend that measures in the other processes; what
 * they measure is collected. */
static void make_collector(struct ppi_opened *opened)
{
	struct ppi_backend_session *bs = &opened->bs;

	opened->collector = ppi_backend_collect;
	opened->collector.name = bs->ops->name;
	bs->ops = &opened->collector;
	bs->pool = opened->config->pool;
	bs->caps |= PORTPROF_CAP_ATTACH | PORTPROF_CAP_CHILDREN;
}

static bool is_shared(const portprof_config *config)
{
	return config->sink_count && config->sinks[0].ops == &ppi_sink_share;
}

/* The area comes first: a backend may have its ring there. */
static portprof_status take_area(struct ppi_opened *opened, enum ppi_mode mode,
                                 struct ppi_diag *why)
{
	if (mode != PPI_SAMPLE || !is_shared(opened->config))
		return PORTPROF_OK;
	return ppi_area_take(opened->config->sinks[0].path, &opened->area, why);
}

static void leave_area(struct ppi_opened *opened)
{
	ppi_area_leave(opened->area);
	opened->area = NULL;
}

/* From here on until the session or group is closed. */
static portprof_status take_helper(struct ppi_opened *opened,
                                   struct ppi_diag *why)
{
	ppi_process_handle_forks();
	if (!opened->has_helper && is_shared(opened->config)) {
		/* each of many short processes would wait for it */
		ppi_helper_take_later();
		opened->has_helper = true;
	}
	if (!opened->has_helper)
		opened->has_helper = ppi_helper_take(why) == PORTPROF_OK;
	return opened->has_helper ? PORTPROF_OK : why->status;
}

static void leave_helper(struct ppi_opened *opened)
{
	if (opened->has_helper)
		ppi_helper_give_back();
	opened->has_helper = false;
}

/* Events of waits, and others that a backend measures. */
static bool has_waits_beside(const struct ppi_opened *opened)
{
	return opened->bs.ops != &ppi_backend_waits &&
	       !opened->config->is_rehearsed &&
	       ppi_plan_wait_count(opened->config) > 0;
}

static portprof_status open_backend(struct attempt *attempt,
                                    const struct ppi_backend_ops *ops,
                                    const void *kernel,
                                    const struct ppi_probe *probe,
                                    struct ppi_diag *why)
{
	struct ppi_opened *opened = attempt->opened;
	portprof_status status;

	if (!ops->counts_alone && take_helper(opened, why))
		return why->status;
	opened->bs = (struct ppi_backend_session){
		.ops = ops,
		.kernel = kernel,
		.caps = probe->caps,
		.plan = &opened->box.plan,
		.drain_every_ms = 250,
		.owner_pid = getpid(),
		.helper_tid = ppi_helper_tid(),
		.notes = opened->notes,
		.note_room = PPI_NOTES_MAX,
	};
	if (opened->config->pool)
		make_collector(opened);
	attempt->why = why;
	status = take_memory(opened, attempt->mode, why);
	if (status == PORTPROF_OK)
		status = ppi_plan_build(opened->config, attempt->mode, ops,
		                        kernel, &opened->box,
		                        opened->bs.refusals, why);
	if (status == PORTPROF_OK && opened->config->is_rehearsed)
		ppi_plan_leave_waits(&opened->box);
	opened->box.plan.area = opened->area;
	opened->box.plan.estimates_ends = opened->area != NULL;
	if (!(opened->bs.caps & PORTPROF_CAP_UNWIND)) {
		opened->box.plan.stack_bytes = 0;
		opened->box.plan.uses_tables = false;
	}
	if (status == PORTPROF_OK && has_waits_beside(opened))
		status = ppi_waits_beside(&opened->bs, &opened->beside, why);
	if (status == PORTPROF_OK && opened->has_helper)
		ppi_helper_call(open_now, attempt);
	else if (status == PORTPROF_OK)
		open_now(attempt);
	if (status == PORTPROF_OK)
		status = attempt->status;
	if (status)
		free_memory(opened);
	return status;
}

/* What other processes would be refused is refused here, before they begin:
 * open the backend on this process, and close it. */
static portprof_status rehearse(struct attempt *attempt,
                                const struct ppi_backend_ops *ops,
                                const void *kernel,
                                const struct ppi_probe *probe,
                                struct ppi_diag *why)
{
	struct ppi_opened *opened = attempt->opened;
	portprof_config *config = opened->config;
	const portprof_config asked = *config;
	portprof_status status;

	config->pool = NULL;
	config->is_rehearsed = true;
	config->target = PPI_TARGET_PROCESS;
	config->number[PPI_KEY_CHILDREN] = false;
	status = open_backend(attempt, ops, kernel, probe, why);
	config->pool = asked.pool;
	config->is_rehearsed = false;
	config->target = asked.target;
	config->number[PPI_KEY_CHILDREN] = asked.number[PPI_KEY_CHILDREN];
	if (status)
		return status;
	opened->bs.ops->close(&opened->bs);
	free_memory(opened);
	return PORTPROF_OK;
}

static portprof_status try_backend(const struct ppi_backend_ops *ops,
                                   const void *kernel,
                                   const struct ppi_probe *probe,
                                   void *context, struct ppi_diag *why)
{
	struct attempt *attempt = context;
	portprof_status status = PORTPROF_OK;

	if (attempt->opened->config->pool)
		status = rehearse(attempt, ops, kernel, probe, why);
	return status ? status :
	                open_backend(attempt, ops, kernel, probe, why);
}

/*
 * A part of the system that is not there is so for everybody, and that goes
 * before the rights that are missing to measure it. Opening looks for it
 * first.
 */
static bool has_no_place(struct attempt *attempt, uint64_t caps,
                         struct ppi_diag *why)
{
	struct ppi_opened *opened = attempt->opened;
	const char *wanted = opened->config->backend;
	portprof_status status = PORTPROF_OK;
	const struct ppi_backend_ops *ops;

	if (opened->config->target != PPI_TARGET_SYSTEM)
		return false;
	for (size_t i = 0; status == PORTPROF_OK && (ops = ppi_backend_at(i));
	     i++) {
		if (!(ops->caps & PORTPROF_CAP_SYSTEM) ||
		    (strcmp(wanted, "auto") != 0 &&
		     strcmp(wanted, ops->name) != 0))
			continue;
		status = ppi_select(ops->name,
		                    caps & ~(uint64_t)PORTPROF_CAP_SYSTEM,
		                    try_backend, attempt, NULL, why);
		if (status != PORTPROF_OK)
			continue;
		opened->bs.ops->close(&opened->bs);
		free_memory(opened);
	}
	return status == PORTPROF_E_INVALID || status == PORTPROF_E_NOTFOUND;
}

/* Where chains were to be found by tables if that works, and it does not. A
 * member of a recording leaves that to who collects. */
static void say_how_chains_are_found(struct ppi_opened *opened)
{
	const struct ppi_plan *plan = &opened->box.plan;
	const char *missing;

	if (!plan->chain_depth || plan->uses_tables || plan->area ||
	    opened->config->number[PPI_KEY_UNWIND] != PORTPROF_UNWIND_AUTO)
		return;
	if (ppi_unwinder_has_tables(&missing))
		missing = "stacks are not copied here";
	ppi_note(&opened->bs, "call chains by frame pointers, which code "
	         "without them breaks: %s", missing);
}

/* Waits alone need none of the backends, whichever was named. */
static portprof_status choose(struct attempt *attempt, uint64_t caps,
                              struct ppi_diag *why)
{
	struct ppi_opened *opened = attempt->opened;
	const portprof_config *config = opened->config;
	const struct ppi_backend_ops *waits = &ppi_backend_waits;
	struct ppi_probe probe = { 0 };
	size_t count = ppi_plan_wait_count(config);

	if (!count || count < ppi_plan_event_count(config) ||
	    attempt->mode != PPI_SAMPLE)
		return ppi_select(config->backend, caps, try_backend, attempt,
		                  &opened->passed_over, why);
	waits->probe(ppi_waits_kernel_here(), &probe);
	if (caps & ~probe.caps)
		return ppi_select_refuse(waits, &probe, caps & ~probe.caps,
		                         why);
	/* its records of births and deaths make lifetimes exact */
	if (ppi_select("perf", caps, try_backend, attempt, NULL, why) ==
	    PORTPROF_OK)
		return PORTPROF_OK;
	return open_backend(attempt, waits, ppi_waits_kernel_here(), &probe,
	                    why);
}

portprof_status ppi_opened_open(struct ppi_opened *opened,
                                const portprof_config *config,
                                enum ppi_mode mode, struct ppi_diag *why)
{
	struct attempt attempt = { .opened = opened, .mode = mode };
	portprof_status status;
	uint64_t caps;

	status = ppi_plan_needs(config, mode, &caps, why);
	if (status)
		return status;
	ppi_library_stay();
	opened->config = ppi_config_copy(config);
	if (!opened->config)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open",
		                "out of memory");
	status = mode == PPI_SAMPLE ? take_helper(opened, why) : PORTPROF_OK;
	if (status)
		goto free_config;
	status = take_area(opened, mode, why);
	if (status)
		goto leave_helper;
	status = choose(&attempt, caps, why);
	if (status != PORTPROF_OK && status != PORTPROF_E_INVALID &&
	    status != PORTPROF_E_NOMEM) {
		struct ppi_diag unknown;

		if (ppi_plan_check_names(opened->config, mode, &unknown) ||
		    (status == PORTPROF_E_DENIED &&
		     has_no_place(&attempt, caps, &unknown)))
			*why = unknown;
		status = why->status;
	}
	if (status)
		goto leave_area;
	say_how_chains_are_found(opened);
	ppi_fork_guard_init(&opened->guard);
	return PORTPROF_OK;

leave_area:
	ppi_passed_over_free(&opened->passed_over);
	leave_area(opened);
leave_helper:
	leave_helper(opened);
free_config:
	portprof_config_free(opened->config);
	return status;
}

void ppi_opened_close(struct ppi_opened *opened)
{
	bool is_forked = ppi_is_forked(&opened->guard);

	opened->bs.ops->close(&opened->bs);
	leave_area(opened);
	free_memory(opened);
	ppi_passed_over_free(&opened->passed_over);
	portprof_config_free(opened->config);
	ppi_fork_guard_release(&opened->guard);
	if (!is_forked)
		leave_helper(opened);
}

/* ---- the public answers that sessions and groups give ---- */

void ppi_event_info_fill(const struct ppi_event *event,
                         portprof_event_info *info)
{
	memset(info, 0, sizeof(*info));
	info->unit = event->unit;
	info->canonical = event->canonical;
	info->description = event->description;
	info->period = event->request.period;
	info->rate_hz = event->request.rate_hz;
	info->counts_user = event->counts_user;
	info->counts_kernel = event->counts_kernel;
	info->encoding = event->encoding;
	info->pmu = event->pmu;
	info->scaled_unit = event->scaled_unit;
	info->scale = event->scaled_unit[0] ? event->scale : 1;
	info->counts_hypervisor = event->counts_hypervisor;
}

portprof_status ppi_opened_event(const struct ppi_opened *opened, size_t index,
                                 portprof_event_info *info)
{
	portprof_event_info full;

	if (!info)
		return ppi_refuse_null("event", "info");
	if (index >= opened->box.plan.event_count)
		return ppi_refuse(PORTPROF_E_INVALID, "event",
		                  "no event number %zu: there are %zu", index,
		                  opened->box.plan.event_count);
	ppi_event_info_fill(&opened->box.events[index], &full);
	return ppi_sized_copy(info, &full, sizeof(full), "event");
}

portprof_status ppi_opened_passed_over(const struct ppi_opened *opened,
                                       size_t index, const char **name,
                                       const char **reason)
{
	if (!name || !reason)
		return ppi_refuse_null("passed over",
		                       name ? "reason" : "name");
	if (index >= opened->passed_over.names.count)
		return PORTPROF_END;
	*name = PPI_AT(&opened->passed_over.names, char *)[index];
	*reason = PPI_AT(&opened->passed_over.reasons, char *)[index];
	return PORTPROF_OK;
}
