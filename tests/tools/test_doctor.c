/* SPDX-License-Identifier: MIT */
/* What portprof doctor makes of findings of backends and of its own, on a host
 * that is made up for it. Those of perf: tests/unit/test_perf_report.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/tools/fake_root.h"
#include "tools/doctor/doctor.h"

/* ---- the host ---- */

static char root[] = "/tmp/portprof-doctor.XXXXXX";
static struct {
	unsigned backends;    /* usable, of perf, timer, itimer: bits */
	bool has_table;
	portprof_finding findings[4]; /* of perf; a name of NULL ends them */
	portprof_diag why;    /* what perf says of an event; status OK: yes */
} fake;
static struct ppi_doctor_host host;
static struct ppi_doctor doctor;
static char files[64][128];
static size_t file_count;

static void put(const char *path, const char *text)
{
	fake_root_put(root, path, text);
	assert_true(file_count < sizeof(files) / sizeof(files[0]));
	snprintf(files[file_count++], sizeof(files[0]), "%s", path);
}

static void take_away(const char *path)
{
	char name[512];

	snprintf(name, sizeof(name), "%s%s", root, path);
	unlink(name);
}

static void examine_backends(void *self, portprof_finding_fn take,
                             void *context)
{
	(void)self;
	for (size_t i = 0; i < 4 && fake.findings[i].name; i++)
		if (take(&fake.findings[i], context))
			return;
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
	info->caps = index == 0 ? PORTPROF_CAP_SAMPLE | PORTPROF_CAP_EVENTS |
	                                  PORTPROF_CAP_ATTACH |
	                                  PORTPROF_CAP_KERNEL |
	                                  PORTPROF_CAP_HARDWARE
	                        : PORTPROF_CAP_SAMPLE;
	info->name = names[index];
	info->summary = "";
	info->reason = info->is_usable ? "" : "not permitted";
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
		                       .is_core = 1,
		                       .name = "skx",
		                       .means = "", .cpus = "", .terms = "" };

	(void)self;
	if (fake.has_table)
		take(&pmu, context);
}

