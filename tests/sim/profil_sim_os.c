/* SPDX-License-Identifier: MIT */
/* What each simulated system does, and the source it was read in. */
#include "tests/sim/profil_sim.h"

/*
 * freebsd/freebsd-src sys/kern/subr_prof.c: PC_TO_INDEX, addupc_intr (td's own
 * slot, overwritten), addupc_task (copyin, copyout, stop on a fault);
 * sys/kern/subr_trap.c userret: pticks * psratio at the return pc;
 * sys/kern/kern_clock.c profclock: user mode only.
 */
const struct psim_os psim_freebsd = {
	.name = "freebsd",
	.index = PSIM_INDEX_BSD,
	.pending = PSIM_THREAD_OVERWRITTEN,
	.kernel_tick = PSIM_STAT_LUMP,
	.scale_max = 65536,
	.signed_at_tick = true,
	.child_inherits = true,
};

/*
 * FreeBSD 10.4: sys/kern/subr_trap.c ast() looks at what is owed only while
 * P_PROFIL is on, so that it stays; sys/kern/subr_prof.c addupc_intr compares
 * without sign.
 */
const struct psim_os psim_freebsd10 = {
	.name = "freebsd10",
	.index = PSIM_INDEX_BSD,
	.pending = PSIM_THREAD_OVERWRITTEN,
	.kernel_tick = PSIM_STAT_LUMP,
	.scale_max = 65536,
	.keeps_owed = true,
	.child_inherits = true,
};

/*
 * NetBSD/src sys/kern/subr_prof.c: pr_addr and pr_ticks++ of the process;
 * sys/kern/kern_clock.c statclock: kernel ticks at LWP_PC, the user pc of the
 * trap frame, on the ports that have it. sys/kern/subr_time.c clock_gettime1:
 * l_rticksum + l_slpticksum, p_uticks + p_sticks; kern_runq.c sched_lwp_stats
 * sets the sums to 0, called by sched_pstats once a second.
 */
const struct psim_os psim_netbsd = {
	.name = "netbsd",
	.index = PSIM_INDEX_BSD,
	.pending = PSIM_PROCESS_SUMMED,
	.kernel_tick = PSIM_USER_FRAME,
	.clocks = PSIM_CLOCKS_NETBSD,
	.scale_max = 65536,
	.child_inherits = true,
};

/* openbsd/src sys/kern/subr_prof.c, tree of 2024: p_prof_ticks += nticks,
 * profclock: PROC_PC in kernel mode; ps_prof is copied at fork. */
const struct psim_os psim_openbsd = {
	.name = "openbsd",
	.index = PSIM_INDEX_BSD,
	.pending = PSIM_THREAD_SUMMED,
	.kernel_tick = PSIM_USER_FRAME,
	.scale_max = 65536,
	.signed_at_tick = true,
	.child_inherits = true,
};

/*
 * The same after 2025-05-24: sys_profil checks PS_PROFILE, scale, stop, buffer
 * and length of the first call, and in that one the directory, in this order;
 * need_resched() of the calling CPU alone; prof_exec() forgets the buffer.
 */
const struct psim_os psim_openbsd78 = {
	.name = "openbsd78",
	.index = PSIM_INDEX_BSD,
	.pending = PSIM_THREAD_SUMMED,
	.kernel_tick = PSIM_USER_FRAME,
	.scale_max = 65536,
	.signed_at_tick = true,
	.needs_gmon_note = true,
	.arms_at_switch = true,
	.child_inherits = true,
};

/*
 * DragonFlyBSD sys/kern/subr_prof.c (pr_addr, pr_ticks = ticks, of the
 * process, which nothing clears; need_proftick sets RQF_AST_OWEUPC in the
 * CPU's gd_reqflags), kern_clock.c statclock (never switched to profhz; user mode only),
 * platform/pc64/x86_64/trap.c userret: addupc_task(td_sticks - sticks), and
 * td_sticks counts microseconds; kern_time.c kern_clock_gettime.
 */
const struct psim_os psim_dragonfly = {
	.name = "dragonfly",
	.index = PSIM_INDEX_BSD,
	.pending = PSIM_PROCESS_FLAG_A_CPU,
	.kernel_tick = PSIM_MICROSECONDS,
	.clocks = PSIM_CLOCKS_DRAGONFLY,
	.scale_max = 65536,
	.stat_clock_ticks = true,
	.child_inherits = true,
};

/* illumos/illumos-gate usr/src/uts/common/syscall/profil.c, os/clock.c
 * (clock_tick: lwp_oweupc; profil_tick: all owed ticks at one pc, SHRT_MAX),
 * intel/ia32/os/syscall.c post_syscall (what is owed is looked at only while
 * pr_scale is not 0; after a trap always),
 * os/fork.c getproc: p_prof is copied; os/exec.c clears it. */
const struct psim_os psim_solaris = {
	.name = "solaris",
	.index = PSIM_INDEX_SPLIT,
	.pending = PSIM_OWED,
	.kernel_tick = PSIM_BILLED_LATER,
	.stops_at_32767 = true,
	.has_pcsample = true,
	.child_inherits = true,
};

/* bminor/glibc sysdeps/posix/profil.c; Linux kernel/time/posix-cpu-timers.c
 * check_cpu_itimer: looked at on the kernel's tick, one interval a look;
 * setitimer(2): not inherited by a fork child, kept by exec. */
const struct psim_os psim_glibc = {
	.name = "glibc",
	.index = PSIM_INDEX_HALVED,
	.pending = PSIM_SIGNAL,
	.kernel_tick = PSIM_BILLED_LATER,
	.stat_clock_ticks = true,
	.null_stops = true,
	.fault_kills = true,
};

const struct psim_os *const psim_all_os[8] = {
	&psim_freebsd, &psim_netbsd, &psim_openbsd, &psim_openbsd78,
	&psim_dragonfly, &psim_solaris, &psim_glibc, &psim_freebsd10,
};
