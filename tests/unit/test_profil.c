/* SPDX-License-Identifier: MIT */
/* The profil backend on simulated kernels: each of its guards by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/internal/helper.h"
#include "api/internal/select.h"
#include "backends/backend.h"
#include "tests/sim/profil_seam.h"

#include <portprof.h>

#define MS UINT64_C(1000000)

static struct pseam seam;

struct system {
	const struct psim_os *os;
	enum profil_os backend_os;
	unsigned prof_hz, stat_hz;
};

static const struct system systems[] = {
	{ &psim_freebsd, PROFIL_FREEBSD, 8128, 127 },
	{ &psim_netbsd, PROFIL_NETBSD, 100, 100 },
	{ &psim_openbsd, PROFIL_OPENBSD, 1000, 100 },
	{ &psim_dragonfly, PROFIL_DRAGONFLY, 128, 128 },
	{ &psim_glibc, PROFIL_GLIBC, 100, 250 },
};

enum { SYSTEMS = sizeof(systems) / sizeof(systems[0]) };

static void run_helper(void *context)
{
	(void)context;
	ppi_helper_run_tasks();
}

static void begin(const struct system *system)
{
	pseam_init(&seam, system->os, system->backend_os);
	seam.sim.prof_hz = system->prof_hz;
	seam.sim.stat_hz = system->stat_hz;
	seam.rate_hz = system->prof_hz;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("profil", &seam.kernel);
}

/* ---- a session over bins of its own ---- */

struct measured {
	portprof_config *config;
	portprof_session *session;
	uint64_t *bins;
	portprof_region region;
};

static struct measured prepare(uint64_t offset, uint32_t scale, size_t count)
{
	struct measured m = { .config = portprof_config_new() };

	m.bins = calloc(count, sizeof(*m.bins));
	m.region = (portprof_region){ .offset = offset, .scale = scale,
		                      .bin_bits = 64, .bins = m.bins,
		                      .bin_count = count };
	assert_int_equal(portprof_config_set_backend(m.config, "profil"), 0);
	assert_int_equal(portprof_config_add_histogram(
				 m.config, 0, &m.region, 1,
				 PORTPROF_BINS_WEIGHT), 0);
	return m;
}

static portprof_status try_open(struct measured *m)
{
	portprof_status status = portprof_session_open(m->config, &m->session);

	portprof_config_free(m->config);
	m->config = NULL;
	return status;
}

static struct measured measure(uint64_t offset, uint32_t scale, size_t count)
{
	struct measured m = prepare(offset, scale, count);

	if (try_open(&m))
		fail_msg("open: %s", portprof_last_diag()->words);
	return m;
}

static void finish(struct measured *m)
{
	if (m->session)
		assert_int_equal(portprof_session_close(m->session), 0);
	free(m->bins);
	assert_int_equal(pseam_held(&seam), 0);
	psim_free(&seam.sim);
}

static portprof_stats stats_of(const struct measured *m)
{
	portprof_stats stats = { .size = sizeof(stats) };

	assert_int_equal(portprof_session_stats(m->session, 0, &stats), 0);
	return stats;
}

static bool has_note(const struct measured *m, const char *part)
{
	const char *note;

	for (size_t i = 0; (note = portprof_session_note(m->session, i)); i++)
		if (strstr(note, part))
			return true;
	return false;
}

static void run(unsigned thread, uint64_t pc, uint64_t cpu_ns,
                uint64_t kernel_ns)
{
	struct prun_work work = { thread, pc, pc + 2, cpu_ns, kernel_ns };

	prun_works(&seam.run, &work, 1);
}

/* ---- only safe arguments ---- */

static void guard_only_safe_arguments_reach_a_kernel(void **state)
{
	static const uint32_t scales[] = { 2, 3, 4, 100, 4096, 0xC000, 0xFFFF,
		                           65536, 100000, 131072 };

	(void)state;
	for (size_t s = 0; s < SYSTEMS; s++) {
		for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++) {
			for (size_t count = 1; count < 6; count++) {
				struct measured m;

				begin(&systems[s]);
				m = measure(0x600001, scales[i], count);
				portprof_session_start(m.session);
				run(0, 0x600001, 50 * MS, 0);
				portprof_session_stop(m.session);
				assert_false(seam.sim.saw_odd_size);
				assert_true(seam.sim.smallest_scale >= 4);
				assert_true(seam.sim.largest_scale <= 65536);
				finish(&m);
			}
		}
	}
}

