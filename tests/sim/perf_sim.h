/* SPDX-License-Identifier: MIT */
/*
 * A simulated Linux kernel behind the perf seam: a virtual clock, several
 * CPUs, a scripted program, perf events with inheritance, rings that fill up.
 *
 * Where a file says [v6.18 NAME] it means that file of Linux 6.18; [run] was
 * observed on such a kernel; [man] is perf_event_open(2).
 */
#ifndef PERF_SIM_H
#define PERF_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <portprof/label.h>

#include "backends/perf/kernel/perf_kernel.h"

enum { PERF_SIM_CPUS_MAX = 16, PERF_SIM_PACKAGE = 77, /* a type of PMU, */
       PERF_SIM_UPROBE = 78 /* and that of probes */ };

/* The machine and its settings; change it between perf_sim_reset and the
 * first call of the backend. */
struct perf_sim_machine {
	unsigned cpus;
	unsigned counters;      /* of the PMU; 0 = there is none */
	bool is_privileged;     /* CAP_PERFMON, CAP_IPC_LOCK */
	int paranoid;           /* sysctl kernel.perf_event_paranoid */
	int syscall_error;      /* every call answers this: a filter */
	bool has_filter;        /* Seccomp: 2 in /proc/self/status */
	bool lacks_features;    /* none of enum perf_feature */
	uint32_t missing;       /* single bits of enum perf_feature */
	uint64_t rate_limit;    /* sysctl kernel.perf_event_max_sample_rate */
	uint64_t fd_limit;      /* RLIMIT_NOFILE */
	size_t lockable_bytes;  /* for all rings of one who is not privileged */
	unsigned late_every;    /* each nth timer fires ... */
	uint64_t late_ns;       /* ... so much too late */
	uint64_t awake_late_ns; /* a CPU's is always so late while a thread
	                         * runs, as in a virtual machine; an idle CPU is
	                         * woken by it */
	uint64_t interrupt_ns;  /* what each takes from who reads the clock */
	uint64_t tick_ns;       /* of the scheduler; 0: not told */
	uint64_t preempted_ns;  /* so long another thread runs, each 200 us of
	                         * who reads the clock */
	unsigned throttle_every; /* each nth sample is a throttled one */
	bool is_in_guest;       /* each sample falls in a virtual machine that
	                         * the thread runs */
	bool has_no_user_part;  /* threads of the kernel's */
	bool is_32_bit;         /* registers of programs are */
	size_t stack_bytes;     /* of each thread, above its stack pointer; 0 =
	                         * no end is in reach */
	bool migrates;          /* threads change CPU with each slice */
	uint64_t slice_ns;      /* CPU time between two scheduling decisions */
	uint64_t switch_ns;     /* what a switch costs the next thread where
	                         * events stop and start, and none counts it */
	bool is_hybrid;         /* lower half of the CPUs: PMU 10, upper: 11 */
	bool lacks_instructions; /* ... the upper half's PMU */
	unsigned precise_max;   /* of the PMU: more is refused */
	unsigned user_width;    /* bits of counters that programs may read; 0
	                         * = they may not */
	bool user_lies;         /* what they read there is not the count */
	uint32_t silent_idle;   /* by CPU: no samples of the idle task */
	bool lacks_stat;        /* no /proc/stat */
	bool has_old_cgroups;   /* version 1's hierarchy knows perf events */
	bool is_group_astray; /* the folder is of a hierarchy without perf events */
	bool is_container;      /* a PID namespace of its own */
	int64_t foreign_pid;    /* a process of another user, who may not be
	                         * measured; 0: none */
	bool has_neighbour;     /* whose events ask for build-ids */
	bool has_tracefs;       /* who is privileged makes probes in it */
	bool holds_entries; /* of it: a child has events of all of them open */
	/* Files of /sys beside: path, text, and so on, NULL; a text of NULL
	 * is one that may not be read. */
	const char *const *files;
	/* Called when threads are listed, to let some appear meanwhile. */
	void (*on_list)(void);
};
extern struct perf_sim_machine perf_sim_machine;

/* The seam to hand to the backend. */
extern const struct perf_kernel perf_sim_kernel;

