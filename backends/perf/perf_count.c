/* SPDX-License-Identifier: MIT */
/* Counting: groups of kernel events on every thread, read at one instant. */
#include "backends/perf/perf_state.h"

#include "backends/perf/perf_proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TRIES_MAX = 8,      /* to find a moment in which no thread is created */
	FDS_LEFT = 8
};

/* ---- opening ---- */

static void close_all(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	while (state->source_count > 0)
		kernel->close_event(kernel->self,
		                    state->sources[--state->source_count].fd);
}

/* The descriptor that leads event's group on this thread, or -1. */
static int leader_for(const struct ppi_backend_session *bs, int64_t tid,
                      uint32_t event)
{
	const struct perf_state *state = perf_state_of(bs);
	size_t group = bs->plan->events[event].group;

	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];

		if (source->tid == tid && source->leader < 0 &&
		    bs->plan->events[source->event].group == group)
			return source->fd;
	}
	return -1;
}

static portprof_status open_counter(struct ppi_backend_session *bs,
                                    int64_t tid, uint32_t event,
                                    struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_event *what = &bs->plan->events[event];
	struct perf_source source = { .event = event, .tid = tid };
	struct perf_event_attr attr;
	int error;

	source.leader = leader_for(bs, tid, event);
	perf_attr_count(&state->kind, what, source.leader < 0, &attr);
	source.fd = perf_open_attr(kernel, &attr, tid, -1, source.leader);
	if (source.fd < 0)
		return perf_refuse_open(kernel, what, -source.fd, why);
	error = kernel->control(kernel->self, source.fd, PERF_EVENT_IOC_ID,
	                        &source.id);
	if (error == 0 && !perf_add_source(state, &source))
		error = -ENOMEM;
	if (error == 0)
		return PORTPROF_OK;
	kernel->close_event(kernel->self, source.fd);
	return perf_refuse_open(kernel, what, -error, why);
}

static bool is_refused(const struct ppi_backend_session *bs, size_t event)
{
	return bs->refusals && bs->refusals[event].status != PORTPROF_OK;
}

/* E_NOTFOUND: the thread has ended, and nothing of it is open. */
static portprof_status attach_counters(struct ppi_backend_session *bs,
                                       int64_t tid, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	bool is_first = state->source_count == 0;
	portprof_status status = PORTPROF_OK;

	for (uint32_t i = 0; i < bs->plan->event_count; i++) {
		if (is_refused(bs, i))
			continue;
		status = open_counter(bs, tid, i, why);
		if (status == PORTPROF_E_NOTFOUND)
			break;
		/* Said of the first thread; true of the others then. */
		if (status != PORTPROF_OK && bs->refusals && is_first) {
			bs->refusals[i] = *why;
			status = PORTPROF_OK;
		}
		if (status != PORTPROF_OK)
			break;
	}
	while (status == PORTPROF_E_NOTFOUND && state->source_count > 0 &&
	       state->sources[state->source_count - 1].tid == tid) {
		const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

		kernel->close_event(kernel->self,
		                    state->sources[--state->source_count].fd);
	}
	return status;
}

static bool is_attached(const struct perf_state *state, int64_t tid)
{
	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].tid == tid)
			return true;
	return false;
}

static portprof_status list_threads(struct ppi_backend_session *bs,
                                    int64_t **tids, size_t *count,
                                    struct ppi_diag *why)
{
	int64_t pid = bs->plan->target.pid;
	int error = perf_proc_threads(perf_kernel_of(bs->kernel), pid, tids,
	                              count);

	return error == 0 ? PORTPROF_OK : perf_refuse_threads(pid, -error, why);
}

static bool is_ours(const struct ppi_backend_session *bs, int64_t tid)
{
	return bs->plan->target.is_self && tid == bs->helper_tid;
}

/* Attach all listed threads; *news is how many more there are afterwards. */
static portprof_status attach_once(struct ppi_backend_session *bs,
                                   size_t *news, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	int64_t *tids = NULL;
	size_t count = 0;
	portprof_status status = list_threads(bs, &tids, &count, why);

	for (size_t i = 0; i < count && status == PORTPROF_OK; i++) {
		if (is_ours(bs, tids[i]))
			continue;
		status = attach_counters(bs, tids[i], why);
		if (status == PORTPROF_E_NOTFOUND)
			status = PORTPROF_OK;
	}
	free(tids);
	*news = 0;
	if (status == PORTPROF_OK)
		status = list_threads(bs, &tids, &count, why);
	if (status != PORTPROF_OK)
		return status;
	for (size_t i = 0; i < count; i++)
		*news += !is_ours(bs, tids[i]) && !is_attached(state, tids[i]);
	free(tids);
	return PORTPROF_OK;
}

