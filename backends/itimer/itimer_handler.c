/* SPDX-License-Identifier: MIT */
/*
 * The SIGPROF handler of the itimer backend.
 *
 * Reached in signal context, and nothing else:
 *   handle_tick, is_tick, record_tick, put, is_due, begin_weights,
 *   weigh_by_thread, weigh_by_process, pass_on, sign_as_heir (here)
 *   ppi_itimer_table_get, ppi_itimer_arm_next,
 *   ppi_label_now, ppi_otel_thread_set, ppi_label_of_heir,
 *   ppi_tick_rate_squares, ppi_gate_enter, ppi_gate_leave,
 *   ppi_tick_ring_put, ppi_tick_rate_due, ppi_context_pc
 *   kernel->thread_id: gettid(2); now_ns, thread_cpu, process_cpu:
 *   clock_gettime(2); set: setitimer(2), which no standard allows here, and which
 *   is a bare system call in every C library that we know
 *   kernel->action, raise_again: sigaction(2), raise(3); for signals that are
 *   not ours, and forward: the program's own handler, where it is known
 * No lock, no memory, no stdio, no loader, no thread-local storage.
 */
#include "config.h"

#include "backends/itimer/itimer.h"
#include "base/label_store.h"
#include "base/otel_thread.h"
#include "base/signal_context.h"
#include "base/signals.h"

#include <errno.h>
#include <string.h>

/* A process has one ITIMER_PROF and one SIGPROF (LIFE-11). Static, because a
 * handler may run after its session has gone. */
static struct ppi_gate gate;

/* ---- in signal context ---- */

static bool put(struct itimer_state *state, const struct ppi_tick *tick,
                const void *context)
{
	return ppi_tick_ring_put(&state->ring, tick,
	                         tick->tid == state->bs->owner_pid, context);
}

/*
 * All CPU time of the thread since its last tick. One that is met for the
 * first time began after start, since start put in all there were: it is
 * weighed from its beginning on, and not more than the time since start. A
 * clock behind its last value is that of a new thread with an old id.
 */
static bool weigh_by_thread(struct itimer_state *state, struct ppi_tick *tick,
                            struct itimer_slot **slot, uint64_t *reached_ns)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t elapsed = tick->time_ns - state->began_ns;
	bool is_new;

	if (kernel->thread_cpu(kernel->self, 0, reached_ns) != 0)
		return false;
	*slot = ppi_itimer_table_get(&state->table, (long)tick->tid, &is_new);
	if (!*slot) {
		atomic_fetch_add(&state->crowded, 1);
		return false;
	}
	if (is_new && *reached_ns > elapsed)
		(*slot)->last_ns = *reached_ns - elapsed;
	if (*reached_ns < (*slot)->last_ns)
		(*slot)->last_ns = 0;
	tick->weight += *reached_ns - (*slot)->last_ns;
	return (int64_t)tick->weight > 0;
}

/* All CPU time of the process since the last tick of any thread. Of two ticks
 * at once one carries the weight of both; the other is not taken. */
static bool weigh_by_process(struct itimer_state *state, struct ppi_tick *tick,
                             const void *context)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t now_ns;
	bool is_taken = false;

	if (kernel->process_cpu(kernel->self, &now_ns) != 0 ||
	    atomic_flag_test_and_set(&state->is_being_read))
		return false;
	if (now_ns > state->process_last_ns) {
		tick->weight += now_ns - state->process_last_ns;
		is_taken = put(state, tick, context);
	}
	if (is_taken)
		state->process_last_ns = now_ns;
	atomic_flag_clear(&state->is_being_read);
	return is_taken;
}

/* What the first sample weighs more than the time since the start: with that it
 * stands for a whole period, and for what passed in a long call of the kernel
 * since. May be below 0, and wraps. */
static uint64_t begin_weights(struct itimer_state *state, uint64_t now_ns)
{
	uint64_t late_ns = now_ns - state->due_ns;
	uint64_t extra_ns = state->length_ns - (now_ns - state->base_ns);

	state->length_ns = 0;
	if (state->rate.spread_ns && late_ns > state->rate.tick_ns)
		extra_ns += late_ns - state->rate.tick_ns;
	return extra_ns;
}

/*
 * The timer runs on CPU time as it is charged, a whole tick at a time to
 * the thread that it meets (task_sample_cputime, linux/kernel/time/
 * posix-cpu-timers.c): a busy program among short ones is charged more than it
 * uses, and ticked more often. What comes before the process's exact clock
 * says that a period is over is left out; its weight is in the next sample.
 */
