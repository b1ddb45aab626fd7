/* SPDX-License-Identifier: MIT */
/* What is written to when a path is: links are followed to their end. */
#ifndef PPI_FILE_OUTPUT_PATH_H
#define PPI_FILE_OUTPUT_PATH_H

#include <stdbool.h>

#include "backends/backend.h"

struct ppi_output_path {
	char *path;      /* absolute, and no link; of a stream as it was named.
	                  * To be freed */
	bool is_stream;  /* a pipe, a device, or a descriptor: what is written
	                  * there cannot be taken back, and nothing may replace
	                  * it */
	int descriptor;  /* the one that the path names, such as /dev/stdout; or
	                  * -1 */
};

/* E_NOTFOUND, E_DENIED, E_INVALID, E_NOMEM: *found is unchanged. */
portprof_status ppi_output_path_find(struct ppi_output_path *found,
                                     const char *path, struct ppi_diag *why);

#endif
