/* SPDX-License-Identifier: MIT */
/* Whether the path of a mapping is a file that other processes map as well. */
#include "api/file/path.h"

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
