/* SPDX-License-Identifier: MIT */
/*
 * A kernel that samples processes hits our helper thread as any other. Where
 * the library's code is in the region (a static link) its ticks must not be in
 * the profile, nor take weight from the program's (SAMPLE-9). Here it is slow:
 * a twelfth of a CPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backends/backend.h"
#include "tests/unit/profil_kit.h"

enum { OWN_CODE = PSEAM_FUNCTION + 0x400, REGION_BYTES = 0x600, PLACES = 2 };

static const struct kit_system kit_solaris = { &psim_solaris, PROFIL_FREEBSD,
	                                       1000, 1000 };

static const struct kit_system *const systems[] = {
	&kit_freebsd, &kit_netbsd, &kit_openbsd, &kit_dragonfly, &kit_solaris,
};

/* A sink that takes long: the helper is in it when ticks come. What the
 * program's own threads bring, in flush and stop, is not the helper's. */
static void work_slowly(const portprof_batch *batch, void *context)
{
	static unsigned turn;
	uint64_t start = seam.own_code + turn++ % 64 * 4;
	struct prun_work work = { PRUN_HELPER, start, start + 64, 0, 0 };

	(void)context;
	for (size_t i = 0; i < batch->count; i++)
		work.cpu_ns += portprof_batch_record(batch, i)->weight / 24;
	if (work.cpu_ns && seam.run.crowd)
		prun_helper_works(&seam.run, &work);
}

static struct measured begin(const struct kit_system *system, uint64_t own_code,
                             bool is_stream)
{
	struct measured m;

	kit_begin(system);
	seam.own_code = own_code;
	ppi_backend_set_kernel("solaris", &seam.solaris);
	m = kit_prepare(PSEAM_FUNCTION, 65536, REGION_BYTES / 2);
	if (system == &kit_solaris)
		assert_int_equal(portprof_config_set_backend(m.config,
		                                             "solaris"), 0);
	if (is_stream)
		portprof_config_add_callback(m.config, work_slowly, NULL);
	else
		portprof_config_add_range_callback(m.config, &m.region, 1,
		                                   work_slowly, NULL);
	if (kit_try_open(&m))
		fail_msg("open: %s", portprof_last_diag()->words);
	kit_run_helper(250 * MS);
	return m;
}

static uint64_t weight_in(const struct measured *m, uint64_t start,
                          uint64_t end)
{
	uint64_t sum = 0;

	for (uint64_t at = start; at < end; at += 2)
		sum += m->bins[(at - PSEAM_FUNCTION) / 2];
	return sum;
}

static void check_near(uint64_t got, uint64_t cpu_ns, uint64_t tick_ns,
                       const char *system)
{
	uint64_t most = cpu_ns / 100 + 3 * tick_ns;

	if (got > cpu_ns + most || got + most < cpu_ns)
		fail_msg("%s: %u ms weigh %u", system,
		         (unsigned)(cpu_ns / MS), (unsigned)(got / MS));
}

/* Two threads in the region; one beside that has time elsewhere, so that the
 * sum of the ticks shows nothing. */
static void run_program(void)
{
	const struct prun_work works[] = {
		{ 0, PSEAM_FUNCTION, PSEAM_FUNCTION + 64, 12000 * MS, 0 },
		{ 1, PSEAM_FUNCTION + 0x200, PSEAM_FUNCTION + 0x204, 6000 * MS,
		  0 },
		{ 1, PSEAM_LIBRARY, PSEAM_LIBRARY + 64, 6000 * MS, 0 },
	};

	prun_works(&seam.run, works, 3);
}

