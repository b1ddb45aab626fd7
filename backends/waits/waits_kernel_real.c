/* SPDX-License-Identifier: MIT */
/* /proc of Linux, and the memory of its processes. */
#include "config.h"

#include "backends/waits/waits_kernel.h"

#ifdef __linux__

#include "base/clock_ns.h"
#include "base/kernel_symbols.h"
#include "base/processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static uint64_t real_now_ns(void *self)
{
	(void)self;
	return ppi_monotonic_ns();
}

static uint64_t real_boot_ns(void *self)
{
	uint64_t ns = 0;

	(void)self;
	ppi_clock_ns(CLOCK_BOOTTIME, &ns);
	return ns;
}

static uint64_t real_real_ns(void *self)
{
	uint64_t ns = 0;

	(void)self;
	ppi_clock_ns(CLOCK_REALTIME, &ns);
	return ns;
}

static int real_cpu(void *self)
{
	unsigned cpu;

	(void)self;
	return syscall(SYS_getcpu, &cpu, NULL, NULL) == 0 ? (int)cpu : -errno;
}

/* The clock's number is made as clock_getcpuclockid(3) makes it, which asks the
 * kernel first. Anybody may read it. */
static uint64_t real_process_cpu_ns(void *self, int64_t pid)
{
	uint64_t ns = 0;

	(void)self;
	ppi_clock_ns((clockid_t)(~(unsigned)pid << 3 | 2u), &ns);
	return ns;
}

static int real_read_held(void *self, int held, char *text, size_t room)
{
	ssize_t got = pread(held, text, room - 1, 0);

	(void)self;
	if (got < 0)
		return -errno;
	text[got] = '\0';
	return (int)got;
}