static void guard_alias_code_4_gib_on_is_not_counted(void **state)
{
	(void)state;
	for (size_t s = 0; s < 4; s++) {
		struct measured m;

		begin(&systems[s]);
		/* its low 32 bits are those of the region */
		seam.texts[2] = (struct ppi_text){ 0x100401000,
			                              0x100402000 };
		seam.text_count = 3;
		m = prepare(PSEAM_FUNCTION, 65536, 256);
		assert_int_equal(try_open(&m), PORTPROF_E_UNSUPPORTED);
		assert_non_null(strstr(portprof_last_diag()->words,
		                       "0x100401000"));
		finish(&m);

		/* wider bins push the alias further away */
		begin(&systems[s]);
		seam.texts[2] = (struct ppi_text){ 0x100401000,
			                              0x100402000 };
		seam.text_count = 3;
		m = measure(PSEAM_FUNCTION, 16384, 64);
		portprof_session_start(m.session);
		run(0, 0x100401000, 300 * MS, 0);
		portprof_session_stop(m.session);
		for (size_t i = 0; i < 64; i++)
			assert_int_equal(m.bins[i], 0);
		finish(&m);
	}
}

static void guard_alias_loaded_later_is_told(void **state)
{
	struct measured m;

	(void)state;
	begin(&systems[0]);
	m = measure(PSEAM_FUNCTION, 65536, 256);
	seam.run.every = run_helper;
	seam.run.every_ns = 50 * MS;
	portprof_session_start(m.session);
	assert_false(has_note(&m, "as if it were"));
	seam.texts[2] = (struct ppi_text){ 0x100401000, 0x100402000 };
	seam.text_count = 3;
	run(0, PSEAM_FUNCTION, 2000 * MS, 0);
	portprof_session_stop(m.session);
	assert_true(has_note(&m, "as if it were"));
	finish(&m);
}

