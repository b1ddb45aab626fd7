/* SPDX-License-Identifier: MIT */
/*
 * Clocks as the kernel reports them; which call reports CPU time on each system, and
 * what the helper thread recorded of its own. cpu_clock_read.c has the calls.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "base/clock_ns.h"

#include "base/thread.h"

#include <errno.h>
#include <stdatomic.h>

#if defined(__linux__) && defined(__LP64__)
#include <sys/syscall.h>
#endif

/* ---- the kernel's clocks ---- */

#if defined(__linux__) && defined(__LP64__)

int ppi_kernel_clock_ns(clockid_t clock, uint64_t *ns)
{
	struct timespec now;

	if (syscall(SYS_clock_gettime, clock, &now) != 0)
		return -1;
	*ns = ppi_ns_of(&now);
	return 0;
}

#else

int ppi_kernel_clock_ns(clockid_t clock, uint64_t *ns)
{
	return ppi_clock_ns(clock, ns);
}

#endif

/* ---- CPU time: the rules of each system ---- */

#define MS UINT64_C(1000000)

/*
 * thread_group_cputime() sums what threads were charged, which is brought up
 * to date on the tick or when a thread's own clock is read
 * (linux/kernel/sched/cputime.c; a tick is 10 ms at most). While a timer of the
 * process's CPU time runs, the clock is another sum, of what was charged since
 * (kernel/time/posix-cpu-timers.c, cpu_clock_sample_group): it was seen 9 us
 * behind the first one, and may be as much as that is late.
 */
const struct ppi_cpu_rules ppi_cpu_linux = {
	.system = "Linux",
	.process = { PPI_CPU_CLOCK, false, 1, 10 * MS, 10 * MS },
	.thread = { PPI_CPU_CLOCK, true, 1, 0, 0 },
};

/*
 * getrusage: calcru() charges the caller up to now, and the statistics clock
 * every running thread (sys/kern/kern_resource.c calcru, kern_clock.c
 * statclock_cnt: 127 Hz). CLOCK_PROCESS_CPUTIME_ID is not used: it adds the
 * calling thread's time alone (kern_time.c get_process_cputime), so that of
 * two threads one reads less than the other did before.
 */
const struct ppi_cpu_rules ppi_cpu_freebsd = {
	.system = "FreeBSD",
	.process = { PPI_CPU_RUSAGE, false, 1000, 0, 8 * MS },
	.thread = { PPI_CPU_CLOCK, false, 1000, 0, 0 },
};

/*
 * getrusage: calcru() adds what running threads have used so far and leaves
 * out the share of interrupts, which may make it less than before
 * (sys/kern/kern_resource.c). kern.lwp: l_rtime, as of the thread's last
 * switch (sys/kern/init_sysctl.c fill_lwp, kern_synch.c updatertime); so a thread
 * that asks for its own yields first.
 *
 * No clock_gettime: a thread's clock is run ticks plus sleep ticks, which the
 * scheduler sets to 0 once a second (sys/kern/subr_time.c clock_gettime1,
 * kern_runq.c sched_lwp_stats), and the process's counts ticks of the
 * statistics clock as if they were of the system's.
 */
const struct ppi_cpu_rules ppi_cpu_netbsd = {
	.system = "NetBSD",
	.process = { PPI_CPU_RUSAGE, false, 1000, 10 * MS, 0 },
	.thread = { PPI_CPU_LWP, true, 1000, 0, 100 * MS },
};

/*
 * The clock of the process is what its threads were charged at their last
 * switch and the caller's present run (sys/kern/kern_time.c clock_gettime), so
 * it misses up to a time slice (sched_bsd.c, 100 ms) of each other thread that
 * runs, and goes back when another thread reads it.
 */
const struct ppi_cpu_rules ppi_cpu_openbsd = {
	.system = "OpenBSD",
	.process = { PPI_CPU_CLOCK, false, 1, 100 * MS, 100 * MS },
	.thread = { PPI_CPU_CLOCK, false, 1, 0, 0 },
};

/*
 * Both are sums of the statistics clock, which charges a whole tick to the
 * thread it meets (sys/kern/kern_clock.c statclock; kern_resource.c
 * calcru_proc; kern_time.c get_curthread_cputime).
 * CLOCK_PROCESS_CPUTIME_ID was the value of ITIMER_PROF (kern_time.c
 * kern_clock_gettime) and is not used.
 */
