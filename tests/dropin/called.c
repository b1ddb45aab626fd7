/* SPDX-License-Identifier: MIT */
/*
 * A program for cc -pg: threads that call two functions, one of which takes
 * most of the time. Prints how often it called them and the CPU time it used.
 *
 * usage: called MILLISECONDS THREADS [fork|off]
 */
#include "../fixtures/spent.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern void moncontrol(int on);

__attribute__((noinline)) static unsigned brief(unsigned turns)
{
	volatile unsigned left = turns;

	while (left > 0)
		left--;
	return turns;
}

/* What comes in registers must still be there when mcount was called. */
__attribute__((noinline)) static double lengthy(double a, double b, double c,
                                                int d, int e, int f)
{
	volatile double sum = a * b;

	for (int i = 0; i < 20000; i++)
		sum += c;
	return sum + d + e + f;
}

static unsigned calls[64], run_ms;
static int is_bad;

static void *run(void *number)
{
	unsigned n = (unsigned)(uintptr_t)number;
	struct spent spent = { 0 };
	uint64_t begun = spent_thread_ns(&spent);

	do {
		if (lengthy(2, 3, 1, 1, 2, 3) != 20012 || brief(100) != 100)
			is_bad = 1;
		calls[n]++;
	} while (spent_thread_ns(&spent) - begun < (uint64_t)run_ms * 1000000u);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1, sum = 0;
	const char *more = argc > 3 ? argv[3] : "";
	pthread_t ids[64];

	run_ms = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	for (unsigned i = 1; i < threads && i < 64; i++)
		pthread_create(&ids[i], NULL, run, (void *)(uintptr_t)i);
	run(NULL);
	for (unsigned i = 1; i < threads && i < 64; i++)
		pthread_join(ids[i], NULL);
	for (unsigned i = 0; i < threads && i < 64; i++)
		sum += calls[i];
	if (strcmp(more, "off") == 0) {
		moncontrol(0);
		run(NULL);
	}
	printf("calls=%u\nms=%u\nbad=%d\n", sum,
	       (unsigned)(spent_process_ns() / 1000000u),
	       is_bad);
	fflush(stdout);
	if (strcmp(more, "fork") == 0) {
		int status;

		/* its exit calls _mcleanup, too */
		if (fork() == 0)
			exit(0);
		wait(&status);
	}
	return 0;
}
