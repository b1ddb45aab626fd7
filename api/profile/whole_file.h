/* SPDX-License-Identifier: MIT */
/* A small file, written at once. */
#ifndef PPI_FILE_WHOLE_FILE_H
#define PPI_FILE_WHOLE_FILE_H

#include <stddef.h>

#include "backends/backend.h"

/* Put so many bytes at `path`, over what is there, whole or not at all. */
portprof_status ppi_file_put(const char *path, const char *bytes, size_t count,
                             struct ppi_diag *why);

#endif
