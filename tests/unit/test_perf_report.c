/* SPDX-License-Identifier: MIT */
/* Each finding of a perf probe: verdict, object and remedy. */
#include "tests/unit/perf_case.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <portprof.h>

#define STATUS "/proc/self/status"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define PLAIN_USER "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t0\n"

struct kept {
	portprof_verdict verdict;
	char name[40], words[480], remedy[480];
};
static struct kept kept[32];
static size_t kept_count;

static int keep(const portprof_finding *finding, void *context)
{
	struct kept *to = &kept[kept_count++];

	(void)context;
	assert_true(kept_count < sizeof(kept) / sizeof(kept[0]));
	assert_string_equal(finding->backend, "perf");
	assert_true(finding->size == sizeof(*finding));
	assert_true(finding->words[0] != '\0');
	to->verdict = finding->verdict;
	snprintf(to->name, sizeof(to->name), "%s", finding->name);
	snprintf(to->words, sizeof(to->words), "%s", finding->words);
	snprintf(to->remedy, sizeof(to->remedy), "%s", finding->remedy);
	return 0;
}

static void examine(const char *const *files)
{
	perf_sim_machine.files = files;
	kept_count = 0;
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	assert_int_equal(portprof_backend_examine("perf", keep, NULL),
	                 PORTPROF_OK);
	ppi_backend_set_kernel("perf", NULL);
	perf_sim_machine.files = NULL;
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_mapped(), 0);
}

static const struct kept *find(const char *name)
{
	for (size_t i = 0; i < kept_count; i++)
		if (strcmp(kept[i].name, name) == 0)
			return &kept[i];
	return NULL;
}

static void expect(const char *name, portprof_verdict verdict,
                   const char *words, const char *remedy)
{
	const struct kept *found = find(name);

	if (!found)
		fail_msg("no finding '%s'", name);
	if (found->verdict != verdict)
		fail_msg("%s: verdict %d: %s", name, (int)found->verdict,
		         found->words);
	if (words && !strstr(found->words, words))
		fail_msg("%s: no '%s' in: %s", name, words, found->words);
	if (remedy && !strstr(found->remedy, remedy))
		fail_msg("%s: no '%s' in: %s", name, remedy, found->remedy);
	if (!remedy && found->remedy[0])
		fail_msg("%s: needs no remedy: %s", name, found->remedy);
}

static void everything_works(void **state)
{
	static const char *const files[] = {
		STATUS, "CapEff:\t0\nCapEff:\t0000004000004000\nSeccomp:\t0\n",
		"/sys/kernel/tracing/available_events", "sched:sched_switch\n",
		NULL
	};

	(void)state;
	perf_sim_machine.counters = 4;
	examine(files);
	expect("kernel-mode", PORTPROF_VERDICT_WORKS, NULL, NULL);
	expect("hardware-events", PORTPROF_VERDICT_WORKS, NULL, NULL);
	expect("software-events", PORTPROF_VERDICT_WORKS, NULL, NULL);
	expect("other-processes", PORTPROF_VERDICT_WORKS, NULL, NULL);
	assert_null(find("container"));
	assert_null(find("virtual-machine"));
}

static void an_ordinary_user(void **state)
{
	static const char *const files[] = { STATUS, PLAIN_USER, NULL };

	(void)state;
	perf_sim_machine.counters = 4;
	perf_sim_machine.is_privileged = false;
	examine(files);
	expect("paranoid", PORTPROF_VERDICT_LIMITED, "paranoid is 2",
	       "kernel.perf_event_paranoid=1");
	expect("kernel-mode", PORTPROF_VERDICT_FAILS, "paranoid is 2",
	       "kernel.perf_event_paranoid=1");
	expect("kernel-mode", PORTPROF_VERDICT_FAILS, NULL,
	       "setcap cap_perfmon=ep");
	expect("other-processes", PORTPROF_VERDICT_LIMITED, NULL,
	       "kernel.perf_event_paranoid=0");
	expect("software-events", PORTPROF_VERDICT_WORKS, NULL, NULL);
	perf_sim_machine.paranoid = 1;
	examine(files);
	expect("paranoid", PORTPROF_VERDICT_LIMITED, "paranoid is 1",
	       "kernel.perf_event_paranoid=-1");
	perf_sim_machine.paranoid = -1;
	examine(files);
	expect("paranoid", PORTPROF_VERDICT_WORKS, "paranoid is -1", NULL);
}

