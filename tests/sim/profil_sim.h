/* SPDX-License-Identifier: MIT */
/*
 * Simulated kernels with profil(2) and pcsample(2): one core, one row of
 * rules an operating system. What they do is what the sources named in
 * profil_sim_os.c do, the bad included. Time never passes by itself.
 */
#ifndef PROFIL_SIM_H
#define PROFIL_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PSIM_THREADS = 66, PSIM_BAD_PAGES = 4 };

enum psim_mode { PSIM_USER, PSIM_KERNEL };

/* Which bin a program counter falls in. */
enum psim_index {
	PSIM_INDEX_BSD,    /* (int)(d * s >> 16) & ~1 bytes */
	PSIM_INDEX_SPLIT,  /* illumos: two products, no limit of scale */
	PSIM_INDEX_HALVED  /* glibc: floor(d / 2) first */
};

/* Where a tick waits until it is written. */
enum psim_pending {
	PSIM_THREAD_OVERWRITTEN,  /* FreeBSD: a later tick replaces it */
	PSIM_PROCESS_SUMMED,      /* NetBSD: ticks add up, last address */
	PSIM_THREAD_SUMMED,       /* OpenBSD */
	PSIM_PROCESS_FLAG_A_CPU,  /* DragonFly: one address, never cleared, and
	                           * a flag for each CPU that owes */
	PSIM_OWED,                /* illumos: no address, only a number */
	PSIM_SIGNAL               /* glibc: one pending signal a process */
};

/* What a tick in kernel mode comes to. */
enum psim_kernel_tick {
	PSIM_STAT_LUMP,     /* FreeBSD: stat ticks * profhz/stathz at return */
	PSIM_USER_FRAME,    /* NetBSD, OpenBSD: user pc of the trap frame */
	PSIM_MICROSECONDS,  /* DragonFly: its microseconds, as ticks */
	PSIM_BILLED_LATER   /* illumos, glibc: at the return pc */
};

/* What the clocks of CPU time do that such clocks should not. */
enum psim_clocks {
	PSIM_CLOCKS_RIGHT,
	PSIM_CLOCKS_NETBSD,   /* threads': run and sleep ticks, set back each
	                       * second; the process's: statistics ticks */
	PSIM_CLOCKS_DRAGONFLY /* the process's: the value of ITIMER_PROF */
};

struct psim_os {
	const char *name;
	enum psim_index index;
	enum psim_pending pending;
	enum psim_kernel_tick kernel_tick;
	enum psim_clocks clocks;
	unsigned scale_max;      /* larger is EINVAL; 0 = anything goes */
	bool signed_at_tick;     /* the first range test compares an int */
	bool stat_clock_ticks;   /* stathz drives it, whatever profhz says */
	bool stops_at_32767;     /* else bins wrap */
	bool needs_gmon_note;    /* EPERM in ordinary programs */
	bool arms_at_switch;     /* a CPU's clock ticks for the process from
	                          * the next switch on it */
	bool keeps_owed;         /* a tick that is owed outlives a stop */
	bool null_stops;         /* glibc: buffer NULL, and never scale 0 */
	bool has_pcsample;
	bool child_inherits;     /* fork: on in the child */
	bool fault_kills;        /* the fault is in a signal handler */
};

extern const struct psim_os psim_freebsd, psim_netbsd, psim_openbsd,
	psim_openbsd78, psim_dragonfly, psim_solaris, psim_glibc,
	psim_freebsd10;
extern const struct psim_os *const psim_all_os[8];

/* A tick that has not been written yet. */
struct psim_owed {
	uint64_t pc, ticks;
	bool is_set;
};

struct psim_thread {
	struct psim_owed owed;
	uint64_t stat_ticks;    /* in this stay in the kernel */
	uint64_t owed_number;   /* illumos lwp_oweupc */
	bool cpu_owes;          /* DragonFly: the flag of its CPU */
	bool is_armed;          /* OpenBSD 7.8: its CPU's clock ticks for it */
	/* an update between its copyin and its copyout */
	bool is_updating;
	uintptr_t update_at;
	uint16_t update_value;
};

/* Dispositions of SIGPROF that matter here. */
enum psim_action { PSIM_DEFAULT, PSIM_IGNORED, PSIM_PROFIL, PSIM_APPLICATION };

