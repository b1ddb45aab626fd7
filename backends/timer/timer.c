/* SPDX-License-Identifier: MIT */
/*
 * The timer backend: one CPU timer a thread, for where perf_event_open is
 * denied. A sample is a tick that a thread got: samples = 1, however many
 * periods have passed, and weight = all CPU time of the thread since its last.
 *
 *   timer_threads.c      threads, their timers, and looking at them
 *   timer_handler.c      what happens at a tick, also in a forked child
 *   timer_kernel_real.c  the system calls
 */
#include "config.h"

#include "backends/timer/timer.h"

#include "backends/common/cpu_time.h"
#include "base/signal_context.h"
#include "base/signals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- event strings: CPU time, and the signal to use ---- */

/* Of ppi_event.own. */
enum { OWN_SIGNAL };

/* The signal that a resolved event names; 0: it names none. */
static int signal_of(const struct ppi_event *event)
{
	return (int)event->own[OWN_SIGNAL];
}

/* The value is a well-formed number, or y or n; 0 when it is no signal's. */
static int read_signal(const struct ppi_event_request *request,
                       const struct ppi_event_part *part)
{
	const char *value = request->text + part->at + part->key_bytes + 1;
	bool is_hex = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
	unsigned long long number;
	char digits[24];
	int length;

	if (part->key_bytes == part->bytes)
		return 0;
	number = strtoull(value, NULL, is_hex ? 16 : 10);
	length = snprintf(digits, sizeof(digits), "%llu", number);
	return ppi_signal_number(digits, (size_t)length);
}

static portprof_status take_part(const struct ppi_event_request *request,
                                 const struct ppi_event_part *part, int *signo,
                                 struct ppi_diag *why)
{
	int number = read_signal(request, part);
	const char *reason = number ? ppi_signal_unusable(number) : NULL;
	char words[128];

	if (*signo)
		return ppi_event_refuse_part(request, part, PORTPROF_E_INVALID,
		                             why, "signal is already set");
	if (!number)
		return ppi_event_refuse_part(
			request, part, PORTPROF_E_INVALID, why,
			"a signal is a number, as in signal=40 (kill -l)");
	snprintf(words, sizeof(words), "that signal %s; take a real-time "
	         "signal, as in signal=40 (kill -l)", reason ? reason : "");
	if (reason)
		return ppi_event_refuse_part(request, part, PORTPROF_E_INVALID,
		                             why, words);
	*signo = number;
	return PORTPROF_OK;
}

/* Put the parts that are for others into `rest`. */
static portprof_status take_signal(const struct ppi_event_request *request,
                                   struct ppi_event_request *rest, int *signo,
                                   struct ppi_diag *why)
{
	*rest = *request;
	rest->part_count = 0;
	for (size_t i = 0; i < request->part_count; i++) {
		const struct ppi_event_part *part = &request->parts[i];
		portprof_status status;

		if (!ppi_event_part_is(request, part, "signal")) {
			rest->parts[rest->part_count++] = *part;
			continue;
		}
		status = take_part(request, part, signo, why);
		if (status)
			return status;
	}
	return PORTPROF_OK;
}

static portprof_status resolve_event(const struct ppi_event_request *request,
                                     enum ppi_mode mode,
                                     struct ppi_event *event,
                                     struct ppi_diag *why)
{
	struct ppi_event_request rest;
	portprof_status status;
	size_t used;
	int signo = 0;

	status = take_signal(request, &rest, &signo, why);
	if (status == PORTPROF_OK)
		status = ppi_cpu_time_resolve(
			&rest, mode, "CPU time, by one timer a thread", event,
			why);
	if (status || !signo)
		return status;
	event->request = *request;
	event->own[OWN_SIGNAL] = (uint64_t)signo;
	used = strlen(event->canonical);
	snprintf(event->canonical + used, sizeof(event->canonical) - used,
	         ":signal=%d", signo);
	return PORTPROF_OK;
}

#ifdef PPI_BACKEND_TIMER
#define TIMER_REAL_KERNEL (&ppi_timer_kernel_real)
#else
#define TIMER_REAL_KERNEL NULL
#endif

