/* SPDX-License-Identifier: MIT */
/* ElfW(Phdr), the program header of this process's class, on every system. */
#ifndef PPI_ELF_W_H
#define PPI_ELF_W_H

#include <link.h>
#include <stdint.h>

/* glibc, musl, illumos and FreeBSD since 14 have it. */
#ifndef ElfW
#if UINTPTR_MAX > UINT32_MAX
#define ElfW(type) Elf64_##type
#else
#define ElfW(type) Elf32_##type
#endif
#endif

#endif
