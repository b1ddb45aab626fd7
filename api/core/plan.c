/* SPDX-License-Identifier: MIT */
/* From a config to a plan that a backend can follow without checking. */
#include "api/core/open.h"

#include "api/core/event.h"
#include "api/unwind/unwind.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nearly all stacks of programs end within that; a compiler's is deeper. */
enum { STACK_USUAL = 63 << 10 };

static struct ppi_target target_of(const portprof_config *config)
{
	struct ppi_target target = { .kind = config->target,
		                     .pid = getpid(), .is_self = true };

	switch (config->target) {
	case PPI_TARGET_PROCESS:
		break;
	case PPI_TARGET_TID:
		target.tid = config->target_is_caller ? ppi_thread_id() :
		                                        config->target_id;
		target.is_self = config->target_is_caller ||
		                 ppi_thread_is_own(target.tid);
		/* whose thread it is only the kernel knows */
		target.pid = target.is_self ? target.pid : target.tid;
		break;
	case PPI_TARGET_PID:
	case PPI_TARGET_COMMAND:
		target.is_self = config->target_id == target.pid;
		target.pid = config->target_id;
		target.others = config->others;
		target.other_count = config->other_count;
		break;
	case PPI_TARGET_SYSTEM:
		target.pid = 0;
		target.is_self = false;
		target.cpus = config->cpus;
		target.cgroup = config->cgroup;
		break;
	}
	if (target.kind == PPI_TARGET_PID && target.is_self)
		target.kind = PPI_TARGET_PROCESS;
	return target;
}

/* This process measures itself in other ways than others. */
static bool is_self_among_others(const struct ppi_target *target)
{
	if (target->other_count && target->is_self)
		return true;
	for (size_t i = 0; i < target->other_count; i++)
		if (target->others[i] == getpid())
			return true;
	return false;
}

/* The whole system has no children. */
static bool follows_children(const portprof_config *config)
{
	return config->number[PPI_KEY_CHILDREN] &&
	       config->target != PPI_TARGET_SYSTEM;
}

static uint64_t target_caps(const struct ppi_target *target)
{
	uint64_t caps = target->is_self ? 0 : PORTPROF_CAP_ATTACH;

	if (target->kind == PPI_TARGET_SYSTEM)
		return PORTPROF_CAP_SYSTEM;
	if (target->kind == PPI_TARGET_COMMAND)
		return PORTPROF_CAP_COMMAND;
	if (target->kind == PPI_TARGET_PROCESS)
		caps |= PORTPROF_CAP_PROCESS;
	if (target->kind == PPI_TARGET_TID)
		caps |= PORTPROF_CAP_THREAD;
	return caps;
}

/* Histograms, and callbacks over ranges, can do with samples of those. */
static bool only_ranges(const portprof_config *config)
{
	for (size_t i = 0; i < config->sink_count; i++)
		if (!config->sinks[i].range_count)
			return false;
	return config->sink_count > 0;
}

size_t ppi_plan_event_count(const portprof_config *config)
{
	size_t count = 0;

	for (size_t i = 0; i < config->event_count; i++)
		count += config->events[i].request_count;
	return count ? count : 1;
}

size_t ppi_plan_wait_count(const portprof_config *config)
{
	size_t count = 0;

	for (size_t i = 0; i < config->event_count; i++)
		for (size_t k = 0; k < config->events[i].request_count; k++)
			count += ppi_waits_has(&config->events[i].requests[k]);
	return count;
}

/* Those that the backend measures. */
static size_t own_count(const portprof_config *config)
{
	return ppi_plan_event_count(config) - ppi_plan_wait_count(config);
}

void ppi_plan_leave_waits(struct ppi_plan_box *box)
{
	size_t kept = 0;

	for (size_t i = 0; i < box->plan.event_count; i++)
		if (!ppi_waits_has(&box->events[i].request))
			box->events[kept++] = box->events[i];
	box->plan.event_count = kept;
}

static uint64_t sink_caps(const portprof_config *config)
{
	uint64_t caps = only_ranges(config) ? 0 : PORTPROF_CAP_WHOLE_SPACE;

	for (size_t i = 0; i < config->sink_count; i++) {
		if (config->sinks[i].ops == &ppi_sink_array)
			caps |= PORTPROF_CAP_EXACT_PC;
		if (config->sinks[i].labels)
			caps |= PORTPROF_CAP_PID_TID | PORTPROF_CAP_TIME;
		if (config->sinks[i].ops == &ppi_sink_file &&
		    config->number[PPI_KEY_TIMELINE] &&
		    config->number[PPI_KEY_TIMELINE] != PPI_TIMELINE_AUTO)
			caps |= PORTPROF_CAP_TIME;
	}
	return config->sink_count ? caps : 0;
}