static void levels_of_distributions(void **state)
{
	static const char *const files[] = { STATUS, PLAIN_USER, NULL };

	(void)state;
	perf_sim_machine.is_privileged = false;
	for (int level = 3; level <= 4; level++) {
		perf_sim_machine.paranoid = level;
		examine(files);
		expect("paranoid", PORTPROF_VERDICT_FAILS,
		       level == 3 ? "is 3" : "is 4",
		       "kernel.perf_event_paranoid=2");
		assert_null(find("kernel-mode"));
	}
}

/* The level is the host's; the container has its own way. */
static void containers(void **state)
{
	static const struct {
		const char *path, *text, *name;
	} signs[] = {
		{ "/.dockerenv", "", "docker" },
		{ "/run/.containerenv", "", "podman" },
		{ "/proc/1/cgroup", "0::/kubepods/x\n", "kubernetes" },
		{ "/run/systemd/container", "lxc\n", "container" },
	};

	(void)state;
	perf_sim_machine.is_privileged = false;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		const char *files[] = { STATUS, PLAIN_USER, signs[i].path,
			                signs[i].text, NULL };

		examine(files);
		expect("container", PORTPROF_VERDICT_WORKS, signs[i].name,
		       NULL);
		expect("kernel-mode", PORTPROF_VERDICT_FAILS, NULL,
		       "on the host");
		expect("kernel-mode", PORTPROF_VERDICT_FAILS, NULL,
		       "--cap-add PERFMON");
		assert_null(strstr(find("kernel-mode")->remedy, "setcap"));
	}
}

static void filters(void **state)
{
	static const char *const plain[] = {
		STATUS, "Name:\tx\nSeccomp:\t2\n", NULL
	};
	static const char *const docker[] = {
		STATUS, "Name:\tx\nSeccomp:\t2\n", "/.dockerenv", "", NULL
	};
	static const int errors[] = { EPERM, ENOSYS };

	(void)state;
	for (int i = 0; i < 2; i++) {
		perf_sim_machine.syscall_error = errors[i];
		examine(plain);
		expect("system-call-filter", PORTPROF_VERDICT_FAILS,
		       strerror(errors[i]), "SystemCallFilter=");
		examine(docker);
		expect("system-call-filter", PORTPROF_VERDICT_FAILS, "docker",
		       "--cap-add PERFMON");
		expect("container", PORTPROF_VERDICT_LIMITED, "docker", NULL);
	}
}

static void user_namespaces(void **state)
{
	static const char *const files[] = {
		STATUS, "Name:\tx\nCapEff:\t000001ffffffffff\n",
		"/proc/self/uid_map", "0 1000 1\n", NULL
	};

	(void)state;
	perf_sim_machine.is_privileged = false;
	examine(files);
	expect("user-namespace", PORTPROF_VERDICT_LIMITED, NULL, "outside");
	expect("kernel-mode", PORTPROF_VERDICT_FAILS, NULL, "namespace");
	assert_null(strstr(find("kernel-mode")->remedy, "setcap"));
}

static void security_modules(void **state)
{
	static const char *const none[] = { NULL };
	static const char *const selinux[] = { "/sys/fs/selinux/enforce", "1\n",
		                               NULL };
	static const char *const lockdown[] = {
		"/sys/kernel/security/lockdown",
		"none integrity [confidentiality]\n", NULL
	};

	(void)state;
	/* the first two questions pass, the third is the first real one */
	perf_sim_fail(0, 3, 3);
	examine(none);
	expect("security-module", PORTPROF_VERDICT_FAILS, "security module",
	       "administrator");
	perf_sim_fail(0, 3, 3);
	examine(selinux);
	expect("security-module", PORTPROF_VERDICT_FAILS, "SELinux",
	       "ausearch");
	perf_sim_fail(0, 3, 3);
	examine(lockdown);
	expect("security-module", PORTPROF_VERDICT_FAILS, "locked down",
	       "lockdown=confidentiality");
}

