/* SPDX-License-Identifier: MIT */
/* Each refusal of the perf backend: its status, and that it names a remedy. */
#include "backends/perf/kernel/perf_refusal.h"
#include "backends/perf/sampling/perf_rings.h"
#include "backends/perf/sampling/perf_samples.h"
#include "tests/unit/perf_run.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <portprof.h>

static struct perf_run run;
static struct ppi_probe probe;

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	run_init(&run, PPI_SAMPLE);
	memset(&probe, 0, sizeof(probe));
	return 0;
}

static int nothing_is_held(void **state)
{
	(void)state;
	if (run.bs.state)
		run_close(&run);
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_mapped(), 0);
	return 0;
}

static void probe_now(void)
{
	run.bs.ops->probe(&perf_sim_kernel, &probe);
	assert_int_equal(perf_sim_open_fds(), 0);
}

/* Not usable, and the reason has every one of the words. */
static void expect_refusal(portprof_status status, int os_errno,
                           const char *first, const char *second)
{
	probe_now();
	assert_false(probe.is_usable);
	assert_int_equal(probe.status, status);
	assert_int_equal(probe.os_errno, os_errno);
	assert_non_null(strstr(probe.reason, first));
	assert_non_null(strstr(probe.reason, second));
}

static void all_is_well(void **state)
{
	(void)state;
	perf_sim_machine.counters = 4;
	probe_now();
	assert_true(probe.is_usable);
	assert_int_equal(probe.caps, run.bs.ops->caps);
	assert_string_equal(probe.reason, "");
}

static void no_pmu(void **state)
{
	(void)state;
	probe_now();
	assert_true(probe.is_usable);
	assert_int_equal(run.bs.ops->caps & ~probe.caps,
	                 PORTPROF_CAP_HARDWARE);
	assert_non_null(strstr(probe.reason, "PMU"));
}

/* Each for its own reason: a PMU is nothing that rights would give. */
static void each_limit_has_its_status(void **state)
{
	static const struct {
		uint64_t cap;
		portprof_status status;
		const char *words;
	} cases[] = {
		{ PORTPROF_CAP_HARDWARE, PORTPROF_E_UNSUPPORTED, "PMU" },
		{ PORTPROF_CAP_KERNEL, PORTPROF_E_DENIED, "paranoid=1" },
		{ PORTPROF_CAP_SYSTEM, PORTPROF_E_DENIED, "paranoid=0" },
	};

	(void)state;
	perf_sim_machine.is_privileged = false;
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		portprof_config *config = portprof_config_new();
		portprof_session *session = NULL;
		const char *words;

		portprof_config_set_backend(config, "perf");
		portprof_config_require(config, cases[i].cap);
		assert_int_equal(portprof_session_open(config, &session),
		                 cases[i].status);
		words = portprof_last_diag()->words;
		assert_non_null(strstr(words, portprof_cap_name(cases[i].cap)));
		assert_non_null(strstr(words, cases[i].words));
		for (size_t j = 0; j < i; j++)
			assert_null(strstr(words, cases[j].words));
		portprof_config_free(config);
	}
	ppi_backend_set_kernel("perf", NULL);
}

/* CPUs and cgroups that are not there are so for everybody: that comes before
 * the rights to measure them. */
static void places_before_rights(void **state)
{
	static const struct {
		const char *cgroup, *cpus;
		portprof_status status;
		const char *words;
	} cases[] = {
		{ NULL, "4095", PORTPROF_E_INVALID, "4095" },
		{ "no-such", NULL, PORTPROF_E_NOTFOUND, "no-such" },
		{ NULL, "0", PORTPROF_E_DENIED, "paranoid=0" },
	};

	(void)state;
	perf_sim_machine.is_privileged = false;
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		size_t at = i / 2;
		portprof_config *config = portprof_config_new();
		portprof_session *session = NULL;
		portprof_group *group = NULL;

		portprof_config_set_backend(config, "perf");
		portprof_config_add_event(config, "task-clock");
		portprof_config_set_target_system(config, cases[at].cgroup,
		                                  cases[at].cpus);
		assert_int_equal(
			i % 2 ? portprof_group_open_config(config, &group)
			      : portprof_session_open(config, &session),
			cases[at].status);
		assert_non_null(strstr(portprof_last_diag()->words,
		                       cases[at].words));
		portprof_config_free(config);
	}
	ppi_backend_set_kernel("perf", NULL);
}

