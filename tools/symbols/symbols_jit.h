/* SPDX-License-Identifier: MIT */
/* Names of code that a process made itself, from /tmp/perf-PID.map. */
#ifndef PPI_SYMBOLS_JIT_H
#define PPI_SYMBOLS_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/symbols/symbols_table.h"

/*
 * Read a map: lines of "START SIZE NAME", numbers in hexadecimal, the name up
 * to the end of the line. Where lines overlap, code was written over code, and
 * the last line counts; symbols of the table do not overlap.
 * False when it cannot be used: `why` then says why, as the end of a sentence
 * about the file, "" when there simply is none.
 */
bool ppi_jit_read(const char *path, struct ppi_symbol_table *table, char *why,
                  size_t why_bytes);

#endif
