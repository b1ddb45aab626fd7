/* SPDX-License-Identifier: MIT */
/* Readable names of C++ and Rust functions. */
#ifndef PPI_SYMBOLS_DEMANGLE_H
#define PPI_SYMBOLS_DEMANGLE_H

/* The readable name, to be freed; NULL when the name is not mangled or the
 * build has no demangler. */
char *ppi_demangle(const char *name);

#endif
