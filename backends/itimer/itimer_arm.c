/* SPDX-License-Identifier: MIT */
/*
 * ITIMER_PROF itself: whose it is, and setting it.
 *
 * The program may set it at any moment, and the system does not say who did.
 * So our interval is one that nobody else has: a few per cent shorter than the
 * period, and an odd number of microseconds, by chance. (The handler leaves out
 * what comes before a period is over.) And whatever we set, the system tells
 * what was there at that moment: a timer that is not ours is put back.
 */
#include "config.h"

#include "backends/itimer/itimer.h"

#include <errno.h>
#include <string.h>

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

/* ITIMER_PROF must not run: it would be the program's. */
portprof_status ppi_itimer_arm_require_free(const struct itimer_state *state,
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

bool ppi_itimer_arm_is_ours(const struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;
	struct itimer_value now;

	return kernel->get(kernel->self, &now) != 0 ||
	       now.every_ns == state->every_ns;
}

/* False when the timer is not ours: it goes on as it was. */
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

bool ppi_itimer_arm_again(const struct itimer_state *state)
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
	if (ppi_itimer_arm_is_ours(state))
		replace(state, &none);
}
