/* SPDX-License-Identifier: MIT */
/* Long output on a terminal goes through the user's pager. */
#ifndef PPI_PAGER_H
#define PPI_PAGER_H

/*
 * From here on standard output goes to $PORTPROF_PAGER, $PAGER or less, if it
 * is a terminal that says how many lines it has: one that does not is a
 * script's, and a pager would wait there for ever. Never to "cat" or to an
 * empty command. Colours stay.
 */
void ppi_pager_begin(void);

/* Wait until the reader is done. */
void ppi_pager_end(void);

#endif
