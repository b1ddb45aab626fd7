/* SPDX-License-Identifier: MIT */
/* From many portions to one, when the measurement is over. */
#ifndef PPI_FILE_FINISH_H
#define PPI_FILE_FINISH_H

#include "api/profile/output.h"

/*
 * Read the file back, add equal samples up and put the result in its place.
 * Where that cannot be (a full disk, no memory, another file of that name)
 * the portions stay: they say the same.
 */
void ppi_finish(struct ppi_output *output);

#endif
