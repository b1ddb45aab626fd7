/* SPDX-License-Identifier: MIT */
/*
 * What threads are charged: lusage of Solaris and illumos (proc(5)), threads by
 * sysctl(3) on FreeBSD, NetBSD and OpenBSD. No config.h: <procfs.h> of Solaris
 * refuses 32-bit programs with large files.
 */
#include "backends/waits/waits_charges_kernel.h"

#include "base/clock_ns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__sun)
#include <fcntl.h>
#include <procfs.h>
#include <unistd.h>
#elif defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
#include <sys/param.h>
#include <sys/proc.h>
#include <sys/sysctl.h>
#if defined(__FreeBSD__)
#include <sys/user.h>
#endif
#define HAS_SYSCTL 1
#endif

#if defined(__sun) || defined(HAS_SYSCTL)

static uint64_t real_now_ns(void *self)
{
	(void)self;
	return ppi_monotonic_ns();
}

#endif

#if defined(__sun)

static uint64_t ns_of(const timestruc_t *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* All of a file; NULL with errno. It has another size each time. */
static char *read_all(const char *path, size_t *bytes)
{
	for (size_t room = 1 << 14;; room *= 4) {
		char *text = malloc(room);
		int fd = text ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		ssize_t got = fd < 0 ? -1 : read(fd, text, room);

		if (fd >= 0)
			close(fd);
		if (got >= 0 && (size_t)got < room) {
			*bytes = (size_t)got;
			return text;
		}
		free(text);
		if (got < 0)
			return NULL;
	}
}

static struct waits_charge charge_of(const prusage_t *usage)
{
	return (struct waits_charge){
		.tid = usage->pr_lwpid,
		.running_ns = ns_of(&usage->pr_utime) +
		              ns_of(&usage->pr_stime) +
		              ns_of(&usage->pr_ttime),
		.ready_ns = ns_of(&usage->pr_wtime),
		.lock_ns = ns_of(&usage->pr_ltime),
		.fault_ns = ns_of(&usage->pr_tftime) +
		            ns_of(&usage->pr_dftime) +
		            ns_of(&usage->pr_kftime),
		.stopped_ns = ns_of(&usage->pr_stoptime),
		.other_ns = ns_of(&usage->pr_slptime),
	};
}

/* Microstates are charged without being asked for since Solaris 10. The first
 * entry is of all LWPs that are gone, and has no number. */
static int real_list(void *self, int64_t pid,
                     bool (*take)(void *context,
                                  const struct waits_charge *charge),
                     void *context)
{
	char path[64], *all;
	prheader_t head = { 0 };
	size_t bytes, at = sizeof(head);

	(void)self;
	snprintf(path, sizeof(path), "/proc/%lld/lusage", (long long)pid);
	all = read_all(path, &bytes);
	if (!all)
		return errno == ENOENT ? -ESRCH : -errno;
	if (bytes >= sizeof(head))
		memcpy(&head, all, sizeof(head));
	while (at + sizeof(prusage_t) <= bytes && head.pr_entsize > 0) {
		struct waits_charge charge;
		prusage_t usage;

		memcpy(&usage, all + at, sizeof(usage));
		charge = charge_of(&usage);
		if (charge.tid && !take(context, &charge))
			break;
		at += (size_t)head.pr_entsize;
	}
	free(all);
	return 0;
}

#elif defined(HAS_SYSCTL)

#if defined(__FreeBSD__)
typedef struct kinfo_proc thread_info;
#define NAME_OF(pid) \
	{ CTL_KERN, KERN_PROC, KERN_PROC_PID | KERN_PROC_INC_THREAD, (pid) }
#define HAS_COUNT false
#define IS_THREAD(info) true
#define TID(info) (info)->ki_tid
#define RAN_NS(info) ((info)->ki_runtime * UINT64_C(1000))
#define IS_READY(info) ((info)->ki_stat == SRUN)
#define CHANNEL(info) \
	((info)->ki_lockname[0] ? (info)->ki_lockname : (info)->ki_wmesg)
#elif defined(__NetBSD__)
typedef struct kinfo_lwp thread_info;
#define NAME_OF(pid) \
	{ CTL_KERN, KERN_LWP, (pid), (int)sizeof(thread_info), 0 }
#define HAS_COUNT true
#define IS_THREAD(info) true
#define TID(info) (info)->l_lid
#define RAN_NS(info) \
	((info)->l_rtime_sec * UINT64_C(1000000000) + \
	 (info)->l_rtime_usec * UINT64_C(1000))
#define IS_READY(info) ((info)->l_stat == LSRUN || (info)->l_stat == LSONPROC)
#define CHANNEL(info) (info)->l_wmesg
#else
typedef struct kinfo_proc thread_info;
#define NAME_OF(pid) \
	{ CTL_KERN, KERN_PROC, KERN_PROC_PID | KERN_PROC_SHOW_THREADS, (pid), \
	  (int)sizeof(thread_info), 0 }
#define HAS_COUNT true
/* the first is the process itself, with the sums of all */
#define IS_THREAD(info) ((info)->p_tid != -1)
#define TID(info) (info)->p_tid
#define RAN_NS(info) \
	((info)->p_rtime_sec * UINT64_C(1000000000) + \
	 (info)->p_rtime_usec * UINT64_C(1000))
#define IS_READY(info) ((info)->p_stat == SRUN || (info)->p_stat == SONPROC)
#define CHANNEL(info) (info)->p_wmesg
#endif

/* Room for those that begin between the two calls. */
static thread_info *list_threads(int64_t pid, size_t *count)
{
	int name[] = NAME_OF((int)pid);
	size_t parts = sizeof(name) / sizeof(name[0]), bytes = 0;
	thread_info *list;

	if (sysctl(name, (unsigned)parts, NULL, &bytes, NULL, 0) != 0)
		return NULL;
	bytes += 16 * sizeof(*list);
	list = malloc(bytes);
	if (!list)
		return NULL;
	if (HAS_COUNT)
		name[parts - 1] = (int)(bytes / sizeof(*list));
	if (sysctl(name, (unsigned)parts, list, &bytes, NULL, 0) != 0) {
		free(list);
		return NULL;
	}
	*count = bytes / sizeof(*list);
	return list;
}

static int real_list(void *self, int64_t pid,
                     bool (*take)(void *context,
                                  const struct waits_charge *charge),
                     void *context)
{
	size_t count = 0;
	thread_info *list = list_threads(pid, &count);

	(void)self;
	if (!list)
		return errno ? -errno : -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct waits_charge charge = {
			.tid = TID(&list[i]),
			.running_ns = RAN_NS(&list[i]),
			.is_ready = IS_READY(&list[i]),
		};

		if (!IS_THREAD(&list[i]))
			continue;
		if (!charge.is_ready)
			snprintf(charge.channel, sizeof(charge.channel), "%.*s",
			         (int)sizeof(charge.channel) - 1,
			         CHANNEL(&list[i]));
		if (!take(context, &charge))
			break;
	}
	free(list);
	return 0;
}

#endif

#if defined(__sun) || defined(HAS_SYSCTL)

static const struct waits_charges_kernel kernel_here = {
	.now_ns = real_now_ns,
	.list = real_list,
#if defined(__sun)
	.has_states = true,
#endif
};

const struct waits_charges_kernel *const ppi_waits_charges_kernel_real =
	&kernel_here;

#else

const struct waits_charges_kernel *const ppi_waits_charges_kernel_real = NULL;

#endif
