/* SPDX-License-Identifier: MIT */
/* The code that the kernel maps into every process. */
#ifndef PPI_SYMBOLS_VDSO_H
#define PPI_SYMBOLS_VDSO_H

#include <stddef.h>

/* This process's own image of it; NULL when there is none. It is whole as
 * long as the process lives. */
char *ppi_vdso_image(size_t *bytes);

#endif
