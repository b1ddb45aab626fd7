/* SPDX-License-Identifier: MIT */
/* Configuration files: where they are, and what is in them. */
#ifndef PPI_CONFIG_FILE_H
#define PPI_CONFIG_FILE_H

#include "backends/backend.h"

/*
 * Read `path`, or the first file of the search order when it is NULL, into
 * memory that the caller frees, with a zero after the last byte. *found is
 * the file's name, to be freed too. E_NOTFOUND: no file at all, or `path` is
 * not there.
 */
portprof_status ppi_config_slurp(const char *path, char **found, char **text,
                                 size_t *bytes, struct ppi_diag *why);

#endif
