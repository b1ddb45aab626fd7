/* SPDX-License-Identifier: MIT */
/* Facts that only the sysctl tables of a system have, read as each system does. */
#ifndef PPI_PROFIL_SYSCTL_H
#define PPI_PROFIL_SYSCTL_H

#include "backends/profil/profil_kernel.h"

/* Slots of struct profil_kernel. */
unsigned ppi_profil_rate_hz(void *self);
int ppi_profil_is_profiling(void *self);

#endif
