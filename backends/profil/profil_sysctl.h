/* SPDX-License-Identifier: MIT */
/* What only the system's own tables tell, each system in its own way. */
#ifndef PPI_PROFIL_SYSCTL_H
#define PPI_PROFIL_SYSCTL_H

#include "backends/profil/profil_kernel.h"

/* Slots of struct profil_kernel. */
unsigned ppi_profil_rate_hz(void *self);
int ppi_profil_is_profiling(void *self);

#endif
