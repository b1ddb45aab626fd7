/* SPDX-License-Identifier: MIT */
/* Whether the path of a mapping is a file that other processes map as well. */
#include "api/profile/path.h"

#include <stddef.h>
#include <string.h>

/* Memory without a file, and names that the kernel gives to such memory
 * (proc(5), memfd_create(2)), are another thing in each process. */
bool ppi_is_shared_file(const char *path)
{
	static const char *const own[] = { "//", "/memfd:", "/dev/", "/SYSV",
		                           "/anon_hugepage" };

	if (strcmp(path, "[vdso]") == 0)
		return true;
	if (path[0] == '[' || path[0] == '\0')
		return false;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strncmp(path, own[i], strlen(own[i])) == 0)
			return false;
	return true;
}

/* Its writer maps a page of it for no other purpose than to be seen
 * (tools/perf/Documentation/jitdump-specification.txt of Linux). */
bool ppi_is_code_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (!name || strncmp(name, "/jit-", 5) != 0)
		return false;
	name += 5;
	digits = strspn(name, "0123456789");
	return digits > 0 && (strcmp(name + digits, ".dump") == 0 ||
	                      strcmp(name + digits, ".dump (deleted)") == 0);
}
