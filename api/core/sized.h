/* SPDX-License-Identifier: MIT */
/* Structures copied out: the caller's size decides how much is written. */
#ifndef PPI_SIZED_H
#define PPI_SIZED_H

#include <stddef.h>

#include <portprof/status.h>

/*
 * Fill what the caller's leading size_t says from `full`, and what goes beyond
 * full_bytes with 0; the size stays as it is. E_INVALID when the caller's size cannot
 * hold even the size field: it was not filled in.
 */
portprof_status ppi_sized_copy(void *out, const void *full, size_t full_bytes,
                               const char *step);

#endif
