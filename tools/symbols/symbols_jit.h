/* SPDX-License-Identifier: MIT */
/* Names of code that a process made itself: from its map, or from its dump. */
#ifndef PPI_SYMBOLS_JIT_H
#define PPI_SYMBOLS_JIT_H

#include "tools/symbols/symbols_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- /tmp/perf-PID.map ---- */

/* Whose map it must be. */
struct ppi_jit_owner {
	uint32_t pid;
	int64_t user;        /* -1 unknown: who runs this command */
	uint64_t began_ns;   /* when the process began; 0 unknown */
	uint64_t ended_ns;   /* when it was last measured; 0 unknown */
};

/*
 * Read a map of a process: lines of "START SIZE NAME", numbers in hexadecimal, the
 * name up to the end of the line. Where lines overlap, code was written over code, and
 * the last line counts; symbols of the table do not overlap.
 * The folder is everybody's, so a map counts only if it belongs to the user of
 * the process and was there while that ran.
 * False when it cannot be used: `why` then says why, as the end of a sentence
 * about the file, "" when there simply is none. True with a `why` says in the
 * same way what to know of its names.
 */
bool ppi_jit_read(const char *path, const struct ppi_jit_owner *owner,
                  struct ppi_symbol_table *table, char *why, size_t why_bytes);

/* Open what names the code of a process; NULL with `why`, as above. */
FILE *ppi_jit_open(const char *path, const struct ppi_jit_owner *owner,
                   uint64_t bytes_max, char *why, size_t why_bytes);

/* ---- jit-PID.dump: what lay where, and when ---- */

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
 * loaded there until then. A runtime may report code after it began to run:
 * where there was none yet, it is the first. False: never any.
 */
bool ppi_jitdump_find(const struct ppi_jitdump *dump, uint64_t address,
                      uint64_t time_ns, struct ppi_jitdump_code *code);

#endif
