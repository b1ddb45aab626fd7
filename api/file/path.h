/* SPDX-License-Identifier: MIT */
/* What the path of a mapping tells. */
#ifndef PPI_FILE_PATH_H
#define PPI_FILE_PATH_H

#include <stdbool.h>

/* Whether a path means the same bytes whoever maps it. */
bool ppi_is_shared_file(const char *path);

#endif
