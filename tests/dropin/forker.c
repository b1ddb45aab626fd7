/* SPDX-License-Identifier: MIT */
/*
 * An old program that makes processes while it profiles itself: in each state
 * of profil(), in each way. Prints what came out, a NAME=VALUE a line.
 *
 * usage: forker WHAT MILLISECONDS
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* daemon, profil, vfork */
#endif

#include "../fixtures/spent.h"

#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BINS = 1 << 16 };

extern char **environ;

static unsigned short bins[BINS];
static unsigned run_ms;
static char *program;

__attribute__((noinline, aligned(4096))) static void hot(unsigned turns)
{
	for (volatile unsigned left = turns; left > 0; left--)
		;
}

static void spend_ms(unsigned ms)
{
	struct spent spent = { 0 };
	uint64_t begun = spent_thread_ns(&spent);

	do
		hot(200000);
	while (spent_thread_ns(&spent) - begun < (uint64_t)ms * 1000000u);
}

static void spend(void)
{
	spend_ms(run_ms);
}

static int on(void)
{
	return profil((void *)bins, sizeof(bins), (size_t)hot & ~(size_t)4095, 65536);
}

static int off(void)
{
	void *volatile none = NULL; /* declared as never NULL */

	return profil(none, 0, 0, 0);
}

static unsigned ticks(void)
{
	unsigned sum = 0;

	for (size_t i = 0; i < BINS; i++)
		sum += bins[i];
	return sum;
}

/* What the kernel charged this process on the clock of ITIMER_PROF since it was
 * asked before, whose ticks glibc's profil() counts: the thread that runs when the
 * kernel's own clock ticks has that tick. */
static unsigned long long charged_ms(void)
{
	static unsigned long long before;
	struct timespec now = { 0, 0 };
	unsigned long long since;

#ifdef __linux__
	/* [v6.18 include/linux/posix-timers_types.h CPUCLOCK_PROF] */
	clock_gettime((clockid_t)-8, &now);
#endif
	since = (unsigned long long)now.tv_sec * 1000 +
	        (unsigned long long)now.tv_nsec / 1000000;
	since -= before;
	before += since;
	return since;
}

static void print(const char *name)
{
	printf("%s=%u\n%scharged=%llu\n", name, ticks(), name, charged_ms());
	fflush(stdout);
}

static void clear(void)
{
	memset(bins, 0, sizeof(bins));
}

/* What a child does, and how it ends. */
static _Noreturn void be_child(const char *name)
{
	clear();
	spend();
	off();
	print(name);
	_exit(0);
}

static void await(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	printf("status=%d\n", status);
}

static void spend_and_print(void)
{
	spend();
	off();
	print("parent");
}

/* ---- in each state ---- */

static void fork_before(void)
{
	pid_t child = fork();

	if (child == 0) {
		on();
		be_child("child");
	}
	await(child);
	on();
	spend_and_print();
}

static void fork_on(void)
{
	pid_t child;

	on();
	spend();
	child = fork();
	if (child == 0)
		be_child("child");
	await(child);
	spend_and_print();
}

static void fork_off(void)
{
	pid_t child;

	on();
	spend();
	off();
	child = fork();
	if (child == 0) {
		on();
		be_child("child");
	}
	await(child);
	print("parent");
}

static void fork_again(void)
{
	pid_t child;

	on();
	child = fork();
	if (child == 0) {
		spend();
		child = fork();
		if (child == 0)
			be_child("grandchild");
		await(child);
		be_child("child");
	}
	await(child);
	spend_and_print();
}

static void become_daemon(void)
{
	int ends[2];
	unsigned sum = 0;

	if (pipe(ends) != 0)
		return;
	on();
	if (fork() == 0) {
		if (daemon(1, 1) != 0)
			_exit(1);
		clear();
		spend();
		off();
		sum = ticks();
		_exit(write(ends[1], &sum, sizeof(sum)) != sizeof(sum));
	}
	close(ends[1]);
	if (read(ends[0], &sum, sizeof(sum)) == (ssize_t)sizeof(sum))
		printf("daemon=%u\n", sum);
	spend_and_print();
}

/* ---- in each way ---- */

/* Its memory is its parent's, whose profile continues. */
static void use_vfork(void)
{
	pid_t child;

	on();
	spend();
	child = vfork();
	if (child == 0) {
		off();
		execl(program, program, "spend", "20", (char *)NULL);
		_exit(1);
	}
	await(child);
	spend_and_print();
}

static void use_spawn(void)
{
	char *arguments[] = { program, (char[]){ "spend" }, (char[]){ "20" },
		              NULL };
	pid_t child = -1;

	on();
	spend();
	posix_spawn(&child, program, NULL, NULL, arguments, environ);
	await(child);
	spend_and_print();
}

/* No handler runs: the child has what it asks for. */
static void use_clone(void)
{
#ifdef SYS_clone
	pid_t child;

	on();
	spend();
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		on();
		be_child("child");
	}
	await(child);
	spend_and_print();
#endif
}

/* ---- while threads come, go and change what is profiled ---- */

static atomic_bool is_over;

static void *change(void *unused)
{
	(void)unused;
	while (!is_over) {
		on();
		spend_ms(1);
		off();
	}
	return NULL;
}

static void *do_nothing(void *unused)
{
	return unused;
}

static void *create(void *unused)
{
	pthread_t thread;

	(void)unused;
	while (!is_over)
		if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
			pthread_join(thread, NULL);
	return NULL;
}

static void fork_among_threads(void)
{
	pthread_t changer, creator;
	unsigned bad = 0;

	pthread_create(&changer, NULL, change, NULL);
	pthread_create(&creator, NULL, create, NULL);
	for (unsigned i = 0; i < run_ms; i++) {
		int status = -1;
		pid_t child = fork();

		if (child == 0) {
			bool is_good = on() == 0;

			spend_ms(1);
			_exit(!is_good || off() != 0);
		}
		if (child < 0 || waitpid(child, &status, 0) < 0 || status)
			bad++;
	}
	is_over = true;
	pthread_join(changer, NULL);
	pthread_join(creator, NULL);
	printf("bad=%u\n", bad);
}

/* ---- buffers that cannot be written ---- */

static void use_bad_buffers(void)
{
	size_t bytes = 1 << 20, low = (size_t)hot & ~(size_t)4095;
	unsigned good = 0;

	for (unsigned i = 0; i < 3; i++) {
		int access = i == 0 ? PROT_READ : PROT_READ | PROT_WRITE;
		void *at = mmap(NULL, bytes, access,
		                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		good += profil((void *)at, bytes, low, 65536) == 0;
		if (i == 1)
			munmap(at, bytes);
		if (i == 2)
			mprotect(at, bytes, PROT_NONE);
		spend();
		off();
	}
	good += profil((void *)4096, bytes, low, 65536) == 0;
	spend();
	off();
	printf("good=%u\n", good);
	on();
	spend_and_print();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {
		{ "before", fork_before },     { "on", fork_on },
		{ "off", fork_off },           { "again", fork_again },
		{ "daemon", become_daemon },   { "vfork", use_vfork },
		{ "spawn", use_spawn },        { "clone", use_clone },
		{ "threads", fork_among_threads },
		{ "bad-buffers", use_bad_buffers },
		{ "spend", spend },
	};

	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	program = argv[0];
	run_ms = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	for (size_t i = 0; argc > 2 && i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(argv[1], all[i].name) == 0) {
			all[i].run();
			return 0;
		}
	return 2;
}
