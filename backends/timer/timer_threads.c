/* SPDX-License-Identifier: MIT */
/*
 * Threads of the timer backend: their CPU timers, how much of their CPU time the
 * session answers for, which threads there are, and what is looked at now and
 * then. They are found by looking: existing ones at open and start, new ones
 * while draining; so no call of the program needs to be wrapped, and threads of
 * a raw clone(2) are met, too. Nothing here runs in signal context.
 */
#include "backends/timer/timer.h"

#include <errno.h>
#include <stdlib.h>
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

/* Create the thread's timer, and while ticking arm it at once. False when
 * there is no such thread any more. */
static bool take_up(struct timer_state *state,
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

/* Close the account of a thread that is gone, and delete its timer. */
static void let_go(struct timer_state *state,
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

/* ---- what is looked at now and then ---- */

/* While it samples: the target's CPU clock, new threads, threads that hear no
 * signal, our handler. */

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

/* ---- which threads there are ---- */

static bool add_chunk(struct timer_state *state)
{
	unsigned i = atomic_load(&state->chunk_count);
	size_t count = (size_t)TIMER_FIRST_CHUNK << i;
	struct timer_thread *chunk;

	if (i == TIMER_CHUNKS)
		return false;
	chunk = calloc(count, sizeof(*chunk));
	if (!chunk)
		return false;
	for (size_t j = 0; j < count; j++) {
		chunk[j].next_free = state->free;
		state->free = &chunk[j];
	}
	state->chunks[i] = chunk;
	atomic_store(&state->chunk_count, i + 1);
	return true;
}

static struct timer_thread *take_entry(struct timer_state *state, int64_t tid)
{
	struct timer_thread *thread;

	if (!state->free && !add_chunk(state))
		return NULL;
	thread = state->free;
	state->free = thread->next_free;
	atomic_store(&thread->is_armed, false);
	thread->tid = tid;
	thread->has_timer = thread->is_counted = thread->is_deaf = false;
	memset(&thread->head, 0, sizeof(thread->head));
	thread->base_ns = thread->last_ns = thread->seen_ns = 0;
	atomic_store(&thread->ticks, 0);
	thread->seen_ticks = 0;
	return thread;
}

/* Room in both arrays for `count` threads and the ones that come meanwhile. */
static bool make_room(struct timer_state *state, size_t count)
{
	size_t room = count + count / 2 + 16;
	struct timer_thread **threads;
	int64_t *tids;

	if (state->tid_room && count <= state->tid_room)
		return true;
	tids = realloc(state->tids, room * sizeof(*tids));
	if (!tids)
		return false;
	state->tids = tids;
	/* twice: the list that is, and the one being made from it */
	threads = calloc(2 * room, sizeof(struct timer_thread *));
	if (!threads)
		return false;
	if (state->thread_count)
		memcpy(threads, state->threads,
		       state->thread_count * sizeof(struct timer_thread *));
	free(state->threads);
	state->threads = threads;
	state->tid_room = room;
	return true;
}

static int compare_tids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Everybody but the helper thread (SAMPLE-9). */
static void sort_tids(struct timer_state *state, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (state->tids[i] != state->bs->helper_tid)
			state->tids[kept++] = state->tids[i];
	qsort(state->tids, kept, sizeof(*state->tids), compare_tids);
	state->tid_count = kept;
}

static portprof_status read_one(struct timer_state *state)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t unused;

	state->tids[0] = state->only_tid;
	state->tid_count = kernel->thread_cpu(kernel->self, state->only_tid,
	                                      &unused) == 0;
	return PORTPROF_OK;
}

static portprof_status refuse_list(struct ppi_diag *why)
{
	portprof_status status = errno == ENOMEM ? PORTPROF_E_NOMEM :
	                                           PORTPROF_E_SYSTEM;

	return ppi_fail(why, status, errno, "list threads",
	                "the threads of this process cannot be listed: %s%s",
	                strerror(errno),
	                errno == ENOENT ? "; mount /proc" : "");
}

static portprof_status read_tids(struct timer_state *state,
                                 struct ppi_diag *why)
{
	const struct timer_kernel *kernel = state->kernel;
	size_t count = state->tid_room;

	for (;;) {
		if (!make_room(state, count))
			return ppi_fail(why, PORTPROF_E_NOMEM, 0,
			                "list threads", "out of memory");
		if (state->only_tid)
			return read_one(state);
		if (kernel->threads(kernel->self, state->tids, state->tid_room,
		                    &count) != 0)
			return refuse_list(why);
		if (count <= state->tid_room) {
			sort_tids(state, count);
			return PORTPROF_OK;
		}
	}
}

static void forget(struct timer_state *state, struct timer_thread *thread)
{
	let_go(state, thread);
	thread->next_free = state->free;
	state->free = thread;
}

/* A new thread has got the id of one that ended between two scans: the timer
 * that belonged to that one has nothing left to run. */
static bool is_successor(const struct timer_state *state,
                         const struct timer_thread *thread)
{
	const struct timer_kernel *kernel = state->kernel;
	uint64_t left;

	return thread->has_timer && atomic_load(&state->is_ticking) &&
	       kernel->left(kernel->self, thread->timer, &left) == 0 &&
	       left == 0;
}

static struct timer_thread *adopt(struct timer_state *state, int64_t tid)
{
	struct timer_thread *thread = take_entry(state, tid);

	if (!thread) {
		state->refusal = ENOMEM;
		ppi_note(state->bs, "some threads are not sampled: out of "
		         "memory");
		return NULL;
	}
	if (take_up(state, thread))
		return thread;
	forget(state, thread);
	return NULL;
}

/* The same thread as before, its successor, or NULL. */
static struct timer_thread *review(struct timer_state *state,
                                   struct timer_thread *thread)
{
	int64_t tid = thread->tid;

	if (is_successor(state, thread)) {
		forget(state, thread);
		return adopt(state, tid);
	}
	if (thread->has_timer || take_up(state, thread))
		return thread;
	forget(state, thread);
	return NULL;
}

/* Walk both sorted lists and make the new one. Returns how many threads were
 * found that had not been there. */
static size_t merge(struct timer_state *state)
{
	struct timer_thread **old = state->threads;
	struct timer_thread **made = old + state->tid_room;
	size_t i = 0, j = 0, count = 0, fresh = 0;

	while (i < state->thread_count || j < state->tid_count) {
		struct timer_thread *thread = NULL;

		if (j == state->tid_count ||
		    (i < state->thread_count &&
		     old[i]->tid < state->tids[j])) {
			forget(state, old[i++]);
		} else if (i == state->thread_count ||
		           state->tids[j] < old[i]->tid) {
			thread = adopt(state, state->tids[j++]);
			fresh++;
		} else {
			thread = review(state, old[i++]);
			j++;
		}
		if (thread)
			made[count++] = thread;
	}
	memcpy(old, made, count * sizeof(struct timer_thread *));
	state->thread_count = count;
	return fresh;
}

portprof_status ppi_timer_threads_scan(struct timer_state *state, size_t *fresh,
                                       struct ppi_diag *why)
{
	portprof_status status = read_tids(state, why);

	*fresh = 0;
	if (status)
		return status;
	state->is_at_limit = false;
	*fresh = merge(state);
	return PORTPROF_OK;
}

void ppi_timer_threads_free(struct timer_state *state)
{
	unsigned chunks = atomic_load(&state->chunk_count);

	for (unsigned i = 0; i < chunks; i++)
		free(state->chunks[i]);
	free(state->threads);
	free(state->tids);
}