static portprof_status check_sinks(const portprof_config *config,
                                   enum ppi_mode mode, struct ppi_diag *why)
{
	if (mode == PPI_COUNT)
		return PORTPROF_OK; /* a group has none and ignores them */
	for (size_t i = 0; i < config->sink_count; i++)
		if ((config->sinks[i].ops == &ppi_sink_hist ||
		     config->sinks[i].labels) &&
		    config->sinks[i].event >= ppi_plan_event_count(config))
			return ppi_fail(why, PORTPROF_E_INVALID, 0,
			                "plan sinks", "histogram (sink %zu) "
			                "counts event %zu, but there are %zu "
			                "events, numbered from 0", i,
			                config->sinks[i].event,
			                ppi_plan_event_count(config));
	return PORTPROF_OK;
}

/* Another process takes what is measured, and unwinds it. */
static bool is_for_collector(const portprof_config *config)
{
	return config->sink_count && config->sinks[0].ops == &ppi_sink_share;
}

/* Its samples come from another process, or go to one. */
static bool is_shared(const portprof_config *config)
{
	return config->pool || is_for_collector(config);
}

static portprof_status check_unwind(const portprof_config *config,
                                    uint64_t *caps, struct ppi_diag *why)
{
	const char *missing;

	if (config->number[PPI_KEY_UNWIND] != PORTPROF_UNWIND_DWARF)
		return PORTPROF_OK;
	*caps |= PORTPROF_CAP_UNWIND;
	if (is_for_collector(config) || ppi_unwinder_has_tables(&missing))
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "plan chains",
	                "call chains by frame tables: %s; or use frame "
	                "pointers", missing);
}

/* Whoever says which branches wants them, and who labels by a field, it. */
static uint32_t fields_of(const portprof_config *config)
{
	uint32_t fields = (uint32_t)(config->number[PPI_KEY_FIELDS] |
	                             config->number[PPI_KEY_LABELS]);

	return config->number[PPI_KEY_BRANCHES]
		? fields | PORTPROF_FIELD_BRANCHES : fields;
}

portprof_status ppi_plan_needs(const portprof_config *config,
                               enum ppi_mode mode, uint64_t *caps,
                               struct ppi_diag *why)
{
	struct ppi_target target = target_of(config);
	portprof_status status = check_sinks(config, mode, why);

	if (status)
		return status;
	if (config->target == PPI_TARGET_COMMAND && target.is_self)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "plan target",
		                "the target 'command' must be a child about "
		                "to exec, not this process");
	if (is_self_among_others(&target))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "plan target",
		                "this process cannot be measured together with "
		                "others: leave %lld out", (long long)getpid());
	if (own_count(config) > 1 && is_shared(config))
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "plan events",
		                "sessions that share memory measure one event; "
		                "sample events of several kinds by the perf "
		                "backend from outside");
	if (ppi_plan_wait_count(config) && is_for_collector(config))
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "plan events",
		                "who collects measures waits, from outside: "
		                "leave ready-time and blocked-time out here");
	*caps = config->required_caps;
	/* who has such events has it, by whichever backend */
	if (ppi_plan_wait_count(config))
		*caps &= ~PORTPROF_CAP_WAITS;
	/* who collects measures nobody: others measure themselves */
	*caps |= config->pool ? PORTPROF_CAP_PROCESS : target_caps(&target);
	*caps |= mode == PPI_COUNT ? PORTPROF_CAP_COUNT : PORTPROF_CAP_SAMPLE;
	if (mode == PPI_SAMPLE)
		*caps |= sink_caps(config);
	/* one event is CPU time everywhere; several are EVENT-8 */
	if (mode == PPI_SAMPLE && own_count(config) > 1)
		*caps |= PORTPROF_CAP_EVENTS;
	if (mode == PPI_COUNT && ppi_plan_event_count(config) > 1)
		*caps |= PORTPROF_CAP_GROUP;
	if (follows_children(config) && !config->pool)
		*caps |= PORTPROF_CAP_CHILDREN;
	if (config->number[PPI_KEY_CALLCHAIN] && mode == PPI_SAMPLE) {
		*caps |= PORTPROF_CAP_CHAIN;
		status = check_unwind(config, caps, why);
		if (status)
			return status;
	}
	/* fields are an event's: who measures CPU time alone has none */
	if (fields_of(config) && mode == PPI_SAMPLE)
		*caps |= PORTPROF_CAP_EVENTS;
	if (config->number[PPI_KEY_FIELDS] & PORTPROF_FIELD_GROUP_VALUES &&
	    mode == PPI_SAMPLE)
		*caps |= PORTPROF_CAP_GROUP;
	return PORTPROF_OK;
}

