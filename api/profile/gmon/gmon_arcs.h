/* SPDX-License-Identifier: MIT */
/* Pairs of caller and called function, each with how often it was seen. */
#ifndef PPI_FILE_GMON_ARCS_H
#define PPI_FILE_GMON_ARCS_H

#include "base/vector.h"
#include "api/profile/gmon/gmon.h"

/* struct ppi_gmon_arc, in any order and with repetitions until folded. */
static inline bool ppi_gmon_arcs_add(struct ppi_vector *arcs, uint64_t from,
                                     uint64_t self, uint64_t count)
{
	struct ppi_gmon_arc arc = { from, self, count };

	return ppi_vector_add(arcs, sizeof(arc), &arc, 1);
}

/* Sort, and make one of equal ones. */
void ppi_gmon_arcs_fold(struct ppi_vector *arcs);

#endif
