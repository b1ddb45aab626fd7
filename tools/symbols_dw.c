/* SPDX-License-Identifier: MIT */
/*
 * Symbols of separate debug files, which libdw finds by build-id, by debug
 * link or in .gnu_debugdata. They are copied: asking libdw for each address
 * scans its whole table each time.
 */
#include "config.h"

#include "tools/symbols_elf.h"

#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwfl.h>

const char ppi_elf_debug_tier[] = "libdw";

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

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
			ppi_symbol_table_add(
				table, address - module_bias, symbol.st_size,
				end - module_bias,
				ppi_elf_symbol_rank(&symbol, name), name);
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

bool ppi_elf_add_debug_symbols(const char *path, const char *build_id,
                               struct ppi_symbol_table *table)
{
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias;
	int count;
	bool is_full = false;

	(void)build_id; /* libdw reads and compares it itself */
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		return false;
	dwfl_report_begin(dwfl);
	module = dwfl_report_offline(dwfl, path, path, -1);
	dwfl_report_end(dwfl, NULL, NULL);
	if (module && dwfl_module_getelf(module, &bias)) {
		count = dwfl_module_getsymtab(module);
		is_full = has_full_table(module);
		copy_symbols(module, bias, count, table);
	}
	dwfl_end(dwfl);
	return is_full;
}