/*
 * A thread that appears meanwhile may have inherited the counters or not,
 * and nothing tells. So do it again, until no thread appears.
 */
static portprof_status attach_process(struct ppi_backend_session *bs,
                                      struct ppi_diag *why)
{
	portprof_status status;
	size_t news = 0;

	for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
		close_all(bs);
		status = attach_once(bs, &news, why);
		if (status != PORTPROF_OK || news == 0)
			break;
	}
	if (status == PORTPROF_OK && news > 0)
		ppi_note(bs, "threads were created while counters were being "
		         "opened: what those of them count that inherited "
		         "none is missing");
	if (status == PORTPROF_OK && perf_state_of(bs)->source_count == 0)
		return ppi_fail(why, PORTPROF_E_NOTFOUND, ESRCH,
		                "attach threads", "process %lld has ended",
		                (long long)bs->plan->target.pid);
	return status;
}

static portprof_status check_descriptors(struct ppi_backend_session *bs,
                                         struct ppi_diag *why)
{
	int64_t *tids;
	uint64_t limit, needed, available;
	size_t count = 1;

	if (bs->plan->target.kind != PPI_TARGET_TID) {
		portprof_status status = list_threads(bs, &tids, &count, why);

		if (status != PORTPROF_OK)
			return status;
		free(tids);
	}
	needed = (uint64_t)count * bs->plan->event_count + FDS_LEFT;
	available = perf_proc_free_fds(perf_kernel_of(bs->kernel), &limit);
	if (needed <= available)
		return PORTPROF_OK;
	return perf_refuse_fds(needed, available, limit,
	                       "one for each event and thread", why);
}

static void choose_kind(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_plan *plan = bs->plan;
	struct perf_session_kind *kind = &state->kind;

	state->layout = PERF_NO_RINGS;
	kind->features = perf_features(perf_kernel_of(bs->kernel));
	kind->inherits = plan->target.kind != PPI_TARGET_TID;
	kind->follows_children = plan->follow_children;
	kind->enables_on_exec = plan->target.kind == PPI_TARGET_COMMAND;
	kind->removes_on_exec = plan->target.is_self && !plan->follow_children;
	state->awaits_exec = kind->enables_on_exec;
	kind->shape.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
	                          PERF_FORMAT_TOTAL_TIME_RUNNING |
	                          PERF_FORMAT_ID;
	if (!kind->inherits || kind->features & PERF_HAS_INHERIT_GROUP) {
		kind->shape.read_format |= PERF_FORMAT_GROUP;
		return;
	}
	bs->caps &= ~(uint64_t)PORTPROF_CAP_GROUP;
	ppi_note(bs, "this kernel reads inherited counters one by one: values "
	         "of a group are not of the same instant");
}

portprof_status perf_open_counting(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	size_t count = bs->plan->event_count;
	portprof_status status;

	if (count > PERF_EVENTS_MAX)
		return ppi_fail(why, PORTPROF_E_LIMIT, 0, "open counters",
		                "%zu events are more than the %d that one "
		                "group may have", count, PERF_EVENTS_MAX);
	choose_kind(bs);
	state->pending_end = &state->pending;
	state->highest = calloc(count, sizeof(*state->highest));
	state->tallies = calloc(count, sizeof(*state->tallies));
	if (!state->highest || !state->tallies)
		status = ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM,
		                  "open counters", "out of memory");
	else
		status = check_descriptors(bs, why);
	if (status == PORTPROF_OK && bs->plan->target.kind == PPI_TARGET_TID)
		status = attach_counters(bs, bs->plan->target.tid, why);
	else if (status == PORTPROF_OK)
		status = attach_process(bs, why);
	if (status != PORTPROF_OK) {
		perf_release(bs);
		return status;
	}
	if (state->source_count == 0) {
		*why = bs->refusals[0];
		status = why->status;
		perf_release(bs);
	}
	return status;
}

/* ---- reading ---- */

