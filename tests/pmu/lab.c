/* SPDX-License-Identifier: MIT */
/* The kit of the lab: loops of known length, what a case opens and closes. */
#include "tests/pmu/lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS_MAX = 16, GROUPS_MAX = 16 };

const char *lab_pmu = "";

static portprof_config *config_open;
static portprof_group *groups_open[GROUPS_MAX];
static size_t group_count;

/*
 * One loop, so that its two instructions have addresses; never inlined, so
 * that they have only one each.
 */
#if defined(__aarch64__)
#define LOOP "subs %0, %0, #1\n\tb.ne lab_loop_first\n"
#elif defined(__x86_64__)
#define LOOP "dec %0\n\tjnz lab_loop_first\n"
#endif

#ifdef LOOP
__attribute__((noinline, noclone)) void lab_loop(uint64_t turns)
{
	__asm__ volatile(".globl lab_loop_first\n"
	                 "lab_loop_first:\n\t" LOOP
	                 ".globl lab_loop_end\n"
	                 "lab_loop_end:"
	                 : "+r"(turns)
	                 :
	                 : "cc");
}
#else
/* Compiled everywhere, run where the instructions are known. */
const char lab_loop_first[1], lab_loop_end[1];
void lab_loop(uint64_t turns)
{
	(void)turns;
	abort();
}
#endif

void lab_begin(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0); /* a hang shows how far it came */
	if (argc > 1)
		lab_pmu = argv[1];
	if (argc > 2)
		cmocka_set_test_filter(argv[2]);
}

void lab_say(const char *words, ...)
{
	va_list list;

	printf("# ");
	va_start(list, words);
	vprintf(words, list);
	va_end(list);
	printf("\n");
}

void lab_skip(const char *words, ...)
{
	va_list list;

	printf("# skip: ");
	va_start(list, words);
	vprintf(words, list);
	va_end(list);
	printf("\n");
	skip();
	abort();
}

const char *lab_event(const char *pattern)
{
	static char text[256];
	const char *at = strstr(pattern, "PMU::");

	if (!at)
		return pattern;
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - pattern), pattern,
	         lab_pmu, at + strlen("PMU"));
	return text;
}

int lab_clean_up(void **state)
{
	(void)state;
	lab_close_session();
	while (group_count > 0)
		portprof_group_close(groups_open[--group_count]);
	portprof_config_free(config_open);
	config_open = NULL;
	return 0;
}

void lab_must(portprof_status status)
{
	if (status != PORTPROF_OK)
		lab_say("%s: %s", portprof_last_diag()->step,
		        portprof_last_diag()->words);
	assert_int_equal(status, PORTPROF_OK);
}

portprof_config *lab_config(void)
{
	portprof_config_free(config_open);
	config_open = portprof_config_new();
	assert_non_null(config_open);
	lab_must(portprof_config_set_backend(config_open, "perf"));
	lab_must(portprof_config_set_target(config_open, PORTPROF_TARGET_THREAD,
					    0));
	return config_open;
}

void lab_add_event(portprof_config *config, const char *pattern)
{
	lab_must(portprof_config_add_event(config, lab_event(pattern)));
}

portprof_group *lab_open_group(portprof_config *config)
{
	portprof_group *group;

	assert_true(group_count < GROUPS_MAX);
	lab_must(portprof_group_open_config(config, &group));
	groups_open[group_count++] = group;
	return group;
}

portprof_group *lab_group(const char *patterns)
{
	portprof_config *config = lab_config();
	char *list = strdup(patterns), *rest = list, *pattern;

	assert_non_null(list);
	while ((pattern = strsep(&rest, ",")))
		lab_add_event(config, pattern);
	free(list);
	return lab_open_group(config);
}

bool lab_is_exact(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) == 1;
}

static void count_once(portprof_group *group, uint64_t turns, uint64_t *counts,
                       size_t count)
{
	portprof_count before[EVENTS_MAX], after[EVENTS_MAX];

	lab_must(portprof_group_read(group, before, count));
	lab_loop(turns);
	lab_must(portprof_group_read(group, after, count));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(after[i].status, PORTPROF_COUNT_OK);
		counts[i] = after[i].raw - before[i].raw;
	}
}

void lab_count_loop(portprof_group *group, uint64_t turns, uint64_t *counts,
                    size_t count)
{
	uint64_t again[EVENTS_MAX];
	unsigned tries = lab_is_exact() ? 1 : 9;

	assert_true(count <= EVENTS_MAX);
	count_once(group, turns, counts, count);
	while (--tries) {
		count_once(group, turns, again, count);
		if (again[0] < counts[0])
			memcpy(counts, again, count * sizeof(*counts));
	}
}