static int real_hold(void *self, const char *path)
{
	int fd;

	(void)self;
	if (ppi_process_path_is_gone(path))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void real_release(void *self, int held)
{
	(void)self;
	close(held);
}

/* A list comes in pieces of whole lines, a page less a line or more each
 * (fs/seq_file.c). */
static int real_read(void *self, const char *path, char *text, size_t room)
{
	enum { PIECE = 2048 };
	int fd = real_hold(self, path);
	size_t count = 0;
	ssize_t got;

	if (fd < 0)
		return fd;
	do {
		got = pread(fd, text + count, room - 1 - count, (off_t)count);
		if (got < 0 && count == 0) {
			got = -errno;
			close(fd);
			return (int)got;
		}
		count += got > 0 ? (size_t)got : 0;
	} while (got >= PIECE && count < room - 1);
	text[count] = '\0';
	close(fd);
	return (int)count;
}

static int real_link(void *self, const char *path, char *text, size_t room)
{
	ssize_t length;

	(void)self;
	if (ppi_process_path_is_gone(path))
		return -ENOENT;
	length = readlink(path, text, room - 1);
	if (length < 0)
		return -errno;
	text[length] = '\0';
	return (int)length;
}

static int real_list(void *self, const char *path,
                     bool (*take)(void *context, int64_t number),
                     void *context)
{
	const struct dirent *entry;
	int count = 0;
	DIR *folder;

	(void)self;
	if (ppi_process_path_is_gone(path))
		return -ENOENT;
	folder = opendir(path);
	if (!folder)
		return -errno;
	while ((entry = readdir(folder)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
			count++;
			if (!take(context, strtoll(entry->d_name, NULL, 10)))
				break;
		}
	closedir(folder);
	return count;
}

static int real_folders(void *self, const char *path)
{
	struct stat at;

	(void)self;
	if (ppi_process_path_is_gone(path))
		return -ENOENT;
	return stat(path, &at) == 0 ? (int)at.st_nlink - 2 : -errno;
}

static int64_t real_memory(void *self, int64_t pid, uint64_t address,
                           void *bytes, size_t count)
{
	struct iovec here = { bytes, count };
	struct iovec there = { (void *)(uintptr_t)address, count };
	ssize_t got = process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0);

	(void)self;
	return got < 0 ? -errno : got;
}

static void real_each_code(void *self, int64_t pid,
                           void (*take)(void *context, uint64_t start,
                                        uint64_t limit, uint64_t offset,
                                        const char *path),
                           void *context)
{
	(void)self;
	ppi_process_each_code((uint32_t)pid, take, context);
}

static void real_each_symbol(void *self,
                             void (*take)(void *context, uint64_t address,
                                          char type, const char *name),
                             void *context)
{
	(void)self;
	ppi_kernel_symbols_each("/proc/kallsyms", take, context);
}

/* Calls that not every machine has are named where they are. */
static const struct {
	long number;
	enum waits_call call;
} calls[] = {
	{ SYS_futex, WAITS_CALL_LOCK },
	{ SYS_nanosleep, WAITS_CALL_SLEEP },
	{ SYS_clock_nanosleep, WAITS_CALL_SLEEP },
	{ SYS_read, WAITS_CALL_IO },
	{ SYS_write, WAITS_CALL_IO },
	{ SYS_readv, WAITS_CALL_IO },
	{ SYS_writev, WAITS_CALL_IO },
	{ SYS_pread64, WAITS_CALL_IO },
	{ SYS_pwrite64, WAITS_CALL_IO },
	{ SYS_preadv, WAITS_CALL_IO },
	{ SYS_pwritev, WAITS_CALL_IO },
	{ SYS_sendto, WAITS_CALL_IO },
	{ SYS_recvfrom, WAITS_CALL_IO },
	{ SYS_sendmsg, WAITS_CALL_IO },
	{ SYS_recvmsg, WAITS_CALL_IO },
	{ SYS_sendmmsg, WAITS_CALL_IO },
	{ SYS_recvmmsg, WAITS_CALL_IO },
	{ SYS_connect, WAITS_CALL_IO },
	{ SYS_sendfile, WAITS_CALL_IO },
	{ SYS_splice, WAITS_CALL_IO },
	{ SYS_tee, WAITS_CALL_IO },
	{ SYS_fsync, WAITS_CALL_IO },
	{ SYS_fdatasync, WAITS_CALL_IO },
	{ SYS_sync_file_range, WAITS_CALL_IO },
	{ SYS_syncfs, WAITS_CALL_IO },
	{ SYS_fallocate, WAITS_CALL_IO },
	{ SYS_ftruncate, WAITS_CALL_IO },
	{ SYS_getdents64, WAITS_CALL_IO },
	{ SYS_ioctl, WAITS_CALL_IO },
	{ SYS_close, WAITS_CALL_IO },
	{ SYS_accept4, WAITS_CALL_ACCEPT },
	{ SYS_fchmod, WAITS_CALL_IO },
	{ SYS_fchown, WAITS_CALL_IO },
	{ SYS_fstatfs, WAITS_CALL_IO },
	{ SYS_readahead, WAITS_CALL_IO },
	{ SYS_vmsplice, WAITS_CALL_IO },
	{ SYS_mq_timedsend, WAITS_CALL_IO },
	{ SYS_mq_timedreceive, WAITS_CALL_IO },
	{ SYS_openat, WAITS_CALL_PATH_AT },
	{ SYS_unlinkat, WAITS_CALL_PATH_AT },
	{ SYS_mkdirat, WAITS_CALL_PATH_AT },
	{ SYS_linkat, WAITS_CALL_PATH_AT },
	{ SYS_readlinkat, WAITS_CALL_PATH_AT },
	{ SYS_faccessat, WAITS_CALL_PATH_AT },
	{ SYS_fchmodat, WAITS_CALL_PATH_AT },
	{ SYS_fchownat, WAITS_CALL_PATH_AT },
	{ SYS_utimensat, WAITS_CALL_PATH_AT },
	{ SYS_execveat, WAITS_CALL_PATH_AT },
	{ SYS_execve, WAITS_CALL_PATH },
	{ SYS_chdir, WAITS_CALL_PATH },
	{ SYS_statfs, WAITS_CALL_PATH },
	{ SYS_truncate, WAITS_CALL_PATH },
	{ SYS_getxattr, WAITS_CALL_PATH },
	{ SYS_lgetxattr, WAITS_CALL_PATH },
	{ SYS_umount2, WAITS_CALL_PATH },
	{ SYS_mount, WAITS_CALL_FILE },
	{ SYS_sync, WAITS_CALL_FILE },
	{ SYS_symlinkat, WAITS_CALL_FILE },
	{ SYS_io_getevents, WAITS_CALL_FILE },
	{ SYS_ppoll, WAITS_CALL_POLL },
	{ SYS_pselect6, WAITS_CALL_SELECT },
	{ SYS_epoll_pwait, WAITS_CALL_EVENTS },
	{ SYS_wait4, WAITS_CALL_CHILD },
	{ SYS_waitid, WAITS_CALL_CHILD },
	{ SYS_rt_sigsuspend, WAITS_CALL_SIGNAL },
	{ SYS_rt_sigtimedwait, WAITS_CALL_SIGNAL },
	{ SYS_flock, WAITS_CALL_FILE_LOCK },
	{ SYS_fcntl, WAITS_CALL_FILE_LOCK },
	{ SYS_restart_syscall, WAITS_CALL_AGAIN },
	{ SYS_mmap, WAITS_CALL_MEMORY },
	{ SYS_munmap, WAITS_CALL_MEMORY },
	{ SYS_mprotect, WAITS_CALL_MEMORY },
	{ SYS_mremap, WAITS_CALL_MEMORY },
	{ SYS_madvise, WAITS_CALL_MEMORY },
	{ SYS_msync, WAITS_CALL_FILE },
	{ SYS_brk, WAITS_CALL_MEMORY },
	/* i386 has them in socketcall and ipc, which name no descriptor */
#ifdef SYS_accept
	{ SYS_accept, WAITS_CALL_ACCEPT },
#endif
#ifdef SYS_semop
	{ SYS_semop, WAITS_CALL_SEMAPHORE },
	{ SYS_semtimedop, WAITS_CALL_SEMAPHORE },
#endif
#ifdef SYS_futex_time64 /* machines of 32 bits */
	{ SYS_futex_time64, WAITS_CALL_LOCK },
	{ SYS_clock_nanosleep_time64, WAITS_CALL_SLEEP },
	{ SYS_recvmmsg_time64, WAITS_CALL_IO },
	{ SYS_ppoll_time64, WAITS_CALL_POLL },
	{ SYS_pselect6_time64, WAITS_CALL_SELECT },
	{ SYS_rt_sigtimedwait_time64, WAITS_CALL_SIGNAL },
	{ SYS_semtimedop_time64, WAITS_CALL_SEMAPHORE },
#endif
#ifdef SYS_clone3
	{ SYS_clone3, WAITS_CALL_FORK },
#endif
	{ SYS_clone, WAITS_CALL_FORK },
#ifdef SYS_vfork
	{ SYS_vfork, WAITS_CALL_FORK },
#endif
#ifdef SYS_open
	{ SYS_open, WAITS_CALL_PATH },
	{ SYS_unlink, WAITS_CALL_PATH },
	{ SYS_mkdir, WAITS_CALL_PATH },
	{ SYS_rename, WAITS_CALL_PATH },
	{ SYS_stat, WAITS_CALL_PATH },
	{ SYS_lstat, WAITS_CALL_PATH },
	{ SYS_rmdir, WAITS_CALL_PATH },
	{ SYS_access, WAITS_CALL_PATH },
	{ SYS_link, WAITS_CALL_PATH },
	{ SYS_readlink, WAITS_CALL_PATH },
	{ SYS_chmod, WAITS_CALL_PATH },
	{ SYS_chown, WAITS_CALL_PATH },
	{ SYS_symlink, WAITS_CALL_FILE },
	{ SYS_getdents, WAITS_CALL_IO },
#endif
#ifdef SYS_accept
	{ SYS_accept, WAITS_CALL_ACCEPT },
#endif
#ifdef SYS_semop
	{ SYS_semop, WAITS_CALL_SEMAPHORE },
#endif
#ifdef SYS_semtimedop
	{ SYS_semtimedop, WAITS_CALL_SEMAPHORE },
#endif
#ifdef SYS_fstat
	{ SYS_fstat, WAITS_CALL_IO },
#endif
#ifdef SYS_msgsnd
	{ SYS_msgsnd, WAITS_CALL_QUEUE },
	{ SYS_msgrcv, WAITS_CALL_QUEUE },
#endif
#ifdef SYS_renameat2
	{ SYS_renameat2, WAITS_CALL_PATH_AT },
#endif
#ifdef SYS_newfstatat
	{ SYS_newfstatat, WAITS_CALL_PATH_AT },
#endif
#ifdef SYS_openat2
	{ SYS_openat2, WAITS_CALL_PATH_AT },
#endif
#ifdef SYS_faccessat2
	{ SYS_faccessat2, WAITS_CALL_PATH_AT },
#endif
#ifdef SYS_statx
	{ SYS_statx, WAITS_CALL_PATH_AT },
#endif
#ifdef SYS_poll
	{ SYS_poll, WAITS_CALL_POLL },
#endif
#ifdef SYS_select
	{ SYS_select, WAITS_CALL_SELECT },
#endif
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, WAITS_CALL_EVENTS },
#endif
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, WAITS_CALL_EVENTS },
#endif
#ifdef SYS_io_uring_enter
	{ SYS_io_uring_enter, WAITS_CALL_IO },
