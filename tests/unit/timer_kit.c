/* SPDX-License-Identifier: MIT */
/* One session of the timer backend on its simulated kernel. */
#include "config.h"

#include "tests/unit/timer_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <portprof.h>

#include "api/core/helper.h"
#include "backends/backend.h"
#include "tests/sim/signals.h"
#include "tests/sim/timer_sim.h"

struct sim_session one;
bool is_awake;

static void wake(void)
{
	if (is_awake)
		ppi_helper_run_tasks();
}

int set_up(void **state)
{
	(void)state;
	is_awake = true;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("timer", &timer_sim_kernel);
	timer_sim_reset(wake);
	return 0;
}

int tear_down(void **state)
{
	(void)state;
	sim_close(&one);
	for (unsigned i = 1; i < FX_THREADS; i++)
		sim_program_end(i);
	ppi_backend_set_kernel("timer", NULL);
	ppi_helper_set_manual(false);
	return 0;
}

void start(uint64_t hz)
{
	assert_int_equal(sim_open(&one, "timer", hz, 0, 0), PORTPROF_OK);
	assert_int_equal(portprof_session_start(one.session), PORTPROF_OK);
}

void stop(void)
{
	assert_int_equal(portprof_session_stop(one.session), PORTPROF_OK);
	assert_int_equal(sim_signals_death(), 0);
}
