/* SPDX-License-Identifier: MIT */
/* What the benchmarks share: fixed work, CPU time, medians. */
#include "config.h"

#include "bench/spent.h"

#include <portprof.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

uint64_t bench_work(uint64_t turns)
{
	uint64_t x = UINT64_C(88172645463325252);

	for (uint64_t i = 0; i < turns; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_own_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t bench_wall_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t bench_children_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
	       1000000000u +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
	       1000u;
}

uint64_t bench_turns_for(unsigned ms)
{
	uint64_t best = UINT64_MAX, turns = 10000000;
	volatile uint64_t sink;

	for (unsigned i = 0; i < 5; i++) {
		uint64_t before = bench_own_ns(), used;

		sink = bench_work(turns);
		used = bench_own_ns() - before;
		best = used < best ? used : best;
	}
	(void)sink;
	return turns * ms * 1000000u / best;
}

static int ascending(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), ascending);
	return count % 2 ? values[count / 2]
	                 : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void bench_die(const char *step)
{
	const portprof_diag *diag = portprof_last_diag();

	fprintf(stderr, "%s: %s: %s\n", step, diag->step, diag->words);
	exit(1);
}

void bench_pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void ignore(const portprof_batch *batch, void *context)
{
	(void)batch;
	(void)context;
}

void bench_with(const char *backend,
                void (*measure)(const char *what, unsigned rounds),
                unsigned rounds)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session;

	if (!config || portprof_config_set_backend(config, backend) ||
	    portprof_config_add_callback(config, ignore, NULL) ||
	    portprof_session_open(config, &session)) {
		printf("%-8s  %s\n", backend, portprof_last_diag()->words);
		portprof_config_free(config);
		return;
	}
	if (portprof_session_start(session))
		bench_die("start");
	measure(backend, rounds);
	portprof_session_close(session);
	portprof_config_free(config);
}