static void an_ordinary_user(void **state)
{
	(void)state;
	perf_sim_machine.counters = 4;
	perf_sim_machine.is_privileged = false;
	probe_now();
	assert_true(probe.is_usable);
	assert_int_equal(run.bs.ops->caps & ~probe.caps,
	                 PORTPROF_CAP_KERNEL | PORTPROF_CAP_SYSTEM);
	assert_non_null(strstr(probe.reason, "paranoid is 2"));
	assert_non_null(strstr(probe.reason,
	                       "sysctl kernel.perf_event_paranoid=1"));
	assert_non_null(strstr(probe.reason, "not the whole system: "));
	assert_non_null(strstr(probe.reason, "setcap cap_perfmon"));
}

static void a_locked_distribution(void **state)
{
	(void)state;
	for (int level = 3; level <= 4; level++) {
		perf_sim_machine.is_privileged = false;
		perf_sim_machine.paranoid = level;
		expect_refusal(PORTPROF_E_DENIED, EACCES, "locked",
		               "sysctl kernel.perf_event_paranoid=2");
	}
}

static void a_filter_that_says_eperm(void **state)
{
	(void)state;
	perf_sim_machine.syscall_error = EPERM;
	perf_sim_machine.has_filter = true;
	expect_refusal(PORTPROF_E_DENIED, EPERM, "seccomp",
	               "--cap-add PERFMON");
}

/* ENOSYS of a kernel that has perf events: somebody stands between. */
static void a_filter_that_says_enosys(void **state)
{
	(void)state;
	perf_sim_machine.syscall_error = ENOSYS;
	perf_sim_machine.has_filter = true;
	expect_refusal(PORTPROF_E_DENIED, ENOSYS, "seccomp",
	               "--cap-add PERFMON");
}

static void a_kernel_without_perf_events(void **state)
{
	(void)state;
	perf_sim_machine.syscall_error = ENOSYS;
	expect_refusal(PORTPROF_E_UNSUPPORTED, ENOSYS, "built without",
	               "CONFIG_PERF_EVENTS");
}

static void a_security_module(void **state)
{
	(void)state;
	/* The first two questions pass, the third is the first real one. */
	perf_sim_fail(0, 3, 3);
	expect_refusal(PORTPROF_E_DENIED, EACCES, "security module",
	               "administrator");
}

static void old_kernels_lack_capabilities(void **state)
{
	(void)state;
	perf_sim_machine.counters = 4;
	perf_sim_machine.lacks_features = true;
	probe_now();
	assert_int_equal(run.bs.ops->caps & ~probe.caps,
	                 PORTPROF_CAP_LOST_EXACT | PORTPROF_CAP_TIME |
	                 PORTPROF_CAP_UNWIND);
}

/* ---- events ---- */

static void expect_words(portprof_status got, portprof_status status,
                         int os_errno, const char *words)
{
	assert_int_equal(got, status);
	assert_int_equal(run.why.status, status);
	assert_int_equal(run.why.os_errno, os_errno);
	assert_true(run.why.step[0] != '\0');
	if (!strstr(run.why.words, words))
		fail_msg("'%s' is not in: %s", words, run.why.words);
}

static void events_that_cannot_be(void **state)
{
	(void)state;
	expect_words(run_add(&run, "cycles", 1000), PORTPROF_E_UNSUPPORTED,
	             ENOENT, "cpu-clock and task-clock need none");
	expect_words(run_add(&run, "task-clock:period=9999", 0),
	             PORTPROF_E_INVALID, 0, "10000 ns");
	expect_words(run_add(&run, "task-clock:precise=2", 1000),
	             PORTPROF_E_UNSUPPORTED, 0, "precise");
	expect_words(run_add(&run, "task-clock:cpu=1", 1000),
	             PORTPROF_E_UNSUPPORTED, 0, "cpu=1");
	expect_words(run_add(&run, "mem:0x1000", 1000),
	             PORTPROF_E_UNSUPPORTED, ENOENT, "no debug registers");
	/* no guest's faults are known here, whatever else is counted */
	expect_words(run_add(&run, "page-faults:mg", 1000),
	             PORTPROF_E_UNSUPPORTED, 0, "column 13: drop 'mg'");
	expect_words(run_add(&run, "task-clock:mg:mh", 1000),
	             PORTPROF_E_UNSUPPORTED, 0, "column 12: drop 'mg'");
	perf_sim_machine.is_privileged = false;
	expect_words(run_add(&run, "task-clock:k", 1000), PORTPROF_E_DENIED,
	             EACCES, "kernel.perf_event_paranoid=1");
	assert_int_equal(run.plan.event_count, 0);
}

