/* SPDX-License-Identifier: MIT */
/* What the readers of debug information by libdw share. */
#ifndef PPI_SYMBOLS_DW_H
#define PPI_SYMBOLS_DW_H

#include "tools/symbols/symbols_elf.h"

#include <elfutils/libdwfl.h>

/* [low, high) belongs to a DIE: a unit, or a function of one. */
struct ppi_dw_range {
	Dwarf_Addr low, high;
	size_t index;
};

struct ppi_dw_ranges {
	struct ppi_dw_range *ranges; /* sorted */
	size_t count, room;
};

struct ppi_dw_unit {
	Dwarf_Die die;      /* has the lines */
	Dwarf_Die contents; /* has the functions; of a split unit another */
	Dwarf_Die *functions;
	size_t function_count, function_room;
	struct ppi_dw_ranges ranges; /* of the functions */
	bool is_read;
};

struct ppi_debug {
	Elf *elf;           /* of `path`, the caller's */
	const char *path, *build_id, *folder; /* as it was opened with */
	char *debug_path;   /* of the separate file; NULL there is none */
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL: cannot be read */
	GElf_Addr bias;

	bool is_read; /* the rest */
	GElf_Addr dwarf_bias;
	struct ppi_dw_unit *units;
	size_t unit_count, unit_room;
	struct ppi_dw_ranges ranges; /* of the units */
	size_t steps_left; /* entries to read: they may be made to go round */
};

/* Where the debug information itself is. */
static inline const char *ppi_dw_path(const struct ppi_debug *debug)
{
	return debug->debug_path ? debug->debug_path : debug->path;
}

void ppi_dw_free_lines(struct ppi_debug *debug);

#endif
