/* SPDX-License-Identifier: MIT */
/* The build-id among the notes of an ELF file. */
#ifndef PPI_BUILD_ID_H
#define PPI_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The length of the first build-id of at most `most` bytes, which *id points
 * at; 0 when there is none. Nothing in the notes is believed. `is_swapped`:
 * they are not in this machine's byte order.
 */
size_t ppi_build_id_find(const void *notes, size_t bytes, bool is_swapped,
                         size_t most, const unsigned char **id);

#endif
