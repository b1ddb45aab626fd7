/* SPDX-License-Identifier: MIT */
/*
 * What a stranger compiles with nothing but the installed library; with EXEC,
 * and the wrappers of exec.
 */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <portprof.h>

int main(void)
{
	puts(portprof_version());
#ifdef EXEC
	portprof_backend_info info = { .size = sizeof(info) };

	fflush(stdout);
	for (size_t i = 0; portprof_backend_info_get(i, &info) == 0; i++)
		if (info.is_usable && !(info.caps & PORTPROF_CAP_EXEC_SAFE))
			return 1;
	execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
#endif
	return strcmp(portprof_version(), PORTPROF_VERSION_STRING) != 0;
}