/* The index-th event, and its group: where no braces say otherwise all are
 * one. */
static void find_event(const portprof_config *config, size_t index,
                       struct ppi_event_request *request, size_t *group)
{
	bool has_groups = false;
	size_t at = 0;

	*group = 0;
	if (config->event_count == 0) {
		ppi_event_parse(PPI_DEFAULT_EVENT, request, NULL);
		return;
	}
	for (size_t i = 0; i < config->event_count; i++)
		has_groups |= config->events[i].text[0] == '{';
	while (index >= config->events[at].request_count)
		index -= config->events[at++].request_count;
	*request = config->events[at].requests[index];
	*group = has_groups ? at : 0;
}

/* A command's program is not loaded yet, and the whole system has many. Who collects
 * does not know whose they will be: each process finds its own. */
static int64_t symbols_of(const portprof_config *config)
{
	struct ppi_target target = target_of(config);

	if (config->pool || config->is_rehearsed)
		return -2;
	return target.kind == PPI_TARGET_COMMAND ||
	       target.kind == PPI_TARGET_SYSTEM ? -1 : target.pid;
}

/* A group's modifiers are the kernel's to take from the event that leads, which is
 * the first. */
static portprof_status check_member(const struct ppi_backend_ops *ops,
                                    const struct ppi_event_request *request,
                                    struct ppi_diag *why)
{
	for (size_t i = 0; i < request->part_count; i++)
		if (ppi_event_part_in(request, &request->parts[i],
		                      ops->group_modifiers))
			return ppi_event_refuse_part(
				request, &request->parts[i], PORTPROF_E_INVALID,
				why, "it is for the first event of a group; "
				"move it there, or put this event in braces of "
				"its own");
	return PORTPROF_OK;
}

/* Whether the events of a group are one to the kernel too. */
static bool has_groups(const portprof_config *config, enum ppi_mode mode)
{
	return mode == PPI_COUNT ||
	       config->number[PPI_KEY_FIELDS] & PORTPROF_FIELD_GROUP_VALUES;
}

static portprof_status plan_event(const portprof_config *config,
                                  enum ppi_mode mode, size_t index,
                                  const struct ppi_backend_ops *ops,
                                  const void *kernel, struct ppi_event *event,
                                  struct ppi_diag *why)
{
	struct ppi_event_request request;
	portprof_status status = PORTPROF_OK;
	size_t group;

	find_event(config, index, &request, &group);
	if (ppi_waits_has(&request)) {
		ops = &ppi_backend_waits;
		kernel = ppi_waits_kernel_here();
	}
	if (index > 0 && event[-1].group == group && has_groups(config, mode))
		status = check_member(ops, &request, why);
	if (status)
		return status;
	if (mode == PPI_SAMPLE && !request.period && !request.rate_hz) {
		request.period = config->number[PPI_KEY_PERIOD];
		request.rate_hz = config->number[PPI_KEY_FREQUENCY];
		if (!request.period && !request.rate_hz)
			request.rate_hz = PPI_DEFAULT_HZ;
		request.is_rate_usual = !(config->given &
		                          (1u << PPI_KEY_FREQUENCY |
		                           1u << PPI_KEY_PERIOD));
	}
	request.pid = symbols_of(config);
	if (config->number[PPI_KEY_PRECISE] && mode == PPI_SAMPLE)
		snprintf(request.wish, sizeof(request.wish), "precise=max");
	status = ops->resolve(kernel, &request, mode, event, why);
	event->group = group;
	/* of one that is left out its place in a preset stays known */
	event->request.preset = request.preset;
	event->request.preset_event = request.preset_event;
	if (status && request.preset) {
		snprintf(event->request.text, sizeof(event->request.text), "%s",
		         request.text);
		status = ppi_preset_blame(&request, why);
	}
	return status;
}

