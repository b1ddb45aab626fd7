/* SPDX-License-Identifier: MIT */
/*
 * The code that processes have mapped, and where its frame tables are read from: the
 * file, or the process's memory. /proc is Linux's; elsewhere no backend gives stacks
 * of other processes, and the file is found by its path.
 */
#include "config.h"

#include "api/unwind/code_map.h"

#include "api/unwind/frame_rules.h"
#include "base/clock_ns.h"
#include "base/foreign_file.h"
#include "base/processes.h"
#include "base/vector.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Out of memory: what was to be added has no table (hh.tbl). */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* "//anon", "[heap]": code made at run time, without tables. */
static bool is_made(const char *path)
{
	return path[0] != '/' || path[1] == '/';
}

/* ---- tables from memory ---- */

static bool find_line(uint32_t pid, uint64_t address, struct ppi_mapping *line)
{
	FILE *maps = ppi_maps_open(pid);
	bool is_found = false;

	while (maps && !is_found && ppi_maps_next(maps, line))
		is_found = address >= line->start && address < line->end;
	if (maps)
		fclose(maps);
	return is_found;
}

/* Where this process has the vdso, which is the same everywhere. */
static bool find_vdso(struct ppi_mapping *line)
{
	FILE *maps = ppi_maps_open((uint32_t)getpid());
	bool is_found = false;

	while (maps && !is_found && ppi_maps_next(maps, line))
		is_found = strcmp(line->name, "[vdso]") == 0;
	if (maps)
		fclose(maps);
	return is_found;
}

size_t ppi_vdso_read(uint64_t offset, void *bytes, size_t count)
{
	struct ppi_mapping line;

	return find_vdso(&line)
		? ppi_process_read((uint32_t)getpid(),
	                           line.start + offset - line.offset, bytes,
	                           count)
		: 0;
}

static bool is_same_file(const struct ppi_mapping *a, const struct ppi_mapping *b)
{
	return a->inode == b->inode && strcmp(a->device, b->device) == 0 &&
	       strcmp(a->name, b->name) == 0;
}

/* Where in memory a part of the file is. */
struct part {
	uint64_t offset, bytes, start;
};

/* A file as far as a process has mapped it. What the loader has changed in it is data;
 * tables are not. */
struct mapped {
	struct ppi_vector parts; /* struct part */
	int memory;
};

static const struct part *part_at(const struct mapped *mapped, uint64_t offset)
{
	for (size_t i = 0; i < mapped->parts.count; i++) {
		const struct part *part = &PPI_AT(&mapped->parts, struct part)[i];

		if (offset >= part->offset && offset - part->offset < part->bytes)
			return part;
	}
	return NULL;
}

static bool read_mapped(void *context, uint64_t offset, void *bytes,
                        size_t count)
{
	const struct mapped *mapped = context;
	char *to = bytes;

	while (count) {
		const struct part *part = part_at(mapped, offset);
		uint64_t into, step;

		if (!part)
			return false;
		into = offset - part->offset;
		step = part->bytes - into < count ? part->bytes - into : count;
		if (ppi_foreign_read(mapped->memory, to, (size_t)step,
		                     part->start + into) != step)
			return false;
		to += step;
		offset += step;
		count -= (size_t)step;
	}
	return true;
}

static void find_parts(struct mapped *mapped, uint32_t pid,
                       const struct ppi_mapping *of)
{
	FILE *maps = ppi_maps_open(pid);
	struct ppi_mapping line;

	while (maps && ppi_maps_next(maps, &line)) {
		const struct part part = { line.offset, line.end - line.start,
			                   line.start };

		if (is_same_file(&line, of) &&
		    !ppi_vector_add(&mapped->parts, sizeof(part), &part, 1))
			break;
	}
	if (maps)
		fclose(maps);
}

static struct ppi_frame_rules *
open_mapped(const struct ppi_machine *machine, uint32_t pid,
            const struct ppi_mapping *line, const unsigned char *build_id,
            size_t build_id_bytes)
{
	struct mapped mapped = { .memory = ppi_process_memory(pid) };
	const struct ppi_frame_source source = { read_mapped, &mapped, true };
	struct ppi_frame_rules *rules = NULL;

	if (mapped.memory < 0)
		return NULL;
	find_parts(&mapped, pid, line);
	rules = ppi_frame_rules_open(machine, &source, build_id,
	                             build_id_bytes);
	ppi_vector_free(&mapped.parts);
	close(mapped.memory);
	return rules;
}

