/* SPDX-License-Identifier: MIT */
/* Names of code that processes made while running, by the time of samples. */
#ifndef PPI_NAMES_TIME_H
#define PPI_NAMES_TIME_H

#include <portprof.h>

#include <stdbool.h>

struct ppi_held;

/*
 * Name code by the jit-PID.dump of each process that mapped one. `root`: where
 * the files of the profile lie, as if it were their "/"; NULL. `held`: what is
 * held open of it, or NULL. What cannot be read is said, and leaves its code as
 * it was. False when out of memory: words were said.
 */
bool ppi_names_by_time(portprof_profile *profile, const char *root,
                       const struct ppi_held *held);

#endif
