/* SPDX-License-Identifier: MIT */
/* Limits of memory, and allocating less where they are low. */
#include "config.h"

#include "base/memory_limit.h"

#include <stdlib.h>
#include <sys/resource.h>

#ifdef HAVE_MALLOC_H
#include <malloc.h>
#endif

/* Of systems that do not limit address space. */
#ifndef RLIMIT_AS
#define RLIMIT_AS RLIMIT_DATA
#endif

enum { LITTLE = 1 << 30 };

static bool is_below(int resource, rlim_t bytes)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 && limit.rlim_cur < bytes;
}

bool ppi_memory_is_limited(void)
{
	return is_below(RLIMIT_AS, RLIM_INFINITY) ||
	       is_below(RLIMIT_DATA, RLIM_INFINITY);
}

void ppi_memory_spare(void)
{
#ifdef M_ARENA_MAX
	if (is_below(RLIMIT_AS, LITTLE))
		mallopt(M_ARENA_MAX, 1);
#endif
}
