/* SPDX-License-Identifier: MIT */
/* Sets of capability bits of a backend as text. */
#ifndef PPI_CAP_H
#define PPI_CAP_H

#include <stddef.h>
#include <stdint.h>

/* "chain, attach": the names of all bits in `caps`. Returns out. */
const char *ppi_cap_list(uint64_t caps, char *out, size_t bytes);

#endif
