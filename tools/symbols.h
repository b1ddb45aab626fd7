/* SPDX-License-Identifier: MIT */
/* From recorded addresses to the names of functions. */
#ifndef PPI_SYMBOLS_H
#define PPI_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names come, in this order, from what the profile says itself, from libdw,
 * from libelf, and where neither knows from "module+0xADDRESS", the address
 * being that of the file as nm and objdump print it. One thread at a time.
 */
struct ppi_symbols;

/* Where an address lay when it was recorded. */
struct ppi_symbols_place {
	uint64_t address;
	bool has_mapping;    /* the rest is known */
	uint64_t map_start, map_offset;
	const char *path;     /* "" unknown */
	const char *build_id; /* "" unknown */
};

/* Strings live as long as the struct ppi_symbols that gave them. */
struct ppi_symbols_name {
	const char *function; /* "module+0xADDRESS" when it has no name */
	const char *module;   /* last part of the path, or "[kernel]" */
	const char *path;
	bool is_named;
	bool is_stripped;     /* names may be missing from that file */
};

/* recorded_ns: when the profile was taken (CLOCK_REALTIME, 0 unknown). NULL
 * when out of memory. */
struct ppi_symbols *ppi_symbols_new(uint64_t recorded_ns);
void ppi_symbols_free(struct ppi_symbols *symbols);

void ppi_symbols_find(struct ppi_symbols *symbols,
                      const struct ppi_symbols_place *place,
                      struct ppi_symbols_name *name);

/* The same for a function that the profile itself names. */
void ppi_symbols_given(struct ppi_symbols *symbols,
                       const struct ppi_symbols_place *place,
                       const char *function, struct ppi_symbols_name *name);

/* Which way of naming this build has, for people. */
const char *ppi_symbols_tier(void);

/* What kept code from being named, a sentence each; NULL past the last. */
const char *ppi_symbols_note(const struct ppi_symbols *symbols, size_t index);

#endif
