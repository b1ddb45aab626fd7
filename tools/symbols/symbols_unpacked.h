/* SPDX-License-Identifier: MIT */
/* Debug information that lies packed in its file, unpacked once for all windows of a
 * recording. */
#ifndef PPI_SYMBOLS_UNPACKED_H
#define PPI_SYMBOLS_UNPACKED_H

/* From now on, for this process and its children, in files without a name in `folder`. */
void ppi_unpacked_begin(const char *folder);

/* The file at `fd`, or one like it whose debug information is not packed; `fd` is then
 * closed. Of it lists for debuggers and where variables are may be missing. */
int ppi_unpacked(int fd);

#endif
