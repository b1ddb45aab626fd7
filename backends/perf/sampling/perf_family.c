/* SPDX-License-Identifier: MIT */
/*
 * Processes by samples of the CPUs: whose each of them is.
 *
 * A clock of its own costs a thread time at each switch to it: the kernel
 * starts the clock's timer anew, with interrupts off, and what falls due
 * meanwhile is sampled where they are on again (kernel/events/core.c,
 * perf_swevent_start_hrtimer). Of a service that switches often that is a
 * twentieth of its time, at one place. A CPU's clock runs under any thread, so
 * who may sample CPUs measures other processes that way, and takes of the
 * samples those of the target: the processes that were named, all that they had
 * created when the session was opened, and, by the kernel's records of FORK in
 * the order of time, all that these create; or a control group's.
 */
#include "backends/perf/sampling/perf_family.h"

#include "backends/perf/session/perf_target.h"

#include <errno.h>
#include <stdlib.h>

/* include/linux/threads.h, PID_MAX_LIMIT */
enum { PIDS_MAX = 4 << 20, WORD_BITS = 64 };

bool ppi_perf_may_sample_cpus(const struct ppi_backend_session *bs)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.sample_type = bs->plan->target.cgroup ? PERF_TELLS_CGROUP : 0,
	};

	return ppi_perf_try_attr(perf_kernel_of(bs->kernel), &attr,
	                         PERF_ANYBODY, perf_state_of(bs)->cpus[0],
	                         0) == 0;
}

/* It happens to nobody, and is there for the records of mappings and threads that
 * come with it: an event of a CPU has them too, and costs no switch of threads. */
static bool never_happens(const struct ppi_event *event)
{
	return perf_own(event)->type == PERF_TYPE_SOFTWARE &&
	       perf_own(event)->config[0] == PERF_COUNT_SW_DUMMY;
}

/* With inherited events of threads what a process's children use is told
 * exactly, of what was asked for that way or has another clock. */
bool ppi_perf_is_by_cpu(const struct ppi_backend_session *bs)
{
	const struct ppi_plan *plan = bs->plan;
	bool is_command = plan->target.kind == PPI_TARGET_COMMAND &&
	                  plan->follow_children;

	if ((!ppi_perf_has_family(plan) && !is_command &&
	     !plan->target.cgroup) ||
	    plan->has_exact_children ||
	    plan->sample_fields & PORTPROF_FIELD_GROUP_VALUES)
		return false;
	for (size_t i = 0; i < plan->event_count; i++)
		if (!(never_happens(&plan->events[i]) && !plan->target.cgroup) &&
		    (!plan->events[i].is_cpu_time || !plan->events[i].period ||
		     perf_own(&plan->events[i])->type != PERF_TYPE_SOFTWARE))
			return false;
	return ppi_perf_may_sample_cpus(bs);
}

static void set(struct perf_state *state, uint64_t pid, bool is_in)
{
	uint64_t bit = UINT64_C(1) << pid % WORD_BITS;

	if (pid >= PIDS_MAX)
		return;
	if (is_in)
		state->family->bits[pid / WORD_BITS] |= bit;
	else
		state->family->bits[pid / WORD_BITS] &= ~bit;
}

bool ppi_perf_family_has(const struct perf_state *state, uint64_t pid)
{
	return pid < PIDS_MAX &&
	       state->family->bits[pid / WORD_BITS] >> pid % WORD_BITS & 1;
}

/* Numbers are given again, to anybody's child. */
void ppi_perf_family_begin(struct perf_state *state, uint64_t parent,
                           uint64_t pid)
{
	if (state->family->bits)
		set(state, pid, ppi_perf_family_has(state, parent));
}

void ppi_perf_family_end(struct perf_state *state, uint64_t pid)
{
	if (state->family->bits && ppi_perf_family_has(state, pid))
		state->family->has_ended = true;
}

int ppi_perf_family_look(struct ppi_backend_session *bs)
{
	struct perf_state *state = perf_state_of(bs);
	int64_t *pids;
	size_t count;
	int error;

	if (!state->family->bits)
		return 0;
	error = ppi_perf_target_processes(bs, &pids, &count);
	if (error < 0)
		return error;
	for (size_t i = 0; i < count; i++)
		set(state, (uint64_t)pids[i], true);
	free(pids);
	return 0;
}

static portprof_status find_family(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	struct perf_state *state = perf_state_of(bs);
	int64_t *tids;
	size_t count;
	int error = ppi_perf_target_threads(bs, &tids, &count);

	if (error < 0)
		return ppi_perf_refuse_threads(bs, -error, why);
	free(tids);
	state->family->bits = calloc(PIDS_MAX / WORD_BITS,
	                             sizeof(*state->family->bits));
	if (!state->family->bits || ppi_perf_family_look(bs) < 0)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open session",
		                "out of memory");
	return PORTPROF_OK;
}

/* Carriers report already: a thread that is created while we look is known by that. */
portprof_status ppi_perf_family_open(struct ppi_backend_session *bs,
                                     struct ppi_diag *why)
{
	portprof_status status = bs->plan->target.cgroup
		? ppi_perf_cgroup_check(bs, why) : find_family(bs, why);
	bool has_samples = false;

	for (size_t i = 0; i < bs->plan->event_count; i++)
		has_samples |= !never_happens(&bs->plan->events[i]);
	if (status == PORTPROF_OK && has_samples)
		ppi_note(bs, PORTPROF_NOTE_ESTIMATES "weights are estimates of "
		         "what the target used");
	return status;
}

bool ppi_perf_is_of_target(struct ppi_backend_session *bs,
                           const struct perf_seen *seen)
{
	const struct perf_state *state = perf_state_of(bs);

	if (!state->is_by_cpu)
		return true;
	return state->family->bits ? ppi_perf_family_has(state, seen->pid)
	                     : ppi_perf_cgroup_has(bs, seen);
}
