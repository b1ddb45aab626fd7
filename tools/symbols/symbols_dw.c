/* SPDX-License-Identifier: MIT */
/*
 * Symbols of separate debug files, which libdw finds by build-id, by debug
 * link or in .gnu_debugdata. They are copied: asking libdw for each address
 * scans its whole table each time.
 */
#include "config.h"

#include "tools/symbols/symbols_dw.h"

#include "base/foreign_file.h"
#include "tools/symbols/symbols_download.h"
#include "tools/symbols/symbols_find.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char ppi_elf_debug_tier[] = "libdw";

/* What dwz(1) moved out of several files, by the name and id in this one. */
static int find_rest(struct ppi_debug *debug, Dwfl_Module *module, char **found)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	const void *id;
	const char *name;
	ssize_t bytes = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id)
	                      : 0;

	return bytes > 0 ? ppi_debug_find_rest(ppi_dw_path(debug), name, id,
	                                       (size_t)bytes, found)
	                 : -1;
}

/*
 * libdw's own search opens whatever has the right name, a FIFO too, for which
 * it then waits; and it may download.
 */
static int find_debuginfo(Dwfl_Module *module, void **userdata,
                          const char *module_name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word sum,
                          char **found)
{
	struct ppi_debug *debug = *userdata;
	int fd;

	(void)module_name;
	(void)base;
	(void)link;
	(void)sum;
	if (!debug)
		return -1;
	if (!file)
		return find_rest(debug, module, found);
	fd = ppi_debug_find(debug->elf, debug->path, debug->build_id,
	                    debug->folder, found);
	if (fd < 0)
		fd = ppi_download_find(debug->build_id, found);
	if (fd >= 0)
		debug->debug_path = strdup(*found);
	return fd;
}

/* The file is given. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name,
                    Dwarf_Addr base, char **path, Elf **elf)
{
	(void)module;
	(void)userdata;
	(void)name;
	(void)base;
	(void)path;
	(void)elf;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static void report(struct ppi_debug *debug)
{
	int fd = ppi_foreign_open(debug->path, PPI_FOREIGN_FILE, NULL);
	void **userdata;

	if (fd < 0)
		return;
	dwfl_report_begin(debug->dwfl);
	debug->module = dwfl_report_offline(debug->dwfl, debug->path,
	                                    debug->path, fd);
	dwfl_report_end(debug->dwfl, NULL, NULL);
	if (!debug->module) {
		close(fd);
		return;
	}
	if (dwfl_module_info(debug->module, &userdata, NULL, NULL, NULL, NULL,
	                     NULL, NULL))
		*userdata = debug;
}

struct ppi_debug *ppi_debug_open(Elf *elf, const char *path,
                                 const char *build_id, const char *folder)
{
	struct ppi_debug *debug = calloc(1, sizeof(*debug));

	if (!debug)
		return NULL;
	debug->elf = elf;
	debug->path = path;
	debug->build_id = build_id;
	debug->folder = folder;
	debug->dwfl = dwfl_begin(&callbacks);
	if (!debug->dwfl) {
		ppi_debug_close(debug);
		return NULL;
	}
	report(debug);
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
		if (end && !ppi_symbol_table_add(
				   table, address - module_bias, symbol.st_size,
				   end - module_bias,
				   ppi_elf_symbol_rank(&symbol, name), name))
			break;
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
	free(debug->debug_path);
	free(debug);
}
