/* SPDX-License-Identifier: MIT */
/*
 * Breakpoints and probes on this machine's kernel: places found by symbol, and
 * counts and samples that are the program's own numbers. What the machine or the
 * user may not is skipped.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <portprof.h>
#include <portprof/tool.h>

#include "backends/perf/events/perf_place.h"
#include "tests/tools/speed.h"

/* ---- the program ---- */

volatile uint64_t place_variable;
static volatile uint32_t place_own_variable;

__attribute__((noinline)) void place_function(void);
void place_function(void)
{
	place_variable++;
}

__attribute__((noinline)) static void place_own_function(void)
{
	place_own_variable = place_own_variable + 1;
}

static void work(uint64_t times)
{
	for (uint64_t i = 0; i < times; i++)
		place_function();
}

/* Set before any trap. */
static bool is_virtual;

/* No trap of a breakpoint or probe is the program's. Which one it was (si_code of
 * sigaction(2): TRAP_HWBKPT, TRAP_TRACE, SI_KERNEL of a probe) says more than
 * that the program is dead. TRAP_BRKPT is one without a reason: the host of a
 * virtual machine has lost it (ppi_say_killed of tools/launch.c). */
static void say_trap(int signo, siginfo_t *info, void *context)
{
	char words[160];
	int length = snprintf(words, sizeof(words), "process %ld: SIGTRAP, "
	                      "si_code %d, at %p; place_function is at %p\n",
	                      (long)getpid(), info->si_code, info->si_addr,
	                      (void *)(uintptr_t)place_function);

	(void)context;
	if (write(STDERR_FILENO, words, (size_t)length) != length)
		_exit(2);
	if (is_virtual && info->si_code == TRAP_BRKPT)
		_exit(77);
	signal(signo, SIG_DFL);
	raise(signo);
}

/* ---- symbols ---- */

static enum perf_symbol_answer find(const char *name,
                                    struct perf_symbol *symbol)
{
	char path[4096];

	return ppi_perf_symbol_in_process(&ppi_perf_kernel_real, 0, name,
	                                  symbol, NULL, path, sizeof(path));
}

static void symbols_are_where_they_are(void **state)
{
	struct perf_symbol symbol;

	(void)state;
	place_own_function();
	assert_int_equal(find("place_function", &symbol), PERF_SYMBOL_FOUND);
	assert_int_equal(symbol.address, (uintptr_t)place_function);
	assert_int_equal(find("place_variable", &symbol), PERF_SYMBOL_FOUND);
	assert_int_equal(symbol.address, (uintptr_t)&place_variable);
	assert_int_equal(symbol.bytes, sizeof(place_variable));
	assert_int_equal(find("place_own_function", &symbol),
	                 PERF_SYMBOL_FOUND);
	assert_int_equal(symbol.address, (uintptr_t)place_own_function);
	assert_int_equal(find("place_own_variable", &symbol),
	                 PERF_SYMBOL_FOUND);
	assert_int_equal(symbol.address, (uintptr_t)&place_own_variable);
	assert_int_equal(find("place_functio", &symbol), PERF_SYMBOL_NONE);
	assert_int_equal(find("", &symbol), PERF_SYMBOL_NONE);
}

static void symbols_of_libraries(void **state)
{
	/* one that no sanitizer puts its own before */
	void *here = dlsym(RTLD_DEFAULT, "cfgetospeed");
	struct perf_symbol symbol;
	char path[4096], *mapped;
	Dl_info info;
	int error;

	(void)state;
	if (!here || !dladdr(here, &info) || info.dli_fname[0] != '/')
		skip();
	/* musl's loader has its C library by a link */
	mapped = realpath(info.dli_fname, NULL);
	assert_non_null(mapped);
	assert_int_equal(find("cfgetospeed", &symbol), PERF_SYMBOL_FOUND);
	assert_int_equal(symbol.address, (uintptr_t)here);
	assert_int_equal(ppi_perf_symbol_in_file(&ppi_perf_kernel_real,
	                                         info.dli_fname,
	                                         "cfgetospeed", &symbol, NULL,
	                                         &error),
	                 PERF_SYMBOL_FOUND);
	assert_true(symbol.file_offset > 0);
	assert_true(ppi_perf_symbol_find_file(&ppi_perf_kernel_real, 0,
	                                      strrchr(mapped, '/') + 1, path,
	                                      sizeof(path)));
	assert_true(path[0] == '/');
	free(mapped);
}