static bool is_due(struct itimer_state *state, uint64_t *extra_ns)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t now_ns;
	bool is_so;

	if (kernel->process_cpu(kernel->self, &now_ns) != 0 ||
	    atomic_flag_test_and_set(&state->is_due_changing))
		return true;
	is_so = now_ns >= state->due_ns;
	if (is_so && state->length_ns)
		*extra_ns = begin_weights(state, now_ns);
	if (is_so && state->rate.spread_ns)
		state->due_ns = ppi_tick_rate_due(&state->rate, state->due_ns,
		                                  now_ns, &state->random);
	else if (is_so)
		state->due_ns += state->rate.period_ns;
	if (state->rate.spread_ns)
		ppi_itimer_arm_next(state, state->due_ns > now_ns
		                       ? state->due_ns - now_ns : 0);
	atomic_flag_clear(&state->is_due_changing);
	return is_so;
}

/* Where this is one, its next tick says whose it is. Async-signal-safe. */
static void sign_as_heir(struct itimer_state *state, struct ppi_tick *tick)
{
	if (!state->heir_pid)
		return;
	tick->pid = (int32_t)state->heir_pid;
	tick->label_set = ppi_label_of_heir(tick->label_set);
	tick->squares = ppi_tick_rate_squares(
		&state->rate, atomic_fetch_add(&state->heir_samples, 1));
}

/* A tick that finds no room in the ring leaves last_ns alone, and the thread's
 * next sample carries its weight (LOSS-4). */
static void record_tick(struct itimer_state *state, const void *context)
{
	const struct itimer_kernel *kernel = state->kernel;
	struct ppi_tick tick = { .pc = ppi_context_pc(context),
		                 .time_ns = kernel->now_ns(kernel->self),
		                 .tid = kernel->thread_id(kernel->self) };
	struct itimer_slot *slot;
	uint64_t reached_ns;

	if (!is_due(state, &tick.weight))
		return;
	tick.label_set = ppi_label_now(tick.tid);
	if (!tick.label_set)
		tick.label_set = ppi_otel_thread_set();
	sign_as_heir(state, &tick);
	if (!state->is_by_thread)
		weigh_by_process(state, &tick, context);
	else if (weigh_by_thread(state, &tick, &slot, &reached_ns) &&
	         put(state, &tick, context))
		slot->last_ns = reached_ns;
}

static void handle_tick(int signo, siginfo_t *info, void *context);

/*
 * Somebody else sent SIGPROF. Where the program's own handler is known it is
 * called. Else what the signal did before, it does now: nothing, or the end of
 * the process; unless another handler stands over ours and only passed the
 * signal on to us.
 */
static void pass_on(const struct itimer_kernel *kernel, bool is_ignored,
                    siginfo_t *info, void *context)
{
	struct sigaction now, ending;

	if (kernel->forward(kernel->self, info, context) || is_ignored ||
	    kernel->action(kernel->self, NULL, &now) != 0 ||
	    now.sa_sigaction != handle_tick)
		return;
	memset(&ending, 0, sizeof(ending));
	ending.sa_handler = SIG_DFL;
	kernel->action(kernel->self, &ending, NULL);
	kernel->raise_again(kernel->self);
}

static void handle_tick(int signo, siginfo_t *info, void *context)
{
	int kept_errno = errno;
	struct itimer_state *state = ppi_gate_enter(&gate);
	const struct itimer_kernel *foreign = NULL;
	bool is_ignored = false;

	(void)signo;
	if (state && !state->kernel->is_tick(state->kernel->self, info)) {
		foreign = state->kernel;
		is_ignored = state->before.sa_handler == SIG_IGN;
	} else if (state && atomic_load(&state->is_ticking)) {
		record_tick(state, context);
	}
	ppi_gate_leave(&gate);
	errno = kept_errno;
	if (foreign)
		pass_on(foreign, is_ignored, info, context);
	errno = kept_errno;
}

/* For code that takes signals from the system without a handler. */
static bool is_tick(int signo, const siginfo_t *info)
{
	struct itimer_state *state = ppi_gate_enter(&gate);
	bool is_so = state && state->kernel->is_tick(state->kernel->self, info);

	(void)signo;
	ppi_gate_leave(&gate);
	return is_so;
}

/* ---- in normal context ---- */

/* All signals are blocked in the handler; the C library's own for cancelling
 * threads, too, which sigfillset leaves out: a thread that is cancelled inside
 * would never leave the gate. */
static struct sigaction our_action(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handle_tick;
	action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	memset(&action.sa_mask, 0xff, sizeof(action.sa_mask));
	return action;
}

static bool is_our_handler(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) &&
	       action->sa_sigaction == handle_tick;
}

static bool is_nobodys(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) &&
	       (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
}

static portprof_status refuse_second(struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_BUSY, 0, "take SIGPROF",
	                "another session of this process uses the profiling "
	                "timer; close it first" ITIMER_ELSE);
}

static portprof_status refuse_handler(struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_BUSY, 0, "take SIGPROF",
	                "the program has a handler for SIGPROF (is it built "
	                "with -pg, or does another profiler run?); remove it"
	                ITIMER_ELSE);
}

