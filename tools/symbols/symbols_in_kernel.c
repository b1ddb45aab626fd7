/* SPDX-License-Identifier: MIT */
/* Names of code of the kernel, or why there are none. */
#include "config.h"

#include "tools/symbols/symbols_state.h"

#include "tools/symbols/symbols.h"
#include "tools/symbols/symbols_kernel.h"

#include <stdio.h>
#include <string.h>

static void read_kernel(struct ppi_symbols *symbols)
{
	char why[300], words[400];

	symbols->is_kernel_read = true;
	if (ppi_kernel_is_newer(symbols->recorded_ns)) {
		ppi_symbols_add_note(symbols,
		                     "the system was rebooted after the "
		                     "measurement; kernel code is not named");
		return;
	}
	symbols->has_kernel = ppi_kernel_symbols_read(
		"/proc/kallsyms", &symbols->kernel, why, sizeof(why));
	if (symbols->has_kernel)
		return;
	snprintf(words, sizeof(words), "kernel code is not named: %s", why);
	ppi_symbols_add_note(symbols, words);
}

void ppi_symbols_in_kernel(struct ppi_symbols *symbols, uint64_t address,
                           struct ppi_symbols_name *name)
{
	const struct ppi_symbol *symbol = NULL;
	char text[336], *module;

	if (!symbols->is_kernel_read)
		read_kernel(symbols);
	if (symbols->has_kernel)
		symbol = ppi_symbol_table_find(&symbols->kernel, address);
	name->module = name->path = "[kernel]";
	if (!symbols->has_kernel) {
		/* one row, which a note explains, and not one for each address
		 */
		name->function = "[unknown]";
		return;
	}
	if (!symbol) {
		ppi_symbols_by_address(symbols, address, name);
		return;
	}
	snprintf(text, sizeof(text), "%s",
	         ppi_symbol_name(&symbols->kernel, symbol));
	module = strchr(text, ' ');
	if (module) {
		*module++ = '\0';
		name->module = name->path = ppi_symbols_keep(symbols, module);
	}
	name->function = ppi_symbols_keep(symbols, text);
	name->is_named = true;
}
