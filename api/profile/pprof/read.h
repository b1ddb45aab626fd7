/* SPDX-License-Identifier: MIT */
/* Reading and writing profiles by descriptor. */
#ifndef PPI_FILE_READ_H
#define PPI_FILE_READ_H

#include <portprof/profile.h>

#include "backends/backend.h"

/* Read all of `fd`; `name` stands for it in messages. `memory_max` is as in
 * portprof_profile_read. */
portprof_status ppi_profile_read_fd(int fd, const char *name,
                                    uint64_t memory_max,
                                    portprof_profile **profile,
                                    struct ppi_diag *why);

/* Write as one gzip member: 0 or an errno. */
int ppi_profile_write_fd(const portprof_profile *profile, int fd);

#endif
