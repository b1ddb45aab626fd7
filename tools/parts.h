/* SPDX-License-Identifier: MIT */
/* Profiles that consist of several files, one for each process. */
#ifndef PPI_PARTS_H
#define PPI_PARTS_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ppi_parts {
	size_t count;     /* that could be read */
	size_t unread;    /* that could not */
	size_t damaged;   /* of processes that were killed */
};

/*
 * Read all parts in a folder, oldest process first, into one profile. NULL
 * when there is none that can be read; `parts` tells what was found. A word
 * is said about each part that is left out.
 */
portprof_profile *ppi_parts_read(const char *folder, struct ppi_parts *parts);

#endif