static void what_is_no_program(void **state)
{
	struct perf_symbol symbol;
	int error;

	(void)state;
	assert_int_equal(ppi_perf_symbol_in_file(&ppi_perf_kernel_real,
	                                         "/nowhere",
	                                         "main", &symbol, NULL,
	                                         &error),
	                 PERF_SYMBOL_NO_FILE);
	assert_int_equal(error, ENOENT);
	assert_int_equal(ppi_perf_symbol_in_file(&ppi_perf_kernel_real,
	                                         "/proc/self/status", "main",
	                                         &symbol, NULL,
	                                         &error),
	                 PERF_SYMBOL_NO_ELF);
}

/* ---- counts ---- */

/* Skips what this machine or user may not. */
static portprof_group *open_events(const char *events, portprof_target target,
                                   int64_t id)
{
	portprof_config *config = portprof_config_new();
	portprof_group *group = NULL;
	portprof_status status;

	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, events),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_set_target(config, target, id),
	                 PORTPROF_OK);
	status = portprof_group_open_config(config, &group);
	portprof_config_free(config);
	if (status == PORTPROF_E_UNSUPPORTED || status == PORTPROF_E_DENIED ||
	    status == PORTPROF_E_LIMIT) {
		print_message("%s\n", portprof_last_diag()->words);
		skip();
	}
	if (status)
		fail_msg("%s", portprof_last_diag()->words);
	return group;
}

static void check_counts(portprof_group *group, size_t events, uint64_t wanted)
{
	portprof_count counts[4];

	assert_int_equal(portprof_group_read(group, counts, events),
	                 PORTPROF_OK);
	for (size_t i = 0; i < events; i++) {
		assert_int_equal(counts[i].status, PORTPROF_COUNT_OK);
		assert_int_equal(counts[i].raw, wanted);
		assert_int_equal(counts[i].scaled, wanted);
	}
}

/* One, many, and at each speed of the suite so many that a minute is enough. */
static const uint64_t *hits(void)
{
	static uint64_t times[] = { 1, 2, 3, 10, 1000, 0, 0 };

	times[5] = by_speed(20000, 100000, 1000000);
	return times;
}

static void breakpoints_count_what_the_program_does(void **state)
{
	char events[200];
	portprof_group *group;

	(void)state;
	snprintf(events, sizeof(events), "breakpoint:place_function:x,"
	         "breakpoint:place_variable:w:u,mem:%#llx/8:w",
	         (unsigned long long)(uintptr_t)&place_variable);
	group = open_events(events, PORTPROF_TARGET_PROCESS, 0);
	for (const uint64_t *times = hits(); *times; times++) {
		assert_int_equal(portprof_group_reset(group), PORTPROF_OK);
		work(*times);
		check_counts(group, 3, *times);
	}
	portprof_group_close(group);
}

/* A child that does as many as it reads, and says when it has. */
static pid_t start_child(int to[2], int from[2])
{
	uint64_t times;
	pid_t child;

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	child = fork();
	if (child != 0) {
		close(to[0]);
		close(from[1]);
		return child;
	}
	close(to[1]);
	close(from[0]);
	while (read(to[0], &times, sizeof(times)) == sizeof(times)) {
		work(times);
		if (write(from[1], "", 1) != 1)
			break;
	}
	_exit(0);
}

