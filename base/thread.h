/* SPDX-License-Identifier: MIT */
/* Threads, as every system has them: ids, names, CPU clocks, and locks that are waited
 * for a while; and the program's file. */
#ifndef PPI_THREAD_H
#define PPI_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * Thread-local memory that a signal handler may use: it must be there without an
 * allocation. In a library that was
 * loaded at start, or has so little of it, such memory lies beside the thread's own
 * (Drepper, ELF Handling for Thread-Local Storage, 4.3); musl refuses to load a
 * library later that asks for it.
 */
#if defined(__GLIBC__) && defined(__GNUC__)
#define PPI_AT_ONCE __attribute__((tls_model("initial-exec")))
#else
#define PPI_AT_ONCE
#endif

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

/* Whether the process has never had another thread than the caller; false where the
 * C library does not say. */
bool ppi_thread_is_only(void);

/* Whether all threads of the process but the caller, which is not its first,
 * have ended, and the exit status of the first; false when that is not known. */
bool ppi_thread_is_last(int *exit_status);

/* The file of the running program; false when the system does not tell. */
bool ppi_program_path(char *path, size_t bytes);

/*
 * The ids of all threads, in no order: at most `room` are stored, *count is
 * how many there are. Threads that begin or end meanwhile may be there or not.
 * -1 and errno on failure: ENOSYS where the system does not tell.
 */
int ppi_thread_list(int64_t *tids, size_t room, size_t *count);

/* The CPU clock of one thread of this process, for timers; tid 0 is the caller.
 * (clockid_t)-1 where there is none. CPU time is read by base/clock_ns.h. */
clockid_t ppi_thread_clock(int64_t tid);

/* A lock for those whom nobody may keep waiting for ever. Within a second: the
 * lock's owner may be stuck, or wait for us. */
static inline bool ppi_lock_soon(pthread_mutex_t *lock)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	return pthread_mutex_timedlock(lock, &until) == 0;
}

/* A condition that is waited for by CLOCK_MONOTONIC: setting the time changes no
 * wait. */
static inline void ppi_condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t by;

	pthread_condattr_init(&by);
	pthread_condattr_setclock(&by, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &by);
	pthread_condattr_destroy(&by);
}

#endif
