/* SPDX-License-Identifier: MIT */
/* Names of the running kernel's functions. */
#ifndef PPI_SYMBOLS_KERNEL_H
#define PPI_SYMBOLS_KERNEL_H

#include "tools/symbols/symbols_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Read a file in the form of /proc/kallsyms; a name of a kernel module's has
 * " [module]" behind it. False when there are no addresses in it: `why` then
 * says what hides them, as the end of a sentence.
 */
bool ppi_kernel_symbols_read(const char *path, struct ppi_symbol_table *table,
                             char *why, size_t why_bytes);

#endif
