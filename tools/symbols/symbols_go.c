/* SPDX-License-Identifier: MIT */
/*
 * Names that a Go program keeps when it is stripped, as `go test` and `go run`
 * do: the runtime prints them in its own traces. The table is that of Go 1.18
 * and later (Go's src/debug/gosym/pclntab.go, src/internal/abi/symtab.go).
 */
#include "config.h"

#include "tools/symbols/symbols_elf.h"

#include <string.h>

enum { MAGIC_1_18 = 0xf0, MAGIC_1_20 = 0xf1 }; /* and 0xffffff above */

struct table {
	const unsigned char *bytes;
	uint64_t size;
	unsigned word; /* bytes of an address */
	bool is_big;   /* endian */
};

/* 0 past the end. */
static uint64_t number(const struct table *table, uint64_t at, unsigned bytes)
{
	uint64_t value = 0;

	if (at > table->size || bytes > table->size - at)
		return 0;
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 |
		        table->bytes[at + (table->is_big ? i : bytes - 1 - i)];
	return value;
}

/* The header's n-th word. */
static uint64_t word(const struct table *table, unsigned n)
{
	return number(table, 8 + n * table->word, table->word);
}

static bool begin(Elf *elf, struct table *table)
{
	const Elf_Data *data = ppi_elf_section(elf, ".gopclntab");
	GElf_Ehdr header;
	uint64_t magic;

	if (!data || !data->d_buf || data->d_size < 8 ||
	    !gelf_getehdr(elf, &header))
		return false;
	table->bytes = data->d_buf;
	table->size = data->d_size;
	table->is_big = header.e_ident[EI_DATA] == ELFDATA2MSB;
	table->word = table->bytes[7];
	magic = number(table, 0, 4);
	return (magic == (0xffffff00 | MAGIC_1_18) ||
	        magic == (0xffffff00 | MAGIC_1_20)) &&
	       (table->word == 4 || table->word == 8);
}

/* NULL when there is none that ends. */
static const char *name_at(const struct table *table, uint64_t at)
{
	if (at >= table->size ||
	    !memchr(table->bytes + at, '\0', table->size - at))
		return NULL;
	return (const char *)table->bytes + at;
}

bool ppi_elf_add_go(Elf *elf, struct ppi_symbol_table *symbols)
{
	enum { ENTRY = 8 }; /* of a function: where it begins, where more is */
	struct table table;
	uint64_t count, text, names, functions;

	if (!begin(elf, &table))
		return false;
	count = word(&table, 0);
	text = word(&table, 2);
	names = word(&table, 3);
	functions = word(&table, 7);
	/* with text 0 the loader fills it in, and only Go's linker knows */
	if (text == 0 || names >= table.size || functions >= table.size ||
	    count > (table.size - functions) / ENTRY)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = functions + i * ENTRY;
		uint64_t start = number(&table, at, 4);
		uint64_t end = number(&table, at + ENTRY, 4);
		uint64_t more = functions + number(&table, at + 4, 4);
		const char *name = name_at(
			&table, names + number(&table, more + 4, 4));

		if (name && name[0] && end > start &&
		    !ppi_symbol_table_add(symbols, text + start, end - start,
		                          text + end, 0, name))
			return false;
	}
	return count > 0;
}