static void end_child(pid_t child, int to, int from)
{
	int status;

	close(to);
	close(from);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Skipping jumps, so the child is there only once that is over. */
static void attached_to_another_process(const char *events, size_t count)
{
	int to[2], from[2], status;
	portprof_group *group = open_events(events, PORTPROF_TARGET_PROCESS, 0);
	pid_t child;
	char byte;

	portprof_group_close(group);
	child = start_child(to, from);
	group = open_events(events, PORTPROF_TARGET_PID, child);
	for (const uint64_t *times = hits(); *times; times++) {
		assert_int_equal(portprof_group_reset(group), PORTPROF_OK);
		assert_int_equal(write(to[1], times, sizeof(*times)),
		                 sizeof(*times));
		if (read(from[0], &byte, 1) != 1) {
			assert_int_equal(waitpid(child, &status, 0), child);
			assert_int_equal(status, 77 << 8);
			skip();
		}
		check_counts(group, count, *times);
	}
	portprof_group_close(group);
	end_child(child, to[1], from[0]);
}

static void breakpoints_of_another_process(void **state)
{
	(void)state;
	attached_to_another_process("breakpoint:place_function:x,"
	                            "breakpoint:place_variable:w", 2);
}

static void own_file(char *events, size_t bytes, const char *format)
{
	char path[100];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	/* no string is longer than 255 characters */
	if (length <= 0 || length == sizeof(path) - 1)
		skip();
	path[length] = '\0';
	snprintf(events, bytes, format, path, path);
}

static void probes_count_what_the_program_does(void **state)
{
	portprof_group *group;
	char events[400];

	(void)state;
	own_file(events, sizeof(events), "uprobe:%s:place_function,"
	         "uretprobe:%s:place_function");
	group = open_events(events, PORTPROF_TARGET_PROCESS, 0);
	for (const uint64_t *times = hits(); *times; times++) {
		assert_int_equal(portprof_group_reset(group), PORTPROF_OK);
		work(*times);
		check_counts(group, 2, *times);
	}
	portprof_group_close(group);
	attached_to_another_process(events, 2);
}

/* ---- samples ---- */

struct seen {
	uint64_t samples, weight, elsewhere;
};

static void take(const portprof_batch *batch, void *context)
{
	struct seen *seen = context;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		seen->samples++;
		seen->weight += record->weight;
		seen->elsewhere += record->address !=
		                   (uintptr_t)place_function;
	}
}

/* Few enough in each tick of the kernel that it throttles nothing. */
static void work_slowly(uint64_t times)
{
	for (uint64_t i = 0; i < times; i++) {
		place_function();
		if (i % 20 == 0)
			nanosleep(&(struct timespec){ .tv_nsec = 2000000 },
			          NULL);
	}
}

static void every_hit_is_a_sample(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session = NULL;
	struct seen seen = { .samples = 0 };
	portprof_status status;

	(void)state;
	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(
				 config, "breakpoint:place_function:x"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_callback(config, take, &seen),
	                 PORTPROF_OK);
	status = portprof_session_open(config, &session);
	portprof_config_free(config);
	if (status == PORTPROF_E_UNSUPPORTED || status == PORTPROF_E_DENIED ||
	    status == PORTPROF_E_LIMIT)
		skip();
	assert_int_equal(status, PORTPROF_OK);
	assert_int_equal(portprof_session_start(session), PORTPROF_OK);
	work_slowly(1000);
	assert_int_equal(portprof_session_stop(session), PORTPROF_OK);
	portprof_session_close(session);
	assert_int_equal(seen.samples, 1000);
	assert_int_equal(seen.weight, 1000);
	assert_int_equal(seen.elsewhere, 0);
}

/* Who looks on sees every sample, and keeps none: they are lost all the same. */
static void an_observer_keeps_nothing(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_session *session = NULL;
	struct seen seen = { .samples = 0 };
	portprof_status status;

	(void)state;
	assert_int_equal(portprof_config_add_observer(config, NULL, NULL),
	                 PORTPROF_E_INVALID);
	portprof_config_set_backend(config, "perf");
	portprof_config_add_event(config, "breakpoint:place_function:x");
	assert_int_equal(portprof_config_add_observer(config, take, &seen),
	                 PORTPROF_OK);
	status = portprof_session_open(config, &session);
	portprof_config_free(config);
	if (status == PORTPROF_E_UNSUPPORTED || status == PORTPROF_E_DENIED ||
	    status == PORTPROF_E_LIMIT)
		skip();
	assert_int_equal(status, PORTPROF_OK);
	assert_int_equal(portprof_session_start(session), PORTPROF_OK);
	work_slowly(100);
	assert_int_equal(portprof_session_stop(session), PORTPROF_OK);
	assert_int_equal(portprof_session_stats(session, 0, &stats),
	                 PORTPROF_OK);
	portprof_session_close(session);
	assert_int_equal(seen.samples, 100);
	assert_int_equal(stats.kept_samples, 0);
	assert_int_equal(stats.lost_samples, 100);
}

