/* SPDX-License-Identifier: MIT */
/* The real calls of the profil backend. */
#include "config.h"

#include "backends/common/pcbins.h"
#include "backends/profil/profil_sysctl.h"
#include "base/clock_ns.h"
#include "base/memory.h"
#include "base/library.h"
#include "base/processes.h"

#include <sys/param.h>
#ifndef __GLIBC__
#include <sys/syscall.h>
#endif
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

#if defined(SYS_profil) && !defined(CALL_PROFIL) && \
	!(defined(__OpenBSD__) && OpenBSD >= 202404)
/* No name that a program could have taken, so that a static one with a
 * profil() of ours has the kernel's ticks, too. OpenBSD 7.5 has no syscall(2). */
static bool real_is_reachable(void *self)
{
	(void)self;
	return true;
}

static int real_profil(void *self, uint16_t *bins, size_t bytes,
                       uint64_t offset, unsigned scale)
{
	(void)self;
	return (int)syscall(SYS_profil, bins, bytes, (size_t)offset, scale);
}
#else
#ifndef CALL_PROFIL
#ifdef __GLIBC__
typedef unsigned short samples;
#else
typedef char samples;
#endif
/* glibc stops for a null buffer (gmon/profil.c), which its own declaration
 * forbids: called by a pointer that does not. */
static int (*find_profil(void))(samples *, size_t, size_t, unsigned)
{
	int (*found)(samples *, size_t, size_t, unsigned) = profil;

	if (ppi_system_function)
		ppi_system_function("profil", &found);
	return found;
}
#define CALL_PROFIL(bins, bytes, offset, scale) \
	find_profil()((samples *)(bins), bytes, offset, scale)
#define IS_REACHABLE (find_profil() != NULL)
#else
#define IS_REACHABLE true
#endif

static bool real_is_reachable(void *self)
{
	(void)self;
	return IS_REACHABLE;
}

static int real_profil(void *self, uint16_t *bins, size_t bytes,
                       uint64_t offset, unsigned scale)
{
	(void)self;
	return CALL_PROFIL(bins, bytes, (size_t)offset, scale);
}
#endif

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

static uint64_t real_now_ns(void *self)
{
	uint64_t ns = 0;

	(void)self;
	ppi_clock_ns(CLOCK_MONOTONIC, &ns);
	return ns;
}

static int real_cpu(void *self, enum ppi_cpu_source source, int64_t whose,
                    uint64_t *ns)
{
	(void)self;
	return ppi_cpu_read(source, whose, ns);
}

static unsigned real_cpu_count(void *self)
{
	(void)self;
	return ppi_cpu_count();
}

static int64_t real_process_id(void *self)
{
	(void)self;
	return getpid();
}

static void *real_map(void *self, size_t bytes)
{
	(void)self;
	return ppi_pages_map(bytes);
}

static void real_unmap(void *self, void *pages, size_t bytes)
{
	(void)self;
	ppi_pages_unmap(pages, bytes);
}

static size_t real_text(void *self, struct ppi_text *out, size_t room)
{
	(void)self;
	return ppi_text_list(out, room);
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

static void real_reader_range(void *self, struct ppi_text *out)
{
	(void)self;
	ppi_pcbins_code(out);
}

const struct profil_kernel ppi_profil_kernel_real = {
	.os = THIS_OS,
	.profil = real_profil,
	.is_reachable = real_is_reachable,
	.rate_hz = ppi_profil_rate_hz,
	.is_profiling = ppi_profil_is_profiling,
	.action = real_action,
	.timer = real_timer,
	.now_ns = real_now_ns,
	.cpu = real_cpu,
	.cpu_count = real_cpu_count,
	.process_id = real_process_id,
	.map = real_map,
	.unmap = real_unmap,
	.text = real_text,
	.burn = real_burn,
	.burn_range = real_burn_range,
	.reader_range = real_reader_range,
};
