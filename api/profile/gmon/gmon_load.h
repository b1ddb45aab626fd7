/* SPDX-License-Identifier: MIT */
/* A whole gmon.out in memory. */
#ifndef PPI_FILE_GMON_LOAD_H
#define PPI_FILE_GMON_LOAD_H

#include "api/profile/bounds.h"
#include "base/vector.h"
#include "backends/backend.h"

/* What a gmon.out takes in memory, taken apart: at most so many bytes for each
 * of the file. Bins of two bytes become eight, twice when there are two words
 * to try. */
enum { PPI_GMON_GROWTH = 8 };

/* E_LIMIT when the file does not fit into the bounds, whose file_bytes are
 * set. */
portprof_status ppi_gmon_load(const char *path, struct ppi_bounds *bounds,
                              struct ppi_vector *bytes,
                              struct ppi_diag *why);

#endif
