/* SPDX-License-Identifier: MIT */
/* The solaris backend on a simulated illumos: which facility it takes, and the
 * guards of profil. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/unit/solaris_kit.h"

static void one_region_is_by_profil_and_more_by_pcsample(void **state)
{
	(void)state;
	solkit_begin(100);
	solkit_add_region(PSEAM_FUNCTION, bins);
	solkit_open();
	assert_false(portprof_session_caps(session) & PORTPROF_CAP_EXACT_PC);
	solkit_finish();

	solkit_begin(100);
	solkit_add_region(PSEAM_FUNCTION, bins);
	portprof_config_require(config, PORTPROF_CAP_EXACT_PC);
	solkit_open();
	assert_true(portprof_session_caps(session) & PORTPROF_CAP_EXACT_PC);
	solkit_finish();

	solkit_begin(100);
	solkit_add_region(PSEAM_FUNCTION, bins);
	solkit_add_region(PSEAM_LIBRARY, other_bins);
	solkit_open();
	assert_int_equal(portprof_session_start(session), 0);
	solkit_run(PSEAM_FUNCTION, 500 * MS, 0);
	solkit_run(PSEAM_LIBRARY, 500 * MS, 0);
	portprof_session_stop(session);
	assert_in_range(bins[0] + bins[1], 490 * MS, 510 * MS);
	assert_in_range(other_bins[0] + other_bins[1], 490 * MS, 510 * MS);
	solkit_finish();
}

static void guard_scales_0_1_and_2_are_never_asked_for(void **state)
{
	static const uint32_t scales[] = { 2, 3, 5, 40000, 131072 };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		portprof_range region = { 0x600001, scales[i], 64, bins, 3 };

		solkit_begin(100);
		portprof_config_add_histogram(config, 0, &region, 1,
		                              PORTPROF_BINS_WEIGHT);
		solkit_open();
		assert_int_equal(portprof_session_start(session), 0);
		assert_true(seam.sim.is_on);
		assert_true(seam.sim.smallest_scale >= 4);
		assert_false(seam.sim.saw_odd_size);
		assert_false(seam.sim.saw_uneven_scale);
		solkit_finish();
	}
}

static void guard_harvest_comes_before_the_stop_at_32767(void **state)
{
	(void)state;
	solkit_begin(1000);
	solkit_add_region(PSEAM_FUNCTION, bins);
	solkit_open();
	solkit_run_helper();
	assert_int_equal(portprof_session_start(session), 0);
	solkit_run(PSEAM_FUNCTION, 80000 * MS, 0);
	portprof_session_stop(session);
	assert_true(bins[0] > 79900 * MS);
	assert_false(solkit_has_note("too late"));
	assert_int_equal(solkit_stats().lost_certainty, PORTPROF_EXACT);
	solkit_finish();
}

static void a_stop_that_happened_is_told_and_undone(void **state)
{
	portprof_stats stats;

	(void)state;
	solkit_begin(1000);
	solkit_add_region(PSEAM_FUNCTION, bins);
	solkit_open();
	assert_int_equal(portprof_session_start(session), 0);
	solkit_run(PSEAM_FUNCTION, 40000 * MS, 0); /* and nobody drains */
	assert_false(seam.sim.is_on);
	portprof_session_flush(session);
	assert_true(solkit_has_note("32767"));
	stats = solkit_stats();
	assert_int_equal(stats.lost_certainty, PORTPROF_UNKNOWN);
	assert_int_equal(stats.total_weight, 40000 * MS);
	assert_true(stats.unattributed_weight > 7000 * MS);
	assert_true(seam.sim.is_on);
	solkit_run(PSEAM_FUNCTION + 100, 1000 * MS, 0);
	portprof_session_stop(session);
	assert_true(bins[50] > 990 * MS);
	solkit_finish();
}

static void a_system_without_cpu_clocks_is_refused(void **state)
{
	(void)state;
	solkit_begin(100);
	seam.fails = PSEAM_PROCESS_CPU;
	seam.fails_in = 1;
	seam.fails_with = EINVAL;
	assert_int_equal(portprof_session_open(config, &session),
	                 PORTPROF_E_UNSUPPORTED);
	assert_int_equal(portprof_last_diag()->os_errno, EINVAL);
	assert_non_null(strstr(portprof_last_diag()->words, "CPU time"));
	portprof_config_free(config);
	psim_free(&seam.sim);
}

static void an_unknown_rate_shares_the_cpu_time(void **state)
{
	portprof_stats stats;

	(void)state;
	solkit_begin(100);
	seam.rate_hz = 0;
	solkit_add_region(PSEAM_FUNCTION, bins);
	solkit_open();
	assert_int_equal(portprof_session_start(session), 0);
	solkit_run(PSEAM_FUNCTION, 1000 * MS, 0);
	portprof_session_stop(session);
	stats = solkit_stats();
	assert_true(stats.granted_hz == 0);
	assert_int_equal(stats.kept_weight, 1000 * MS);
	solkit_finish();
}

/* usage: PROGRAM [CASE]    cases that this pattern matches alone */
/* Owed in a stay that spans stop and start, and billed in the second session,
 * by profil and by pcsample. */
static void time_owed_from_before_is_not_ours(void **state)
{
	(void)state;
	for (unsigned by_array = 0; by_array < 2; by_array++) {
		uint64_t wrong = 0;

		solkit_begin(1000);
		if (by_array)
			portprof_config_add_array(config, pcs, PCS);
		else
			solkit_add_region(PSEAM_FUNCTION, bins);
		solkit_open();
		assert_int_equal(portprof_session_start(session), 0);
		solkit_run(PSEAM_FUNCTION, 100 * MS, 0);
		psim_tick(&seam.sim, 1, PSIM_KERNEL, PSEAM_FUNCTION + 64, 3000);
		portprof_session_stop(session);
		psim_return_from_call(&seam.sim, 1, PSEAM_FUNCTION + 64);
		assert_int_equal(portprof_session_start(session), 0);
		psim_tick(&seam.sim, 2, PSIM_KERNEL, PSEAM_FUNCTION, 1);
		psim_return_from_call(&seam.sim, 1, PSEAM_FUNCTION + 64);
		solkit_run(PSEAM_FUNCTION, 900 * MS, 0);
		portprof_session_stop(session);
		for (size_t i = 0; by_array && i < PCS; i++)
			wrong += pcs[i] == PSEAM_FUNCTION + 64;
		if (!by_array)
			wrong = bins[32] / MS;
		assert_in_range(wrong, 0, 10);
		assert_int_equal(solkit_stats().total_weight, 1000 * MS);
		assert_in_range(solkit_stats().kept_weight / MS, 990, 1000);
		assert_true(solkit_has_note("put aside"));
		solkit_finish();
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_owed_from_before_is_not_ours),
		cmocka_unit_test(one_region_is_by_profil_and_more_by_pcsample),
		cmocka_unit_test(guard_scales_0_1_and_2_are_never_asked_for),
		cmocka_unit_test(guard_harvest_comes_before_the_stop_at_32767),
		cmocka_unit_test(a_stop_that_happened_is_told_and_undone),
		cmocka_unit_test(a_system_without_cpu_clocks_is_refused),
		cmocka_unit_test(an_unknown_rate_shares_the_cpu_time),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