#endif
#ifdef SYS_pause
	{ SYS_pause, WAITS_CALL_SIGNAL },
#endif
#ifdef SYS_preadv2
	{ SYS_preadv2, WAITS_CALL_IO },
	{ SYS_pwritev2, WAITS_CALL_IO },
#endif
#ifdef SYS_copy_file_range
	{ SYS_copy_file_range, WAITS_CALL_IO },
#endif
#ifdef SYS_futex_waitv
	{ SYS_futex_waitv, WAITS_CALL_OTHER },
#endif
};

static enum waits_call real_call_of(void *self, int64_t number)
{
	(void)self;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return calls[i].call;
	return number < 0 ? WAITS_CALL_NONE : WAITS_CALL_OTHER;
}

/* What the kernel keeps of a connection of TCP (sock_diag(7), INET_DIAG_INFO; tcp_info
 * of <linux/tcp.h>), which anybody may ask for. */
static int ask_kernel(const void *question, size_t bytes, void *answer,
                      size_t room)
{
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC,
	                NETLINK_SOCK_DIAG);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = send(fd, question, bytes, 0);
	/* it has answered when that returns */
	if (got >= 0)
		got = recv(fd, answer, room, MSG_DONTWAIT);
	if (got < 0)
		got = -errno;
	close(fd);
	return (int)got;
}