/* Another period on the fly, and an end after so many hits: each is in one
 * sample's weight, or in none. */
static void a_running_breakpoint_is_steered(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_session *session = NULL;
	struct seen seen = { .samples = 0 };
	portprof_status status;
	uint64_t before;

	(void)state;
	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_set_target(
				 config, PORTPROF_TARGET_THREAD, 0),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(
				 config, "breakpoint:place_function:x@1"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_callback(config, take, &seen),
	                 PORTPROF_OK);
	status = portprof_session_open(config, &session);
	portprof_config_free(config);
	if (status == PORTPROF_E_UNSUPPORTED || status == PORTPROF_E_DENIED ||
	    status == PORTPROF_E_LIMIT)
		skip();
	assert_int_equal(status, PORTPROF_OK);
	assert_int_equal(portprof_session_start(session), PORTPROF_OK);
	work_slowly(100);
	assert_int_equal(portprof_session_set_number(session, 0, "period", 10),
	                 PORTPROF_OK);
	work_slowly(100);
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	/* the kernel begins the new period where it likes */
	assert_in_range(seen.samples, 109, 113);
	assert_in_range(seen.weight, 190, 200);
	before = seen.samples;
	assert_int_equal(portprof_session_set_number(session, 0, "enabled", 0),
	                 PORTPROF_OK);
	work_slowly(100);
	assert_int_equal(portprof_session_set_number(session, 0, "period", 1),
	                 PORTPROF_OK);
	assert_int_equal(portprof_session_set_number(session, 0,
	                                             "samples-left", 50),
	                 PORTPROF_OK);
	work_slowly(1000);
	assert_int_equal(portprof_session_stop(session), PORTPROF_OK);
	assert_int_equal(seen.samples, before + 50);
	assert_int_equal(seen.weight, 250);
	assert_int_equal(portprof_session_stats(session, 0, &stats),
	                 PORTPROF_OK);
	assert_int_equal(stats.total_weight, 250);
	assert_int_equal(stats.unattributed_weight, 0);
	assert_int_equal(portprof_session_set_number(session, 1, "period", 1),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_session_set_number(session, 0, "perod", 1),
	                 PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "did you mean period"));
	assert_int_equal(portprof_session_set_number(session, 0, "period", 0),
	                 PORTPROF_E_INVALID);
	portprof_session_close(session);
}

/* What a symbol is says how it is watched; code at a variable never runs. */
static void no_access_is_that_of_the_symbol(void **state)
{
	static const struct {
		const char *event, *means;
	} rows[] = {
		{ "breakpoint:place_function", "executions of 0x" },
		{ "breakpoint:place_variable",
		  "reads of and writes to 8 bytes at 0x" },
		{ "breakpoint:place_variable:x", "executions of 0x" },
		{ "mem:0x1000", "reads of and writes to 4 bytes at 0x1000" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		portprof_event_info info = { .size = sizeof(info) };

		assert_int_equal(portprof_event_look_up(rows[i].event, "perf",
		                                        &info),
		                 PORTPROF_OK);
		if (!strstr(info.description, rows[i].means))
			fail_msg("%s: %s", rows[i].event, info.description);
	}
}

/* ---- refusals ---- */

static void refuse(const char *event, portprof_status wanted,
                   const char *words)
{
	portprof_event_info info = { .size = sizeof(info) };
	portprof_status status = portprof_event_look_up(event, "perf", &info);

	if (status != wanted)
		fail_msg("%s: status %d: %s", event, status,
		         portprof_last_diag()->words);
	if (!strstr(portprof_last_diag()->words, words))
		fail_msg("%s: %s", event, portprof_last_diag()->words);
}

/* No CPU has so many debug registers. */
static void more_breakpoints_than_the_cpu_has(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_group *group = NULL;
	char event[40];

	(void)state;
	portprof_group_close(open_events("mem:0x1000/8:w",
	                                 PORTPROF_TARGET_THREAD, 0));
	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	for (unsigned i = 1; i <= 40; i++) {
		snprintf(event, sizeof(event), "{mem:%#x/8:w}", i << 12);
		assert_int_equal(portprof_config_add_event(config, event),
		                 PORTPROF_OK);
	}
	assert_int_equal(portprof_group_open_config(config, &group),
	                 PORTPROF_E_LIMIT);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "no debug register free"));
	portprof_config_free(config);
}

