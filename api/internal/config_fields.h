/* SPDX-License-Identifier: MIT */
/* Fields of samples by their names in configuration files. */
#ifndef PPI_CONFIG_FIELDS_H
#define PPI_CONFIG_FIELDS_H

#include "backends/backend.h"

/* "data-address, branches", or "none". E_INVALID with the place in *column. */
portprof_status ppi_fields_read(const char *text, uint32_t *wanted,
                                size_t *column, struct ppi_diag *why);

/* The same back; "" for none. Returns out. */
const char *ppi_fields_list(uint32_t wanted, char *out, size_t bytes);

#endif