static void check_program(const struct kit_system *system, bool is_stream)
{
	struct measured m = begin(system, OWN_CODE, is_stream);
	const char *name = system->os->name;
	uint64_t tick_ns = 1000000000u / system->prof_hz, own;

	kit_start(&m);
	run_program();
	portprof_session_stop(m.session);
	assert_true(seam.run.helper_cpu_ns > 700 * MS);
	own = weight_in(&m, OWN_CODE, OWN_CODE + 0x200);
	if (own > 120 * MS + 3 * tick_ns)
		fail_msg("%s: the helper weighs %u ms", name,
		         (unsigned)(own / MS));
	check_near(weight_in(&m, PSEAM_FUNCTION, PSEAM_FUNCTION + 0x200),
	           12000 * MS, tick_ns, name);
	check_near(weight_in(&m, PSEAM_FUNCTION + 0x200, OWN_CODE), 6000 * MS,
	           tick_ns, name);
	kit_finish(&m);
	ppi_backend_set_kernel("solaris", NULL);
}

static void sample_9_helper_in_the_region_is_in_no_profile(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(systems) / sizeof(*systems); i++)
		check_program(systems[i], false);
}

static void sample_9_helper_is_in_no_stream(void **state)
{
	(void)state;
	check_program(&kit_solaris, true);
}

/*
 * Reading the bins takes most of the helper's time, and as long each time: what
 * hits the helper in the last look of a round is read in the next, together with
 * what came while it slept.
 */
static void check_reader(const struct kit_system *system, bool lwps_lag)
{
	uint64_t tick_ns = 1000000000u / system->prof_hz;
	struct measured m;

	kit_begin(system);
	seam.lwps_lag = lwps_lag;
	seam.own_code = OWN_CODE;
	seam.reader = OWN_CODE + 0x100;
	seam.reading_ns = 10 * MS;
	m = kit_prepare(PSEAM_FUNCTION, 65536, REGION_BYTES / 2);
	portprof_config_add_range_callback(m.config, &m.region, 1,
	                                   work_slowly, NULL);
	assert_int_equal(kit_try_open(&m), 0);
	kit_run_helper(250 * MS);
	kit_start(&m);
	run_program();
	portprof_session_stop(m.session);
	assert_true(seam.run.helper_cpu_ns > 900 * MS);
	if (weight_in(&m, OWN_CODE + 0x100, OWN_CODE + 0x140))
		fail_msg("%s: the reader weighs %u ms",
		         system->os->name, (unsigned)
		         (weight_in(&m, OWN_CODE + 0x100,
		                    OWN_CODE + 0x140) / MS));
	check_near(weight_in(&m, PSEAM_FUNCTION,
	                     PSEAM_FUNCTION + 0x200),
	           12000 * MS, tick_ns, system->os->name);
	kit_finish(&m);
}

static void the_reader_of_the_bins_is_in_no_profile(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++)
		check_reader(systems[i], false);
}

/* kern.lwp of NetBSD */
static void nor_where_the_helpers_time_is_told_late(void **state)
{
	(void)state;
	check_reader(&kit_netbsd, true);
}

/* Code of ours that is elsewhere has no ticks: what comes while the helper
 * works is the program's, be it where nothing was hit before. */
static void nothing_is_put_aside_where_the_helper_is_not(void **state)
{
	const struct prun_work anywhere = { 0, PSEAM_FUNCTION,
		                            PSEAM_FUNCTION + REGION_BYTES,
		                            12000 * MS, 0 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct measured m = begin(systems[i], PSEAM_HELPER, false);

		kit_start(&m);
		prun_works(&seam.run, &anywhere, 1);
		portprof_session_stop(m.session);
		check_near(weight_in(&m, PSEAM_FUNCTION,
		                     PSEAM_FUNCTION + REGION_BYTES),
		           anywhere.cpu_ns, 1000000000u / systems[i]->prof_hz,
		           systems[i]->os->name);
		kit_finish(&m);
	}
}

/* usage: PROGRAM [CASE]    cases that this pattern matches alone */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			sample_9_helper_in_the_region_is_in_no_profile),
		cmocka_unit_test(sample_9_helper_is_in_no_stream),
		cmocka_unit_test(the_reader_of_the_bins_is_in_no_profile),
		cmocka_unit_test(nor_where_the_helpers_time_is_told_late),
		cmocka_unit_test(nothing_is_put_aside_where_the_helper_is_not),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
