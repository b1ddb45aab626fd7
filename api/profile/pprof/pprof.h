/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing profiles by descriptor. The files of this folder:
 *
 *   read.c             a file, whole, torn or growing, as its gzip members
 *   raw.c              its messages, before they are validated
 *   resolve.c          from those to a profile: all but the samples
 *   resolve_samples.c  the samples
 *   write.c            a profile to a file
 *   portion.c          while measuring: what came since the last portion
 *   output.c           the file that portions are appended to
 *   encode.c           messages into a gzip member, text as UTF-8
 *   account.c          what a file has beside samples, as message and words
 *   profile.proto      the schema
 */
#ifndef PPI_FILE_PPROF_H
#define PPI_FILE_PPROF_H

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
