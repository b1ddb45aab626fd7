/* SPDX-License-Identifier: MIT */
/* What the fuzzers share: an input as a file, where a reader wants one. */
#ifndef PPI_FUZZ_H
#define PPI_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer calls it with each input; the answer is 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* The path of a file with these bytes, the same one each time; it is taken
 * away at exit. */
const char *fuzz_file(const uint8_t *bytes, size_t count);

#endif