/* Whether a backend knows the name, whatever else it says to it. */
static portprof_status find_name(const portprof_config *config,
                                 enum ppi_mode mode,
                                 const struct ppi_event_request *request,
                                 struct ppi_diag *why)
{
	bool is_auto = strcmp(config->backend, "auto") == 0;
	const struct ppi_backend_ops *ops;
	bool is_unknown = false;
	struct ppi_event event;

	if (request->preset || /* the user's word was the preset's name */
	    ppi_waits_has(request))
		return PORTPROF_OK;
	for (size_t i = 0; (ops = ppi_backend_at(i)); i++) {
		const void *kernel = ppi_backend_kernel(ops);
		struct ppi_diag now;

		if (!kernel || (is_auto ? ppi_backend_rank(ops) < 0 :
		                          strcmp(ops->name, config->backend)))
			continue;
		if (ops->resolve(kernel, request, mode, &event, &now) !=
		    PORTPROF_E_NOTFOUND)
			return PORTPROF_OK;
		if (!is_unknown)
			*why = now;
		is_unknown = true;
	}
	return is_unknown ? PORTPROF_E_NOTFOUND : PORTPROF_OK;
}

portprof_status ppi_plan_check_names(const portprof_config *config,
                                     enum ppi_mode mode, struct ppi_diag *why)
{
	for (size_t i = 0; i < ppi_plan_event_count(config); i++) {
		struct ppi_event_request request;
		portprof_status status;
		size_t group;

		find_event(config, i, &request, &group);
		request.skip_open_check = true;
		request.pid = symbols_of(config);
		status = find_name(config, mode, &request, why);
		if (config->number[PPI_KEY_PARTIAL] && status == PORTPROF_OK)
			return PORTPROF_OK;
		if (!config->number[PPI_KEY_PARTIAL] && status != PORTPROF_OK)
			return status;
	}
	return config->number[PPI_KEY_PARTIAL] ? why->status : PORTPROF_OK;
}

void ppi_plan_choose_sampled(struct ppi_event *events, size_t count)
{
	size_t next;

	for (size_t first = 0; first < count; first = next) {
		bool has_own = false;

		for (next = first; next < count &&
		     events[next].group == events[first].group; next++)
			has_own |= events[next].request.is_rate_own;
		for (size_t i = first; i < next; i++) {
			if (has_own ? events[i].request.is_rate_own
			            : i == first)
				continue;
			events[i].period = events[i].rate_hz = 0;
			events[i].request.period = 0;
			events[i].request.rate_hz = 0;
		}
	}
}

static portprof_status plan_events(const portprof_config *config,
                                   enum ppi_mode mode,
                                   const struct ppi_backend_ops *ops,
                                   const void *kernel,
                                   struct ppi_plan_box *box,
                                   struct ppi_diag *refusals,
                                   struct ppi_diag *why)
{
	size_t count = ppi_plan_event_count(config), refused = 0;

	box->events = calloc(count, sizeof(*box->events));
	if (!box->events)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "plan events",
		                "out of memory");
	for (size_t i = 0; i < count; i++) {
		portprof_status status = plan_event(config, mode, i, ops,
		                                    kernel, &box->events[i],
		                                    why);

		if (status && (!refusals || status == PORTPROF_E_INVALID))
			return status;
		if (status)
			refusals[i] = *why;
		refused += status != PORTPROF_OK;
	}
	if (refused == count)
		return why->status;
	if (mode == PPI_SAMPLE && has_groups(config, mode))
		ppi_plan_choose_sampled(box->events, count);
	box->plan.events = box->events;
	box->plan.event_count = count;
	return PORTPROF_OK;
}

