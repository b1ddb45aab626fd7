/* SPDX-License-Identifier: MIT */
#include "tests/unit/region_case.h"

#include "api/core/helper.h"
#include "tests/unit/perf_run.h"

#include <portprof.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

int fresh_kernel(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.counters = 4;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	return 0;
}

int nothing_is_held(void **state)
{
	(void)state;
	portprof_regions_close(NULL);
	ppi_backend_set_kernel("perf", NULL);
	ppi_helper_set_manual(false);
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_abuses(), 0);
	return 0;
}

void begin(const char *name)
{
	assert_int_equal(portprof_region_begin(NULL, name), PORTPROF_OK);
}

void end(const char *name)
{
	assert_int_equal(portprof_region_end(NULL, name), PORTPROF_OK);
}

void work(uint64_t ns)
{
	run_work(perf_sim_main_tid(), 0x1000, ns, 0);
}