enum { SYN_SENT = 2 }; /* include/net/tcp_states.h */

/* It lies on no boundary of its own. */
static int take_info(const void *bytes_of, size_t bytes, struct waits_exchange *out)
{
	struct tcp_info copy, *info = &copy;

	if (bytes < offsetof(struct tcp_info, tcpi_data_segs_out) +
	                    sizeof(info->tcpi_data_segs_out))
		return -ENOSYS; /* before Linux 4.6 */
	memcpy(info, bytes_of, bytes < sizeof(copy) ? bytes : sizeof(copy));
	out->is_connecting = info->tcpi_state == SYN_SENT;
	out->has_sent = info->tcpi_data_segs_out > 0;
	out->has_received = info->tcpi_bytes_received > 0;
	out->sent_ms = info->tcpi_last_data_sent;
	out->received_ms = info->tcpi_last_data_recv;
	out->heard_ms = info->tcpi_last_ack_recv;
	out->is_unacknowledged = info->tcpi_unacked > 0;
	return 0;
}

static int real_exchanged(void *self, const struct waits_connection *of,
                          uint64_t inode, struct waits_exchange *out)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 ask;
	} question = {
		.head = { .nlmsg_len = sizeof(question),
		          .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		          .nlmsg_flags = NLM_F_REQUEST },
		.ask = { .sdiag_family = of->bytes == 4 ? AF_INET : AF_INET6,
		         .sdiag_protocol = IPPROTO_TCP,
		         .idiag_ext = 1 << (INET_DIAG_INFO - 1),
		         .idiag_states = ~0u,
		         .id = { .idiag_sport = htons(of->port),
		                 .idiag_dport = htons(of->peer_port),
		                 .idiag_cookie = { INET_DIAG_NOCOOKIE,
		                                   INET_DIAG_NOCOOKIE } } }
	};
	union {
		struct nlmsghdr head;
		unsigned char bytes[2048];
	} answer;
	const struct inet_diag_msg *socket_of = NLMSG_DATA(&answer.head);
	const struct rtattr *part = (const struct rtattr *)(socket_of + 1);
	int got, left;

	(void)self;
	memcpy(question.ask.id.idiag_src, of->here, of->bytes);
	memcpy(question.ask.id.idiag_dst, of->there, of->bytes);
	got = ask_kernel(&question, sizeof(question), &answer, sizeof(answer));
	if (got < 0)
		return got;
	if (!NLMSG_OK(&answer.head, (unsigned)got) ||
	    answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return -ENOENT;
	left = (int)NLMSG_PAYLOAD(&answer.head, sizeof(*socket_of));
	/* another network namespace may have the same addresses */
	if (left < 0 || socket_of->idiag_inode != (uint32_t)inode)
		return -ENOENT;
	for (; RTA_OK(part, left); part = RTA_NEXT(part, left))
		if (part->rta_type == INET_DIAG_INFO)
			return take_info(RTA_DATA(part), RTA_PAYLOAD(part), out);
	return -ENOENT;
}

