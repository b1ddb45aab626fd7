/* SPDX-License-Identifier: MIT */
/* Opening a sampling session: which layout, how large, which threads. */
#include "backends/perf/events/perf_sysfs.h"
#include "backends/perf/kernel/perf_build_id.h"
#include "backends/perf/kernel/perf_proc.h"
#include "backends/perf/kernel/perf_rate.h"
#include "backends/perf/kernel/perf_refusal.h"
#include "backends/perf/records/perf_fields.h"
#include "backends/perf/records/perf_weight.h"
#include "backends/perf/sampling/perf_account.h"
#include "backends/perf/sampling/perf_family.h"
#include "backends/perf/sampling/perf_late.h"
#include "backends/perf/sampling/perf_rings.h"
#include "backends/perf/sampling/perf_samples.h"
#include "backends/perf/sampling/perf_sampling.h"
#include "backends/perf/sampling/perf_sides.h"
#include "backends/perf/sampling/perf_tails.h"
#include "backends/perf/session/perf_cpus.h"
#include "backends/perf/session/perf_target.h"

#include <errno.h>
#include <stdlib.h>

enum {
	CPUS_MAX = 64,         /* more: creating a thread gets too dear */
	FDS_MAX = 4096,
	FDS_LEFT = 8,          /* what we leave free in any case */
	DEPTH_MAX = 1000,      /* so that a chain fits in PPI_WORDS_MIN */
	STACK_NEEDED = 8 << 10 /* of most chains: shorter copies are a note */
};

#define NS_PER_S UINT64_C(1000000000)

/* ---- which layout ---- */

static bool is_process(const struct ppi_plan *plan)
{
	return plan->target.kind == PPI_TARGET_PROCESS ||
	       plan->target.kind == PPI_TARGET_PID;
}

/* Whether some events count the same occurrences: their samples may bear each
 * other's ids, where they read no count. */
static bool has_equal_occurrences(const struct ppi_plan *plan)
{
	for (size_t i = 0; i < plan->event_count; i++)
		for (size_t j = 0; j < i; j++)
			if (perf_is_occurrence(&plan->events[i]) &&
			    perf_is_occurrence(&plan->events[j]) &&
			    perf_own(&plan->events[i])->config[0] ==
			    perf_own(&plan->events[j])->config[0])
				return true;
	return false;
}

/* Whether the samples of clocks, or of occurrences, say whose they are and how much
 * they weigh by their count alone. */
static bool are_known_by_counts(const struct ppi_plan *plan)
{
	for (size_t i = 0; i < plan->event_count; i++) {
		const struct ppi_event *event = &plan->events[i];

		if (perf_own(event)->is_probe ||
		    (perf_is_occurrence(event) &&
		     (event->rate_hz ||
		      (event->period > 1 && plan->event_count > 1))))
			return true;
	}
	return has_equal_occurrences(plan);
}

static bool has_occurrences(const struct ppi_plan *plan)
{
	for (size_t i = 0; i < plan->event_count; i++)
		if (perf_is_occurrence(&plan->events[i]))
			return true;
	return false;
}

/*
 * Whether samples have to read the count of inherited events, although that costs
 * each switch of threads (perf_clocks.c): some may bear the id of another event,
 * and only what they read says whose they are; or the kernel changes the period of
 * occurrences and reports the next one with a sample (perf_swevent_event), or would
 * sample each of them, as clocks beside them ask for periods (ask_for_periods); or
 * events may not be swapped (perf_attr.c, may_swap_places). Where CPUs may be
 * sampled, what clocks beside occurrences meet there is a part of what their
 * threads' samples counted (perf_tail.c).
 */
static bool must_read_counts(const struct ppi_backend_session *bs)
{
	const struct ppi_plan *plan = bs->plan;

	return are_known_by_counts(plan) ||
	       (plan->event_count > 1 && has_occurrences(plan) &&
	        ppi_perf_may_sample_cpus(bs));
}

