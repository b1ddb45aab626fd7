/* SPDX-License-Identifier: MIT */
/* Symbols of the running kernel, as /proc/kallsyms lists them. */
#ifndef PPI_KERNEL_SYMBOLS_H
#define PPI_KERNEL_SYMBOLS_H

#include <stdint.h>

/*
 * Each symbol that has an address, in the order of the file: its type, as nm(1) has it
 * (functions have tTwW), and its name; a name of a kernel module's has " [module]" behind
 * it. 0, or a negative errno: it cannot be read; a file in which every address is 0
 * hides them.
 */
int ppi_kernel_symbols_each(const char *path,
                            void (*take)(void *context, uint64_t address,
                                         char type, const char *name),
                            void *context);

#endif
