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
 * NetBSD/src sys/kern/subr_prof.c: pr_addr and pr_ticks++ of the process;
 * sys/kern/kern_clock.c statclock: kernel ticks at LWP_PC, the user pc of the
 * trap frame, on the ports that have it.
 */
const struct psim_os psim_netbsd = {
	.name = "netbsd",
	.index = PSIM_INDEX_BSD,
	.pending = PSIM_PROCESS_SUMMED,
	.kernel_tick = PSIM_USER_FRAME,
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

/* The same after 2025-05-24: sys_profil checks PS_PROFILE, scale, stop, the
 * buffer of the first call, in this order. */
const struct psim_os psim_openbsd78 = {
	.name = "openbsd78",
	.index = PSIM_INDEX_BSD,
	.pending = PSIM_THREAD_SUMMED,
	.kernel_tick = PSIM_USER_FRAME,
	.scale_max = 65536,
	.signed_at_tick = true,
	.needs_gmon_note = true,
	.child_inherits = true,
};

/*
 * DragonFlyBSD sys/kern/subr_prof.c (pr_addr, pr_ticks = ticks, of the
 * process), kern_clock.c statclock (never switched to profhz; user mode only),
 * platform/pc64/x86_64/trap.c userret: addupc_task(td_sticks - sticks), and
 * td_sticks counts microseconds.
 */
const struct psim_os psim_dragonfly = {
	.name = "dragonfly",
	.index = PSIM_INDEX_BSD,
	.pending = PSIM_PROCESS_OVERWRITTEN,
	.kernel_tick = PSIM_MICROSECONDS,
	.scale_max = 65536,
	.stat_clock_ticks = true,
	.child_inherits = true,
};

/* illumos/illumos-gate usr/src/uts/common/syscall/profil.c, os/clock.c
 * (clock_tick: lwp_oweupc; profil_tick: all owed ticks at one pc, SHRT_MAX),
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

const struct psim_os *const psim_all_os[7] = {
	&psim_freebsd, &psim_netbsd, &psim_openbsd, &psim_openbsd78,
	&psim_dragonfly, &psim_solaris, &psim_glibc,
};