static void what_is_wrong_is_said(void **state)
{
	(void)state;
	refuse("mem:main:w", PORTPROF_E_INVALID, "column 5: 'main' is not an "
	       "address");
	refuse("mem:0x10/3:w", PORTPROF_E_INVALID, "1, 2, 4 or 8");
	refuse("mem:0x10/x:w", PORTPROF_E_INVALID, "'x' is not a number");
	refuse("mem:0x10/8:x", PORTPROF_E_INVALID, "drop /8");
	refuse("mem:0x10:q", PORTPROF_E_INVALID, "column 10: 'q' is neither");
	refuse("mem:0x10:r:w", PORTPROF_E_INVALID, "column 12: 'w' ");
	refuse("mem:0x10:w:precise=2", PORTPROF_E_UNSUPPORTED, "precise");
	refuse("breakpoint:place_functio:x", PORTPROF_E_UNSUPPORTED,
	       "attach to it (-p PID)");
	refuse("breakpoint:place_functio:x", PORTPROF_E_UNSUPPORTED,
	       "portprof stat");
	refuse("breakpoint:place_function+x:x", PORTPROF_E_INVALID,
	       "'x' is not a number");
	/* other backends know none of them */
	assert_int_equal(portprof_event_look_up(
				 "breakpoint:place_function:x", "timer",
				 &(portprof_event_info){
					 .size = sizeof(portprof_event_info) }),
	                 PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "is not CPU time"));
}

/* The level of perf_event_paranoid changes nothing: 1 is no remedy. */
static int try_kernel_address(void)
{
	portprof_event_info info = { .size = sizeof(info) };
	const char *words;

	if (geteuid() == 0 && setuid(65534) != 0)
		return 77;
	if (portprof_event_try("mem:0x1000/8:w:u", "perf", &info))
		return 77;
	if (portprof_event_try("mem:0xffffffff81000000:x", "perf", &info) !=
	    PORTPROF_E_DENIED)
		return 1;
	words = portprof_last_diag()->words;
	return strstr(words, "CAP_SYS_ADMIN") && !strstr(words, "paranoid")
		? 0 : 2;
}

static void an_address_of_the_kernel(void **state)
{
	pid_t child;
	int status;

	(void)state;
	if (sizeof(void *) < 8)
		skip();
	child = fork();
	if (child == 0)
		_exit(try_kernel_address());
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status == 77 << 8)
		skip();
	assert_int_equal(status, 0);
}

/* As a CPU says that it is a virtual machine's. */
static bool find_hypervisor(void)
{
	FILE *cpuinfo = fopen("/proc/cpuinfo", "r");
	char line[4096];
	bool is_found = false;

	while (cpuinfo && !is_found && fgets(line, sizeof(line), cpuinfo))
		is_found = strncmp(line, "flags", 5) == 0 &&
		           strstr(line, " hypervisor");
	if (cpuinfo)
		fclose(cpuinfo);
	return is_found;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_are_where_they_are),
		cmocka_unit_test(symbols_of_libraries),
		cmocka_unit_test(what_is_no_program),
		cmocka_unit_test(breakpoints_count_what_the_program_does),
		cmocka_unit_test(breakpoints_of_another_process),
		cmocka_unit_test(probes_count_what_the_program_does),
		cmocka_unit_test(every_hit_is_a_sample),
		cmocka_unit_test(an_observer_keeps_nothing),
		cmocka_unit_test(a_running_breakpoint_is_steered),
		cmocka_unit_test(no_access_is_that_of_the_symbol),
		cmocka_unit_test(more_breakpoints_than_the_cpu_has),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(an_address_of_the_kernel),
	};
	struct sigaction action = { .sa_sigaction = say_trap,
		                    .sa_flags = SA_SIGINFO };

	is_virtual = find_hypervisor();
	if (sigaction(SIGTRAP, &action, NULL) != 0)
		return 99;
	return cmocka_run_group_tests_name("perf_place", tests, NULL, NULL);
}
