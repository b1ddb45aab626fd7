/* SPDX-License-Identifier: MIT */
/* Whether the path of a mapping is a file that other processes map as well. */
#ifndef PPI_FILE_PATH_H
#define PPI_FILE_PATH_H

#include <stdbool.h>

/* Whether a path means the same bytes whoever maps it. */
bool ppi_is_shared_file(const char *path);

/* Whether it is a jit-PID.dump, in which a process writes what code it makes
 * and when. */
bool ppi_is_code_dump(const char *path);

#endif
