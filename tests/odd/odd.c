/* SPDX-License-Identifier: MIT */
/* The test program odd: runs the habit that its argument names. */
#include "config.h"

#include "tests/odd/odd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *self_path;
static char self_copy[4096];

static _Thread_local volatile uint64_t result;

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void work(int rounds)
{
	uint64_t x = result + 1;

	for (int i = 0; i < rounds; i++)
		x = x * 6364136223846793005u + 1;
	result = x;
}

void odd_burn(unsigned ms)
{
	uint64_t until = thread_ns() + ms * UINT64_C(1000000);

	do
		work(20000);
	while (thread_ns() < until);
}

void odd_spin(void)
{
	work(60000000);
}

void odd_exec(const char *habit)
{
	execl(self_path, "odd", habit, (char *)NULL);
	odd_say("no exec", 1);
	exit(120);
}

const char *odd_path(const char *name)
{
	static char path[4096];
	const char *folder = getenv("ODD_FOLDER");

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : ".", name);
	return path;
}

void odd_say(const char *words, long number)
{
	char line[200];
	int length = snprintf(line, sizeof(line), "%s: %ld\n", words, number);

	if (write(1, line, (size_t)length) != length)
		_exit(121);
}

long odd_wait(long pid)
{
	int status;

	if (pid < 0 || waitpid((pid_t)pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) :
	                             WEXITSTATUS(status);
}

static const struct odd_habit *const habits[] = { odd_signals, odd_processes,
	                                          odd_threads, odd_limits };

static int list(void)
{
	for (size_t i = 0; i < sizeof(habits) / sizeof(*habits); i++)
		for (const struct odd_habit *h = habits[i]; h->name; h++)
			if (h->name[0] != '_')
				puts(h->name);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return list();
	self_path = realpath("/proc/self/exe", self_copy);
	if (!self_path)
		self_path = argv[0];
	for (size_t i = 0; i < sizeof(habits) / sizeof(*habits); i++)
		for (const struct odd_habit *h = habits[i]; h->name; h++)
			if (strcmp(h->name, argv[1]) == 0) {
				h->run();
				odd_say("end", 0);
				return 11;
			}
	return 2;
}
