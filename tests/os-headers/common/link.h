/* SPDX-License-Identifier: MIT */
/* dl_iterate_phdr(3) of FreeBSD, NetBSD, OpenBSD, DragonFly; (3C) of illumos.
 * Program headers: elf(5). ElfW is in none of these pages. */
#ifndef OS_LINK_H
#define OS_LINK_H

#include <stddef.h>
#include <stdint.h>

#if __has_include(<elf.h>) /* of another project */
#include <elf.h>
#else
#define PT_LOAD 1
#define PT_INTERP 3
#define PT_NOTE 4
#define PF_X 1

typedef struct {
	uint32_t p_type, p_flags;
	uint64_t p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align;
} Elf64_Phdr;

typedef struct {
	uint32_t p_type, p_offset, p_vaddr, p_paddr, p_filesz, p_memsz,
		p_flags, p_align;
} Elf32_Phdr;
#endif

#ifdef __LP64__
typedef uint64_t Elf_Addr;
typedef Elf64_Phdr Elf_Phdr;
#else
typedef uint32_t Elf_Addr;
typedef Elf32_Phdr Elf_Phdr;
#endif

struct dl_phdr_info {
	Elf_Addr dlpi_addr;
	const char *dlpi_name;
	const Elf_Phdr *dlpi_phdr;
	uint16_t dlpi_phnum;
	unsigned long long dlpi_adds, dlpi_subs;
};

int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *),
                    void *context);

#endif
