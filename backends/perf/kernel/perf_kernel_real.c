/* SPDX-License-Identifier: MIT */
/* The real calls behind the perf seam, nothing else. */
#include "config.h"

#include "backends/perf/kernel/perf_kernel.h"
#include "base/clock_ns.h"
#include "base/foreign_file.h"
#include "base/processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
enum { USER_IP_REGISTER = 8 };  /* PERF_REG_X86_IP, asm/perf_regs.h */
#elif defined(__aarch64__)
enum { USER_IP_REGISTER = 32 }; /* PERF_REG_ARM64_PC */
#elif defined(__arm__)
enum { USER_IP_REGISTER = 15 }; /* PERF_REG_ARM_PC */
#else
enum { USER_IP_REGISTER = -1 };
#endif

/* asm/perf_regs.h: AX BX CX DX SI DI BP SP IP, then R8 to R15 from bit 16 on;
 * numbers by the System V ABI for x86-64, figure 3.36. */
const struct perf_registers ppi_perf_registers_x86_64 = {
	.mask = 0xff01ff,
	.sp = 7,
	.numbers = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14,
	             15 },
};

/* X0 to X29, LR, SP, PC: the numbers of DWARF for the Arm 64-bit Architecture;
 * that of the pc is the unwinder's. */
const struct perf_registers ppi_perf_registers_arm64 = {
	.mask = 0x1ffffffff,
	.sp = 31,
	.numbers = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	             17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	             32 },
};

#if defined(__x86_64__) && defined(__LP64__)
#define USER_REGISTERS &ppi_perf_registers_x86_64
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__)
#define USER_REGISTERS &ppi_perf_registers_arm64
#else
#define USER_REGISTERS NULL
#endif

static int real_open_event(void *self, struct perf_event_attr *attr,
                           int64_t pid, int cpu, int group_fd,
                           unsigned long flags)
{
	long fd;

	(void)self;
	/* a signal while somebody executes a program or looks at its rights:
	 * kernel/events/core.c, exec_update_lock */
	do {
		fd = syscall(SYS_perf_event_open, attr, (pid_t)pid, cpu,
		             group_fd, flags);
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

/* Of files without a name, as events are, the mode has no type: fs/anon_inodes.c. */
static bool may_be_event(int fd)
{
	struct stat at;

	return fstat(fd, &at) == 0 && !(at.st_mode & S_IFMT);
}

/* A filter may forbid to ask whose descriptor this is (seccomp(2)); then at least it
 * is none of a file, a pipe or a socket. */
static int real_control(void *self, int fd, unsigned long request, void *arg)
{
	int error;

	(void)self;
	if (ioctl(fd, request, arg) >= 0)
		return 0;
	error = errno;
	if (request == PERF_EVENT_IOC_ID && error != EBADF && !may_be_event(fd))
		error = ENOTTY;
	return -error;
}

static ssize_t real_read_event(void *self, int fd, void *buffer, size_t bytes)
{
	enum { TRIES = 100000 }; /* of which one takes half a microsecond */
	long got;

	(void)self;
	/* Not read(): that is a point of cancellation, which costs two atomic
	 * changes and would end a thread in the middle of a reading. While a
	 * thread begins or ends, its copy of a group is not complete:
	 * kernel/events/core.c, __perf_read_group_add. */
	for (int i = 0; i < TRIES; i++) {
		got = syscall(SYS_read, fd, buffer, bytes);
		if (got >= 0 || errno != ECHILD)
			break;
	}
	return got < 0 ? -errno : got;
}

/* The program may have closed it, and have its own file there: only an event has
 * an id, and the folder of a cgroup is a folder. */
static bool is_there(int fd, uint64_t id)
{
	struct stat at;
	uint64_t own;
	int error;

	if (id == PERF_FRESH)
		return true;
	error = real_control(NULL, fd, PERF_EVENT_IOC_ID, &own);
	if (error == 0)
		return id == 0 || id == own;
	if (error != -ENOTTY)
		return error != -EBADF;
	return id == 0 && fstat(fd, &at) == 0 && S_ISDIR(at.st_mode);
}

static int real_close_event(void *self, int fd, uint64_t id)
{
	(void)self;
	if (!is_there(fd, id))
		return -EBADF;
	return close(fd) < 0 ? -errno : 0;
}

/* Far from the smallest number that is free, which a program gets next, and below
 * what select(2) can name, so that the table of descriptors stays small. */
static int real_move_away(void *self, int fd)
{
	enum { FAR = 768 };
	struct rlimit limit;
	int away = fcntl(fd, F_DUPFD_CLOEXEC, FAR);

	(void)self;
	if (away < 0 && errno == EINVAL &&
	    getrlimit(RLIMIT_NOFILE, &limit) == 0)
		away = fcntl(fd, F_DUPFD_CLOEXEC,
		             (int)(limit.rlim_cur / 4 * 3));
	if (away < 0)
		return fd;
	close(fd);
	return away;
}

static int real_map(void *self, int fd, size_t bytes, void **address)
{
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
	                    fd, 0);

	(void)self;
	if (mapped == MAP_FAILED)
		return -errno;
	*address = mapped;
	return 0;
}

static int real_map_file(void *self, const char *path, uint64_t offset,
                         size_t bytes, void **address)
{
	int fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, NULL);
	void *mapped;

	(void)self;
	if (fd < 0)
		return -errno;
	mapped = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, (off_t)offset);
	close(fd);
	if (mapped == MAP_FAILED)
		return -errno;
	*address = mapped;
	return 0;
}