/* Whether CPU rings can be as exact as thread rings on this kernel. */
static bool is_cpu_exact(const struct ppi_backend_session *bs)
{
	uint32_t features = perf_state_of(bs)->kind.features;

	return (features & PERF_HAS_INHERIT_READ ||
	        !perf_state_of(bs)->weighing->must_read_counts) &&
	       (bs->plan->follow_children ||
	        features & PERF_HAS_INHERIT_THREAD);
}

/* Whether only inheritance reaches all of the target, whatever it costs:
 * children, and what a command starts before we look. */
static bool must_inherit(const struct ppi_plan *plan)
{
	return plan->target.kind != PPI_TARGET_TID &&
	       plan->target.kind != PPI_TARGET_SYSTEM &&
	       (plan->follow_children || !is_process(plan));
}

/*
 * An inherited group's values are those of one thread on one CPU, which nobody
 * can add up from samples: only a thread's own group tells, or a CPU's.
 */
static portprof_status check_values(const struct ppi_backend_session *bs,
                                    struct ppi_diag *why)
{
	const struct ppi_plan *plan = bs->plan;

	if (!(plan->sample_fields & PORTPROF_FIELD_GROUP_VALUES))
		return PORTPROF_OK;
	if (must_inherit(plan))
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open session",
		                "samples of children or of a command cannot "
		                "hold the values of a group: leave out "
		                "children, attach to a process, or count");
	for (size_t i = 0; i < plan->event_count; i++)
		if (ppi_perf_is_by_core(bs, i))
			return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
			                "open session", "samples cannot "
			                "hold the values of a group with '%s', "
			                "an event of several core types here: "
			                "name the PMU",
			                plan->events[i].request.text);
	if (plan->event_count > PERF_EVENTS_MAX)
		return ppi_fail(why, PORTPROF_E_LIMIT, 0, "open session",
		                "samples hold the values of up to %d events, "
		                "not of %zu", PERF_EVENTS_MAX,
		                plan->event_count);
	return PORTPROF_OK;
}

/*
 * With thread rings an event of several core types is open on each, and none of
 * them tells all: a kernel with pmu_filter_match (arm's) gives it no records of
 * mappings and threads from the other types' CPUs.
 */
static bool needs_carrier(const struct ppi_backend_session *bs)
{
	return ppi_perf_is_by_core(bs, 0);
}

/* Descriptors that a thread's ring takes. */
static uint64_t events_of_thread(const struct ppi_backend_session *bs)
{
	uint64_t count = perf_state_of(bs)->sides->has_carriers;

	for (size_t i = 0; i < bs->plan->event_count; i++)
		count += ppi_perf_is_by_core(bs, i)
			? perf_state_of(bs)->core_count : 1;
	return count;
}

static portprof_status choose_layout(struct ppi_backend_session *bs,
                                     size_t threads, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_plan *plan = bs->plan;
	bool is_system = plan->target.kind == PPI_TARGET_SYSTEM ||
	                 state->is_by_cpu;
	uint64_t limit;
	uint64_t available = ppi_perf_proc_free_fds(perf_kernel_of(bs->kernel),
	                                            &limit);
	uint64_t by_thread = threads * events_of_thread(bs);
	/* The rings' own events: a CPU's carrier has one already. */
	bool has_carriers = state->sides->has_carriers;
	uint64_t rings = 1 + (has_carriers && !is_system);
	uint64_t by_cpu = state->cpu_count *
	                  (rings + (uint64_t)threads * (plan->event_count +
	                                                has_carriers));
	uint64_t budget = available / 2 < FDS_MAX ? available / 2 : FDS_MAX;

	available = available > FDS_LEFT ? available - FDS_LEFT : 0;
	if (is_system) {
		state->layout = PERF_SYSTEM_RINGS;
		return by_cpu <= available ? PORTPROF_OK :
			ppi_perf_refuse_fds(by_cpu, available, limit,
			                    "every event on every CPU", why);
	}
	state->layout = PERF_THREAD_RINGS;
	if (plan->target.kind != PPI_TARGET_TID &&
	    !(plan->sample_fields & PORTPROF_FIELD_GROUP_VALUES)) {
		bool must = must_inherit(plan);

		if (must && by_cpu > available)
			return ppi_perf_refuse_fds(by_cpu, available, limit,
			                           "every thread on every CPU, "
			                           "as following needs", why);
		if (must || (state->cpu_count <= CPUS_MAX &&
		             by_cpu <= budget &&
		             is_cpu_exact(bs)))
			state->layout = PERF_CPU_RINGS;
	}
	if (state->layout == PERF_THREAD_RINGS && by_thread > available)
		return ppi_perf_refuse_fds(by_thread, available, limit,
		                           "one event for every thread", why);
	return PORTPROF_OK;
}

