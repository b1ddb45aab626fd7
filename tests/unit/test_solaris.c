/* SPDX-License-Identifier: MIT */
/* The solaris backend on a simulated illumos: each of its guards by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/internal/helper.h"
#include "backends/backend.h"
#include "tests/sim/profil_seam.h"

#include <portprof.h>

#define MS UINT64_C(1000000)

enum { BINS = 256 };

static struct pseam seam;
static portprof_config *config;
static portprof_session *session;
static uint64_t bins[BINS], other_bins[BINS], pcs[4096];

static void run_helper(void *context)
{
	(void)context;
	ppi_helper_run_tasks();
}

static void begin(unsigned hz)
{
	pseam_init(&seam, &psim_solaris, PROFIL_FREEBSD);
	seam.sim.prof_hz = seam.rate_hz = hz;
	seam.sim.stat_hz = hz;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("solaris", &seam.solaris);
	memset(bins, 0, sizeof(bins));
	memset(pcs, 0, sizeof(pcs));
	config = portprof_config_new();
	portprof_config_set_backend(config, "solaris");
}

static void add_region(uint64_t offset, uint64_t *over)
{
	portprof_region region = { offset, 65536, 64, over, BINS };

	assert_int_equal(portprof_config_add_histogram(
				 config, 0, &region, 1, PORTPROF_BINS_WEIGHT),
	                 0);
}

static void open_it(void)
{
	if (portprof_session_open(config, &session))
		fail_msg("open: %s", portprof_last_diag()->words);
	portprof_config_free(config);
}

static void finish(void)
{
	assert_int_equal(portprof_session_close(session), 0);
	assert_int_equal(pseam_held(&seam), 0);
	psim_free(&seam.sim);
}

static void run(uint64_t pc, uint64_t cpu_ns, uint64_t kernel_ns)
{
	struct prun_work work = { 0, pc, pc + 2, cpu_ns, kernel_ns };

	prun_works(&seam.run, &work, 1);
}

static portprof_stats stats_of(void)
{
	portprof_stats stats = { .size = sizeof(stats) };

	assert_int_equal(portprof_session_stats(session, 0, &stats), 0);
	return stats;
}

static bool has_note(const char *part)
{
	const char *note;

	for (size_t i = 0; (note = portprof_session_note(session, i)); i++)
		if (strstr(note, part))
			return true;
	return false;
}

static void one_region_is_by_profil_and_more_by_pcsample(void **state)
{
	(void)state;
	begin(100);
	add_region(PSEAM_FUNCTION, bins);
	open_it();
	assert_false(portprof_session_caps(session) & PORTPROF_CAP_EXACT_PC);
	finish();

	begin(100);
	add_region(PSEAM_FUNCTION, bins);
	portprof_config_require(config, PORTPROF_CAP_EXACT_PC);
	open_it();
	assert_true(portprof_session_caps(session) & PORTPROF_CAP_EXACT_PC);
	finish();

	begin(100);
	add_region(PSEAM_FUNCTION, bins);
	add_region(PSEAM_LIBRARY, other_bins);
	open_it();
	assert_int_equal(portprof_session_start(session), 0);
	run(PSEAM_FUNCTION, 500 * MS, 0);
	run(PSEAM_LIBRARY, 500 * MS, 0);
	portprof_session_stop(session);
	assert_in_range(bins[0] + bins[1], 490 * MS, 510 * MS);
	assert_in_range(other_bins[0] + other_bins[1], 490 * MS, 510 * MS);
	finish();
}

static void guard_scales_0_1_and_2_are_never_asked_for(void **state)
{
	static const uint32_t scales[] = { 2, 3, 5, 40000, 131072 };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		portprof_region region = { 0x600001, scales[i], 64, bins, 3 };

		begin(100);
		portprof_config_add_histogram(config, 0, &region, 1,
		                              PORTPROF_BINS_WEIGHT);
		open_it();
		assert_int_equal(portprof_session_start(session), 0);
		assert_true(seam.sim.is_on);
		assert_true(seam.sim.smallest_scale >= 4);
		assert_false(seam.sim.saw_odd_size);
		assert_false(seam.sim.saw_uneven_scale);
		finish();
	}
}

static void guard_harvest_comes_before_the_stop_at_32767(void **state)
{
	(void)state;
	begin(1000);
	add_region(PSEAM_FUNCTION, bins);
	open_it();
	seam.run.every = run_helper;
	seam.run.every_ns = 250 * MS;
	assert_int_equal(portprof_session_start(session), 0);
	run(PSEAM_FUNCTION, 80000 * MS, 0);
	portprof_session_stop(session);
	assert_true(bins[0] > 79900 * MS);
	assert_false(has_note("too late"));
	assert_int_equal(stats_of().lost_certainty, PORTPROF_EXACT);
	finish();
}

static void a_stop_that_happened_is_told_and_undone(void **state)
{
	portprof_stats stats;

	(void)state;
	begin(1000);
	add_region(PSEAM_FUNCTION, bins);
	open_it();
	assert_int_equal(portprof_session_start(session), 0);
	run(PSEAM_FUNCTION, 40000 * MS, 0); /* and nobody drains */
	assert_false(seam.sim.is_on);
	portprof_session_flush(session);
	assert_true(has_note("32767"));
	stats = stats_of();
	assert_int_equal(stats.lost_certainty, PORTPROF_UNKNOWN);
	assert_int_equal(stats.total_weight, 40000 * MS);
	assert_true(stats.unattributed_weight > 7000 * MS);
	assert_true(seam.sim.is_on);
	run(PSEAM_FUNCTION + 100, 1000 * MS, 0);
	portprof_session_stop(session);
	assert_true(bins[50] > 990 * MS);
	finish();
}

