/* SPDX-License-Identifier: MIT */
/*
 * A program of gperftools: knows <gperftools/profiler.h> and nothing of portprof.
 *
 *   gperftools_user calls FILE    starts, spins, looks and stops, twice
 *   gperftools_user fork FILE     its child profiles itself into FILE.child
 *   gperftools_user filter FILE   asks for a filter
 *   gperftools_user spin          spins, and calls nothing
 *   gperftools_user run COMMAND   spins, and runs COMMAND
 *   gperftools_user signal N      sends itself N, spins for 0.2 s of CPU time, twice
 *
 * Prints NAME=VALUE lines: what the functions answered, and CPU time in ms.
 */
#include <gperftools/profiler.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static long cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((noinline)) void spin_in_user(long ms)
{
	long end = cpu_ms() + ms;

	while (cpu_ms() < end)
		for (int i = 0; i < 100000; i++)
			sink += (unsigned long)i;
}

static void print_state(const char *when)
{
	struct ProfilerState state;

	memset(&state, 0x55, sizeof(state));
	ProfilerGetCurrentState(&state);
	printf("%s_enabled=%d\n%s_all=%d\n%s_samples=%d\n%s_name=%s\n", when,
	       state.enabled, when, ProfilingIsEnabledForAllThreads(), when,
	       state.samples_gathered, when, state.profile_name);
	printf("%s_age=%ld\n", when,
	       state.start_time ? (long)(time(NULL) - state.start_time) : -1L);
}

static void call(const char *file)
{
	long before;

	print_state("before");
	before = cpu_ms();
	printf("start=%d\n", ProfilerStart(file));
	printf("again=%d\n", ProfilerStart(file));
	ProfilerRegisterThread();
	ProfilerDisable();
	ProfilerEnable();
	spin_in_user(400);
	print_state("during");
	ProfilerFlush();
	spin_in_user(100);
	ProfilerStop();
	printf("cpu_ms=%ld\n", cpu_ms() - before);
	print_state("after");
	ProfilerStop();
	ProfilerFlush();
	spin_in_user(200);
	printf("second=%d\n", ProfilerStartWithOptions(file, NULL));
	spin_in_user(100);
	/* and exit completes it */
}

static void fork_child(const char *file)
{
	char path[4096];

	printf("start=%d\n", ProfilerStart(file));
	fflush(stdout);
	if (fork() == 0) {
		print_state("child");
		snprintf(path, sizeof(path), "%s.child", file);
		printf("child_start=%d\n", ProfilerStart(path));
		spin_in_user(300);
		ProfilerStop();
		exit(0);
	}
	wait(NULL);
	spin_in_user(100);
	ProfilerStop();
}

static int refuse(void *arg)
{
	(void)arg;
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *with = argc > 2 ? argv[2] : "";

	if (strcmp(what, "calls") == 0) {
		call(with);
	} else if (strcmp(what, "fork") == 0) {
		fork_child(with);
	} else if (strcmp(what, "filter") == 0) {
		struct ProfilerOptions options = { refuse, NULL };

		printf("start=%d\n", ProfilerStartWithOptions(with, &options));
		spin_in_user(10);
	} else if (strcmp(what, "spin") == 0) {
		spin_in_user(300);
	} else if (strcmp(what, "run") == 0) {
		spin_in_user(300);
		return system(with) != 0;
	} else if (strcmp(what, "signal") == 0) {
		for (int i = 0; i < 4; i++) {
			struct timespec moment = { 0, 1000000 };

			raise(atoi(with));
			/* another thread acts on it */
			while (ProfilingIsEnabledForAllThreads() == i % 2)
				nanosleep(&moment, NULL);
			spin_in_user(i % 2 ? 10 : 200);
		}
	}
	return 0;
}
