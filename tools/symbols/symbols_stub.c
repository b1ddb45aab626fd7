/* SPDX-License-Identifier: MIT */
/* Stands in for symbols_file.c in a build without libelf: nothing is named,
 * and the reason is said once by the report's header. */
#include "config.h"

#include "tools/symbols/symbols_file.h"
#include "tools/symbols/symbols_unpacked.h"

const char *ppi_symbol_file_tier(void)
{
	return "none";
}

struct ppi_symbol_file *
ppi_symbol_file_open(const struct ppi_symbol_wanted *wanted, char *why,
                     size_t why_bytes)
{
	(void)wanted;
	(void)why_bytes;
	why[0] = '\0';
	return NULL;
}

bool ppi_symbol_file_vaddr(const struct ppi_symbol_file *file, uint64_t offset,
                           uint64_t *vaddr)
{
	(void)file;
	(void)offset;
	(void)vaddr;
	return false;
}

void ppi_symbol_file_find(struct ppi_symbol_file *file, uint64_t offset,
                          struct ppi_symbol_answer *answer)
{
	(void)file;
	(void)offset;
	answer->found = PPI_SYMBOL_NOTHING;
}

size_t ppi_symbol_file_lines(struct ppi_symbol_file *file, uint64_t vaddr,
                             bool inlines, struct ppi_symbol_line *lines,
                             size_t room)
{
	(void)file;
	(void)vaddr;
	(void)inlines;
	(void)lines;
	(void)room;
	return 0;
}

bool ppi_symbol_file_lack(struct ppi_symbol_file *file, char *words,
                          size_t bytes)
{
	(void)file;
	(void)words;
	(void)bytes;
	return false;
}

enum ppi_frame_pointer ppi_symbol_file_frame(struct ppi_symbol_file *file,
                                             uint64_t vaddr)
{
	(void)file;
	(void)vaddr;
	return PPI_FRAME_UNKNOWN;
}

bool ppi_symbol_file_keeps_leaf_frames(const struct ppi_symbol_file *file)
{
	(void)file;
	return false;
}

const char *ppi_symbol_file_soname(const struct ppi_symbol_file *file)
{
	(void)file;
	return "";
}

bool ppi_symbol_file_is_ada(struct ppi_symbol_file *file)
{
	(void)file;
	return false;
}

bool ppi_symbol_file_is_complete(const struct ppi_symbol_file *file)
{
	(void)file;
	return true;
}

void ppi_symbol_file_close(struct ppi_symbol_file *file)
{
	(void)file;
}

/* Nobody reads it. */
void ppi_unpacked_begin(const char *folder)
{
	(void)folder;
}
