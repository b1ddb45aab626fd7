/* SPDX-License-Identifier: MIT */
/* What a process has mapped, and its memory, as /proc/PID/maps and /proc/PID/mem of
 * Linux have them. Elsewhere there is none. */
#include "config.h"

#include "base/process_maps.h"

#include "base/foreign_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

bool ppi_maps_next(FILE *maps, struct ppi_mapping *line)
{
	char text[4096 + 128];

	while (fgets(text, sizeof(text), maps)) {
		int used = 0;

		line->name[0] = '\0';
		if (sscanf(text,
		           "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
		           " %31s %" SCNu64 " %n",
		           &line->start, &line->end, line->rights,
		           &line->offset, line->device, &line->inode,
		           &used) < 6 || !used)
			continue;
		text[strcspn(text, "\n")] = '\0';
		snprintf(line->name, sizeof(line->name), "%s", text + used);
		return true;
	}
	return false;
}

FILE *ppi_maps_open(uint32_t pid)
{
	char path[64];

	/* /proc may be another namespace's, with another process of that
	 * number */
	if (pid == (uint32_t)getpid())
		return fopen("/proc/self/maps", "re");
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	return fopen(path, "re");
}

void ppi_process_each_code(uint32_t pid,
                           void (*take)(void *context, uint64_t start,
                                        uint64_t limit, uint64_t offset,
                                        const char *path),
                           void *context)
{
	FILE *maps = ppi_maps_open(pid);
	struct ppi_mapping line;

	while (maps && ppi_maps_next(maps, &line))
		if (strchr(line.rights, 'x'))
			take(context, line.start, line.end, line.offset,
			     line.name);
	if (maps)
		fclose(maps);
}

int ppi_process_memory(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/mem", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

size_t ppi_process_read(uint32_t pid, uint64_t address, void *bytes,
                        size_t count)
{
	int fd = ppi_process_memory(pid);
	size_t got;

	if (fd < 0)
		return 0;
	got = ppi_foreign_read(fd, bytes, count, address);
	close(fd);
	return got;
}
