/* SPDX-License-Identifier: MIT */
/* Counting: opening groups of kernel events on every thread. */
#include "backends/perf/counts/perf_counts.h"
#include "backends/perf/events/perf_sysfs.h"
#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/kernel/perf_refusal.h"
#include "backends/perf/session/perf_cpus.h"
#include "backends/perf/session/perf_target.h"

#include <errno.h>
#include <stdlib.h>

enum {
	TRIES_MAX = 8,      /* to find a moment in which no thread is created */
	FDS_LEFT = 8
};

static void close_last(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_source *last = &state->sources[--state->source_count];

	ppi_perf_user_unmap(bs, last);
	ppi_perf_close_source(bs, last);
}

static void close_all(struct ppi_backend_session *bs)
{
	while (perf_state_of(bs)->source_count > 0)
		close_last(bs);
}

/* The descriptor that leads event's group on this thread and core type, or
 * -1. */
static int leader_for(const struct ppi_backend_session *bs, int64_t tid,
                      uint32_t event, size_t core)
{
	const struct perf_state *state = perf_state_of(bs);
	const struct ppi_event *events = bs->plan->events;

	if (ppi_perf_is_lone_probe(bs, event))
		return -1;
	for (size_t i = 0; i < state->source_count; i++) {
		const struct perf_source *source = &state->sources[i];

		if (source->tid == tid && source->leader < 0 &&
		    source->core == core &&
		    !ppi_perf_is_lone_probe(bs, source->event) &&
		    events[source->event].group == events[event].group)
			return source->fd;
	}
	return -1;
}

/* A CPU in place of a thread, and back. */
static int64_t tid_of_cpu(int cpu)
{
	return PERF_ANYBODY - 1 - (int64_t)cpu;
}

static int cpu_of(int64_t tid)
{
	return (int)(PERF_ANYBODY - 1 - tid);
}

static int open_attr(const struct ppi_backend_session *bs,
                     const struct perf_source *source,
                     struct perf_event_attr *attr)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	return source->tid < 0
		? ppi_perf_open_on_cpu(bs, attr, cpu_of(source->tid),
		                       source->leader)
		: ppi_perf_open_attr(kernel, attr, source->tid, -1,
		                     source->leader);
}

/* For user-space reads where it can be so: a kernel or a PMU may refuse that
 * and still count. */
static int open_for_user(const struct ppi_backend_session *bs,
                         const struct perf_source *source,
                         struct perf_event_attr *attr)
{
	uint64_t bit =
		ppi_perf_user_request(bs, &bs->plan->events[source->event]);
	uint64_t config1 = attr->config1;
	int fd = -EINVAL;

	attr->config1 |= bit;
	if (bit)
		fd = open_attr(bs, source, attr);
	attr->config1 = config1;
	return fd == -EINVAL || fd == -EOPNOTSUPP
		? open_attr(bs, source, attr) : fd;
}

static bool has_source(const struct perf_state *state, int64_t tid,
                       uint32_t event)
{
	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].tid == tid &&
		    state->sources[i].event == event)
			return true;
	return false;
}

/* Nobody else is read with it. */
static bool is_alone(const struct ppi_plan *plan, uint32_t event)
{
	for (size_t i = 0; i < plan->event_count; i++)
		if (i != event && plan->events[i].group ==
		                  plan->events[event].group)
			return false;
	return true;
}

static portprof_status open_counter(struct ppi_backend_session *bs,
                                    int64_t tid, uint32_t event, size_t core,
                                    struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_event *what = &bs->plan->events[event];
	struct perf_source source = {
		.event = event, .tid = tid, .core = (uint8_t)core,
		.is_more = has_source(state, tid, event),
	};
	const struct perf_session_kind kind = ppi_perf_kind_of_event(bs, event);
	struct perf_event_attr attr;
	int error;

	source.leader = leader_for(bs, tid, event, core);
	ppi_perf_attr_count(&kind, what, source.leader < 0, &attr);
	if (is_alone(bs->plan, event))
		ppi_perf_attr_end_with_program(&kind, what, &attr);
	ppi_perf_attr_of_probe(state, event, &attr);
	if (ppi_perf_is_by_core(bs, event))
		attr.config |= (uint64_t)state->cores[core].type << 32;
	source.fd = open_for_user(bs, &source, &attr);
	if (source.fd < 0)
		return ppi_perf_refuse_source(bs, what, tid, -source.fd, why);
	source.fd = kernel->move_away(kernel->self, source.fd);
	error = ppi_perf_set_filter(kernel, what, source.fd);
	if (error == 0)
		error = kernel->control(kernel->self, source.fd,
		                        PERF_EVENT_IOC_ID, &source.id);
	if (error == 0)
		ppi_perf_user_map(bs, &source);
	if (error == 0 && !ppi_perf_add_source(state, &source))
		error = -ENOMEM;
	if (error == 0)
		return PORTPROF_OK;
	ppi_perf_user_unmap(bs, &source);
	kernel->close_event(kernel->self, source.fd, PERF_FRESH);
	return ppi_perf_refuse_open(kernel, what, -error, why);
}

