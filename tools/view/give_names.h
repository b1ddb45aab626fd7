/* SPDX-License-Identifier: MIT */
/* The names of code, written into the profile that was measured. */
#ifndef PPI_NAMES_H
#define PPI_NAMES_H

#include <portprof.h>

#include <stdbool.h>

#include "tools/view/named.h"

/* Name the code of a profile, with lines and inlined functions; what the file
 * names already stays. `held`: what is held open of it, or NULL. *unnamed: how many
 * addresses are in no function that is known; NULL. False when out of memory: words
 * were said. */
struct ppi_held;
bool ppi_names_give(portprof_profile *profile,
                    const struct ppi_named_sources *sources,
                    const struct ppi_held *held, size_t *unnamed);

/* The same for a file, which is read and written again, in a process of its
 * own: nothing that is wrong with the binaries can hurt the caller. `hidden` is
 * taken out then; NULL: nothing. `is_nameless`: only that. False with words; the
 * file is as it was then. */
struct ppi_hidden;
bool ppi_names_write(const char *path, struct ppi_held *held, bool is_nameless,
                     const struct ppi_hidden *hidden);

#endif
