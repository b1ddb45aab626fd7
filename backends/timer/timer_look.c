/* SPDX-License-Identifier: MIT */
/*
 * What the timer backend looks at now and then while it samples: the target's
 * CPU clock, new threads, threads that hear no signal, our handler.
 */
#include "backends/timer/timer.h"

#include <string.h>

/* How often to look for new threads: while there are some, while the process
 * works, while it sleeps; and looking takes at most the SCAN_SHARE-th part of
 * the time. */
enum {
	SCAN_FRESH_MS = TIMER_SCAN_MS,
	SCAN_BUSY_MS = 20,
	SCAN_IDLE_MS = 250,
	SCAN_SHARE = 100,
	BUSY_NS = 50000 /* less CPU time than that is none */
};

/* A thread that got no tick in that much CPU time blocks our signal. */
enum { DEAF_NS = 100000000, DEAF_TICKS = 10 };

#define NS_PER_MS UINT64_C(1000000)
#define WATCH_NS UINT64_C(1000000000)

int ppi_timer_clock_read(const struct timer_state *state, uint64_t *ns)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t own = 0;

	if (state->only_tid)
		return kernel->thread_cpu(kernel->self, state->only_tid, ns);
	if (kernel->process_cpu(kernel->self, ns) != 0)
		return -1;
	if (state->bs->helper_tid)
		kernel->thread_cpu(kernel->self, state->bs->helper_tid, &own);
	*ns = *ns > own ? *ns - own : 0;
	return 0;
}

/*
 * The process's clock takes what other running threads have used since their
 * last tick only when their own clocks are read (thread_group_cputime and
 * task_sched_runtime, linux/kernel/sched): look at those first.
 */
void ppi_timer_clock_freshen(const struct timer_state *state)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t unused;

	for (size_t i = 0; i < state->thread_count; i++)
		kernel->thread_cpu(kernel->self, state->threads[i]->tid,
		                   &unused);
}

/* The clock of a single thread ends with it: then the last reading counts. */
int ppi_timer_clock_see(struct timer_state *state)
{
	uint64_t now_ns = 0;
	int result = ppi_timer_clock_read(state, &now_ns);

	ppi_meter_see(&state->meter, result == 0, now_ns);
	return result;
}

static void watch(struct timer_state *state, struct timer_thread *thread)
{
	const struct timer_kernel *kernel = state->kernel;
	unsigned ticks = atomic_load_explicit(&thread->ticks,
	                                      memory_order_acquire);
	uint64_t patience = DEAF_TICKS * ppi_tick_rate_resolution_ns(&state->rate);
	uint64_t now_ns;

	if (patience < DEAF_NS)
		patience = DEAF_NS;
	if (!thread->has_timer ||
	    kernel->thread_cpu(kernel->self, thread->tid, &now_ns) != 0)
		return;
	if (ticks != thread->seen_ticks) {
		thread->seen_ticks = ticks;
		thread->seen_ns = now_ns;
		thread->is_deaf = false;
	} else if (now_ns > thread->seen_ns + patience && !thread->is_deaf) {
		thread->is_deaf = true;
		ppi_note(state->bs, "some threads (one is %lld) block signal "
		         "%d and are not sampled: let them unblock it, or use "
		         "the perf backend", (long long)thread->tid,
		         state->signo);
	}
}

static void watch_threads(struct timer_state *state)
{
	for (size_t i = 0; i < state->thread_count; i++)
		watch(state, state->threads[i]);
}

portprof_status ppi_timer_change_signal(struct timer_state *state,
                                        struct ppi_diag *why)
{
	portprof_status status;
	size_t fresh;

	ppi_timer_threads_detach(state);
	status = ppi_timer_handler_renew(state, why);
	if (status == PORTPROF_OK)
		status = ppi_timer_threads_scan(state, &fresh, why);
	return status;
}

/* What comes until stop is CPU time of threads that are not attached. */
static void end_early(struct timer_state *state, int lost)
{
	state->is_displaced = true;
	ppi_note(state->bs, "sampling ended early: the program has installed "
	         "its own handler for signal %d, which was free when the "
	         "session was opened, and no other signal is %s", lost,
	         state->asked_signo ? "allowed" : "free");
}

/*
 * Until now ticks of ours may have come to the program's handler. The timers
 * of the lost signal are deleted, and others made.
 */
static void yield_signal(struct timer_state *state)
{
	struct ppi_diag why;
	int lost = state->signo;

	ppi_timer_threads_disarm(state);
	if (ppi_timer_change_signal(state, &why) != PORTPROF_OK ||
	    ppi_timer_threads_arm(state, &why) != PORTPROF_OK) {
		end_early(state, lost);
		return;
	}
	ppi_note(state->bs, "the program has installed its own handler for "
	         "signal %d, which was free when the session was opened: "
	         "sampling continues with signal %d", lost, state->signo);
}

/* New threads are looked for often where some have just come, because their
 * CPU time is not sampled before they are found; but not at any price. */
static void pace(struct timer_state *state, size_t fresh, uint64_t used_ns,
                 uint64_t cost_ns)
{
	struct ppi_backend_session *bs = state->bs;
	uint64_t least_ms = cost_ns * SCAN_SHARE / NS_PER_MS;
	uint64_t ms = fresh ? SCAN_FRESH_MS :
	              used_ns > BUSY_NS ? SCAN_BUSY_MS :
	                                  2u * bs->drain_every_ms;

	if (ms < least_ms)
		ms = least_ms;
	bs->drain_every_ms = ms < SCAN_IDLE_MS ? (unsigned)ms : SCAN_IDLE_MS;
}

void ppi_timer_look_around(struct timer_state *state)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t before_ns = state->meter.seen_ns;
	uint64_t begun_ns = kernel->now_ns(kernel->self), ended_ns;
	struct ppi_diag why;
	size_t fresh = 0;

	if (!ppi_timer_handler_is_ours(state))
		yield_signal(state);
	if (state->is_displaced)
		return;
	if (ppi_timer_threads_scan(state, &fresh, &why) != PORTPROF_OK)
		ppi_note(state->bs, "new threads may not be sampled: %s",
		         why.words);
	if (begun_ns >= state->next_watch_ns) {
		watch_threads(state);
		state->next_watch_ns = begun_ns + WATCH_NS;
	}
	ppi_timer_clock_see(state);
	ended_ns = kernel->now_ns(kernel->self);
	pace(state, fresh, state->meter.seen_ns - before_ns,
	     ended_ns - begun_ns);
	state->next_scan_ns = ended_ns + NS_PER_MS;
}
