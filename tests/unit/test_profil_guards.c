/* SPDX-License-Identifier: MIT */
/*
 * The guards of the profil backend, each on every simulated kernel that needs
 * it: tests/mutation/run takes a guard away and must see its case fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/profil_kit.h"

/* ---- only safe arguments ---- */

static void only_safe_arguments_reach_it(void **state)
{
	static const uint32_t scales[] = { 2, 3, 4, 100, 4096, 0xC000, 0xFFFF,
		                           65536, 100000, 131072 };

	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++) {
		for (size_t count = 1; count < 6; count++) {
			struct measured m;

			kit_begin(*state);
			m = kit_measure(0x600001, scales[i], count);
			kit_start(&m);
			kit_run(0, 0x600001, 50 * MS, 0);
			portprof_session_flush(m.session);
			kit_run(0, 0x600001, 50 * MS, 0);
			portprof_session_stop(m.session);
			assert_false(seam.sim.saw_odd_size);
			assert_false(seam.sim.saw_uneven_scale);
			assert_true(seam.sim.smallest_scale >= 4);
			assert_true(seam.sim.largest_scale <= 65536);
			kit_finish(&m);
		}
	}
}

/* Scale 4 would do for the kernels' bins, but not for all their indices. */
static void a_region_of_4_gib_is_refused(void **state)
{
	struct measured m;

	kit_begin(*state);
	m = kit_prepare(PSEAM_FUNCTION, 2, 65536);
	assert_int_equal(kit_try_open(&m), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words, "4096 MiB"));
	kit_finish(&m);
}

static void what_lies_below_is_not_counted(void **state)
{
	struct measured m;

	kit_begin(*state);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_start(&m);
	kit_run(0, PSEAM_FUNCTION - 2, 300 * MS, 0);
	kit_run(0, PSEAM_TEXT - 64, 300 * MS, 0);
	portprof_session_stop(m.session);
	for (size_t i = 0; i < 256; i++)
		assert_int_equal(m.bins[i], 0);
	kit_finish(&m);
}

/* ---- aliases ---- */

/* Its low 32 bits are those of the region. */
static const struct ppi_text alias = { 0x100401000, 0x100402000 };

static void map_alias(void)
{
	seam.texts[2] = alias;
	seam.text_count = 3;
}

static void an_alias_4_gib_on_is_refused(void **state)
{
	struct measured m;

	kit_begin(*state);
	map_alias();
	m = kit_prepare(PSEAM_FUNCTION, 65536, 256);
	assert_int_equal(kit_try_open(&m), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words, "0x100401000"));
	kit_finish(&m);

	/* wider bins push the alias further away */
	kit_begin(*state);
	map_alias();
	m = kit_measure(PSEAM_FUNCTION, 16384, 64);
	kit_start(&m);
	kit_run(0, alias.start, 300 * MS, 0);
	portprof_session_stop(m.session);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(m.bins[i], 0);
	kit_finish(&m);
}

/* 2^46 bytes on it is one for bins of up to 32768 bytes; wider ones have no
 * safe scale, though the histogram would do with them. */
static void an_alias_at_each_scale_is_refused(void **state)
{
	struct measured m;

	kit_begin(*state);
	seam.texts[2].start = PSEAM_FUNCTION + (UINT64_C(1) << 46);
	seam.texts[2].end = seam.texts[2].start + 4096;
	seam.text_count = 3;
	m = kit_prepare(PSEAM_FUNCTION, 2, 1);
	assert_int_equal(kit_try_open(&m), PORTPROF_E_UNSUPPORTED);
	kit_finish(&m);
}

static void an_alias_loaded_later_is_told(void **state)
{
	struct measured m;

	kit_begin(*state);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_run_helper(5 * MS);
	kit_start(&m);
	assert_false(kit_has_note(&m, "as if it were"));
	map_alias();
	kit_run(0, PSEAM_FUNCTION, 2000 * MS, 0);
	portprof_session_stop(m.session);
	assert_true(kit_has_note(&m, "as if it were"));
	kit_finish(&m);
}

/* ---- harvest ---- */

/* More ticks in one bin than it holds. */
static uint64_t time_to_wrap(const struct kit_system *system)
{
	return UINT64_C(70000) * 1000000000 / system->prof_hz;
}

static void a_harvest_comes_before_bins_wrap(void **state)
{
	const struct kit_system *system = *state;
	uint64_t cpu_ns = time_to_wrap(system);
	struct measured m;
	portprof_stats stats;

	kit_begin(system);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_run_helper(system == &kit_dragonfly ? 8 * MS : 250 * MS);
	kit_start(&m);
	kit_run(0, PSEAM_FUNCTION, cpu_ns, 0);
	portprof_session_stop(m.session);
	stats = kit_stats(&m);
	assert_int_equal(stats.total_weight, cpu_ns);
	assert_true(m.bins[0] >= cpu_ns / 1000 * 995);
	assert_int_equal(m.bins[0], stats.kept_weight);
	assert_false(kit_has_note(&m, "too late"));
	kit_finish(&m);
}

