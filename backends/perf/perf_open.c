/* SPDX-License-Identifier: MIT */
/* Opening a sampling session: which layout, how large, which threads. */
#include "backends/perf/perf_state.h"

#include "backends/perf/perf_proc.h"
#include "backends/perf/perf_sysfs.h"

#include <errno.h>
#include <stdlib.h>

enum {
	CPUS_MAX = 64,         /* more: creating a thread gets too dear */
	FDS_MAX = 4096,
	FDS_LEFT = 8,          /* what we leave free in any case */
	DEPTH_MAX = 1000       /* so that a chain fits in PPI_WORDS_MIN */
};

static bool is_process(const struct ppi_plan *plan)
{
	return plan->target.kind == PPI_TARGET_PROCESS ||
	       plan->target.kind == PPI_TARGET_PID;
}

/* Whether CPU rings can be as exact as thread rings on this kernel. */
static bool is_cpu_exact(const struct perf_session_kind *kind,
                         const struct ppi_plan *plan)
{
	return (kind->features & PERF_HAS_INHERIT_READ) &&
	       (plan->follow_children ||
	        kind->features & PERF_HAS_INHERIT_THREAD);
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
		                "values of groups cannot be told with samples "
		                "of children or of a command: leave out "
		                "children, attach to a process, or count");
	for (size_t i = 0; i < plan->event_count; i++)
		if (perf_is_by_core(bs, i))
			return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
			                "open session", "values of groups "
			                "cannot be told with '%s', which is "
			                "an event of several core types here: "
			                "name the PMU",
			                plan->events[i].request.text);
	if (plan->event_count > PERF_EVENTS_MAX)
		return ppi_fail(why, PORTPROF_E_LIMIT, 0, "open session",
		                "values of groups can be told of up to %d "
		                "events, not of %zu", PERF_EVENTS_MAX,
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
	return perf_is_by_core(bs, 0);
}

/* Descriptors that a thread's ring takes. */
static uint64_t events_of_thread(const struct ppi_backend_session *bs)
{
	uint64_t count = needs_carrier(bs) || bs->plan->is_delayed;

	for (size_t i = 0; i < bs->plan->event_count; i++)
		count += perf_is_by_core(bs, i)
			? perf_state_of(bs)->core_count : 1;
	return count;
}

static portprof_status choose_layout(struct ppi_backend_session *bs,
                                     size_t threads, struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_plan *plan = bs->plan;
	uint64_t limit;
	uint64_t available = perf_proc_free_fds(perf_kernel_of(bs->kernel),
	                                        &limit);
	uint64_t by_thread = threads * events_of_thread(bs);
	uint64_t by_cpu = state->cpu_count *
	                  (1 + (uint64_t)threads *
	                       (plan->event_count + plan->is_delayed));
	uint64_t budget = available / 2 < FDS_MAX ? available / 2 : FDS_MAX;

	available = available > FDS_LEFT ? available - FDS_LEFT : 0;
	if (plan->target.kind == PPI_TARGET_SYSTEM) {
		state->layout = PERF_SYSTEM_RINGS;
		return by_cpu <= available ? PORTPROF_OK :
			perf_refuse_fds(by_cpu, available, limit,
			                "every event on every CPU", why);
	}
	state->layout = PERF_THREAD_RINGS;
	if (plan->target.kind != PPI_TARGET_TID &&
	    !(plan->sample_fields & PORTPROF_FIELD_GROUP_VALUES)) {
		bool must = must_inherit(plan);

		if (must && by_cpu > available)
			return perf_refuse_fds(by_cpu, available, limit,
			                       "every thread on every CPU, as "
			                       "following needs", why);
		if (must || (state->cpu_count <= CPUS_MAX &&
		             by_cpu <= budget &&
		             is_cpu_exact(&state->kind, plan)))
			state->layout = PERF_CPU_RINGS;
	}
	if (state->layout == PERF_THREAD_RINGS && by_thread > available)
		return perf_refuse_fds(by_thread, available, limit,
		                       "one event for every thread", why);
	return PORTPROF_OK;
}

/* A chain that leaves room for what else a sample may bring. */
static int64_t deepest(const struct ppi_plan *plan)
{
	int64_t depth = DEPTH_MAX;

	if (plan->sample_fields & PORTPROF_FIELD_BRANCHES)
		depth -= 2 * PERF_BRANCHES_MAX;
	if (plan->sample_fields & PORTPROF_FIELD_GROUP_VALUES)
		depth -= PERF_EVENTS_MAX;
	return depth;
}

