/* SPDX-License-Identifier: MIT */
/* A group of counters: open, read, start, stop, reset, threads, close. */
#include <portprof/group.h>

#include "api/common/diag.h"
#include "api/core/event.h"
#include "api/core/group_threads.h"
#include "api/core/open.h"
#include "base/arithmetic.h"
#include "base/clock_ns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_ROOM = 64 };

/* The short way to the backend. It lies in the page that a forked child finds
 * zeroed, and so has no events there. */
struct shortcut {
	portprof_status (*one)(struct ppi_backend_session *bs, size_t index,
	                       portprof_count *count);
	size_t count; /* of events; 0: this way is closed */
	portprof_status (*all)(struct ppi_backend_session *bs,
	                       portprof_count *counts, size_t count);
};

static const struct shortcut closed;

struct portprof_group {
	_Atomic(const struct shortcut *) shortcut;
	struct ppi_opened opened; /* of the first thread, if it is of threads */
	struct ppi_group_threads threads; /* those beside it */
	bool is_running;
	bool is_first_out; /* it was removed */
	portprof_count *base;  /* at the last reset; one an event */
	_Atomic uint64_t *highest; /* estimate since then; one an event */
	portprof_diag *refusals; /* one an event, for the caller */
	bool has_base;
};

/* Times of a reading without the kernel may be older than the base. */
static uint64_t since(uint64_t now_ns, uint64_t base_ns)
{
	return now_ns > base_ns ? now_ns - base_ns : 0;
}

/* A reading since the last reset. What the kernel itself cannot forget (the
 * times, see perf_event_open(2)) is subtracted here with the rest. */
static void subtract(const portprof_group *group, size_t event,
                     portprof_count *count)
{
	const portprof_count *base = &group->base[event];

	if (count->status != PORTPROF_COUNT_OK &&
	    count->status != PORTPROF_COUNT_SCALED)
		return;
	count->raw -= base->raw;
	count->enabled_ns = since(count->enabled_ns, base->enabled_ns);
	count->running_ns = since(count->running_ns, base->running_ns);
	if (count->running_ns == count->enabled_ns) {
		count->scaled = count->raw;
		count->status = PORTPROF_COUNT_OK;
	} else if (count->running_ns == 0) {
		count->scaled = 0;
		count->status = PORTPROF_COUNT_NEVER_RAN;
	} else {
		count->scaled = ppi_never_less(&group->highest[event],
		                               ppi_scale(count->raw,
		                                         count->enabled_ns,
		                                         count->running_ns));
		count->status = PORTPROF_COUNT_SCALED;
	}
}

static portprof_status take_memory(portprof_group *group, struct ppi_diag *why)
{
	size_t count = group->opened.box.plan.event_count;
	const struct ppi_diag *refusals = group->opened.bs.refusals;

	group->base = calloc(count, sizeof(*group->base));
	group->highest = calloc(count, sizeof(*group->highest));
	group->refusals = calloc(count, sizeof(*group->refusals));
	if (!group->base || !group->highest || !group->refusals)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open group",
		                "out of memory");
	for (size_t i = 0; refusals && i < count; i++) {
		portprof_diag *out = &group->refusals[i];

		out->status = refusals[i].status;
		out->os_errno = refusals[i].os_errno;
		memcpy(out->step, refusals[i].step, sizeof(out->step));
		memcpy(out->words, refusals[i].words, sizeof(out->words));
	}
	for (size_t i = 0; group->opened.bs.note_count && i < count; i++)
		if (group->refusals[i].status == PORTPROF_OK)
			snprintf(group->refusals[i].words,
			         sizeof(group->refusals[i].words), "%s",
			         group->opened.notes[0]);
	return PORTPROF_OK;
}

/* As long as there is nothing to add to what the backend reads. */
static void open_shortcut(portprof_group *group)
{
	struct shortcut *way = ppi_fork_guard_memory(&group->opened.guard);

	group->shortcut = &closed;
	if (!way || !group->opened.bs.ops->count_ways)
		return;
	way->one = group->opened.bs.ops->count_ways->one;
	way->all = group->opened.bs.ops->count_ways->all;
	way->count = group->opened.box.plan.event_count;
	group->shortcut = way;
}

static void free_group(portprof_group *group)
{
	ppi_group_threads_close(&group->threads);
	free(group->base);
	free((void *)group->highest);
	free(group->refusals);
	ppi_opened_close(&group->opened);
	free(group);
}

