/* SPDX-License-Identifier: MIT */
/* Clocks as the kernel reports them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "base/clock_ns.h"

#if defined(__linux__) && defined(__LP64__)

#include <sys/syscall.h>

int ppi_kernel_clock_ns(clockid_t clock, uint64_t *ns)
{
	struct timespec now;

	if (syscall(SYS_clock_gettime, clock, &now) != 0)
		return -1;
	*ns = ppi_ns_of(&now);
	return 0;
}

#else

int ppi_kernel_clock_ns(clockid_t clock, uint64_t *ns)
{
	return ppi_clock_ns(clock, ns);
}

#endif