/* ---- tables from files ---- */

/* As of a MODULE record. */
enum { PATH_ROOM = 4096 };

enum { ROOT_BYTES = 64 }; /* "/proc/PID/root" */

static bool read_file(void *fd, uint64_t offset, void *bytes, size_t count)
{
	return ppi_foreign_read(*(int *)fd, bytes, count, offset) == count;
}

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
	const struct ppi_frame_source source = { read_file, &fd, false };

	if (fd < 0)
		return NULL;
	if (build_id_bytes || !inode || (uint64_t)at.st_ino == inode)
		rules = ppi_frame_rules_open(machine, &source, build_id,
		                             build_id_bytes);
	close(fd);
	return rules;
}

/*
 * Open the tables of what process `pid` has mapped at `start` from `path`: from
 * the file in the process's own root folder, or, where that is another one by
 * now or none, from the process's memory. False: it has none at all.
 * True with *rules NULL: not found this time.
 */
static bool open_tables(const struct ppi_machine *machine, uint32_t pid,
                        uint64_t start, const char *path,
                        const unsigned char *build_id, size_t build_id_bytes,
                        struct ppi_frame_rules **rules)
{
	char in_root[ROOT_BYTES + PATH_ROOM];
	struct ppi_mapping line = { .inode = 0 };
	bool is_alive;

	*rules = NULL;
	if (strcmp(path, "[vdso]") == 0) {
		if (!find_vdso(&line))
			return false;
		*rules = open_mapped(machine, (uint32_t)getpid(), &line, NULL,
		                     0);
		return *rules != NULL;
	}
	if (is_made(path))
		return false;
	snprintf(in_root, sizeof(in_root), "/proc/%" PRIu32 "/root%s", pid,
	         path);
	/* a build-id needs no list of what is mapped, which takes longest */
	if (build_id_bytes)
		*rules = open_file(machine, in_root, 0, build_id,
		                   build_id_bytes);
	if (*rules)
		return true;
	is_alive = find_line(pid, start, &line);
	if (!build_id_bytes)
		*rules = open_file(machine, in_root, line.inode, NULL, 0);
	if (!*rules && !is_alive)
		*rules = open_file(machine, path, 0, build_id, build_id_bytes);
	if (!*rules && is_alive)
		*rules = open_mapped(machine, pid, &line, build_id,
		                     build_id_bytes);
	return *rules || !is_alive;
}

/* ---- code, shared by processes ---- */

/* Processes that end between two sweeps. */
enum { SWEEP_EVERY = 256 };

/* Tables that are open at a time. Most take a tenth of a MiB, those of a compiler
 * three, of a large database forty, which take 20 ms to read: where samples ask
 * for such and for others in turn they stay open together, up to more. */
enum { TABLES_MOST = 16 << 20, TABLES_IN_USE_MOST = 48 << 20 };

/* Asked for since then is in use: a sample asks some ten times. */
enum { IN_USE_ASKED = 1 << 16 };

/* Between two looks at a process's mappings pass so many ms, and so many times
 * what the last one took: wrong addresses are frequent. */
enum { LOOK_MS = 50, LOOK_SHARE = 20 };

/* A process may be gone before its file was found; others have it too. */
enum { TRIES_MAX = 3 };

struct ppi_code {
	UT_hash_handle hh;
	uint32_t users, serial;
	unsigned tries_left;
	struct ppi_frame_rules *rules;
	size_t table_bytes;  /* of them */
	uint64_t asked;      /* of map->asked: when they were asked for last */
	size_t build_id_bytes;
	unsigned char build_id[PORTPROF_BUILD_ID_BYTES];
	size_t key_bytes;
	char key[]; /* path, zero, build-id, and a pid where it is private */
};

static struct ppi_code *code_of(uintptr_t value)
{
	return (struct ppi_code *)value;
}

static void close_tables(struct ppi_code_map *map,
                         struct ppi_code *code)
{
	map->table_bytes -= code->table_bytes;
	ppi_frame_rules_close(code->rules);
	code->rules = NULL;
	code->table_bytes = 0;
}

static void drop_code(struct ppi_code_map *map, struct ppi_code *code)
{
	if (!code || --code->users > 0)
		return;
	close_tables(map, code);
	HASH_DELETE(hh, map->codes, code);
	free(code);
}