static void shape_records(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_plan *plan = bs->plan;
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	struct perf_session_kind *kind = &state->kind;
	struct perf_shape *shape = &kind->shape;
	bool has_kernel = false, has_hardware = false;

	for (size_t i = 0; i < plan->event_count; i++) {
		has_kernel |= plan->events[i].counts_kernel;
		has_hardware |= plan->events[i].type != PERF_TYPE_SOFTWARE;
	}
	shape->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
	                     PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	if (state->layout == PERF_THREAD_RINGS)
		shape->sample_type |= PERF_SAMPLE_CPU;
	state->has_values = state->layout != PERF_CPU_RINGS ||
	                    kind->features & PERF_HAS_INHERIT_READ;
	shape->sample_type |= state->has_values ? PERF_SAMPLE_READ
	                                        : PERF_SAMPLE_PERIOD;
	shape->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
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
		int64_t most = perf_proc_number(
			kernel, "/proc/sys/kernel/perf_event_max_stack", 127);

		most = most > 0 && most < DEPTH_MAX ? most : DEPTH_MAX;
		most = most < deepest(plan) ? most : deepest(plan);
		shape->sample_type |= PERF_SAMPLE_CALLCHAIN;
		shape->chain_depth = plan->chain_depth;
		if (plan->chain_depth > (uint64_t)most) {
			shape->chain_depth = (unsigned)most;
			ppi_note(bs, "call chains are cut at %u addresses: "
			         "sysctl kernel.perf_event_max_stack",
			         shape->chain_depth);
		}
	}
	if (plan->sample_fields & PORTPROF_FIELD_DATA_ADDRESS)
		shape->sample_type |= PERF_SAMPLE_ADDR;
	if (plan->sample_fields & PORTPROF_FIELD_LATENCY)
		shape->sample_type |= PERF_SAMPLE_WEIGHT;
	if (plan->sample_fields & PORTPROF_FIELD_BRANCHES)
		shape->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	if (plan->want_user_address && has_kernel &&
	    kind->features & PERF_HAS_USER_IP) {
		shape->sample_type |= PERF_SAMPLE_REGS_USER;
		shape->user_ip_mask = kernel->user_ip_mask;
	}
}

static void choose_inheritance(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	const struct ppi_plan *plan = bs->plan;
	struct perf_session_kind *kind = &state->kind;

	kind->inherits = state->layout == PERF_CPU_RINGS;
	kind->follows_children = kind->inherits && plan->follow_children;
	kind->enables_on_exec = plan->target.kind == PPI_TARGET_COMMAND &&
	                        !plan->is_delayed;
	/* exec ends the profile of this very process. Our descriptors close
	 * then too, so a followed child may keep its events when it does. */
	kind->removes_on_exec = plan->target.is_self && !plan->follow_children;
	state->awaits_exec = kind->enables_on_exec;
	state->is_early = plan->is_delayed;
	state->has_carriers = plan->is_delayed ||
	                      (state->layout == PERF_THREAD_RINGS &&
	                       needs_carrier(bs));
	if (kind->inherits && !kind->follows_children &&
	    !(kind->features & PERF_HAS_INHERIT_THREAD))
		ppi_note(bs, "this kernel (before 5.13) cannot tell threads "
		         "from child processes: what children use until they "
		         "exec is in the total, but not in the samples");
	if (!state->has_values)
		ppi_note(bs, "this kernel (before 6.12) does not tell counts "
		         "of inherited events: a sample stands for one period, "
		         "and what was missed is unattributed");
}

static void say_precision(struct ppi_backend_session *bs,
                          const struct ppi_event *event)
{
	if (!event->precise ||
	    perf_sysfs_tells_precision(perf_kernel_of(bs->kernel)))
		return;
	ppi_note(bs, "%s: no PMU here says that its samples can be precise: "
	         "the kernel took precise=%u and may have ignored it",
	         event->request.name, event->precise);
}

static void say_what_is_special(struct ppi_backend_session *bs)
{
	for (size_t i = 0; i < bs->plan->event_count; i++) {
		const struct ppi_event *event = &bs->plan->events[i];
		uint64_t asked_hz = event->request.rate_hz;

		say_precision(bs, event);
		if (event->is_cpu_time && !event->counts_kernel)
			ppi_note(bs, "%s: no samples in kernel mode%s; time "
			         "there is charged to the thread's next "
			         "user-mode sample", event->request.name,
			         event->request.has_modes ? ""
			         : ", which this user may not see");
		if (asked_hz && event->period && !event->rate_hz &&
		    event->period > 1000000000u / asked_hz + 1)
			ppi_note(bs, "%s: the kernel allows for %llu samples "
			         "a second, not %llu: sysctl "
			         "kernel.perf_event_max_sample_rate",
			         event->request.name,
			         1000000000ull / event->period,
			         (unsigned long long)asked_hz);
	}
}

