/* SPDX-License-Identifier: MIT */
/*
 * What counting costs: opening, reading, starting and stopping, of one event
 * and of a group of four, beside the bare system calls and PAPI doing the same
 * in the same run. The events are the kernel's own: what is compared is what
 * each adds to read(2), with any PMU or none.
 *
 * usage: counters [rounds]
 */
#include "config.h"

#include "bench/spent.h"

#include <portprof.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef BENCH_PAPI
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <papi.h>
#pragma GCC diagnostic pop
#endif

enum { EVENTS = 4, ROUNDS_MAX = 1000 };

static const char *const names[EVENTS] = {
	"task-clock", "page-faults", "context-switches", "cpu-migrations"
};

/* Each does it for the first `count` events, on the calling thread. */
struct rival {
	const char *name;
	void (*open)(unsigned count);
	void (*read)(unsigned count);
	void (*start)(unsigned count);
	void (*stop)(unsigned count);
	void (*close)(unsigned count);
};

/* ---- the bare system calls ---- */

static int fds[EVENTS];

static void bare_open(unsigned count)
{
	static const uint64_t configs[EVENTS] = {
		PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS
	};

	for (unsigned i = 0; i < count; i++) {
		struct perf_event_attr attr = {
			.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
			.config = configs[i], .disabled = i == 0,
			.exclude_hv = 1, .exclude_guest = 1,
			.read_format = PERF_FORMAT_GROUP |
			               PERF_FORMAT_TOTAL_TIME_ENABLED |
			               PERF_FORMAT_TOTAL_TIME_RUNNING,
		};

		fds[i] = (int)syscall(SYS_perf_event_open, &attr, 0, -1,
		                      i ? fds[0] : -1, PERF_FLAG_FD_CLOEXEC);
		if (fds[i] < 0) {
			perror("counters: perf_event_open");
			exit(1);
		}
	}
	ioctl(fds[0], PERF_EVENT_IOC_ENABLE, 0);
}

static void bare_read(unsigned count)
{
	uint64_t words[3 + EVENTS];

	if (read(fds[0], words, sizeof(words)) !=
	    (ssize_t)(8 * (3 + count))) {
		perror("counters: read");
		exit(1);
	}
}

static void bare_start(unsigned count)
{
	(void)count;
	ioctl(fds[0], PERF_EVENT_IOC_ENABLE, 0);
}

static void bare_stop(unsigned count)
{
	(void)count;
	ioctl(fds[0], PERF_EVENT_IOC_DISABLE, 0);
}

static void bare_close(unsigned count)
{
	while (count > 0)
		close(fds[--count]);
}

/* ---- portprof ---- */

static portprof_group *group;

static void open_group(unsigned count, int is_thread)
{
	portprof_config *config = portprof_config_new();

	if (!config ||
	    (is_thread &&
	     portprof_config_set_target(config, PORTPROF_TARGET_THREAD, 0)))
		bench_die("configure");
	for (unsigned i = 0; i < count; i++)
		if (portprof_config_add_event(config, names[i]))
			bench_die("configure");
	if (portprof_group_open_config(config, &group))
		bench_die("open");
	portprof_config_free(config);
}

static void thread_open(unsigned count)
{
	open_group(count, 1);
}

static void process_open(unsigned count)
{
	open_group(count, 0);
}

static void group_read(unsigned count)
{
	portprof_count counts[EVENTS];

	if (portprof_group_read(group, counts, count))
		bench_die("read");
}

static void counter_read(unsigned count)
{
	portprof_count value;

	for (unsigned i = 0; i < count; i++)
		if (portprof_group_event_read(group, i, &value))
			bench_die("read");
}

static void group_start(unsigned count)
{
	(void)count;
	if (portprof_group_start(group))
		bench_die("start");
}

static void group_stop(unsigned count)
{
	(void)count;
	if (portprof_group_stop(group))
		bench_die("stop");
}

static void group_close(unsigned count)
{
	(void)count;
	portprof_group_close(group);
}

/* ---- PAPI ---- */

#ifdef BENCH_PAPI
static int set;

static void papi_check(int status, const char *step)
{
	if (status == PAPI_OK)
		return;
	fprintf(stderr, "counters: PAPI, %s: %s\n", step,
	        PAPI_strerror(status));
	exit(1);
}

