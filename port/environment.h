/* SPDX-License-Identifier: MIT */
/* The environment, where it can be trusted. */
#ifndef PPI_ENVIRONMENT_H
#define PPI_ENVIRONMENT_H

/* getenv, but NULL for an empty value, and in programs that run with more
 * rights than whoever started them (set-user-id, file capabilities). */
const char *ppi_environment(const char *name);

#endif
