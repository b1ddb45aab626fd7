/* SPDX-License-Identifier: MIT */
/* ELF files: names for both classes, and the build-id among the notes. */
#ifndef PPI_ELF_H
#define PPI_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The length of the first build-id of at most `most` bytes, which *id points
 * at; 0 when there is none. Nothing in the notes is believed. `is_swapped`:
 * they are not in this machine's byte order.
 */
size_t ppi_build_id_find(const void *notes, size_t bytes, bool is_swapped,
                         size_t most, const unsigned char **id);

/* ElfW(Phdr), the program header of this process's class, on every system. glibc,
 * musl, illumos and FreeBSD since 14 have it. */
#ifndef ElfW
#if UINTPTR_MAX > UINT32_MAX
#define ElfW(type) Elf64_##type
#else
#define ElfW(type) Elf32_##type
#endif
#endif

#endif