/* Where nothing at all is let through, that is the reason, not the rights
 * that this event would need as well. */
static void events_behind_a_filter(void **state)
{
	(void)state;
	perf_sim_machine.syscall_error = EPERM;
	perf_sim_machine.has_filter = true;
	expect_words(run_add(&run, "task-clock", 1000), PORTPROF_E_DENIED,
	             EPERM, "'task-clock': a system call filter (seccomp)");
	perf_sim_machine.syscall_error = ENOSYS;
	expect_words(run_add(&run, "page-faults", 1000), PORTPROF_E_DENIED,
	             ENOSYS, "--cap-add PERFMON");
	assert_null(strstr(run.why.words, "paranoid"));
}

/* A mode that was asked for is never taken away quietly. */
static void only_what_was_not_asked_for_is_given_up(void **state)
{
	(void)state;
	perf_sim_machine.is_privileged = false;
	expect_words(run_add(&run, "task-clock:u:k", 1000), PORTPROF_E_DENIED,
	             EACCES, "paranoid");
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	assert_false(run.events[0].counts_kernel);
	assert_non_null(strstr(run.events[0].description,
	                       "kernel mode is not permitted), "
	                       "1000 times a second: CPU time"));
	assert_null(strstr(run.events[0].description, "user and kernel"));
}

/* They happen in the kernel: in user mode alone they would be 0, which is not
 * what was counted. */
static void switches_in_user_mode(void **state)
{
	static const char *const names[] = { "context-switches",
		                             "cpu-migrations" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char user[64];

		snprintf(user, sizeof(user), "%s:u", names[i]);
		perf_sim_machine.is_privileged = true;
		assert_int_equal(run_add(&run, names[i], 1), PORTPROF_OK);
		expect_words(run_add(&run, user, 1), PORTPROF_E_UNSUPPORTED, 0,
		             "always be 0");
		perf_sim_machine.is_privileged = false;
		expect_words(run_add(&run, names[i], 1),
		             PORTPROF_E_UNSUPPORTED, EACCES,
		             "sysctl kernel.perf_event_paranoid=1");
	}
}

/* perf_event_open(2), "ERRORS". */
static void each_errno_has_its_status(void **state)
{
	static const struct {
		int os_errno;
		portprof_status status;
		const char *words;
	} cases[] = {
		{ EACCES, PORTPROF_E_DENIED, "perf_event_paranoid" },
		{ EPERM, PORTPROF_E_DENIED, "perf_event_paranoid" },
		{ EBUSY, PORTPROF_E_BUSY, "exclusive" },
		{ EINVAL, PORTPROF_E_UNSUPPORTED, "modifiers" },
		{ EMFILE, PORTPROF_E_LIMIT, "ulimit -n" },
		{ ENFILE, PORTPROF_E_LIMIT, "fs.file-max" },
		{ ENODEV, PORTPROF_E_UNSUPPORTED, "no PMU" },
		{ ENOENT, PORTPROF_E_UNSUPPORTED, "no PMU" },
		{ EOPNOTSUPP, PORTPROF_E_UNSUPPORTED, "interrupt" },
		{ ENOSYS, PORTPROF_E_UNSUPPORTED, "perf_event_open" },
		{ ENOMEM, PORTPROF_E_NOMEM, "memory" },
		{ ESRCH, PORTPROF_E_NOTFOUND, "ended" },
		{ EFAULT, PORTPROF_E_SYSTEM, "opened" },
	};

	(void)state;
	perf_sim_machine.counters = 2;
	assert_int_equal(run_add(&run, "cycles:u", 1000), PORTPROF_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_words(ppi_perf_refuse_open(&perf_sim_kernel,
		                                  &run.events[0],
		                                  cases[i].os_errno, &run.why),
		             cases[i].status, cases[i].os_errno,
		             cases[i].words);
}

static void chains_are_as_deep_as_the_kernel_allows(void **state)
{
	(void)state;
	run.plan.chain_depth = 1000;
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_true(run_has_note(&run, "kernel.perf_event_max_stack"));
	assert_true(run_has_note(&run, "127"));
}

static void rates_above_the_kernels_limit(void **state)
{
	(void)state;
	perf_sim_machine.rate_limit = 2000;
	assert_int_equal(run_add(&run, "task-clock", 8000), PORTPROF_OK);
	assert_int_equal(run.events[0].period, 500000);
	perf_sim_machine.counters = 2;
	assert_int_equal(run_add(&run, "cycles", 8000), PORTPROF_OK);
	assert_int_equal(run.events[1].rate_hz, 2000);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_true(run_has_note(&run, "2000 samples a second"));
	assert_true(run_has_note(&run, "perf_event_max_sample_rate"));
}

/* ---- opening ---- */

static void too_few_descriptors(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 63; i++)
		perf_sim_thread(0);
	perf_sim_machine.fd_limit = 32;
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	expect_words(run_open(&run), PORTPROF_E_LIMIT, EMFILE,
	             "64 descriptors are needed");
	assert_non_null(strstr(run.why.words, "limit of 32"));
	assert_non_null(strstr(run.why.words, "ulimit -n"));
}

