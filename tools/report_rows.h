/* SPDX-License-Identifier: MIT */
/* A profile folded into rows: who had how much of an event. */
#ifndef PPI_REPORT_ROWS_H
#define PPI_REPORT_ROWS_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/symbols.h"

/* What makes two samples belong to the same row. */
enum {
	PPI_BY_FUNCTION = 1u << 0,
	PPI_BY_MODULE = 1u << 1,
	PPI_BY_ADDRESS = 1u << 2,
	PPI_BY_THREAD = 1u << 3,
	PPI_BY_PROCESS = 1u << 4
};

/* Strings belong to the symbols and the profile; NULL, 0 where not folded by
 * them. */
struct ppi_row {
	const char *function, *module, *path;
	uint64_t address;
	uint32_t pid, tid;
	const char *thread; /* its name; "" unknown */
	bool is_named;
	uint64_t self_weight;  /* its own samples */
	uint64_t total_weight; /* and those of what it called; without chains
	                        * the same as self_weight */
	uint64_t samples;
};

/* Weight of a module whose functions could not all be named. */
struct ppi_nameless {
	const char *module;
	uint64_t weight;
};

struct ppi_rows {
	struct ppi_row *rows; /* largest self_weight first */
	size_t count;
	uint64_t weight, samples; /* of all rows */
	bool has_chains;
	struct ppi_nameless *nameless; /* largest weight first */
	size_t nameless_count;
};

/*
 * The names of every location of a profile, found once for all events and
 * orders. NULL when out of memory.
 */
struct ppi_symbols_name *ppi_name_locations(const portprof_profile *profile,
                                            struct ppi_symbols *symbols);

/* Fold one event by `keys` (PPI_BY_ bits). False when out of memory. */
bool ppi_rows_build(const portprof_profile *profile, size_t event,
                    unsigned keys, const struct ppi_symbols_name *names,
                    struct ppi_rows *rows);
void ppi_rows_free(struct ppi_rows *rows);

/* "function,module,..." to bits; 0 and the unknown word when it has one. */
unsigned ppi_rows_keys(const char *text, const char **unknown);

#endif
