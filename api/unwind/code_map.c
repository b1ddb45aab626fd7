/* SPDX-License-Identifier: MIT */
/* The code that each process has mapped, and the modules it comes from. */
#include "config.h"

#include "api/unwind/code_map.h"

#include "api/unwind/module_image.h"

#define HASH_NONFATAL_OOM 1
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Ended processes are kept while there are no more than this: samples may
 * still come of threads that outlive the first. */
enum { SPACES_KEPT = 256 };

/* Modules whose tables are open at a time: a large one takes some MiB. */
enum { OPEN_MAX = 256 };

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

struct ppi_address_space {
	UT_hash_handle hh;
	uint32_t pid;
	uint32_t age; /* sweeps since it ended, plus 1; 0 = alive */
	size_t count, room;
	struct ppi_mapping *mappings; /* by address; disjoint */
};

struct ppi_address_spaces {
	const struct ppi_machine *machine;
	struct ppi_address_space *spaces, *last;
	struct ppi_code *codes;
	uint32_t next_serial;
	unsigned open_count, ended;
	uint64_t opened;
};

struct ppi_address_spaces *
ppi_address_spaces_new(const struct ppi_machine *machine)
{
	struct ppi_address_spaces *spaces = calloc(1, sizeof(*spaces));

	if (spaces)
		spaces->machine = machine;
	return spaces;
}

/* ---- modules ---- */

static void close_tables(struct ppi_address_spaces *spaces,
                         struct ppi_code *code)
{
	if (code->rules)
		spaces->open_count--;
	ppi_frame_rules_close(code->rules);
	free(code->image);
	code->rules = NULL;
	code->image = NULL;
}

