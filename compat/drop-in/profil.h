/* SPDX-License-Identifier: MIT */
/* profil() and its relatives, in any dialect. */
#ifndef PPI_DROP_IN_PROFIL_H
#define PPI_DROP_IN_PROFIL_H

#include "compat/drop-in/dialect.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

struct prof;

int ppi_profil(const struct ppi_rules *rules, void *bins, size_t bytes,
               uint64_t offset, unsigned scale);
int ppi_sprofil(struct prof *regions, int count, struct timeval *period,
                unsigned flags);
long ppi_pcsample(uintptr_t *samples, long room);

/* Solaris has one of both, and the last call wins. Between begin and end. */
void ppi_dropin_profil_off(void);
void ppi_dropin_pcsample_off(void);

#endif