static void a_harvest_too_late_is_told(void **state)
{
	uint64_t cpu_ns = time_to_wrap(*state);
	struct measured m;
	portprof_stats stats;

	kit_begin(*state); /* and nobody drains */
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_start(&m);
	kit_run(0, PSEAM_FUNCTION, cpu_ns, 0);
	portprof_session_stop(m.session);
	stats = kit_stats(&m);
	assert_true(kit_has_note(&m, "too late"));
	assert_int_equal(stats.total_weight, cpu_ns);
	/* what wrapped is missing in the bins, and told as such */
	assert_true(stats.unattributed_weight > cpu_ns / 10 * 9);
	kit_finish(&m);
}

/* A CPU that was writing when the buffer was replaced writes after. */
static void late_writes_are_counted(void **state)
{
	struct measured m;
	uint64_t before;

	kit_begin(*state);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_start(&m);
	kit_run(0, PSEAM_FUNCTION + 100, 500 * MS, 0);
	psim_update_begin(&seam.sim, 1, PSEAM_FUNCTION, 1);
	portprof_session_flush(m.session);
	assert_int_equal(m.bins[0], 0);
	psim_update_finish(&seam.sim, 1);
	before = m.bins[50];
	kit_run(0, PSEAM_FUNCTION + 100, 500 * MS, 0);
	portprof_session_flush(m.session);
	assert_true(m.bins[0] > 0);
	assert_true(m.bins[50] > before);
	portprof_session_stop(m.session);
	kit_finish(&m);
}

static void nothing_is_written_after_stop(void **state)
{
	struct measured m;
	uint64_t written;

	kit_begin(*state);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_start(&m);
	kit_run(0, PSEAM_FUNCTION, 100 * MS, 0);
	portprof_session_stop(m.session);
	written = seam.sim.written_ticks;
	kit_run(0, PSEAM_FUNCTION, 100 * MS, 0);
	assert_int_equal(seam.sim.written_ticks, written);
	kit_finish(&m);
}

/* ---- rate ---- */

static void an_unknown_rate_is_measured(void **state)
{
	const struct kit_system *system = *state;
	struct measured m;
	portprof_stats stats;

	kit_begin(system);
	seam.rate_hz = 0;
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	stats = kit_stats(&m);
	assert_in_range((uint64_t)stats.granted_hz, system->prof_hz * 97 / 100,
	                system->prof_hz * 103 / 100);
	assert_int_equal(stats.total_weight, 0);
	kit_finish(&m);
}

/* ---- others ---- */

static void an_application_keeps_its_own(void **state)
{
	struct measured m;
	bool is_glibc = *state == &kit_glibc;
	unsigned calls;

	kit_begin(*state);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	if (is_glibc)
		psim_set_timer(&seam.sim, 20 * MS);
	else
		pseam_application_takes(&seam);
	calls = seam.sim.calls;
	assert_int_equal(portprof_session_start(m.session), PORTPROF_E_BUSY);
	assert_int_equal(seam.sim.calls, calls);
	if (is_glibc)
		assert_int_equal(seam.sim.timer_every_ns, 20 * MS);
	else
		assert_true(pseam_is_applications(&seam));
	psim_set_timer(&seam.sim, 0);
	kit_finish(&m);
}

/* In a child the kernel continues: close must stop it before memory goes. */
static void a_childs_close_ends_what_it_inherited(void **state)
{
	struct measured m;
	int status = -1;
	pid_t pid;

	kit_begin(*state);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_start(&m);
	kit_run(0, PSEAM_FUNCTION, 50 * MS, 0);
	pid = fork();
	if (pid == 0) {
		portprof_session_close(m.session);
		_exit(pseam_held(&seam) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	kit_run(0, PSEAM_FUNCTION, 50 * MS, 0);
	portprof_session_stop(m.session);
	assert_int_equal(kit_stats(&m).total_weight, 100 * MS);
	kit_finish(&m);
}

#define ON(system, guard)                        \
	{ #system "_" #guard, guard, NULL, NULL, \
	  (void *)(uintptr_t)&kit_##system }
#define ON_BSD(guard)                           \
	ON(freebsd, guard), ON(netbsd, guard),  \
	ON(openbsd, guard), ON(dragonfly, guard)
#define ON_ALL(guard) ON_BSD(guard), ON(glibc, guard)

/* usage: PROGRAM [CASE]    cases that this pattern matches alone */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		ON_ALL(only_safe_arguments_reach_it),
		ON_ALL(a_region_of_4_gib_is_refused),
		ON_ALL(what_lies_below_is_not_counted),
		ON_BSD(an_alias_4_gib_on_is_refused),
		ON_BSD(an_alias_at_each_scale_is_refused),
		ON_BSD(an_alias_loaded_later_is_told),
		ON_ALL(a_harvest_comes_before_bins_wrap),
		ON_ALL(a_harvest_too_late_is_told),
		ON_BSD(late_writes_are_counted),
		ON_ALL(nothing_is_written_after_stop),
		ON_ALL(an_unknown_rate_is_measured),
		ON_ALL(an_application_keeps_its_own),
		ON_ALL(a_childs_close_ends_what_it_inherited),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
