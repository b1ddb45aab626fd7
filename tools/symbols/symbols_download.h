/* SPDX-License-Identifier: MIT */
/* Debug files from the servers of debuginfod, where the user asks for them. */
#ifndef PPI_SYMBOLS_DOWNLOAD_H
#define PPI_SYMBOLS_DOWNLOAD_H

#include <stdbool.h>

/* From now on debug files that are not here are asked for. False: they cannot
 * be, and *why is the reason with what helps. */
bool ppi_download_begin(const char **why);

/* Whether elfutils' library is here, and this build can read what it brings. */
bool ppi_download_is_here(void);

/* Unless that was called: no library and no program that this one starts
 * downloads anything either. */
void ppi_download_never(void);

/* A descriptor of the debug file of this build-id, in hexadecimal, and its path
 * in the cache, which is the caller's to free; or -1. */
int ppi_download_find(const char *build_id, char **found);

#endif
