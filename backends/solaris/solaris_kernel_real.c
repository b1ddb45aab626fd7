/* SPDX-License-Identifier: MIT */
/* The real calls of the solaris backend. */
#include "config.h"

#include "backends/solaris/solaris_kernel.h"

#include <link.h>
#include <pcsample.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void real_profil(void *self, uint16_t *bins, size_t bytes,
                        uint64_t offset, unsigned scale)
{
	(void)self;
	profil(bins, bytes, (uintptr_t)offset, scale);
}

static long real_pcsample(void *self, void *samples, long room)
{
	(void)self;
	return pcsample(samples, room);
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

static int real_caller_cpu(void *self, uint64_t *ns)
{
	(void)self;
	return read_clock(CLOCK_THREAD_CPUTIME_ID, ns);
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

const struct solaris_kernel ppi_solaris_kernel_real = {
	.profil = real_profil,
	.pcsample = real_pcsample,
	.pc_bytes = real_pc_bytes,
	.rate_hz = real_rate_hz,
	.now_ns = real_now_ns,
	.process_cpu = real_process_cpu,
	.caller_cpu = real_caller_cpu,
	.cpu_count = real_cpu_count,
	.process_id = real_process_id,
	.map = real_map,
	.unmap = real_unmap,
	.text = real_text,
};
