/* SPDX-License-Identifier: MIT */
/*
 * A forked child of a recorded process goes on by the session that it has a copy
 * of: one timer for its only thread, and samples into its parent's area. So a
 * child costs a few system calls, and no thread. Of the copy only what the handler
 * reads is used: the helper thread may have been at work on the rest.
 */
#include "backends/timer/timer.h"

#include <string.h>

/* Children of one parent have the same copy: their ticks shall not be in step. */
static uint64_t seed(const struct timer_state *state, int64_t pid)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t mixed = (kernel->now_ns(kernel->self) ^ (uint64_t)pid << 40) *
	                 UINT64_C(0x9e3779b97f4a7c15);

	return (mixed ^ mixed >> 32) | 1;
}

bool ppi_timer_heir_begin(struct ppi_backend_session *bs)
{
	struct timer_state *state = bs->state;
	const struct timer_kernel *kernel = state->kernel;
	struct timer_thread *thread = &state->heir;
	int64_t pid = kernel->process_id(kernel->self);

	if (!bs->plan->area || state->only_tid || state->is_displaced ||
	    !atomic_load(&state->is_ticking))
		return false;
	memset(thread, 0, sizeof(*thread));
	thread->tid = pid;
	if (kernel->create(kernel->self, pid, state->signo, thread,
	                   &thread->timer) != 0)
		return false;
	thread->has_timer = true;
	bs->owner_pid = state->heir_pid = pid;
	state->random = seed(state, pid);
	ppi_timer_handler_inherit(state);
	if (ppi_timer_thread_begin(state, thread) != 0) {
		ppi_timer_heir_end(bs);
		return false;
	}
	return true;
}

void ppi_timer_heir_sign(const struct timer_state *state, struct ppi_tick *tick)
{
	tick->pid = (int32_t)state->heir_pid;
	tick->squares = ppi_tick_rate_squares(&state->rate,
	                                      atomic_load(&state->heir.ticks));
}

void ppi_timer_heir_end(struct ppi_backend_session *bs)
{
	struct timer_state *state = bs->state;
	const struct timer_kernel *kernel = state->kernel;

	if (!state->heir.has_timer)
		return;
	kernel->destroy(kernel->self, state->heir.timer);
	state->heir.has_timer = false;
	/* close is that of a child that never went on */
	bs->owner_pid = 0;
}
