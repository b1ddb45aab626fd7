/* SPDX-License-Identifier: MIT */
/*
 * The itimer backend: ITIMER_PROF and SIGPROF, the fallback that exists
 * everywhere. One timer serves all threads: when several are busy, which of
 * them gets a tick is the kernel's choice, and is not fair everywhere.
 */
#include "config.h"

#include "backends/itimer/itimer.h"

#include "backends/shared/cpu_time.h"
#include "compat/context_pc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LOOK_NS = 100000000, /* is all as it should be? */
	BUSY_NS = 50000      /* less CPU time than that is none */
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
	 PORTPROF_CAP_TIME | PORTPROF_CAP_PROCESS | PORTPROF_CAP_EXCLUSIVE)

static struct itimer_state *state_of(const struct ppi_backend_session *bs)
{
	return bs->state;
}

/* Another session or a handler of the program's makes open fail with BUSY,
 * which is of this moment; probing tells what the system can do. */
static void itimer_probe(const void *seam, struct ppi_probe *out)
{
	const struct itimer_kernel *kernel = seam;
	uint64_t every, left;

	if (!ppi_context_has_pc()) {
		out->status = PORTPROF_E_UNSUPPORTED;
		snprintf(out->reason, sizeof(out->reason),
		         "on this machine it is not known where a signal frame "
		         "keeps the program counter; portprof must be ported");
		return;
	}
	if (kernel->get(kernel->self, &every, &left) != 0) {
		out->status = PORTPROF_E_UNSUPPORTED;
		out->os_errno = errno;
		snprintf(out->reason, sizeof(out->reason),
		         "there is no profiling timer: %s; use another "
		         "backend", strerror(errno));
		return;
	}
	out->is_usable = true;
	out->caps = ITIMER_CAPS;
	out->status = PORTPROF_OK;
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
		                "time; use the perf backend");
	if (plan->target.kind != PPI_TARGET_PROCESS)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open",
		                "the itimer backend samples its own process "
		                "as a whole; use the timer or perf backend");
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
	atomic_flag_clear(&state->is_being_read);
	atomic_flag_clear(&state->is_due_changing);
}

static portprof_status take_memory(struct itimer_state *state,
                                   struct ppi_diag *why)
{
	const struct itimer_kernel *kernel = state->kernel;

	if (ppi_tick_ring_init(&state->ring, state->bs->plan, &state->rate,
	                       kernel->cpu_count(kernel->self)) &&
	    itimer_table_init(&state->table, 0))
		return PORTPROF_OK;
	ppi_pcring_free(&state->ring);
	return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open", "out of memory");
}

static void free_memory(struct itimer_state *state)
{
	ppi_pcring_free(&state->ring);
	itimer_table_free(&state->table);
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
	status = itimer_handler_install(state, why);
	if (status)
		goto free_memory;
	status = itimer_arm_require_free(state, why);
	if (status)
		goto remove_handler;
	ppi_tick_rate_note(bs, &state->rate);
	ppi_note(bs, "one timer for the whole process: when several threads "
	         "are busy, their shares are biased; the timer and perf "
	         "backends have one a thread");
	return PORTPROF_OK;

remove_handler:
	itimer_handler_remove(state);
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

static int look_at_clock(struct itimer_state *state)
{
	uint64_t now_ns = 0;
	int result = read_clock(state, &now_ns);

	ppi_meter_see(&state->meter, result == 0, now_ns);
	return result;
}

static portprof_status refuse_clock(struct ppi_diag *why, const char *step)
{
	return ppi_fail(why, PORTPROF_E_SYSTEM, errno, step,
	                "the CPU clock cannot be read: %s", strerror(errno));
}

static portprof_status require_handler(const struct itimer_state *state,
                                       struct ppi_diag *why)
{
	if (itimer_handler_is_ours(state))
		return PORTPROF_OK;
	return ppi_fail(why, PORTPROF_E_BUSY, 0, "start",
	                "the program has taken SIGPROF for itself since the "
	                "session was opened; remove its handler, or use the "
	                "timer or perf backend");
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
	status = require_handler(state, why);
	if (status == PORTPROF_OK)
		status = itimer_arm_require_free(state, why);
	if (status)
		return status;
	itimer_threads_freshen(state);
	state->began_ns = kernel->now_ns(kernel->self);
	if (read_clock(state, &clock_ns) != 0)
		return refuse_clock(why, "start");
	status = itimer_threads_begin(state, why);
	if (status)
		return status;
	if (kernel->process_cpu(kernel->self, &state->process_last_ns) != 0)
		return refuse_clock(why, "start");
	state->due_ns = state->process_last_ns;
	state->is_displaced = false;
	atomic_store(&state->is_ticking, true);
	status = itimer_arm(state, why);
	if (status) {
		itimer_disarm(state);
		itimer_handler_wait(state);
		return status;
	}
	ppi_meter_begin(&state->meter, clock_ns);
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
		itimer_disarm(state);
		itimer_handler_flush(state);
	}
	itimer_handler_wait(state);
	itimer_threads_freshen(state);
	if (look_at_clock(state) != 0)
		status = refuse_clock(why, "stop");
	ppi_meter_end(&state->meter);
	return status;
}