#define TIMER_CAPS \
	(PORTPROF_CAP_SAMPLE | PORTPROF_CAP_EXACT_PC | \
	 PORTPROF_CAP_WHOLE_SPACE | PORTPROF_CAP_PID_TID | \
	 PORTPROF_CAP_TIME | PORTPROF_CAP_PROCESS | PORTPROF_CAP_THREAD | \
	 PORTPROF_CAP_FAIR | PORTPROF_CAP_LOST_EXACT | \
	 PORTPROF_CAP_EXEC_SAFE | PPI_TICK_CHAINS)

static struct timer_state *state_of(const struct ppi_backend_session *bs)
{
	return bs->state;
}

/* ---- probe ---- */

static void say_unusable(struct ppi_probe *out, portprof_status status,
                         const char *what, const char *remedy)
{
	out->is_usable = false;
	out->status = status;
	out->os_errno = errno;
	snprintf(out->reason, sizeof(out->reason), "%s: %s; %s", what,
	         strerror(errno), remedy);
}

static void say_no_timer(struct ppi_probe *out)
{
	if (errno == EAGAIN)
		say_unusable(out, PORTPROF_E_LIMIT, "no timer can be created",
		             "raise the limit of pending signals (ulimit -i)");
	else
		say_unusable(out, errno == EPERM || errno == EACCES ?
		             PORTPROF_E_DENIED : PORTPROF_E_UNSUPPORTED,
		             "CPU timers of threads cannot be created",
		             "use the itimer backend");
}

static void timer_probe(const void *seam, struct ppi_probe *out)
{
	const struct timer_kernel *kernel = seam;
	int first, last;
	int64_t tid;
	uint64_t timer;
	size_t count;

	if (!ppi_context_has_pc()) {
		errno = ENOSYS;
		say_unusable(out, PORTPROF_E_UNSUPPORTED,
		             "program counters of signal frames",
		             "portprof does not know this machine yet");
		return;
	}
	if (kernel->threads(kernel->self, &tid, 1, &count) != 0) {
		say_unusable(out, errno == ENOMEM ? PORTPROF_E_NOMEM
		                                  : PORTPROF_E_UNSUPPORTED,
		             "the threads of this process cannot be listed",
		             "mount /proc, or use the itimer backend");
		return;
	}
	kernel->signal_range(kernel->self, &first, &last);
	if (kernel->create(kernel->self, tid, last, NULL, &timer) != 0) {
		say_no_timer(out);
		return;
	}
	kernel->destroy(kernel->self, timer);
	out->is_usable = true;
	out->caps = TIMER_CAPS;
	out->status = PORTPROF_OK;
	ppi_ticks_probe_chains(out);
}

static portprof_status timer_resolve(const void *seam,
                                     const struct ppi_event_request *request,
                                     enum ppi_mode mode,
                                     struct ppi_event *event,
                                     struct ppi_diag *why)
{
	(void)seam;
	return resolve_event(request, mode, event, why);
}

/* ---- open ---- */

static portprof_status check_plan(struct timer_state *state,
                                  const struct ppi_plan *plan,
                                  struct ppi_diag *why)
{
	const struct ppi_target *target = &plan->target;
	bool is_thread = target->kind == PPI_TARGET_TID && target->is_self;

	if (plan->mode != PPI_SAMPLE || plan->event_count != 1)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open",
		                "the timer backend samples one event at a "
		                "time; use the perf backend");
	if (!is_thread && target->kind != PPI_TARGET_PROCESS)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open",
		                "the timer backend samples its own process "
		                "only; use the perf backend");
	state->only_tid = is_thread ? target->tid : 0;
	return PORTPROF_OK;
}

