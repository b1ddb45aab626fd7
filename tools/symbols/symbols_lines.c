/* SPDX-License-Identifier: MIT */
/*
 * Source lines and inlined functions, from debug information by libdw. Units
 * and their functions are put into sorted tables of our own: .debug_aranges,
 * on which libdw rests, is missing where the compiler was clang, and
 * dwarf_getscopes walks all of a unit for each address.
 */
#include "config.h"

#include "tools/symbols/symbols_dw.h"

#include "base/foreign_file.h"
#include "tools/symbols/symbols_find.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more of `bytes` each; false when out of memory. */
static bool make_room(void **array, size_t *room, size_t count, size_t bytes)
{
	size_t more = *room ? 2 * *room : 16;
	void *grown;

	if (count < *room)
		return true;
	grown = realloc(*array, more * bytes);
	if (!grown)
		return false;
	*array = grown;
	*room = more;
	return true;
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
static void add_ranges(struct ppi_debug *debug, struct ppi_dw_ranges *list,
                       Dwarf_Die *die, size_t index)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while (may_step(debug, RANGE_STEPS) &&
	       (at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		void *ranges = list->ranges;

		if (low >= high || !make_room(&ranges, &list->room, list->count,
		                              sizeof(*list->ranges)))
			continue;
		list->ranges = ranges;
		list->ranges[list->count++] =
			(struct ppi_dw_range){ low, high, index };
	}
}

static int compare_ranges(const void *left, const void *right)
{
	const struct ppi_dw_range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void sort_ranges(struct ppi_dw_ranges *list)
{
	if (list->count)
		qsort(list->ranges, list->count, sizeof(*list->ranges),
		      compare_ranges);
}

/* The index of what holds an address; SIZE_MAX none. */
static size_t find_range(const struct ppi_dw_ranges *list, Dwarf_Addr address)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address >= list->ranges[low - 1].high)
		return SIZE_MAX;
	return list->ranges[low - 1].index;
}

/* ---- units ---- */

static void add_unit(struct ppi_debug *debug, Dwarf_Die *die,
                     Dwarf_Die *contents)
{
	void *units = debug->units;
	struct ppi_dw_unit *unit;

	if (!make_room(&units, &debug->unit_room, debug->unit_count,
	               sizeof(*debug->units)))
		return;
	debug->units = units;
	unit = &debug->units[debug->unit_count];
	memset(unit, 0, sizeof(*unit));
	unit->die = *die;
	unit->contents = *contents;
	add_ranges(debug, &debug->ranges, die, debug->unit_count++);
}

/* What libdw opens by itself, by a name in the file. It must be a regular file
 * or nothing at all. */
static bool is_harmless(const struct ppi_debug *debug, const char *folder,
                        const char *name)
{
	char *beside, *path;
	size_t bytes = strlen(folder) + strlen(name) + 2;
	bool is_good = false;

	path = malloc(bytes);
	if (!path)
		return false;
	snprintf(path, bytes, "%s%s%s", name[0] == '/' ? "" : folder,
	         folder[0] && name[0] != '/' ? "/" : "", name);
	beside = ppi_debug_beside(ppi_dw_path(debug), path);
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
static bool find_split(const struct ppi_debug *debug, Dwarf_CU *unit,
                       Dwarf_Die *die, Dwarf_Die *split)
{
	const char *name = text_of(die, DW_AT_dwo_name);
	const char *folder = text_of(die, DW_AT_comp_dir);

	if (!name[0])
		name = text_of(die, DW_AT_GNU_dwo_name);
	return is_harmless(debug, "", name) &&
	       is_harmless(debug, folder, name) &&
	       dwarf_cu_info(unit, NULL, NULL, NULL, split, NULL, NULL,
	                     NULL) == 0 &&
	       dwarf_tag(split) > 0;
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

static void add_function(struct ppi_debug *debug, struct ppi_dw_unit *unit,
                         Dwarf_Die *die)
{
	void *functions = unit->functions;

	if (!make_room(&functions, &unit->function_room, unit->function_count,
	               sizeof(*unit->functions)))
		return;
	unit->functions = functions;
	unit->functions[unit->function_count] = *die;
	add_ranges(debug, &unit->ranges, die, unit->function_count++);
}

/* To the next sibling, which lies behind it unless somebody made it not so. */
static bool go_on(Dwarf_Die *die)
{
	Dwarf_Off before = dwarf_dieoffset(die);

	return dwarf_siblingof(die, die) == 0 && dwarf_dieoffset(die) > before;
}

/* Functions with code are children of the unit or of what has a scope. */
static void read_functions(struct ppi_debug *debug, struct ppi_dw_unit *unit,
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

static void find_call(struct ppi_dw_unit *unit, Dwarf_Die *inlined,
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
static size_t find_inlines(struct ppi_debug *debug, struct ppi_dw_unit *unit,
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
	die = unit->functions[at];
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
	struct ppi_dw_unit *unit;
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
	unit = &debug->units[at];
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

void ppi_dw_free_lines(struct ppi_debug *debug)
{
	for (size_t i = 0; i < debug->unit_count; i++) {
		free(debug->units[i].functions);
		free(debug->units[i].ranges.ranges);
	}
	free(debug->units);
	free(debug->ranges.ranges);
}
