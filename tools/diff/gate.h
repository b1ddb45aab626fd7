/* SPDX-License-Identifier: MIT */
/* Whether something grew by more than is allowed: diff --fail-above. */
#ifndef PPI_DIFF_GATE_H
#define PPI_DIFF_GATE_H

#include "tools/diff/changes.h"

struct ppi_gate {
	double percent; /* 0: nothing is refused */
	/* What grew most among what may not, or NULL: then the total. */
	const struct ppi_change *worst;
	bool is_failed;
};

/* Look at the functions that `changes` has, of which a pattern chose some, or,
 * without one, at the total alone. */
void ppi_gate_judge(struct ppi_gate *gate, const struct ppi_changes *changes,
                    bool has_pattern);

/* The change in percent of what was before; infinite of what is new. */
double ppi_change_percent(const struct ppi_change *change);

#endif