static bool can_spare_carriers(const struct ppi_backend_session *bs)
{
	const struct ppi_plan *plan = bs->plan;

	return !needs_carrier(bs) && !plan->is_delayed &&
	       !(plan->required_caps & PORTPROF_CAP_LOST_EXACT);
}

/*
 * Of a command, and others with their children, each thread gets copies of all
 * events and frees them: an event more takes one to three in a hundred of a program
 * that switches threads, and a tenth of one that starts short processes. With
 * copies of stacks, which may fill rings, code is reported beside them all the same.
 */
static bool should_spare_carriers(const struct ppi_backend_session *bs)
{
	return bs->plan->follow_children && must_inherit(bs->plan) &&
	       !bs->plan->target.is_self && !bs->plan->stack_bytes &&
	       !perf_state_of(bs)->is_by_cpu && can_spare_carriers(bs);
}

/*
 * With events of their own that report mappings and threads, or else, where
 * threads begin all the time or descriptors are short, without: the first
 * event does it too then, and the kernel's number of its losses is of all its
 * records.
 */
static portprof_status choose_carriers(struct ppi_backend_session *bs,
                                       size_t threads, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status;
	bool is_short = false;

	state->sides->has_carriers = !should_spare_carriers(bs);
	status = choose_layout(bs, threads, why);
	if (status == PORTPROF_E_LIMIT && state->sides->has_carriers &&
	    can_spare_carriers(bs)) {
		is_short = true;
		state->sides->has_carriers = false;
		status = choose_layout(bs, threads, why);
	}
	if (!state->sides->has_carriers)
		bs->caps &= ~(uint64_t)PORTPROF_CAP_LOST_EXACT;
	if (status == PORTPROF_OK && is_short)
		ppi_note(bs, "too few descriptors are free for separate events "
		         "that record mappings and names: lost records may be "
		         "of either kind; raise the limit with ulimit -n");
	return status;
}

/* ---- the shape of records ---- */

/* A chain that leaves room for what else a sample may bring. */
static int64_t deepest(const struct ppi_plan *plan)
{
	int64_t depth = DEPTH_MAX;

	if (plan->sample_fields & PORTPROF_FIELD_BRANCHES)
		depth -= sizeof(portprof_branch) / 8 * PERF_BRANCHES_MAX;
	if (plan->sample_fields & PORTPROF_FIELD_GROUP_VALUES)
		depth -= PERF_EVENTS_MAX;
	return depth;
}

/* Asked for it, an event that is counted at places samples every occurrence,
 * whatever its period is (kernel/events/core.c, perf_swevent_event). */
static void ask_for_periods(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	state->kind.shape.sample_type |= PERF_SAMPLE_PERIOD;
	for (size_t i = 0; i < bs->plan->event_count; i++)
		if (perf_is_occurrence(&bs->plan->events[i]) &&
		    state->tallies[i].period)
			state->tallies[i].period = 1;
}

/* The registers and a copy of the stack, to be unwound, in place of what frame
 * pointers would lead to. */
