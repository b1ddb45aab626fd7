/* SPDX-License-Identifier: MIT */
/*
 * Source lines and inlined functions, from debug information by libdw. Units
 * and their functions are put into sorted tables of our own: .debug_aranges,
 * on which libdw rests, is missing where the compiler was clang, and
 * dwarf_getscopes walks all of a unit for each address.
 */
#include "config.h"

#include "tools/symbols/symbols_dw.h"

#include <dwarf.h>
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

/* All ranges of a DIE; what cannot be read or kept is left out. */
static void add_ranges(struct ppi_dw_ranges *list, Dwarf_Die *die, size_t index)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
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
	add_ranges(&debug->ranges, die, debug->unit_count++);
}

static void read_units(struct ppi_debug *debug)
{
	Dwarf *dwarf = dwfl_module_getdwarf(debug->module, &debug->dwarf_bias);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t kind;

	debug->is_read = true;
	while (dwarf && dwarf_get_units(dwarf, unit, &unit, NULL, &kind, &die,
	                                &split) == 0) {
		if (kind == DW_UT_skeleton && dwarf_tag(&split) > 0)
			add_unit(debug, &die, &split);
		else if (dwarf_tag(&die) != DW_TAG_partial_unit)
			add_unit(debug, &die, &die);
	}
	sort_ranges(&debug->ranges);
}

static void add_function(struct ppi_dw_unit *unit, Dwarf_Die *die)
{
	void *functions = unit->functions;

	if (!make_room(&functions, &unit->function_room, unit->function_count,
	               sizeof(*unit->functions)))
		return;
	unit->functions = functions;
	unit->functions[unit->function_count] = *die;
	add_ranges(&unit->ranges, die, unit->function_count++);
}

/* Functions with code are children of the unit or of what has a scope. */
static void read_functions(struct ppi_dw_unit *unit, Dwarf_Die *parent,
                           unsigned depth)
{
	Dwarf_Die child;

	if (depth > 64 || dwarf_child(parent, &child) != 0)
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			add_function(unit, &child);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			read_functions(unit, &child, depth + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
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
	} while (dwarf_siblingof(child, child) == 0);
	return false;
}

/*
 * From the function inwards; lines[0] is always where the address is. Each
 * inlined call moves the ones around it outwards.
 */
static size_t find_inlines(struct ppi_dw_unit *unit, Dwarf_Addr address,
                           struct ppi_symbol_line *lines, size_t room)
{
	size_t at, count = 1;
	Dwarf_Die die, child;

	if (!unit->is_read) {
		unit->is_read = true;
		read_functions(unit, &unit->contents, 0);
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
	return inlines ? find_inlines(unit, address, lines, room) : 1;
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
