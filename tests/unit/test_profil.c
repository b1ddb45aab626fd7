/* SPDX-License-Identifier: MIT */
/* The profil backend on simulated kernels: what one system alone has, and
 * what it is chosen for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/core/open.h"
#include "backends/backend.h"
#include "tests/unit/profil_kit.h"

static void regions_too_far_apart_are_refused(void **state)
{
	portprof_config *config = portprof_config_new();
	uint64_t bins[2][4];
	portprof_range regions[2] = {
		{ 0x400000, 65536, 64, bins[0], 4 },
		{ 0x7f5500000000, 65536, 64, bins[1], 4 },
	};
	portprof_session *session = NULL;

	(void)state;
	kit_begin(&kit_netbsd);
	portprof_config_set_backend(config, "profil");
	assert_int_equal(portprof_config_add_histogram(
				 config, 0, regions, 2, PORTPROF_BINS_TICKS), 0);
	assert_int_equal(portprof_session_open(config, &session),
	                 PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words, "MiB"));
	portprof_config_free(config);
	assert_int_equal(pseam_held(&seam), 0);
}

/* ---- harvest ---- */

static void many_cpus_are_harvested_more_often(void **state)
{
	struct ppi_plan plan = { .mode = PPI_SAMPLE };
	unsigned ms[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct ppi_backend_ops *ops = ppi_backend_find("profil");
		struct ppi_backend_session bs = { .ops = ops, .plan = &plan,
			                          .drain_every_ms = 250 };
		char notes[8][PPI_NOTE_BYTES];
		struct ppi_diag why = { 0 };

		kit_begin(&kit_freebsd);
		seam.cpu_count = i ? 512 : 64;
		bs.kernel = &seam.kernel;
		bs.state = calloc(1, ops->state_size);
		bs.notes = notes;
		bs.note_room = 8;
		bs.owner_pid = getpid();
		assert_int_equal(ops->open(&bs, &why), 0);
		ms[i] = bs.drain_every_ms;
		ops->close(&bs);
		free(bs.state);
	}
	/* 65536 bins at 8128 Hz on 64 CPUs: 126 ms, and half of that */
	assert_in_range(ms[0], 1, 63);
	assert_in_range(ms[1], 1, ms[0] / 8);
}

/* ---- weights ---- */

static void microseconds_of_dragonfly_are_no_ticks(void **state)
{
	struct measured m;
	portprof_stats stats;

	(void)state;
	kit_begin(&kit_dragonfly);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_run_helper(5 * MS);
	kit_start(&m);
	kit_run(0, PSEAM_FUNCTION, 2000 * MS, 0);
	kit_run(0, PSEAM_FUNCTION + 64, 2000 * MS, 1900 * MS);
	/* in turns, so that a harvest has both: no bound of its whole helps */
	for (unsigned i = 0; i < 1000; i++) {
		kit_run(0, PSEAM_FUNCTION + 128, 2 * MS, 0);
		kit_run(0, PSEAM_FUNCTION + 192, 2 * MS, 1900000);
	}
	portprof_session_stop(m.session);
	stats = kit_stats(&m);
	assert_int_equal(stats.total_weight, 8000 * MS);
	/* all alike, although half of them have bins of a million */
	assert_in_range(m.bins[0], 1950 * MS, 2050 * MS);
	assert_in_range(m.bins[32], 1800 * MS, 2050 * MS);
	assert_in_range(m.bins[64], 1800 * MS, 2200 * MS);
	assert_in_range(m.bins[96], 1800 * MS, 2200 * MS);
	assert_true(stats.kept_samples < 1200);
	kit_finish(&m);
}

/* kern.clockrate has a clock that is compiled out. */
static void dragonfly_is_not_believed(void **state)
{
	struct measured m;

	(void)state;
	kit_begin(&kit_dragonfly);
	seam.rate_hz = 8128;
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	assert_in_range((uint64_t)kit_stats(&m).granted_hz, 124, 132);
	kit_finish(&m);
}

static void a_kernel_without_ticks_is_refused(void **state)
{
	struct measured m;

	(void)state;
	kit_begin(&kit_netbsd);
	seam.rate_hz = 0;
	seam.sim.prof_hz = 1;
	m = kit_prepare(PSEAM_FUNCTION, 65536, 256);
	assert_int_equal(kit_try_open(&m), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words, "nothing"));
	kit_finish(&m);
}

/* ---- time of before the start ---- */

enum { OTHER = 64, STAY_MS = 3000 }; /* bytes from the first function's bin */

/* Thread 2 spends that much in the kernel, in one call. */
static void stay_in_kernel(bool is_charged_now)
{
	uint64_t ns = STAY_MS * MS;

	psim_stat_tick(&seam.sim, 2, PSIM_KERNEL, 0,
	               (unsigned)(ns * seam.sim.stat_hz / 1000000000u));
	if (is_charged_now) {
		seam.sim.process_cpu_ns += ns;
		seam.run.now_ns += ns;
	}
}

