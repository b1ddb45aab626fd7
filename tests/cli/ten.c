/* SPDX-License-Identifier: MIT */
/*
 * A target for several recorders: ten functions, ten_1 to ten_10, of which
 * ten_N has N parts of 55 of the CPU time. Ends at SIGTERM, or after the
 * MILLISECONDS of CPU time that are its argument. Its rounds differ in length,
 * so that no recorder's period beats with them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t result;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* So many steps, of which each waits for the one before it. */
#define TEN(n)                                                               \
	__attribute__((noinline)) static void ten_##n(uint64_t steps)        \
	{                                                                    \
		uint64_t x = n;                                              \
		for (uint64_t i = 0; i < n * steps; i++)                     \
			x = x * 6364136223846793005u + n;                    \
		result = x;                                                  \
	}

TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10)

int main(int argc, char **argv)
{
	uint64_t until = argc > 1
		? strtoull(argv[1], NULL, 10) * 1000000 : UINT64_MAX;
	void (*const all[])(uint64_t) = { ten_1, ten_2, ten_3, ten_4, ten_5,
		                          ten_6, ten_7, ten_8, ten_9, ten_10 };

	uint64_t steps = 1;

	while (now_ns() < until) {
		steps = steps * 48271 % 2147483647; /* ISO C++ minstd_rand */
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			all[i](2000 + steps % 4000);
	}
	return 0;
}
