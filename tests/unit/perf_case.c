/* SPDX-License-Identifier: MIT */
/* What cases of sampling on the simulated kernel begin, check and end with. */
#include "tests/unit/perf_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct perf_run run;

int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	run_init(&run, PPI_SAMPLE);
	return 0;
}

int nothing_is_held(void **state)
{
	(void)state;
	if (run.bs.state)
		run_close(&run);
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_mapped(), 0);
	assert_int_equal(perf_sim_abuses(), 0);
	return 0;
}

void open_and_start(const char *event, uint64_t rate_hz)
{
	assert_int_equal(run_add(&run, event, rate_hz), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	run_start(&run);
}

int64_t begin_command(const char *event, uint64_t rate_hz)
{
	int64_t pid = perf_sim_fork(0);

	perf_sim_machine.is_privileged = false;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_COMMAND, .pid = pid,
		.tid = 0, .is_self = false,
	};
	run.plan.follow_children = true;
	open_and_start(event, rate_hz);
	perf_sim_exec(pid, "prog");
	return pid;
}

void check_closure(uint64_t total, size_t threads, uint64_t period)
{
	struct ppi_account account = run_account(&run, 0);
	uint64_t weight = run_weight(&run, 0);

	assert_int_equal(account.total_weight, total);
	assert_int_equal(account.total_certainty, PORTPROF_EXACT);
	assert_true(weight <= total);
	assert_true(total - weight <= threads * period);
}