const struct ppi_cpu_rules ppi_cpu_dragonfly = {
	.system = "DragonFly",
	.process = { PPI_CPU_RUSAGE, false, 8 * MS, 0, 8 * MS },
	.thread = { PPI_CPU_CLOCK, false, 8 * MS, 0, 8 * MS },
};

/*
 * usage of proc(5): microstates, the present one included (prgetusage,
 * usr/src/uts/common/os/msacct.c and fs/proc/prsubr.c). getrusage and
 * CLOCK_PROCESS_CPUTIME_ID leave that one out (mstate_aggr_state), and a
 * thread that computes changes its state at its next trap only.
 */
const struct ppi_cpu_rules ppi_cpu_solaris = {
	.system = "Solaris",
	.process = { PPI_CPU_USAGE, false, 1, 0, 0 },
	.thread = { PPI_CPU_USAGE, true, 1, 0, 0 },
};

/* As POSIX has it, and the tick that a kernel may charge by. */
const struct ppi_cpu_rules ppi_cpu_other = {
	.system = "this system",
	.process = { PPI_CPU_CLOCK, false, 10 * MS, 0, 10 * MS },
	.thread = { PPI_CPU_CLOCK, false, 10 * MS, 0, 0 },
};

const struct ppi_cpu_rules *ppi_cpu_here(void)
{
#if defined(__linux__)
	return &ppi_cpu_linux;
#elif defined(__FreeBSD__)
	return &ppi_cpu_freebsd;
#elif defined(__NetBSD__)
	return &ppi_cpu_netbsd;
#elif defined(__OpenBSD__)
	return &ppi_cpu_openbsd;
#elif defined(__DragonFly__)
	return &ppi_cpu_dragonfly;
#elif defined(__sun)
	return &ppi_cpu_solaris;
#else
	return &ppi_cpu_other;
#endif
}

int ppi_cpu_process_ns(uint64_t *ns)
{
	return ppi_cpu_read(ppi_cpu_here()->process.source, PPI_CPU_PROCESS,
	                    ns);
}

/* ---- CPU time: the helper's record ---- */

/* In two halves, as not every machine can exchange 64 bits: `turn` is odd
 * while they are written, by the helper alone. */
static struct {
	_Atomic long tid;
	_Atomic unsigned turn;
	_Atomic uint32_t high, low;
} helper;

static void record(uint64_t ns)
{
	atomic_fetch_add(&helper.turn, 1);
	atomic_store(&helper.high, (uint32_t)(ns >> 32));
	atomic_store(&helper.low, (uint32_t)ns);
	atomic_fetch_add(&helper.turn, 1);
}

static uint64_t recorded(void)
{
	uint32_t high, low;
	unsigned turn;

	do {
		turn = atomic_load(&helper.turn);
		high = atomic_load(&helper.high);
		low = atomic_load(&helper.low);
	} while (turn % 2 || turn != atomic_load(&helper.turn));
	return (uint64_t)high << 32 | low;
}

void ppi_cpu_helper_begin(int64_t tid)
{
	record(0);
	atomic_store(&helper.tid, (long)tid);
}

void ppi_cpu_helper_mark(void)
{
	uint64_t ns;

	if (ppi_cpu_read(ppi_cpu_here()->thread.source, PPI_CPU_CALLER, &ns) ==
	    0)
		record(ns);
}

void ppi_cpu_helper_end(void)
{
	atomic_store(&helper.tid, 0);
	atomic_store(&helper.turn, 0);
	record(0);
}

/* ---- CPU time: threads ---- */

int ppi_cpu_thread_by(const struct ppi_cpu_clock *clock, int64_t tid,
                      uint64_t *ns)
{
	bool is_helper = tid == PPI_CPU_HELPER;

	if (is_helper)
		tid = atomic_load(&helper.tid);
	if (is_helper && tid == 0) { /* there is none */
		*ns = 0;
		return 0;
	}
	if (tid == PPI_CPU_CALLER || clock->reads_others)
		return ppi_cpu_read(clock->source, tid, ns);
	if (tid == ppi_thread_id())
		return ppi_cpu_read(clock->source, PPI_CPU_CALLER, ns);
	if (tid == atomic_load(&helper.tid)) {
		*ns = recorded();
		return 0;
	}
	errno = ENOSYS;
	return -1;
}

int ppi_cpu_thread_ns(int64_t tid, uint64_t *ns)
{
	return ppi_cpu_thread_by(&ppi_cpu_here()->thread, tid, ns);
}
