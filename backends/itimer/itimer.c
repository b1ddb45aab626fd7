/* SPDX-License-Identifier: MIT */
/*
 * The itimer backend: ITIMER_PROF and SIGPROF, the fallback that exists
 * everywhere. One timer serves all threads: when several are busy, which of
 * them gets a tick is the kernel's choice, and is not fair everywhere.
 *
 *   itimer_handler.c      what happens at a tick, also in a forked child
 *   itimer_threads.c      CPU time of threads, of which ticks are weighed
 *   itimer_kernel_real.c  the system calls
 */
#include "config.h"

#include "backends/itimer/itimer.h"

#include "backends/common/cpu_time.h"
#include "base/signal_context.h"
#include "base/fork_guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ITIMER_PROF: whose it is, and setting it ---- */

/*
 * The program may set it at any moment, and the system does not say who did.
 * So our interval is one that nobody else has: a few per cent shorter than the
 * period, and an odd number of microseconds, by chance. (The handler leaves out
 * what comes before a period is over.) And whatever we set, the system tells
 * what was there at that moment: a timer that is not ours is put back.
 */

#define NS_PER_US UINT64_C(1000)

/* What is shorter would be no time, which stops the timer. */
#define SHORTEST_NS NS_PER_US

/* Below it there is no room for odd intervals. */
enum { SHORTEST_US = 64, SHARE = 16 };

static bool is_running(const struct itimer_value *value)
{
	return value->left_ns || value->every_ns;
}

static portprof_status refuse_busy(struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_BUSY, 0, "look at ITIMER_PROF",
	                "the program runs the profiling timer (ITIMER_PROF) "
	                "itself; stop it" ITIMER_ELSE);
}

/* E_BUSY when the timer runs: it would be the program's. */
static portprof_status require_free(const struct itimer_state *state,
                                    struct ppi_diag *why)
{
	const struct itimer_kernel *kernel = state->kernel;
	struct itimer_value now;

	if (kernel->get(kernel->self, &now) != 0)
		return ppi_fail(why, PORTPROF_E_SYSTEM, errno,
		                "look at ITIMER_PROF",
		                "the profiling timer cannot be read: %s",
		                strerror(errno));
	return is_running(&now) ? refuse_busy(why) : PORTPROF_OK;
}

static portprof_status refuse_timer(struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_SYSTEM, errno, "start",
	                "the profiling timer cannot be set: %s",
	                strerror(errno));
}

static uint64_t next_random(struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;

	state->random = (state->random + kernel->now_ns(kernel->self)) *
	                UINT64_C(6364136223846793005) + 1;
	if (!state->random)
		state->random = 1;
	return state->random >> 16;
}

static uint64_t odd_interval(struct itimer_state *state)
{
	uint64_t us = state->rate.period_ns / NS_PER_US;

	if (us < SHORTEST_US)
		return state->rate.period_ns;
	us -= 1 + next_random(state) % (us / SHARE);
	while (us % 2 == 0 || us % 5 == 0)
		us--;
	return us * NS_PER_US;
}

/* Linux adds a tick to what is asked, and so takes no process by its first look
 * (set_cpu_itimer, linux/kernel/time/itimer.c). */
static uint64_t estimate_head(struct itimer_state *state)
{
	struct ppi_tick_head head = ppi_tick_rate_head(&state->rate,
	                                               &state->random);
	uint64_t tick_ns = state->rate.tick_ns;

	if (head.first_ns > tick_ns + SHORTEST_NS)
		head.first_ns -= tick_ns;
	else
		head.first_ns = SHORTEST_NS;
	state->length_ns = head.length_ns;
	state->due_ns += head.first_ns;
	return head.first_ns;
}

/* The first tick at random within one period, so that no program that works
 * in step with its start is always met at the same place; the handler sets the
 * next. */