static void guard_an_array_is_replaced_before_it_is_full(void **state)
{
	(void)state;
	begin(1000);
	open_it();
	seam.run.every = run_helper;
	seam.run.every_ns = 250 * MS;
	assert_int_equal(portprof_session_start(session), 0);
	run(PSEAM_FUNCTION, 60000 * MS, 0);
	portprof_session_stop(session);
	assert_in_range(stats_of().kept_samples, 59990, 60010);
	assert_int_equal(stats_of().lost_certainty, PORTPROF_EXACT);
	finish();
}

static void a_full_array_is_told(void **state)
{
	portprof_stats stats;

	(void)state;
	begin(1000);
	open_it();
	assert_int_equal(portprof_session_start(session), 0);
	run(PSEAM_FUNCTION, 60000 * MS, 0); /* and nobody drains */
	portprof_session_stop(session);
	stats = stats_of();
	assert_int_equal(stats.lost_certainty, PORTPROF_UNKNOWN);
	assert_true(has_note("full"));
	assert_int_equal(stats.total_weight, 60000 * MS);
	assert_true(stats.unattributed_weight > 50000 * MS);
	finish();
}

static void samples_come_in_order_with_their_pcs(void **state)
{
	(void)state;
	for (unsigned bits = 32; bits <= 64; bits += 32) {
		begin(100);
		seam.sim.pointer_bits = bits;
		portprof_config_add_array(config, pcs, 4096);
		open_it();
		assert_int_equal(portprof_session_start(session), 0);
		run(PSEAM_FUNCTION, 100 * MS, 0);
		run(PSEAM_FUNCTION + 0x1000, 100 * MS, 60 * MS);
		portprof_session_stop(session);
		for (size_t i = 0; i < 20; i++)
			assert_int_equal(pcs[i] & ~(uint64_t)1,
			                 PSEAM_FUNCTION +
			                         (i < 10 ? 0 : 0x1000));
		assert_int_equal(stats_of().kept_samples, 20);
		finish();
	}
}

static void guard_counts_of_other_calls_are_not_read(void **state)
{
	static uint64_t theirs[64];

	(void)state;
	begin(100);
	portprof_config_add_array(config, pcs, 4096);
	open_it();
	/* somebody sampled before: the first call returns 30 */
	psim_pcsample(&seam.sim, theirs, 64);
	run(PSEAM_FUNCTION, 300 * MS, 0);
	assert_int_equal(portprof_session_start(session), 0);
	portprof_session_flush(session);
	assert_int_equal(stats_of().kept_samples, 0);
	run(PSEAM_FUNCTION, 100 * MS, 0);
	portprof_session_stop(session);
	assert_int_equal(stats_of().kept_samples, 10);
	finish();
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
	kept = stats_of().kept_samples;
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

	begin(100);
	open_it();
	assert_int_equal(portprof_session_start(session), 0);
	run(PSEAM_FUNCTION, 300 * MS, 0);
	pid = fork();
	if (pid == 0)
		_exit(child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	run(PSEAM_FUNCTION, 300 * MS, 0);
	portprof_session_stop(session);
	assert_int_equal(stats_of().kept_samples, 60);
	finish();
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
	begin(1000);
	seam.sim.pointer_bits = 32;
	seam.cpu_count = 64;
	open_it();
	assert_int_equal(portprof_session_start(session), 0);
	run(PSEAM_FUNCTION, 100 * MS, 0);
	portprof_session_stop(session);
	assert_int_equal(stats_of().kept_samples, 100);
	finish();
}

/* No array of that size is made here: it is refused, and says what it was. */
static void room_never_exceeds_what_32_bits_may_ask_for(void **state)
{
	(void)state;
	begin(1000);
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

static void an_unknown_rate_shares_the_cpu_time(void **state)
{
	portprof_stats stats;

	(void)state;
	begin(100);
	seam.rate_hz = 0;
	add_region(PSEAM_FUNCTION, bins);
	open_it();
	assert_int_equal(portprof_session_start(session), 0);
	run(PSEAM_FUNCTION, 1000 * MS, 0);
	portprof_session_stop(session);
	stats = stats_of();
	assert_true(stats.granted_hz == 0);
	assert_int_equal(stats.kept_weight, 1000 * MS);
	finish();
}

/* usage: PROGRAM [CASE]    cases that this pattern matches alone */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_region_is_by_profil_and_more_by_pcsample),
		cmocka_unit_test(guard_scales_0_1_and_2_are_never_asked_for),
		cmocka_unit_test(guard_harvest_comes_before_the_stop_at_32767),
		cmocka_unit_test(a_stop_that_happened_is_told_and_undone),
		cmocka_unit_test(guard_an_array_is_replaced_before_it_is_full),
		cmocka_unit_test(a_full_array_is_told),
		cmocka_unit_test(samples_come_in_order_with_their_pcs),
		cmocka_unit_test(guard_counts_of_other_calls_are_not_read),
		cmocka_unit_test(guard_a_child_does_not_read_its_parents_count),
		cmocka_unit_test(guard_a_childs_close_ends_what_it_inherited),
		cmocka_unit_test(room_fits_a_32_bit_process),
		cmocka_unit_test(room_never_exceeds_what_32_bits_may_ask_for),
		cmocka_unit_test(an_unknown_rate_shares_the_cpu_time),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