static void shape_stack(struct ppi_backend_session *bs)
{
	struct perf_shape *shape = &perf_state_of(bs)->kind.shape;
	size_t bytes = bs->plan->stack_bytes;

	if (!perf_can_unwind(perf_kernel_of(bs->kernel)))
		return;
	bytes = bytes < PERF_STACK_MAX ? bytes : PERF_STACK_MAX;
	shape->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	shape->user_mask |= perf_kernel_of(bs->kernel)->registers->mask;
	shape->stack_bytes = (uint32_t)(bytes + 7) & ~UINT32_C(7);
}

static bool has_cpu_time(const struct ppi_plan *plan)
{
	for (size_t i = 0; i < plan->event_count; i++)
		if (plan->events[i].is_cpu_time)
			return true;
	return false;
}

static void shape_records(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_plan *plan = bs->plan;
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_session_kind *kind = &state->kind;
	struct perf_weighing *weighing = state->weighing;
	struct perf_shape *shape = &kind->shape;
	bool has_kernel = false, has_hardware = false, needs_period = false;

	for (size_t i = 0; i < plan->event_count; i++) {
		has_kernel |= plan->events[i].counts_kernel;
		has_hardware |= perf_own(&plan->events[i])->type != PERF_TYPE_SOFTWARE;
		needs_period |= plan->events[i].rate_hz ||
		                !perf_is_occurrence(&plan->events[i]);
	}
	shape->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
	                     PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	if (state->layout == PERF_THREAD_RINGS)
		shape->sample_type |= PERF_SAMPLE_CPU;
	weighing->has_values = state->layout != PERF_CPU_RINGS ||
	                       (kind->features & PERF_HAS_INHERIT_READ &&
	                        weighing->must_read_counts);
	weighing->has_clocks = !weighing->has_values && has_cpu_time(plan);
	if (weighing->has_values)
		shape->sample_type |= PERF_SAMPLE_READ;
	else if (needs_period)
		ask_for_periods(bs);
	shape->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	/* Of all in a sample that says whose it is, this is always right. */
	if (state->weighing->has_values)
		shape->read_format |= PERF_FORMAT_ID;
	/* On one CPU's event running is less than enabled because the thread
	 * ran elsewhere: only a thread's own event can be scaled by it, or
	 * the CPU's. */
	if (state->layout != PERF_CPU_RINGS && has_hardware)
		shape->read_format |= PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (kind->features & PERF_HAS_LOST)
		shape->read_format |= PERF_READ_LOST;
	if (plan->sample_fields & PORTPROF_FIELD_GROUP_VALUES)
		shape->read_format |= PERF_FORMAT_GROUP;
	if (plan->chain_depth) {
		int64_t most = ppi_perf_proc_number(
			kernel, "/proc/sys/kernel/perf_event_max_stack", 127);

		most = most > 0 && most < DEPTH_MAX ? most : DEPTH_MAX;
		most = most < deepest(plan) ? most : deepest(plan);
		shape->sample_type |= PERF_SAMPLE_CALLCHAIN;
		shape->chain_depth = plan->chain_depth;
		if (plan->chain_depth > (uint64_t)most) {
			shape->chain_depth = (unsigned)most;
			ppi_note(bs, "call chains are truncated at %u "
			         "addresses: sysctl "
			         "kernel.perf_event_max_stack",
			         shape->chain_depth);
		}
	}
	ppi_perf_fields_ask(plan, shape);
	if (plan->want_user_address && has_kernel &&
	    kind->features & PERF_HAS_USER_IP) {
		shape->sample_type |= PERF_SAMPLE_REGS_USER;
		shape->user_mask = shape->user_ip_mask = kernel->user_ip_mask;
	}
	if (state->weighing->raw)
		shape->sample_type |= PERF_SAMPLE_RAW;
	if (state->is_by_cpu && plan->target.cgroup)
		shape->sample_type |= PERF_TELLS_CGROUP;
	if (plan->chain_depth && plan->stack_bytes)
		shape_stack(bs);
}