portprof_status ppi_itimer_arm(struct itimer_state *state, struct ppi_diag *why)
{
	const struct itimer_kernel *kernel = state->kernel;
	struct itimer_value ours = { .every_ns = odd_interval(state) };
	const struct itimer_value none = { 0, 0 };
	struct itimer_value before, now;

	next_random(state);
	if (state->bs->plan->estimates_ends) {
		ours.left_ns = estimate_head(state);
	} else if (state->rate.spread_ns) {
		ours.left_ns = ppi_tick_rate_first(&state->rate,
		                                   &state->random);
		state->due_ns += ours.left_ns;
	} else {
		ours.left_ns = 1 + next_random(state) % ours.every_ns;
	}
	if (kernel->set(kernel->self, &ours, &before))
		return refuse_timer(why);
	if (is_running(&before)) {
		kernel->set(kernel->self, &before, &now);
		return refuse_busy(why);
	}
	if (kernel->get(kernel->self, &now) == 0) {
		/* as the system shows it */
		state->every_ns = now.every_ns;
		return PORTPROF_OK;
	}
	refuse_timer(why);
	kernel->set(kernel->self, &none, &now);
	return PORTPROF_E_SYSTEM;
}

/* The program may have set it to its own liking meanwhile. */
static bool is_timer_ours(const struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;
	struct itimer_value now;

	return kernel->get(kernel->self, &now) != 0 ||
	       now.every_ns == state->every_ns;
}

/* False when the timer is not ours: it continues as it was. */
static bool replace(const struct itimer_state *state,
                    const struct itimer_value *next)
{
	const struct itimer_kernel *kernel = state->kernel;
	struct itimer_value before, unused;

	if (kernel->set(kernel->self, next, &before) != 0)
		return true;
	if (before.every_ns == state->every_ns)
		return true;
	kernel->set(kernel->self, &before, &unused);
	return false;
}

/* Begin the period again; false when the timer is the program's by now. */
static bool arm_again(const struct itimer_state *state)
{
	const struct itimer_value ours = { .left_ns = state->every_ns,
		                           .every_ns = state->every_ns };

	return replace(state, &ours);
}

void ppi_itimer_arm_next(const struct itimer_state *state, uint64_t left_ns)
{
	const struct itimer_value ours = {
		.left_ns = left_ns > SHORTEST_NS ? left_ns : SHORTEST_NS,
		.every_ns = state->every_ns
	};

	replace(state, &ours);
}

void ppi_itimer_disarm(struct itimer_state *state)
{
	const struct itimer_value none = { 0, 0 };

	atomic_store(&state->is_ticking, false);
	/* or it would set the timer again */
	ppi_itimer_handler_wait(state);
	if (is_timer_ours(state))
		replace(state, &none);
}

enum {
	LOOK_NS = 100000000, /* is all as it should be? */
	BUSY_NS = 50000,     /* less CPU time than that is none */
	STACKS_MS = 50       /* a ring of them holds five times that */
};

#define SWEEP_NS UINT64_C(1000000000)

#ifdef PPI_BACKEND_ITIMER
#define ITIMER_REAL_KERNEL (&ppi_itimer_kernel_real)
#else
#define ITIMER_REAL_KERNEL NULL
#endif

#define ITIMER_CAPS \
	(PORTPROF_CAP_SAMPLE | PORTPROF_CAP_EXACT_PC | \
	 PORTPROF_CAP_WHOLE_SPACE | PORTPROF_CAP_PID_TID | \
	 PORTPROF_CAP_TIME | PORTPROF_CAP_PROCESS | PORTPROF_CAP_EXCLUSIVE | \
	 PORTPROF_CAP_EXEC_SAFE | PPI_TICK_CHAINS)

static struct itimer_state *state_of(const struct ppi_backend_session *bs)
{
	return bs->state;
}

static const char exec_words[] =
	"exec keeps the profiling timer, which kills the next program: link "
	"this "
	"one with -lportprof-exec, or stop sessions before exec";

static void lack_exec_safe(struct ppi_probe *out)
{
	struct ppi_limit *limit = &out->limits[out->limit_count++];

	out->caps &= ~(uint64_t)PORTPROF_CAP_EXEC_SAFE;
	limit->caps = PORTPROF_CAP_EXEC_SAFE;
	limit->status = PORTPROF_E_UNSUPPORTED;
	snprintf(limit->words, sizeof(limit->words), "%s", exec_words);
}

/* Another session or a handler of the program's makes open fail with BUSY,
 * which is of this moment; probing finds what the system can do. */
