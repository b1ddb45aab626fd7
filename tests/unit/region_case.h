/* SPDX-License-Identifier: MIT */
/* What cases of the process's own regions do, on the simulated kernel. */
#ifndef REGION_CASE_H
#define REGION_CASE_H

#include <stdint.h>

/* Set-up and teardown: a new kernel, and one on which nothing was left. */
int fresh_kernel(void **state);
int nothing_is_held(void **state);

void begin(const char *name);
void end(const char *name);
/* The first thread, so long. */
void work(uint64_t ns);

#endif