static void papi_open(unsigned count)
{
	static const char *const theirs[EVENTS] = {
		"perf::TASK-CLOCK", "perf::PAGE-FAULTS",
		"perf::CONTEXT-SWITCHES", "perf::CPU-MIGRATIONS"
	};

	set = PAPI_NULL;
	papi_check(PAPI_create_eventset(&set), "create");
	for (unsigned i = 0; i < count; i++)
		papi_check(PAPI_add_named_event(set, theirs[i]), "add");
	papi_check(PAPI_start(set), "start");
}

static void papi_read(unsigned count)
{
	long long values[EVENTS];

	(void)count;
	papi_check(PAPI_read(set, values), "read");
}

static void papi_start(unsigned count)
{
	(void)count;
	papi_check(PAPI_start(set), "start");
}

static void papi_stop(unsigned count)
{
	long long values[EVENTS];

	(void)count;
	papi_check(PAPI_stop(set, values), "stop");
}

static void papi_close(unsigned count)
{
	long long values[EVENTS];

	(void)count;
	PAPI_stop(set, values);
	papi_check(PAPI_cleanup_eventset(set), "clean up");
	papi_check(PAPI_destroy_eventset(&set), "destroy");
}
#endif

static const struct rival rivals[] = {
	{ "bare system calls", bare_open, bare_read, bare_start, bare_stop,
	  bare_close },
	{ "group on the thread", thread_open, group_read, group_start,
	  group_stop, group_close },
	{ "group on the process", process_open, group_read, group_start,
	  group_stop, group_close },
	{ "counters one by one", thread_open, counter_read, group_start,
	  group_stop, group_close },
#ifdef BENCH_PAPI
	{ "PAPI", papi_open, papi_read, papi_start, papi_stop, papi_close },
#endif
};

enum { RIVALS = sizeof(rivals) / sizeof(rivals[0]) };

/* ---- measuring ---- */

static void time_read(const struct rival *rival, unsigned count)
{
	rival->read(count);
}

static void time_switch(const struct rival *rival, unsigned count)
{
	rival->stop(count);
	rival->start(count);
}

static void time_open(const struct rival *rival, unsigned count)
{
	rival->open(count);
	rival->close(count);
}

static const struct {
	const char *name;
	void (*once)(const struct rival *rival, unsigned count);
	unsigned turns;
	int opens;
} measures[] = {
	{ "read", time_read, 200, 0 },
	{ "stop and start", time_switch, 100, 0 },
	{ "open and close", time_open, 5, 1 },
};

enum { MEASURES = sizeof(measures) / sizeof(measures[0]) };

static double time_one(const struct rival *rival, unsigned what,
                       unsigned count)
{
	uint64_t before;

	if (!measures[what].opens)
		rival->open(count);
	measures[what].once(rival, count);
	before = bench_own_ns();
	for (unsigned i = 0; i < measures[what].turns; i++)
		measures[what].once(rival, count);
	before = bench_own_ns() - before;
	if (!measures[what].opens)
		rival->close(count);
	return (double)before / measures[what].turns;
}

/* CPU time, which the waiting of a busy machine is not in, of short rounds in
 * turn, so that all meet the same machine; the ratio is the median of the
 * rounds' own ratios. */
static void measure(unsigned what, unsigned count, unsigned rounds)
{
	static double ns[RIVALS][ROUNDS_MAX], ratio[RIVALS][ROUNDS_MAX];

	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = 0; i < RIVALS; i++) {
			ns[i][round] = time_one(&rivals[i], what, count);
			ratio[i][round] = ns[i][round] / ns[0][round];
		}
	for (unsigned i = 0; i < RIVALS; i++)
		printf("| %s | %u | %s | %.0f ns | %.2f |\n",
		       measures[what].name, count, rivals[i].name,
		       bench_median(ns[i], rounds),
		       bench_median(ratio[i], rounds));
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 301;

	if (rounds == 0 || rounds > ROUNDS_MAX)
		return 1;
	bench_pin();
#ifdef BENCH_PAPI
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) {
		fprintf(stderr, "counters: PAPI is of another version\n");
		return 1;
	}
#else
	printf("without PAPI: install libpapi-dev, then configure anew\n\n");
#endif
	printf("| What | events | by | cost | ratio |\n|---|---|---|---|---|\n");
	for (unsigned what = 0; what < MEASURES; what++) {
		measure(what, 1, rounds);
		measure(what, EVENTS, rounds);
	}
	return 0;
}
