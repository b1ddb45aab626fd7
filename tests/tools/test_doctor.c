/* SPDX-License-Identifier: MIT */
/* Each diagnosis of portprof doctor, on a host that is made up for it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/doctor/doctor.h"

/* ---- the host ---- */

static char root[] = "/tmp/portprof-doctor.XXXXXX";
static struct {
	int answers[PPI_ASK_COUNT];
	uint64_t soft[3], hard[3];
	const char *variable; /* that is set */
	unsigned backends;    /* usable, of perf, timer, itimer: bits */
	bool has_table;
	portprof_diag why;    /* what perf says of an event; status OK: yes */
} fake;
static struct ppi_doctor_host host;
static struct ppi_doctor doctor;
static char files[64][128];
static size_t file_count;

static void put(const char *path, const char *text)
{
	char name[512];
	FILE *file;

	snprintf(name, sizeof(name), "%s%s", root, path);
	for (char *slash = strchr(name + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(name, 0700);
		*slash = '/';
	}
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_true(file_count < sizeof(files) / sizeof(files[0]));
	snprintf(files[file_count++], sizeof(files[0]), "%s", path);
}

static void take_away(const char *path)
{
	char name[512];

	snprintf(name, sizeof(name), "%s%s", root, path);
	unlink(name);
}

static int ask(void *self, enum ppi_ask what, uint64_t number)
{
	(void)self;
	(void)number;
	return fake.answers[what];
}

static uint64_t limit_of(void *self, enum ppi_limit limit, uint64_t *hard)
{
	(void)self;
	*hard = fake.hard[limit];
	return fake.soft[limit];
}

static const char *environment(void *self, const char *name)
{
	(void)self;
	return fake.variable && strcmp(fake.variable, name) == 0 ? "x" : NULL;
}

static portprof_status backend(void *self, size_t index,
                               portprof_backend_info *info)
{
	static const char *const names[] = { "perf", "timer", "itimer" };

	(void)self;
	if (index >= 3)
		return PORTPROF_E_INVALID;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->is_usable = fake.backends >> index & 1;
	info->status = info->is_usable ? PORTPROF_OK : PORTPROF_E_DENIED;
	info->caps = PORTPROF_CAP_SAMPLE;
	strcpy(info->name, names[index]);
	strcpy(info->reason, info->is_usable ? "" : "not permitted");
	return PORTPROF_OK;
}

static portprof_status explain(void *self, const char *event,
                               const char *name, portprof_event_info *info,
                               portprof_diag *why)
{
	(void)self;
	(void)event;
	memset(why, 0, sizeof(*why));
	info->is_counted_only = 0;
	if (strcmp(name, "perf") == 0) {
		*why = fake.why;
	} else {
		why->status = PORTPROF_E_UNSUPPORTED;
		strcpy(why->words, "CPU time only");
	}
	return why->status;
}

static void pmus(void *self, portprof_pmu_fn take, void *context)
{
	portprof_catalogue_pmu pmu = { .size = sizeof(pmu),
		                       .source = PORTPROF_SOURCE_TABLE,
		                       .is_core = 1 };

	(void)self;
	if (!fake.has_table)
		return;
	strcpy(pmu.name, "skx");
	take(&pmu, context);
}

/* A machine on which everything works, for a user without any privilege but
 * CAP_PERFMON and CAP_IPC_LOCK. */
static int fresh(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.answers[PPI_ASK_FLAGS] = EINVAL;
	fake.answers[PPI_ASK_ATTR] = E2BIG;
	for (int i = 0; i < 3; i++)
		fake.soft[i] = fake.hard[i] = UINT64_MAX;
	fake.soft[PPI_LIMIT_FILES] = 65536;
	fake.backends = 7;
	fake.has_table = true;
	host = (struct ppi_doctor_host){
		.root = root, .has_perf = true, .cpus = 4,
		.program = "/opt/portprof", .ask = ask, .limit = limit_of,
		.environment = environment, .backend = backend,
		.explain = explain, .pmus = pmus,
	};
	file_count = 0;
	put("/proc/self/status", "Name:\tx\nCapEff:\t0000004000004000\n"
	                         "Seccomp:\t0\n");
	put("/proc/self/uid_map", "         0          0 4294967295\n");
	put("/proc/sys/kernel/perf_event_paranoid", "2\n");
	put("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	put("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
	put("/proc/sys/kernel/perf_cpu_time_max_percent", "25\n");
	put("/proc/kallsyms", "ffffffff81000000 T _stext\n");
	put("/proc/cpuinfo", "model name\t: Test CPU 3000\nflags\t\t: fpu\n");
	put("/sys/kernel/tracing/events/sched/sched_switch/id", "315\n");
	return 0;
}

static int clean(void **state)
{
	(void)state;
	for (size_t i = 0; i < file_count; i++)
		take_away(files[i]);
	ppi_doctor_free(&doctor);
	return 0;
}

static void examine(void)
{
	ppi_doctor_examine(&doctor, &host);
	assert_false(doctor.is_out_of_memory);
}

/* Without capabilities. */
static void be_ordinary(void)
{
	put("/proc/self/status", "CapEff:\t0000000000000000\nSeccomp:\t0\n");
}

static const struct ppi_finding *finding(const char *name)
{
	const struct ppi_finding *found = ppi_doctor_find(&doctor, name);

	if (!found)
		fail_msg("there is no finding '%s'", name);
	return found;
}

/* The verdict, a part of the words and one of the remedy; NULL: none. */
static void expect(const char *name, enum ppi_verdict verdict,
                   const char *words, const char *remedy)
{
	const struct ppi_finding *found = finding(name);

	if (found->verdict != verdict)
		fail_msg("%s: %s instead of %s: %s", name,
		         ppi_verdict_name(found->verdict),
		         ppi_verdict_name(verdict), found->words);
	if (words && !strstr(found->words, words))
		fail_msg("%s: '%s' is not in: %s", name, words, found->words);
	if (remedy && !strstr(found->remedy, remedy))
		fail_msg("%s: '%s' is not in: %s", name, remedy,
		         found->remedy);
	if (!remedy && found->remedy[0])
		fail_msg("%s: needs no remedy: %s", name, found->remedy);
}

static void expect_none(const char *name)
{
	const struct ppi_finding *found = ppi_doctor_find(&doctor, name);

	if (found)
		fail_msg("%s: %s", name, found->words);
}

/* ---- all is well ---- */

static void everything_works(void **state)
{
	(void)state;
	examine();
	assert_true(doctor.can_sample);
	for (size_t i = 0; i < doctor.count; i++)
		if (doctor.findings[i].verdict != PPI_WORKS &&
		    doctor.findings[i].topic != PPI_TOPIC_BUILD)
			fail_msg("%s: %s", doctor.findings[i].name,
			         doctor.findings[i].words);
	expect("hardware-events", PPI_WORKS, "precisely (:precise=1)", NULL);
	expect("paranoid", PPI_WORKS, "CAP_PERFMON", NULL);
	expect("cpu-events", PPI_WORKS, "Test CPU 3000: libpfm4 knows its "
	       "events as skx::", NULL);
	expect_none("virtual-machine");
	expect_none("container");
}

/* ---- rights ---- */

static void paranoid_2(void **state)
{
	(void)state;
	be_ordinary();
	fake.answers[PPI_ASK_KERNEL_TIME] = EACCES;
	fake.answers[PPI_ASK_SYSTEM] = EACCES;
	examine();
	assert_true(doctor.can_sample);
	expect("paranoid", PPI_LIMITED, "is 2: own processes, in user mode",
	       "sudo sysctl kernel.perf_event_paranoid=1");
	expect("kernel-mode", PPI_FAILS, "user mode only",
	       "sudo sysctl kernel.perf_event_paranoid=1");
	expect("kernel-mode", PPI_FAILS, NULL,
	       "sudo setcap cap_perfmon=ep /opt/portprof");
	expect("other-processes", PPI_LIMITED, "this user alone",
	       "kernel.perf_event_paranoid=0");
	expect("software-events", PPI_WORKS, NULL, NULL);
}

static void paranoid_below_2(void **state)
{
	(void)state;
	be_ordinary();
	fake.answers[PPI_ASK_SYSTEM] = EACCES;
	put("/proc/sys/kernel/perf_event_paranoid", "1\n");
	examine();
	expect("paranoid", PPI_LIMITED, "not whole CPUs nor tracepoints",
	       "kernel.perf_event_paranoid=-1");
	expect("kernel-mode", PPI_WORKS, NULL, NULL);
	ppi_doctor_free(&doctor);
	fake.answers[PPI_ASK_SYSTEM] = 0;
	put("/proc/sys/kernel/perf_event_paranoid", "0\n");
	examine();
	expect("paranoid", PPI_LIMITED, "everything but tracepoints", "=-1");
	expect("other-processes", PPI_WORKS, "whole CPUs", NULL);
	ppi_doctor_free(&doctor);
	put("/proc/sys/kernel/perf_event_paranoid", "-1\n");
	examine();
	expect("paranoid", PPI_WORKS, "everybody", NULL);
}

static void paranoid_3_and_4(void **state)
{
	static const char *const levels[] = { "3\n", "4\n" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		be_ordinary();
		put("/proc/sys/kernel/perf_event_paranoid", levels[i]);
		fake.answers[PPI_ASK_ATTR] = EACCES;
		fake.backends = 6;
		examine();
		assert_true(doctor.can_sample);
		expect("paranoid", PPI_FAILS, i ? "is 4" : "is 3",
		       "sudo sysctl kernel.perf_event_paranoid=2");
		expect("cpu-time", PPI_LIMITED, "sampled by timer, itimer, "
		       "from inside", "see below");
		expect("hardware-events", PPI_FAILS, "nothing but CPU time",
		       "see below");
		ppi_doctor_free(&doctor);
	}
}

static void filters(void **state)
{
	static const struct {
		int error;
		const char *sign, *text, *variable, *name, *remedy;
	} cases[] = {
		{ EPERM, "/.dockerenv", "", NULL, "docker",
		  "start the container with --cap-add PERFMON" },
		{ ENOSYS, "/run/.containerenv", "", NULL, "podman",
		  "--cap-add PERFMON" },
		{ EPERM, "/proc/1/cgroup", "0::/kubepods/besteffort/x\n",
		  NULL, "kubernetes", "--cap-add PERFMON" },
		{ EACCES, "/proc/1/cgroup", "0::/\n",
		  "KUBERNETES_SERVICE_HOST", "kubernetes",
		  "--cap-add PERFMON" },
		{ EPERM, "/proc/1/cgroup", "0::/init.scope\n", NULL, "",
		  "systemd: SystemCallFilter=" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put("/proc/self/status", "CapEff:\t0000000000000000\n"
		                         "Seccomp:\t2\n");
		put(cases[i].sign, cases[i].text);
		fake.variable = cases[i].variable;
		fake.answers[PPI_ASK_FLAGS] = cases[i].error;
		fake.backends = 6;
		examine();
		expect("system-call-filter", PPI_FAILS, cases[i].name,
		       cases[i].remedy);
		expect("system-call-filter", PPI_FAILS,
		       strerror(cases[i].error), "measured by timers");
		expect("cpu-time", PPI_LIMITED, "timer", "see below");
		assert_string_equal(doctor.facts.container, cases[i].name);
		take_away(cases[i].sign);
		ppi_doctor_free(&doctor);
	}
}

/* The sysctl is the host's; in its place the container's capability. */
static void paranoid_in_a_container(void **state)
{
	(void)state;
	be_ordinary();
	put("/.dockerenv", "");
	fake.answers[PPI_ASK_KERNEL_TIME] = EACCES;
	examine();
	expect("kernel-mode", PPI_FAILS, NULL, "on the host, not in the "
	       "container: sysctl kernel.perf_event_paranoid=1");
	expect("kernel-mode", PPI_FAILS, NULL, "--cap-add PERFMON");
	assert_null(strstr(finding("kernel-mode")->remedy, "setcap"));
	expect("container", PPI_WORKS, "docker", NULL);
}

static void user_namespaces(void **state)
{
	(void)state;
	put("/proc/self/status", "CapEff:\t000001ffffffffff\n");
	put("/proc/self/uid_map", "0 1000 1\n");
	fake.answers[PPI_ASK_KERNEL_TIME] = EACCES;
	examine();
	assert_false(doctor.facts.can_perfmon);
	expect("user-namespace", PPI_LIMITED, "do not count", "outside");
	expect("kernel-mode", PPI_FAILS, NULL, "leave the user namespace");
	assert_null(strstr(finding("kernel-mode")->remedy, "setcap"));
}

static void a_kernel_without_perf_events(void **state)
{
	(void)state;
	take_away("/proc/sys/kernel/perf_event_paranoid");
	fake.answers[PPI_ASK_FLAGS] = ENOSYS;
	fake.backends = 6;
	examine();
	expect("kernel", PPI_FAILS, "CONFIG_PERF_EVENTS", "kernel");
	expect_none("system-call-filter");
}

static void security_modules(void **state)
{
	(void)state;
	fake.answers[PPI_ASK_DUMMY] = EACCES;
	fake.backends = 6;
	examine();
	expect("security-module", PPI_FAILS, "a security module",
	       "administrator");
	ppi_doctor_free(&doctor);
	put("/sys/fs/selinux/enforce", "1\n");
	examine();
	expect("security-module", PPI_FAILS, "SELinux", "ausearch -m avc");
	ppi_doctor_free(&doctor);
	put("/sys/kernel/security/lockdown",
	    "none integrity [confidentiality]\n");
	examine();
	expect("security-module", PPI_FAILS, "locked down",
	       "lockdown=confidentiality");
}

static void no_descriptor_at_all(void **state)
{
	(void)state;
	fake.answers[PPI_ASK_DUMMY] = EMFILE;
	fake.backends = 6;
	examine();
	expect("no-descriptor", PPI_FAILS, strerror(EMFILE), "ulimit -n");
}

static void answers_of_no_kernel(void **state)
{
	(void)state;
	fake.answers[PPI_ASK_ATTR] = EIO;
	examine();
	expect("perf_event_open", PPI_FAILS, strerror(EIO), NULL);
}

/* ---- the machine ---- */

static void a_virtual_machine_without_a_pmu(void **state)
{
	(void)state;
	put("/proc/cpuinfo", "model name\t: Xeon\nflags\t\t: fpu hypervisor "
	                     "lahf\n");
	put("/sys/class/dmi/id/product_name", "KVM Box\n");
	fake.answers[PPI_ASK_CYCLES] = ENOENT;
	fake.answers[PPI_ASK_SAMPLES] = ENOENT;
	examine();
	expect("hardware-events", PPI_FAILS, "a virtual machine (KVM Box)",
	       "pmu=on");
	expect("virtual-machine", PPI_LIMITED, "KVM Box, without a PMU",
	       NULL);
	assert_true(doctor.can_sample);
}

static void a_virtual_machine_without_a_name(void **state)
{
	(void)state;
	put("/proc/cpuinfo", "model name\t: Xeon\nflags\t\t: fpu hypervisor "
	                     "lahf\n");
	fake.answers[PPI_ASK_CYCLES] = ENOENT;
	fake.answers[PPI_ASK_SAMPLES] = ENOENT;
	examine();
	expect("virtual-machine", PPI_LIMITED,
	       "of an unknown kind, without a PMU", NULL);
}

static void a_virtual_machine_with_a_pmu(void **state)
{
	(void)state;
	put("/sys/hypervisor/type", "xen\n");
	examine();
	expect("virtual-machine", PPI_WORKS, "xen, with a PMU", NULL);
}

/* Firmware has a name on real machines too. */
static void a_real_machine_without_a_pmu(void **state)
{
	(void)state;
	put("/sys/class/dmi/id/product_name", "PowerEdge\n");
	fake.answers[PPI_ASK_CYCLES] = ENOENT;
	examine();
	expect("hardware-events", PPI_FAILS, "the kernel has no PMU: cycles",
	       "task-clock and cpu-clock need none");
	expect_none("virtual-machine");
}

static void hardware_that_is_limited(void **state)
{
	(void)state;
	fake.answers[PPI_ASK_SAMPLES] = EOPNOTSUPP;
	examine();
	expect("hardware-events", PPI_LIMITED, "counted, not sampled",
	       "task-clock");
	ppi_doctor_free(&doctor);
	fake.answers[PPI_ASK_SAMPLES] = 0;
	fake.answers[PPI_ASK_PRECISE] = EOPNOTSUPP;
	examine();
	expect("hardware-events", PPI_WORKS, "; not precisely", NULL);
	ppi_doctor_free(&doctor);
	fake.answers[PPI_ASK_CYCLES] = EBUSY;
	examine();
	expect("hardware-events", PPI_FAILS, "alone",
	       "kernel.nmi_watchdog=0");
}

static void a_cpu_that_libpfm4_does_not_know(void **state)
{
	(void)state;
	fake.has_table = false;
	examine();
	if (doctor.facts.has_libpfm4)
		expect("cpu-events", PPI_LIMITED, "Test CPU 3000: this libpfm4 "
		       "has no table of it", "--with-libpfm4=PREFIX");
	else
		expect("cpu-events", PPI_LIMITED, "without libpfm4",
		       "libpfm4-dev");
	ppi_doctor_free(&doctor);
	put("/proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
	examine();
	expect("cpu-events", PPI_LIMITED, "implementer 0x41, part 0xd0c",
	       "libpfm4");
}

static void a_watchdog(void **state)
{
	(void)state;
	put("/proc/sys/kernel/nmi_watchdog", "1\n");
	examine();
	expect("watchdog", PPI_LIMITED, "holds one hardware counter",
	       "sudo sysctl kernel.nmi_watchdog=0");
	ppi_doctor_free(&doctor);
	fake.answers[PPI_ASK_CYCLES] = ENOENT;
	examine();
	expect_none("watchdog");
}

static void hidden_kernel_addresses(void **state)
{
	(void)state;
	put("/proc/kallsyms", "0000000000000000 T _stext\n");
	examine();
	expect("kernel-names", PPI_LIMITED, "no addresses",
	       "kernel.kptr_restrict=0");
}

static void tracepoints(void **state)
{
	(void)state;
	take_away("/sys/kernel/tracing/events/sched/sched_switch/id");
	examine();
	expect("tracepoints", PPI_FAILS, "may not look into",
	       "sudo mount -o remount,mode=755 /sys/kernel/tracing");
	assert_null(strstr(finding("tracepoints")->remedy, "paranoid"));
	ppi_doctor_free(&doctor);
	put("/sys/kernel/tracing/events/sched/sched_switch/id", "315\n");
	be_ordinary();
	fake.answers[PPI_ASK_TRACEPOINT] = EPERM;
	examine();
	expect("tracepoints", PPI_FAILS, strerror(EPERM),
	       "kernel.perf_event_paranoid=-1");
}

/* ---- limits ---- */

static void few_descriptors(void **state)
{
	(void)state;
	fake.soft[PPI_LIMIT_FILES] = 32;
	fake.hard[PPI_LIMIT_FILES] = 4096;
	examine();
	expect("descriptors", PPI_LIMITED, "32 descriptors: an event takes "
	       "one for each thread and CPU, so this is for programs of 3 "
	       "threads", "ulimit -n 4096");
	ppi_doctor_free(&doctor);
	fake.hard[PPI_LIMIT_FILES] = 32;
	examine();
	expect("descriptors", PPI_LIMITED, NULL, "limits.conf");
	ppi_doctor_free(&doctor);
	fake.soft[PPI_LIMIT_FILES] = 4;
	examine();
	expect("descriptors", PPI_LIMITED, "of 0 threads", "ulimit -n 32");
	ppi_doctor_free(&doctor);
	fake.soft[PPI_LIMIT_FILES] = 6; /* half of it is less than the CPUs */
	examine();
	expect("descriptors", PPI_LIMITED, "of 0 threads", "ulimit -n 32");
}

static void little_memory_to_lock(void **state)
{
	(void)state;
	be_ordinary();
	fake.soft[PPI_LIMIT_LOCKED] = 0;
	put("/proc/sys/kernel/perf_event_mlock_kb", "16\n");
	examine();
	expect("ring-memory", PPI_LIMITED, "64 KiB for the kernel buffers",
	       "sudo sysctl kernel.perf_event_mlock_kb=516, or ulimit -l "
	       "2064");
	ppi_doctor_free(&doctor);
	fake.answers[PPI_ASK_RING] = EPERM;
	examine();
	expect("ring-memory", PPI_FAILS, "not even 128 KiB",
	       "perf_event_mlock_kb");
	ppi_doctor_free(&doctor);
	fake.answers[PPI_ASK_RING] = 0;
	fake.soft[PPI_LIMIT_LOCKED] = 8 << 20;
	put("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	examine();
	expect("ring-memory", PPI_WORKS, "10256 KiB", NULL);
}

static void a_rate_that_was_lowered(void **state)
{
	(void)state;
	put("/proc/sys/kernel/perf_event_max_sample_rate", "1500\n");
	examine();
	expect("sample-rate", PPI_LIMITED, "at most 1500 samples a second: "
	       "the kernel lowers", "sudo sysctl "
	       "kernel.perf_cpu_time_max_percent=0 "
	       "kernel.perf_event_max_sample_rate=100000");
	ppi_doctor_free(&doctor);
	put("/proc/sys/kernel/perf_cpu_time_max_percent", "0\n");
	examine();
	assert_null(strstr(finding("sample-rate")->remedy, "percent"));
}

static void few_timers(void **state)
{
	(void)state;
	fake.soft[PPI_LIMIT_TIMERS] = 8;
	examine();
	expect("timers", PPI_LIMITED, "8 pending signals", "ulimit -i");
}

/* ---- other systems, nothing at all ---- */

static void a_system_without_perf(void **state)
{
	(void)state;
	host.has_perf = false;
	fake.backends = 4;
	examine();
	assert_true(doctor.can_sample);
	expect("cpu-time", PPI_WORKS, "sampled by itimer", NULL);
	expect_none("hardware-events");
	expect_none("paranoid");
	expect_none("system-call-filter");
	expect_none("sample-rate");
}

static void nothing_works(void **state)
{
	(void)state;
	fake.backends = 0;
	fake.answers[PPI_ASK_FLAGS] = EPERM;
	examine();
	assert_false(doctor.can_sample);
	expect("cpu-time", PPI_FAILS, "no backend", "see below");
}

/* ---- one event ---- */

static void refuse(portprof_status status, int os_errno, const char *words)
{
	fake.why.status = status;
	fake.why.os_errno = os_errno;
	snprintf(fake.why.words, sizeof(fake.why.words), "%s", words);
}

static void one_event(void **state)
{
	struct ppi_doctor_event event;

	(void)state;
	examine();
	assert_true(ppi_doctor_ask_event(&doctor, "cycles", &event));
	assert_true(event.is_usable);
	assert_int_equal(event.finding_count, 0);
	assert_int_equal(event.answer_count, 3);
	assert_true(event.answers[0].is_usable);
	assert_false(event.answers[1].is_usable);
	assert_string_equal(event.answers[1].words, "CPU time only");
}

static void an_event_without_rights(void **state)
{
	struct ppi_doctor_event event;

	(void)state;
	be_ordinary();
	fake.answers[PPI_ASK_KERNEL_TIME] = EACCES;
	refuse(PORTPROF_E_DENIED, EACCES, "'cycles:k' is not permitted");
	examine();
	assert_true(ppi_doctor_ask_event(&doctor, "cycles:k", &event));
	assert_false(event.is_usable);
	assert_int_equal(event.finding_count, 1);
	assert_string_equal(event.findings[0]->name, "paranoid");
}

static void an_event_without_a_pmu(void **state)
{
	struct ppi_doctor_event event;

	(void)state;
	fake.answers[PPI_ASK_CYCLES] = ENOENT;
	refuse(PORTPROF_E_UNSUPPORTED, ENOENT, "no PMU");
	examine();
	assert_true(ppi_doctor_ask_event(&doctor, "cycles", &event));
	assert_string_equal(event.findings[0]->name, "hardware-events");
}

static void an_event_of_a_cpu_that_is_not_known(void **state)
{
	struct ppi_doctor_event event;

	(void)state;
	fake.has_table = false;
	refuse(PORTPROF_E_UNSUPPORTED, 0, "this machine has no PMU 'skx'");
	examine();
	assert_true(ppi_doctor_ask_event(&doctor, "skx::X", &event));
	assert_string_equal(event.findings[0]->name, "cpu-events");
}

static void no_event_at_all(void **state)
{
	struct ppi_doctor_event event;

	(void)state;
	refuse(PORTPROF_E_NOTFOUND, 0, "there is no event 'zzz'");
	examine();
	assert_false(ppi_doctor_ask_event(&doctor, "zzz", &event));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(everything_works),
		CASE(paranoid_2),
		CASE(paranoid_below_2),
		CASE(paranoid_3_and_4),
		CASE(filters),
		CASE(paranoid_in_a_container),
		CASE(user_namespaces),
		CASE(a_kernel_without_perf_events),
		CASE(security_modules),
		CASE(no_descriptor_at_all),
		CASE(answers_of_no_kernel),
		CASE(a_virtual_machine_without_a_pmu),
		CASE(a_virtual_machine_without_a_name),
		CASE(a_virtual_machine_with_a_pmu),
		CASE(a_real_machine_without_a_pmu),
		CASE(hardware_that_is_limited),
		CASE(a_cpu_that_libpfm4_does_not_know),
		CASE(a_watchdog),
		CASE(hidden_kernel_addresses),
		CASE(tracepoints),
		CASE(few_descriptors),
		CASE(little_memory_to_lock),
		CASE(a_rate_that_was_lowered),
		CASE(few_timers),
		CASE(a_system_without_perf),
		CASE(nothing_works),
		CASE(one_event),
		CASE(an_event_without_rights),
		CASE(an_event_without_a_pmu),
		CASE(an_event_of_a_cpu_that_is_not_known),
		CASE(no_event_at_all),
	};
	int status;

	if (!mkdtemp(root))
		return 99;
	status = cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
	/* the folders are empty now; what is not stays for a look */
	if (status == 0) {
		char command[128];

		snprintf(command, sizeof(command), "rm -rf '%s'", root);
		status = system(command) != 0;
	}
	return status;
}
