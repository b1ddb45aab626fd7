/* SPDX-License-Identifier: MIT */
/* What the user's environment asks of the drop-in functions. */
#ifndef PPI_DIALECT_H
#define PPI_DIALECT_H

#include "compat/drop-in/rules.h"

/* The dialect of the plain names: PORTPROF_DIALECT, or the host's. */
const struct ppi_rules *ppi_plain_dialect(void);

/* Ticks per second of CPU time: PORTPROF_HZ, or what is usual there. */
unsigned ppi_tick_hz(const struct ppi_rules *rules);

/* PORTPROF_DEFECTS=1: also what the dialect's own system does wrong. */
bool ppi_wants_defects(void);

/* PORTPROF_BACKEND; NULL when the library is to choose. */
const char *ppi_wanted_backend(void);

/* One line to standard error, the first time that this function is called;
 * old programs do not look at what profil() returns. */
void ppi_complain(const char *words, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 1, 2)))
#endif
	;

/* Read the environment again; for tests. */
void ppi_dialect_forget(void);

#endif
