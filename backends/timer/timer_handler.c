/* SPDX-License-Identifier: MIT */
/*
 * The signal handler of the timer backend, and the signal it lives on.
 *
 * Reached in signal context, and nothing else:
 *   handle_tick, record_tick, is_too_early, set_next, find_thread, is_tick,
 *   pass_on, sign_as_heir (here)
 *   ppi_label_now, ppi_otel_thread_set, ppi_label_of_heir,
 *   ppi_tick_rate_squares, ppi_gate_enter, ppi_gate_leave,
 *   ppi_tick_ring_put, ppi_context_pc,
 *   ppi_tick_rate_due
 *   kernel->thread_cpu, now_ns: clock_gettime(2); set: timer_settime(2)
 *   kernel->action, raise_again: sigaction(2), raise(3); for signals that are
 *   not ours, and forward: the program's own handler, where it is known
 * No lock, no memory, no stdio, no loader: open and start call what a tick of
 * ours needs in normal context, so that even lazily bound names are bound. No
 * thread-local storage: the kernel brings a pointer to the thread's entry.
 */
#include "backends/timer/timer.h"
#include "base/label_store.h"
#include "base/otel_thread.h"
#include "base/signal_context.h"
#include "base/signals.h"

#include <errno.h>
#include <string.h>

/* The signals of all sessions of the process; one session has one (LIFE-11).
 * Static, because a handler may run after its session has gone. */
enum { SIGNALS_MAX = 256 };
static struct ppi_gate gates[SIGNALS_MAX];

/* The entry that the tick names, if it is one: a signal with any pointer in
 * anybody can send it. */
static struct timer_thread *find_thread(struct timer_state *state,
                                        const void *tag)
{
	unsigned count = atomic_load(&state->chunk_count);
	uintptr_t address = (uintptr_t)tag;

	if (tag == &state->heir)
		return &state->heir;
	for (unsigned i = 0; i < count; i++) {
		uintptr_t first = (uintptr_t)state->chunks[i];
		uintptr_t bytes = ((uintptr_t)TIMER_FIRST_CHUNK << i) *
		                  sizeof(struct timer_thread);

		if (address >= first && address - first < bytes &&
		    (address - first) % sizeof(struct timer_thread) == 0)
			return (struct timer_thread *)address;
	}
	return NULL;
}

/* A timer that is due already is set all the same, to its shortest. */
static void set_next(const struct timer_state *state,
                     struct timer_thread *thread, uint64_t cpu_ns)
{
	const struct timer_kernel *kernel = state->kernel;

	if (!state->rate.spread_ns)
		return;
	thread->due_ns = ppi_tick_rate_due(&state->rate, thread->due_ns, cpu_ns,
	                                   &thread->random);
	kernel->set(kernel->self, thread->timer,
	            thread->due_ns > cpu_ns ? thread->due_ns - cpu_ns : 1,
	            state->rate.period_ns);
}

/*
 * A look of the kernel's before the first sample, or the one that takes it: that
 * weighs a whole period, and what passed in a long call of the kernel, which hides
 * looks. due_ns and last_ns may be below 0 then, and wrap. True: not yet.
 */
static bool is_too_early(const struct timer_state *state,
                         struct timer_thread *thread, uint64_t cpu_ns)
{
	uint64_t tick_ns = state->rate.tick_ns, looks = 1, late_ns;
	struct ppi_tick_head *head = &thread->head;

	if (tick_ns && (cpu_ns - thread->looked_ns) / tick_ns > 1)
		looks = (cpu_ns - thread->looked_ns) / tick_ns;
	thread->looked_ns = cpu_ns;
	if (looks < head->looks) {
		head->looks -= looks;
		head->first_ns -= looks * tick_ns;
		state->kernel->set(state->kernel->self, thread->timer, 1,
		                   state->rate.period_ns);
		return true;
	}
	if (head->looks)
		head->length_ns += (looks - head->looks) * tick_ns;
	late_ns = head->looks * tick_ns - head->first_ns;
	thread->due_ns = head->looks ? cpu_ns - late_ns : thread->due_ns;
	thread->last_ns = cpu_ns - head->length_ns;
	head->length_ns = 0;
	return false;
}

/* Its next tick says whose it is. Async-signal-safe. */
static void sign_as_heir(const struct timer_state *state, struct ppi_tick *tick)
{
	tick->pid = (int32_t)state->heir_pid;
	tick->label_set = ppi_label_of_heir(tick->label_set);
	tick->squares = ppi_tick_rate_squares(&state->rate,
	                                      atomic_load(&state->heir.ticks));
}

/*
 * The tick stands for all CPU time of the thread since its last one, so the
 * overrun count is not needed: it tells the same in units of the period. A
 * tick that finds no room leaves last_ns alone, and the thread's next sample
 * carries its weight (LOSS-4).
 */