/* Sessions have one helper together. Without a lock, which a fork could leave locked. */
static struct {
	_Atomic uint64_t thread; /* this process's, so no forked child's */
	_Atomic unsigned sessions;
	_Atomic bool is_ours;
} hasty;

static bool change_nice(int64_t tid, int from, int to)
{
	errno = 0;
	return getpriority(PRIO_PROCESS, (id_t)tid) == from && errno == 0 &&
	       setpriority(PRIO_PROCESS, (id_t)tid, to) == 0;
}

/* By its nice value, which is a thread's own on Linux (setpriority(2)), from the first
 * session that wants it to the end of the last. One that a user has chosen stays. */
static bool real_hasten(void *self, int64_t tid, bool is_wanted)
{
	enum { HASTY = -10 };
	uint64_t thread = (uint64_t)getpid() << 32 | (uint32_t)tid;

	(void)self;
	if (!is_wanted) {
		if (hasty.thread == thread && --hasty.sessions == 0 &&
		    hasty.is_ours)
			change_nice(tid, HASTY, 0);
		return false;
	}
	if (atomic_exchange(&hasty.thread, thread) != thread)
		hasty.sessions = 0;
	if (hasty.sessions++ == 0)
		hasty.is_ours = change_nice(tid, 0, HASTY);
	return hasty.is_ours;
}

static const struct waits_kernel real = {
	.now_ns = real_now_ns,
	.boot_ns = real_boot_ns,
	.real_ns = real_real_ns,
	.cpu = real_cpu,
	.process_cpu_ns = real_process_cpu_ns,
	.read = real_read,
	.hold = real_hold,
	.read_held = real_read_held,
	.release = real_release,
	.link = real_link,
	.list = real_list,
	.folders = real_folders,
	.memory = real_memory,
	.each_code = real_each_code,
	.each_symbol = real_each_symbol,
	.call_of = real_call_of,
	.exchanged = real_exchanged,
	.hasten = real_hasten,
#ifdef __aarch64__
	.sp = 31,
	.pc = 32,
#else
	.sp = 7,
	.pc = 16,
#endif
	.ticks_per_s = 100, /* USER_HZ of every machine but alpha and ia64 */
	.tick_ns = 10000000,
};

const struct waits_kernel *const ppi_waits_kernel_real = &real;

#else

const struct waits_kernel *const ppi_waits_kernel_real = NULL;

#endif