/* Of the system, an event may be of one CPU, or of one in each package. */
static bool is_on_cpu(const struct ppi_backend_session *bs, size_t event,
                      int cpu)
{
	const struct ppi_event *what = &bs->plan->events[event];
	const struct perf_own *own = perf_own(what);

	if (cpu < 0)
		return true;
	if (own->is_package &&
	    !ppi_perf_is_package_cpu(perf_kernel_of(bs->kernel),
	                             what->pmu, cpu))
		return false;
	return own->asked.cpu < 0 || own->asked.cpu == cpu;
}

static portprof_status attach_on_core(struct ppi_backend_session *bs,
                                      int64_t tid, size_t core, bool is_first,
                                      struct ppi_diag *why)
{
	portprof_status status = PORTPROF_OK;
	int cpu = tid < 0 ? cpu_of(tid) : -1;

	for (uint32_t i = 0; i < bs->plan->event_count; i++) {
		if (perf_is_refused(bs, i) ||
		    !ppi_perf_is_on_core(bs, i, core, cpu) ||
		    !is_on_cpu(bs, i, cpu))
			continue;
		status = open_counter(bs, tid, i, core, why);
		if (status != PORTPROF_OK && ppi_perf_may_miss(bs, tid, status))
			break;
		if (ppi_perf_is_missing(bs, i, status, why))
			status = PORTPROF_OK;
		/* Said of the first thread; true of the others then. */
		if (status != PORTPROF_OK && bs->refusals && is_first) {
			bs->refusals[i] = *why;
			status = PORTPROF_OK;
		}
		if (status != PORTPROF_OK)
			break;
	}
	return status;
}

/* Of a thread that may be missed (ppi_perf_may_miss) nothing is open then. */
static portprof_status attach_counters(struct ppi_backend_session *bs,
                                       int64_t tid, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	bool is_first = state->source_count == 0;
	portprof_status status = PORTPROF_OK;

	for (size_t i = 0; i <= state->core_count && status == PORTPROF_OK; i++)
		status = attach_on_core(bs, tid, i, is_first, why);
	while (status != PORTPROF_OK && ppi_perf_may_miss(bs, tid, status) &&
	       state->source_count > 0 &&
	       state->sources[state->source_count - 1].tid == tid)
		close_last(bs);
	return status;
}

static bool is_attached(const struct perf_state *state, int64_t tid)
{
	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].tid == tid)
			return true;
	return false;
}

static portprof_status check_descriptors(const struct ppi_backend_session *bs,
                                         size_t threads, struct ppi_diag *why)
{
	size_t cores = perf_state_of(bs)->core_count;
	uint64_t needed = (uint64_t)threads * (cores ? cores : 1) *
	                  bs->plan->event_count + FDS_LEFT;
	uint64_t limit;
	uint64_t available = ppi_perf_proc_free_fds(perf_kernel_of(bs->kernel),
	                                            &limit);

	if (needed <= available)
		return PORTPROF_OK;
	return ppi_perf_refuse_fds(needed, available, limit,
	                           "one for each event and thread", why);
}

static portprof_status list_threads(struct ppi_backend_session *bs,
                                    int64_t **tids, size_t *count,
                                    struct ppi_diag *why)
{
	int error = ppi_perf_target_threads(bs, tids, count);

	return error == 0 ? PORTPROF_OK
		: ppi_perf_refuse_threads(bs, -error, why);
}

static bool is_ours(const struct ppi_backend_session *bs, int64_t tid)
{
	return bs->plan->target.is_self && tid == bs->helper_tid;
}

/* The only thread of this process creates none while it is here. */
static bool is_one_thread(const struct ppi_backend_session *bs, size_t threads)
{
	return bs->plan->target.is_self && threads == 1;
}

/* Attach all listed threads; *news is how many more there are afterwards,
 * *refused how many may not be measured. */
