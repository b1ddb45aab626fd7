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

/* The CPU clock of one thread of this process, for timers; tid 0 is the caller.
 * (clockid_t)-1 where there is none. CPU time is read by base/cpu_clock.h. */
clockid_t ppi_thread_clock(int64_t tid);

#endif
