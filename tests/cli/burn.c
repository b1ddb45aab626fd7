/* SPDX-License-Identifier: MIT */
/*
 * A command to be recorded: known functions use known CPU time.
 *
 * usage: burn MILLISECONDS [THREADS [HOW]]
 *
 * Each thread uses MILLISECONDS of CPU time, three quarters of it in
 * burn_much and one in burn_little. HOW says what happens at the end: nothing
 * (return from main), "_exit", "quick_exit", "abort", "kill" (SIGKILL), "exec"
 * (itself, with half the time), "noexec" (of a file that is not there, then
 * the work once more), "fork" (a child does the same work), "vfork",
 * "daemon" (a child in a session of its own continues until SIGTERM),
 * "children" (a thousand children, one after the other, which do nothing), or
 * "trap" (it ends with 7 when SIGTERM comes). Before the work, "greedy" sets a
 * handler for every signal, "deaf" blocks them all, and "disable" switches
 * off the events that it has opened itself (PR_TASK_PERF_EVENTS_DISABLE).
 */
#include "../fixtures/spent.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

static _Thread_local volatile uint64_t result;

static uint64_t thread_ns(void)
{
	static _Thread_local struct spent spent;

	return spent_thread_ns(&spent);
}

/* Two functions that do the same, as far as a compiler can see. */
#define BURN(name, seed)                                                       \
	__attribute__((noinline)) void name(uint64_t until);                   \
	__attribute__((noinline)) void name(uint64_t until)                    \
	{                                                                      \
		uint64_t x = seed;                                             \
		do                                                             \
			for (int i = 0; i < 20000; i++)                        \
				x = x * 6364136223846793005u + 1;              \
		while (thread_ns() < until);                                   \
		result = x;                                                    \
	}

BURN(burn_much, 1)
BURN(burn_little, 2)

static void burn(uint64_t ms)
{
	uint64_t step = ms * 1000000 / 40, at = thread_ns();

	for (int i = 0; i < 10; i++) {
		burn_much(at += 3 * step);
		burn_little(at += step);
	}
}

static void *run(void *context)
{
	burn(*(uint64_t *)context);
	return NULL;
}

static void run_threads(uint64_t ms, int threads)
{
	pthread_t ids[256];

	for (int i = 1; i < threads; i++)
		if (pthread_create(&ids[i], NULL, run, &ms))
			exit(3);
	burn(ms);
	for (int i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
}

static volatile sig_atomic_t was_told;

static void told(int number)
{
	was_told = number;
}

static void end_by(const char *how, char **argv, uint64_t ms)
{
	char half[32];
	pid_t child;

	if (strcmp(how, "_exit") == 0)
		_exit(5);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(6);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "exec") == 0) {
		snprintf(half, sizeof(half), "%llu",
		         (unsigned long long)ms / 2);
		execl(argv[0], argv[0], half, "1", (char *)NULL);
		exit(4);
	}
	if (strcmp(how, "noexec") == 0) {
		execl("/nonexistent/program", "program", (char *)NULL);
		burn(ms);
	}
	if (strcmp(how, "fork") == 0) {
		child = fork();
		if (child == 0)
			burn(ms);
		else
			waitpid(child, NULL, 0);
	}
	if (strcmp(how, "vfork") == 0) {
		child = vfork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
		burn(ms);
	}
	if (strcmp(how, "daemon") == 0) {
		if (fork() == 0) {
			setsid();
			for (;;)
				burn(20);
		}
		usleep(300000); /* it is at work when we end */
	}
	for (int i = 0; i < 1000 && strcmp(how, "children") == 0; i++) {
		child = fork();
		if (child == 0)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			exit(3);
	}
	if (strcmp(how, "trap") == 0) {
		while (!was_told)
			burn(20);
		exit(7);
	}
}

static void unwanted(int number)
{
	(void)number;
	_exit(9);
}

/* Every signal gets a handler that ends the program, as some programs have. */
static void be_greedy(void)
{
	struct sigaction action, seen;

	memset(&action, 0, sizeof(action));
	action.sa_handler = unwanted;
	for (int i = 1; i < 65; i++)
		if (sigaction(i, NULL, &seen) == 0 &&
		    seen.sa_handler == SIG_DFL && i != SIGCHLD)
			sigaction(i, &action, NULL);
	if (sigaction(SIGPROF, NULL, &seen) || seen.sa_handler != unwanted)
		exit(8);
}

static void be_deaf(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

int main(int argc, char **argv)
{
	uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	const char *how = argc > 3 ? argv[3] : "";

	if (strcmp(how, "trap") == 0) {
		signal(SIGTERM, told);
		printf("ready %ld\n", (long)getpid());
		fflush(stdout);
	}
	if (strcmp(how, "greedy") == 0)
		be_greedy();
	if (strcmp(how, "deaf") == 0)
		be_deaf();
#ifdef PR_TASK_PERF_EVENTS_DISABLE
	if (strcmp(how, "disable") == 0 &&
	    prctl(PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0) != 0)
		exit(2);
#endif
	run_threads(ms, threads < 1 ? 1 : threads > 256 ? 256 : threads);
	end_by(how, argv, ms);
	return 0;
}