static void check_not_ours(const struct measured *m, unsigned runs)
{
	portprof_stats stats = kit_stats(m);
	uint64_t ms = m->bins[0] / MS;

	assert_int_equal(stats.total_weight, runs * 1000 * MS);
	assert_in_range(ms, runs * 970, runs * 1000);
	assert_in_range(m->bins[OTHER / 2] / MS, 0, runs * 30);
	assert_true(kit_has_note(m, "put aside"));
}

/* A stay that began before the session ends in it, and is billed whole. */
static void kernel_time_of_before_is_not_ours(void **state)
{
	static const struct kit_system *const systems[] = { &kit_freebsd,
		                                            &kit_dragonfly };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct measured m;

		kit_begin(systems[i / 2]);
		m = kit_measure(PSEAM_FUNCTION, 65536, 256);
		if (i % 2 || i / 2) /* DragonFly wraps else */
			kit_run_helper(10 * MS);
		stay_in_kernel(false);
		kit_start(&m);
		psim_return_from_call(&seam.sim, 2, PSEAM_FUNCTION + OTHER);
		kit_run(0, PSEAM_FUNCTION, 1000 * MS, 0);
		portprof_session_stop(m.session);
		check_not_ours(&m, 1);
		/* and the same while it was stopped */
		stay_in_kernel(false);
		kit_start(&m);
		kit_run(0, PSEAM_FUNCTION, 500 * MS, 0);
		psim_return_from_call(&seam.sim, 2, PSEAM_FUNCTION + OTHER);
		kit_run(0, PSEAM_FUNCTION, 500 * MS, 0);
		portprof_session_stop(m.session);
		check_not_ours(&m, 2);
		kit_finish(&m);
	}
}

/* The longest stay is ours when it began after the start. */
static void kernel_time_of_after_is_ours(void **state)
{
	struct measured m;

	(void)state;
	kit_begin(&kit_freebsd);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_run_helper(50 * MS);
	kit_start(&m);
	kit_run(0, PSEAM_FUNCTION, 1000 * MS, 0);
	stay_in_kernel(true);
	prun_idle(&seam.run, 200 * MS);
	psim_return_from_call(&seam.sim, 2, PSEAM_FUNCTION + OTHER);
	kit_run(0, PSEAM_FUNCTION, 1000 * MS, 0);
	portprof_session_stop(m.session);
	assert_in_range(m.bins[OTHER / 2] / MS, STAY_MS - 30, STAY_MS + 30);
	assert_in_range(m.bins[0] / MS, 1970, 2030);
	assert_false(kit_has_note(&m, "put aside"));
	kit_finish(&m);
}

/* ---- OpenBSD 7.8 ---- */

static void openbsd78_is_recognised(void **state)
{
	struct measured m;

	(void)state;
	kit_begin(&kit_openbsd78);
	m = kit_prepare(PSEAM_FUNCTION, 65536, 256);
	assert_int_equal(kit_try_open(&m), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words, "-pg"));
	assert_int_equal(portprof_last_diag()->os_errno, EPERM);
	kit_finish(&m);

	/* linked with -pg: the runtime has it */
	kit_begin(&kit_openbsd78);
	seam.sim.has_gmon_note = true;
	m = kit_prepare(PSEAM_FUNCTION, 65536, 256);
	assert_int_equal(kit_try_open(&m), PORTPROF_E_BUSY);
	kit_finish(&m);
}

static portprof_status no_attempt(const struct ppi_backend_ops *ops,
                                  const void *kernel,
                                  const struct ppi_probe *probe, void *context,
                                  struct ppi_diag *why)
{
	(void)kernel;
	(void)probe;
	*(const char **)context = ops->name;
	(void)why;
	return PORTPROF_OK;
}

/* What auto takes where there are only profil and itimer. */
static const char *chosen_without_timers(struct ppi_passed_over *list)
{
	const char *name = NULL;
	struct ppi_diag why = { 0 };

	/* exclusive is what profil and itimer have and the others lack */
	assert_int_equal(ppi_select("auto", PORTPROF_CAP_SAMPLE |
	                            PORTPROF_CAP_EXCLUSIVE, no_attempt, &name,
	                            list, &why), 0);
	return name;
}

static const char *last_of(const struct ppi_vector *texts)
{
	return PPI_AT(texts, char *)[texts->count - 1];
}

