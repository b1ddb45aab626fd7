/* SPDX-License-Identifier: MIT */
/* DWARF expressions of frame tables: DWARF 5, section 2.5. */
#ifndef PPI_UNWIND_EXPRESSION_H
#define PPI_UNWIND_EXPRESSION_H

#include "api/unwind/machine.h"

#include <elfutils/libdw.h>

/* What an expression may look at. */
struct ppi_expression_input {
	const struct ppi_registers *registers;
	uint64_t cfa; /* while the CFA itself is computed: 0 */
	ppi_load_fn load;
	void *context;
};

/*
 * Evaluate `count` operations. *is_value: the result is the value itself, not
 * the address it is at. False when it cannot be known.
 */
bool ppi_expression(const Dwarf_Op *ops, size_t count,
                    const struct ppi_expression_input *input,
                    uint64_t *result, bool *is_value);

#endif
