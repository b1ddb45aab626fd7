/* SPDX-License-Identifier: MIT */
/* Habits of the test program odd that limit its own resources. */
#include "config.h"

#include "tests/odd/odd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB (1024ul * 1024ul)

static void limit(int what, rlim_t most)
{
	struct rlimit now;

	getrlimit(what, &now);
	now.rlim_cur = most;
	odd_say("limit", setrlimit(what, &now));
}

static void *touch_stack(void *unused)
{
	volatile char room[512 * 1024];

	(void)unused;
	room[0] = room[sizeof(room) - 1] = 1;
	odd_burn(10);
	return NULL;
}

static void make_threads(void)
{
	pthread_t threads[4];
	int made = 0;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 8 * MIB);
	while (made < 4 && pthread_create(&threads[made], &attr, touch_stack,
	                                  NULL) == 0)
		made++;
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	odd_say("threads", made);
}

static void lives_in_64_mebibytes(void)
{
	limit(RLIMIT_AS, 64 * MIB);
	odd_exec("_makes_threads");
}

static void fills_memory(void)
{
	char *all = malloc(80 * MIB);

	odd_burn(10);
	odd_say("memory", all != NULL);
	for (size_t i = 0; all && i < 80 * MIB; i += 4096)
		all[i] = 1;
	make_threads();
}

static void fills_128_mebibytes(void)
{
	limit(RLIMIT_AS, 128 * MIB);
	odd_exec("_fills_memory");
}

static void limits_its_memory(void)
{
	limit(RLIMIT_DATA, 48 * MIB);
	odd_exec("_makes_threads");
}

static void limits_its_stack(void)
{
	limit(RLIMIT_STACK, 128 * 1024);
	odd_exec("_says_hello");
}

static void limits_file_sizes(void)
{
	limit(RLIMIT_FSIZE, 0);
	odd_burn(100);
	usleep(900000);
	odd_burn(100);
}

static void limits_descriptors(void)
{
	limit(RLIMIT_NOFILE, 3);
	odd_burn(60);
	odd_say("no more", open("/dev/null", O_RDONLY));
	odd_say("because", errno == EMFILE);
}

static void limits_processes(void)
{
	limit(RLIMIT_NPROC, 0);
	odd_burn(60);
}

static void limits_pending_signals(void)
{
	limit(RLIMIT_SIGPENDING, 0);
	odd_burn(60);
}

static void limits_locked_memory(void)
{
	limit(RLIMIT_MEMLOCK, 64 * 1024);
	odd_burn(20);
	odd_exec("_says_hello");
}

static void locks_its_memory(void)
{
	if (geteuid() == 0)
		odd_say("locked", mlockall(MCL_CURRENT | MCL_FUTURE));
	odd_burn(40);
}

static void on_limit(int number)
{
	(void)number;
	odd_say("CPU time is up", 1);
	_exit(14);
}

static void limits_its_time(void)
{
	signal(SIGXCPU, on_limit);
	limit(RLIMIT_CPU, 1);
	for (;;)
		odd_burn(100);
}

#define HABIT(name) { #name, name }

const struct odd_habit odd_limits[] = {
	{ "_makes_threads", make_threads },
	{ "_fills_memory", fills_memory },
	HABIT(lives_in_64_mebibytes),
	HABIT(fills_128_mebibytes),
	HABIT(limits_its_memory),
	HABIT(limits_its_stack),
	HABIT(limits_file_sizes),
	HABIT(limits_descriptors),
	HABIT(limits_processes),
	HABIT(limits_pending_signals),
	HABIT(limits_locked_memory),
	HABIT(locks_its_memory),
	HABIT(limits_its_time),
	{ NULL, NULL },
};
