/* SPDX-License-Identifier: MIT */
/*
 * A program that works in step with a clock of its own CPU time: in each
 * period six tenths in step_much and four in step_little.
 *
 * usage: in_step MICROSECONDS PERIODS
 */
#include "../fixtures/spent.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t result;

static uint64_t thread_ns(void)
{
	static struct spent spent;

	return spent_thread_ns(&spent);
}

/* Functions that do the same, as far as a compiler can see. */
#define STEP(name, seed)                                                      \
	__attribute__((noinline)) void name(uint64_t until);                  \
	__attribute__((noinline)) void name(uint64_t until)                   \
	{                                                                     \
		uint64_t x = seed;                                            \
		while (thread_ns() < until)                                   \
			for (int i = 0; i < 20000; i++)                        \
				x = x * 6364136223846793005u + 1;             \
		result = x;                                                   \
	}

STEP(step_much, 1)
STEP(step_little, 2)

int main(int argc, char **argv)
{
	uint64_t period_ns, at = thread_ns();
	long count;

	if (argc != 3)
		return 2;
	period_ns = strtoull(argv[1], NULL, 10) * 1000;
	count = atol(argv[2]);
	for (long i = 0; i < count; i++) {
		step_much(at + period_ns * 6 / 10);
		step_little(at += period_ns);
	}
	return 0;
}