/* What only the process itself can show: no other's is the same. */
static bool is_private(const char *path)
{
	size_t length = strlen(path);

	return path[0] != '/' ? strcmp(path, "[vdso]") != 0
	                      : path[1] == '/' ||
	                        strncmp(path, "/memfd:", 7) == 0 ||
	                        (length > 10 && strcmp(path + length - 10,
	                                               " (deleted)") == 0);
}

static struct ppi_code *find_code(struct ppi_code_map *map,
                                  uint32_t pid, const portprof_module *module)
{
	char key[PATH_ROOM + PORTPROF_BUILD_ID_BYTES + sizeof(pid)];
	size_t path_bytes = strlen(module->path) + 1;
	size_t id_bytes = module->build_id_bytes < PORTPROF_BUILD_ID_BYTES
		? module->build_id_bytes : PORTPROF_BUILD_ID_BYTES;
	size_t bytes = path_bytes + id_bytes;
	struct ppi_code *code;

	if (path_bytes > PATH_ROOM)
		return NULL;
	memcpy(key, module->path, path_bytes);
	memcpy(key + path_bytes, module->build_id, id_bytes);
	if (is_private(module->path)) {
		memcpy(key + bytes, &pid, sizeof(pid));
		bytes += sizeof(pid);
	}
	HASH_FIND(hh, map->codes, key, bytes, code);
	if (code) {
		code->users++;
		return code;
	}
	code = calloc(1, sizeof(*code) + bytes);
	if (!code)
		return NULL;
	memcpy(code->key, key, bytes);
	code->key_bytes = bytes;
	code->users = 1;
	code->serial = ++map->next_serial;
	code->tries_left = TRIES_MAX;
	code->build_id_bytes = id_bytes;
	memcpy(code->build_id, module->build_id, id_bytes);
	HASH_ADD_KEYPTR(hh, map->codes, code->key, bytes, code);
	if (!code->hh.tbl) {
		free(code);
		return NULL;
	}
	return code;
}

/* Those that nobody has asked for the longest, until the others are few enough; but
 * not those that are wanted now, or in use where these are not too many. */
static void close_oldest(struct ppi_code_map *map, const struct ppi_code *wanted)
{
	while (map->table_bytes > map->table_bytes_most) {
		struct ppi_code *code, *next, *oldest = NULL;

		HASH_ITER(hh, map->codes, code, next)
			if (code->rules && code != wanted &&
			    (!oldest || code->asked < oldest->asked))
				oldest = code;
		if (!oldest || (map->asked - oldest->asked < map->in_use_asked &&
		                map->table_bytes <= map->in_use_bytes_most))
			return;
		oldest->tries_left = TRIES_MAX;
		close_tables(map, oldest);
	}
}

uint32_t ppi_code_map_serial(const struct ppi_extent *extent)
{
	return code_of(extent->value)->serial;
}

size_t ppi_code_map_read(const struct ppi_extent *extent, uint64_t address,
                         void *bytes, size_t count)
{
	const char *path = code_of(extent->value)->key;
	struct stat at;
	size_t got;
	int fd;

	if (path[0] != '/' || is_private(path))
		return 0;
	fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, &at);
	if (fd < 0)
		return 0;
	got = ppi_foreign_read(fd, bytes, count, address + extent->shift);
	close(fd);
	return got;
}

struct ppi_frame_rules *ppi_code_map_rules(struct ppi_code_map *map,
                                           const struct ppi_extent *extent,
                                           uint32_t pid, uint32_t *serial)
{
	struct ppi_code *code = code_of(extent->value);

	*serial = code->serial;
	code->asked = ++map->asked;
	if (code->rules || code->tries_left == 0)
		return code->rules;
	code->tries_left--;
	if (!open_tables(map->machine, pid, extent->start,
	                       code->key, code->build_id,
	                       code->build_id_bytes, &code->rules)) {
		/* it has none, and will have none */
		code->tries_left = 0;
		return NULL;
	}
	if (code->rules) {
		code->table_bytes = ppi_frame_rules_bytes(code->rules);
		map->table_bytes += code->table_bytes;
		map->opened++;
		close_oldest(map, code);
	}
	return code->rules;
}

bool ppi_code_map_is_made(const struct ppi_extent *extent)
{
	const char *path = code_of(extent->value)->key;

	return path[0] != '[' && is_made(path);
}