static int real_unmap(void *self, void *address, size_t bytes)
{
	(void)self;
	return munmap(address, bytes) < 0 ? -errno : 0;
}

static int real_get_clock(void *self, int32_t clock, uint64_t *ns)
{
	(void)self;
	return ppi_clock_ns((clockid_t)clock, ns) < 0 ? -errno : 0;
}

static int real_list_numbers(void *self, const char *folder, int64_t *out,
                             size_t room, size_t *count)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	size_t found = 0;

	(void)self;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		if (found < room)
			out[found] = strtoll(entry->d_name, NULL, 10);
		found++;
	}
	closedir(dir);
	*count = found;
	return 0;
}

static int real_list_names(void *self, const char *folder, char *out,
                           size_t room, size_t *bytes)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	size_t used = 0;

	(void)self;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)) != NULL) {
		size_t length = strlen(entry->d_name) + 1;

		if (entry->d_name[0] == '.')
			continue;
		if (used + length <= room)
			memcpy(out + used, entry->d_name, length);
		used += length;
	}
	closedir(dir);
	*bytes = used;
	return 0;
}

static ssize_t real_read_file(void *self, const char *path, uint64_t offset,
                              void *buffer, size_t bytes)
{
	ssize_t got;
	int fd;

	(void)self;
	if (ppi_process_path_is_gone(path))
		return -ENOENT;
	fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, NULL);
	if (fd < 0)
		return -errno;
	got = pread(fd, buffer, bytes, (off_t)offset);
	if (got < 0)
		got = -errno;
	close(fd);
	return got;
}

static int real_append_file(void *self, const char *path, const void *bytes,
                            size_t count)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	int error = 0;

	(void)self;
	if (fd < 0)
		return -errno;
	errno = EIO;
	if (write(fd, bytes, count) != (ssize_t)count)
		error = -errno;
	close(fd);
	return error;
}

static int real_count_fds(void *self, size_t *count)
{
	struct stat folder;

	(void)self;
	if (stat("/proc/self/fd", &folder) < 0)
		return -errno;
	*count = (size_t)folder.st_size;
	return 0;
}

static size_t real_count_threads(void *self)
{
	struct stat folder;

	(void)self;
	if (stat("/proc/self/task", &folder) < 0 || folder.st_nlink < 2)
		return 0;
	return (size_t)folder.st_nlink - 2;
}

static uint64_t real_count_switches(void *self)
{
	struct rusage usage = { .ru_nvcsw = 0 };

	(void)self;
	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

static uint64_t real_get_tick_ns(void *self)
{
	(void)self;
	return ppi_kernel_tick_ns();
}

static int real_get_inode(void *self, const char *path, uint64_t *inode)
{
	struct stat file;

	(void)self;
	if (stat(path, &file) < 0)
		return -errno;
	*inode = file.st_ino;
	return 0;
}

static int real_open_folder(void *self, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)self;
	return fd < 0 ? -errno : fd;
}

static int64_t real_get_pid(void *self)
{
	(void)self;
	return getpid();
}

static int64_t real_get_tid(void *self)
{
	(void)self;
	return syscall(SYS_gettid);
}

static int real_get_fd_limit(void *self, uint64_t *soft)
{
	struct rlimit limit;

	(void)self;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	*soft = limit.rlim_cur;
	return 0;
}

static size_t real_get_page_bytes(void *self)
{
	(void)self;
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Asked once a process. */
static _Atomic uint32_t known_features, known_lacks, known_uniform,
	known_interrupt_ns;

const struct perf_kernel ppi_perf_kernel_real = {
	.open_event = real_open_event,
	.control = real_control,
	.read_event = real_read_event,
	.close_event = real_close_event,
	.move_away = real_move_away,
	.map = real_map,
	.map_file = real_map_file,
	.unmap = real_unmap,
	.get_clock = real_get_clock,
	.list_numbers = real_list_numbers,
	.list_names = real_list_names,
	.read_file = real_read_file,
	.append_file = real_append_file,
	.get_inode = real_get_inode,
	.count_fds = real_count_fds,
	.count_threads = real_count_threads,
	.count_switches = real_count_switches,
	.get_tick_ns = real_get_tick_ns,
	.open_folder = real_open_folder,
	.get_pid = real_get_pid,
	.get_tid = real_get_tid,
	.get_fd_limit = real_get_fd_limit,
	.get_page_bytes = real_get_page_bytes,
	.user_ip_mask = USER_IP_REGISTER < 0
		? 0 : UINT64_C(1) << (USER_IP_REGISTER & 63),
	.registers = USER_REGISTERS,
	.features = &known_features,
	.lacks = &known_lacks,
	.is_uniform = &known_uniform,
	.interrupt_ns = &known_interrupt_ns,
	.self = NULL,
};
