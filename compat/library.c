/* SPDX-License-Identifier: MIT */
/* A library that is loaded when it is first needed. */
#include "config.h"

#include "compat/library.h"

#include <dlfcn.h>
#include <string.h>

bool ppi_library_load(const char *file, const char *const names[],
                      size_t count, void *functions)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	char *to = functions;
	void *found;

	if (!library)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!dlsym(library, names[i]))
			goto close;
	for (size_t i = 0; i < count; i++) {
		/* POSIX lets a pointer to data hold one to a function; C does
		 * not */
		found = dlsym(library, names[i]);
		memcpy(to + i * sizeof(found), &found, sizeof(found));
	}
	return true;

close:
	dlclose(library);
	return false;
}