static void drop_code(struct ppi_address_spaces *spaces, struct ppi_code *code)
{
	if (!code || --code->users > 0)
		return;
	close_tables(spaces, code);
	HASH_DELETE(hh, spaces->codes, code);
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

static struct ppi_code *find_code(struct ppi_address_spaces *spaces,
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
	HASH_FIND(hh, spaces->codes, code->key, bytes, known);
	if (known) {
		free(code);
		known->users++;
		return known;
	}
	code->key_bytes = bytes;
	code->users = 1;
	code->serial = ++spaces->next_serial;
	code->tries_left = TRIES_MAX;
	code->build_id_bytes = id_bytes;
	memcpy(code->build_id, module->build_id, id_bytes);
	HASH_ADD_KEYPTR(hh, spaces->codes, code->key, bytes, code);
	if (!code->hh.tbl) {
		free(code);
		return NULL;
	}
	return code;
}

static void close_all_tables(struct ppi_address_spaces *spaces)
{
	struct ppi_code *code, *next;

	HASH_ITER(hh, spaces->codes, code, next) {
		if (code->rules)
			code->tries_left = TRIES_MAX;
		close_tables(spaces, code);
	}
}

struct ppi_frame_rules *ppi_mapping_rules(struct ppi_address_spaces *spaces,
                                    const struct ppi_mapping *mapping,
                                    uint32_t pid, uint32_t *serial)
{
	struct ppi_code *code = mapping->code;

	*serial = code->serial;
	if (code->rules || code->tries_left == 0)
		return code->rules;
	if (spaces->open_count == OPEN_MAX)
		close_all_tables(spaces);
	code->tries_left--;
	if (!ppi_module_image_open(spaces->machine, pid, mapping->start,
	                           code->key, code->build_id,
	                           code->build_id_bytes, &code->rules,
	                           &code->image)) {
		/* it has none, and will have none */
		code->tries_left = 0;
		return NULL;
	}
	if (code->rules) {
		spaces->open_count++;
		spaces->opened++;
	}
	return code->rules;
}

uint64_t ppi_address_spaces_opened(const struct ppi_address_spaces *spaces)
{
	return spaces->opened;
}

/* ---- spaces ---- */

static void clear_space(struct ppi_address_spaces *spaces,
                        struct ppi_address_space *space)
{
	for (size_t i = 0; i < space->count; i++)
		drop_code(spaces, space->mappings[i].code);
	free(space->mappings);
	space->mappings = NULL;
	space->count = space->room = 0;
}

static void drop_space(struct ppi_address_spaces *spaces,
                       struct ppi_address_space *space)
{
	if (spaces->last == space)
		spaces->last = NULL;
	HASH_DELETE(hh, spaces->spaces, space);
	clear_space(spaces, space);
	free(space);
}

void ppi_address_spaces_free(struct ppi_address_spaces *spaces)
{
	struct ppi_address_space *space, *next;

	if (!spaces)
		return;
	HASH_ITER(hh, spaces->spaces, space, next)
		drop_space(spaces, space);
	free(spaces);
}

static struct ppi_address_space *find_space(struct ppi_address_spaces *spaces,
                                            uint32_t pid)
{
	struct ppi_address_space *space = spaces->last;

	if (space && space->pid == pid)
		return space;
	HASH_FIND(hh, spaces->spaces, &pid, sizeof(pid), space);
	if (space)
		spaces->last = space;
	return space;
}

static struct ppi_address_space *make_space(struct ppi_address_spaces *spaces,
                                            uint32_t pid)
{
	struct ppi_address_space *space = find_space(spaces, pid);

	if (space)
		return space;
	space = calloc(1, sizeof(*space));
	if (!space)
		return NULL;
	space->pid = pid;
	HASH_ADD(hh, spaces->spaces, pid, sizeof(pid), space);
	if (!space->hh.tbl) {
		free(space);
		return NULL;
	}
	return space;
}

/* The first mapping that ends behind `address`. */
static size_t lower_bound(const struct ppi_address_space *space,
                          uint64_t address)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->mappings[middle].limit <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct ppi_mapping *
ppi_address_space_at(const struct ppi_address_space *space, uint64_t address)
{
	size_t at = lower_bound(space, address);

	return at < space->count && space->mappings[at].start <= address
	               ? &space->mappings[at]
	               : NULL;
}

static bool make_room(struct ppi_address_space *space, size_t more)
{
	size_t room = space->room ? space->room : 16;
	struct ppi_mapping *grown;

	while (room < space->count + more)
		room *= 2;
	if (room == space->room)
		return true;
	grown = realloc(space->mappings, room * sizeof(*grown));
	if (!grown)
		return false;
	space->mappings = grown;
	space->room = room;
	return true;
}

/* Take [start, limit) out; there is room for one mapping more. Returns where a
 * mapping of that range belongs. */
static size_t cut_out(struct ppi_address_spaces *spaces,
                      struct ppi_address_space *space, uint64_t start,
                      uint64_t limit)
{
	size_t first = lower_bound(space, start), last = first, at;
	struct ppi_mapping *all = space->mappings;

	if (first < space->count && all[first].start < start &&
	    all[first].limit > limit) {
		memmove(all + first + 1, all + first,
		        (space->count++ - first) * sizeof(*all));
		all[first].code->users++;
	}
	if (first < space->count && all[first].start < start) {
		all[first].limit = start;
		last = ++first;
	}
	while (last < space->count && all[last].limit <= limit)
		drop_code(spaces, all[last++].code);
	at = first;
	memmove(all + first, all + last, (space->count - last) * sizeof(*all));
	space->count -= last - first;
	if (at < space->count && all[at].start < limit) {
		all[at].file_offset += limit - all[at].start;
		all[at].start = limit;
	}
	return at;
}

void ppi_address_spaces_map(struct ppi_address_spaces *spaces, uint32_t pid,
                            uint64_t start, uint64_t limit,
                            const portprof_module *module)
{
	struct ppi_mapping mapping = { start, limit, module->file_offset,
		                       NULL };
	struct ppi_address_space *space;
	size_t at;

	/* the kernel's own code, of which no user stack tells */
	if (limit <= start || start >> 63)
		return;
	space = make_space(spaces, pid);
	if (!space || !make_room(space, 2))
		return;
	mapping.code = find_code(spaces, pid, module);
	if (!mapping.code)
		return;
	space->age = 0;
	at = cut_out(spaces, space, start, limit);
	memmove(space->mappings + at + 1, space->mappings + at,
	        (space->count++ - at) * sizeof(mapping));
	space->mappings[at] = mapping;
}

void ppi_address_spaces_fork(struct ppi_address_spaces *spaces, uint32_t pid,
                             uint32_t parent_pid)
{
	struct ppi_address_space *parent, *child;

	if (pid == parent_pid)
		return; /* a thread */
	child = make_space(spaces, pid);
	if (!child)
		return;
	clear_space(spaces, child); /* of an older process of that number */
	child->age = 0;
	parent = find_space(spaces, parent_pid);
	if (!parent || parent->count == 0 || !make_room(child, parent->count))
		return;
	child->count = parent->count;
	memcpy(child->mappings, parent->mappings,
	       parent->count * sizeof(*child->mappings));
	for (size_t i = 0; i < child->count; i++)
		child->mappings[i].code->users++;
}

void ppi_address_spaces_exec(struct ppi_address_spaces *spaces, uint32_t pid)
{
	struct ppi_address_space *space = find_space(spaces, pid);

	if (space) {
		clear_space(spaces, space);
		space->age = 0;
	}
}

static void sweep(struct ppi_address_spaces *spaces)
{
	struct ppi_address_space *space, *next;

	HASH_ITER(hh, spaces->spaces, space, next) {
		if (space->age > 1)
			drop_space(spaces, space);
		else if (space->age == 1)
			space->age = 2;
	}
}

void ppi_address_spaces_exit(struct ppi_address_spaces *spaces, uint32_t pid)
{
	struct ppi_address_space *space = find_space(spaces, pid);

	if (!space || space->age)
		return;
	space->age = 1;
	if (++spaces->ended % SPACES_KEPT == 0)
		sweep(spaces);
}

const struct ppi_address_space *
ppi_address_spaces_find(struct ppi_address_spaces *spaces, uint32_t pid)
{
	struct ppi_address_space *space = find_space(spaces, pid);

	if (space && space->age)
		space->age = 1; /* it is not gone yet */
	return space;
}
