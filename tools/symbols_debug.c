/* SPDX-License-Identifier: MIT */
/* Symbols of separate debug files by build-id, where libdw is not there. */
#include "config.h"

#include "tools/symbols_elf.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char ppi_elf_debug_tier[] = "libelf";

bool ppi_elf_add_debug_symbols(const char *path, const char *build_id,
                               struct ppi_symbol_table *table)
{
	char name[256], found[129];
	bool is_full = false;
	Elf *elf;
	int fd;

	(void)path;
	if (strlen(build_id) < 3)
		return false;
	snprintf(name, sizeof(name), "/usr/lib/debug/.build-id/%.2s/%s.debug",
	         build_id, build_id + 2);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		ppi_elf_build_id(elf, found, sizeof(found));
		if (strcmp(found, build_id) == 0)
			is_full = ppi_elf_add_symbols(elf, 0, table);
	}
	elf_end(elf);
	close(fd);
	return is_full;
}