/* A machine on which everything works. */
static int fresh(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.backends = 7;
	fake.has_table = true;
	host = (struct ppi_doctor_host){
		.root = root, .timers = UINT64_MAX, .backend = backend,
		.examine = examine_backends, .explain = explain, .pmus = pmus,
	};
	file_count = 0;
	put("/proc/kallsyms", "ffffffff81000000 T _stext\n");
	put("/proc/cpuinfo", "model name\t: Test CPU 3000\nflags\t\t: fpu\n");
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

static void find(const char *topic, const char *name,
                 portprof_verdict verdict, const char *words,
                 const char *remedy)
{
	size_t i = 0;

	while (fake.findings[i].name)
		i++;
	assert_true(i < 4);
	fake.findings[i] = (portprof_finding){
		.size = sizeof(portprof_finding), .verdict = verdict,
		.backend = "perf", .topic = topic, .name = name,
		.words = words, .remedy = remedy,
	};
}

static const struct ppi_finding *finding(const char *name)
{
	const struct ppi_finding *found = ppi_doctor_find(&doctor, name);

	if (!found)
		fail_msg("there is no finding '%s'", name);
	return found;
}

/* The verdict, a part of the words and one of the remedy; NULL: none. */
static void expect(const char *name, portprof_verdict verdict,
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

/* ---- what backends found ---- */

static void everything_works(void **state)
{
	(void)state;
	examine();
	assert_true(doctor.can_sample);
	for (size_t i = 0; i < doctor.count; i++)
		if (doctor.findings[i].verdict != PORTPROF_VERDICT_WORKS &&
		    doctor.findings[i].topic != PPI_TOPIC_BUILD)
			fail_msg("%s: %s", doctor.findings[i].name,
			         doctor.findings[i].words);
	expect("cpu-time", PORTPROF_VERDICT_WORKS, "perf, timer, itimer",
	       NULL);
	expect("cpu-events", PORTPROF_VERDICT_WORKS, "Test CPU 3000", NULL);
	expect("cpu-events", PORTPROF_VERDICT_WORKS, "skx::", NULL);
}

/* The library's words stand as they are, under their heading, and in the place
 * of what capabilities alone would say. */
static void findings_of_a_backend(void **state)
{
	(void)state;
	find("rights", "paranoid", PORTPROF_VERDICT_LIMITED, "level 2",
	     "sysctl");
	find("events", "kernel-mode", PORTPROF_VERDICT_FAILS, "not permitted",
	     "setcap");
	examine();
	expect("paranoid", PORTPROF_VERDICT_LIMITED, "level 2", "sysctl");
	assert_int_equal(finding("paranoid")->topic, PPI_TOPIC_RIGHTS);
	expect("kernel-mode", PORTPROF_VERDICT_FAILS, "not permitted",
	       "setcap");
	expect("hardware-events", PORTPROF_VERDICT_WORKS, "perf", NULL);
}

/* A class of events is claimed only where a backend has it. */
static void nobody_has_the_capability(void **state)
{
	static const char *const names[] = { "kernel-mode", "hardware-events",
		                             "software-events",
		                             "other-processes" };

	(void)state;
	fake.backends = 6;
	examine();
	assert_true(doctor.can_sample);
	expect("cpu-time", PORTPROF_VERDICT_LIMITED, "timer, itimer",
	       "see below");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect(names[i], PORTPROF_VERDICT_FAILS, "capability",
		       "see below");
	expect_none("paranoid");
	expect_none("sample-rate");
}

/* ---- the machine ---- */

static void a_cpu_that_libpfm4_does_not_know(void **state)
{
	(void)state;
	fake.has_table = false;
	examine();
	if (strstr(finding("cpu-events")->words, "has no table"))
		expect("cpu-events", PORTPROF_VERDICT_LIMITED, "Test CPU 3000: libpfm4", "--with-libpfm4=PREFIX");
	else
		expect("cpu-events", PORTPROF_VERDICT_LIMITED, "without libpfm4",
		       "libpfm4-dev");
	ppi_doctor_free(&doctor);
	put("/proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
	examine();
	expect("cpu-events", PORTPROF_VERDICT_LIMITED, "implementer 0x41, part 0xd0c",
	       "libpfm4");
}

static void hidden_kernel_addresses(void **state)
{
	(void)state;
	put("/proc/kallsyms", "0000000000000000 T _stext\n");
	examine();
	expect("kernel-names", PORTPROF_VERDICT_LIMITED, "no addresses",
	       "kernel.kptr_restrict=0");
}

/* An ordinary user's reads as nothing. */
static void hidden_kernel_stacks(void **state)
{
	(void)state;
	put("/proc/self/stack", "[<0>] proc_pid_stack+0x1/0x9\n");
	examine();
	expect("kernel-waits", PORTPROF_VERDICT_WORKS, "in the kernel", NULL);
	put("/proc/self/stack", "");
	examine();
	expect("kernel-waits", PORTPROF_VERDICT_LIMITED, "/proc/PID/stack",
	       "CAP_SYS_ADMIN");
}

static void few_timers(void **state)
{
	(void)state;
	host.timers = 8;
	examine();
	expect("timers", PORTPROF_VERDICT_LIMITED, "8 pending signals", "ulimit -i");
}

/* ---- other builds, nothing at all ---- */

static void a_build_without_perf(void **state)
{
	(void)state;
	host.lacks_perf = true;
	fake.backends = 4;
	examine();
	expect("backend-perf", PORTPROF_VERDICT_FAILS, "left out",
	       "--enable-backends");
	expect_none("cpu-events");
}

static void nothing_works(void **state)
{
	(void)state;
	fake.backends = 0;
	examine();
	assert_false(doctor.can_sample);
	expect("cpu-time", PORTPROF_VERDICT_FAILS, "no backend", "see below");
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
	assert_string_equal(event.answers[1].why.words, "CPU time only");
}

static void an_event_without_rights(void **state)
{
	struct ppi_doctor_event event;

	(void)state;
	find("rights", "paranoid", PORTPROF_VERDICT_LIMITED, "level 2",
	     "sysctl");
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
	find("events", "hardware-events", PORTPROF_VERDICT_FAILS, "no PMU",
	     "pmu=on");
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
		CASE(findings_of_a_backend),
		CASE(nobody_has_the_capability),
		CASE(a_cpu_that_libpfm4_does_not_know),
		CASE(hidden_kernel_addresses),
		CASE(hidden_kernel_stacks),
		CASE(few_timers),
		CASE(a_build_without_perf),
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
