/* SPDX-License-Identifier: MIT */
/* Habits of the test program odd that have to do with threads. */
#include "config.h"

#include "tests/odd/odd.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int done;

static void *burn_little(void *unused)
{
	(void)unused;
	odd_burn(2);
	atomic_fetch_add(&done, 1);
	return NULL;
}

/* How many of so many threads could be made; all have ended. */
static int make_threads(int wanted, size_t stack_bytes)
{
	static pthread_t threads[600];
	pthread_attr_t attr;
	int made = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack_bytes);
	while (made < wanted &&
	       pthread_create(&threads[made], &attr, burn_little, NULL) == 0)
		made++;
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	return made;
}

static void has_500_threads(void)
{
	odd_say("threads", make_threads(500, 1 << 20));
	odd_say("done", atomic_load(&done));
}

static void has_small_stacks(void)
{
	size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);

	for (int i = 0; i < 10; i++)
		odd_say("threads", make_threads(20, least));
	odd_say("done", atomic_load(&done));
}

static void say_goodbye(void)
{
	odd_say("exit handler", 1);
}

static void *end_later(void *unused)
{
	(void)unused;
	odd_burn(100);
	odd_say("the last thread", 1);
	return NULL;
}

static void leaves_the_first_thread(void)
{
	pthread_t thread;

	atexit(say_goodbye);
	pthread_create(&thread, NULL, end_later, NULL);
	odd_burn(20);
	pthread_exit(NULL);
}

static void *exec_there(void *unused)
{
	(void)unused;
	odd_burn(20);
	odd_exec("_says_hello");
	return NULL;
}

static void execs_in_a_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_there, NULL);
	for (;;)
		odd_burn(10);
}

static void *exit_there(void *unused)
{
	(void)unused;
	odd_burn(20);
	exit(13);
}

static void exits_in_a_thread(void)
{
	pthread_t thread;

	atexit(say_goodbye);
	pthread_create(&thread, NULL, exit_there, NULL);
	pthread_join(thread, NULL);
}

static void *burn_for_ever(void *unused)
{
	(void)unused;
	for (;;) {
		odd_burn(1);
		pthread_testcancel();
	}
	return NULL;
}

static void *burn_asynchronously(void *unused)
{
	(void)unused;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		odd_spin();
	return NULL;
}

static void cancels_threads(void)
{
	void *result;
	long cancelled = 0;

	for (int i = 0; i < 40; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL,
		               i % 2 ? burn_for_ever : burn_asynchronously,
		               NULL);
		usleep(2000);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		cancelled += result == PTHREAD_CANCELED;
	}
	odd_say("cancelled", cancelled);
}

/* ---- forks while others change handlers ---- */

static atomic_bool is_over;

static void nothing(int number)
{
	(void)number;
}

static void *change_handlers(void *unused)
{
	struct sigaction action;
	sigset_t all;

	(void)unused;
	memset(&action, 0, sizeof(action));
	action.sa_handler = nothing;
	action.sa_flags = SA_RESTART;
	sigfillset(&all);
	while (!atomic_load(&is_over)) {
		sigaction(SIGPROF, &action, NULL);
		sigaction(SIGRTMAX, &action, NULL);
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		pthread_sigmask(SIG_UNBLOCK, &all, NULL);
	}
	return NULL;
}

/* A child changes handlers, too: it would wait for a lock for ever. */
static void forks_while_handlers_change(void)
{
	pthread_t threads[2];
	struct sigaction action;
	long good = 0;

	memset(&action, 0, sizeof(action));
	action.sa_handler = nothing;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, change_handlers, NULL);
	for (int i = 0; i < 60; i++) {
		pid_t child = fork();

		if (child == 0) {
			sigaction(SIGPROF, &action, NULL);
			sigaction(SIGRTMAX, &action, NULL);
			_exit(3);
		}
		good += odd_wait(child) == 3;
	}
	atomic_store(&is_over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	odd_say("good children", good);
}

static void opens_and_closes_libraries(void)
{
	long opened = 0;

	for (int i = 0; i < 40; i++) {
		void *library = dlopen("libm.so.6", RTLD_NOW);

		opened += library != NULL;
		odd_burn(1);
		if (library)
			dlclose(library);
	}
	odd_say("opened", opened);
}

#define HABIT(name) { #name, name }

const struct odd_habit odd_threads[] = {
	HABIT(has_500_threads),
	HABIT(has_small_stacks),
	HABIT(leaves_the_first_thread),
	HABIT(execs_in_a_thread),
	HABIT(exits_in_a_thread),
	HABIT(cancels_threads),
	HABIT(forks_while_handlers_change),
	HABIT(opens_and_closes_libraries),
	{ NULL, NULL },
};
