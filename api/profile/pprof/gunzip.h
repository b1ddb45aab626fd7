/* SPDX-License-Identifier: MIT */
/* A file as its gzip members, each whole and checked, or as plain bytes. */
#ifndef PPI_FILE_GUNZIP_H
#define PPI_FILE_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portprof/status.h>

#include "api/profile/bounds.h"

/* What was found behind the last whole member. */
struct ppi_gunzip_end {
	size_t members;    /* whole ones that were taken */
	uint64_t whole;    /* bytes of the file that they cover */
	uint64_t size;     /* bytes of the file */
	bool is_cut;       /* the file ends within a member */
	bool is_plain;     /* no gzip at all */
};

/*
 * Read from `fd` and hand the contents of each whole member to `take`; plain
 * bytes are handed over as if they were one. Ends at the first that is torn,
 * damaged or refused by `take` with E_FORMAT, and says so in `end`; that is
 * PORTPROF_OK. E_NOMEM, E_LIMIT (a member does not fit into the bounds, or
 * `take` says so) and E_SYSTEM with errno in *error are failures. Sets
 * bounds->file_bytes.
 */
portprof_status ppi_gunzip(int fd, struct ppi_bounds *bounds,
                           portprof_status (*take)(void *context,
                                                   const uint8_t *bytes,
                                                   size_t count),
                           void *context, struct ppi_gunzip_end *end,
                           int *error);

#endif
