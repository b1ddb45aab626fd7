/* SPDX-License-Identifier: MIT */
/*
 * Headers, segments and sections of an ELF file, as elf(5) has them, read through the
 * kernel seam: in the form of 64 bits whatever the file's is. Files of the machine's own
 * byte order only.
 */
#ifndef PERF_ELF_H
#define PERF_ELF_H

#include "backends/perf/kernel/perf_kernel.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What says that it has more segments is not asked for the rest. */
enum { PERF_SEGMENTS_MAX = 64 };

struct perf_elf {
	const struct perf_kernel *kernel;
	const char *path;
	bool is_64;
	Elf64_Ehdr header; /* where segments and sections are, and how many */
};

/* 0; a negative errno where the file cannot be read, 1 where it is no ELF file of this
 * machine's byte order, or a damaged one. `path` must stay. */
int ppi_perf_elf_open(struct perf_elf *elf, const struct perf_kernel *kernel,
                      const char *path);

/* False where it ends before. */
bool ppi_perf_elf_read(const struct perf_elf *elf, uint64_t offset, void *out,
                       size_t bytes);
bool ppi_perf_elf_segment(const struct perf_elf *elf, size_t number,
                          Elf64_Phdr *out);
bool ppi_perf_elf_section(const struct perf_elf *elf, size_t number,
                          Elf64_Shdr *out);

#endif
