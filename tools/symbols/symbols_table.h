/* SPDX-License-Identifier: MIT */
/* A table of symbols: filled once, sorted once, searched by address. */
#ifndef PPI_SYMBOLS_TABLE_H
#define PPI_SYMBOLS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [start, end) belongs to the name at names + name. */
struct ppi_symbol {
	uint64_t start, end;
	size_t name;
	unsigned rank; /* of several that begin alike the highest is kept */
	bool has_size; /* false: `end` is only where the next one begins */
};

/* A table may be made from a file of anybody's, in which all symbols have one
 * endless name. */
#define PPI_SYMBOL_TABLE_BYTES_MAX ((size_t)512 << 20)

struct ppi_symbol_table {
	struct ppi_symbol *symbols;
	uint64_t *reach; /* [i]: the highest end of symbols 0..i */
	size_t count, room;
	char *names;
	size_t name_bytes, name_room;
	bool is_sorted;
	bool is_lent; /* its memory is that of struct ppi_kept */
};

struct ppi_kept;

/*
 * Add a symbol. With size 0 it reaches to the next one, but not past `limit`
 * (its section's end); one that lies inside another is then dropped. False
 * when out of memory, or when it has PPI_SYMBOL_TABLE_BYTES_MAX already; the
 * table stays as it was.
 */
bool ppi_symbol_table_add(struct ppi_symbol_table *table, uint64_t start,
                          uint64_t size, uint64_t limit, unsigned rank,
                          const char *name);

/* Sort what was added; false when out of memory. */
bool ppi_symbol_table_sort(struct ppi_symbol_table *table);

/* The innermost symbol that holds `address`, or NULL. Only after sorting. */
const struct ppi_symbol *
ppi_symbol_table_find(const struct ppi_symbol_table *table, uint64_t address);

static inline const char *
ppi_symbol_name(const struct ppi_symbol_table *table,
                const struct ppi_symbol *symbol)
{
	return table->names + symbol->name;
}

/* Keep a sorted table for the next window, with a number; and take it into an empty
 * one: false where none is kept. */
void ppi_symbol_table_keep(const struct ppi_symbol_table *table,
                           struct ppi_kept *kept, const char *key,
                           uint64_t number);
bool ppi_symbol_table_take(struct ppi_symbol_table *table,
                           const struct ppi_kept *kept, const char *key,
                           uint64_t *number);

void ppi_symbol_table_free(struct ppi_symbol_table *table);

#endif
