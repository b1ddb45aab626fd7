/* SPDX-License-Identifier: MIT */
/* The simulated perf kernel: the machine, its faults, its seam. */
#include "config.h"

#include "tests/sim/perf_sim_state.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sim sim;
struct perf_sim_machine perf_sim_machine;

struct sim_task *sim_task(int64_t tid)
{
	struct sim_task *task = sim.tasks;

	if (tid == 0)
		tid = sim.main_tid;
	/* who is asked for most is the oldest, behind all others */
	if (tid == sim.main_tid && sim.main_task && sim.main_task->is_alive)
		return sim.main_task;
	while (task && (task->tid != tid || !task->is_alive))
		task = task->next;
	return task;
}

static void free_tasks(void)
{
	struct sim_task *next;

	for (struct sim_task *task = sim.tasks; task; task = next) {
		struct sim_mapping *following;

		while (task->events)
			sim_free_event(task->events);
		for (struct sim_mapping *at = task->mappings; at;
		     at = following) {
			following = at->next;
			free(at);
		}
		next = task->next;
		free(task);
	}
}

void perf_sim_reset(void)
{
	struct sim_task *task;
	struct sim_ring *next;

	for (int fd = 0; fd < SIM_FDS; fd++)
		if (sim.fds[fd])
			sim_close_event(NULL, fd + SIM_FIRST_FD, PERF_FRESH);
	free_tasks();
	for (struct sim_ring *ring = sim.rings; ring; ring = next) {
		next = ring->next;
		sim_free_ring(ring);
	}
	memset(&sim, 0, sizeof(sim));
	perf_sim_machine = (struct perf_sim_machine){
		.cpus = 4, .is_privileged = true, .paranoid = 2,
		.rate_limit = 100000, .fd_limit = 1024,
		.lockable_bytes = 8 << 20, .slice_ns = 3000000,
		.precise_max = 3,
	};
	perf_sim_forget_fault();
	sim_clear_tracefs();
	sim.now_ns = UINT64_C(1000000000000);
	sim.random = UINT64_C(88172645463325252);
	/* Among the last pids that a kernel gives, so that nobody real is
	 * meant by accident. */
	sim.next_tid = 4100000;
	sim.main_tid = getpid();
	task = calloc(1, sizeof(*task));
	task->pid = task->tid = sim.main_tid;
	sim.main_task = task;
	task->parent_pid = 1;
	task->is_alive = true;
	strcpy(task->name, "main");
	sim.tasks = task;
	for (unsigned cpu = 0; cpu < PERF_SIM_CPUS_MAX; cpu++) {
		sim.contexts[cpu].cpu = cpu;
		sim.contexts[cpu].is_alive = true;
		strcpy(sim.contexts[cpu].name, "swapper");
	}
}

uint64_t perf_sim_idle_time(unsigned cpu)
{
	return sim.idle_ns[cpu];
}

int64_t perf_sim_main_tid(void)
{
	return sim.main_tid;
}

uint64_t perf_sim_now(void)
{
	return sim.now_ns;
}

uint64_t perf_sim_cpu_time(int64_t pid)
{
	uint64_t sum = 0;

	/* the youngest comes first, and behind a first thread another's number */
	for (struct sim_task *task = sim.tasks; task; task = task->next) {
		if (task->pid == pid)
			sum += task->cpu_ns;
		if (task->tid == pid)
			break;
	}
	return sum;
}

void perf_sim_lose(unsigned count)
{
	sim.to_lose = count;
}

size_t perf_sim_open_fds(void)
{
	return sim.open_fds;
}

size_t perf_sim_mapped(void)
{
	return sim.mapped;
}

size_t perf_sim_peak_fds(void)
{
	return sim.peak_fds;
}

unsigned perf_sim_abuses(void)
{
	return sim.abuses;
}

/* ---- faults ---- */

/* Errors that each call can give for no fault of its caller. */
static const struct {
	const char *name;
	int errors[5];
} calls[SIM_CALLS] = {
	[SIM_OPEN] = { "perf_event_open", { EMFILE, ENFILE, ENOMEM, EACCES,
	                                    EBUSY } },
	[SIM_CONTROL] = { "ioctl", { ENOMEM, EINVAL } },
	[SIM_READ] = { "read", { EIO, ENOMEM } },
	[SIM_MAP] = { "mmap", { EPERM, ENOMEM, EAGAIN } },
	[SIM_CLOCK] = { "clock_gettime", { EINVAL } },
	[SIM_LIST] = { "opendir", { EMFILE, ENFILE, ENOMEM, EACCES } },
	[SIM_FILE] = { "open", { EMFILE, ENFILE, ENOMEM, EACCES } },
	[SIM_LIMIT] = { "getrlimit", { EFAULT } },
	[SIM_APPEND] = { "write", { EMFILE, EACCES, ENOMEM, EINVAL, EROFS } },
};

static struct {
	bool is_armed, has_happened;
	size_t call;
	unsigned nth;
	int error;
} fault;

size_t perf_sim_call_count(void)
{
	return SIM_CALLS;
}

const char *perf_sim_call_name(size_t call)
{
	return calls[call].name;
}

bool perf_sim_fail(size_t call, unsigned nth, unsigned variant)
{
	const size_t most = sizeof(calls[0].errors) / sizeof(int);

	if (variant >= most || calls[call].errors[variant] == 0)
		return false;
	fault.is_armed = true;
	fault.has_happened = false;
	fault.call = call;
	fault.nth = nth;
	fault.error = calls[call].errors[variant];
	return true;
}

