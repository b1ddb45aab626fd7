/* SPDX-License-Identifier: MIT */
/* Symbols of separate debug files by build-id, where libdw is not there. */
#include "config.h"

#include "tools/symbols_elf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char ppi_elf_debug_tier[] = "libelf";

struct ppi_debug {
	int fd; /* -1: there is none */
	Elf *elf;
};

/* Open the file of that build-id under a folder. */
static bool open_in(struct ppi_debug *debug, const char *folder,
                    const char *build_id)
{
	char name[4096], found[129];

	if (strlen(build_id) < 3 ||
	    (size_t)snprintf(name, sizeof(name), "%s/.build-id/%.2s/%s.debug",
	                     folder, build_id, build_id + 2) >= sizeof(name))
		return false;
	debug->fd = open(name, O_RDONLY | O_CLOEXEC);
	if (debug->fd < 0)
		return false;
	debug->elf = elf_begin(debug->fd, ELF_C_READ_MMAP, NULL);
	if (debug->elf && elf_kind(debug->elf) == ELF_K_ELF) {
		ppi_elf_build_id(debug->elf, found, sizeof(found));
		if (strcmp(found, build_id) == 0)
			return true;
	}
	elf_end(debug->elf);
	close(debug->fd);
	debug->fd = -1;
	return false;
}

struct ppi_debug *ppi_debug_open(const char *path, const char *build_id,
                                 const char *folder)
{
	struct ppi_debug *debug = calloc(1, sizeof(*debug));

	(void)path;
	if (!debug)
		return NULL;
	debug->fd = -1;
	if (!folder || !open_in(debug, folder, build_id))
		open_in(debug, "/usr/lib/debug", build_id);
	return debug;
}

bool ppi_debug_symbols(struct ppi_debug *debug, struct ppi_symbol_table *table)
{
	return debug->fd >= 0 && ppi_elf_add_symbols(debug->elf, 0, table);
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

void ppi_debug_close(struct ppi_debug *debug)
{
	if (!debug)
		return;
	if (debug->fd >= 0) {
		elf_end(debug->elf);
		close(debug->fd);
	}
	free(debug);
}
