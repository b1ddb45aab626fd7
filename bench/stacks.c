/* SPDX-License-Identifier: MIT */
/*
 * What a sample with a stack costs in a signal handler: a signal that is raised
 * and handled, with a handler that does nothing, one that puts a tick into the
 * ring, and ones that put registers and stack there, too. Medians of rounds, in
 * the first thread and in another, whose stack is asked for page by page.
 *
 * usage: stacks [rounds]
 */
#include "config.h"

#include "backends/common/tick_ring.h"
#include "bench/spent.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNALS = 100, ROUNDS = 400, RING = 8 << 20, DEEP = 40 << 10 };

static struct ppi_tick_ring ring;
static bool is_idle, is_first;
static unsigned rounds;

static void handle(int signo, siginfo_t *info, void *context)
{
	const struct ppi_tick tick = { .pc = 1 };

	(void)signo;
	(void)info;
	if (!is_idle)
		ppi_tick_ring_put(&ring, &tick, is_first, context);
}

static void forget(void)
{
	static uint64_t words[16384];
	static portprof_record records[64];
	struct ppi_room room = { records, 64, 0, words, 16384, 0 };

	while (ppi_tick_ring_move(&ring, 1, &room) != PPI_TICK_NONE)
		room.record_count = room.word_count = 0;
}

/* Nanoseconds of one signal. */
static double take_signals(bool is_empty)
{
	uint64_t before = bench_own_ns();

	is_idle = is_empty;
	for (unsigned n = 0; n < SIGNALS; n++)
		raise(SIGUSR1);
	return (double)(bench_own_ns() - before) / SIGNALS;
}

/* What a signal takes longer with such a ring; rounds are paired, and those of
 * the ring's first turn touch new memory and do not count. */
static double measure(size_t stack_bytes, double *empty)
{
	const struct ppi_tick_ring_size size = { stack_bytes, 4 * SIGNALS,
		                                 stack_bytes ? RING : 0 };
	double *bare = calloc(2 * rounds, sizeof(*bare)), *more = bare + rounds;
	double median;

	if (!bare || !ppi_tick_ring_make(&ring, &size))
		bench_die("make a ring");
	for (size_t done = 0; done < RING; done += stack_bytes + 300) {
		raise(SIGUSR1);
		forget();
	}
	for (unsigned i = 0; i < rounds; i++) {
		bare[i] = take_signals(true);
		more[i] = take_signals(false) - bare[i];
		forget();
	}
	if (ppi_tick_ring_dropped(&ring))
		bench_die("keep all samples");
	ppi_tick_ring_free(&ring);
	*empty = bench_median(bare, rounds);
	median = bench_median(more, rounds);
	free(bare);
	return median;
}

static void *measure_all(void *is_other)
{
	static const size_t sizes[] = { 1 << 10, 4 << 10, 16 << 10, 32 << 10 };
	volatile char deep[DEEP];
	double empty, tick;

	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = (char)i;
	is_first = !is_other;
	tick = measure(0, &empty);
	printf("%-13s signal %4.0f ns, tick + %3.0f ns",
	       is_first ? "first thread" : "other thread", empty, tick);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		printf(", %zu KiB + %.0f ns", sizes[i] >> 10,
		       measure(sizes[i], &empty));
	putchar('\n');
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action;
	pthread_t thread;
	const char *why;

	rounds = argc > 1 ? (unsigned)atoi(argv[1]) : ROUNDS;
	if (!ppi_context_has_stack(&why)) {
		printf("%s\n", why);
		return 0;
	}
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handle;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR1, &action, NULL);
	measure_all(NULL);
	if (pthread_create(&thread, NULL, measure_all, &rounds) != 0)
		bench_die("make a thread");
	pthread_join(thread, NULL);
	return 0;
}
