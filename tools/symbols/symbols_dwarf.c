/* SPDX-License-Identifier: MIT */
/*
 * Debug information by libdw: whether code keeps a frame pointer, the symbols
 * of separate debug files, source lines and inlined functions.
 *
 * Units and their functions are put into sorted tables of our own:
 * .debug_aranges, on which libdw rests, is missing where the compiler was
 * clang, and dwarf_getscopes walks all of a unit for each address.
 */
#include "config.h"

#include "base/foreign_file.h"
#include "base/vector.h"
#include "tools/symbols/symbols_download.h"
#include "tools/symbols/symbols_elf.h"
#include "tools/symbols/symbols_unpacked.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- frame pointers ---- */

/*
 * Whether code keeps a frame pointer, by the unwind tables, which stripped
 * files have too: they say for each instruction where the caller's frame is.
 */

enum {
	/* DWARF's numbers of registers, from each psABI. */
	EBP = 5,
	RBP = 6,
	X29 = 29
};

struct ppi_cfi {
	Dwarf_CFI *tables;
	int machine;
};

struct ppi_cfi *ppi_cfi_open(Elf *elf)
{
	struct ppi_cfi *cfi = calloc(1, sizeof(*cfi));
	GElf_Ehdr header;

	if (!cfi)
		return NULL;
	if (gelf_getehdr(elf, &header))
		cfi->machine = header.e_machine;
	cfi->tables = dwarf_getcfi_elf(elf);
	return cfi;
}

/* Where the caller's frame is found: from the frame pointer, in whichever
 * form, a realigned stack's included. */
static bool is_found_from(Dwarf_Frame *frame, unsigned number)
{
	Dwarf_Op *steps;
	size_t count;

	if (dwarf_frame_cfa(frame, &steps, &count) != 0 || count == 0)
		return false;
	if (steps[0].atom == DW_OP_bregx)
		return steps[0].number == number;
	return steps[0].atom == DW_OP_breg0 + number;
}

/* Arm's compilers find the caller's frame from the stack pointer all the same,
 * but save both halves of the frame record together. */
static bool is_saved(Dwarf_Frame *frame, int number)
{
	Dwarf_Op room[3], *steps;
	size_t count;

	return dwarf_frame_register(frame, number, room, &steps, &count) == 0 &&
	       count > 0;
}

static enum ppi_frame_pointer judge(int machine, Dwarf_Frame *frame)
{
	bool is_kept;

	switch (machine) {
	case EM_X86_64:
		is_kept = is_found_from(frame, RBP);
		break;
	case EM_386:
		is_kept = is_found_from(frame, EBP);
		break;
	case EM_AARCH64:
		is_kept = is_saved(frame, X29);
		break;
	default:
		return PPI_FRAME_UNKNOWN;
	}
	return is_kept ? PPI_FRAME_KEPT : PPI_FRAME_NONE;
}

enum ppi_frame_pointer ppi_cfi_look(struct ppi_cfi *cfi, uint64_t vaddr)
{
	enum ppi_frame_pointer answer;
	Dwarf_Frame *frame;

	if (!cfi->tables ||
	    dwarf_cfi_addrframe(cfi->tables, vaddr, &frame) != 0)
		return PPI_FRAME_UNKNOWN;
	answer = judge(cfi->machine, frame);
	free(frame);
	return answer;
}

void ppi_cfi_close(struct ppi_cfi *cfi)
{
	if (cfi && cfi->tables)
		dwarf_cfi_end(cfi->tables);
	free(cfi);
}

/* ---- separate debug files and their symbols ---- */

/*
 * Symbols of separate debug files, which libdw finds by build-id, by debug
 * link or in .gnu_debugdata. They are copied: asking libdw for each address
 * scans its whole table each time.
 */

/* [low, high) belongs to a DIE: a unit, or a function of one. */
struct range {
	Dwarf_Addr low, high;
	size_t index;
};

struct unit {
	Dwarf_Die die;      /* has the lines */
	Dwarf_Die contents; /* has the functions; of a split unit another */
	struct ppi_vector functions; /* Dwarf_Die */
	struct ppi_vector ranges;    /* of them: struct range, sorted */
	bool is_read;
};

struct ppi_debug {
	Elf *elf;           /* of `path`, the caller's */
	const char *path, *build_id, *folder; /* as it was opened with */
	char *debug_path;   /* of the separate file; NULL there is none */
	char *refused, *split; /* as ppi_debug_lack has them */
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: cannot be read */
	GElf_Addr bias;

	bool is_read; /* the rest */
	GElf_Addr dwarf_bias;
	struct ppi_vector units;  /* struct unit */
	struct ppi_vector ranges; /* of them: struct range, sorted */
	size_t steps_left; /* entries to read: they may be made to go round */
};