/* At least one timer, or there is nothing to measure. */
static portprof_status require_timer(const struct timer_state *state,
                                     struct ppi_diag *why)
{
	for (size_t i = 0; i < state->thread_count; i++)
		if (state->threads[i]->has_timer)
			return PORTPROF_OK;
	if (state->only_tid && state->tid_count == 0)
		return ppi_fail(why, PORTPROF_E_NOTFOUND, state->refusal,
		                "attach to thread",
		                "this process has no thread %lld",
		                (long long)state->only_tid);
	if (state->refusal == ENOMEM)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "create timer",
		                "out of memory");
	if (state->refusal == EAGAIN)
		return ppi_fail(why, PORTPROF_E_LIMIT, EAGAIN, "create timer",
		                "no timer can be created: the limit of "
		                "pending signals is reached; raise it "
		                "(ulimit -i) or use the itimer backend");
	return ppi_fail(why, PORTPROF_E_SYSTEM, state->refusal,
	                "create timer", "no thread's CPU timer can be "
	                "created: %s; use the itimer backend",
	                strerror(state->refusal));
}

static void init_state(struct timer_state *state,
                       struct ppi_backend_session *bs)
{
	const struct timer_kernel *kernel = bs->kernel;

	state->bs = bs;
	state->kernel = kernel;
	state->rate = ppi_tick_rate_of(&bs->plan->events[0],
	                               kernel->tick_ns(kernel->self));
	state->random = (kernel->now_ns(kernel->self) ^
	                 (uint64_t)bs->owner_pid << 32) | 1;
	state->meter.is_exact = true;
	state->asked_signo = signal_of(&bs->plan->events[0]);
}

static portprof_status timer_open(struct ppi_backend_session *bs,
                                  struct ppi_diag *why)
{
	struct timer_state *state = state_of(bs);
	portprof_status status;
	size_t fresh;

	init_state(state, bs);
	status = check_plan(state, bs->plan, why);
	if (status)
		return status;
	if (!ppi_tick_ring_init(&state->ring, bs->plan, &state->rate,
	                        state->kernel->cpu_count(state->kernel->self)))
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open",
		                "out of memory");
	status = ppi_timer_handler_install(state, why);
	if (status)
		goto free_ring;
	status = ppi_timer_threads_scan(state, &fresh, why);
	if (status == PORTPROF_OK)
		status = require_timer(state, why);
	if (status)
		goto free_threads;
	ppi_tick_rate_note(bs, &state->rate);
	bs->ticks = &state->ring;
	return PORTPROF_OK;

free_threads:
	ppi_timer_threads_detach(state);
	ppi_timer_handler_remove(state);
	ppi_timer_threads_free(state);
free_ring:
	ppi_tick_ring_free(&state->ring);
	return status;
}

/* ---- start and stop ---- */

static portprof_status refuse_clock(struct ppi_diag *why, const char *step)
{
	return ppi_fail(why, PORTPROF_E_SYSTEM, errno, step,
	                "the CPU clock cannot be read: %s", strerror(errno));
}

static portprof_status timer_start(struct ppi_backend_session *bs,
                                   struct ppi_diag *why)
{
	struct timer_state *state = state_of(bs);
	portprof_status status = PORTPROF_OK;
	uint64_t clock_ns;
	size_t fresh = 1;

	if (state->meter.is_running)
		return PORTPROF_OK;
	if (!ppi_timer_handler_is_ours(state))
		status = ppi_timer_change_signal(state, why);
	if (status == PORTPROF_OK)
		status = ppi_timer_threads_scan(state, &fresh, why);
	if (status)
		return status;
	ppi_timer_clock_freshen(state);
	state->began_ns = state->kernel->now_ns(state->kernel->self);
	if (ppi_timer_clock_read(state, &clock_ns) != 0)
		return refuse_clock(why, "start");
	status = ppi_timer_threads_arm(state, why);
	if (status)
		return status;
	ppi_meter_begin(&state->meter, clock_ns);
	state->is_displaced = false;
	/* a thread that the first look missed may have begun another */
	fresh = 1;
	for (int i = 0; fresh && i < TIMER_STARTING_SCANS; i++)
		if (ppi_timer_threads_scan(state, &fresh, NULL) != PORTPROF_OK)
			break;
	bs->drain_every_ms = TIMER_SCAN_MS;
	/* all there were have just been found */
	state->next_scan_ns =
		state->began_ns + TIMER_SCAN_MS * UINT64_C(1000000);
	return PORTPROF_OK;
}

