/* SPDX-License-Identifier: MIT */
/*
 * CPU time of the process, of a thread and of our helper thread: which call
 * of each system reports it, and what that call is worth. Everybody who wants
 * CPU time asks here; doc/platforms/ has the reasons.
 */
#ifndef PPI_CPU_CLOCK_H
#define PPI_CPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

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