portprof_status perf_find_cpus(struct ppi_backend_session *bs,
                               struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const char *wanted = bs->plan->cpus;
	int error = perf_proc_cpus(perf_kernel_of(bs->kernel), &state->cpus,
	                           &state->cpu_count);

	if (error == -ENOMEM)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "list CPUs",
		                "out of memory");
	if (error < 0)
		return ppi_fail(why, PORTPROF_E_SYSTEM, -error, "list CPUs",
		                "/sys/devices/system/cpu/online cannot be "
		                "read: is /sys mounted?");
	if (wanted && !perf_proc_pick_cpus(wanted, state->cpus,
	                                   &state->cpu_count))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "list CPUs",
		                "CPUs '%.64s' are not all online: "
		                "/sys/devices/system/cpu/online tells which "
		                "are", wanted);
	return PORTPROF_OK;
}

static portprof_status prepare(struct ppi_backend_session *bs,
                               struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	const struct perf_kernel *kernel = perf_kernel_of(bs->kernel);
	portprof_status status = perf_find_cpus(bs, why);

	if (status != PORTPROF_OK)
		return status;
	state->page_bytes = kernel->get_page_bytes(kernel->self);
	state->pending_end = &state->pending;
	state->tallies = calloc(bs->plan->event_count,
	                        sizeof(*state->tallies));
	state->scratch = malloc(PERF_RECORD_ROOM);
	if (state->tallies && state->scratch &&
	    perf_weights_init(&state->weights, bs->plan->event_count))
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open session",
	                "out of memory");
}

static size_t count_threads(struct ppi_backend_session *bs)
{
	int64_t *tids;
	size_t count;

	if (bs->plan->target.kind == PPI_TARGET_TID ||
	    bs->plan->target.kind == PPI_TARGET_SYSTEM ||
	    perf_proc_threads(perf_kernel_of(bs->kernel), bs->plan->target.pid,
	                      &tids, &count) < 0)
		return 1;
	free(tids);
	return count;
}

/* All of one size, as large as the budget for locked memory allows. */
static portprof_status open_rings(struct ppi_backend_session *bs,
                                  struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status;

	for (;;) {
		status = PORTPROF_OK;
		for (size_t i = 0; i < state->cpu_count &&
		     status == PORTPROF_OK; i++)
			status = perf_attach_cpu(
				bs, (uint32_t)state->cpus[i], why);
		if (status != PORTPROF_E_LIMIT || why->os_errno != EPERM ||
		    !perf_shrink_rings(bs))
			return status;
		perf_close_cpus(bs);
	}
}

/* A command's carriers begin at its exec: what it is now is of no interest. */
static bool has_begun(const struct ppi_plan *plan)
{
	return plan->target.kind != PPI_TARGET_COMMAND;
}

portprof_status perf_open_sampling(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	portprof_status status = prepare(bs, why);

	perf_find_cores(bs);
	if (status == PORTPROF_OK)
		status = check_values(bs, why);
	if (status != PORTPROF_OK)
		goto release;
	state->kind.features = perf_features(perf_kernel_of(bs->kernel));
	status = choose_layout(bs, count_threads(bs), why);
	if (status != PORTPROF_OK)
		goto release;
	shape_records(bs);
	choose_inheritance(bs);
	perf_size_rings(bs);
	if (state->layout != PERF_THREAD_RINGS)
		status = open_rings(bs, why);
	if (status == PORTPROF_OK)
		status = state->layout == PERF_SYSTEM_RINGS
			? perf_attach_system(bs, why)
			: perf_attach_all(bs, why);
	if (status == PORTPROF_OK)
		status = perf_check_cores(bs, why);
	if (status != PORTPROF_OK)
		goto release;
	if (state->is_early && has_begun(bs->plan))
		perf_enable_carriers(bs);
	perf_choose_nap(bs);
	say_what_is_special(bs);
	if (bs->plan->want_modules)
		perf_pending_baseline(bs);
	return PORTPROF_OK;
release:
	perf_release(bs);
	return status;
}
