/* SPDX-License-Identifier: MIT */
/* Events of a place in a program: breakpoints, and probes of its files. */
#ifndef PERF_PLACE_H
#define PERF_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/perf/events/perf_request.h"
#include "backends/perf/kernel/perf_kernel.h"

/* Whether it is one by its name: mem:..., breakpoint:..., uprobe:... */
bool ppi_perf_place_is_name(const char *name);

/*
 * What such a name means: addresses and offsets by the symbol tables of files,
 * and of the process whose symbols request->core.pid says.
 *   E_INVALID      malformed
 *   E_NOTFOUND     no such symbol or file
 *   E_UNSUPPORTED  this kernel has no such probe; the symbol is of a process
 *                  that there is not yet
 */
portprof_status ppi_perf_place_resolve(const struct perf_kernel *kernel,
                                       const struct perf_request *request,
                                       enum ppi_mode mode,
                                       struct ppi_event *event,
                                       struct ppi_diag *why);

/* ---- perf_symbol.c: where a program's functions and variables are ---- */

enum perf_symbol_answer {
	PERF_SYMBOL_FOUND,
	PERF_SYMBOL_NONE,
	PERF_SYMBOL_SEVERAL, /* local ones of that name at different places */
	PERF_SYMBOL_CHOSEN,  /* which function it is the program chooses as it
	                      * starts (STT_GNU_IFUNC) */
	PERF_SYMBOL_NO_FILE, /* the file cannot be read; errno in *error */
	PERF_SYMBOL_NO_ELF,  /* it is no ELF file of this byte order */
	PERF_SYMBOL_NO_MEMORY
};

struct perf_symbol {
	uint64_t address;     /* as the file has it */
	uint64_t bytes;       /* 0 = it does not tell */
	uint64_t file_offset; /* of what is loaded from the file; else 0 */
	bool is_variable;     /* STT_OBJECT */
};

/* A global symbol of the file, or one of its own that is alone of that name. Where
 * there is none, `nearest` is offered those that there are. */
enum perf_symbol_answer
ppi_perf_symbol_in_file(const struct perf_kernel *kernel,
                        const char *path, const char *name,
                        struct perf_symbol *symbol,
                        struct ppi_nearest *nearest,
                        int *error);

/*
 * The same in the files that a process has mapped, its program first: the
 * address is the one that it has there, and `path` the file. pid 0 = this
 * process. PERF_SYMBOL_NO_FILE: its mappings cannot be read.
 */
enum perf_symbol_answer
ppi_perf_symbol_in_process(const struct perf_kernel *kernel, int64_t pid,
                           const char *name, struct perf_symbol *symbol,
                           struct ppi_nearest *nearest, char *path,
                           size_t path_bytes);

/* The path of the file of that name, "libc.so.6", that a process has mapped; false
 * where there is none. */
bool ppi_perf_symbol_find_file(const struct perf_kernel *kernel, int64_t pid,
                               const char *name, char *path, size_t path_bytes);

#endif