static void hardware_that_is_missing(void **state)
{
	static const char *const files[] = {
		"/proc/cpuinfo", "model name\t: x\nflags\t: fpu hypervisor\n",
		"/sys/class/dmi/id/product_name", "KVM Box\n", NULL
	};

	(void)state;
	examine(files);
	expect("hardware-events", PORTPROF_VERDICT_FAILS, "PMU", "pmu=on");
	expect("virtual-machine", PORTPROF_VERDICT_LIMITED, "KVM Box",
	       "pmu=on");
	perf_sim_machine.counters = 4;
	examine(files);
	expect("virtual-machine", PORTPROF_VERDICT_WORKS, "KVM Box", NULL);
}

static void a_watchdog(void **state)
{
	static const char *const files[] = { "/proc/sys/kernel/nmi_watchdog",
		                             "1\n", NULL };

	(void)state;
	perf_sim_machine.counters = 4;
	examine(files);
	expect("watchdog", PORTPROF_VERDICT_LIMITED, NULL,
	       "kernel.nmi_watchdog=0");
}

static void hidden_tracepoints(void **state)
{
	static const char *const files[] = { NULL };
	static const char *const hidden[] = {
		"/sys/kernel/tracing/available_events", NULL, NULL, NULL
	};

	(void)state;
	examine(files);
	expect("tracepoints", PORTPROF_VERDICT_FAILS, "not mounted",
	       "mount -t tracefs tracefs /sys/kernel/tracing");
	/* its files need a group, whatever the mode */
	examine(hidden);
	expect("tracepoints", PORTPROF_VERDICT_FAILS, "hidden",
	       "remount,mode=755,gid=$(id -g) /sys/kernel/tracing");
}

static void small_limits(void **state)
{
	static const char *const files[] = {
		STATUS, PLAIN_USER,
		"/proc/self/limits",
		"Limit                     Soft Limit           Hard Limit\n"
		"Max open files            32                   4096       files\n"
		"Max locked memory         0                    0          bytes\n",
		"/proc/sys/kernel/perf_event_mlock_kb", "16\n",
		"/proc/sys/kernel/perf_event_max_sample_rate", "1500\n",
		"/proc/sys/kernel/perf_cpu_time_max_percent", "25\n", NULL
	};

	(void)state;
	perf_sim_machine.is_privileged = false;
	perf_sim_machine.fd_limit = 32;
	examine(files);
	expect("descriptors", PORTPROF_VERDICT_LIMITED, "32", "ulimit -n 4096");
	expect("ring-memory", PORTPROF_VERDICT_LIMITED, "64 KiB",
	       "kernel.perf_event_mlock_kb=516, or ulimit -l 2064");
	expect("sample-rate", PORTPROF_VERDICT_LIMITED, "1500",
	       "kernel.perf_cpu_time_max_percent=0 "
	       "kernel.perf_event_max_sample_rate=100000");
	perf_sim_machine.lockable_bytes = 4096;
	examine(files);
	expect("ring-memory", PORTPROF_VERDICT_FAILS, "128 KiB",
	       "perf_event_mlock_kb");
}

static int stop_at_once(const portprof_finding *finding, void *context)
{
	(void)finding;
	++*(int *)context;
	return 1;
}

static void who_asks(void **state)
{
	int calls = 0;

	(void)state;
	assert_int_equal(portprof_backend_examine("prf", keep, NULL),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_backend_examine("perf", NULL, NULL),
	                 PORTPROF_E_INVALID);
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	assert_int_equal(portprof_backend_examine("auto", stop_at_once,
	                                          &calls), PORTPROF_OK);
	ppi_backend_set_kernel("perf", NULL);
	assert_int_equal(calls, 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(everything_works),
		CASE(an_ordinary_user),
		CASE(levels_of_distributions),
		CASE(containers),
		CASE(filters),
		CASE(user_namespaces),
		CASE(security_modules),
		CASE(hardware_that_is_missing),
		CASE(a_watchdog),
		CASE(hidden_tracepoints),
		CASE(small_limits),
		CASE(who_asks),
	};

	return cmocka_run_group_tests_name("perf_report", tests, NULL, NULL);
}
