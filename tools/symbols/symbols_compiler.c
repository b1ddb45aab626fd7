/* SPDX-License-Identifier: MIT */
/* Which compiler made a file, where that decides about frame pointers. */
#include "config.h"

#include "tools/symbols/symbols_elf.h"

#include <string.h>

static int machine_of(Elf *elf)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) ? header.e_machine : EM_NONE;
}

/* Kept in stripped files, too (Go's cmd/link). */
bool ppi_elf_is_go(Elf *elf)
{
	return ppi_elf_section(elf, ".gopclntab") != NULL;
}

/* lea N(%rsp),%rbp with a byte or a word; mov %rsp,%rbp. */
static bool sets_rbp(const unsigned char *at, uint64_t left)
{
	return (left >= 5 && memcmp(at, "\x48\x8d\x6c\x24", 4) == 0) ||
	       (left >= 8 && memcmp(at, "\x48\x8d\xac\x24", 4) == 0) ||
	       (left >= 3 && memcmp(at, "\x48\x89\xe5", 3) == 0);
}

/* sub x29, sp, #8 */
static bool sets_x29(const unsigned char *at, uint64_t left)
{
	return left >= 4 && memcmp(at, "\xfd\x23\x00\xd1", 4) == 0;
}

/*
 * Go writes no unwind tables that say where a frame pointer is, but its
 * functions set one at their beginning, unless they have no frame (Go's
 * cmd/internal/obj/x86 and arm64, preprocess). Bytes of another instruction may
 * look alike: a function is short, and few do.
 */
enum ppi_frame_pointer ppi_elf_go_frame(Elf *elf, uint64_t start,
                                        uint64_t vaddr)
{
	enum { PROLOGUE = 96 }; /* after the check of the stack's limit */
	int machine = machine_of(elf);
	uint64_t left;
	const unsigned char *code = ppi_elf_at(elf, start, &left);

	if (!code || (machine != EM_X86_64 && machine != EM_AARCH64))
		return PPI_FRAME_UNKNOWN;
	if (left > vaddr - start)
		left = vaddr - start;
	for (uint64_t i = 0; i < left && i < PROLOGUE; i++)
		if (machine == EM_X86_64 ? sets_rbp(code + i, left - i)
		                         : sets_x29(code + i, left - i))
			return PPI_FRAME_KEPT;
	return PPI_FRAME_NONE;
}

/* gcc 12 for x86 leaves them out of functions that need none, whatever
 * -mno-omit-leaf-frame-pointer says; for arm64, and clang everywhere, it
 * does not. */
bool ppi_elf_keeps_leaf_frames(Elf *elf)
{
	static const char clang[] = "clang";
	const Elf_Data *comment = ppi_elf_section(elf, ".comment");
	const char *text = comment ? comment->d_buf : NULL;
	size_t length = sizeof(clang) - 1;

	if (machine_of(elf) == EM_AARCH64)
		return true;
	for (size_t i = 0; text && i + length <= comment->d_size; i++)
		if (memcmp(text + i, clang, length) == 0)
			return true;
	return false;
}