static portprof_status attach_once(struct ppi_backend_session *bs,
                                   size_t *news, size_t *refused,
                                   struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	int64_t *tids = NULL;
	size_t count = 0;
	portprof_status status = list_threads(bs, &tids, &count, why);

	*news = *refused = 0;
	if (status == PORTPROF_OK)
		status = check_descriptors(bs, count, why);
	for (size_t i = 0; i < count && status == PORTPROF_OK; i++) {
		if (is_ours(bs, tids[i]))
			continue;
		status = attach_counters(bs, tids[i], why);
		if (status == PORTPROF_OK ||
		    !ppi_perf_may_miss(bs, tids[i], status))
			continue;
		*refused += status != PORTPROF_E_NOTFOUND;
		status = PORTPROF_OK;
	}
	free(tids);
	if (status != PORTPROF_OK || is_one_thread(bs, count))
		return status;
	status = list_threads(bs, &tids, &count, why);
	if (status != PORTPROF_OK)
		return status;
	for (size_t i = 0; i < count; i++)
		*news += !is_ours(bs, tids[i]) && !is_attached(state, tids[i]);
	free(tids);
	*news -= *refused < *news ? *refused : *news;
	return PORTPROF_OK;
}

static bool are_all_refused(const struct ppi_backend_session *bs)
{
	for (uint32_t i = 0; i < bs->plan->event_count; i++)
		if (!perf_is_refused(bs, i))
			return false;
	return true;
}

/*
 * A thread that appears meanwhile may have inherited the counters or not,
 * and nothing tells. So do it again, until no thread appears.
 */
static portprof_status attach_process(struct ppi_backend_session *bs,
                                      struct ppi_diag *why)
{
	portprof_status status;
	size_t news = 0, refused = 0;

	for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
		close_all(bs);
		status = attach_once(bs, &news, &refused, why);
		if (status != PORTPROF_OK || news == 0)
			break;
	}
	if (status == PORTPROF_OK && news > 0)
		ppi_note(bs, "threads were created while counters were being "
		         "opened: counts of those that inherited none are "
		         "missing");
	if (status == PORTPROF_OK && perf_state_of(bs)->source_count == 0 &&
	    refused)
		return PORTPROF_E_DENIED; /* why is the last thread's */
	if (status == PORTPROF_OK)
		ppi_perf_note_missed(bs, refused);
	if (status == PORTPROF_OK && perf_state_of(bs)->source_count == 0 &&
	    !are_all_refused(bs))
		return ppi_fail(why, PORTPROF_E_NOTFOUND, ESRCH,
		                "attach threads", "process %lld has ended",
		                (long long)bs->plan->target.pid);
	return status;
}

/* What counts for CPUs cannot say whose part is a process's. */
static portprof_status check_cpu(const struct ppi_event *event,
                                 struct ppi_diag *why)
{
	const struct perf_own *own = perf_own(event);

	if (own->is_package)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open counters",
		                "'%s': PMU %s counts for whole packages, not "
		                "for processes: measure the whole system "
		                "(portprof stat -a)", event->request.text,
		                event->pmu);
	if (own->asked.cpu >= 0)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open counters",
		                "'%s': threads are measured on all CPUs; drop "
		                "cpu=%d, or measure the whole system (portprof "
		                "stat -a)", event->request.text,
		                own->asked.cpu);
	return PORTPROF_OK;
}

static portprof_status check_cpus(struct ppi_backend_session *bs,
                                  struct ppi_diag *why)
{
	const struct ppi_plan *plan = bs->plan;

	if (plan->target.kind == PPI_TARGET_SYSTEM)
		return PORTPROF_OK;
	for (size_t i = 0; i < plan->event_count; i++) {
		if (perf_is_refused(bs, i) ||
		    check_cpu(&plan->events[i], why) == PORTPROF_OK)
			continue;
		if (!bs->refusals)
			return why->status;
		bs->refusals[i] = *why;
	}
	return PORTPROF_OK;
}

/* Each event must have a CPU to be counted on. */
static portprof_status check_counted(const struct ppi_backend_session *bs,
                                     struct ppi_diag *why)
{
	const struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < bs->plan->event_count; i++) {
		const struct ppi_event *event = &bs->plan->events[i];
		size_t cpu = 0;

		if (perf_is_refused(bs, i))
			continue;
		while (cpu < state->cpu_count &&
		       !is_on_cpu(bs, i, state->cpus[cpu]))
			cpu++;
		if (cpu == state->cpu_count)
			return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
			                "open counters",
			                "'%s': none of the CPUs "
			                "that it counts on is online and measured",
			                event->request.text);
	}
	return PORTPROF_OK;
}

