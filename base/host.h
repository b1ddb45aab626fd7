/* SPDX-License-Identifier: MIT */
/* The machine a measurement was made on, in words. */
#ifndef PPI_HOST_H
#define PPI_HOST_H

/* Each is "" where the system does not say. */
struct ppi_host {
	char host[128];
	char system[256]; /* "Linux 6.1.0 x86_64" */
	char cpu[160];    /* "AMD EPYC 7B13, 8 online" */
};

void ppi_host_read(struct ppi_host *machine);

#endif