static void little_memory_to_lock(void **state)
{
	(void)state;
	perf_sim_machine.is_privileged = false;
	perf_sim_machine.lockable_bytes = 80 << 10;
	assert_int_equal(run_add(&run, "task-clock", 4000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_true(perf_state_of(&run.bs)->rings->sample_bytes <= 16 << 10);
	assert_true(run_has_note(&run, "kernel.perf_event_mlock_kb"));
	assert_true(run.bs.drain_every_ms < 250);
}

static void no_memory_to_lock(void **state)
{
	(void)state;
	perf_sim_machine.is_privileged = false;
	perf_sim_machine.lockable_bytes = 4096;
	assert_int_equal(run_add(&run, "task-clock", 4000), PORTPROF_OK);
	expect_words(run_open(&run), PORTPROF_E_LIMIT, EPERM,
	             "kernel.perf_event_mlock_kb");
	assert_non_null(strstr(run.why.words, "ulimit -l"));
}

static void processes_and_threads_that_are_not_there(void **state)
{
	(void)state;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PID, .pid = 4999999,
		.tid = 0, .is_self = false,
	};
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	expect_words(run_open(&run), PORTPROF_E_NOTFOUND, ESRCH, "ended");
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_TID, .pid = 4999999,
		.tid = 4999999, .is_self = false,
	};
	expect_words(run_open(&run), PORTPROF_E_NOTFOUND, ESRCH, "ended");
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_TID, .pid = 1,
		.tid = 1, .is_self = true,
	};
	run.plan.follow_children = true;
	expect_words(run_open(&run), PORTPROF_E_UNSUPPORTED, 0, "children");
}

