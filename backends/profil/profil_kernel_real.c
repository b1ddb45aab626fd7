/* SPDX-License-Identifier: MIT */
/* The real calls of the profil backend. */
#include "config.h"

#include "backends/profil/profil_sysctl.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#if defined(__OpenBSD__) && OpenBSD >= 202510
/* OpenBSD 7.8 profil(2): buffer, its length, bytes of bins, ..., directory */
#define CALL_PROFIL(bins, bytes, offset, scale) \
	profil(bins, bytes, bytes, offset, scale, -1)
#define THIS_OS PROFIL_OPENBSD78
#elif defined(__OpenBSD__)
#define THIS_OS PROFIL_OPENBSD
#elif defined(__NetBSD__)
#define THIS_OS PROFIL_NETBSD
#elif defined(__DragonFly__)
#define THIS_OS PROFIL_DRAGONFLY
#elif defined(__FreeBSD__)
#define THIS_OS PROFIL_FREEBSD
#elif defined(__GNU__)
#define THIS_OS PROFIL_HURD
#else
#define THIS_OS PROFIL_GLIBC
#endif

#ifdef __GLIBC__
#define CALL_PROFIL profil
#elif !defined(CALL_PROFIL)
#define CALL_PROFIL(bins, bytes, offset, scale) \
	profil((char *)(bins), bytes, offset, scale)
#endif

static int real_profil(void *self, uint16_t *bins, size_t bytes,
                       uint64_t offset, unsigned scale)
{
	(void)self;
	return CALL_PROFIL(bins, bytes, (size_t)offset, scale);
}

static int real_action(void *self, const struct sigaction *next,
                       struct sigaction *before)
{
	(void)self;
	return sigaction(SIGPROF, next, before);
}

static int real_timer(void *self, const struct itimerval *next,
                      struct itimerval *before)
{
	(void)self;
	return next ? setitimer(ITIMER_PROF, next, before) :
	              getitimer(ITIMER_PROF, before);
}

static int read_clock(clockid_t clock, uint64_t *ns)
{
	struct timespec now;
	int status = clock_gettime(clock, &now);

	if (status == 0)
		*ns = (uint64_t)now.tv_sec * 1000000000u +
		      (uint64_t)now.tv_nsec;
	return status;
}

static uint64_t real_now_ns(void *self)
{
	uint64_t ns = 0;

	(void)self;
	read_clock(CLOCK_MONOTONIC, &ns);
	return ns;
}

static int real_process_cpu(void *self, uint64_t *ns)
{
	(void)self;
	return read_clock(CLOCK_PROCESS_CPUTIME_ID, ns);
}

static int real_thread_cpu(void *self, pthread_t thread, uint64_t *ns)
{
	clockid_t clock;

	(void)self;
	return pthread_getcpuclockid(thread, &clock) ? -1 :
	                                               read_clock(clock, ns);
}

static unsigned real_cpu_count(void *self)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	(void)self;
	return count > 0 ? (unsigned)count : 1;
}

static int64_t real_process_id(void *self)
{
	(void)self;
	return getpid();
}

static void *real_map(void *self, size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANON, -1, 0);

	(void)self;
	return pages == MAP_FAILED ? NULL : pages;
}

static void real_unmap(void *self, void *pages, size_t bytes)
{
	(void)self;
	munmap(pages, bytes);
}

/* ---- code that is mapped ---- */

struct text_list {
	struct ppi_text *out;
	size_t room, count;
};

static int add_object(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct text_list *list = context;

	(void)bytes;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD ||
		    !(info->dlpi_phdr[i].p_flags & PF_X))
			continue;
		if (list->count < list->room)
			list->out[list->count] = (struct ppi_text){
				start, start + info->dlpi_phdr[i].p_memsz };
		list->count++;
	}
	return 0;
}

static size_t real_text(void *self, struct ppi_text *out, size_t room)
{
	struct text_list list = { out, room, 0 };

	(void)self;
	dl_iterate_phdr(add_object, &list);
	return list.count;
}

/* ---- a place to be sampled in ---- */

__attribute__((noinline)) static void spin(uint64_t turns)
{
	for (volatile uint64_t left = turns; left > 0; left--)
		;
}

/* A turn takes about a nanosecond, which is near enough. */
static void real_burn(void *self, uint64_t ns)
{
	(void)self;
	spin(ns);
}

static void real_burn_range(void *self, struct ppi_text *out)
{
	(void)self;
	out->start = (uint64_t)(uintptr_t)spin & ~(uint64_t)1;
	out->end = out->start + 256;
}

const struct profil_kernel ppi_profil_kernel_real = {
	.os = THIS_OS,
	.profil = real_profil,
	.rate_hz = ppi_profil_rate_hz,
	.is_profiling = ppi_profil_is_profiling,
	.action = real_action,
	.timer = real_timer,
	.now_ns = real_now_ns,
	.process_cpu = real_process_cpu,
	.thread_cpu = real_thread_cpu,
	.cpu_count = real_cpu_count,
	.process_id = real_process_id,
	.map = real_map,
	.unmap = real_unmap,
	.text = real_text,
	.burn = real_burn,
	.burn_range = real_burn_range,
};
