/* SPDX-License-Identifier: MIT */
/*
 * A thread's CPU timer, and how much of its CPU time the session answers for.
 * Nothing here runs in signal context.
 */
#include "backends/timer/timer.h"

#include <errno.h>
#include <string.h>

/* ---- the account ---- */

/*
 * CPU time of a thread that the session answers for. Of a thread that is gone,
 * or gets no signal, only what its samples reach up to is known; the tail
 * after that is at most one resolution long, and taken to be so.
 */
static uint64_t answered_ns(const struct timer_state *state,
                            struct timer_thread *thread)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t now_ns, until = thread->seen_ns;
	bool is_there;

	if (!thread->has_timer || !thread->is_counted)
		return 0;
	is_there = kernel->thread_cpu(kernel->self, thread->tid, &now_ns) == 0;
	if (is_there && !thread->is_deaf && now_ns >= thread->base_ns)
		return now_ns - thread->base_ns;
	/* the last word of a handler after which no other comes */
	if (!is_there && atomic_load_explicit(&thread->ticks,
	                                      memory_order_acquire))
		until = thread->last_ns;
	if ((int64_t)(until - thread->base_ns) < 0)
		until = thread->base_ns;
	return until - thread->base_ns +
	       ppi_tick_rate_resolution_ns(&state->rate);
}

static void add_answered(const struct timer_state *state,
                         struct timer_thread *thread, uint64_t *sum,
                         double *variance)
{
	uint64_t ns = answered_ns(state, thread);

	*sum += ns;
	if (state->bs->plan->estimates_ends)
		*variance += ppi_tick_rate_variance(&state->rate, ns);
}

uint64_t ppi_timer_threads_attached_ns(struct timer_state *state,
                                       double *variance)
{
	uint64_t sum = state->attached_done_ns;

	*variance = state->variance_done;
	for (size_t i = 0; i < state->thread_count; i++)
		add_answered(state, state->threads[i], &sum, variance);
	return sum;
}

static void settle(struct timer_state *state, struct timer_thread *thread)
{
	add_answered(state, thread, &state->attached_done_ns,
	             &state->variance_done);
	thread->is_counted = false;
}

/* The thread is counted from its present CPU time on; `elapsed_ns` of it may
 * be counted already: all of a thread that has begun since start, and never
 * more than the time that has passed. */
static void begin_account(struct timer_state *state,
                          struct timer_thread *thread, uint64_t elapsed_ns)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t now_ns = 0;

	kernel->thread_cpu(kernel->self, thread->tid, &now_ns);
	thread->due_ns = now_ns;
	thread->base_ns = now_ns > elapsed_ns ? now_ns - elapsed_ns : 0;
	thread->last_ns = thread->seen_ns = thread->base_ns;
	thread->is_counted = true;
	thread->is_deaf = false;
}

/* ---- one thread's timer ---- */

/* What it used before it was met is its first sample's, too. How soon the handler
 * wants to be called: at each look, where those are counted. */
static uint64_t estimate_head(struct timer_state *state,
                              struct timer_thread *thread)
{
	thread->head = ppi_tick_rate_head(&state->rate, &state->random);
	thread->head.length_ns += thread->due_ns - thread->base_ns;
	thread->looked_ns = thread->due_ns;
	return thread->head.looks ? 1 : thread->head.first_ns;
}

/*
 * The first tick comes at random within a period: threads that live shorter
 * than one are then met as often as their CPU time deserves, and all threads
 * of a pool are not ticked in step. The handler sets the next; the interval is
 * for ticks that the program keeps from it.
 */
static int arm(struct timer_state *state, struct timer_thread *thread)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t first = state->bs->plan->estimates_ends
		? estimate_head(state, thread)
		: ppi_tick_rate_first(&state->rate, &state->random);

	thread->due_ns += first;
	thread->random = state->random;
	atomic_store_explicit(&thread->is_armed, true, memory_order_release);
	return kernel->set(kernel->self, thread->timer, first,
	                   state->rate.period_ns);
}

