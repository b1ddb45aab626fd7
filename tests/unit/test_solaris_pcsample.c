/* SPDX-License-Identifier: MIT */
/* The solaris backend on a simulated illumos: the guards of pcsample. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/solaris_kit.h"

static void guard_an_array_is_replaced_before_it_is_full(void **state)
{
	(void)state;
	solkit_begin(1000);
	seam.cpu_count = 4; /* the room is for so many */
	solkit_open();
	solkit_run_helper();
	assert_int_equal(portprof_session_start(session), 0);
	solkit_run(PSEAM_FUNCTION, 60000 * MS, 0);
	portprof_session_stop(session);
	assert_in_range(solkit_stats().kept_samples, 59990, 60010);
	assert_int_equal(solkit_stats().lost_certainty, PORTPROF_EXACT);
	solkit_finish();
}

static void a_full_array_is_told(void **state)
{
	portprof_stats stats;

	(void)state;
	solkit_begin(1000);
	seam.cpu_count = 4; /* the room is for so many */
	solkit_open();
	assert_int_equal(portprof_session_start(session), 0);
	solkit_run(PSEAM_FUNCTION, 60000 * MS, 0); /* and nobody drains */
	portprof_session_stop(session);
	stats = solkit_stats();
	assert_int_equal(stats.lost_certainty, PORTPROF_UNKNOWN);
	assert_true(solkit_has_note("full"));
	assert_int_equal(stats.total_weight, 60000 * MS);
	assert_true(stats.unattributed_weight > 50000 * MS);
	solkit_finish();
}

static void samples_come_in_order_with_their_pcs(void **state)
{
	(void)state;
	for (unsigned bits = 32; bits <= 64; bits += 32) {
		solkit_begin(100);
		seam.sim.pointer_bits = bits;
		portprof_config_add_array(config, pcs, 4096);
		solkit_open();
		assert_int_equal(portprof_session_start(session), 0);
		solkit_run(PSEAM_FUNCTION, 100 * MS, 0);
		solkit_run(PSEAM_FUNCTION + 0x1000, 100 * MS, 60 * MS);
		portprof_session_stop(session);
		for (size_t i = 0; i < 20; i++)
			assert_int_equal(pcs[i] & ~(uint64_t)1,
			                 PSEAM_FUNCTION +
			                         (i < 10 ? 0 : 0x1000));
		assert_int_equal(solkit_stats().kept_samples, 20);
		solkit_finish();
	}
}

static void guard_counts_of_other_calls_are_not_read(void **state)
{
	static uint64_t theirs[64];

	(void)state;
	solkit_begin(100);
	portprof_config_add_array(config, pcs, 4096);
	solkit_open();
	/* somebody sampled before: the first call returns 30 */
	psim_pcsample(&seam.sim, theirs, 64);
	solkit_run(PSEAM_FUNCTION, 300 * MS, 0);
	assert_int_equal(portprof_session_start(session), 0);
	portprof_session_flush(session);
	assert_int_equal(solkit_stats().kept_samples, 0);
	solkit_run(PSEAM_FUNCTION, 100 * MS, 0);
	portprof_session_stop(session);
	assert_int_equal(solkit_stats().kept_samples, 10);
	solkit_finish();
}

/* A child's first call returns what the parent's array held. */
static int child_samples(void)
{
	portprof_session *parents = session;
	uint64_t kept;

	config = portprof_config_new();
	portprof_config_set_backend(config, "solaris");
	if (portprof_session_open(config, &session) ||
	    portprof_session_start(session) ||
	    portprof_session_flush(session))
		return 1;
	kept = solkit_stats().kept_samples;
	/* and closing the parent's leaves the child's own alone */
	portprof_session_close(parents);
	if (!seam.sim.is_on)
		return 2;
	portprof_session_close(session);
	return kept ? 3 : pseam_held(&seam) != 0;
}

static int child_ends(void)
{
	portprof_session_close(session);
	return pseam_held(&seam) != 0;
}

static void check_in_child(int (*child)(void))
{
	int status = -1;
	pid_t pid;

	solkit_begin(100);
	solkit_open();
	assert_int_equal(portprof_session_start(session), 0);
	solkit_run(PSEAM_FUNCTION, 300 * MS, 0);
	pid = fork();
	if (pid == 0)
		_exit(child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	solkit_run(PSEAM_FUNCTION, 300 * MS, 0);
	portprof_session_stop(session);
	assert_int_equal(solkit_stats().kept_samples, 60);
	solkit_finish();
}

static void guard_a_child_does_not_read_its_parents_count(void **state)
{
	(void)state;
	check_in_child(child_samples);
}

static void guard_a_childs_close_ends_what_it_inherited(void **state)
{
	(void)state;
	check_in_child(child_ends);
}

static void room_fits_a_32_bit_process(void **state)
{
	(void)state;
	solkit_begin(1000);
	seam.sim.pointer_bits = 32;
	seam.cpu_count = 64;
	solkit_open();
	assert_int_equal(portprof_session_start(session), 0);
	solkit_run(PSEAM_FUNCTION, 100 * MS, 0);
	portprof_session_stop(session);
	assert_int_equal(solkit_stats().kept_samples, 100);
	solkit_finish();
}

/* No array of that size is made here: it is refused, and says what it was. */
static void room_never_exceeds_what_32_bits_may_ask_for(void **state)
{
	(void)state;
	solkit_begin(1000);
	seam.sim.pointer_bits = 32;
	seam.cpu_count = 1u << 30;
	seam.fails = PSEAM_MAP;
	seam.fails_in = 1;
	seam.fails_with = ENOMEM;
	assert_int_equal(portprof_session_open(config, &session),
	                 PORTPROF_E_NOMEM);
	assert_non_null(strstr(portprof_last_diag()->words, "2147483647"));
	portprof_config_free(config);
	assert_int_equal(pseam_held(&seam), 0);
	psim_free(&seam.sim);
}

/* usage: PROGRAM [CASE]    cases that this pattern matches alone */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guard_an_array_is_replaced_before_it_is_full),
		cmocka_unit_test(a_full_array_is_told),
		cmocka_unit_test(samples_come_in_order_with_their_pcs),
		cmocka_unit_test(guard_counts_of_other_calls_are_not_read),
		cmocka_unit_test(guard_a_child_does_not_read_its_parents_count),
		cmocka_unit_test(guard_a_childs_close_ends_what_it_inherited),
		cmocka_unit_test(room_fits_a_32_bit_process),
		cmocka_unit_test(room_never_exceeds_what_32_bits_may_ask_for),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
