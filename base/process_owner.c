/* SPDX-License-Identifier: MIT */
/* Whose a running process is, and since when it runs. */
#include "config.h"

#include "base/process_owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* proc_pid_stat(5): field 22, in ticks since the system was started. The name
 * in parentheses, the second field, may hold spaces and parentheses. */
static uint64_t read_began(const char *folder)
{
	char path[64], text[1024] = "", *at;
	uint64_t ticks, since_start;
	FILE *file;

	snprintf(path, sizeof(path), "%s/stat", folder);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%" SCNu64, &ticks) != 1)
		return 0;
	since_start = ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME) + since_start;
}

bool ppi_process_owner(int64_t pid, struct ppi_process_owner *owner)
{
	struct stat at;
	char folder[32];

	snprintf(folder, sizeof(folder), "/proc/%" PRId64, pid);
	if (stat(folder, &at) != 0)
		return false;
	owner->user = at.st_uid;
	owner->began_ns = read_began(folder);
	return true;
}

#else

bool ppi_process_owner(int64_t pid, struct ppi_process_owner *owner)
{
	if (pid != getpid())
		return false;
	owner->user = geteuid();
	owner->began_ns = 0;
	return true;
}

#endif
