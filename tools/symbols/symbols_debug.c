/* SPDX-License-Identifier: MIT */
/* Symbols of separate debug files, found by build-id or by debug link, where
 * libdw is not there. */
#include "config.h"

#include "tools/symbols/symbols_elf.h"
#include "tools/symbols/symbols_unpacked.h"

#include <stdlib.h>
#include <unistd.h>

const char ppi_elf_debug_tier[] = "libelf";

struct ppi_debug {
	int fd; /* -1: there is none */
	char *refused;
	Elf *elf;
};

struct ppi_debug *ppi_debug_open(Elf *elf, const char *path,
                                 const char *build_id, const char *folder)
{
	struct ppi_debug *debug = calloc(1, sizeof(*debug));
	char *found = NULL;

	if (!debug)
		return NULL;
	debug->fd = ppi_debug_find(elf, path, build_id, folder, &found,
	                           &debug->refused);
	if (debug->fd >= 0)
		debug->elf = elf_begin(debug->fd, ELF_C_READ_MMAP, NULL);
	free(found);
	return debug;
}

bool ppi_debug_symbols(struct ppi_debug *debug, struct ppi_symbol_table *table)
{
	return debug->elf && ppi_elf_add_symbols(debug->elf, 0, table);
}

/* Lines are read by libdw alone. */
size_t ppi_debug_lines(struct ppi_debug *debug, uint64_t vaddr, bool inlines,
                       struct ppi_symbol_line *lines, size_t room)
{
	(void)debug;
	(void)vaddr;
	(void)inlines;
	(void)lines;
	(void)room;
	return 0;
}

void ppi_debug_lack(const struct ppi_debug *debug, const char **refused,
                    const char **split)
{
	*refused = debug->refused;
	*split = NULL;
}

void ppi_debug_close(struct ppi_debug *debug)
{
	if (!debug)
		return;
	free(debug->refused);
	elf_end(debug->elf);
	if (debug->fd >= 0)
		close(debug->fd);
	free(debug);
}

/* The unwind tables are read by libdw alone. */
struct ppi_cfi *ppi_cfi_open(Elf *elf)
{
	(void)elf;
	return NULL;
}

enum ppi_frame_pointer ppi_cfi_look(struct ppi_cfi *cfi, uint64_t vaddr)
{
	(void)cfi;
	(void)vaddr;
	return PPI_FRAME_UNKNOWN;
}

void ppi_cfi_close(struct ppi_cfi *cfi)
{
	(void)cfi;
}

/* Nobody reads it. */
void ppi_unpacked_begin(const char *folder)
{
	(void)folder;
}