static void choose_inheritance(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_plan *plan = bs->plan;
	struct perf_session_kind *kind = &state->kind;

	kind->inherits = state->layout == PERF_CPU_RINGS;
	kind->follows_children = kind->inherits && plan->follow_children;
	state->awaits_exec = plan->target.kind == PPI_TARGET_COMMAND &&
	                     !plan->is_delayed;
	/* a CPU knows of no exec: what it samples before is left out */
	kind->enables_on_exec = state->awaits_exec && !state->is_by_cpu;
	/* exec ends the profile of this very process. Our descriptors close
	 * then too, so a followed child may keep its events when it does. */
	kind->removes_on_exec = plan->target.is_self && !plan->follow_children;
	state->weighing->is_id_doubtful = !state->weighing->has_values &&
	                        has_equal_occurrences(plan);
	/* Of CPUs: what begins while processes are looked up is known by its
	 * records. */
	state->sides->is_early = plan->is_delayed ||
	                  state->layout == PERF_SYSTEM_RINGS;
	ppi_perf_trace_probes(bs);
	if (kind->inherits && !kind->follows_children &&
	    !(kind->features & PERF_HAS_INHERIT_THREAD))
		ppi_note(bs, "this kernel (before 5.13) does not separate "
		         "threads from child processes: what children use until they "
		         "exec is in the total, but not in the samples");
	if (state->weighing->must_read_counts && !state->weighing->has_values)
		ppi_note(bs, "this kernel (before 6.12) does not record "
		         "counts of inherited events: samples of other events than "
		         "CPU time have the weight of one period, and missed "
		         "weight is unattributed");
}

/* ---- notes ---- */

static void say_precision(struct ppi_backend_session *bs,
                          const struct ppi_event *event)
{
	if (!perf_own(event)->precise ||
	    ppi_perf_sysfs_tells_precision(perf_kernel_of(bs->kernel)))
		return;
	ppi_note(bs, "%s: no PMU here says that its samples can be precise: "
	         "the kernel took precise=%u and may have ignored it",
	         event->request.name, perf_own(event)->precise);
}

/* Why a clock's samples come less often than they were asked for. */
static void say_rate(struct ppi_backend_session *bs,
                     const struct ppi_event *event)
{
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	const struct ppi_event_request *request = &event->request;
	uint64_t asked = request->period;
	unsigned long long asked_hz, granted_hz;

	if (!asked && request->rate_hz)
		asked = NS_PER_S / request->rate_hz;
	if (event->unit != PORTPROF_UNIT_NANOSECONDS || !asked ||
	    event->period <= asked + 1)
		return;
	asked_hz = request->rate_hz ? request->rate_hz : NS_PER_S / asked;
	granted_hz = NS_PER_S / event->period;
	if (request->rate_hz && granted_hz >= ppi_perf_rate_allowed_hz(kernel))
		ppi_note(bs, "%s: the kernel allows %llu samples a second, not "
		         "%llu: sysctl kernel.perf_event_max_sample_rate",
		         request->name, granted_hz, asked_hz);
	else
		ppi_note(bs, "%s: %llu samples a second granted, not %llu: "
		         "each takes %llu us here, and sampling may take a "
		         "quarter of a CPU", request->name, granted_hz,
		         asked_hz, (unsigned long long)
		         (ppi_perf_rate_interrupt_ns(kernel) + 999) / 1000);
}

static void say_stack_size(struct ppi_backend_session *bs)
{
	const struct perf_state *state = perf_state_of(bs);
	size_t bytes = state->kind.shape.stack_bytes;

	/* who named no size gets what there is room for */
	if (bytes && bytes < bs->plan->stack_bytes && bytes < PERF_STACK_MAX &&
	    (!bs->plan->may_copy_less || bytes < STACK_NEEDED))
		ppi_note(bs, "%zu bytes of the stack are copied with a sample, "
		         "not %zu, so that no sample is lost: %s", bytes,
		         bs->plan->stack_bytes,
		         state->rings->is_lock_limited
		         ? "the memory a user may lock is limited; raise "
		           "kernel.perf_event_mlock_kb or ulimit -l"
		         : "buffers hold no more at this rate; a lower one "
		           "leaves room for more");
}

