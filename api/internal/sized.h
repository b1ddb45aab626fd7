/* SPDX-License-Identifier: MIT */
/* Structures copied out: the caller's size decides how much is written. */
#ifndef PPI_SIZED_H
#define PPI_SIZED_H

#include <stddef.h>

#include <portprof/status.h>

/*
 * Copy min(*out's leading size_t, full_bytes) bytes of `full` to `out` and
 * set that size to what was written. E_INVALID when the caller's size cannot
 * hold even the size field: it was not filled in.
 */
portprof_status ppi_sized_copy(void *out, const void *full, size_t full_bytes,
                               const char *step);

#endif