portprof_status portprof_group_open_config(const portprof_config *config,
                                           portprof_group **group)
{
	struct ppi_diag why = { 0 };
	portprof_group *opened;
	portprof_status status;

	if (!config)
		return ppi_refuse_null("portprof_group_open_config", "config");
	if (!group)
		return ppi_refuse_null("portprof_group_open_config", "group");
	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return ppi_refuse(PORTPROF_E_NOMEM, "open group",
		                  "out of memory");
	status = ppi_opened_open(&opened->opened, config, PPI_COUNT, &why);
	if (status) {
		free(opened);
		return ppi_report(&why);
	}
	status = take_memory(opened, &why);
	if (status == PORTPROF_OK)
		status = opened->opened.bs.ops->start(&opened->opened.bs, &why);
	if (status) {
		free_group(opened);
		return ppi_report(&why);
	}
	opened->is_running = true;
	open_shortcut(opened);
	*group = opened;
	return PORTPROF_OK;
}

portprof_status portprof_group_open(const char *events, portprof_group **group)
{
	portprof_config *config;
	portprof_status status;

	if (!events)
		return ppi_refuse_null("portprof_group_open", "events");
	config = portprof_config_new();
	if (!config)
		return ppi_refuse(PORTPROF_E_NOMEM, "open group",
		                  "out of memory");
	status = portprof_config_add_event(config, events);
	if (status == PORTPROF_OK)
		status = portprof_group_open_config(config, group);
	portprof_config_free(config);
	return status;
}

portprof_status ppi_count_failed(const struct ppi_backend_session *bs,
                                 portprof_status status, const char *why)
{
	int error = status == PORTPROF_E_SYSTEM ? errno : 0;
	struct ppi_diag diag;

	if (!why)
		why = error ? strerror(error) : portprof_status_text(status);
	ppi_fail(&diag, status, error, "read counter",
	         "backend %s cannot read counters: %s%s", bs->ops->name, why,
	         status == PORTPROF_E_SYSTEM
	                 ? "; read again, or open another group" : "");
	return ppi_report(&diag);
}

/* One event where the backend has no way of its own: with those before it. */
static portprof_status read_up_to(struct ppi_backend_session *bs, size_t index,
                                  portprof_count *count)
{
	portprof_count counts[READ_ROOM];
	portprof_status status;

	if (index >= READ_ROOM)
		return ppi_count_failed(bs, PORTPROF_E_LIMIT, NULL);
	status = bs->ops->count(bs, counts, index + 1);
	if (status)
		return ppi_count_failed(bs, status, NULL);
	*count = counts[index];
	return PORTPROF_OK;
}

#if defined __GNUC__
#define SELDOM __attribute__((noinline, cold))
#else
#define SELDOM
#endif

static portprof_status read_all(struct ppi_backend_session *bs,
                                portprof_count *counts, size_t count)
{
	portprof_status status;

	if (bs->ops->count_ways)
		return bs->ops->count_ways->all(bs, counts, count);
	status = bs->ops->count(bs, counts, count);
	return status ? ppi_count_failed(bs, status, NULL) : PORTPROF_OK;
}

static portprof_status read_one(struct ppi_backend_session *bs, size_t index,
                                portprof_count *count)
{
	return bs->ops->count_ways ? bs->ops->count_ways->one(bs, index, count)
	                           : read_up_to(bs, index, count);
}

/* The first thread's are in `counts`; put those of the others to them. */
static portprof_status add_all(const struct ppi_group_view *view,
                               portprof_count *counts, size_t count)
{
	portprof_count more[PPI_GROUP_THREAD_EVENTS];
	portprof_status status = PORTPROF_OK;

	for (size_t i = 0; i < view->count && status == PORTPROF_OK; i++) {
		status = read_all(&view->threads[i]->opened.bs, more, count);
		for (size_t at = 0; at < count && status == PORTPROF_OK; at++)
			ppi_group_sum(&counts[at], &more[at]);
	}
	for (size_t at = 0; at < count; at++)
		ppi_group_sum(&counts[at], &view->gone[at]);
	return status;
}

static portprof_status add_one(const struct ppi_group_view *view, size_t index,
                               portprof_count *count)
{
	portprof_status status = PORTPROF_OK;
	portprof_count more;

	for (size_t i = 0; i < view->count && status == PORTPROF_OK; i++) {
		status = read_one(&view->threads[i]->opened.bs, index, &more);
		if (status == PORTPROF_OK)
			ppi_group_sum(count, &more);
	}
	ppi_group_sum(count, &view->gone[index]);
	return status;
}

