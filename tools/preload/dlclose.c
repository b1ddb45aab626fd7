/* SPDX-License-Identifier: MIT */
/*
 * dlclose: what was sampled in a library is looked up while it is still known
 * where that lies. The next library often comes to the same place, and would
 * else be given its samples.
 */
#include "config.h"

#include "tools/clock.h"
#include "tools/preload/preload.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* A program that closes libraries without end is not held up by us: between
 * two of its calls there are few samples then. */
enum { PAUSE_NS = 2000000 };

static atomic_uint_fast64_t flushed_ns;

static bool is_due(void)
{
	uint64_t now_ns = ppi_now_ns();

	if (now_ns - atomic_load(&flushed_ns) < PAUSE_NS)
		return false;
	atomic_store(&flushed_ns, now_ns);
	return true;
}

int dlclose(void *handle)
{
	/* POSIX lets a pointer to data hold one to a function; C does not. */
	void *found = dlsym(RTLD_NEXT, "dlclose");
	int (*real)(void *);

	if (!found)
		return -1;
	memcpy(&real, &found, sizeof(real));
	if (ppi_preload_is_active() && is_due())
		ppi_preload_flush();
	return real(handle);
}
