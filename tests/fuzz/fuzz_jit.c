/* SPDX-License-Identifier: MIT */
/* Maps of code made at run time. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "tools/symbols/symbols_jit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	const struct ppi_jit_owner owner = { (uint32_t)getpid(), -1, 0, 0 };
	struct ppi_symbol_table table = { 0 };
	char why[200];

	if (ppi_jit_read(fuzz_file(bytes, count), &owner, &table, why,
	                 sizeof(why)))
		for (size_t i = 0; i < table.count; i++) {
			const struct ppi_symbol *found = ppi_symbol_table_find(
				&table, table.symbols[i].start);

			/* pieces do not overlap */
			if (found != &table.symbols[i] ||
			    strlen(ppi_symbol_name(&table, found)) == 0)
				abort();
		}
	ppi_symbol_table_free(&table);
	return 0;
}
