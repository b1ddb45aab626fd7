/* SPDX-License-Identifier: MIT */
/* A library that is loaded when it is first needed. */
#ifndef PPI_LIBRARY_H
#define PPI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Load `file` and put the addresses of its functions `names` into `functions`,
 * which points to as many pointers to functions. False when it, or one of
 * them, is not there; then nothing was put. It is never unloaded. Takes the
 * loader's lock: not for signal handlers.
 */
bool ppi_library_load(const char *file, const char *const names[],
                      size_t count, void *functions);

#endif
