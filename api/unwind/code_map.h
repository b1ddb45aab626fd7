/* SPDX-License-Identifier: MIT */
/* The code that each process has mapped, and the modules it comes from. */
#ifndef PPI_UNWIND_CODE_MAP_H
#define PPI_UNWIND_CODE_MAP_H

#include "api/unwind/frame_rules.h"

/* A program, library or piece of generated code; processes share them. */
struct ppi_code;

struct ppi_mapping {
	uint64_t start, limit, file_offset;
	struct ppi_code *code;
};

struct ppi_address_space;
struct ppi_address_spaces;

struct ppi_address_spaces *
ppi_address_spaces_new(const struct ppi_machine *machine);
void ppi_address_spaces_free(struct ppi_address_spaces *spaces);

/* Out of memory, a space is as it was. */
void ppi_address_spaces_map(struct ppi_address_spaces *spaces, uint32_t pid,
                            uint64_t start, uint64_t limit,
                            const portprof_module *module);
void ppi_address_spaces_fork(struct ppi_address_spaces *spaces, uint32_t pid,
                             uint32_t parent_pid);
void ppi_address_spaces_exec(struct ppi_address_spaces *spaces, uint32_t pid);
void ppi_address_spaces_exit(struct ppi_address_spaces *spaces, uint32_t pid);

/* NULL: nothing is known of the process. */
const struct ppi_address_space *
ppi_address_spaces_find(struct ppi_address_spaces *spaces, uint32_t pid);

/* The code mapped at an address; NULL none. */
const struct ppi_mapping *
ppi_address_space_at(const struct ppi_address_space *space, uint64_t address);

/*
 * The tables of a mapping, which are opened when first asked for; NULL when it
 * has none. *serial is theirs alone, also after they are closed.
 */
struct ppi_frame_rules *ppi_mapping_rules(struct ppi_address_spaces *spaces,
                                    const struct ppi_mapping *mapping,
                                    uint32_t pid, uint32_t *serial);

/* How many modules have had their tables opened. */
uint64_t ppi_address_spaces_opened(const struct ppi_address_spaces *spaces);

#endif