static void sizes_asked_for_are_kept(void **state)
{
	(void)state;
	run.plan.ring_bytes = 100000;
	assert_int_equal(run_add(&run, "task-clock", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_int_equal(perf_state_of(&run.bs)->rings->sample_bytes, 128 << 10);
}

/* 20,000 mappings and names a second of about 150 bytes are 3 MB: rings hold as
 * many as come in twice a nap, large ones in four times. An ordinary user leaves room
 * for others in the 516 KiB that he may lock for a CPU; who has no limit is ready for
 * worse. */
static void mappings_of_a_storm_find_room(void **state)
{
	enum { STORM_BYTES_A_MS = 3000 };
	size_t side[2];
	unsigned naps[2];

	(void)state;
	for (int is_privileged = 0; is_privileged < 2; is_privileged++) {
		const struct perf_state *perf;

		perf_sim_machine.is_privileged = is_privileged;
		perf_sim_machine.lockable_bytes = 1 << 30;
		assert_int_equal(run_add(&run, "task-clock", 99), PORTPROF_OK);
		assert_int_equal(run_open(&run), PORTPROF_OK);
		perf = perf_state_of(&run.bs);
		side[is_privileged] = perf->rings->side_bytes;
		naps[is_privileged] = perf->drain->nap_ms;
		assert_in_range(run.bs.drain_every_ms, 1, 50);
		assert_true(perf->rings->side_bytes >=
		            2 * STORM_BYTES_A_MS * perf->drain->nap_ms * 99 / 100);
		if (!is_privileged)
			assert_true(perf->rings->side_bytes + perf->rings->sample_bytes <=
			            (size_t)516 << 10);
		run_close(&run);
		run_init(&run, PPI_SAMPLE);
	}
	assert_int_equal(side[1], 8 * side[0]);
	/* where there is room for both, it is woken less often in quiet times, too */
	assert_true(naps[1] >= 3 * naps[0]);
	assert_true(side[1] >= 4 * STORM_BYTES_A_MS * naps[1] * 99 / 100);
}

/* 4 GHz of cycles, each 20000 of them: 200000 samples a second at most. */
static void fast_counters_get_large_rings(void **state)
{
	int64_t tid = perf_sim_main_tid();

	(void)state;
	perf_sim_machine.counters = 2;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_TID, .pid = tid,
		.tid = tid, .is_self = true,
	};
	assert_int_equal(run_add(&run, "cycles:period=20000", 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_int_equal(perf_state_of(&run.bs)->rings->sample_bytes, 512 << 10);
	assert_in_range(run.bs.drain_every_ms, 4, 20);
	/* Where less comes, the helper may sleep until mappings and names
	 * would fill half of theirs. */
	assert_in_range(perf_state_of(&run.bs)->drain->nap_ms, 25, 250);
}

/* Only the drain that finds a FORK record attaches the new thread: with thread
 * rings it may not be far away. */
static void new_threads_are_looked_for_soon(void **state)
{
	(void)state;
	perf_sim_machine.missing = PERF_HAS_INHERIT_THREAD;
	assert_int_equal(run_add(&run, "task-clock", 100), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_int_equal(perf_state_of(&run.bs)->layout, PERF_THREAD_RINGS);
	assert_in_range(run.bs.drain_every_ms, 1, 10);
	assert_in_range(perf_state_of(&run.bs)->drain->nap_ms, 1, 10);
}

/* What a kernel takes and ignores is no precision. */
static void precision_that_nobody_promises_is_doubted(void **state)
{
	static const char *const files[] = {
		"/sys/bus/event_source/devices/cpu/caps/max_precise", "3\n",
		NULL
	};

	(void)state;
	perf_sim_machine.counters = 2;
	assert_int_equal(run_add(&run, "cycles:precise=1", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_true(run_has_note(&run, "may have ignored it"));
	run_close(&run);
	run_init(&run, PPI_SAMPLE);
	perf_sim_machine.files = files;
	assert_int_equal(run_add(&run, "cycles:precise=1", 1000), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_false(run_has_note(&run, "may have ignored it"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(all_is_well),
		CASE(no_pmu),
		CASE(each_limit_has_its_status),
		CASE(places_before_rights),
		CASE(an_ordinary_user),
		CASE(a_locked_distribution),
		CASE(a_filter_that_says_eperm),
		CASE(a_filter_that_says_enosys),
		CASE(a_kernel_without_perf_events),
		CASE(a_security_module),
		CASE(old_kernels_lack_capabilities),
		CASE(events_that_cannot_be),
		CASE(events_behind_a_filter),
		CASE(only_what_was_not_asked_for_is_given_up),
		CASE(switches_in_user_mode),
		CASE(each_errno_has_its_status),
		CASE(chains_are_as_deep_as_the_kernel_allows),
		CASE(rates_above_the_kernels_limit),
		CASE(too_few_descriptors),
		CASE(little_memory_to_lock),
		CASE(no_memory_to_lock),
		CASE(processes_and_threads_that_are_not_there),
		CASE(sizes_asked_for_are_kept),
		CASE(fast_counters_get_large_rings),
		CASE(mappings_of_a_storm_find_room),
		CASE(new_threads_are_looked_for_soon),
		CASE(precision_that_nobody_promises_is_doubted),
	};

	return cmocka_run_group_tests_name("perf_refuse", tests, NULL, NULL);
}
