/* SPDX-License-Identifier: MIT */
/* A command that is measured from its exec on: what its process had before. */
#ifndef PPI_RUSAGE_COMMAND_H
#define PPI_RUSAGE_COMMAND_H

#include "backends/rusage/rusage_kernel.h"

/*
 * What a child has used between fork and exec, which waits in between. wait4
 * will report it with the command's own. All 0 where the system has no /proc of
 * Linux: there the little is counted with the command.
 */
void ppi_rusage_before_exec(const struct rusage_kernel *kernel, int64_t pid,
                            struct rusage_usage *early);

/* Whether the child was waited for, and so is among the children's account. */
bool ppi_rusage_was_waited_for(const struct rusage_kernel *kernel, int64_t pid);

/* `all` without `early`, at least 0 in each part. */
struct rusage_usage ppi_rusage_without(const struct rusage_usage *all,
                                       const struct rusage_usage *early);

#endif