int perf_sim_fault_errno(void)
{
	return fault.has_happened ? fault.error : 0;
}

void perf_sim_forget_fault(void)
{
	memset(&fault, 0, sizeof(fault));
}

int sim_fault(enum sim_call call)
{
	if (!fault.is_armed || fault.call != (size_t)call || --fault.nth > 0)
		return 0;
	fault.is_armed = false;
	fault.has_happened = true;
	return -fault.error;
}

/* ---- the seam: one call at a time, whatever thread it comes from ---- */

static pthread_mutex_t lock;

__attribute__((constructor)) static void make_lock(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

#define LOCKED(type, name, parameters, arguments)                         \
	static type locked_##name parameters                              \
	{                                                                 \
		type result;                                              \
                                                                          \
		pthread_mutex_lock(&lock);                                \
		result = sim_##name arguments;                            \
		pthread_mutex_unlock(&lock);                              \
		return result;                                            \
	}

LOCKED(int, open_event, (void *self, struct perf_event_attr *attr,
                         int64_t pid, int cpu, int group_fd,
                         unsigned long flags),
       (self, attr, pid, cpu, group_fd, flags))
LOCKED(int, control, (void *self, int fd, unsigned long request, void *arg),
       (self, fd, request, arg))
LOCKED(ssize_t, read_event, (void *self, int fd, void *buffer, size_t bytes),
       (self, fd, buffer, bytes))
LOCKED(int, close_event, (void *self, int fd, uint64_t id), (self, fd, id))
LOCKED(int, map, (void *self, int fd, size_t bytes, void **address),
       (self, fd, bytes, address))
LOCKED(int, unmap, (void *self, void *address, size_t bytes),
       (self, address, bytes))
LOCKED(int, get_clock, (void *self, int32_t clock, uint64_t *ns),
       (self, clock, ns))
LOCKED(int, list_numbers, (void *self, const char *folder, int64_t *out,
                           size_t room, size_t *count),
       (self, folder, out, room, count))
LOCKED(int, list_names, (void *self, const char *folder, char *out,
                         size_t room, size_t *bytes),
       (self, folder, out, room, bytes))
LOCKED(ssize_t, read_file, (void *self, const char *path, uint64_t offset,
                            void *buffer, size_t bytes),
       (self, path, offset, buffer, bytes))

LOCKED(int, append_file, (void *self, const char *path, const void *bytes,
                          size_t count),
       (self, path, bytes, count))
LOCKED(int, get_inode, (void *self, const char *path, uint64_t *inode),
       (self, path, inode))

static int64_t sim_get_pid(void *self)
{
	(void)self;
	return getpid(); /* so that a forked child knows itself */
}

static int64_t sim_get_tid(void *self)
{
	(void)self;
	return sim.main_tid;
}

static int sim_get_fd_limit(void *self, uint64_t *soft)
{
	int error = sim_fault(SIM_LIMIT);

	(void)self;
	if (error == 0)
		*soft = perf_sim_machine.fd_limit;
	return error;
}

/* As before 6.2, so that the listing is tried; it may be made to fail. */
static int sim_count_fds(void *self, size_t *count)
{
	(void)self;
	*count = 0;
	return 0;
}

/* Not told: threads are listed, and may come and go meanwhile. */
static size_t sim_count_threads(void *self)
{
	(void)self;
	return 0;
}

static size_t sim_get_page_bytes(void *self)
{
	(void)self;
	return SIM_PAGE;
}

/* Nobody maps a program here to see whether a probe can be set. */
static int sim_map_file(void *self, const char *path, uint64_t offset,
                        size_t bytes, void **address)
{
	(void)self;
	(void)path;
	(void)offset;
	(void)bytes;
	(void)address;
	return -ENODEV;
}

static int sim_move_away(void *self, int fd)
{
	(void)self;
	return fd;
}

static uint64_t sim_count_switches(void *self)
{
	(void)self;
	return sim.switches;
}

static uint64_t sim_get_tick_ns(void *self)
{
	(void)self;
	return perf_sim_machine.tick_ns;
}

const struct perf_kernel perf_sim_kernel = {
	.open_event = locked_open_event,
	.control = locked_control,
	.read_event = locked_read_event,
	.close_event = locked_close_event,
	.move_away = sim_move_away,
	.map = locked_map,
	.map_file = sim_map_file,
	.unmap = locked_unmap,
	.get_clock = locked_get_clock,
	.list_numbers = locked_list_numbers,
	.list_names = locked_list_names,
	.read_file = locked_read_file,
	.append_file = locked_append_file,
	.get_inode = locked_get_inode,
	.count_fds = sim_count_fds,
	.count_threads = sim_count_threads,
	.count_switches = sim_count_switches,
	.get_tick_ns = sim_get_tick_ns,
	.open_folder = sim_open_folder,
	.get_pid = sim_get_pid,
	.get_tid = sim_get_tid,
	.get_fd_limit = sim_get_fd_limit,
	.get_page_bytes = sim_get_page_bytes,
	.user_ip_mask = 1u << 8, /* PERF_REG_X86_IP */
	.registers = &ppi_perf_registers_x86_64,
	.features = &sim.features,
	.lacks = &sim.lacks,
	.is_uniform = &sim.is_uniform,
	.interrupt_ns = &sim.interrupt_ns,
};
