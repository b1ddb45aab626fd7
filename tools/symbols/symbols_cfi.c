/* SPDX-License-Identifier: MIT */
/*
 * Whether code keeps a frame pointer, by the unwind tables, which stripped
 * files have too: they say for each instruction where the caller's frame is.
 */
#include "config.h"

#include "tools/symbols/symbols_elf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

enum {
	/* DWARF's numbers of registers, from each psABI. */
	EBP = 5,
	RBP = 6,
	X29 = 29
};

struct ppi_cfi {
	Dwarf_CFI *tables;
	int machine;
};

struct ppi_cfi *ppi_cfi_open(Elf *elf)
{
	struct ppi_cfi *cfi = calloc(1, sizeof(*cfi));
	GElf_Ehdr header;

	if (!cfi)
		return NULL;
	if (gelf_getehdr(elf, &header))
		cfi->machine = header.e_machine;
	cfi->tables = dwarf_getcfi_elf(elf);
	return cfi;
}

/* Where the caller's frame is found: from the frame pointer, in whichever
 * form, a realigned stack's included. */
static bool is_found_from(Dwarf_Frame *frame, unsigned number)
{
	Dwarf_Op *steps;
	size_t count;

	if (dwarf_frame_cfa(frame, &steps, &count) != 0 || count == 0)
		return false;
	if (steps[0].atom == DW_OP_bregx)
		return steps[0].number == number;
	return steps[0].atom == DW_OP_breg0 + number;
}

/* Arm's compilers find the caller's frame from the stack pointer all the same,
 * but save both halves of the frame record together. */
static bool is_saved(Dwarf_Frame *frame, int number)
{
	Dwarf_Op room[3], *steps;
	size_t count;

	return dwarf_frame_register(frame, number, room, &steps, &count) == 0 &&
	       count > 0;
}

static enum ppi_frame_pointer judge(int machine, Dwarf_Frame *frame)
{
	bool is_kept;

	switch (machine) {
	case EM_X86_64:
		is_kept = is_found_from(frame, RBP);
		break;
	case EM_386:
		is_kept = is_found_from(frame, EBP);
		break;
	case EM_AARCH64:
		is_kept = is_saved(frame, X29);
		break;
	default:
		return PPI_FRAME_UNKNOWN;
	}
	return is_kept ? PPI_FRAME_KEPT : PPI_FRAME_NONE;
}

enum ppi_frame_pointer ppi_cfi_look(struct ppi_cfi *cfi, uint64_t vaddr)
{
	enum ppi_frame_pointer answer;
	Dwarf_Frame *frame;

	if (!cfi->tables ||
	    dwarf_cfi_addrframe(cfi->tables, vaddr, &frame) != 0)
		return PPI_FRAME_UNKNOWN;
	answer = judge(cfi->machine, frame);
	free(frame);
	return answer;
}

void ppi_cfi_close(struct ppi_cfi *cfi)
{
	if (cfi && cfi->tables)
		dwarf_cfi_end(cfi->tables);
	free(cfi);
}
