/* SPDX-License-Identifier: MIT */
/*
 * A program of one thread, which it stays, or not.
 *
 * usage: alone count | cancel | thread WAY
 *        alone load LIBRARY FUNCTION MILLISECONDS [kill]
 *
 * count prints how many threads the process has; cancel, that it has cancelled one
 * that waits for a signal. thread starts a second one by pthread, thrd, timer (which
 * never expires) or clone, waits until there is a third, at most ten seconds, and
 * prints how many there are. load works so long in a function of numbers that a
 * library has, which it loads itself, and with "kill" ends by that signal.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "tests/cli/threads.h"

static atomic_bool is_over;

static void nap(void)
{
	struct timespec ms = { 0, 1000000 };

	nanosleep(&ms, NULL);
}

static void *stay(void *unused)
{
	while (!is_over)
		nap();
	return unused;
}

static int stay_too(void *unused)
{
	stay(unused);
	return 0;
}

static void stay_by_timer(union sigval unused)
{
	(void)unused;
	stay(NULL);
}

/* No pointer of thread-local storage of its own: it may only wait. */
static int stay_raw(void *unused)
{
	(void)unused;
	while (!is_over)
		sched_yield();
	return 0;
}

static int start(const char *way)
{
	enum { STACK = 65536 };
	static char stack[STACK] __attribute__((aligned(16)));
	struct sigevent event = { .sigev_notify = SIGEV_THREAD };
	pthread_t thread;
	timer_t timer;
	thrd_t other;

	event.sigev_notify_function = stay_by_timer;
	if (strcmp(way, "pthread") == 0)
		return pthread_create(&thread, NULL, stay, NULL);
	if (strcmp(way, "thrd") == 0)
		return thrd_create(&other, stay_too, NULL) != thrd_success;
	if (strcmp(way, "timer") == 0)
		return timer_create(CLOCK_MONOTONIC, &event, &timer);
	return clone(stay_raw, stack + STACK,
	             CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
	             CLONE_THREAD | CLONE_SYSVSEM, NULL) < 0;
}

static void *wait_for_signal(void *unused)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigwait(&set, &number);
	return unused;
}

static int cancel(void)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, wait_for_signal, NULL))
		return 4;
	nap();
	pthread_cancel(thread);
	pthread_join(thread, &result);
	puts(result == PTHREAD_CANCELED ? "cancelled" : "returned");
	return 0;
}

static int work(const char *library, const char *function, double ms)
{
	struct timespec now;
	void *loaded = dlopen(library, RTLD_NOW), *found;
	double (*work_there)(double);
	volatile double sum = 0;

	if (!loaded || !(found = dlsym(loaded, function)))
		return 3;
	memcpy(&work_there, &found, sizeof(found));
	do {
		for (int i = 1; i < 20000; i++)
			sum += work_there(i * 0.01);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 < ms);
	return 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int status = 0;

	if (strcmp(way, "load") == 0 && argc > 4) {
		status = work(argv[2], argv[3], atof(argv[4]));
		if (argc > 5)
			raise(SIGKILL);
		return status;
	}
	if (strcmp(way, "cancel") == 0)
		return cancel();
	if (strcmp(way, "thread") == 0 && argc > 2) {
		status = start(argv[2]);
		for (int i = 0; i < 10000 && count_threads() < 3; i++)
			nap();
	}
	printf("%u\n", count_threads());
	is_over = true;
	return status;
}
