/* SPDX-License-Identifier: MIT */
/* A whole gmon.out in memory. */
#ifndef PPI_FILE_GMON_LOAD_H
#define PPI_FILE_GMON_LOAD_H

#include "api/file/vector.h"
#include "backends/backend.h"

portprof_status ppi_gmon_load(const char *path, struct ppi_vector *bytes,
                              struct ppi_diag *why);

#endif
