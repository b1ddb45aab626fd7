/* SPDX-License-Identifier: MIT */
/*
 * A forked child of a recorded process goes on by the session that it has a copy
 * of: it sets the timer, which a fork does not inherit, and leaves samples in its
 * parent's area. Of the copy only what the handler reads is used.
 */
#include "backends/itimer/itimer.h"

/* The table is as it was when another thread may have been putting itself in:
 * that thread's slot is complete or not there. */
static bool begin_weights(struct itimer_state *state, int64_t pid)
{
	const struct itimer_kernel *kernel = state->kernel;
	struct itimer_slot *slot;
	uint64_t used_ns;
	bool is_new;

	if (kernel->process_cpu(kernel->self, &state->process_last_ns) != 0 ||
	    kernel->thread_cpu(kernel->self, 0, &used_ns) != 0)
		return false;
	slot = ppi_itimer_table_get(&state->table, (long)pid, &is_new);
	if (slot)
		slot->last_ns = used_ns;
	state->due_ns = state->base_ns = state->process_last_ns;
	state->began_ns = kernel->now_ns(kernel->self);
	return true;
}

bool ppi_itimer_heir_begin(struct ppi_backend_session *bs)
{
	struct itimer_state *state = bs->state;
	const struct itimer_kernel *kernel = state->kernel;
	int64_t pid = kernel->process_id(kernel->self);
	struct ppi_diag why;

	if (!bs->plan->area || state->is_displaced ||
	    !atomic_load(&state->is_ticking) || !begin_weights(state, pid))
		return false;
	/* whoever held them is a thread of the parent's */
	atomic_flag_clear(&state->is_being_read);
	atomic_flag_clear(&state->is_due_changing);
	ppi_itimer_handler_inherit(pid);
	state->heir_pid = pid;
	state->heir_samples = 0;
	/* children of one parent shall not be in step */
	state->random ^= (uint64_t)pid << 40;
	if (ppi_itimer_arm(state, &why) != PORTPROF_OK)
		return false;
	bs->owner_pid = pid;
	return true;
}

void ppi_itimer_heir_sign(struct itimer_state *state, struct ppi_tick *tick)
{
	if (!state->heir_pid)
		return;
	tick->pid = (int32_t)state->heir_pid;
	tick->squares = ppi_tick_rate_squares(
		&state->rate, atomic_fetch_add(&state->heir_samples, 1));
}

void ppi_itimer_heir_end(struct ppi_backend_session *bs)
{
	struct itimer_state *state = bs->state;

	if (bs->owner_pid != state->heir_pid)
		return;
	ppi_itimer_disarm(state);
	/* close is that of a child that never went on */
	bs->owner_pid = 0;
}
