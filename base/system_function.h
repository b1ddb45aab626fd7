/* SPDX-License-Identifier: MIT */
/* The C library's own profil() and pcsample(), where ours have their names. */
#ifndef PPI_SYSTEM_FUNCTION_H
#define PPI_SYSTEM_FUNCTION_H

/*
 * Defined by libportprof-profil: the next definition of `name` after its own
 * goes to *function, a pointer to a function; NULL where there is none, as in
 * a static program. Weak: a program without the drop-in, or with its shared
 * object, finds nothing here and calls by the name.
 */
extern void ppi_system_function(const char *name, void *function)
	__attribute__((weak));

#endif
