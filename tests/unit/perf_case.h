/* SPDX-License-Identifier: MIT */
/* What cases of sampling on the simulated kernel begin, check and end with. */
#ifndef PERF_CASE_H
#define PERF_CASE_H

#include "tests/unit/perf_run.h"

/* The session of the case that runs. */
extern struct perf_run run;

/* Set-up and teardown: a new kernel, and one on which nothing was left. */
int fresh(void **state);
int nothing_is_held(void **state);

void open_and_start(const char *event, uint64_t rate_hz);
/* A command of an ordinary user, from its exec on, with its children. */
int64_t begin_command(const char *event, uint64_t rate_hz);
/* Weights, what is in no sample, and the total: with tails of a period for
 * each thread and CPU at most. */
void check_closure(uint64_t total, size_t threads, uint64_t period);

#endif
