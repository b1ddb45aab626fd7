/* SPDX-License-Identifier: MIT */
/* The code that processes have mapped, and its frame tables. */
#include "config.h"

#include "api/unwind/code_map.h"

#include "api/unwind/module_image.h"
#include "base/clock_ns.h"
#include "base/foreign_file.h"

#define HASH_NONFATAL_OOM 1
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

/* Processes that end between two sweeps. */
enum { SWEEP_EVERY = 256 };

/* Modules whose tables are open at a time: a large one takes some MiB. */
enum { OPEN_MAX = 256 };

/* Between two looks at a process's mappings pass so many ms, and so many times
 * what the last one took: wrong addresses are frequent. */
enum { LOOK_MS = 50, LOOK_SHARE = 20 };

/* As of a MODULE record. */
enum { PATH_ROOM = 4096 };

/* A process may be gone before its file was found; others have it too. */
enum { TRIES_MAX = 3 };

struct ppi_code {
	UT_hash_handle hh;
	uint32_t users, serial;
	unsigned tries_left;
	struct ppi_frame_rules *rules;
	char *image; /* memory that rules rest on, or NULL */
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
	if (code->rules)
		map->open_count--;
	ppi_frame_rules_close(code->rules);
	free(code->image);
	code->rules = NULL;
	code->image = NULL;
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
	size_t path_bytes = strlen(module->path) + 1;
	size_t id_bytes = module->build_id_bytes < PORTPROF_BUILD_ID_BYTES
		? module->build_id_bytes : PORTPROF_BUILD_ID_BYTES;
	size_t bytes = path_bytes + id_bytes +
	               (is_private(module->path) ? sizeof(pid) : 0);
	struct ppi_code *code = calloc(1, sizeof(*code) + bytes), *known;

	if (!code)
		return NULL;
	memcpy(code->key, module->path, path_bytes);
	memcpy(code->key + path_bytes, module->build_id, id_bytes);
	if (is_private(module->path))
		memcpy(code->key + path_bytes + id_bytes, &pid, sizeof(pid));
	HASH_FIND(hh, map->codes, code->key, bytes, known);
	if (known) {
		free(code);
		known->users++;
		return known;
	}
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

static void close_all_tables(struct ppi_code_map *map)
{
	struct ppi_code *code, *next;

	HASH_ITER(hh, map->codes, code, next) {
		if (code->rules)
			code->tries_left = TRIES_MAX;
		close_tables(map, code);
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
	if (code->rules || code->tries_left == 0)
		return code->rules;
	if (map->open_count == OPEN_MAX)
		close_all_tables(map);
	code->tries_left--;
	if (!ppi_module_image_open(map->machine, pid, extent->start,
	                           code->key, code->build_id,
	                           code->build_id_bytes, &code->rules,
	                           &code->image)) {
		/* it has none, and will have none */
		code->tries_left = 0;
		return NULL;
	}
	if (code->rules) {
		map->open_count++;
		map->opened++;
	}
	return code->rules;
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
	map->processes.count_user = count_user;
	map->processes.context = map;
}

void ppi_code_map_close(struct ppi_code_map *map)
{
	ppi_process_map_close(&map->processes);
}

void ppi_code_map_add(struct ppi_code_map *map, uint32_t pid, uint64_t start,
                      uint64_t limit, const portprof_module *module)
{
	struct ppi_extent extent = { start, limit,
		                     module->file_offset - start, 0 };
	struct ppi_code *code;

	/* the kernel's own code, of which no user stack tells */
	if (limit <= start || start >> 63)
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