/* A fresh machine with one process, this one, of one thread; 4 CPUs. */
void perf_sim_reset(void);

/* ---- the program ---- */

/* Thread or process made by thread `creator`; their ids. */
int64_t perf_sim_thread(int64_t creator);
int64_t perf_sim_fork(int64_t creator);
void perf_sim_exit(int64_t tid);
/* The next thread or process is given this number, which nobody has any more. */
void perf_sim_reuse(int64_t tid);
/* A process goes into a control group, such as "/shop/web", which is made if it
 * is not there; what it creates is born in it. All begin in "/". */
void perf_sim_move(int64_t pid, const char *group);
/* The only thread of its process becomes another program. */
void perf_sim_exec(int64_t tid, const char *name);
void perf_sim_rename(int64_t tid, const char *name);
void perf_sim_map_code(int64_t tid, uint64_t address, uint64_t bytes,
                       const char *path, const unsigned char build_id[20]);

/* "tid runs at pc for ns of CPU time, of it kernel_ns in system calls." */
struct perf_sim_work {
	int64_t tid;
	uint64_t pc, ns, kernel_ns;
	const portprof_label_set *set; /* that tid is in meanwhile */
};
/* All threads at once, as far as there are CPUs; a thread's own works in
 * their order. */
void perf_sim_run(const struct perf_sim_work *works, size_t count);
/* Chains of user code have as many functions; `level` calls above pc is this. */
enum { PERF_SIM_DEPTH = 3 };
uint64_t perf_sim_caller(uint64_t pc, unsigned level);
/* All CPUs. */
void perf_sim_idle(uint64_t ns);
uint64_t perf_sim_idle_time(unsigned cpu);
/* tid has so many page faults in user mode at pc; no time passes. Events that
 * overflow together share one sample, the latest opened first [run]. */
void perf_sim_page_faults(int64_t tid, uint64_t pc, unsigned count);

/* tid comes by a tracepoint, any, which tells `bytes` of an occurrence. */
void perf_sim_hit(int64_t tid, uint64_t pc, const void *raw, size_t bytes);

/* Entries of probes in tracefs: somebody's own, "GROUP/NAME"; how many there are,
 * and their lines. */
int perf_sim_make_entry(const char *name);
size_t perf_sim_entries(char *out, size_t room);

/* The filters that events of tracepoints were given: how many, and the last. One
 * of a field that does not begin with "prev_" is refused. */
unsigned perf_sim_filters(void);
const char *perf_sim_last_filter(void);

/* How far the clocks that we do not ask for are from CLOCK_MONOTONIC. */
#define PERF_SIM_CLOCK_BEHIND_NS UINT64_C(12000000)
#define PERF_SIM_CLOCK_AHEAD_NS UINT64_C(1700000000000000000)

/* The path leads to another file from now on; what maps it, maps the old. */
void perf_sim_replace(const char *path);

/* Where threads leave their CPUs, in the kernel. */
#define PERF_SIM_SCHEDULE UINT64_C(0xffffffff81234560)

/* Each thread's stack pointer; a word of a stack holds its own address. */
#define PERF_SIM_STACK UINT64_C(0x7ffd00001000)

/* The counter's register, by the index in an event's page less one. */
uint64_t perf_sim_pmc(uint32_t counter);

int64_t perf_sim_main_tid(void);
uint64_t perf_sim_now(void);
uint64_t perf_sim_cpu_time(int64_t pid);

/* ---- what goes wrong ---- */

/* The next `count` samples find no room in their rings. */
void perf_sim_lose(unsigned count);

size_t perf_sim_call_count(void);
const char *perf_sim_call_name(size_t call);
/* Let the nth next call of that kind fail; false when it has no such errno. */
bool perf_sim_fail(size_t call, unsigned nth, unsigned variant);
int perf_sim_fault_errno(void); /* 0: it has not happened */
void perf_sim_forget_fault(void);

/* ---- what is held ---- */

size_t perf_sim_open_fds(void);
size_t perf_sim_mapped(void);
/* Times the backend did what would have crashed or disturbed a program. */
unsigned perf_sim_abuses(void);
/* Most descriptors open at any time since reset. */
size_t perf_sim_peak_fds(void);

#endif