static void itimer_probe(const void *seam, struct ppi_probe *out)
{
	const struct itimer_kernel *kernel = seam;
	struct itimer_value now;

	if (!ppi_context_has_pc()) {
		out->status = PORTPROF_E_UNSUPPORTED;
		snprintf(out->reason, sizeof(out->reason),
		         "the place of the program counter in signal frames is "
		         "unknown on this machine; portprof must be ported");
		return;
	}
	if (kernel->get(kernel->self, &now) != 0) {
		out->status = PORTPROF_E_UNSUPPORTED;
		out->os_errno = errno;
		snprintf(out->reason, sizeof(out->reason),
		         "there is no profiling timer: %s; use another "
		         "backend", strerror(errno));
		return;
	}
	if (kernel->try_set(kernel->self) != 0 && errno != EINVAL) {
		out->status = PORTPROF_E_DENIED;
		out->os_errno = errno;
		snprintf(out->reason, sizeof(out->reason),
		         "the profiling timer may not be set: %s; remove the "
		         "system call filter (seccomp) that forbids setitimer",
		         strerror(errno));
		return;
	}
	out->is_usable = true;
	out->caps = ITIMER_CAPS;
	out->status = PORTPROF_OK;
	ppi_ticks_probe_chains(out);
	if (!ppi_exec_guard_is_promised())
		lack_exec_safe(out);
}

static portprof_status itimer_resolve(const void *seam,
                                      const struct ppi_event_request *request,
                                      enum ppi_mode mode,
                                      struct ppi_event *event,
                                      struct ppi_diag *why)
{
	(void)seam;
	return ppi_cpu_time_resolve(request, mode,
	                            "CPU time, by the process's ITIMER_PROF",
	                            event, why);
}

/* ---- open ---- */

static portprof_status check_plan(const struct ppi_plan *plan,
                                  struct ppi_diag *why)
{
	if (plan->mode != PPI_SAMPLE || plan->event_count != 1)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open",
		                "the itimer backend samples one event at a "
		                "time" ITIMER_ELSE);
	if (plan->target.kind != PPI_TARGET_PROCESS)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open",
		                "the itimer backend samples its own process "
		                "as a whole: measure that" ITIMER_ELSE);
	return PORTPROF_OK;
}

static void init_state(struct itimer_state *state,
                       struct ppi_backend_session *bs)
{
	const struct itimer_kernel *kernel = bs->kernel;

	state->bs = bs;
	state->kernel = kernel;
	state->rate = ppi_tick_rate_of(&bs->plan->events[0],
	                               kernel->tick_ns(kernel->self));
	state->random = kernel->now_ns(kernel->self);
	state->meter.is_exact = true;
	ppi_cpu_watch_init(&state->watch, &ppi_cpu_here()->process,
	                   kernel->cpu_count(kernel->self));
	atomic_flag_clear(&state->is_being_read);
	atomic_flag_clear(&state->is_due_changing);
}

static portprof_status take_memory(struct itimer_state *state,
                                   struct ppi_diag *why)
{
	const struct itimer_kernel *kernel = state->kernel;

	if (ppi_tick_ring_init(&state->ring, state->bs->plan, &state->rate,
	                       kernel->cpu_count(kernel->self)) &&
	    ppi_itimer_table_init(&state->table, 0))
		return PORTPROF_OK;
	ppi_tick_ring_free(&state->ring);
	return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open", "out of memory");
}

static void free_memory(struct itimer_state *state)
{
	ppi_tick_ring_free(&state->ring);
	ppi_itimer_table_free(&state->table);
	free(state->tids);
}

static portprof_status itimer_open(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	struct itimer_state *state = state_of(bs);
	portprof_status status = check_plan(bs->plan, why);

	if (status)
		return status;
	init_state(state, bs);
	status = take_memory(state, why);
	if (status)
		return status;
	status = ppi_itimer_handler_install(state, why);
	if (status)
		goto free_memory;
	status = require_free(state, why);
	if (status)
		goto remove_handler;
	ppi_tick_rate_note(bs, &state->rate);
	bs->ticks = &state->ring;
	if (state->ring.stack_bytes)
		bs->drain_every_ms = STACKS_MS;
	ppi_note(bs, "one timer for the whole process: when several threads "
	         "are busy, their shares are biased" ITIMER_UNBIASED);
	if (!ppi_exec_guard_is_promised())
		ppi_note(bs, "%s", exec_words);
	return PORTPROF_OK;

remove_handler:
	ppi_itimer_handler_remove(state);
free_memory:
	free_memory(state);
	return status;
}

/* ---- start and stop ---- */

