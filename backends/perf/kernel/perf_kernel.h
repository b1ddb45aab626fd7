/* SPDX-License-Identifier: MIT */
/*
 * The seam of the perf backend: every operating system call it makes, typed.
 * Also the bits of <linux/perf_event.h> that are newer than the oldest header
 * we build with.
 */
#ifndef PERF_KERNEL_H
#define PERF_KERNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

/* Registers of a sample: in the order of their bits, by their DWARF numbers. */
struct perf_registers {
	uint64_t mask; /* sample_regs_user */
	uint8_t sp;
	uint8_t numbers[33];
};
extern const struct perf_registers ppi_perf_registers_x86_64,
	ppi_perf_registers_arm64;

#define PERF_FRESH UINT64_MAX

/*
 * Each call returns 0 or a positive result, or a negative errno. `self` is
 * NULL for the real kernel.
 */
struct perf_kernel {
	/* perf_event_open(2) */
	int (*open_event)(void *self, struct perf_event_attr *attr, int64_t pid,
	                  int cpu, int group_fd, unsigned long flags);
	int (*control)(void *self, int fd, unsigned long request, void *arg);
	ssize_t (*read_event)(void *self, int fd, void *buffer, size_t bytes);
	/* Of this number alone (PERF_EVENT_IOC_ID); 0: of any event, or a folder;
	 * PERF_FRESH: opened a moment ago. */
	int (*close_event)(void *self, int fd, uint64_t id);
	/* The descriptor, or one of a large number in its place, where nobody
	 * who closed it opens files of his own next. */
	int (*move_away)(void *self, int fd);
	/* A shared, writable mapping of the event's ring. */
	int (*map)(void *self, int fd, size_t bytes, void **address);
	/* A page of a file, to be read, for unmap. */
	int (*map_file)(void *self, const char *path, uint64_t offset,
	                size_t bytes, void **address);
	int (*unmap)(void *self, void *address, size_t bytes);

	/* Clock ids of processes and threads: perf_clock_of_... */
	int (*get_clock)(void *self, int32_t clock, uint64_t *ns);
	/* Names in `folder` that are numbers: /proc/PID/task, /proc/self/fd.
	 * *count is how many there are, also when more than room. */
	int (*list_numbers)(void *self, const char *folder, int64_t *out,
	                    size_t room, size_t *count);
	/* Names in `folder` but those with a dot in front, each ended by a
	 * zero; *bytes is what all of them need, also when more than room. */
	int (*list_names)(void *self, const char *folder, char *out,
	                  size_t room, size_t *bytes);
	ssize_t (*read_file)(void *self, const char *path, uint64_t offset,
	                     void *buffer, size_t bytes);
	/* To the end of a file that is there; all of it, at once. */
	int (*append_file)(void *self, const char *path, const void *bytes,
	                   size_t count);
	/* The inode number of a file. */
	int (*get_inode)(void *self, const char *path, uint64_t *inode);
	/* How many descriptors this process has open: the size of
	 * /proc/self/fd since Linux 6.2 (fs/proc/fd.c, proc_fd_getattr), 0
	 * before. */
	int (*count_fds)(void *self, size_t *count);
	/* How many threads this process has, from the links of its folder task
	 * (fs/proc/base.c, proc_task_getattr); 0 = not told. */
	size_t (*count_threads)(void *self);
	/* How often the calling thread left a CPU so far, or had to: getrusage(2),
	 * RUSAGE_THREAD. */
	uint64_t (*count_switches)(void *self);
	/* The scheduler's tick: base/clock_ns.h; 0 = not told. */
	uint64_t (*get_tick_ns)(void *self);
	/* A descriptor of a folder, for close_event. */
	int (*open_folder)(void *self, const char *path);
	int64_t (*get_pid)(void *self);
	int64_t (*get_tid)(void *self);
	int (*get_fd_limit)(void *self, uint64_t *soft);
	size_t (*get_page_bytes)(void *self);

	uint64_t user_ip_mask; /* sample_regs_user with the pc alone; 0 = no */
	/* Those that unwinding needs; NULL = of this machine nobody knows. */
	const struct perf_registers *registers;
	/* What the kernel was found to know (perf_attr.c); 0 = not asked. */
	_Atomic uint32_t *features;
	/* Capabilities that are missing, as of the last probe (perf.c). */
	_Atomic uint32_t *lacks;
	/* Not 0: all CPUs are of one type (perf_cpus.c). */
	_Atomic uint32_t *is_uniform;
	/* Time of a sampling interrupt (perf_rate.c); 0 = not measured. */
	_Atomic uint32_t *interrupt_ns;
	void *self;
};

/* The vtable hands the seam over untyped; this is the one cast. */
static inline const struct perf_kernel *perf_kernel_of(const void *kernel)
{
	return kernel;
}

/*
 * attr flag bits by their number in the 64-bit word after read_format:
 * linux/perf_event.h of 5.13. Bit 34, build_id, is not among them: see
 * perf_proc.h.
 */
enum perf_flag_bit {
	PERF_FLAG_INHERIT_THREAD = 35,
	PERF_FLAG_REMOVE_ON_EXEC = 36
};

enum {
	PERF_READ_LOST = 1u << 4,            /* PERF_FORMAT_LOST, 6.0 */
	PERF_ATTR_BYTES = 112                /* up to sample_max_stack, 4.8 */
};

/* Bits of sample_type that older headers lack. */
#define PERF_TELLS_PHYSICAL (UINT64_C(1) << 19)  /* PERF_SAMPLE_PHYS_ADDR, 4.14 */
#define PERF_TELLS_CGROUP (UINT64_C(1) << 21)    /* PERF_SAMPLE_CGROUP, 5.7 */
#define PERF_TELLS_DATA_PAGE (UINT64_C(1) << 22) /* _DATA_PAGE_SIZE, 5.11 */
#define PERF_TELLS_CODE_PAGE (UINT64_C(1) << 23) /* _CODE_PAGE_SIZE, 5.11 */
#define PERF_TELLS_WEIGHTS (UINT64_C(1) << 24)   /* _WEIGHT_STRUCT, 5.12 */

/* perf_event.h numbers the context markers of call chains down from here. */
#define PERF_CHAIN_MARKER UINT64_C(0xfffffffffffff001)

/* include/linux/posix-timers.h: how the kernel makes a clock id of a pid. */
static inline int32_t perf_clock_of_process(int64_t pid)
{
	return (int32_t)(~(uint32_t)pid << 3 | 2u);
}

static inline int32_t perf_clock_of_thread(int64_t tid)
{
	return (int32_t)(~(uint32_t)tid << 3 | 6u);
}

/* Whether this machine's registers, and with them stacks, are known. */
static inline bool perf_can_unwind(const struct perf_kernel *kernel)
{
	return kernel->registers && kernel->user_ip_mask;
}

extern const struct perf_kernel ppi_perf_kernel_real;

#endif
