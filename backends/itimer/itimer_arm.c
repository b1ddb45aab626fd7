/* SPDX-License-Identifier: MIT */
/* ITIMER_PROF itself: whose it is, and setting it. */
#include "backends/itimer/itimer.h"

#include <errno.h>
#include <string.h>

/* ITIMER_PROF must not run: it would be the program's. */
portprof_status itimer_arm_require_free(const struct itimer_state *state,
                                        struct ppi_diag *why)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t every, left;

	if (kernel->get(kernel->self, &every, &left) != 0)
		return ppi_fail(why, PORTPROF_E_SYSTEM, errno,
		                "look at ITIMER_PROF",
		                "the profiling timer cannot be read: %s",
		                strerror(errno));
	if (every || left)
		return ppi_fail(why, PORTPROF_E_BUSY, 0,
		                "look at ITIMER_PROF",
		                "the program runs the profiling timer "
		                "(ITIMER_PROF) itself; stop it, or use the "
		                "timer or perf backend");
	return PORTPROF_OK;
}

static portprof_status refuse_timer(struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_SYSTEM, errno, "start",
	                "the profiling timer cannot be set: %s",
	                strerror(errno));
}

/* At random within one period, so that no program that works in step with
 * its start is always met at the same place. */
portprof_status itimer_arm(struct itimer_state *state, struct ppi_diag *why)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t period = state->rate.period_ns, left;
	uint64_t random = (state->random + kernel->now_ns(kernel->self)) *
	                  UINT64_C(6364136223846793005);

	state->random = random;
	if (kernel->set(kernel->self, 1 + (random >> 16) % period, period))
		return refuse_timer(why);
	if (kernel->get(kernel->self, &state->every_ns, &left) == 0)
		return PORTPROF_OK;
	refuse_timer(why);
	kernel->set(kernel->self, 0, 0);
	return PORTPROF_E_SYSTEM;
}

/* The program may have set it to its own liking meanwhile. */
bool itimer_arm_is_ours(const struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;
	uint64_t every, left;

	return kernel->get(kernel->self, &every, &left) != 0 ||
	       every == state->every_ns;
}

void itimer_disarm(struct itimer_state *state)
{
	const struct itimer_kernel *kernel = state->kernel;

	atomic_store(&state->is_ticking, false);
	if (itimer_arm_is_ours(state))
		kernel->set(kernel->self, 0, 0);
}