/* CPU time of the process without the helper thread's. */
static int read_clock(const struct itimer_state *state, uint64_t *ns)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t own = 0;

	if (kernel->process_cpu(kernel->self, ns) != 0)
		return -1;
	if (state->bs->helper_tid)
		kernel->thread_cpu(kernel->self, state->bs->helper_tid, &own);
	*ns = *ns > own ? *ns - own : 0;
	return 0;
}

static void note_wrong_clock(struct itimer_state *state)
{
	char words[256];

	state->meter.is_exact = false;
	ppi_cpu_fault_words(&state->watch, "process", ppi_cpu_here()->system,
	                    words, sizeof(words));
	ppi_note(state->bs, "%s", words);
}

static int look_at_clock(struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t now_ns = 0;
	int result = read_clock(state, &now_ns);

	if (result == 0)
		now_ns = ppi_cpu_watch_see(&state->watch, true, now_ns,
		                           kernel->now_ns(kernel->self));
	ppi_meter_see(&state->meter, result == 0, now_ns);
	if (state->watch.fault != PPI_CPU_RIGHT)
		note_wrong_clock(state);
	return result;
}

/* CPU time since the program took what we sample by. */
static uint64_t unsampled_ns(const struct itimer_state *state)
{
	uint64_t sum = state->unsampled_ns;

	if (state->is_displaced && state->meter.is_running)
		sum += ppi_meter_total_ns(&state->meter) - state->sampled_ns;
	return sum;
}

/* How far samples are from the total by chance, squared. */
static double variance_of(const struct itimer_state *state)
{
	const struct ppi_meter *meter = &state->meter;

	if (!state->bs->plan->estimates_ends)
		return 0;
	return state->variance_done + (meter->is_running ?
	       ppi_tick_rate_variance(&state->rate,
	                              meter->seen_ns - meter->base_ns) : 0);
}

static portprof_status refuse_clock(struct ppi_diag *why, const char *step)
{
	return ppi_fail(why, PORTPROF_E_SYSTEM, errno, step,
	                "the CPU clock cannot be read: %s", strerror(errno));
}

static portprof_status itimer_start(struct ppi_backend_session *bs,
                                    struct ppi_diag *why)
{
	struct itimer_state *state = state_of(bs);
	const struct itimer_kernel *kernel = state->kernel;
	portprof_status status;
	uint64_t clock_ns;

	if (state->meter.is_running)
		return PORTPROF_OK;
	status = require_free(state, why);
	if (status == PORTPROF_OK)
		status = ppi_itimer_handler_retake(state, why);
	if (status)
		return status;
	ppi_itimer_threads_freshen(state);
	state->began_ns = kernel->now_ns(kernel->self);
	if (read_clock(state, &clock_ns) != 0)
		return refuse_clock(why, "start");
	status = ppi_itimer_threads_begin(state, why);
	if (status)
		return status;
	if (kernel->process_cpu(kernel->self, &state->process_last_ns) != 0)
		return refuse_clock(why, "start");
	state->due_ns = state->base_ns = state->process_last_ns;
	state->is_displaced = false;
	/* a tick of an earlier timer may still come, in another thread */
	status = ppi_itimer_arm(state, why);
	if (status)
		return status;
	atomic_store(&state->is_ticking, true);
	ppi_meter_begin(&state->meter, clock_ns);
	ppi_cpu_watch_begin(&state->watch, true, clock_ns, state->began_ns);
	return PORTPROF_OK;
}

static portprof_status itimer_stop(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	struct itimer_state *state = state_of(bs);
	portprof_status status = PORTPROF_OK;

	if (!state->meter.is_running)
		return PORTPROF_OK;
	if (!state->is_displaced) {
		ppi_itimer_disarm(state);
		ppi_itimer_handler_flush(state);
	}
	ppi_itimer_handler_wait(state);
	ppi_itimer_threads_freshen(state);
	if (look_at_clock(state) != 0)
		status = refuse_clock(why, "stop");
	state->unsampled_ns = unsampled_ns(state);
	state->variance_done = variance_of(state);
	ppi_meter_end(&state->meter);
	return status;
}

/* ---- drain ---- */

/* What comes until stop is CPU time of threads that are not attached. */
static void give_up(struct itimer_state *state, const char *what)
{
	look_at_clock(state);
	state->is_displaced = true;
	state->sampled_ns = ppi_meter_total_ns(&state->meter);
	ppi_itimer_disarm(state);
	ppi_itimer_handler_yield(state);
	ppi_note(state->bs, "sampling ended early: the program has taken %s "
	         "for itself; the timer and perf backends need neither",
	         what);
}

