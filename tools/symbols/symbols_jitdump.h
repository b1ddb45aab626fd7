/* SPDX-License-Identifier: MIT */
/* Names of code that a process made itself, and when, from its jit-PID.dump. */
#ifndef PPI_SYMBOLS_JITDUMP_H
#define PPI_SYMBOLS_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/symbols/symbols_jit.h"

struct ppi_jitdump;

/*
 * Read the dump of a process, as far as it is written. Who may have written it
 * and `why` are as for ppi_jit_read; NULL when it cannot be used.
 */
struct ppi_jitdump *ppi_jitdump_read(const char *path,
                                     const struct ppi_jit_owner *owner,
                                     char *why, size_t why_bytes);
void ppi_jitdump_free(struct ppi_jitdump *dump);

/* Strings live as long as the dump. */
struct ppi_jitdump_code {
	const char *function;
	const char *source_file; /* "" unknown */
	uint64_t line;           /* 0 unknown */
};

/*
 * What lay at an address at a time (CLOCK_MONOTONIC): the last code that was
 * loaded there until then. A runtime may tell of code after it began to run:
 * where there was none yet, it is the first. False: never any.
 */
bool ppi_jitdump_find(const struct ppi_jitdump *dump, uint64_t address,
                      uint64_t time_ns, struct ppi_jitdump_code *code);

#endif