/* Nothing is told unless all could be read. */
static portprof_status sum_all(portprof_group *group, portprof_count *counts,
                               size_t count)
{
	portprof_count sum[PPI_GROUP_THREAD_EVENTS];
	const struct ppi_group_view *view =
		ppi_group_threads_enter(&group->threads);
	portprof_status status;

	status = read_all(&group->opened.bs, view ? sum : counts, count);
	if (status == PORTPROF_OK && view)
		status = add_all(view, sum, count);
	if (status == PORTPROF_OK && view)
		memcpy(counts, sum, count * sizeof(*counts));
	ppi_group_threads_leave(&group->threads);
	return status;
}

static portprof_status sum_one(portprof_group *group, size_t index,
                               portprof_count *count)
{
	const struct ppi_group_view *view =
		ppi_group_threads_enter(&group->threads);
	portprof_count sum;
	portprof_status status = read_one(&group->opened.bs, index, &sum);

	if (status == PORTPROF_OK && view)
		status = add_one(view, index, &sum);
	if (status == PORTPROF_OK)
		*count = sum;
	ppi_group_threads_leave(&group->threads);
	return status;
}

static portprof_status stamp(portprof_count *counts, size_t count)
{
	uint64_t now_ns = ppi_monotonic_ns();

	for (size_t i = 0; i < count; i++)
		counts[i].taken_ns = now_ns;
	return PORTPROF_OK;
}

/* Mistakes, forked children, resets, several threads, other backends. */
SELDOM static portprof_status read_group(portprof_group *group,
                                         portprof_count *counts, size_t count)
{
	portprof_status status;

	if (!group || !counts)
		return ppi_refuse_null("portprof_group_read",
		                       group ? "counts" : "group");
	if (count > group->opened.box.plan.event_count)
		return ppi_refuse(PORTPROF_E_INVALID, "read group",
		                  "%zu counts asked for, the group has %zu",
		                  count, group->opened.box.plan.event_count);
	if (ppi_is_forked(&group->opened.guard))
		return ppi_refuse(PORTPROF_E_FORKED, "read group",
		                  "this group belongs to the parent process: "
		                  "close it here and open another");
	status = sum_all(group, counts, count);
	for (size_t i = 0; status == PORTPROF_OK && group->has_base &&
	     i < count; i++)
		subtract(group, i, &counts[i]);
	return status ? status : stamp(counts, count);
}

/* Hot: all but the backend's own part is elsewhere. */
portprof_status portprof_group_read(portprof_group *group,
                                    portprof_count *counts, size_t count)
{
	struct shortcut way;
	portprof_status status;

	if (!group || !counts)
		return read_group(group, counts, count);
	way = *atomic_load_explicit(&group->shortcut, memory_order_acquire);
	if (count > way.count)
		return read_group(group, counts, count);
	status = way.all(&group->opened.bs, counts, count);
	return status ? status : stamp(counts, count);
}

SELDOM static portprof_status read_counter(portprof_group *group, size_t index,
                                           portprof_count *count)
{
	portprof_status status;

	if (!group || !count)
		return ppi_refuse_null("portprof_group_event_read",
				       group ? "count" : "group");
	if (index >= group->opened.box.plan.event_count)
		return ppi_refuse(PORTPROF_E_INVALID, "read counter",
		                  "no counter number %zu: the group has %zu, "
		                  "numbered from 0", index,
		                  group->opened.box.plan.event_count);
	if (ppi_is_forked(&group->opened.guard))
		return ppi_refuse(PORTPROF_E_FORKED, "read counter",
		                  "this group belongs to the parent process: "
		                  "close it here and open another");
	status = sum_one(group, index, count);
	if (status == PORTPROF_OK && group->has_base)
		subtract(group, index, count);
	return status;
}

/* Hot: some ten instructions around the backend's own. */
portprof_status portprof_group_event_read(portprof_group *group, size_t index,
					  portprof_count *count)
{
	struct shortcut way;

	if (!group || !count)
		return read_counter(group, index, count);
	way = *atomic_load_explicit(&group->shortcut, memory_order_acquire);
	if (index >= way.count)
		return read_counter(group, index, count);
	return way.one(&group->opened.bs, index, count);
}

