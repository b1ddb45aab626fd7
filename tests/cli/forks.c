/* SPDX-License-Identifier: MIT */
/*
 * A program that forks without exec.
 *
 * usage: forks CHILDREN MICROSECONDS [thread]
 *
 * Each child works so long in child_work, with "thread" in a thread that it
 * creates. Prints what they have worked in all, in nanoseconds, how many of them
 * had more than the threads that are theirs, and the last one's number.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cli/threads.h"

static struct told {
	uint64_t worked_ns, crowded;
} *told; /* shared by all */

static volatile uint64_t result;
static uint64_t work_ns;

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static __attribute__((noinline)) void *child_work(void *unused)
{
	uint64_t begun = thread_ns(), now = begun;

	while (now - begun < work_ns) {
		for (int i = 0; i < 100000; i++) /* the clock is a system call */
			result = result * 3 + 1;
		now = thread_ns();
	}
	told->worked_ns += now - begun;
	return unused;
}

static void live(int has_thread)
{
	pthread_t thread;

	told->crowded += count_threads() > 1;
	if (!has_thread)
		child_work(NULL);
	else if (pthread_create(&thread, NULL, child_work, NULL) == 0)
		pthread_join(thread, NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 1;
	int has_thread = argc > 3 && strcmp(argv[3], "thread") == 0;
	pid_t child = 0;

	work_ns = argc > 2 ? (uint64_t)atol(argv[2]) * 1000 : 0;
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
	            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return 1;
	for (int i = 0; i < children; i++) {
		child = fork();
		if (child == 0)
			live(has_thread);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
	}
	printf("%llu %llu %ld\n", (unsigned long long)told->worked_ns,
	       (unsigned long long)told->crowded, (long)child);
	return 0;
}
