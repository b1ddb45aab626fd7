/* SPDX-License-Identifier: MIT */
/* Libraries that are loaded when they are first needed, and what was loaded before. */
#ifndef PPI_LIBRARY_H
#define PPI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether this program was linked statically. What it loads brings a C library of
 * its own, and memory of one must not be freed by the other.
 */
bool ppi_library_is_static(void);

/* Whether the system has loaded this program's file, and a loader beside it: not
 * a loader that was told to load it. False where that is not known. */
bool ppi_library_has_loader(void);

/*
 * Load `file` and put the addresses of its functions `names` into `functions`,
 * which points to as many pointers to functions. False when it, or one of
 * them, is not there, or the program is static; then nothing was put. It is
 * never unloaded. Takes the loader's lock: not for signal handlers.
 */
bool ppi_library_load(const char *file, const char *const names[],
                      size_t count, void *functions);

/* Whether a file of that name can be read in the directory of the shared object
 * that this code is in. Loads nothing. */
bool ppi_library_is_beside(void *code, const char *file);

/*
 * The object that this code is in, the library or a plugin with the library
 * linked into it, is not unloaded from now on by any dlclose(3): what
 * threads and signals run and what the C library calls later lies there. Does
 * nothing after the first call. Takes the loader's lock.
 */
void ppi_library_stay(void);

/*
 * The C library's own profil() and pcsample(), where ours have their names.
 * Defined by libportprof-profil: the next definition of `name` after its own
 * goes to *function, a pointer to a function; NULL where there is none, as in
 * a static program. Weak: a program without the drop-in, or with its shared
 * object, finds nothing here and calls by the name.
 */
extern void ppi_system_function(const char *name, void *function)
	__attribute__((weak));

#endif
