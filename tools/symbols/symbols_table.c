/* SPDX-License-Identifier: MIT */
/* A table of symbols: filled once, sorted once, searched by address. */
#include "tools/symbols/symbols_table.h"

#include "tools/symbols/symbols_kept.h"

#include <stdlib.h>
#include <string.h>

/* Of symbols that begin between one and an address in it. */
enum { NESTED_MAX = 4096 };

/* Room for one more of `bytes` each; false when out of memory. */
static bool make_room(void **array, size_t *room, size_t wanted, size_t bytes)
{
	size_t more = *room ? *room : 64;
	void *grown;

	if (wanted <= *room)
		return true;
	while (more < wanted) {
		if (more > SIZE_MAX / 2 / bytes)
			return false;
		more *= 2;
	}
	grown = realloc(*array, more * bytes);
	if (!grown)
		return false;
	*array = grown;
	*room = more;
	return true;
}

bool ppi_symbol_table_add(struct ppi_symbol_table *table, uint64_t start,
                          uint64_t size, uint64_t limit, unsigned rank,
                          const char *name)
{
	size_t length = strlen(name) + 1;
	void *symbols = table->symbols, *names = table->names;
	struct ppi_symbol *symbol;

	if (start >= limit)
		return true;
	if (table->count * sizeof(*symbol) + table->name_bytes + length >
	    PPI_SYMBOL_TABLE_BYTES_MAX)
		return false;
	if (!make_room(&symbols, &table->room, table->count + 1,
	               sizeof(*table->symbols)))
		return false;
	table->symbols = symbols;
	if (!make_room(&names, &table->name_room, table->name_bytes + length,
	               1))
		return false;
	table->names = names;

	symbol = &table->symbols[table->count++];
	symbol->start = start;
	symbol->end = size && size < limit - start ? start + size : limit;
	symbol->name = table->name_bytes;
	symbol->rank = rank;
	symbol->has_size = size != 0;
	memcpy(table->names + table->name_bytes, name, length);
	table->name_bytes += length;
	table->is_sorted = false;
	return true;
}

/* By start; of equal starts those with a size first, then by rank. */
static int compare_symbols(const void *left, const void *right)
{
	const struct ppi_symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->has_size != b->has_size)
		return a->has_size ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* The kernel's are in order but for a few, which need few moves; false, with some
 * moved, after as many moves as there are symbols. */
static bool sort_few(struct ppi_symbol_table *table)
{
	struct ppi_symbol *symbols = table->symbols;
	size_t moves = 0;

	for (size_t i = 1; i < table->count; i++) {
		struct ppi_symbol symbol = symbols[i];
		size_t at = i;

		while (at > 0 && moves < table->count &&
		       compare_symbols(&symbols[at - 1], &symbol) > 0) {
			symbols[at] = symbols[at - 1];
			at--;
			moves++;
		}
		symbols[at] = symbol;
		if (moves >= table->count)
			return false;
	}
	return true;
}

/* Keep one of several that begin alike, and no open-ended one inside a
 * symbol whose size is known: it is a label in that function. */
static void drop_doubles(struct ppi_symbol_table *table)
{
	struct ppi_symbol *symbols = table->symbols;
	uint64_t known_end = 0;
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (kept && symbols[kept - 1].start == symbols[i].start)
			continue;
		if (!symbols[i].has_size && symbols[i].start < known_end)
			continue;
		if (symbols[i].has_size && symbols[i].end > known_end)
			known_end = symbols[i].end;
		symbols[kept++] = symbols[i];
	}
	table->count = kept;
}

static void close_open_ends(struct ppi_symbol_table *table)
{
	struct ppi_symbol *symbols = table->symbols;

	for (size_t i = 0; i < table->count; i++) {
		if (!symbols[i].has_size && i + 1 < table->count &&
		    symbols[i + 1].start < symbols[i].end)
			symbols[i].end = symbols[i + 1].start;
	}
}

bool ppi_symbol_table_sort(struct ppi_symbol_table *table)
{
	uint64_t reach = 0, *reaches;

	if (table->is_sorted)
		return true;
	reaches = realloc(table->reach,
	                  (table->count + 1) * sizeof(*table->reach));
	if (!reaches)
		return false;
	table->reach = reaches;
	if (table->count > 1 && !sort_few(table))
		qsort(table->symbols, table->count, sizeof(*table->symbols),
		      compare_symbols);
	drop_doubles(table);
	close_open_ends(table);
	for (size_t i = 0; i < table->count; i++) {
		if (table->symbols[i].end > reach)
			reach = table->symbols[i].end;
		reaches[i] = reach;
	}
	table->is_sorted = true;
	return true;
}

const struct ppi_symbol *
ppi_symbol_table_find(const struct ppi_symbol_table *table, uint64_t address)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Symbols may nest: walk back as long as one could still hold it. */
	for (unsigned steps = 0; low > 0 && table->reach[low - 1] > address &&
	                         steps < NESTED_MAX;
	     steps++) {
		if (address < table->symbols[low - 1].end)
			return &table->symbols[low - 1];
		low--;
	}
	return NULL;
}

/* ---- for the next window: this, then symbols, reaches and names ---- */

struct kept_table {
	uint64_t number;
	size_t count, name_bytes;
};

void ppi_symbol_table_keep(const struct ppi_symbol_table *table,
                           struct ppi_kept *kept, const char *key,
                           uint64_t number)
{
	const size_t symbols = table->count * sizeof(*table->symbols);
	const size_t reach = table->count * sizeof(*table->reach);
	struct kept_table *to = ppi_kept_room(
		kept, key, sizeof(*to) + symbols + reach + table->name_bytes);
	char *at = (char *)(to + 1);

	if (!to)
		return;
	*to = (struct kept_table){ number, table->count, table->name_bytes };
	if (table->count) {
		memcpy(at, table->symbols, symbols);
		memcpy(at + symbols, table->reach, reach);
		memcpy(at + symbols + reach, table->names, table->name_bytes);
	}
	ppi_kept_done(kept);
}

bool ppi_symbol_table_take(struct ppi_symbol_table *table,
                           const struct ppi_kept *kept, const char *key,
                           uint64_t *number)
{
	size_t bytes;
	const struct kept_table *from = ppi_kept_find(kept, key, &bytes);

	if (!from)
		return false;
	*number = from->number;
	table->symbols = (struct ppi_symbol *)(uintptr_t)(from + 1);
	table->reach = (uint64_t *)(void *)(table->symbols + from->count);
	table->names = (char *)(table->reach + from->count);
	table->count = from->count;
	table->name_bytes = from->name_bytes;
	table->is_sorted = table->is_lent = true;
	return true;
}

void ppi_symbol_table_free(struct ppi_symbol_table *table)
{
	if (!table->is_lent) {
		free(table->symbols);
		free(table->reach);
		free(table->names);
	}
	memset(table, 0, sizeof(*table));
}
