/* SPDX-License-Identifier: MIT */
/*
 * Symbols of separate debug files, which libdw finds by build-id, by debug
 * link or in .gnu_debugdata. They are copied: asking libdw for each address
 * scans its whole table each time.
 */
#include "config.h"

#include "tools/symbols/symbols_dw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char ppi_elf_debug_tier[] = "libdw";

/* Where libdw looks by itself: beside the file, in .debug there, and under
 * the system's folder, there by build-id too. */
#define USUAL_FOLDERS ":.debug:/usr/lib/debug"

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static bool set_folders(struct ppi_debug *debug, const char *folder)
{
	size_t bytes =
		sizeof(USUAL_FOLDERS) + 1 + (folder ? strlen(folder) : 0);

	debug->folders = malloc(bytes);
	if (!debug->folders)
		return false;
	snprintf(debug->folders, bytes, "%s%s%s", folder ? folder : "",
	         folder ? ":" : "", &USUAL_FOLDERS[folder ? 1 : 0]);
	debug->callbacks.debuginfo_path = &debug->folders;
	return true;
}

struct ppi_debug *ppi_debug_open(const char *path, const char *build_id,
                                 const char *folder)
{
	struct ppi_debug *debug = calloc(1, sizeof(*debug));

	(void)build_id; /* libdw reads and compares it itself */
	if (!debug)
		return NULL;
	debug->callbacks = callbacks;
	if (set_folders(debug, folder))
		debug->dwfl = dwfl_begin(&debug->callbacks);
	if (!debug->dwfl) {
		ppi_debug_close(debug);
		return NULL;
	}
	dwfl_report_begin(debug->dwfl);
	debug->module = dwfl_report_offline(debug->dwfl, path, path, -1);
	dwfl_report_end(debug->dwfl, NULL, NULL);
	if (debug->module && !dwfl_module_getelf(debug->module, &debug->bias))
		debug->module = NULL;
	return debug;
}

/* The end of the section that a symbol is in, as libdw has it loaded. */
static uint64_t section_end(Elf *elf, GElf_Word index, uint64_t bias)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_getscn(elf, index);

	if (!section || !gelf_getshdr(section, &header) ||
	    !(header.sh_flags & SHF_EXECINSTR))
		return 0;
	return header.sh_addr + header.sh_size + bias;
}

static void copy_symbols(Dwfl_Module *module, uint64_t module_bias, int count,
                         struct ppi_symbol_table *table)
{
	for (int i = 0; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		Elf *elf;
		Dwarf_Addr bias;
		uint64_t end;
		const char *name = dwfl_module_getsym_info(
			module, i, &symbol, &address, &section, &elf, &bias);

		if (!ppi_elf_is_code_symbol(&symbol, name) || !elf ||
		    section >= SHN_LORESERVE)
			continue;
		end = section_end(elf, section, bias);
		if (end)
			ppi_symbol_table_add(table, address - module_bias,
			                     symbol.st_size, end - module_bias,
			                     ppi_elf_symbol_rank(&symbol, name),
			                     name);
	}
}

/* Whether libdw's table came from another file than the stripped one, or is
 * more than what that one has for linking. */
static bool has_full_table(Dwfl_Module *module)
{
	const char *main_file, *debug_file;

	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &main_file,
	                 &debug_file);
	return debug_file && (!main_file || strcmp(main_file, debug_file) != 0);
}

bool ppi_debug_symbols(struct ppi_debug *debug, struct ppi_symbol_table *table)
{
	bool is_full;
	int count;

	if (!debug->module)
		return false;
	count = dwfl_module_getsymtab(debug->module);
	is_full = has_full_table(debug->module);
	copy_symbols(debug->module, debug->bias, count, table);
	return is_full;
}

void ppi_debug_close(struct ppi_debug *debug)
{
	if (!debug)
		return;
	ppi_dw_free_lines(debug);
	if (debug->dwfl)
		dwfl_end(debug->dwfl);
	free(debug->folders);
	free(debug);
}
