/* SPDX-License-Identifier: MIT */
/* The command on the guest's PMU: stat, list, record and report, doctor. */
#include "tests/pmu/lab.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 1 << 20, WORDS_MAX = 16 };

static char output[OUTPUT_BYTES];

/* Both streams of a command, its words parted by blanks; its exit status. */
static int run(const char *line)
{
	char copy[512], *words[WORDS_MAX + 1] = { NULL }, *rest = copy;
	size_t count = 0, got = 0;
	int ends[2], status;
	ssize_t more;
	pid_t pid;

	snprintf(copy, sizeof(copy), "%s", line);
	while (count < WORDS_MAX && (words[count] = strsep(&rest, " ")))
		count++;
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		execv(words[0], words);
		_exit(127);
	}
	close(ends[1]);
	while (got < OUTPUT_BYTES - 1 &&
	       (more = read(ends[0], output + got,
	                    OUTPUT_BYTES - 1 - got)) > 0)
		got += (size_t)more;
	output[got] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* What was printed, a line at a time, for the log. */
static void show(size_t most)
{
	char *rest = strdup(output), *all = rest, *line;

	while (most-- && (line = strsep(&rest, "\n")))
		lab_say("> %s", line);
	free(all);
}

static bool has(const char *words)
{
	if (strstr(output, words))
		return true;
	lab_say("does not print: %s", words);
	show(40);
	return false;
}

/* The first field of stat -x, line. */
static uint64_t counted(const char *turns)
{
	char line[128];

	snprintf(line, sizeof(line), "/bin/portprof stat -x, -e "
	         "instructions:u -- /bin/pmu_scope loop %s", turns);
	assert_int_equal(run(line), 0);
	return strtoull(output, NULL, 10);
}

/* Beside the loop the command does the same each time but for how its dynamic
 * linker's tables happen to lie. */
static void stat_counts_the_loop(void **state)
{
	uint64_t few, many;

	(void)state;
	few = counted("1000");
	many = counted("1001000");
	lab_say("1000 turns: %" PRIu64 ", a million more: %" PRIu64, few,
	        many - few);
	assert_in_range(many - few, 2000000 - 20000, 2000000 + 20000);
}

/* The number after the key, from `at` on. */
static double number_of(const char *at, const char *key)
{
	at = at ? strstr(at, key) : NULL;
	assert_non_null(at);
	return strtod(at + strlen(key), NULL);
}

/* It counts one of each: the ratio is that of the two values it prints. */
static void stat_prints_a_preset(void **state)
{
	const char *cycles;
	double instructions;

	(void)state;
	assert_int_equal(run("/bin/portprof stat --json -e IPC:u -- "
	                     "/bin/pmu_scope loop 1000000"), 0);
	show(14);
	assert_true(has("\"instructions per cycle\""));
	cycles = strstr(output, "\"cycles:u\"");
	instructions = number_of(output, "\"value\": ");
	assert_true(instructions >= 2000000);
	assert_true(fabs(number_of(strstr(output, "\"metric\""),
	                           "\"value\": ") -
	                 instructions / number_of(cycles, "\"value\": ")) <
	            1e-5);
	assert_int_equal(run("/bin/portprof list --explain IPC:u"), 0);
	assert_true(has("instructions / cycles"));
}

static void stat_shows_one_group(void **state)
{
	(void)state;
	assert_int_equal(run("/bin/portprof stat --json -e "
	                     "{cycles:u,instructions:u} -- "
	                     "/bin/pmu_scope loop 1000000"), 0);
	show(12);
	assert_true(has("\"cycles:u\""));
	assert_true(has("\"status\": \"ok\""));
}

static void list_knows_the_pmu(void **state)
{
	char name[80];

	(void)state;
	assert_int_equal(run("/bin/portprof list CYCLES"), 0);
	snprintf(name, sizeof(name), "%s::CPU_CYCLES", lab_pmu);
	assert_true(has(name));
	assert_int_equal(run("/bin/portprof list armv8_pmuv3::*"), 0);
	assert_true(has("armv8_pmuv3::cpu_cycles"));
	assert_true(has("event=0x0011"));
}

static void list_explains_an_event(void **state)
{
	(void)state;
	assert_int_equal(run("/bin/portprof list --explain "
	                     "INST_RETIRED:u:period=1000"), 0);
	show(30);
	assert_true(has("0x8"));
	assert_true(has("1000"));
}

static void doctor_finds_the_pmu(void **state)
{
	(void)state;
	assert_int_equal(run("/bin/portprof doctor -j"), 0);
	assert_true(has("\"name\": \"hardware-events\", \"verdict\": \"works\""));
	/* this PMU does not sample precisely */
	assert_true(has("skid"));
}

static void record_finds_the_loop(void **state)
{
	(void)state;
	assert_int_equal(run("/bin/portprof record -q -e cycles:u:period=20000 "
	                     "-o /tmp/run.pb.gz -- "
	                     "/bin/pmu_scope loop 20000000"), 0);
	assert_int_equal(run("/bin/portprof report -i /tmp/run.pb.gz"), 0);
	show(20);
	assert_true(has("lab_loop"));
	assert_true(has("cycles:u"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LAB_CASE(stat_counts_the_loop),
		LAB_CASE(stat_shows_one_group),
		LAB_CASE(stat_prints_a_preset),
		LAB_CASE(list_knows_the_pmu),
		LAB_CASE(list_explains_an_event),
		LAB_CASE(doctor_finds_the_pmu),
		LAB_CASE(record_finds_the_loop),
	};

	lab_begin(argc, argv);
	return cmocka_run_group_tests_name("pmu_command", tests, NULL, NULL);
}
