/* SPDX-License-Identifier: MIT */
/* getenv(3), but NULL where the process has more rights than its user. */
#ifndef PPI_ENVIRONMENT_H
#define PPI_ENVIRONMENT_H

/* getenv, but NULL for an empty value, and in programs that run with more
 * rights than the user who started them (set-user-id, file capabilities). */
const char *ppi_environment(const char *name);

#endif
