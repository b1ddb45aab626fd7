/* SPDX-License-Identifier: MIT */
/* What is left to do when a fork has returned in the child. */
#ifndef PPI_FORK_RETURN_H
#define PPI_FORK_RETURN_H

/* Defined by the library that holds fork_wrap.c: begin the child's session, if
 * it is to have one and has none. */
void ppi_fork_returned(void);

#endif
