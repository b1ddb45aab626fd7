/* SPDX-License-Identifier: MIT */
/* The threads of this process, and the CPU clock of each. */
#ifndef PPI_THREAD_LIST_H
#define PPI_THREAD_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * The ids of all threads, in no order: at most `room` are stored, *count is
 * how many there are. Threads that begin or end meanwhile may be there or not.
 * -1 and errno on failure: ENOSYS where the system does not tell.
 */
int ppi_thread_list(int64_t *tids, size_t room, size_t *count);

/* CPU time of one thread of this process; tid 0 is the caller, and then it is
 * async-signal-safe. -1 and errno: ESRCH when there is no such thread, ENOSYS
 * where only a thread itself may ask. */
int ppi_thread_cpu_ns(int64_t tid, uint64_t *ns);

/* That clock itself; (clockid_t)-1 where there is none for others. */
clockid_t ppi_thread_clock(int64_t tid);

#endif