bool ppi_code_map_is_vdso(const struct ppi_extent *extent)
{
	return strcmp(code_of(extent->value)->key, "[vdso]") == 0;
}

/* ---- what records say ---- */

static void count_user(void *context, uintptr_t value, int change)
{
	if (change > 0)
		code_of(value)->users++;
	else
		drop_code(context, code_of(value));
}

void ppi_code_map_open(struct ppi_code_map *map,
                       const struct ppi_machine *machine)
{
	memset(map, 0, sizeof(*map));
	map->machine = machine;
	map->table_bytes_most = TABLES_MOST;
	map->in_use_bytes_most = TABLES_IN_USE_MOST;
	map->in_use_asked = IN_USE_ASKED;
	map->processes.count_user = count_user;
	map->processes.context = map;
}

void ppi_code_map_close(struct ppi_code_map *map)
{
	ppi_process_map_close(&map->processes);
}

/* What the system's list showed first, and its loader tells now with the build-id:
 * tables that only the process could show, which may have ended by now. */
static bool is_told_again(const struct ppi_layout *layout,
                          const struct ppi_extent *told,
                          const portprof_module *module)
{
	const struct ppi_extent *known = ppi_layout_at(layout, told->start);
	struct ppi_code *code;

	if (!known || known->start != told->start ||
	    known->limit != told->limit || known->shift != told->shift)
		return false;
	code = code_of(known->value);
	if (!code->rules || strcmp(code->key, module->path) != 0 ||
	    !is_private(module->path) ||
	    module->build_id_bytes > sizeof(code->build_id))
		return false;
	if (!code->build_id_bytes) {
		code->build_id_bytes = module->build_id_bytes;
		memcpy(code->build_id, module->build_id,
		       module->build_id_bytes);
	}
	return code->build_id_bytes == module->build_id_bytes &&
	       memcmp(code->build_id, module->build_id,
	              module->build_id_bytes) == 0;
}

void ppi_code_map_add(struct ppi_code_map *map, uint32_t pid, uint64_t start,
                      uint64_t limit, const portprof_module *module)
{
	struct ppi_extent extent = { start, limit,
		                     module->file_offset - start, 0 };
	struct ppi_code *code;

	/* the kernel's own code, of which no user stack tells */
	if (limit <= start || start >> 63 ||
	    is_told_again(ppi_process_map_find(&map->processes, pid), &extent,
	                  module))
		return;
	code = find_code(map, pid, module);
	if (!code)
		return;
	extent.value = (uintptr_t)code;
	ppi_process_map_add(&map->processes, pid, &extent);
	drop_code(map, code); /* it is the extent's now */
}

/* ---- what nobody said ---- */

struct look {
	struct ppi_code_map *map;
	uint32_t pid;
	bool has_found;
};

static bool is_known(const struct look *look, uint64_t address)
{
	return ppi_layout_at(ppi_process_map_find(&look->map->processes,
	                                          look->pid),
	                     address) != NULL;
}

static void take_mapping(void *context, uint64_t start, uint64_t limit,
                         uint64_t offset, const char *path)
{
	struct look *look = context;
	union {
		portprof_module module;
		char bytes[sizeof(portprof_module) + PATH_ROOM];
	} room;

	if (is_known(look, start) && is_known(look, limit - 1))
		return;
	memset(&room.module, 0, sizeof(room.module));
	room.module.file_offset = offset;
	snprintf(room.bytes + offsetof(portprof_module, path), PATH_ROOM, "%s",
	         path[0] ? path : "//anon");
	ppi_code_map_add(look->map, look->pid, start, limit, &room.module);
	look->has_found = true;
}

bool ppi_code_map_look(struct ppi_code_map *map, uint32_t pid)
{
	struct look look = { map, pid, false };
	uint64_t begun_ns = ppi_monotonic_ns(), ended_ns;

	if (begun_ns < map->next_look_ns)
		return false;
	ppi_process_each_code(pid, take_mapping, &look);
	ended_ns = ppi_monotonic_ns();
	map->next_look_ns = ended_ns + LOOK_MS * UINT64_C(1000000) +
	                    LOOK_SHARE * (ended_ns - begun_ns);
	return look.has_found;
}

void ppi_code_map_exit(struct ppi_code_map *map, uint32_t pid)
{
	if (ppi_process_map_exit(&map->processes, pid) &&
	    ++map->ended % SWEEP_EVERY == 0)
		ppi_process_map_sweep(&map->processes);
}