static void note_refusal(struct timer_state *state, int error)
{
	if (error == EAGAIN)
		ppi_note(state->bs, "some threads got no timer and are not "
		         "sampled: the limit of pending signals is reached; "
		         "raise it (ulimit -i) or use the itimer backend");
	else
		ppi_note(state->bs, "some threads got no timer and are not "
		         "sampled: %s", strerror(error));
}

/* Create the thread's timer. False when there is no such thread any more; one
 * that is refused keeps its entry and is tried again. */
static bool attach(struct timer_state *state, struct timer_thread *thread)
{
	const struct timer_kernel *kernel = state->kernel;

	if (state->is_at_limit)
		return true;
	if (kernel->create(kernel->self, thread->tid, state->signo, thread,
	                   &thread->timer) == 0) {
		thread->has_timer = true;
		return true;
	}
	state->refusal = errno;
	if (errno == EINVAL || errno == ESRCH)
		return false;
	state->is_at_limit = true;
	note_refusal(state, errno);
	return true;
}

static void detach(struct timer_state *state, struct timer_thread *thread)
{
	const struct timer_kernel *kernel = state->kernel;

	if (thread->has_timer)
		kernel->destroy(kernel->self, thread->timer);
	thread->has_timer = false;
}

bool ppi_timer_thread_take_up(struct timer_state *state,
                              struct timer_thread *thread)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t now_ns = kernel->now_ns(kernel->self);

	if (!attach(state, thread))
		return false;
	if (!thread->has_timer || !atomic_load(&state->is_ticking))
		return true;
	begin_account(state, thread, now_ns - state->began_ns);
	return arm(state, thread) == 0;
}

void ppi_timer_thread_let_go(struct timer_state *state,
                             struct timer_thread *thread)
{
	settle(state, thread);
	detach(state, thread);
}

int ppi_timer_thread_begin(struct timer_state *state,
                           struct timer_thread *thread)
{
	begin_account(state, thread, 0);
	return arm(state, thread);
}

/* ---- all timers at once ---- */

/* The thread may have ended since the last scan, and another may have its id
 * now: then the timer is made anew, or not at all. */
static int arm_existing(struct timer_state *state, struct timer_thread *thread)
{
	if (!thread->has_timer || arm(state, thread) == 0)
		return 0;
	if (errno != ESRCH)
		return -1;
	detach(state, thread);
	if (attach(state, thread) && thread->has_timer)
		return arm(state, thread);
	return 0;
}

portprof_status ppi_timer_threads_arm(struct timer_state *state,
                                      struct ppi_diag *why)
{
	for (size_t i = 0; i < state->thread_count; i++)
		begin_account(state, state->threads[i], 0);
	atomic_store(&state->is_ticking, true);
	for (size_t i = 0; i < state->thread_count; i++) {
		if (arm_existing(state, state->threads[i]) == 0)
			continue;
		ppi_fail(why, PORTPROF_E_SYSTEM, errno, "arm thread timers",
		         "the timer of thread %lld cannot be armed: %s",
		         (long long)state->threads[i]->tid, strerror(errno));
		ppi_timer_threads_disarm(state);
		return PORTPROF_E_SYSTEM;
	}
	return PORTPROF_OK;
}

void ppi_timer_threads_disarm(struct timer_state *state)
{
	const struct timer_kernel *kernel = state->kernel;

	atomic_store(&state->is_ticking, false);
	/* or it would set the timer again */
	ppi_timer_handler_wait(state);
	for (size_t i = 0; i < state->thread_count; i++) {
		struct timer_thread *thread = state->threads[i];

		if (thread->has_timer)
			kernel->set(kernel->self, thread->timer, 0, 0);
		settle(state, thread);
	}
}

void ppi_timer_threads_detach(struct timer_state *state)
{
	for (size_t i = 0; i < state->thread_count; i++)
		detach(state, state->threads[i]);
}

