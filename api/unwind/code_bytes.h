/* SPDX-License-Identifier: MIT */
/* What the instructions at an address are. Answers are kept, by process. */
#ifndef PPI_UNWIND_CODE_BYTES_H
#define PPI_UNWIND_CODE_BYTES_H

#include "api/unwind/code_map.h"

struct ppi_code_bytes;

/* NULL when there is no memory. */
struct ppi_code_bytes *ppi_code_bytes_new(void);
void ppi_code_bytes_free(struct ppi_code_bytes *bytes);
extern const size_t ppi_code_bytes_size;

/* An address of a process, and what is mapped there. */
struct ppi_code_place {
	const struct ppi_machine *machine;
	const struct ppi_extent *extent; /* NULL: not known */
	uint64_t address;
	uint32_t pid;
};

/* Whether a call precedes it; true where it cannot be read. */
bool ppi_code_follows_call(struct ppi_code_bytes *bytes,
                           const struct ppi_code_place *place);

enum ppi_code_kind {
	PPI_CODE_OTHER,
	PPI_CODE_SIGNAL_RETURN, /* what a signal handler returns to */
	PPI_CODE_STUB,          /* as enum ppi_stub in calls.h */
	PPI_CODE_STUB_PUSHED
};

/* What lies there that no table describes; OTHER where it cannot be read.
 * `is_first`: it is executed, and not returned to. */
enum ppi_code_kind ppi_code_kind_of(struct ppi_code_bytes *bytes,
                                    const struct ppi_code_place *place,
                                    bool is_first);

#endif