static void say_what_is_special(struct ppi_backend_session *bs)
{
	for (size_t i = 0; i < bs->plan->event_count; i++) {
		const struct ppi_event *event = &bs->plan->events[i];

		if (perf_state_of(bs)->weighing->is_id_doubtful &&
		    perf_is_occurrence(event))
			ppi_note(bs, "%s: this kernel (before 6.12) may credit "
			         "its samples to another event of the same "
			         "name; record them one at a time",
			         event->request.name);
		say_precision(bs, event);
		if (event->is_cpu_time && !event->counts_kernel)
			ppi_note(bs, "%s: no samples in kernel mode%s; time "
			         "there is charged to the thread's next "
			         "user-mode sample", event->request.name,
			         event->request.has_modes ? ""
			         : ", which this user may not see");
		say_rate(bs, event);
	}
}

/* ---- everything ---- */

static portprof_status prepare(struct ppi_backend_session *bs,
                               struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	portprof_status status = ppi_perf_find_cpus(bs, why);

	if (status != PORTPROF_OK)
		return status;
	state->rings->page_bytes = kernel->get_page_bytes(kernel->self);
	state->sides->pending_end = &state->sides->pending;
	state->tallies = calloc(bs->plan->event_count,
	                        sizeof(*state->tallies));
	state->rings->scratch = malloc(PERF_RECORD_ROOM);
	state->tails->words = malloc(PERF_PAYLOAD_WORDS *
	                           sizeof(*state->tails->words));
	for (size_t i = 0; state->tallies && i < bs->plan->event_count; i++) {
		state->tallies[i].period = bs->plan->events[i].period;
		state->tallies[i].rate_hz = bs->plan->events[i].rate_hz;
	}
	if (state->tallies && state->rings->scratch && state->tails->words &&
	    ppi_perf_weights_init(state->weights, bs->plan->event_count))
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open session",
	                "out of memory");
}

/* What tracepoints were asked to tell: where it lies in their samples. */
static portprof_status find_fields(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_plan *plan = bs->plan;
	portprof_status status = PORTPROF_OK;
	bool is_asked = false;

	for (size_t i = 0; i < plan->event_count; i++)
		is_asked |= plan->events[i].fields[0] != '\0';
	if (!is_asked)
		return PORTPROF_OK;
	state->weighing->raw = calloc(plan->event_count,
	                    PERF_RAW_MAX * sizeof(*state->weighing->raw));
	if (!state->weighing->raw)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open session",
		                "out of memory");
	for (size_t i = 0; i < plan->event_count && !status; i++)
		status = ppi_perf_tracepoint_fields(
			perf_kernel_of(bs->kernel), &plan->events[i],
			&state->weighing->raw[i * PERF_RAW_MAX], why);
	return status;
}

static size_t count_threads(struct ppi_backend_session *bs)
{
	int64_t *tids;
	size_t count;

	if (bs->plan->target.kind == PPI_TARGET_TID ||
	    bs->plan->target.kind == PPI_TARGET_SYSTEM ||
	    perf_state_of(bs)->is_by_cpu ||
	    ppi_perf_target_threads(bs, &tids, &count) < 0)
		return 1;
	free(tids);
	return count;
}

/* All of one size, as large as the budget for locked memory allows: first
 * those of samples, then those beside them. */
static portprof_status open_rings(struct ppi_backend_session *bs,
                                  struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	size_t count = state->cpu_count * (1 + state->sides->has_carriers);
	portprof_status status;

	for (;;) {
		status = PORTPROF_OK;
		for (size_t i = 0; i < count && status == PORTPROF_OK; i++)
			status = ppi_perf_attach_cpu(
				bs, (uint32_t)state->cpus[i % state->cpu_count],
				i >= state->cpu_count, why);
		if (status != PORTPROF_E_LIMIT || why->os_errno != EPERM ||
		    !ppi_perf_shrink_rings(bs))
			return status;
		ppi_perf_close_cpus(bs);
		ppi_perf_fit_stacks(bs);
	}
}

