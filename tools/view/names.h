/* SPDX-License-Identifier: MIT */
/* The names of a profile's code: found for a look at it (names.c), or
 * written into it (give_names.c). */
#ifndef PPI_NAMES_H
#define PPI_NAMES_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/symbols/symbols.h"
#include "tools/view/rows.h"

struct ppi_held;
struct ppi_hidden;

/* Where its files may be beside the usual; NULL or "" none. */
struct ppi_named_sources {
	char *debug_folder; /* with debug files */
	char *root;         /* in which they lie as if it were "/" */
};

/* ---- found ---- */

struct ppi_named {
	struct ppi_symbols *symbols;
	struct ppi_symbols_name *names; /* by location */
};

/* False when out of memory; ppi_named_free is due all the same. */
bool ppi_named_find(struct ppi_named *named, const portprof_profile *profile,
                    bool lines, bool inlines,
                    const struct ppi_named_sources *sources);
void ppi_named_free(struct ppi_named *named);

/*
 * The names of every location of a profile, found once for all events and
 * orders. NULL when out of memory.
 */
struct ppi_symbols_name *ppi_name_locations(const portprof_profile *profile,
                                            struct ppi_symbols *symbols);

/* The lines of one function of the file `path`, where names were found without:
 * looking for those of all code takes longer. False when out of memory. */
bool ppi_name_lines(const portprof_profile *profile,
                    const struct ppi_named *named, const char *function,
                    const char *path);

/* ---- written into the profile ---- */

/*
 * Name code by the jit-PID.dump of each process that mapped one. `root`: where
 * the files of the profile lie, as if it were their "/"; NULL. `held`: what is
 * held open of it, or NULL. What cannot be read is said, and leaves its code as
 * it was. False when out of memory: words were said.
 */
bool ppi_names_by_time(portprof_profile *profile, const char *root,
                       const struct ppi_held *held);

/* Name the code of a profile, with lines and inlined functions; what the file
 * names already stays. `held`: what is held open of it, or NULL. *unnamed: how
 * many addresses are in no function that is known, and then it is also said what
 * kept code from being named; NULL. False when out of memory: words were said. */
bool ppi_names_give(portprof_profile *profile,
                    const struct ppi_named_sources *sources,
                    const struct ppi_held *held, size_t *unnamed);

/* The same for a file, which is read and written again, in a process of its
 * own: nothing that is wrong with the binaries can hurt the caller. `hidden` is
 * taken out then; NULL: nothing. `is_nameless`: only that. False with words;
 * the file is as it was then. */
bool ppi_names_write(const char *path, struct ppi_held *held, bool is_nameless,
                     const struct ppi_hidden *hidden);

/* ---- what a name says ---- */

/* How much CPython's evaluation loop has with all that it called, of rows by
 * function, if no function of Python's own has a name; else 0. */
uint64_t ppi_unnamed_python(const struct ppi_rows *rows);

/* Whether a function of the kernel is one that lets interrupts in again. A
 * clock's interrupt that comes while they are off waits until there: it gets
 * samples of what ran before it (skid). */
bool ppi_lets_interrupts_in(const char *function);

#endif
