/* SPDX-License-Identifier: MIT */
/*
 * What was found out about files and their code, kept for the next window of a
 * recording. Windows are named by a process each, one after the other, which ends with
 * all that it read of files that others wrote; what they have in common is in memory
 * that they share, of a fixed size, and which nobody else reads. When it is full, the
 * next process leaves out what is large, or was not asked for of late; when it is old,
 * it begins anew.
 */
#ifndef PPI_SYMBOLS_KEPT_H
#define PPI_SYMBOLS_KEPT_H

#include <stdbool.h>
#include <stddef.h>

struct ppi_kept;

/* NULL: nothing is kept. */
struct ppi_kept *ppi_kept_new(size_t bytes);
void ppi_kept_free(struct ppi_kept *kept);

/* In a process that names a window, first. */
void ppi_kept_begin(struct ppi_kept *kept);

/* The value of a key, of so many bytes; NULL none. It lives as long as the
 * process. */
const void *ppi_kept_find(const struct ppi_kept *kept, const char *key,
                          size_t *bytes);

/* Room for the value of a new key, aligned for anything; NULL: there is none. The
 * value is found after ppi_kept_done. */
void *ppi_kept_room(struct ppi_kept *kept, const char *key, size_t bytes);
void ppi_kept_done(struct ppi_kept *kept);

#endif