static void regions_too_far_apart_are_refused(void **state)
{
	portprof_config *config = portprof_config_new();
	uint64_t bins[2][4];
	portprof_region regions[2] = {
		{ 0x400000, 65536, 64, bins[0], 4 },
		{ 0x7f5500000000, 65536, 64, bins[1], 4 },
	};
	portprof_session *session = NULL;

	(void)state;
	begin(&systems[1]);
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

static void guard_harvest_comes_before_bins_wrap(void **state)
{
	(void)state;
	for (size_t s = 0; s < SYSTEMS; s++) {
		uint64_t ticks = 70000, cpu_ns;
		struct measured m;
		portprof_stats stats;

		begin(&systems[s]);
		cpu_ns = ticks * 1000000000 / systems[s].prof_hz;
		m = measure(PSEAM_FUNCTION, 65536, 256);
		seam.run.every = run_helper;
		seam.run.every_ns = systems[s].backend_os ==
		                    PROFIL_DRAGONFLY ? 8 * MS : 250 * MS;
		portprof_session_start(m.session);
		run(0, PSEAM_FUNCTION, cpu_ns, 0);
		portprof_session_stop(m.session);
		stats = stats_of(&m);
		assert_int_equal(stats.total_weight, cpu_ns);
		assert_true(m.bins[0] >= cpu_ns / 1000 * 995);
		assert_int_equal(m.bins[0], stats.kept_weight);
		assert_false(has_note(&m, "too late"));
		finish(&m);
	}
}

static void a_harvest_that_comes_too_late_is_told(void **state)
{
	struct measured m;
	portprof_stats stats;

	(void)state;
	begin(&systems[0]); /* and nobody drains */
	m = measure(PSEAM_FUNCTION, 65536, 256);
	portprof_session_start(m.session);
	run(0, PSEAM_FUNCTION, 9000 * MS, 0);
	portprof_session_stop(m.session);
	stats = stats_of(&m);
	assert_true(has_note(&m, "too late"));
	assert_int_equal(stats.total_weight, 9000 * MS);
	/* what wrapped is missing in the bins, and told as such */
	assert_true(stats.unattributed_weight > 7000 * MS);
	finish(&m);
}

static void many_cpus_are_harvested_more_often(void **state)
{
	struct ppi_plan plan = { .mode = PPI_SAMPLE };
	unsigned ms[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct ppi_backend_ops *ops = ppi_backend_find("profil");
		struct ppi_backend_session bs = { .ops = ops, .plan = &plan,
			                          .drain_every_ms = 250 };
		char notes[8][256];
		struct ppi_diag why = { 0 };

		begin(&systems[0]);
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

/* A CPU that was writing when the buffer was replaced writes after. */
static void guard_late_writes_are_counted(void **state)
{
	struct measured m;
	uint64_t before;

	(void)state;
	begin(&systems[1]);
	m = measure(PSEAM_FUNCTION, 65536, 256);
	portprof_session_start(m.session);
	run(0, PSEAM_FUNCTION + 100, 500 * MS, 0);
	psim_update_begin(&seam.sim, 1, PSEAM_FUNCTION, 1);
	portprof_session_flush(m.session);
	assert_int_equal(m.bins[0], 0);
	psim_update_finish(&seam.sim, 1);
	before = m.bins[50];
	run(0, PSEAM_FUNCTION + 100, 500 * MS, 0);
	portprof_session_flush(m.session);
	assert_true(m.bins[0] > 0);
	assert_true(m.bins[50] > before);
	portprof_session_stop(m.session);
	finish(&m);
}

static void no_write_reaches_memory_after_close(void **state)
{
	(void)state;
	for (size_t s = 0; s < SYSTEMS; s++) {
		struct measured m;
		uint64_t written;

		begin(&systems[s]);
		m = measure(PSEAM_FUNCTION, 65536, 256);
		portprof_session_start(m.session);
		run(0, PSEAM_FUNCTION, 100 * MS, 0);
		portprof_session_stop(m.session);
		written = seam.sim.written_ticks;
		run(0, PSEAM_FUNCTION, 100 * MS, 0);
		assert_int_equal(seam.sim.written_ticks, written);
		finish(&m);
	}
}

/* ---- weights ---- */

static void guard_microseconds_of_dragonfly_are_no_ticks(void **state)
{
	struct measured m;
	portprof_stats stats;

	(void)state;
	begin(&systems[3]);
	m = measure(PSEAM_FUNCTION, 65536, 256);
	seam.run.every = run_helper;
	seam.run.every_ns = 5 * MS;
	portprof_session_start(m.session);
	run(0, PSEAM_FUNCTION, 2000 * MS, 0);
	run(0, PSEAM_FUNCTION + 64, 2000 * MS, 1900 * MS);
	portprof_session_stop(m.session);
	stats = stats_of(&m);
	assert_int_equal(stats.total_weight, 4000 * MS);
	/* both halves alike, although one has a bin of a million */
	assert_in_range(m.bins[0], 1950 * MS, 2050 * MS);
	assert_in_range(m.bins[32], 1800 * MS, 2050 * MS);
	assert_true(stats.kept_samples < 600);
	finish(&m);
}

static void an_unknown_rate_is_measured(void **state)
{
	(void)state;
	for (size_t s = 0; s < SYSTEMS; s++) {
		struct measured m;
		portprof_stats stats;

		begin(&systems[s]);
		seam.rate_hz = 0;
		m = measure(PSEAM_FUNCTION, 65536, 256);
		stats = stats_of(&m);
		assert_in_range((uint64_t)stats.granted_hz,
		                systems[s].prof_hz * 97 / 100,
		                systems[s].prof_hz * 103 / 100);
		assert_int_equal(stats.total_weight, 0);
		finish(&m);
	}
}

static void a_kernel_without_ticks_is_refused(void **state)
{
	struct measured m;

	(void)state;
	begin(&systems[1]);
	seam.rate_hz = 0;
	seam.sim.prof_hz = 1;
	m = prepare(PSEAM_FUNCTION, 65536, 256);
	assert_int_equal(try_open(&m), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words, "nothing"));
	finish(&m);
}

/* ---- OpenBSD 7.8 ---- */

static void openbsd78_is_recognised(void **state)
{
	static const struct system new = { &psim_openbsd78, PROFIL_OPENBSD78,
		                           100, 100 };
	struct measured m;

	(void)state;
	begin(&new);
	m = prepare(PSEAM_FUNCTION, 65536, 256);
	assert_int_equal(try_open(&m), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words, "-pg"));
	assert_int_equal(portprof_last_diag()->os_errno, EPERM);
	finish(&m);

	/* linked with -pg: the runtime has it */
	begin(&new);
	seam.sim.has_gmon_note = true;
	m = prepare(PSEAM_FUNCTION, 65536, 256);
	assert_int_equal(try_open(&m), PORTPROF_E_BUSY);
	finish(&m);
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

/* What auto takes where only profil and itimer can be had. */
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

static void auto_takes_a_kernels_profil_and_no_librarys(void **state)
{
	static const struct system new = { &psim_openbsd78, PROFIL_OPENBSD78,
		                           100, 100 };
	struct ppi_passed_over list = { 0 };

	(void)state;
	begin(&systems[0]);
	assert_string_equal(chosen_without_timers(&list), "profil");
	ppi_passed_over_free(&list);
	if (!ppi_backend_find("itimer"))
		return;
	begin(&systems[4]);
	assert_string_equal(chosen_without_timers(&list), "itimer");
	assert_non_null(strstr(list.reasons[list.count - 1],
	                       "only when named"));
	ppi_passed_over_free(&list);
	begin(&new);
	assert_string_equal(chosen_without_timers(&list), "itimer");
	assert_string_equal(list.names[list.count - 1], "profil");
	assert_non_null(strstr(list.reasons[list.count - 1], "-pg"));
	ppi_passed_over_free(&list);
}

/* ---- fork, signals ---- */

/* In a child the kernel goes on: close must stop it before memory goes. */
static void a_childs_close_ends_what_it_inherited(void **state)
{
	(void)state;
	for (size_t s = 0; s < SYSTEMS; s++) {
		struct measured m;
		int status = -1;
		pid_t pid;

		begin(&systems[s]);
		m = measure(PSEAM_FUNCTION, 65536, 256);
		portprof_session_start(m.session);
		run(0, PSEAM_FUNCTION, 50 * MS, 0);
		pid = fork();
		if (pid == 0) {
			portprof_session_close(m.session);
			_exit(pseam_held(&seam) != 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		run(0, PSEAM_FUNCTION, 50 * MS, 0);
		portprof_session_stop(m.session);
		assert_int_equal(stats_of(&m).total_weight, 100 * MS);
		finish(&m);
	}
}

static void glibc_is_stopped_without_a_death(void **state)
{
	struct measured m;

	(void)state;
	begin(&systems[4]);
	m = measure(PSEAM_FUNCTION, 65536, 256);
	portprof_session_start(m.session);
	/* a tick on its way, to be taken after the stop */
	seam.sim.process_cpu_ns = seam.sim.timer_at_ns;
	psim_stat_tick(&seam.sim, 3, PSIM_USER, PSEAM_FUNCTION, 1);
	portprof_session_stop(m.session);
	psim_return_to_user(&seam.sim, 3, PSEAM_FUNCTION);
	assert_false(seam.sim.is_dead);
	assert_int_equal(seam.sim.action, PSIM_DEFAULT);
	finish(&m);
}

static void an_application_that_takes_sigprof_later_keeps_it(void **state)
{
	struct measured m;

	(void)state;
	begin(&systems[4]);
	m = measure(PSEAM_FUNCTION, 65536, 256);
	portprof_session_start(m.session);
	psim_set_action(&seam.sim, PSIM_APPLICATION);
	portprof_session_stop(m.session);
	assert_int_equal(seam.sim.action, PSIM_APPLICATION);
	psim_set_action(&seam.sim, PSIM_DEFAULT);
	finish(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guard_only_safe_arguments_reach_a_kernel),
		cmocka_unit_test(guard_alias_code_4_gib_on_is_not_counted),
		cmocka_unit_test(guard_alias_loaded_later_is_told),
		cmocka_unit_test(regions_too_far_apart_are_refused),
		cmocka_unit_test(guard_harvest_comes_before_bins_wrap),
		cmocka_unit_test(a_harvest_that_comes_too_late_is_told),
		cmocka_unit_test(many_cpus_are_harvested_more_often),
		cmocka_unit_test(guard_late_writes_are_counted),
		cmocka_unit_test(no_write_reaches_memory_after_close),
		cmocka_unit_test(guard_microseconds_of_dragonfly_are_no_ticks),
		cmocka_unit_test(an_unknown_rate_is_measured),
		cmocka_unit_test(a_kernel_without_ticks_is_refused),
		cmocka_unit_test(openbsd78_is_recognised),
		cmocka_unit_test(auto_takes_a_kernels_profil_and_no_librarys),
		cmocka_unit_test(a_childs_close_ends_what_it_inherited),
		cmocka_unit_test(glibc_is_stopped_without_a_death),
		cmocka_unit_test(an_application_that_takes_sigprof_later_keeps_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