const char *portprof_group_event_how(portprof_group *group, size_t index)
{
	struct ppi_backend_session *bs;

	if (!group || index >= group->opened.box.plan.event_count)
		return NULL;
	if (atomic_load(&group->threads.view))
		return "each thread's by read(2), and their sum";
	bs = &group->opened.bs;
	return bs->ops->count_ways
	               ? bs->ops->count_ways->how(bs, index)
	               : "with the other counters of its group: this backend "
	                 "has no shorter way";
}

portprof_status portprof_group_part(portprof_group *group, size_t index,
                                    size_t part, const char **pmu,
                                    const char **cpus, portprof_count *count)
{
	struct ppi_backend_session *bs;
	portprof_status status;

	if (!group || !pmu || !cpus || !count)
		return ppi_refuse_null("portprof_group_part",
		                       !group ? "group" : !pmu ? "pmu" :
		                       !cpus ? "cpus" : "count");
	if (index >= group->opened.box.plan.event_count)
		return ppi_refuse(PORTPROF_E_INVALID, "group part",
		                  "no event number %zu", index);
	if (ppi_is_forked(&group->opened.guard))
		return ppi_refuse(PORTPROF_E_FORKED, "group part",
		                  "this group belongs to the parent process");
	if (atomic_load(&group->threads.view))
		return ppi_refuse(PORTPROF_E_UNSUPPORTED, "group part",
		                  "threads were added to the group, and parts "
		                  "are those of one thread: open a group for "
		                  "each");
	bs = &group->opened.bs;
	if (!bs->ops->count_parts)
		return PORTPROF_END;
	status = bs->ops->count_parts->part(bs, index, part, pmu, cpus, count);
	return status ? status : stamp(count, 1);
}

static portprof_status enter(const portprof_group *group, const char *call)
{
	if (!group)
		return ppi_refuse_null(call, "group");
	if (ppi_is_forked(&group->opened.guard))
		return ppi_refuse(PORTPROF_E_FORKED, call,
		                  "this group belongs to the parent process");
	return PORTPROF_OK;
}

static portprof_status switch_to(struct ppi_opened *opened, bool is_on,
                                 struct ppi_diag *why)
{
	const struct ppi_backend_ops *ops = opened->bs.ops;

	return is_on ? ops->start(&opened->bs, why)
	             : ops->stop(&opened->bs, why);
}

static portprof_status switch_all(portprof_group *group, const char *call,
                                  bool is_on)
{
	struct ppi_diag why; /* a kilobyte: filled by what fails */
	portprof_status status = enter(group, call);
	const struct ppi_group_view *view;

	if (status)
		return status;
	group->is_running = is_on;
	if (!group->is_first_out)
		status = switch_to(&group->opened, is_on, &why);
	view = atomic_load(&group->threads.view);
	for (size_t i = 0; view && i < view->count && status == PORTPROF_OK;
	     i++)
		status = switch_to(&view->threads[i]->opened, is_on, &why);
	return status ? ppi_report(&why) : PORTPROF_OK;
}

portprof_status portprof_group_start(portprof_group *group)
{
	return switch_all(group, "start group", true);
}

portprof_status portprof_group_stop(portprof_group *group)
{
	return switch_all(group, "stop group", false);
}

portprof_status portprof_group_reset(portprof_group *group)
{
	portprof_status status = enter(group, "reset group");
	size_t count;

	if (status)
		return status;
	count = group->opened.box.plan.event_count;
	status = sum_all(group, group->base, count);
	if (status)
		return status;
	for (size_t i = 0; i < count; i++)
		atomic_store(&group->highest[i], 0);
	group->has_base = true;
	atomic_store(&group->shortcut, &closed);
	return PORTPROF_OK;
}

/* ---- threads by hand ---- */

static bool is_first(const portprof_group *group, uint64_t tid)
{
	return (uint64_t)group->opened.box.plan.target.tid == tid;
}

static portprof_status let_first(portprof_group *group, bool is_in,
                                 struct ppi_diag *why)
{
	portprof_status status =
		switch_to(&group->opened, is_in && group->is_running, why);

	if (status == PORTPROF_OK)
		group->is_first_out = !is_in;
	return status;
}

static portprof_status add_thread(portprof_group *group, uint64_t tid,
                                  struct ppi_diag *why)
{
	portprof_status status;

