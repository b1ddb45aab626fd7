/* SPDX-License-Identifier: MIT */
/*
 * dlclose(3), wrapped: the next library often comes to the place of one that is
 * unloaded, and would be given its samples. Samplers in signal handlers have
 * nothing but the order of samples to distinguish them.
 *
 * As the wrappers of exec, only in shared objects.
 */
#include "config.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include <portprof/exec.h>

/* libtool compiles with PIC for shared objects; tests ask by the other name. */
#if defined(PIC) || defined(PPI_WRAP_EXEC)

__attribute__((visibility("default"))) int dlclose(void *handle)
{
	/* POSIX lets a pointer to data hold one to a function; C does not. */
	void *found = dlsym(RTLD_NEXT, "dlclose");
	int (*real)(void *);
	int result;

	if (!found)
		return -1;
	memcpy(&real, &found, sizeof(real));
	portprof_unload_begin();
	result = real(handle);
	portprof_unload_end();
	return result;
}

#else

/* An empty translation unit is none. */
extern int ppi_no_unload_wrapper_in_archives;

#endif
