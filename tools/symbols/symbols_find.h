/* SPDX-License-Identifier: MIT */
/* Where separate debug files are. */
#ifndef PPI_SYMBOLS_FIND_H
#define PPI_SYMBOLS_FIND_H

#include "tools/symbols/symbols_elf.h"

/*
 * The debug file of the executable or library `elf` at `path`: a descriptor,
 * and its path, which is the caller's to free, or -1. It is looked for by
 * build-id under `folder` (NULL: none) and /usr/lib/debug, then by the name in
 * .gnu_debuglink, or "NAME.debug", beside the file, in .debug there and under
 * these folders. Only regular files are opened, and only the one is taken that
 * has the build-id, or else the sum that the link says.
 */
int ppi_debug_find(Elf *elf, const char *path, const char *build_id,
                   const char *folder, char **found);

/* What dwz(1) moved out of the debug file at `path`: the file called `name`
 * that has this build-id. */
int ppi_debug_find_rest(const char *path, const char *name,
                        const unsigned char *id, size_t id_bytes, char **found);

/* "FOLDER OF PATH/NAME", or `name` where it begins with a slash; to be freed,
 * NULL when out of memory. */
char *ppi_debug_beside(const char *path, const char *name);

#endif