static void record_tick(struct timer_state *state, struct timer_thread *thread,
                        const void *context)
{
	const struct timer_kernel *kernel = state->kernel;
	struct ppi_tick tick = { .pc = ppi_context_pc(context),
		                 .time_ns = kernel->now_ns(kernel->self),
		                 .tid = thread->tid,
		                 .label_set = ppi_label_now(thread->tid) };
	uint64_t cpu_ns;

	if (kernel->thread_cpu(kernel->self, 0, &cpu_ns) != 0 ||
	    (thread->head.length_ns && is_too_early(state, thread, cpu_ns)))
		return;
	set_next(state, thread, cpu_ns);
	if ((int64_t)(cpu_ns - thread->last_ns) <= 0)
		return;
	if (!tick.label_set)
		tick.label_set = ppi_otel_thread_set();
	tick.weight = cpu_ns - thread->last_ns;
	if (thread == &state->heir)
		sign_as_heir(state, &tick);
	if (ppi_tick_ring_put(&state->ring, &tick,
	                      tick.tid == state->bs->owner_pid, context))
		thread->last_ns = cpu_ns;
	atomic_fetch_add_explicit(&thread->ticks, 1, memory_order_release);
}

static void handle_tick(int signo, siginfo_t *info, void *context);

/*
 * Somebody else sent the signal. Where the program's own handler is known it
 * is called. Else: the signal had its default action when we took it, to end
 * the process. So be it, unless another handler stands over ours and only
 * passed the signal on to us, or it is a late tick of a session before us.
 */
static void pass_on(const struct timer_kernel *kernel, int signo,
                    siginfo_t *info, void *context)
{
	struct sigaction now, ending;

	if (kernel->forward(kernel->self, signo, info, context) ||
	    info->si_code == SI_TIMER ||
	    kernel->action(kernel->self, signo, NULL, &now) != 0 ||
	    now.sa_sigaction != handle_tick)
		return;
	memset(&ending, 0, sizeof(ending));
	ending.sa_handler = SIG_DFL;
	kernel->action(kernel->self, signo, &ending, NULL);
	kernel->raise_again(kernel->self, signo);
}

static void handle_tick(int signo, siginfo_t *info, void *context)
{
	int kept_errno = errno;
	struct ppi_gate *gate = &gates[signo];
	struct timer_state *state = ppi_gate_enter(gate);
	const struct timer_kernel *foreign = NULL;
	struct timer_thread *thread = NULL;

	if (state && info->si_code == SI_TIMER)
		thread = find_thread(state, info->si_value.sival_ptr);
	if (state && !thread)
		foreign = state->kernel;
	if (thread && atomic_load(&state->is_ticking) &&
	    atomic_load_explicit(&thread->is_armed, memory_order_acquire))
		record_tick(state, thread, context);
	ppi_gate_leave(gate);
	errno = kept_errno;
	if (foreign)
		pass_on(foreign, signo, info, context);
	errno = kept_errno;
}

/* For code that takes signals from the system without a handler. */
static bool is_tick(int signo, const siginfo_t *info)
{
	struct timer_state *state = ppi_gate_enter(&gates[signo]);
	bool is_so = state && info->si_code == SI_TIMER &&
	             find_thread(state, info->si_value.sival_ptr);

	ppi_gate_leave(&gates[signo]);
	return is_so;
}

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

static bool has_default_action(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) &&
	       action->sa_handler == SIG_DFL;
}

/* Put the handler there, unless somebody was quicker. */
static int install(struct timer_state *state, int signo)
{
	const struct timer_kernel *kernel = state->kernel;
	struct sigaction ours = our_action();

	if (kernel->action(kernel->self, signo, &ours, &state->before) != 0)
		return -1;
	if (has_default_action(&state->before))
		return 0;
	kernel->action(kernel->self, signo, &state->before, NULL);
	errno = 0;
	return -1;
}

/* Take `signo` if nobody uses it. 0, or -1 with errno; errno 0: it is used. */
static int try_signal(struct timer_state *state, int signo)
{
	const struct timer_kernel *kernel = state->kernel;

	errno = 0;
	if (kernel->action(kernel->self, signo, NULL, &state->before) != 0)
		return -1;
	if (!has_default_action(&state->before) ||
	    !ppi_gate_take(&gates[signo], state, state->bs->owner_pid))
		return -1;
	if (install(state, signo) != 0) {
		ppi_gate_clear(&gates[signo]);
		return -1;
	}
	state->signo = signo;
	if (signo < PPI_SHARED_SIGNALS)
		ppi_signal_share.is_tick[signo] = is_tick;
	return 0;
}

