/* SPDX-License-Identifier: MIT */
/*
 * Names offsets of a file, for check-symbols.sh.
 *
 * usage: symbols_probe FILE [BUILD-ID [RECORDED-SECONDS]] <OFFSETS
 *        symbols_probe "[vdso]"   (offset 0x... as well)
 *        symbols_probe -k KALLSYMS <ADDRESSES
 *
 * Prints "function|module|named|stripped" for each line of input, then the
 * notes with "note: " before them.
 */
#include "config.h"

#include "tools/symbols.h"
#include "tools/symbols_kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int probe_kernel(const char *path)
{
	struct ppi_symbol_table table = { 0 };
	char why[300] = "", line[64];

	if (!ppi_kernel_symbols_read(path, &table, why, sizeof(why))) {
		printf("note: %s\n", why);
		return 0;
	}
	while (fgets(line, sizeof(line), stdin)) {
		const struct ppi_symbol *symbol = ppi_symbol_table_find(
			&table, strtoull(line, NULL, 16));

		puts(symbol ? ppi_symbol_name(&table, symbol) : "-");
	}
	ppi_symbol_table_free(&table);
	return 0;
}

int main(int argc, char **argv)
{
	struct ppi_symbols_place place = {
		.has_mapping = true,
		.path = argc > 1 ? argv[1] : "",
		.build_id = argc > 2 ? argv[2] : "",
	};
	struct ppi_symbols *symbols;
	struct ppi_symbols_name name;
	const char *note;
	char line[64];

	if (argc == 3 && strcmp(argv[1], "-k") == 0)
		return probe_kernel(argv[2]);
	symbols = ppi_symbols_new(
		argc > 3 ? strtoull(argv[3], NULL, 10) * 1000000000u : 0);
	if (!symbols)
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		place.address = strtoull(line, NULL, 16);
		ppi_symbols_find(symbols, &place, &name);
		printf("%s|%s|%d|%d\n", name.function, name.module,
		       name.is_named, name.is_stripped);
	}
	for (size_t i = 0; (note = ppi_symbols_note(symbols, i)) != NULL; i++)
		printf("note: %s\n", note);
	ppi_symbols_free(symbols);
	return 0;
}
