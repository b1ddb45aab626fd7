/* SPDX-License-Identifier: MIT */
/*
 * Clocks in nanoseconds, and how often the kernel's own one moves on; CPU time of the
 * process, of a thread and of our helper thread: which call of each system reports
 * it, and what that call is worth. Everybody who wants a time asks here;
 * doc/platforms/ has the reasons.
 */
#ifndef PPI_CLOCK_NS_H
#define PPI_CLOCK_NS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t ppi_ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static inline struct timespec ppi_time_of(uint64_t ns)
{
	struct timespec time = { .tv_sec = (time_t)(ns / 1000000000u),
		                 .tv_nsec = (long)(ns % 1000000000u) };

	return time;
}

/* -1 and errno on failure. Async-signal-safe. */
static inline int ppi_clock_ns(clockid_t clock, uint64_t *ns)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		return -1;
	*ns = ppi_ns_of(&now);
	return 0;
}

/*
 * The same from the kernel itself: a preloaded library may have a
 * clock_gettime of its own that reports another time, or takes a lock
 * (libfaketime). Async-signal-safe whatever is preloaded. Where a system call
 * has another struct timespec than the C library: the C library's.
 */
int ppi_kernel_clock_ns(clockid_t clock, uint64_t *ns);

/* CLOCK_MONOTONIC, which every system has. Async-signal-safe. */
static inline uint64_t ppi_monotonic_ns(void)
{
	uint64_t ns = 0;

	ppi_clock_ns(CLOCK_MONOTONIC, &ns);
	return ns;
}

/*
 * The kernel's tick: the coarse clock moves on with it, and clock_getres(2)
 * tells its step (linux/kernel/time/posix-timers.c, KTIME_LOW_RES). 0 where
 * there is no such clock.
 */
static inline uint64_t ppi_kernel_tick_ns(void)
{
	struct timespec tick = { 0, 0 };

#ifdef CLOCK_MONOTONIC_COARSE
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
#endif
	return ppi_ns_of(&tick);
}

static inline unsigned ppi_cpu_count(void)
{
#ifdef _SC_NPROCESSORS_ONLN
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count > 0 ? (unsigned)count : 1;
#else
	return 1;
#endif
}

/* ---- CPU time ---- */

enum ppi_cpu_source {
	PPI_CPU_NONE,   /* no call reports it */
	PPI_CPU_CLOCK,  /* clock_gettime(2) of a CPU-time clock */
	PPI_CPU_RUSAGE, /* getrusage(2) */
	PPI_CPU_LWP,    /* sysctl(7) kern.lwp: NetBSD */
	PPI_CPU_USAGE   /* usage and lwpusage of proc(5): Solaris, illumos */
};

/* What the readings of one source are worth on one system. */
struct ppi_cpu_clock {
	enum ppi_cpu_source source;
	/* A thread may read this clock of another thread. */
	bool reads_others;
	/* It advances in steps of this size. */
	uint64_t step_ns;
	/* A reading may be this far behind an earlier one. */
	uint64_t back_ns;
	/* CPU time of a running thread that a reading may not have yet. */
	uint64_t late_ns;
};

struct ppi_cpu_rules {
	const char *system;
	struct ppi_cpu_clock process, thread;
};

extern const struct ppi_cpu_rules ppi_cpu_linux, ppi_cpu_freebsd,
	ppi_cpu_netbsd, ppi_cpu_openbsd, ppi_cpu_dragonfly, ppi_cpu_solaris,
	ppi_cpu_other;

/* Those of the system this was compiled for. */
const struct ppi_cpu_rules *ppi_cpu_here(void);

/* Whose time: one of these, or the id of a thread of this process. */
enum { PPI_CPU_HELPER = -2, PPI_CPU_PROCESS = -1, PPI_CPU_CALLER = 0 };

/*
 * Read CPU time by one source. -1 and errno: ENOSYS where the source does not
 * report that, ESRCH when there is no such thread. Async-signal-safe but for
 * PPI_CPU_LWP.
 */
int ppi_cpu_read(enum ppi_cpu_source source, int64_t whose, uint64_t *ns);

/* The same by the rules of this system. Another thread's where the system
 * lets nobody else read it: ENOSYS, unless it is the helper's. */
int ppi_cpu_process_ns(uint64_t *ns);

int ppi_cpu_thread_ns(int64_t tid, uint64_t *ns);

int ppi_cpu_thread_by(const struct ppi_cpu_clock *clock, int64_t tid,
                      uint64_t *ns);

/*
 * The helper thread records its own CPU time before each wait: what it was is
 * then known to all threads, on systems too that tell a thread's time to that
 * thread alone. begin and mark are called by the helper itself, end by anybody
 * when there is no helper any more.
 */
void ppi_cpu_helper_begin(int64_t tid);

void ppi_cpu_helper_mark(void);

void ppi_cpu_helper_end(void);

#endif
