/* SPDX-License-Identifier: MIT */
/* Names of code of the kernel, or why there are none. */
#include "config.h"

#include "tools/symbols/symbols_kernel.h"

#include "base/kernel_symbols.h"
#include "tools/symbols/symbols.h"
#include "tools/symbols/symbols_held.h"
#include "tools/symbols/symbols_state.h"
#include "tools/symbols/symbols_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions, from /proc/kallsyms ---- */

struct reading {
	struct ppi_symbol_table *table;
	bool has_any;
};

static void take_symbol(void *context, uint64_t address, char type,
                        const char *name)
{
	struct reading *reading = context;

	if (strchr("tTwW", type))
		reading->has_any |= ppi_symbol_table_add(
			reading->table, address, 0, UINT64_MAX,
			type == 'T' ? 2 : type == 't', name);
}

bool ppi_kernel_symbols_read(const char *path, struct ppi_symbol_table *table,
                             char *why, size_t why_bytes)
{
	struct reading reading = { table, false };
	int got = ppi_kernel_symbols_each(path, take_symbol, &reading);

	if (got) {
		snprintf(why, why_bytes, "%s cannot be read: %s", path,
		         strerror(-got));
		return false;
	}
	/* With kernel.kptr_restrict, or perf_event_paranoid above 1, every
	 * address reads as 0 (kernel/kallsyms.c, kallsyms_show_value). */
	if (!reading.has_any)
		snprintf(why, why_bytes,
		         "%s hides its addresses from this user: run as root, "
		         "or sysctl kernel.kptr_restrict=0 "
		         "kernel.perf_event_paranoid=1",
		         path);
	return reading.has_any && ppi_symbol_table_sort(table);
}

/* Whether this system has been started again since; its kernel then lies
 * elsewhere. */
static bool is_newer(uint64_t recorded_ns)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[256];
	uint64_t boot_s = 0;

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "btime %" SCNu64, &boot_s) == 1)
			break;
	fclose(file);
	return recorded_ns != 0 && boot_s > recorded_ns / 1000000000u;
}

/* ---- for the namer ---- */

/* The kernel's functions are the same as long as it has the same modules, at the
 * same places: the first and the sixth of the fields, between which are who uses
 * them (proc_modules(5)). A kernel that cannot have modules has no such file. */
static bool key_of(char *key, size_t bytes)
{
	FILE *file = fopen("/proc/modules", "re");
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int byte, field = 1;

	if (!file && errno != ENOENT)
		return false;
	while (file && (byte = getc(file)) != EOF) {
		field = byte == '\n' ? 1 : field + (byte == ' ');
		if (field == 1 || field == 6)
			hash = (hash ^ (unsigned)byte) *
			       UINT64_C(0x100000001b3);
	}
	if (file)
		fclose(file);
	snprintf(key, bytes, "kernel %" PRIx64, hash);
	return true;
}

static void read_kernel(struct ppi_symbols *symbols, bool is_anew)
{
	struct ppi_kept *kept = ppi_held_kept(symbols->held);
	char why[300], words[400], key[64] = "";
	uint64_t number;

	symbols->is_kernel_read = true;
	if (is_newer(symbols->recorded_ns)) {
		ppi_symbols_add_note(symbols, NULL,
		                     "the system was rebooted after the "
		                     "measurement; kernel code is not named");
		return;
	}
	if (!kept || is_anew || !key_of(key, sizeof(key)))
		kept = NULL;
	symbols->is_kernel_kept =
		ppi_symbol_table_take(&symbols->kernel, kept, key, &number);
	symbols->has_kernel =
		symbols->is_kernel_kept ||
		ppi_kernel_symbols_read("/proc/kallsyms", &symbols->kernel,
	                                why, sizeof(why));
	if (symbols->has_kernel && !symbols->is_kernel_kept)
		ppi_symbol_table_keep(&symbols->kernel, kept, key, 0);
	if (symbols->has_kernel)
		return;
	snprintf(words, sizeof(words), "kernel code is not named: %s", why);
	ppi_symbols_add_note(symbols, NULL, words);
}

static const char *module_of(const struct ppi_symbol_table *table,
                             const struct ppi_symbol *symbol)
{
	const char *module = strchr(ppi_symbol_name(table, symbol), ' ');

	return module ? module : "";
}

/* Programs of BPF come and go between the modules: what lies between two functions
 * of one module is of that module still. */
static bool is_still_there(const struct ppi_symbol_table *table,
                           const struct ppi_symbol *symbol)
{
	const char *module = symbol ? module_of(table, symbol) : " [bpf]";

	return strcmp(module, " [bpf]") != 0 &&
	       symbol + 1 < table->symbols + table->count &&
	       strcmp(module, module_of(table, symbol + 1)) == 0;
}

void ppi_symbols_in_kernel(struct ppi_symbols *symbols, uint64_t address,
                           struct ppi_symbols_name *name)
{
	const struct ppi_symbol *symbol = NULL;
	char text[336], *module;

	if (!symbols->is_kernel_read)
		read_kernel(symbols, false);
	if (symbols->has_kernel)
		symbol = ppi_symbol_table_find(&symbols->kernel, address);
	if (symbols->is_kernel_kept &&
	    !is_still_there(&symbols->kernel, symbol)) {
		ppi_symbol_table_free(&symbols->kernel);
		read_kernel(symbols, true);
		symbol = symbols->has_kernel
		         ? ppi_symbol_table_find(&symbols->kernel, address)
		         : NULL;
	}
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