/* Where the debug information itself is. */
static inline const char *path_of(const struct ppi_debug *debug)
{
	return debug->debug_path ? debug->debug_path : debug->path;
}

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

	return bytes > 0 ? ppi_debug_find_rest(path_of(debug), name, id,
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
	                    debug->folder, found, &debug->refused);
	if (fd < 0)
		fd = ppi_download_find(debug->build_id, found);
	if (fd >= 0)
		debug->debug_path = strdup(*found);
	return ppi_unpacked(fd);
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

/* ---- ranges ---- */

/* Entries that are read of one file, and how many of them a range counts as,
 * which is kept in memory. Of the largest programs some millions are read. */
enum { STEPS_MAX = 1 << 26, RANGE_STEPS = 8 };

static bool may_step(struct ppi_debug *debug, size_t steps)
{
	if (debug->steps_left < steps)
		return false;
	debug->steps_left -= steps;
	return true;
}

/* All ranges of a DIE; what cannot be read or kept is left out. Many DIEs may
 * have the same long list. */
static void add_ranges(struct ppi_debug *debug, struct ppi_vector *list,
                       Dwarf_Die *die, size_t index)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while (may_step(debug, RANGE_STEPS) &&
	       (at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		struct range range = { low, high, index };

		if (low < high)
			ppi_vector_add(list, sizeof(range), &range, 1);
	}
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void sort_ranges(struct ppi_vector *list)
{
	if (list->count)
		qsort(list->data, list->count, sizeof(struct range),
		      compare_ranges);
}

/* The index of what holds an address; SIZE_MAX none. */
static size_t find_range(const struct ppi_vector *list, Dwarf_Addr address)
{
	const struct range *ranges = PPI_AT(list, const struct range);
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address >= ranges[low - 1].high)
		return SIZE_MAX;
	return ranges[low - 1].index;
}

/* ---- units ---- */

static void add_unit(struct ppi_debug *debug, Dwarf_Die *die,
                     Dwarf_Die *contents)
{
	struct unit unit = { .die = *die, .contents = *contents };

	if (ppi_vector_add(&debug->units, sizeof(unit), &unit, 1))
		add_ranges(debug, &debug->ranges, die, debug->units.count - 1);
}

/* To be freed; NULL when out of memory. */
static char *join(const char *folder, const char *name)
{
	size_t bytes = strlen(folder) + strlen(name) + 2;
	char *path = malloc(bytes);

	if (path)
		snprintf(path, bytes, "%s%s%s", name[0] == '/' ? "" : folder,
		         folder[0] && name[0] != '/' ? "/" : "", name);
	return path;
}

/* What libdw opens by itself, by a name in the file. It must be a regular file
 * or nothing at all. */
static bool is_harmless(const struct ppi_debug *debug, const char *folder,
                        const char *name)
{
	char *beside, *path = join(folder, name);
	bool is_good = false;

	if (!path)
		return false;
	beside = ppi_debug_beside(path_of(debug), path);
	if (beside)
		is_good = ppi_foreign_is_harmless(beside);
	free(beside);
	free(path);
	return is_good;
}

/* The file that dwz(1) made, if find_rest has refused it: libdw would then
 * look for it again. */
static bool is_rest_harmless(const struct ppi_debug *debug, Dwarf *dwarf)
{
	const void *id;
	const char *name;

	return dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) <= 0 ||
	       is_harmless(debug, "", name);
}

static const char *text_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	const char *text = dwarf_attr(die, attribute, &found)
	                           ? dwarf_formstring(&found)
	                           : NULL;

	return text ? text : "";
}

/* The other half of a unit that was split off into a file (-gsplit-dwarf). */
static bool find_split(struct ppi_debug *debug, Dwarf_CU *unit,
                       Dwarf_Die *die, Dwarf_Die *split)
{
	const char *name = text_of(die, DW_AT_dwo_name);
	const char *folder = text_of(die, DW_AT_comp_dir);

	if (!name[0])
		name = text_of(die, DW_AT_GNU_dwo_name);
	if (is_harmless(debug, "", name) && is_harmless(debug, folder, name) &&
	    dwarf_cu_info(unit, NULL, NULL, NULL, split, NULL, NULL, NULL) ==
		    0 &&
	    dwarf_tag(split) > 0)
		return true;
	if (!debug->split)
		debug->split = join(folder, name);
	return false;
}

static void read_units(struct ppi_debug *debug)
{
	Dwarf *dwarf = dwfl_module_getdwarf(debug->module, &debug->dwarf_bias);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t kind;

	debug->is_read = true;
	debug->steps_left = STEPS_MAX;
	if (!dwarf || !is_rest_harmless(debug, dwarf))
		return;
	while (may_step(debug, 1) &&
	       dwarf_get_units(dwarf, unit, &unit, NULL, &kind, &die, NULL) ==
	               0) {
		if (kind == DW_UT_skeleton &&
		    find_split(debug, unit, &die, &split))
			add_unit(debug, &die, &split);
		else if (dwarf_tag(&die) != DW_TAG_partial_unit)
			add_unit(debug, &die, &die);
	}
	sort_ranges(&debug->ranges);
}

