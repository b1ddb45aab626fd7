/* SPDX-License-Identifier: MIT */
/* How many threads this process has, for programs that tests measure. */
#ifndef TESTS_CLI_THREADS_H
#define TESTS_CLI_THREADS_H

#include <dirent.h>

/* 0 where the system does not list them. */
static inline unsigned count_threads(void)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *thread;
	unsigned count = 0;

	while (threads && (thread = readdir(threads)))
		count += thread->d_name[0] != '.';
	if (threads)
		closedir(threads);
	return count;
}

#endif