static int by_start(const void *a, const void *b)
{
	const struct ppi_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Two that overlap become one, with the widest bins that no bin and no end of
 * either falls into. */
static void join_ranges(struct ppi_range *first, const struct ppi_range *next)
{
	uint64_t inner_end = next->end < first->end ? next->end : first->end;
	uint64_t bytes = next->bin_bytes < first->bin_bytes ?
	                         next->bin_bytes : first->bin_bytes;

	while (bytes > 1 && ((next->start - first->start) % bytes ||
	                     (inner_end - first->start) % bytes))
		bytes /= 2;
	first->bin_bytes = bytes;
	if (next->end > first->end)
		first->end = next->end;
}

/* Ranges of several histograms may overlap. */
static size_t merge_ranges(struct ppi_range *ranges, size_t count)
{
	size_t kept = 0;

	qsort(ranges, count, sizeof(*ranges), by_start);
	for (size_t i = 0; i < count; i++) {
		struct ppi_range *last = kept ? &ranges[kept - 1] : NULL;

		if (!last || ranges[i].start >= last->end) {
			ranges[kept++] = ranges[i];
			continue;
		}
		join_ranges(last, &ranges[i]);
	}
	return kept;
}

static portprof_status plan_ranges(const portprof_config *config,
                                   struct ppi_plan_box *box,
                                   struct ppi_diag *why)
{
	size_t count = 0;

	for (size_t i = 0; i < config->sink_count; i++)
		count += config->sinks[i].range_count;
	box->ranges = calloc(count ? count : 1, sizeof(*box->ranges));
	if (!box->ranges)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "plan ranges",
		                "out of memory");
	count = 0;
	for (size_t i = 0; i < config->sink_count; i++) {
		const struct ppi_sink_request *sink = &config->sinks[i];

		for (size_t r = 0; r < sink->range_count; r++)
			box->ranges[count++] =
				ppi_range_of_text(&sink->ranges[r]);
	}
	box->plan.ranges = box->ranges;
	box->plan.range_count = merge_ranges(box->ranges, count);
	return PORTPROF_OK;
}

static void plan_chains(const portprof_config *config,
                        const struct ppi_backend_ops *ops,
                        struct ppi_plan *plan)
{
	plan->chain_depth = config->number[PPI_KEY_CALLCHAIN];
	if (!plan->chain_depth)
		return;
	plan->uses_tables = !is_for_collector(config) &&
	                    config->number[PPI_KEY_UNWIND] !=
				    PORTPROF_UNWIND_FP &&
	                    ppi_unwinder_has_tables(NULL);
	if (!plan->uses_tables && !ops->copies_stacks)
		return;
	plan->stack_bytes = config->number[PPI_KEY_STACK]
		? config->number[PPI_KEY_STACK] : STACK_USUAL;
	plan->may_copy_less = !config->number[PPI_KEY_STACK];
	plan->want_modules = true;
}

static void plan_wishes(const portprof_config *config,
                        const struct ppi_backend_ops *ops,
                        struct ppi_plan *plan)
{
	for (size_t i = 0; i < config->sink_count; i++) {
		const struct ppi_sink_ops *sink = config->sinks[i].ops;

		plan->want_modules |= sink->wants_modules;
		plan->want_user_address |= config->sinks[i].range_count > 0;
	}
	plan_chains(config, ops, plan);
	plan->follow_children = follows_children(config);
	plan->has_exact_children =
		config->number[PPI_KEY_CHILDREN] == PORTPROF_CHILDREN_EXACT;
	plan->is_delayed = config->number[PPI_KEY_DELAY] > 0 &&
			   plan->want_modules && !plan->target.is_self;
	plan->sample_fields = fields_of(config);
	plan->label_fields = (uint32_t)config->number[PPI_KEY_LABELS];
	plan->branch_kinds = (uint32_t)config->number[PPI_KEY_BRANCHES];
	plan->ring_bytes = config->number[PPI_KEY_RING];
	plan->command = config->command;
	plan->timeline_grows =
		config->number[PPI_KEY_TIMELINE] == PPI_TIMELINE_AUTO;
	plan->timeline_ns = plan->timeline_grows
		? PPI_TIMELINE_FINEST_NS
		: config->number[PPI_KEY_TIMELINE] * 1000000u;
	plan->label_sets = (uint32_t)config->number[PPI_KEY_LABEL_SETS];
}

portprof_status ppi_plan_build(const portprof_config *config,
                               enum ppi_mode mode,
                               const struct ppi_backend_ops *ops,
                               const void *kernel, struct ppi_plan_box *box,
                               struct ppi_diag *refusals,
                               struct ppi_diag *why)
{
	portprof_status status;

	memset(box, 0, sizeof(*box));
	box->plan.mode = mode;
	box->plan.target = target_of(config);
	if (mode == PPI_SAMPLE)
		plan_wishes(config, ops, &box->plan);
	box->plan.allow_refused = config->number[PPI_KEY_PARTIAL];
	box->plan.required_caps = config->required_caps;
	box->plan.follow_children = follows_children(config);
	status = plan_events(config, mode, ops, kernel, box, refusals, why);
	if (status == PORTPROF_OK && mode == PPI_SAMPLE &&
	    only_ranges(config))
		status = plan_ranges(config, box, why);
	if (status)
		ppi_plan_free(box);
	return status;
}

void ppi_plan_free(struct ppi_plan_box *box)
{
	free(box->events);
	free(box->ranges);
	memset(box, 0, sizeof(*box));
}