static unsigned count_sessions(int first, int last)
{
	unsigned count = 0;

	for (int signo = first; signo <= last; signo++)
		count += atomic_load(&gates[signo].guest) != NULL;
	return count;
}

static portprof_status refuse_asked(int signo, struct ppi_diag *why)
{
	bool is_ours = atomic_load(&gates[signo].guest) != NULL;

	return ppi_fail(why, PORTPROF_E_BUSY, 0, "install signal handler",
	                "signal %d, which the event asks for, %s; ask for "
	                "another, or for none", signo,
	                is_ours ? "is used by another timer session" :
	                          "has a handler of the program, or is "
	                          "ignored");
}

portprof_status ppi_timer_handler_install(struct timer_state *state,
                                          struct ppi_diag *why)
{
	const struct timer_kernel *kernel = state->kernel;
	int first, last;

	kernel->signal_range(kernel->self, &first, &last);
	if (last >= SIGNALS_MAX)
		last = SIGNALS_MAX - 1;
	if (state->asked_signo)
		first = last = state->asked_signo;
	for (int signo = last; signo >= first; signo--) {
		if (try_signal(state, signo) == 0)
			return PORTPROF_OK;
		if (errno)
			return ppi_fail(why, PORTPROF_E_SYSTEM, errno,
			                "install signal handler",
			                "signal %d cannot be taken: %s",
			                signo, strerror(errno));
	}
	if (state->asked_signo)
		return refuse_asked(state->asked_signo, why);
	if (count_sessions(first, last) > 0)
		return ppi_fail(why, PORTPROF_E_BUSY, 0,
		                "install signal handler",
		                "all real-time signals (%d to %d) are in use, "
		                "%u of them by timer sessions of this process; "
		                "close one, or use the perf backend",
		                first, last, count_sessions(first, last));
	return ppi_fail(why, PORTPROF_E_BUSY, 0, "install signal handler",
	                "the program has a handler for every real-time signal "
	                "(%d to %d), and the timer backend needs one; free "
	                "one, or use the itimer backend", first, last);
}

bool ppi_timer_handler_is_ours(const struct timer_state *state)
{
	const struct timer_kernel *kernel = state->kernel;
	struct sigaction now;

	return kernel->action(kernel->self, state->signo, NULL, &now) != 0 ||
	       ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handle_tick);
}

/* In a forked child whose copy of the session continues. */
static void inherit_handler(const struct timer_state *state)
{
	ppi_gate_inherit(&gates[state->signo], state->heir_pid);
}

void ppi_timer_handler_wait(struct timer_state *state)
{
	const struct timer_kernel *kernel = state->kernel;

	while (!ppi_gate_is_quiet(&gates[state->signo]))
		kernel->pause(kernel->self);
}

/*
 * A tick may still be on its way: the default action would end the process.
 * Ignoring the signal first throws away what is pending in any thread
 * (signal(7); do_sigaction in linux/kernel/signal.c).
 */
static void restore_action(const struct timer_state *state)
{
	const struct timer_kernel *kernel = state->kernel;
	struct sigaction ignore;

	if (!ppi_timer_handler_is_ours(state))
		return;
	memset(&ignore, 0, sizeof(ignore));
	ignore.sa_handler = SIG_IGN;
	kernel->action(kernel->self, state->signo, &ignore, NULL);
	kernel->action(kernel->self, state->signo, &state->before, NULL);
}

/* Of the displaced signal only the gate is ours any more. */
portprof_status ppi_timer_handler_renew(struct timer_state *state,
                                        struct ppi_diag *why)
{
	struct ppi_gate *gate = &gates[state->signo];

	if (atomic_load(&gate->guest) == state)
		ppi_gate_clear(gate);
	ppi_timer_handler_wait(state);
	return ppi_timer_handler_install(state, why);
}

void ppi_timer_handler_remove(struct timer_state *state)
{
	const struct timer_kernel *kernel = state->kernel;
	struct ppi_gate *gate = &gates[state->signo];
	bool is_child = kernel->process_id(kernel->self) !=
	                state->bs->owner_pid;

	/* nothing is ours after a renewal that failed */
	if (atomic_load(&gate->guest) != state)
		return;
	restore_action(state);
	ppi_gate_clear(gate);
	if (!is_child)
		ppi_timer_handler_wait(state);
}

/* ---- a forked child ---- */

/*
 * A forked child of a recorded process continues the session that it has a copy
 * of: one timer for its only thread, and samples into its parent's area. So a
 * child costs a few system calls, and no thread. Of the copy only what the handler
 * reads is used: the helper thread may have been at work on the rest.
 */

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
	inherit_handler(state);
	if (ppi_timer_thread_begin(state, thread) != 0) {
		ppi_timer_heir_end(bs);
		return false;
	}
	return true;
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