static void auto_takes_a_kernels_profil_and_no_librarys(void **state)
{
	struct ppi_passed_over list = { 0 };

	(void)state;
	kit_begin(&kit_freebsd);
	assert_string_equal(chosen_without_timers(&list), "profil");
	ppi_passed_over_free(&list);
	if (!ppi_backend_find("itimer"))
		return;
	kit_begin(&kit_glibc);
	assert_string_equal(chosen_without_timers(&list), "itimer");
	assert_non_null(strstr(last_of(&list.reasons), "only when named"));
	ppi_passed_over_free(&list);
	kit_begin(&kit_openbsd78);
	assert_string_equal(chosen_without_timers(&list), "itimer");
	assert_string_equal(last_of(&list.names), "profil");
	assert_non_null(strstr(last_of(&list.reasons), "-pg"));
	ppi_passed_over_free(&list);
}

/* Other code than what is sampled runs, from the beginning or later. */
static void only_what_never_ticks_has_a_note(void **state)
{
	struct measured m;

	(void)state;
	kit_begin(&kit_netbsd);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_start(&m);
	kit_run(0, PSEAM_LIBRARY, 200 * MS, 0);
	portprof_session_stop(m.session);
	assert_true(kit_has_note(&m, "no tick came in the first 200 ms"));
	kit_finish(&m);

	kit_begin(&kit_netbsd);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_start(&m);
	kit_run(0, PSEAM_FUNCTION, 100 * MS, 0);
	portprof_session_flush(m.session);
	for (unsigned i = 0; i < 5; i++) {
		kit_run(0, PSEAM_LIBRARY, 200 * MS, 0);
		portprof_session_flush(m.session);
	}
	portprof_session_stop(m.session);
	assert_false(kit_has_note(&m, "no tick"));
	kit_finish(&m);
}

static const char *reason_for(portprof_session *session, const char *wanted)
{
	const char *name, *reason;

	for (size_t i = 0; portprof_session_passed_over(session, i, &name,
	                                                &reason) == 0; i++)
		if (strcmp(name, wanted) == 0)
			return reason;
	return NULL;
}

static void set_absent(const void *kernel)
{
	ppi_backend_set_kernel("perf", kernel);
	ppi_backend_set_kernel("timer", kernel);
	ppi_backend_set_kernel("solaris", kernel);
}

/* As a user meets it, on a system that has but these two. */
static void openbsd78_goes_on_to_the_timer(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session = NULL;

	(void)state;
	kit_begin(&kit_openbsd78);
	set_absent(ppi_no_kernel);
	if (ppi_backend_find("itimer")) {
		assert_int_equal(portprof_session_open(config, &session), 0);
		assert_string_equal(portprof_session_backend(session),
		                    "itimer");
		assert_non_null(strstr(reason_for(session, "profil"), "-pg"));
		assert_int_equal(portprof_session_close(session), 0);
	}
	portprof_config_free(config);
	set_absent(NULL);
	psim_free(&seam.sim);
}

/* ---- signals ---- */

static void glibc_is_stopped_without_a_death(void **state)
{
	struct measured m;

	(void)state;
	kit_begin(&kit_glibc);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_start(&m);
	/* a tick on its way, to be taken after the stop */
	seam.sim.process_cpu_ns = seam.sim.timer_at_ns;
	psim_stat_tick(&seam.sim, 3, PSIM_USER, PSEAM_FUNCTION, 1);
	portprof_session_stop(m.session);
	psim_return_to_user(&seam.sim, 3, PSEAM_FUNCTION);
	assert_false(seam.sim.is_dead);
	assert_int_equal(seam.sim.action, PSIM_DEFAULT);
	kit_finish(&m);
}

static void an_application_that_takes_sigprof_later_keeps_it(void **state)
{
	struct measured m;

	(void)state;
	kit_begin(&kit_glibc);
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_start(&m);
	psim_set_action(&seam.sim, PSIM_APPLICATION);
	portprof_session_stop(m.session);
	assert_int_equal(seam.sim.action, PSIM_APPLICATION);
	psim_set_action(&seam.sim, PSIM_DEFAULT);
	kit_finish(&m);
}

/* usage: PROGRAM [CASE]    cases that this pattern matches alone */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_too_far_apart_are_refused),
		cmocka_unit_test(many_cpus_are_harvested_more_often),
		cmocka_unit_test(microseconds_of_dragonfly_are_no_ticks),
		cmocka_unit_test(dragonfly_is_not_believed),
		cmocka_unit_test(a_kernel_without_ticks_is_refused),
		cmocka_unit_test(kernel_time_of_before_is_not_ours),
		cmocka_unit_test(kernel_time_of_after_is_ours),
		cmocka_unit_test(openbsd78_is_recognised),
		cmocka_unit_test(auto_takes_a_kernels_profil_and_no_librarys),
		cmocka_unit_test(only_what_never_ticks_has_a_note),
		cmocka_unit_test(openbsd78_goes_on_to_the_timer),
		cmocka_unit_test(glibc_is_stopped_without_a_death),
		cmocka_unit_test(an_application_that_takes_sigprof_later_keeps_it),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