/* A command's carriers begin at its exec: what it is now is of no interest. */
static bool has_begun(const struct ppi_backend_session *bs)
{
	return bs->plan->target.kind != PPI_TARGET_COMMAND ||
	       perf_state_of(bs)->is_by_cpu;
}

portprof_status ppi_perf_open_sampling(struct ppi_backend_session *bs,
                                       struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = prepare(bs, why);
	size_t threads;

	ppi_perf_find_cores(bs);
	if (status == PORTPROF_OK)
		status = check_values(bs, why);
	if (status == PORTPROF_OK)
		status = ppi_perf_fields_check(bs->plan, why);
	if (status == PORTPROF_OK)
		status = find_fields(bs, why);
	if (status != PORTPROF_OK)
		return status;
	state->kind.features = ppi_perf_features(perf_kernel_of(bs->kernel));
	state->is_by_cpu = ppi_perf_is_by_cpu(bs);
	state->weighing->must_read_counts = must_read_counts(bs);
	threads = count_threads(bs);
	status = choose_carriers(bs, threads, why);
	if (status != PORTPROF_OK)
		return status;
	shape_records(bs);
	choose_inheritance(bs);
	ppi_perf_size_rings(bs);
	if (state->kind.shape.stack_bytes &&
	    state->layout == PERF_THREAD_RINGS)
		ppi_perf_fit_thread_rings(bs, threads);
	else
		ppi_perf_fit_stacks(bs);
	status = ppi_perf_open_cgroup(bs, why);
	if (status == PORTPROF_OK && state->layout != PERF_THREAD_RINGS)
		status = open_rings(bs, why);
	ppi_perf_choose_small_stacks(bs, threads);
	if (status == PORTPROF_OK)
		status = state->layout == PERF_SYSTEM_RINGS
			? ppi_perf_attach_system(bs, why)
			: ppi_perf_attach_all(bs, why);
	if (status == PORTPROF_OK)
		status = ppi_perf_check_cores(bs, why);
	if (status != PORTPROF_OK)
		return status;
	ppi_perf_tail_open(bs);
	if (state->sides->is_early && has_begun(bs))
		ppi_perf_enable_carriers(bs);
	if (state->is_by_cpu)
		status = ppi_perf_family_open(bs, why);
	if (status != PORTPROF_OK)
		return status;
	ppi_perf_late_open(bs);
	ppi_perf_choose_nap(bs);
	say_stack_size(bs);
	say_what_is_special(bs);
	if (bs->plan->want_modules)
		ppi_perf_pending_baseline(bs);
	return PORTPROF_OK;
}

/* ---- the end ---- */

static void release_rings(struct ppi_backend_session *bs)
{
	struct perf_rings *rings = perf_state_of(bs)->rings;
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	/* The kernel does not give rings to a forked child (VM_DONTCOPY). */
	bool is_owner = kernel->get_pid(kernel->self) == bs->owner_pid;

	for (size_t i = 0; i < rings->count; i++) {
		struct perf_ring *ring = &rings->all[i];

		if (ring->fd == PERF_RING_FREE)
			continue;
		if (is_owner)
			kernel->unmap(kernel->self, ring->buffer.address,
			              ring->buffer.mapped_bytes);
		if (ring->owns_fd)
			kernel->close_event(kernel->self, ring->fd, 0);
	}
	free(rings->all);
	free(rings->order);
	free(rings->scratch);
}

void ppi_perf_release_sampling(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);

	release_rings(bs);
	ppi_perf_pending_free(state);
	ppi_perf_tail_forget(state);
	ppi_perf_weights_free(state->weights);
	ppi_perf_build_ids_free(&state->sides->build_ids);
	free(state->tallies);
	free(state->weighing->raw);
	free(state->family->bits);
	ppi_perf_late_free(state);
	free(state->tails->words);
}