/*
 * The helper thread's own CPU time moves the process's timer on, too, and a
 * tick of its making would wake a program that sleeps. While nobody else has
 * worked the timer begins its period again. False when it is not ours.
 */
static bool spare_sleeper(const struct itimer_state *state, uint64_t used_ns)
{
	return used_ns >= BUSY_NS || arm_again(state);
}

static void look_around(struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t before_ns = state->meter.seen_ns;
	uint64_t now_ns = kernel->now_ns(kernel->self);

	if (!ppi_itimer_handler_is_ours(state)) {
		give_up(state, "SIGPROF");
		return;
	}
	look_at_clock(state);
	if (!is_timer_ours(state) ||
	    !spare_sleeper(state, state->meter.seen_ns - before_ns)) {
		give_up(state, "the profiling timer");
		return;
	}
	if (now_ns >= state->next_sweep_ns) {
		ppi_itimer_threads_sweep(state);
		state->next_sweep_ns = now_ns + SWEEP_NS;
	}
	state->next_look_ns = now_ns + LOOK_NS;
}

static portprof_status itimer_drain(struct ppi_backend_session *bs,
                                    struct ppi_room *room)
{
	struct itimer_state *state = state_of(bs);
	const struct itimer_kernel *kernel = state->kernel;

	if (state->meter.is_running && !state->is_displaced &&
	    kernel->now_ns(kernel->self) >= state->next_look_ns)
		look_around(state);
	ppi_ticks_drain(&state->ring, bs, room);
	return PORTPROF_OK;
}

/* ---- the rest ---- */

/* A tick that comes while SIGPROF is pending is merged with it by the kernel,
 * untold: what we dropped ourselves is only a lower bound. */
static portprof_status itimer_stats(struct ppi_backend_session *bs,
                                    size_t event, struct ppi_account *out)
{
	struct itimer_state *state = state_of(bs);

	(void)event;
	if (state->meter.is_running)
		look_at_clock(state);
	out->cpu_time_ns = ppi_meter_total_ns(&state->meter);
	out->is_estimate = bs->plan->estimates_ends;
	out->variance = variance_of(state);
	out->not_attached = unsampled_ns(state);
	out->total_weight = out->cpu_time_ns - out->not_attached;
	out->lost_samples = ppi_tick_ring_dropped(&state->ring) +
	                    atomic_load(&state->crowded);
	out->lost_certainty = PORTPROF_UNKNOWN;
	out->total_certainty = state->meter.is_exact ? PORTPROF_EXACT :
	                                               PORTPROF_UNKNOWN;
	ppi_tick_rate_account(&state->rate, out);
	return PORTPROF_OK;
}

/* A forked child does not inherit the timer (fork(2)), only the handler. */
static void itimer_close(struct ppi_backend_session *bs)
{
	struct itimer_state *state = state_of(bs);
	const struct itimer_kernel *kernel = state->kernel;

	if (state->meter.is_running && !state->is_displaced &&
	    kernel->process_id(kernel->self) == bs->owner_pid)
		ppi_itimer_disarm(state);
	atomic_store(&state->is_ticking, false);
	ppi_itimer_handler_remove(state);
	free_memory(state);
}

static const struct ppi_heir_ops itimer_heirs = {
	.begin = ppi_itimer_heir_begin,
	.end = ppi_itimer_heir_end,
};

const struct ppi_backend_ops ppi_backend_itimer = {
	.name = "itimer",
	.summary = "samples by the process's profiling timer; works everywhere",
	.caps = ITIMER_CAPS,
	.state_size = sizeof(struct itimer_state),
	.catalogue = NULL,
	.count_ways = NULL,
	.count_parts = NULL,
	.costs = NULL,
	.steering = NULL,
	.heirs = &itimer_heirs,
	.group_modifiers = NULL,
	.copies_stacks = true,
	.reads_labels = true,
	.counts_alone = false,
	.real_kernel = ITIMER_REAL_KERNEL,
	.probe = itimer_probe,
	.resolve = itimer_resolve,
	.open = itimer_open,
	.start = itimer_start,
	.stop = itimer_stop,
	.drain = itimer_drain,
	.count = ppi_no_count,
	.stats = itimer_stats,
	.close = itimer_close,
};