static portprof_status attach_system(struct ppi_backend_session *bs,
                                     struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = ppi_perf_find_cpus(bs, why);

	if (status == PORTPROF_OK)
		status = check_counted(bs, why);
	if (status == PORTPROF_OK)
		status = ppi_perf_open_cgroup(bs, why);
	for (size_t i = 0; i < state->cpu_count && status == PORTPROF_OK; i++)
		status = attach_counters(bs, tid_of_cpu(state->cpus[i]), why);
	return status;
}

static void choose_kind(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_plan *plan = bs->plan;
	struct perf_session_kind *kind = &state->kind;

	state->layout = PERF_NO_RINGS;
	kind->features = ppi_perf_features(perf_kernel_of(bs->kernel));
	kind->inherits = plan->target.kind != PPI_TARGET_TID &&
	                 plan->target.kind != PPI_TARGET_SYSTEM;
	kind->follows_children = plan->follow_children;
	kind->enables_on_exec = plan->target.kind == PPI_TARGET_COMMAND;
	kind->removes_on_exec = plan->target.is_self && !plan->follow_children;
	state->awaits_exec = kind->enables_on_exec;
	ppi_perf_trace_probes(bs);
	/* Ids say whether the descriptor is still ours: perf_session.c. */
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

/* One group on one thread: the kernel's answer is the events in their order. */
static bool is_one_group(const struct ppi_backend_session *bs)
{
	const struct perf_state *state = perf_state_of(bs);

	for (size_t i = 0; i < state->source_count; i++)
		if (state->sources[i].event != i ||
		    (state->sources[i].leader < 0) != (i == 0))
			return false;
	return state->source_count == bs->plan->event_count &&
	       state->kind.shape.read_format & PERF_FORMAT_GROUP;
}

static portprof_status check_groups(const struct ppi_plan *plan,
                                    struct ppi_diag *why)
{
	size_t members = 0;

	if (plan->event_count > PERF_COUNTERS_MAX)
		return ppi_fail(why, PORTPROF_E_LIMIT, 0, "open counters",
		                "%zu events are more than the %d that can be "
		                "counted at once: open several groups",
		                plan->event_count, PERF_COUNTERS_MAX);
	for (size_t i = 0; i < plan->event_count; i++) {
		bool is_same = i > 0 && plan->events[i].group ==
		                        plan->events[i - 1].group;

		members = is_same ? members + 1 : 1;
		if (members > PERF_EVENTS_MAX)
			return ppi_fail(why, PORTPROF_E_LIMIT, 0,
			                "open counters", "a group has more "
			                "than %d events, and '%s' is the first "
			                "too many: divide it with braces",
			                PERF_EVENTS_MAX,
			                plan->events[i].request.text);
	}
	return PORTPROF_OK;
}

portprof_status ppi_perf_open_counting(struct ppi_backend_session *bs,
                                       struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	struct perf_counting *counting = state->counting;
	size_t count = bs->plan->event_count;
	portprof_status status = check_groups(bs->plan, why);

	if (status == PORTPROF_OK)
		status = check_cpus(bs, why);
	if (status != PORTPROF_OK)
		return status;
	choose_kind(bs);
	ppi_perf_find_cores(bs);
	counting->highest = calloc(count, sizeof(*counting->highest));
	counting->user_pages = calloc(count, sizeof(*counting->user_pages));
	if (!counting->highest || !counting->user_pages)
		status = ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM,
		                  "open counters", "out of memory");
	else if (bs->plan->target.kind == PPI_TARGET_TID)
		status = check_descriptors(bs, 1, why);
	if (status == PORTPROF_OK && bs->plan->target.kind == PPI_TARGET_TID)
		status = attach_counters(bs, bs->plan->target.tid, why);
	else if (status == PORTPROF_OK &&
	         bs->plan->target.kind == PPI_TARGET_SYSTEM)
		status = attach_system(bs, why);
	else if (status == PORTPROF_OK)
		status = attach_process(bs, why);
	if (status == PORTPROF_OK)
		status = ppi_perf_check_cores(bs, why);
	if (status != PORTPROF_OK)
		return status;
	counting->is_one_group = is_one_group(bs) &&
	                         bs->plan->target.kind != PPI_TARGET_SYSTEM;
	if (state->source_count == 0) {
		*why = bs->refusals[0];
		status = why->status;
	}
	return status;
}

/* The kernel does not give pages to a forked child (VM_DONTCOPY). */
void ppi_perf_release_counting(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);

	if (kernel->get_pid(kernel->self) == bs->owner_pid)
		for (size_t i = 0; i < state->source_count; i++)
			ppi_perf_user_unmap(bs, &state->sources[i]);
	free((void *)state->counting->highest);
	free((void *)state->counting->user_pages);
}