static portprof_status timer_stop(struct ppi_backend_session *bs,
                                  struct ppi_diag *why)
{
	struct timer_state *state = state_of(bs);
	portprof_status status = PORTPROF_OK;

	if (!state->meter.is_running)
		return PORTPROF_OK;
	ppi_timer_threads_disarm(state);
	/* disarming has freshened the clock */
	if (ppi_timer_clock_see(state) != 0 && !state->only_tid)
		status = refuse_clock(why, "stop");
	ppi_meter_end(&state->meter);
	return status;
}

/* ---- drain ---- */

static portprof_status timer_drain(struct ppi_backend_session *bs,
                                   struct ppi_room *room)
{
	struct timer_state *state = state_of(bs);
	const struct timer_kernel *kernel = state->kernel;

	if (state->meter.is_running && !state->is_displaced &&
	    kernel->now_ns(kernel->self) >= state->next_scan_ns)
		ppi_timer_look_around(state);
	ppi_ticks_drain(&state->ring, bs, room);
	return PORTPROF_OK;
}

/* ---- the rest ---- */

/*
 * The total is the process's own CPU clock, so nothing can be missing from
 * it. How much of it was of threads that had no timer (short ones, between
 * two scans) follows from what the attached ones used.
 */
static portprof_status timer_stats(struct ppi_backend_session *bs,
                                   size_t event, struct ppi_account *out)
{
	struct timer_state *state = state_of(bs);
	uint64_t attached_ns = ppi_timer_threads_attached_ns(state,
	                                                     &out->variance);

	(void)event;
	out->is_estimate = bs->plan->estimates_ends;
	if (state->meter.is_running)
		ppi_timer_clock_see(state);
	out->cpu_time_ns = ppi_meter_total_ns(&state->meter);
	out->total_weight = out->cpu_time_ns;
	if (attached_ns < out->cpu_time_ns && !state->only_tid)
		out->total_weight = attached_ns;
	out->not_attached = out->cpu_time_ns - out->total_weight;
	out->lost_samples = ppi_tick_ring_dropped(&state->ring);
	out->lost_certainty = PORTPROF_EXACT;
	out->total_certainty = state->meter.is_exact ? PORTPROF_EXACT :
	                                               PORTPROF_UNKNOWN;
	ppi_tick_rate_account(&state->rate, out);
	return PORTPROF_OK;
}

/* Timers are not inherited by a forked child (timer_create(2)): it has only
 * the handler to put back. */
static void timer_close(struct ppi_backend_session *bs)
{
	struct timer_state *state = state_of(bs);
	const struct timer_kernel *kernel = state->kernel;

	atomic_store(&state->is_ticking, false);
	if (kernel->process_id(kernel->self) == bs->owner_pid) {
		/* or it would set a timer that is deleted */
		ppi_timer_handler_wait(state);
		ppi_timer_threads_detach(state);
	}
	ppi_timer_handler_remove(state);
	ppi_timer_threads_free(state);
	ppi_tick_ring_free(&state->ring);
}

static const struct ppi_heir_ops timer_heirs = {
	.begin = ppi_timer_heir_begin,
	.end = ppi_timer_heir_end,
};

const struct ppi_backend_ops ppi_backend_timer = {
	.name = "timer",
	.summary = "samples by one CPU timer a thread; needs no permission",
	.caps = TIMER_CAPS,
	.state_size = sizeof(struct timer_state),
	.catalogue = NULL,
	.count_ways = NULL,
	.count_parts = NULL,
	.costs = NULL,
	.steering = NULL,
	.heirs = &timer_heirs,
	.group_modifiers = NULL,
	.copies_stacks = true,
	.reads_labels = true,
	.counts_alone = false,
	.real_kernel = TIMER_REAL_KERNEL,
	.probe = timer_probe,
	.resolve = timer_resolve,
	.open = timer_open,
	.start = timer_start,
	.stop = timer_stop,
	.drain = timer_drain,
	.count = ppi_no_count,
	.stats = timer_stats,
	.close = timer_close,
};
