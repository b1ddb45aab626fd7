/* SPDX-License-Identifier: MIT */
/*
 * What entering a set of labels costs, beside an uncontended atomic store in the same
 * run, and a call of the library that does nothing: while nobody measures, with a session
 * of each backend of this process, and with a push and a pop. The median of several
 * rounds by the thread's own clock.
 *
 * usage: labels [rounds]
 */
#include "config.h"

#include "bench/spent.h"

#include <portprof.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 4000000, PUSHES = 400000, ROUNDS_MAX = 99 };

static const portprof_label_set *sets[2];
static _Atomic uintptr_t word;

static void store(void)
{
	for (uintptr_t i = 0; i < TURNS; i++)
		atomic_store(&word, i);
}

static void call(void)
{
	for (unsigned i = 0; i < TURNS; i++)
		portprof_label_current();
}

static void enter(void)
{
	for (unsigned i = 0; i < TURNS; i++)
		portprof_label_enter(sets[i % 2]);
	portprof_label_leave(NULL);
}

static void push(void)
{
	for (unsigned i = 0; i < PUSHES; i++) {
		if (portprof_label_push("endpoint", "/pushed") != PORTPROF_OK)
			bench_die("push");
		portprof_label_pop();
	}
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median_ns(void (*work)(void), unsigned turns, unsigned rounds)
{
	double ns[ROUNDS_MAX];

	for (unsigned i = 0; i < rounds; i++) {
		uint64_t before = bench_own_ns();

		work();
		ns[i] = (double)(bench_own_ns() - before) / turns;
	}
	qsort(ns, rounds, sizeof(ns[0]), compare);
	return ns[rounds / 2];
}

static void measure(const char *what, unsigned rounds)
{
	double stores = median_ns(store, TURNS, rounds);
	double calls = median_ns(call, TURNS, rounds);
	double enters = median_ns(enter, TURNS, rounds);
	double pushes = median_ns(push, PUSHES, rounds);

	printf("%-8s  enter %6.2f ns  atomic store %5.2f ns  ratio %5.2f  "
	       "call %5.2f ns  push and pop %6.1f ns\n", what, enters, stores,
	       enters / stores, calls, pushes);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 9;
	const portprof_label a = { "endpoint", "/a" }, b = { "endpoint", "/b" };

	if (rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	sets[0] = portprof_label_set_new(&a, 1);
	sets[1] = portprof_label_set_new(&b, 1);
	if (!sets[0] || !sets[1])
		bench_die("make sets");
	measure("nobody", rounds);
	bench_with("timer", measure, rounds);
	bench_with("itimer", measure, rounds);
	bench_with("perf", measure, rounds);
	measure("nobody", rounds);
	return 0;
}
