/* SPDX-License-Identifier: MIT */
/*
 * Counting events around a part of a program: read a group before and after,
 * and subtract.
 *
 * usage: 03_count [EVENTS]     such as: 03_count cycles:u,instructions:u
 */
#include <portprof.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 16, MEGABYTES = 16 };

static void die(const char *doing)
{
	fprintf(stderr, "03_count: %s: %s\n", doing,
	        portprof_last_diag()->words);
	exit(1);
}

/* Touch fresh memory, a byte a page: each first touch is a page fault. */
static void work(void)
{
	size_t bytes = (size_t)MEGABYTES << 20;
	volatile char *memory = (volatile char *)malloc(bytes);

	if (!memory)
		return;
	for (size_t i = 0; i < bytes; i += 4096)
		memory[i] = 1;
	free((void *)memory);
}

static const char *status_of(const portprof_count *count)
{
	switch (count->status) {
	case PORTPROF_COUNT_OK:
		return "";
	case PORTPROF_COUNT_SCALED:
		return " (shared a counter: an estimate)";
	default:
		return " (not counted)";
	}
}

int main(int argc, char **argv)
{
	const char *events = argc > 1 ? argv[1] : "task-clock,page-faults";
	portprof_count before[EVENTS_MAX], after[EVENTS_MAX];
	portprof_group *group;
	portprof_event_info info = { 0 };
	size_t count;

	info.size = sizeof(info);
	if (portprof_group_open(events, &group))
		die("opening");
	count = portprof_group_event_count(group);
	if (count > EVENTS_MAX)
		count = EVENTS_MAX;
	if (portprof_group_read(group, before, count))
		die("reading");
	work();
	if (portprof_group_read(group, after, count))
		die("reading");
	for (size_t i = 0; i < count; i++) {
		if (portprof_group_event(group, i, &info))
			die("asking");
		printf("%14" PRIu64 " %s %s%s\n",
		       after[i].scaled - before[i].scaled,
		       info.unit == PORTPROF_UNIT_NANOSECONDS ? "ns" : "  ",
		       info.canonical, status_of(&after[i]));
	}
	portprof_group_close(group);
	return 0;
}