/* ---- drain ---- */

static void give_up(struct itimer_state *state, const char *what)
{
	itimer_disarm(state);
	state->is_displaced = true;
	ppi_note(state->bs, "sampling ended early: the program has taken %s "
	         "for itself", what);
}

/*
 * The helper thread's own CPU time moves the process's timer on, too, and a
 * tick of its making would wake a program that sleeps. While nobody else has
 * worked the timer begins its period again.
 */
static void spare_sleeper(struct itimer_state *state, uint64_t used_ns)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t period = state->rate.period_ns;

	if (used_ns < BUSY_NS)
		kernel->set(kernel->self, period, period);
}

static void look_around(struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t before_ns = state->meter.seen_ns;
	uint64_t now_ns = kernel->now_ns(kernel->self);

	if (!itimer_handler_is_ours(state)) {
		give_up(state, "SIGPROF");
		return;
	}
	if (!itimer_arm_is_ours(state)) {
		give_up(state, "the profiling timer");
		return;
	}
	look_at_clock(state);
	spare_sleeper(state, state->meter.seen_ns - before_ns);
	if (now_ns >= state->next_sweep_ns) {
		itimer_threads_sweep(state);
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
	ppi_ticks_drain(&state->ring, bs->owner_pid, room);
	return PORTPROF_OK;
}

/* ---- the rest ---- */

static portprof_status itimer_count(struct ppi_backend_session *bs,
                                    portprof_count *out, size_t count)
{
	(void)bs;
	(void)out;
	(void)count;
	return PORTPROF_E_UNSUPPORTED;
}

/* A tick that comes while SIGPROF is pending is merged with it by the kernel,
 * untold: what we dropped ourselves is only a lower bound. */
static portprof_status itimer_stats(struct ppi_backend_session *bs,
                                    size_t event, struct ppi_account *out)
{
	struct itimer_state *state = state_of(bs);

	(void)event;
	if (state->meter.is_running)
		look_at_clock(state);
	out->total_weight = ppi_meter_total_ns(&state->meter);
	out->cpu_time_ns = out->total_weight;
	out->lost_samples = ppi_pcring_dropped(&state->ring) +
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
		itimer_disarm(state);
	atomic_store(&state->is_ticking, false);
	itimer_handler_remove(state);
	free_memory(state);
}

const struct ppi_backend_ops ppi_backend_itimer = {
	.abi = PPI_BACKEND_ABI,
	.name = "itimer",
	.summary = "samples by the process's profiling timer; works everywhere",
	.caps = ITIMER_CAPS,
	.rank = 10,
	.state_size = sizeof(struct itimer_state),
	.real_kernel = ITIMER_REAL_KERNEL,
	.probe = itimer_probe,
	.resolve = itimer_resolve,
	.open = itimer_open,
	.start = itimer_start,
	.stop = itimer_stop,
	.drain = itimer_drain,
	.count = itimer_count,
	.stats = itimer_stats,
	.close = itimer_close,
};