static void add_function(struct ppi_debug *debug, struct unit *unit,
                         Dwarf_Die *die)
{
	if (ppi_vector_add(&unit->functions, sizeof(*die), die, 1))
		add_ranges(debug, &unit->ranges, die,
		           unit->functions.count - 1);
}

/* To the next sibling, which lies behind it unless somebody made it not so. */
static bool go_on(Dwarf_Die *die)
{
	Dwarf_Off before = dwarf_dieoffset(die);

	return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > before;
}

/* Functions with code are children of the unit or of what has a scope. */
static void read_functions(struct ppi_debug *debug, struct unit *unit,
                           Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die child;

	if (depth > 64 || dwarf_child(parent, &child) != 0)
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			add_function(debug, unit, &child);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			read_functions(debug, unit, &child, depth + 1);
			break;
		default:
			break;
		}
	} while (may_step(debug, 1) && go_on(&child));
}

/* ---- one address ---- */

static const char *function_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

static void find_call(struct unit *unit, Dwarf_Die *inlined,
                      struct ppi_symbol_line *line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;
	const char *name;

	line->file = "";
	line->line = 0;
	if (dwarf_attr(inlined, DW_AT_call_line, &attribute) &&
	    dwarf_formudata(&attribute, &number) == 0)
		line->line = number;
	if (dwarf_attr(inlined, DW_AT_call_file, &attribute) &&
	    dwarf_formudata(&attribute, &number) == 0 &&
	    dwarf_getsrcfiles(&unit->die, &files, NULL) == 0) {
		name = dwarf_filesrc(files, number, NULL, NULL);
		line->file = name ? name : "";
	}
}

/* The child that holds the address, where calls may be inlined. */
static bool find_child(Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die *child)
{
	if (dwarf_child(parent, child) != 0)
		return false;
	do {
		switch (dwarf_tag(child)) {
		case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (dwarf_haspc(child, address) > 0)
				return true;
			break;
		default:
			break;
		}
	} while (go_on(child));
	return false;
}

/*
 * From the function inwards; lines[0] is always where the address is. Each
 * inlined call moves the ones around it outwards.
 */
static size_t find_inlines(struct ppi_debug *debug, struct unit *unit,
                           Dwarf_Addr address, struct ppi_symbol_line *lines,
                           size_t room)
{
	size_t at, count = 1;
	Dwarf_Die die, child;

	if (!unit->is_read) {
		unit->is_read = true;
		read_functions(debug, unit, &unit->contents, 0);
		sort_ranges(&unit->ranges);
	}
	at = find_range(&unit->ranges, address);
	if (at == SIZE_MAX)
		return count;
	die = PPI_AT(&unit->functions, Dwarf_Die)[at];
	while (count < room && find_child(&die, address, &child)) {
		die = child;
		if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
			continue;
		memmove(&lines[1], &lines[0], count++ * sizeof(lines[0]));
		find_call(unit, &die, &lines[1]);
		lines[0].function = function_name(&die);
		if (!lines[0].function)
			lines[0].function = "[inlined]";
	}
	return count;
}

size_t ppi_debug_lines(struct ppi_debug *debug, uint64_t vaddr, bool inlines,
                       struct ppi_symbol_line *lines, size_t room)
{
	struct unit *unit;
	Dwarf_Addr address;
	Dwarf_Line *line;
	const char *file;
	size_t at;
	int number;

	if (!debug->module || room == 0)
		return 0;
	if (!debug->is_read)
		read_units(debug);
	address = vaddr + debug->bias - debug->dwarf_bias;
	at = find_range(&debug->ranges, address);
	if (at == SIZE_MAX)
		return 0;
	unit = &PPI_AT(&debug->units, struct unit)[at];
	lines[0] = (struct ppi_symbol_line){ NULL, "", 0 };
	line = dwarf_getsrc_die(&unit->die, address);
	if (line) {
		file = dwarf_linesrc(line, NULL, NULL);
		if (file)
			lines[0].file = file;
		if (dwarf_lineno(line, &number) == 0 && number > 0)
			lines[0].line = (uint64_t)number;
	}
	return inlines ? find_inlines(debug, unit, address, lines, room) : 1;
}

/* ---- closing ---- */

void ppi_debug_lack(const struct ppi_debug *debug, const char **refused,
                    const char **split)
{
	*refused = debug->refused;
	*split = debug->split;
}

static void free_lines(struct ppi_debug *debug)
{
	struct unit *units = PPI_AT(&debug->units, struct unit);

	for (size_t i = 0; i < debug->units.count; i++) {
		ppi_vector_free(&units[i].functions);
		ppi_vector_free(&units[i].ranges);
	}
	ppi_vector_free(&debug->units);
	ppi_vector_free(&debug->ranges);
}

void ppi_debug_close(struct ppi_debug *debug)
{
	if (!debug)
		return;
	free_lines(debug);
	if (debug->dwfl)
		dwfl_end(debug->dwfl);
	free(debug->debug_path);
	free(debug->refused);
	free(debug->split);
	free(debug);
}