struct psim {
	const struct psim_os *os;
	unsigned stat_hz, prof_hz; /* what the clocks really do */
	unsigned hz;               /* the system's own clock */
	unsigned pointer_bits;     /* of the process; the kernel has 64 */
	bool has_gmon_note;

	/* struct uprof, struct prof, or glibc's statics */
	bool is_on;
	uintptr_t base;
	size_t size;
	uint64_t offset;
	unsigned scale;
	uint64_t samples;          /* illumos pr_samples */
	uintptr_t gmon_buffer;     /* OpenBSD 7.8: of the first call */
	size_t gmon_bytes;
	struct psim_owed process_owed;
	struct psim_thread threads[PSIM_THREADS];

	/* glibc: ITIMER_PROF counts the process's CPU time, in the kernel's
	 * ticks of stat_hz */
	enum psim_action action, action_before;
	uint64_t timer_every_ns, timer_at_ns, timer_before_ns;
	bool signal_is_pending;
	uint64_t process_cpu_ns;   /* the runner keeps it */

	struct { uintptr_t start, end; } bad[PSIM_BAD_PAGES];
	size_t bad_count;

	/* a forked child: what it has in place of its parent's memory */
	struct psim_child *own;

	bool is_dead;           /* of a signal */
	unsigned lose_ticks;    /* so many meet one that is pending */
	uint64_t lost_ticks;    /* overwritten, or coalesced signals */
	uint64_t written_ticks; /* that reached memory */
	unsigned calls;         /* profil and pcsample, that changed anything */
	unsigned smallest_scale, largest_scale; /* ever asked for; 0 = none */
	bool saw_odd_size, saw_uneven_scale; /* no power of two */

	/* Told of each tick or sample that reached memory, where it belongs:
	 * the truth that a backend's answer is held against. */
	void (*on_write)(void *context, uint64_t pc, uint64_t ticks);
	void *context;
};

void psim_init(struct psim *sim, const struct psim_os *os);
void psim_free(struct psim *sim);

/* The calls: -1 and errno, as the system's libc returns them. `scale` is
 * what arrives in the kernel: FreeBSD's int of -1 is 0xffffffff. */
int psim_profil(struct psim *sim, void *base, size_t size, uint64_t offset,
                unsigned scale);
/* OpenBSD 7.8: the length of the whole buffer, and what is wrong with the
 * descriptor (EBADF, ENOTDIR; 0 = nothing). */
int psim_profil_gmon(struct psim *sim, void *buffer, size_t bytes,
                     size_t samples_bytes, uint64_t offset, unsigned scale,
                     int directory_error);
long psim_pcsample(struct psim *sim, void *base, long count);

/* The profiling clock, the statistics clock, and glibc's kernel tick hit a
 * CPU on which this thread runs; n periods at once. */
void psim_tick(struct psim *sim, unsigned thread, enum psim_mode mode,
               uint64_t pc, unsigned n);
void psim_stat_tick(struct psim *sim, unsigned thread, enum psim_mode mode,
                    uint64_t pc, unsigned n);
/* The thread is about to go on in user mode at pc: what it owes is written.
 * After a trap, as an interrupt is; after a system call. */
void psim_return_to_user(struct psim *sim, unsigned thread, uint64_t pc);
void psim_return_from_call(struct psim *sim, unsigned thread, uint64_t pc);
/* The CPU on which the thread runs has switched to it. */
void psim_switch(struct psim *sim, unsigned thread);

/* One update in two steps: between them another thread may do anything. */
void psim_update_begin(struct psim *sim, unsigned thread, uint64_t pc,
                       unsigned ticks);
void psim_update_finish(struct psim *sim, unsigned thread);

/* setitimer(ITIMER_PROF) and sigaction(SIGPROF). */
void psim_set_timer(struct psim *sim, uint64_t every_ns);
void psim_set_action(struct psim *sim, enum psim_action action);

/* Memory that cannot be written, as mprotect or munmap make it. */
void psim_protect(struct psim *sim, const void *start, size_t bytes);

/* `child` becomes a copy, whose memory is its own, all of it. */
void psim_fork(const struct psim *parent, struct psim *child);
uint16_t psim_child_bin(const struct psim *child, const uint16_t *bin);
/* Bytes of the memory that a kernel sees for this process. */
void psim_load(const struct psim *sim, uintptr_t at, void *to, size_t bytes);
void psim_store(const struct psim *sim, uintptr_t at, const void *from,
                size_t bytes);
void psim_exec(struct psim *sim);

#endif
