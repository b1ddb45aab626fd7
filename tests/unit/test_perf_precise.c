/* SPDX-License-Identifier: MIT */
/* The precise ladder: the highest level that a machine grants. */
#include "tests/unit/perf_run.h"

#include "api/core/event.h"
#include "api/core/open.h"

#include <portprof.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

extern const struct ppi_backend_ops ppi_backend_perf;

static struct ppi_event event;
static struct ppi_diag why;

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.counters = 4;
	return 0;
}

static int nothing_is_held(void **state)
{
	(void)state;
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_abuses(), 0);
	return 0;
}

/* From a file's text to the event that a session would have. */
static portprof_status plan(const char *text, enum ppi_mode mode)
{
	portprof_config *config = portprof_config_new();
	struct ppi_plan_box box;
	portprof_status status;

	if (portprof_config_load_text(config, "test", text, NULL))
		fail_msg("%s", portprof_last_diag()->words);
	status = ppi_plan_build(config, mode, &ppi_backend_perf,
	                        &perf_sim_kernel, &box, NULL, &why);
	if (status == PORTPROF_OK) {
		event = box.events[0];
		ppi_plan_free(&box);
	}
	portprof_config_free(config);
	return status;
}

static void the_highest_level_granted_is_taken_and_told(void **state)
{
	(void)state;
	for (unsigned level = 0; level <= 3; level++) {
		char words[64];

		perf_sim_machine.precise_max = level;
		assert_int_equal(plan("event = cycles:u\nprecise = max",
		                      PPI_SAMPLE), PORTPROF_OK);
		assert_int_equal(perf_own(&event)->precise, level);
		snprintf(words, sizeof(words), "precise level %u (the most "
		         "granted)", level);
		assert_non_null(strstr(event.description, words));
		/* the same again by its name alone */
		snprintf(words, sizeof(words), "precise=%u", level);
		assert_true(!strstr(event.canonical, words) == (level == 0));
	}
}

static void the_events_own_level_is_kept(void **state)
{
	(void)state;
	assert_int_equal(plan("event = cycles:u:precise=1\nprecise = max",
	                      PPI_SAMPLE), PORTPROF_OK);
	assert_int_equal(perf_own(&event)->precise, 1);
	assert_int_equal(plan("event = cycles:u:precise=0\nprecise = max",
	                      PPI_SAMPLE), PORTPROF_OK);
	assert_int_equal(perf_own(&event)->precise, 0);
	/* and refused as ever, not made less */
	perf_sim_machine.precise_max = 1;
	assert_int_equal(plan("event = cycles:u:precise=2\nprecise = max",
	                      PPI_SAMPLE), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(why.words, "drop precise"));
}

static void nothing_is_asked_of_who_did_not_ask(void **state)
{
	(void)state;
	assert_int_equal(plan("event = cycles:u", PPI_SAMPLE), PORTPROF_OK);
	assert_int_equal(perf_own(&event)->precise, 0);
	assert_null(strstr(event.description, "precise"));
	assert_int_equal(plan("event = cycles:u\nprecise = event", PPI_SAMPLE),
	                 PORTPROF_OK);
	assert_int_equal(perf_own(&event)->precise, 0);
	/* counts have no place to be precise about */
	assert_int_equal(plan("event = cycles:u\nprecise = max", PPI_COUNT),
	                 PORTPROF_OK);
	assert_int_equal(perf_own(&event)->precise, 0);
}

static void what_the_kernel_counts_has_no_level(void **state)
{
	(void)state;
	assert_int_equal(plan("event = task-clock\nprecise = max", PPI_SAMPLE),
	                 PORTPROF_OK);
	assert_int_equal(perf_own(&event)->precise, 0);
	assert_null(strstr(event.description, "precise"));
}

static void an_event_that_is_not_there_is_refused_as_ever(void **state)
{
	(void)state;
	perf_sim_machine.counters = 0;
	assert_int_equal(plan("event = cycles\nprecise = max", PPI_SAMPLE),
	                 PORTPROF_E_UNSUPPORTED);
	assert_null(strstr(why.words, "precise"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_highest_level_granted_is_taken_and_told),
		CASE(the_events_own_level_is_kept),
		CASE(nothing_is_asked_of_who_did_not_ask),
		CASE(what_the_kernel_counts_has_no_level),
		CASE(an_event_that_is_not_there_is_refused_as_ever),
	};

	return cmocka_run_group_tests_name("perf_precise", tests, NULL, NULL);
}
