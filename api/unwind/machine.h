/* SPDX-License-Identifier: MIT */
/* What differs between machines, and what a sample holds of one thread. */
#ifndef PPI_UNWIND_MACHINE_H
#define PPI_UNWIND_MACHINE_H

#include "backends/backend.h"

enum { PPI_SAVED_MAX = 13 };

/* What differs between machines; registers by their DWARF numbers. */
struct ppi_machine {
	uint16_t elf_machine;
	uint8_t register_count;
	uint8_t pc, sp, fp;
	uint8_t ra; /* the column of the return address */
	/* Registers that a called function preserves, `ra` among them. */
	uint8_t saved_count, saved[PPI_SAVED_MAX];
	uint8_t call_bytes; /* a call pushes so much before it jumps */
	/* Bits of an address; those above may be a signature, and more of them
	 * where ppi_machine_unsigned says so. */
	uint64_t address_mask;
	uint8_t address_bits; /* a user's code has no more */
	/* Where a signal's frame keeps all registers, by number: so far above
	 * its stack pointer. 0: tables describe such frames. */
	uint16_t signal_registers;
};

extern const struct ppi_machine ppi_machine_x86_64, ppi_machine_arm64;

/* The machine that this library is built for; NULL: its chains come from frame
 * pointers alone. */
const struct ppi_machine *ppi_machine_here(void);

/* Bits that this kernel leaves unsigned in addresses of all its processes. */
uint64_t ppi_machine_unsigned(void);

struct ppi_registers {
	uint64_t value[PPI_REGISTERS];
	uint64_t known; /* bit n: value[n] is known */
};

/* Bytes of the stack from the stack pointer up. */
struct ppi_stack {
	const unsigned char *bytes;
	uint64_t start, size;
	/* The copy ends where the stack does, not where its room did. */
	bool is_all;
	/* Of the one that a signal's handler on this one interrupted; NULL. */
	const struct ppi_stack *interrupted;
	/* Return addresses as frame pointers led the kernel from the registers on,
	 * past the copy as well. */
	const uint64_t *callers;
	size_t caller_count;
};

/* Read a word of the stack; false when it is not in the copy. */
typedef bool (*ppi_load_fn)(void *context, uint64_t address, uint64_t *word);

#endif
