/* SPDX-License-Identifier: MIT */
/* What libc calls differently on every system: thread ids and names. */
#ifndef PPI_THREAD_H
#define PPI_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The system's id of the calling thread; the pid where threads have none. */
int64_t ppi_thread_id(void);

/* Name the calling thread (at most 15 characters are kept). */
void ppi_thread_set_name(const char *name);

/* The name of a thread of this or another process; false where it cannot be
 * seen: then `name` is as it was. */
bool ppi_thread_name(int64_t pid, int64_t tid, char *name, size_t bytes);

/* Whether the system counts `tid` among the threads of this process; where it
 * does not say, whether it is the caller. */
bool ppi_thread_is_own(int64_t tid);

/* Whether all threads of the process but the caller, which is not its first,
 * have ended, and the exit status of the first; false when that is not known. */
bool ppi_thread_is_last(int *exit_status);

/* The file of the running program; false when the system does not tell. */
bool ppi_program_path(char *path, size_t bytes);

#endif
