/* SPDX-License-Identifier: MIT */
/*
 * A program of a host that has little to do: works a few milliseconds a second, in
 * two functions, until FILE is gone.
 *
 * usage: pulse FILE MILLISECONDS
 */
#include "../fixtures/spent.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t result;

#define WORK(name, seed)                                                       \
	__attribute__((noinline)) void name(uint64_t until);                   \
	__attribute__((noinline)) void name(uint64_t until)                    \
	{                                                                      \
		static struct spent spent;                                     \
		uint64_t x = seed;                                             \
		do                                                             \
			for (int i = 0; i < 2000; i++)                         \
				x = x * 6364136223846793005u + 1;              \
		while (spent_thread_ns(&spent) < until);                       \
		result = x;                                                    \
	}

WORK(serve, 1)
WORK(tidy_up, 2)

int main(int argc, char **argv)
{
	const struct timespec second = { .tv_sec = 1 };
	uint64_t work_ns, until = 0;

	if (argc != 3)
		return 2;
	work_ns = strtoull(argv[2], NULL, 10) * 1000000u;
	while (access(argv[1], F_OK) == 0) {
		serve(until += work_ns / 4 * 3);
		tidy_up(until += work_ns / 4);
		nanosleep(&second, NULL);
	}
	return 0;
}
