/* SPDX-License-Identifier: MIT */
/* What the benchmarks share: fixed work, CPU time, medians. */
#ifndef BENCH_SPENT_H
#define BENCH_SPENT_H

#include <stddef.h>
#include <stdint.h>

/* `turns` turns of a loop that does nothing but arithmetic. */
uint64_t bench_work(uint64_t turns);
/* How many turns use about `ms` of CPU time here. */
uint64_t bench_turns_for(unsigned ms);

/* CPU time of this process with all threads; of children waited for. */
uint64_t bench_own_ns(void);
uint64_t bench_children_ns(void);
uint64_t bench_wall_ns(void);

/* Sorts the values. */
double bench_median(double *values, size_t count);

/* End with the last diagnostic. */
void bench_die(const char *step);

/* Measure with a session of this process that samples its CPU time and does nothing
 * with the samples; where there can be none, say why. */
void bench_with(const char *backend,
                void (*measure)(const char *what, unsigned rounds),
                unsigned rounds);

/* Stay on the last CPU, away from most of what else runs. */
void bench_pin(void);

#endif
