/* SPDX-License-Identifier: MIT */
/* Call frame instructions: DWARF 5, 6.4.2 and 7.24; those of GNU: LSB, chapter
 * "Exception Frames"; of arm64: "DWARF for the Arm 64-bit Architecture". */
#include "config.h"

#include "api/unwind/call_frames.h"

#include <dwarf.h>

enum {
	/* x86-64 names 130 (System V ABI, figure 3.36), arm64 128 */
	REGISTERS_MAX = 192,
	/* compilers remember one at a time */
	REMEMBERED_MAX = 64,
	EXPRESSION_BYTES_MAX = 4096
};

uint64_t ppi_cfi_number(struct ppi_cfi *cursor, size_t bytes)
{
	uint64_t number = 0;

	if ((size_t)(cursor->end - cursor->at) < bytes) {
		cursor->is_past = true;
		cursor->at = cursor->end;
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		number |= (uint64_t)*cursor->at++ << (8 * i);
	return number;
}

uint64_t ppi_cfi_uleb(struct ppi_cfi *cursor)
{
	uint64_t number = 0, byte;

	/* libdw, too, reads ten bytes; what goes on after them is nonsense */
	for (unsigned shift = 0; shift < 70; shift += 7) {
		byte = ppi_cfi_number(cursor, 1);
		number |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	cursor->is_past = true;
	return number;
}

void ppi_cfi_skip(struct ppi_cfi *cursor, uint64_t bytes)
{
	if ((uint64_t)(cursor->end - cursor->at) < bytes) {
		cursor->is_past = true;
		bytes = (uint64_t)(cursor->end - cursor->at);
	}
	cursor->at += bytes;
}

/* What follows the byte of an instruction: r a register, u a number, b a block
 * after its length, a an address, 1, 2, 4 and 8 so many bytes. NULL: not known. */
static const char *operands_of(unsigned instruction)
{
	switch (instruction) {
	case DW_CFA_nop:
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
	case DW_CFA_GNU_window_save: /* arm64: AARCH64_negate_ra_state */
		return "";
	case DW_CFA_set_loc:
		return "a";
	case DW_CFA_advance_loc1:
		return "1";
	case DW_CFA_advance_loc2:
		return "2";
	case DW_CFA_advance_loc4:
		return "4";
	case DW_CFA_MIPS_advance_loc8:
		return "8";
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_def_cfa_register:
		return "r";
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_GNU_negative_offset_extended:
		return "ru";
	case DW_CFA_register:
		return "rr";
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_GNU_args_size:
		return "u";
	case DW_CFA_def_cfa_expression:
		return "b";
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		return "rb";
	default:
		return NULL;
	}
}

static bool skip_operand(struct ppi_cfi *program, char kind,
                         size_t pointer_bytes)
{
	uint64_t bytes;

	switch (kind) {
	case 'r':
		return ppi_cfi_uleb(program) < REGISTERS_MAX;
	case 'u':
		ppi_cfi_uleb(program);
		return true;
	case 'b':
		bytes = ppi_cfi_uleb(program);
		ppi_cfi_skip(program, bytes);
		return bytes <= EXPRESSION_BYTES_MAX;
	case 'a':
		ppi_cfi_skip(program, pointer_bytes);
		return true;
	default:
		ppi_cfi_skip(program, (uint64_t)(kind - '0'));
		return true;
	}
}

bool ppi_call_frames_are_modest(struct ppi_cfi program,
                                size_t pointer_bytes)
{
	unsigned remembered = 0;

	while (program.at < program.end) {
		unsigned instruction = *program.at++;
		const char *operands;

		/* the three that have an operand within; 64 registers */
		if (instruction & 0xc0)
			operands = (instruction & 0xc0) == DW_CFA_offset ? "u"
			                                                 : "";
		else
			operands = operands_of(instruction);
		if (!operands)
			return false;
		for (; *operands; operands++)
			if (!skip_operand(&program, *operands, pointer_bytes))
				return false;
		if (instruction == DW_CFA_remember_state &&
		    ++remembered > REMEMBERED_MAX)
			return false;
		if (instruction == DW_CFA_restore_state && remembered > 0)
			remembered--;
	}
	return !program.is_past;
}
