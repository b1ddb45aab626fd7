/* SPDX-License-Identifier: MIT */
/* Rules of one module: how to get from a frame to its caller's. */
#ifndef PPI_UNWIND_FRAME_RULES_H
#define PPI_UNWIND_FRAME_RULES_H

#include "api/unwind/frame_table.h"
#include "api/unwind/machine.h"

enum ppi_rule_kind {
	PPI_RULE_NONE,   /* no table describes this pc */
	PPI_RULE_SIMPLE, /* all is in struct ppi_rule */
	PPI_RULE_OTHER   /* ask ppi_frame_rules_step */
};

/* The common rule: the caller's stack pointer (CFA) is a register plus an
 * offset, and saved registers lie at offsets from it. */
struct ppi_rule {
	uint8_t kind;
	bool is_signal;    /* the kernel pushed this frame */
	bool is_outermost; /* it says that it has no caller */
	uint8_t cfa_register;
	int32_t cfa_offset;
	uint16_t saved; /* bit i: machine->saved[i] is at CFA + offset[i] */
	int16_t offset[PPI_SAVED_MAX]; /* small: a table of rules is in caches */
};

/* One frame, before or after a step. */
struct ppi_frame {
	struct ppi_registers registers;
	uint64_t cfa;
};

struct ppi_frame_rules;

/* The words why there are no tables, or NULL. */
const char *ppi_frame_rules_missing(void);

/* Tables of an ELF file (ppi_frame_table_open). NULL when there are none for this
 * machine. */
struct ppi_frame_rules *ppi_frame_rules_open(
	const struct ppi_machine *machine, const struct ppi_frame_source *source,
	const unsigned char *build_id, size_t build_id_bytes);
void ppi_frame_rules_close(struct ppi_frame_rules *rules);

/* The memory that they take, with about what libdw makes of one entry. */
size_t ppi_frame_rules_bytes(const struct ppi_frame_rules *rules);

/* From a place in the file to the address that the tables use. */
bool ppi_frame_rules_address(const struct ppi_frame_rules *rules, uint64_t file_offset,
                       uint64_t *address);

void ppi_frame_rules_find(struct ppi_frame_rules *rules, uint64_t address,
                    struct ppi_rule *rule);

/* Where the function begins that an address of the tables is in; 0: not known. */
uint64_t ppi_frame_rules_start(const struct ppi_frame_rules *rules,
                               uint64_t address);

/* Take a step of kind PPI_RULE_OTHER: *to gets the caller's registers, the pc
 * among them unless the frame is the outermost. */
bool ppi_frame_rules_step(struct ppi_frame_rules *rules, uint64_t address,
                    const struct ppi_registers *from, ppi_load_fn load,
                    void *context, struct ppi_frame *to);

#endif
