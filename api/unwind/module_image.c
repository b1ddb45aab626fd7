/* SPDX-License-Identifier: MIT */
/*
 * Where the tables of a module of a process are read from. /proc is Linux's;
 * elsewhere no backend gives stacks of other processes, and the file is found
 * by its path.
 */
#include "config.h"

#include "api/unwind/module_image.h"

#include "base/foreign_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 + 64 };

/* Larger programs are read from their files alone. */
#define IMAGE_MAX (UINT64_C(64) << 20)

/* ---- memory ---- */

static int open_memory(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/mem", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

size_t ppi_process_read(uint32_t pid, uint64_t address, void *bytes,
                        size_t count)
{
	int fd = open_memory(pid);
	size_t got;

	if (fd < 0)
		return 0;
	got = ppi_foreign_read(fd, bytes, count, address);
	close(fd);
	return got;
}

/* A line of /proc/PID/maps. */
struct map_line {
	uint64_t start, end, offset, inode;
	char rights[8];
	char device[32];
	char name[4096];
};

static bool next_line(FILE *maps, struct map_line *line)
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

static FILE *open_maps(uint32_t pid)
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
	FILE *maps = open_maps(pid);
	struct map_line line;

	while (maps && next_line(maps, &line))
		if (strchr(line.rights, 'x'))
			take(context, line.start, line.end, line.offset,
			     line.name);
	if (maps)
		fclose(maps);
}

static bool find_line(uint32_t pid, uint64_t address, struct map_line *line)
{
	FILE *maps = open_maps(pid);
	bool is_found = false;

	while (maps && !is_found && next_line(maps, line))
		is_found = address >= line->start && address < line->end;
	if (maps)
		fclose(maps);
	return is_found;
}

/* Where this process has the vdso, which is the same everywhere. */
static bool find_vdso(struct map_line *line)
{
	FILE *maps = open_maps((uint32_t)getpid());
	bool is_found = false;

	while (maps && !is_found && next_line(maps, line))
		is_found = strcmp(line->name, "[vdso]") == 0;
	if (maps)
		fclose(maps);
	return is_found;
}

size_t ppi_vdso_read(uint64_t offset, void *bytes, size_t count)
{
	struct map_line line;

	return find_vdso(&line)
		? ppi_process_read((uint32_t)getpid(),
	                           line.start + offset - line.offset, bytes,
	                           count)
		: 0;
}

static bool is_same_file(const struct map_line *a, const struct map_line *b)
{
	return a->inode == b->inode && strcmp(a->device, b->device) == 0 &&
	       strcmp(a->name, b->name) == 0;
}

/*
 * The file as far as it is mapped, each part at its place. What the loader
 * has changed in it is data; tables are not. Sections are mapped by nobody.
 */
static char *copy_image(uint32_t pid, const struct map_line *of, size_t *size)
{
	enum { E_SHOFF = 40, E_SHNUM = 60, E_SHSTRNDX = 62, HEADER = 64 };
	FILE *maps = open_maps(pid);
	int memory = open_memory(pid);
	struct map_line line;
	char *image = NULL;

	*size = 0;
	while (maps && memory >= 0 && next_line(maps, &line)) {
		uint64_t bytes = line.end - line.start;
		char *grown;

		if (!is_same_file(&line, of) || line.offset > IMAGE_MAX ||
		    bytes > IMAGE_MAX - line.offset)
			continue;
		if (line.offset + bytes > *size) {
			grown = realloc(image, (size_t)(line.offset + bytes));
			if (!grown)
				break;
			memset(grown + *size, 0,
			       (size_t)(line.offset + bytes) - *size);
			image = grown;
			*size = (size_t)(line.offset + bytes);
		}
		ppi_foreign_read(memory, image + line.offset, (size_t)bytes,
		        line.start);
	}
	if (maps)
		fclose(maps);
	if (memory >= 0)
		close(memory);
	if (*size >= HEADER) {
		memset(image + E_SHOFF, 0, 8);
		memset(image + E_SHNUM, 0, 2);
		memset(image + E_SHSTRNDX, 0, 2);
	}
	return image;
}

static struct ppi_frame_rules *open_image(const struct ppi_machine *machine,
                                    uint32_t pid, const struct map_line *line,
                                    const unsigned char *build_id,
                                    size_t build_id_bytes, char **image)
{
	struct ppi_frame_rules *rules = NULL;
	size_t size;

	*image = copy_image(pid, line, &size);
	if (*image && size >= 64 && memcmp(*image, "\177ELF", 4) == 0)
		rules = ppi_frame_rules_open(machine, -1, *image, size, build_id,
		                       build_id_bytes);
	if (!rules) {
		free(*image);
		*image = NULL;
	}
	return rules;
}

/* ---- files ---- */

/* What the file behind the path is now may be another than was mapped; where
 * no build-id tells, its number does. */
static struct ppi_frame_rules *open_file(const struct ppi_machine *machine,
                                   const char *path, uint64_t inode,
                                   const unsigned char *build_id,
                                   size_t build_id_bytes)
{
	struct ppi_frame_rules *rules = NULL;
	struct stat at;
	int fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, &at);

	if (fd < 0)
		return NULL;
	if (build_id_bytes || !inode || (uint64_t)at.st_ino == inode)
		rules = ppi_frame_rules_open(machine, fd, NULL, 0, build_id,
		                       build_id_bytes);
	close(fd);
	return rules;
}

bool ppi_module_image_open(const struct ppi_machine *machine, uint32_t pid,
                           uint64_t start, const char *path,
                           const unsigned char *build_id,
                           size_t build_id_bytes, struct ppi_frame_rules **rules,
                           char **image)
{
	char in_root[PATH_ROOM];
	struct map_line line = { .inode = 0 };
	bool is_alive;

	*rules = NULL;
	*image = NULL;
	if (strcmp(path, "[vdso]") == 0) {
		if (!find_vdso(&line))
			return false;
		*rules = open_image(machine, (uint32_t)getpid(), &line, NULL, 0,
		                    image);
		return *rules != NULL;
	}
	/* "//anon", "[heap]": code made at run time, without tables */
	if (path[0] != '/' || path[1] == '/')
		return false;
	is_alive = find_line(pid, start, &line);
	snprintf(in_root, sizeof(in_root), "/proc/%" PRIu32 "/root%s", pid,
	         path);
	*rules = open_file(machine, in_root, line.inode, build_id,
	                   build_id_bytes);
	if (!*rules && !is_alive)
		*rules = open_file(machine, path, 0, build_id, build_id_bytes);
	if (!*rules && is_alive)
		*rules = open_image(machine, pid, &line, build_id,
		                    build_id_bytes, image);
	return *rules || !is_alive;
}