static void add_value(const struct perf_state *state, uint64_t id,
                      uint64_t value, uint64_t enabled, uint64_t running,
                      portprof_count *out, size_t count)
{
	const struct perf_source *source = perf_source_of(state, id);

	if (!source || source->event >= count)
		return;
	out[source->event].raw += value;
	out[source->event].enabled_ns += enabled;
	out[source->event].running_ns += running;
}

/* An event that was to stay on the PMU and could not reads as end of file
 * (perf_event_open(2), "pinned"). */
static void mark_error(const struct ppi_backend_session *bs,
                       const struct perf_source *leader, portprof_count *out,
                       size_t count)
{
	size_t group = bs->plan->events[leader->event].group;

	for (size_t i = 0; i < count; i++)
		if (bs->plan->events[i].group == group && !is_refused(bs, i))
			out[i].status = PORTPROF_COUNT_ERROR;
}

static portprof_status read_source(struct ppi_backend_session *bs,
                                   const struct perf_source *source,
                                   portprof_count *out, size_t count)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	uint64_t words[PERF_READ_ROOM];
	ssize_t got = kernel->read_event(kernel->self, source->fd, words,
	                                 sizeof(words));
	size_t have = got > 0 ? (size_t)got / 8 : 0;

	if (got == 0) {
		mark_error(bs, source, out, count);
		return PORTPROF_OK;
	}
	if (have < 4)
		return PORTPROF_E_SYSTEM;
	if (!(state->kind.shape.read_format & PERF_FORMAT_GROUP)) {
		add_value(state, words[3], words[0], words[1], words[2], out,
		          count);
		return PORTPROF_OK;
	}
	/* Number, enabled, running, then value and id of each. */
	for (size_t i = 0; i < words[0] && 3 + 2 * i + 1 < have; i++)
		add_value(state, words[3 + 2 * i + 1], words[3 + 2 * i],
		          words[1], words[2], out, count);
	return PORTPROF_OK;
}

static uint64_t scale(uint64_t raw, uint64_t enabled, uint64_t running)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)raw * enabled / running;

	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
#else
	long double scaled = (long double)raw * enabled / running;

	return scaled >= 18446744073709551615.0L ? UINT64_MAX
	                                         : (uint64_t)scaled;
#endif
}

/* An estimate may fall when the share of time that was seen grows; what was
 * told once is not taken back. */
static uint64_t never_less(_Atomic uint64_t *highest, uint64_t value)
{
	uint64_t before = atomic_load_explicit(highest, memory_order_relaxed);

	while (before < value &&
	       !atomic_compare_exchange_weak_explicit(
		       highest, &before, value, memory_order_relaxed,
		       memory_order_relaxed))
		;
	return before > value ? before : value;
}

static void judge(struct ppi_backend_session *bs, size_t event,
                  portprof_count *count)
{
	struct perf_state *state = perf_state_of(bs);

	if (is_refused(bs, event)) {
		count->status = PORTPROF_COUNT_REFUSED;
		return;
	}
	if (count->status == PORTPROF_COUNT_ERROR) {
		count->raw = count->scaled = 0;
		return;
	}
	if (count->running_ns == 0 &&
	    (count->enabled_ns > 0 || state->awaits_exec)) {
		count->status = PORTPROF_COUNT_NEVER_RAN;
	} else if (count->running_ns >= count->enabled_ns) {
		count->running_ns = count->enabled_ns;
		count->scaled = count->raw;
		count->status = PORTPROF_COUNT_OK;
	} else {
		count->scaled = never_less(&state->highest[event],
		                           scale(count->raw, count->enabled_ns,
		                                 count->running_ns));
		count->status = PORTPROF_COUNT_SCALED;
	}
}

portprof_status perf_read_counts(struct ppi_backend_session *bs,
                                 portprof_count *out, size_t count)
{
	const struct perf_state *state = perf_state_of(bs);
	bool is_group = state->kind.shape.read_format & PERF_FORMAT_GROUP;

	memset(out, 0, count * sizeof(*out));
	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];
		portprof_status status;

		if (is_group && source->leader >= 0)
			continue;
		status = read_source(bs, source, out, count);
		if (status != PORTPROF_OK)
			return status;
	}
	for (size_t i = 0; i < count; i++)
		judge(bs, i, &out[i]);
	return PORTPROF_OK;
}
