/* SPDX-License-Identifier: MIT */
/* Whose a running process is, and since when it runs. */
#ifndef PPI_PROCESS_OWNER_H
#define PPI_PROCESS_OWNER_H

#include <stdbool.h>
#include <stdint.h>

struct ppi_process_owner {
	uint32_t user;     /* id of the effective user */
	uint64_t began_ns; /* CLOCK_REALTIME, to a tick; 0 unknown */
};

/* False when it is not there or cannot be seen; always for other processes on
 * systems without Linux's /proc. */
bool ppi_process_owner(int64_t pid, struct ppi_process_owner *owner);

#endif