	if (is_first(group, tid))
		return let_first(group, true, why);
	if (ppi_group_threads_find(&group->threads, (int64_t)tid))
		return PORTPROF_OK;
	status = ppi_group_threads_add(&group->threads, &group->opened,
	                               (int64_t)tid, group->is_running, why);
	if (status == PORTPROF_OK)
		atomic_store(&group->shortcut, &closed);
	return status;
}

static portprof_status remove_thread(portprof_group *group, uint64_t tid,
                                     struct ppi_diag *why)
{
	struct ppi_group_thread *thread =
		ppi_group_threads_find(&group->threads, (int64_t)tid);

	if (thread)
		return ppi_group_threads_remove(&group->threads, thread, why);
	if (is_first(group, tid) && !group->is_first_out)
		return let_first(group, false, why);
	return ppi_fail(why, PORTPROF_E_NOTFOUND, 0, "set number",
	                "thread %" PRIu64 " is not one of the group's", tid);
}

static portprof_status refuse_key(const char *key, struct ppi_diag *why)
{
	struct ppi_nearest nearest;
	char hint[320];

	ppi_nearest_begin(&nearest, key);
	ppi_nearest_offer(&nearest, "add-thread");
	ppi_nearest_offer(&nearest, "remove-thread");
	ppi_nearest_say(&nearest, hint, sizeof(hint));
	return ppi_suggest(
		why, &nearest,
		ppi_fail(why, PORTPROF_E_INVALID, 0, "set number",
	                 "an open group has no setting '%.60s'%s", key, hint));
}

static portprof_status set_number(portprof_group *group, const char *key,
                                  uint64_t number, struct ppi_diag *why)
{
	bool is_add = strcmp(key, "add-thread") == 0;

	if (!is_add && strcmp(key, "remove-thread") != 0)
		return refuse_key(key, why);
	if (number < 1 || number > INT32_MAX)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "set number",
		                "%s takes the id of a thread, not %" PRIu64,
		                key, number);
	if (group->opened.box.plan.target.kind != PPI_TARGET_TID)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "set number",
		                "the group counts all threads of its target: "
		                "bind it to one (PORTPROF_TARGET_THREAD, "
		                "PORTPROF_TARGET_TID) to add others");
	return is_add ? add_thread(group, number, why)
	              : remove_thread(group, number, why);
}

portprof_status portprof_group_set_number(portprof_group *group,
                                          const char *key, uint64_t number)
{
	struct ppi_diag why = { 0 };
	portprof_status status;

	if (!key)
		return ppi_refuse_null("portprof_group_set_number", "key");
	status = enter(group, "portprof_group_set_number");
	if (status)
		return status;
	return set_number(group, key, number, &why) ? ppi_report(&why)
	                                            : PORTPROF_OK;
}

void portprof_group_close(portprof_group *group)
{
	struct ppi_diag why;

	if (!group)
		return;
	if (!ppi_is_forked(&group->opened.guard))
		group->opened.bs.ops->stop(&group->opened.bs, &why);
	free_group(group);
}

portprof_status portprof_group_metric(const portprof_group *group,
                                      const portprof_count *counts,
                                      size_t index, portprof_metric *metric)
{
	if (!group)
		return ppi_refuse_null("portprof_group_metric", "group");
	return ppi_metric_get(group->opened.box.events,
	                      group->opened.box.plan.event_count, counts,
	                      index, metric);
}

const struct ppi_event *ppi_group_events(const portprof_group *group,
                                         size_t *count)
{
	*count = group->opened.box.plan.event_count;
	return group->opened.box.events;
}

size_t portprof_group_event_count(const portprof_group *group)
{
	return group ? group->opened.box.plan.event_count : 0;
}

portprof_status portprof_group_event(const portprof_group *group, size_t index,
                                     portprof_event_info *info)
{
	if (!group)
		return ppi_refuse_null("group event", "group");
	return ppi_opened_event(&group->opened, index, info);
}

const portprof_diag *portprof_group_event_diag(const portprof_group *group,
                                               size_t index)
{
	if (!group || index >= group->opened.box.plan.event_count)
		return NULL;
	return &group->refusals[index];
}

const char *portprof_group_backend(const portprof_group *group)
{
	return group ? group->opened.bs.ops->name : NULL;
}

portprof_status portprof_group_passed_over(const portprof_group *group,
                                           size_t index, const char **name,
                                           const char **reason)
{
	if (!group)
		return ppi_refuse_null("group passed_over", "group");
	return ppi_opened_passed_over(&group->opened, index, name, reason);
}
