/* SPDX-License-Identifier: MIT */
/*
 * A program whose profile is known: its threads do the same fixed work in two
 * functions, and it prints the CPU time that went to each by the thread's own
 * clock, for profilers to be held to.
 *
 * usage: split [millions of turns a thread [threads]]
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_MAX = 256, ROUNDS = 10 };

static _Atomic uint64_t much_ns, little_ns;
static uint64_t turns_a_round;
static _Thread_local volatile uint64_t sink;

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Two of them, that differ in their constant: equal ones might be folded. */
#define WORK(name, shift)                                                      \
	static __attribute__((noinline)) void name(uint64_t turns)             \
	{                                                                      \
		uint64_t x = UINT64_C(88172645463325252);                      \
                                                                               \
		while (turns--) {                                              \
			x ^= x << 13;                                          \
			x ^= x >> (shift);                                     \
			x ^= x << 17;                                          \
		}                                                              \
		sink = x;                                                      \
	}

WORK(spend_much, 7)
WORK(spend_little, 9)

static void *run(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = thread_ns(), middle, end;

		spend_much(turns_a_round / 10 * 7);
		middle = thread_ns();
		spend_little(turns_a_round / 10 * 3);
		end = thread_ns();
		atomic_fetch_add(&much_ns, middle - start);
		atomic_fetch_add(&little_ns, end - middle);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long millions = argc > 1 ? atol(argv[1]) : 100;
	long threads = argc > 2 ? atol(argv[2]) : 1;
	pthread_t others[THREADS_MAX];

	if (millions < 1 || threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr, "usage: split [millions of turns [threads]]\n");
		return 2;
	}
	turns_a_round = (uint64_t)millions * 1000000u / ROUNDS;
	for (long i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, run, NULL) != 0)
			return 1;
	run(NULL);
	for (long i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	printf("%" PRIu64 " %" PRIu64 "\n", atomic_load(&much_ns),
	       atomic_load(&little_ns));
	return 0;
}