static portprof_status refuse_system(struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_SYSTEM, errno, "take SIGPROF",
	                "the handler for SIGPROF cannot be set: %s",
	                strerror(errno));
}

/* Our own handler, with nobody at the gate, is left from the session of the
 * process that forked us: what was before it is what counts. */
static portprof_status install(struct itimer_state *state,
                               struct ppi_diag *why)
{
	const struct itimer_kernel *kernel = state->kernel;
	struct sigaction ours = our_action();

	if (kernel->action(kernel->self, NULL, &state->before) != 0)
		return refuse_system(why);
	if (is_our_handler(&state->before)) {
		memset(&state->before, 0, sizeof(state->before));
		state->before.sa_handler = SIG_DFL;
	}
	if (!is_nobodys(&state->before))
		return refuse_handler(why);
	if (kernel->action(kernel->self, &ours, NULL) != 0)
		return refuse_system(why);
	return PORTPROF_OK;
}

portprof_status ppi_itimer_handler_install(struct itimer_state *state,
                                           struct ppi_diag *why)
{
	portprof_status status;

	if (!ppi_gate_take(&gate, state, state->bs->owner_pid))
		return refuse_second(why);
	status = install(state, why);
	if (status)
		ppi_gate_clear(&gate);
	else
		ppi_signal_share.is_tick[SIGPROF] = is_tick;
	return status;
}

bool ppi_itimer_handler_is_ours(const struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;
	struct sigaction now;

	return kernel->action(kernel->self, NULL, &now) != 0 ||
	       is_our_handler(&now);
}

/* In a forked child whose copy of the session continues. */
static void inherit_handler(int64_t pid)
{
	ppi_gate_inherit(&gate, pid);
}

void ppi_itimer_handler_wait(struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;

	while (!ppi_gate_is_quiet(&gate))
		kernel->pause(kernel->self);
}

/*
 * A tick may still be pending, and the default action of SIGPROF ends the
 * process, or the program that comes by exec: ignoring it first throws it away
 * (do_sigaction in linux/kernel/signal.c; POSIX.1-2017, 2.4.3).
 */
static void flush_to(const struct itimer_state *state,
                     const struct sigaction *action)
{
	const struct itimer_kernel *kernel = state->kernel;
	struct sigaction ignore;

	if (!ppi_itimer_handler_is_ours(state))
		return;
	memset(&ignore, 0, sizeof(ignore));
	ignore.sa_handler = SIG_IGN;
	kernel->action(kernel->self, &ignore, NULL);
	kernel->action(kernel->self, action, NULL);
}

void ppi_itimer_handler_flush(const struct itimer_state *state)
{
	struct sigaction ours = our_action();

	flush_to(state, &ours);
}

void ppi_itimer_handler_yield(const struct itimer_state *state)
{
	flush_to(state, &state->before);
}

portprof_status ppi_itimer_handler_retake(struct itimer_state *state,
                                          struct ppi_diag *why)
{
	portprof_status status;

	if (ppi_itimer_handler_is_ours(state))
		return PORTPROF_OK;
	status = install(state, why);
	if (status != PORTPROF_E_BUSY)
		return status;
	return ppi_fail(why, status, 0, "start",
	                "the program has taken SIGPROF for itself since the "
	                "session was opened; remove its handler" ITIMER_ELSE);
}

void ppi_itimer_handler_remove(struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;
	bool is_child = kernel->process_id(kernel->self) !=
	                state->bs->owner_pid;

	/* in a child that has a session of its own the handler is that one's */
	if (atomic_load(&gate.guest) != state)
		return;
	flush_to(state, &state->before);
	ppi_gate_clear(&gate);
	if (!is_child)
		ppi_itimer_handler_wait(state);
}

/* ---- a forked child ---- */

/*
 * A forked child of a recorded process continues the session that it has a copy
 * of: it sets the timer, which a fork does not inherit, and leaves samples in its
 * parent's area. Of the copy only what the handler reads is used.
 */

/* The table is as it was when another thread may have been putting itself in:
 * that thread's slot is complete or not there. */
static bool begin_heir_weights(struct itimer_state *state, int64_t pid)
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
	    !atomic_load(&state->is_ticking) || !begin_heir_weights(state, pid))
		return false;
	/* a thread of the parent's held them */
	atomic_flag_clear(&state->is_being_read);
	atomic_flag_clear(&state->is_due_changing);
	inherit_handler(pid);
	state->heir_pid = pid;
	state->heir_samples = 0;
	/* children of one parent shall not be in step */
	state->random ^= (uint64_t)pid << 40;
	if (ppi_itimer_arm(state, &why) != PORTPROF_OK)
		return false;
	bs->owner_pid = pid;
	return true;
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
