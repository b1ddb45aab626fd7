/* SPDX-License-Identifier: MIT */
/* The real calls of the solaris backend. */
#include "config.h"

#include "backends/solaris/solaris_kernel.h"
#include "base/clock_ns.h"
#include "base/memory.h"
#include "base/library.h"
#include "base/processes.h"

#include <errno.h>
#include <pcsample.h>
#include <unistd.h>

static void real_profil(void *self, uint16_t *bins, size_t bytes,
                        uint64_t offset, unsigned scale)
{
	void (*call)(unsigned short *, size_t, unsigned long, unsigned) =
		profil;

	(void)self;
	if (ppi_system_function)
		ppi_system_function("profil", &call);
	if (call)
		call(bins, bytes, (uintptr_t)offset, scale);
}

static long real_pcsample(void *self, void *samples, long room)
{
	long (*call)(uintptr_t *, long) = pcsample;

	(void)self;
	if (ppi_system_function)
		ppi_system_function("pcsample", &call);
	if (call)
		return call(samples, room);
	errno = ENOSYS;
	return -1;
}

static unsigned real_pc_bytes(void *self)
{
	(void)self;
	return sizeof(uintptr_t);
}

static unsigned real_rate_hz(void *self)
{
	long hz = sysconf(_SC_CLK_TCK);

	(void)self;
	return hz > 0 ? (unsigned)hz : 0;
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

static uint64_t real_own_code(void *self)
{
	(void)self;
	return (uint64_t)(uintptr_t)real_text;
}

const struct solaris_kernel ppi_solaris_kernel_real = {
	.profil = real_profil,
	.pcsample = real_pcsample,
	.pc_bytes = real_pc_bytes,
	.rate_hz = real_rate_hz,
	.now_ns = real_now_ns,
	.cpu = real_cpu,
	.cpu_count = real_cpu_count,
	.process_id = real_process_id,
	.map = real_map,
	.unmap = real_unmap,
	.text = real_text,
	.own_code = real_own_code,
};
