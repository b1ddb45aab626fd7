/* SPDX-License-Identifier: MIT */
/* Headers of ELF files of 32 and 64 bits; what they say is checked by who uses it. */
#include "backends/perf/kernel/perf_elf.h"

#include <string.h>
#include <sys/types.h>

bool ppi_perf_elf_read(const struct perf_elf *elf, uint64_t offset, void *out,
                       size_t bytes)
{
	char *at = out;

	while (bytes > 0) {
		ssize_t got = elf->kernel->read_file(elf->kernel->self,
		                                     elf->path, offset, at,
		                                     bytes);

		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return true;
}

static bool read_header(struct perf_elf *elf)
{
	Elf64_Ehdr *out = &elf->header;
	Elf32_Ehdr small;

	if (elf->is_64)
		return ppi_perf_elf_read(elf, 0, out, sizeof(*out));
	if (!ppi_perf_elf_read(elf, 0, &small, sizeof(small)))
		return false;
	*out = (Elf64_Ehdr){ .e_phoff = small.e_phoff,
		             .e_phnum = small.e_phnum,
		             .e_phentsize = small.e_phentsize,
		             .e_shoff = small.e_shoff,
		             .e_shnum = small.e_shnum,
		             .e_shentsize = small.e_shentsize };
	return true;
}

int ppi_perf_elf_open(struct perf_elf *elf, const struct perf_kernel *kernel,
                      const char *path)
{
	const uint16_t probe = 1;
	unsigned char ident[EI_NIDENT];
	int order = *(const unsigned char *)&probe ? ELFDATA2LSB : ELFDATA2MSB;
	ssize_t got = kernel->read_file(kernel->self, path, 0, ident,
	                                sizeof(ident));

	memset(elf, 0, sizeof(*elf));
	elf->kernel = kernel;
	elf->path = path;
	if (got < 0)
		return (int)got;
	if (got != sizeof(ident) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    ident[EI_DATA] != order)
		return 1;
	elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
	return read_header(elf) ? 0 : 1;
}

/* Of segments, or of sections. */
struct table { uint64_t offset, entry_bytes; };

static bool read_entry(const struct perf_elf *elf, struct table table,
                       size_t number, void *out, size_t bytes)
{
	return table.entry_bytes == bytes &&
	       ppi_perf_elf_read(elf, table.offset + number * bytes, out, bytes);
}

bool ppi_perf_elf_segment(const struct perf_elf *elf, size_t number,
                          Elf64_Phdr *out)
{
	const struct table table = { elf->header.e_phoff,
		                     elf->header.e_phentsize };
	Elf32_Phdr small;

	if (elf->is_64)
		return read_entry(elf, table, number, out, sizeof(*out));
	if (!read_entry(elf, table, number, &small, sizeof(small)))
		return false;
	*out = (Elf64_Phdr){ .p_type = small.p_type, .p_flags = small.p_flags,
		             .p_offset = small.p_offset,
		             .p_vaddr = small.p_vaddr,
		             .p_filesz = small.p_filesz };
	return true;
}

bool ppi_perf_elf_section(const struct perf_elf *elf, size_t number,
                          Elf64_Shdr *out)
{
	const struct table table = { elf->header.e_shoff,
		                     elf->header.e_shentsize };
	Elf32_Shdr small;

	if (elf->is_64)
		return read_entry(elf, table, number, out, sizeof(*out));
	if (!read_entry(elf, table, number, &small, sizeof(small)))
		return false;
	*out = (Elf64_Shdr){ .sh_type = small.sh_type,
		             .sh_offset = small.sh_offset,
		             .sh_size = small.sh_size,
		             .sh_link = small.sh_link };
	return true;
}
