/* SPDX-License-Identifier: MIT */
/* Names of ratios that need two events: IPC, miss-rate. */
#ifndef PPI_PRESETS_H
#define PPI_PRESETS_H

#include <stddef.h>

struct ppi_preset {
	const char *name;
	const char *of, *by; /* events of one group */
	double factor;       /* of / by times this is */
	const char *unit;    /* so many of these */
};

/* The preset that an event string names, in upper or lower case; *modifiers,
 * for both of its events, is what follows the name. NULL: it names none. */
const struct ppi_preset *ppi_preset_find(const char *text,
                                         const char **modifiers);

/* NULL past the last. */
const struct ppi_preset *ppi_preset_at(size_t index);

#endif
