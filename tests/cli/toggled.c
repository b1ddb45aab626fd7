/* SPDX-License-Identifier: MIT */
/*
 * A program that is profiled by signal and sends that signal itself.
 *
 * usage: toggled NUMBER FILE [HOW]
 *
 * It works in work_before, sends the first signal, waits for FILE.0, works in
 * work_first, sends two more, waits for FILE.1, works in work_second, and ends
 * while it is profiled. HOW: "default": it sets the signal's default action
 * first; "blocked": it blocks the signal; "alone": between the signals it
 * leaves for a user namespace, which takes a process of one thread; "fork": a
 * child does the same with FILE.PID in place of FILE; "handler": after FILE.0
 * it sets a handler of its own, sends the signal, and prints how often that
 * handler was called.
 */
#include "../fixtures/spent.h"

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS UINT64_C(200000000)
enum { WAIT_MS = 300000 };

static volatile uint64_t result;
static volatile sig_atomic_t caught;

static uint64_t thread_ns(void)
{
	static struct spent spent;

	return spent_thread_ns(&spent);
}

/* Functions that do the same, as far as a compiler can see. */
#define WORK(name, seed)                                                      \
	__attribute__((noinline)) void name(void);                            \
	__attribute__((noinline)) void name(void)                             \
	{                                                                     \
		uint64_t x = seed, until = thread_ns() + WORK_NS;             \
		do                                                            \
			for (int i = 0; i < 20000; i++)                       \
				x = x * 6364136223846793005u + 1;             \
		while (thread_ns() < until);                                  \
		result = x;                                                   \
	}

WORK(work_before, 1)
WORK(work_first, 3)
WORK(work_second, 5)

static void nap(void)
{
	struct timespec moment = { 0, 10000000 };

	nanosleep(&moment, NULL);
}

static void wait_for(const char *file, int number)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.%d", file, number);
	for (int ms = 0; access(path, F_OK) != 0; ms += 10) {
		if (ms > WAIT_MS)
			exit(3);
		nap();
	}
}

static void on_signal(int number)
{
	(void)number;
	caught++;
}

static void send(int number)
{
	if (kill(getpid(), number) != 0)
		exit(4);
}

static void do_all(int number, const char *file, const char *how)
{
	sigset_t set;

	if (strcmp(how, "default") == 0)
		signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	if (strcmp(how, "blocked") == 0)
		sigprocmask(SIG_BLOCK, &set, NULL);
	work_before();
#ifdef CLONE_NEWUSER
	if (strcmp(how, "alone") == 0 && unshare(CLONE_NEWUSER) != 0) {
		perror("unshare");
		exit(5);
	}
#endif
	send(number);
	wait_for(file, 0);
	work_first();
	if (strcmp(how, "handler") == 0) {
		signal(number, on_signal);
		send(number);
		printf("caught %d\n", (int)caught);
		return;
	}
	send(number);
	nap();
	send(number);
	wait_for(file, 1);
	work_second();
}

int main(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[3] : "";
	int number, status = 0;
	char file[4096];

	if (argc < 3)
		return 2;
	number = atoi(argv[1]);
	if (strcmp(how, "fork") == 0) {
		pid_t child = fork();

		if (child == 0) {
			snprintf(file, sizeof(file), "%s.%ld", argv[2],
			         (long)getpid());
			do_all(number, file, how);
			exit(0);
		}
		waitpid(child, &status, 0);
	}
	do_all(number, argv[2], how);
	return status != 0;
}
