/* SPDX-License-Identifier: MIT */
/* monstartup() and its relatives, which programs built with cc -pg call. */
#ifndef PPI_MONITOR_H
#define PPI_MONITOR_H

#include "compat/drop-in/rules.h"

/* Count ticks of [low, high), and calls where mcount is ours; from now on. */
void ppi_monstartup(const struct ppi_rules *rules, uint64_t low,
                    uint64_t high);
void ppi_moncontrol(bool on);

/* Stop and write the file. */
void ppi_mcleanup(void);

#endif
