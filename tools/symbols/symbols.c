/* SPDX-License-Identifier: MIT */
/*
 * From recorded addresses to names: finding files, and notes if there is none.
 *
 *   symbols_words.c     the names that are kept, readable; notes
 *   symbols_file.c      one ELF file
 *   symbols_find.c      where its debug file is
 *   symbols_elf.c       what libelf reads of a file: symbols, bounds, stubs
 *   symbols_go.c        what compilers leave: Go's names, frame pointers
 *   symbols_dwarf.c     what libdw reads: symbols, lines, inlined functions
 *   symbols_download.c  debug files from servers
 *   symbols_kernel.c    the kernel's functions
 *   symbols_jit.c       code that processes made, by their maps
 *   symbols_jitdump.c   the same by their dumps, which also say when
 *   symbols_held.c      files held open until names are asked for
 *   symbols_kept.c      what windows of a recording have in common
 *   symbols_unpacked.c  debug information that was packed, for them
 *   symbols_table.c     a sorted table of symbols, which most of these fill
 *
 * Without libelf symbols_stub.c stands in for the file, without libdw
 * symbols_debug.c for debug information.
 */
#include "config.h"

#include "tools/symbols/symbols.h"

#include "tools/symbols/symbols_held.h"
#include "tools/symbols/symbols_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ppi_symbols *ppi_symbols_new(uint64_t recorded_ns)
{
	struct ppi_symbols *symbols = calloc(1, sizeof(*symbols));

	if (symbols)
		symbols->recorded_ns = recorded_ns;
	return symbols;
}

void ppi_symbols_want(struct ppi_symbols *symbols, bool lines, bool inlines)
{
	symbols->wants_lines = lines;
	symbols->wants_inlines = inlines;
}

bool ppi_symbols_wants_lines(const struct ppi_symbols *symbols)
{
	return symbols->wants_lines || symbols->wants_inlines;
}

bool ppi_symbols_wants_inlines(const struct ppi_symbols *symbols)
{
	return symbols->wants_inlines;
}

bool ppi_symbols_wants_frames(const struct ppi_symbols *symbols)
{
	return symbols->wants_frames;
}

void ppi_symbols_want_frames(struct ppi_symbols *symbols)
{
	symbols->wants_frames = true;
}

void ppi_symbols_know_end(struct ppi_symbols *symbols, uint64_t ended_ns)
{
	symbols->ended_ns = ended_ns;
}

void ppi_symbols_look_in(struct ppi_symbols *symbols, const char *folder)
{
	symbols->folder = folder;
}

void ppi_symbols_look_below(struct ppi_symbols *symbols, const char *root)
{
	symbols->root = root;
}

void ppi_symbols_know_held(struct ppi_symbols *symbols,
                           const struct ppi_held *held)
{
	symbols->held = held;
}

/* "/usr/bin/xz" is "xz" in a table; "//anon" and "[vdso]" stay readable. */
static const char *short_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (path[0] == '\0')
		return "[unknown]";
	if (strcmp(path, "//anon") == 0)
		return "[anonymous]";
	return slash && slash[1] ? slash + 1 : path;
}

static void note_refusal(struct ppi_symbols_module *module, const char *why)
{
	char words[1024];

	if (!why[0] || module->path[0] != '/' ||
	    strncmp(module->path, "//", 2) == 0)
		return;
	snprintf(words, sizeof(words), "%s %s; its code is not named",
	         module->path, why);
	module->refusal = strdup(words);
}

/* The first code that stays nameless for it says so. */
static void tell_refusal(struct ppi_symbols *symbols,
                         struct ppi_symbols_module *module)
{
	if (symbols->is_hushed || !module->refusal)
		return;
	ppi_symbols_add_note(symbols, module->path, module->refusal);
	free(module->refusal);
	module->refusal = NULL;
}

/* What Linux puts behind the name of a file that was deleted while mapped. */
#define DELETED " (deleted)"

/* The path without it; NULL when it is not there. */
static char *deleted_path(const char *path)
{
	size_t length = strlen(path), more = strlen(DELETED);

	if (length <= more || strcmp(path + length - more, DELETED) != 0)
		return NULL;
	return strndup(path, length - more);
}

/* A new file of that name can be the same one again: its build-id tells. */
static void open_deleted(struct ppi_symbols *symbols,
                         struct ppi_symbols_module *module,
                         struct ppi_symbol_wanted *wanted, char *path,
                         char *why, size_t why_bytes)
{
	wanted->path = path;
	module->path = ppi_symbols_keep(symbols, path);
	if (wanted->build_id[0])
		module->file = ppi_symbol_file_open(wanted, why, why_bytes);
	else
		snprintf(why, why_bytes,
		         "was deleted while it ran, and has no build-id "
		         "to find its file by");
}

/* An exact copy of the file that was measured, where its build-id is its name:
 * elfutils and gdb look there, too. What is opened is compared as any other. */
static struct ppi_symbol_file *
open_copy(const char *folder, const struct ppi_symbol_wanted *asked)
{
	struct ppi_symbol_wanted wanted = *asked;
	const char *id = asked->build_id;
	size_t bytes = strlen(folder) + strlen(id) + sizeof("/.build-id//");
	struct ppi_symbol_file *file;
	char why[400], *path;

	/* an id is a part of the path here, and comes from the profile */
	if (strlen(id) <= 2 || id[strspn(id, "0123456789abcdef")])
		return NULL;
	path = malloc(bytes);
	if (!path)
		return NULL;
	snprintf(path, bytes, "%s/.build-id/%.2s/%s", folder, id, id + 2);
	wanted.path = path;
	file = ppi_symbol_file_open(&wanted, why, sizeof(why));
	free(path);
	return file;
}

/* The file, and its debug file, in another file system; NULL when it is not the
 * one that was measured, or not there. */
static struct ppi_symbol_file *
open_below(struct ppi_symbols *symbols, const char *path,
           const struct ppi_symbol_wanted *asked)
{
	static const char folder[] = "/usr/lib/debug";
	struct ppi_symbol_wanted wanted = *asked;
	size_t bytes = strlen(symbols->root) + strlen(path) + sizeof(folder);
	struct ppi_symbol_file *file;
	char *below = malloc(bytes), why[400];
	const char *debug;

	if (!below)
		return NULL;
	snprintf(below, bytes, "%s%s", symbols->root, folder);
	debug = ppi_symbols_keep(symbols, below);
	snprintf(below, bytes, "%s%s", symbols->root, path);
	wanted.path = below;
	if (!wanted.folder)
		wanted.folder = debug;
	file = ppi_symbol_file_open(&wanted, why, sizeof(why));
	free(below);
	return file ? file : open_copy(debug, asked);
}

/* The file itself, held open since it was mapped. */
static struct ppi_symbol_file *
open_held(const struct ppi_symbols *symbols, const char *path,
          const struct ppi_symbol_wanted *asked)
{
	struct ppi_symbol_wanted wanted = *asked;
	char name[PPI_HELD_NAME_ROOM], why[400];

	if (!ppi_held_file(symbols->held, path, asked->build_id, name))
		return NULL;
	wanted.path = name;
	/* it is the one, however late it was written */
	wanted.recorded_ns = 0;
	return ppi_symbol_file_open(&wanted, why, sizeof(why));
}

static void open_file(struct ppi_symbols *symbols,
                      struct ppi_symbols_module *module, const char *build_id)
{
	struct ppi_symbol_wanted wanted = {
		.path = module->path,
		.build_id = build_id,
		.recorded_ns = symbols->recorded_ns,
		.folder = symbols->folder,
		.kept = ppi_held_kept(symbols->held),
	};
	const char *path = module->path;
	char why[400] = "", *deleted = deleted_path(path);

	/* without a build-id nothing else tells it from another of its name */
	if (!build_id[0])
		module->file = open_held(symbols, path, &wanted);
	if (!module->file && symbols->root && strcmp(module->path, "[vdso]") != 0)
		module->file = open_below(symbols,
		                          deleted ? deleted : module->path,
		                          &wanted);
	if (module->file)
		why[0] = '\0';
	else if (deleted)
		open_deleted(symbols, module, &wanted, deleted, why,
		             sizeof(why));
	else
		module->file = ppi_symbol_file_open(&wanted, why, sizeof(why));
	if (!module->file)
		module->file = open_held(symbols, path, &wanted);
	if (!module->file && symbols->folder)
		module->file = open_copy(symbols->folder, &wanted);
	if (!module->file)
		module->file = open_copy("/usr/lib/debug", &wanted);
	if (!module->file)
		note_refusal(module, why);
	free(deleted);
}

/* What a file in memory is called (memfd_create(2)): no folder has it. */
static bool is_memory(const char *path)
{
	return strncmp(path, "/memfd:", 7) == 0;
}

static struct ppi_symbols_module *open_module(struct ppi_symbols *symbols,
                                              const char *path,
                                              const char *build_id,
                                              const char *key)
{
	size_t length = strlen(key);
	struct ppi_symbols_module *module =
		calloc(1, sizeof(*module) + length + 1);

	if (!module)
		return NULL;
	memcpy(module->key, key, length + 1);
	module->path = ppi_symbols_keep(symbols, path);
	if (is_memory(path))
		module->file = open_held(
			symbols, path,
			&(struct ppi_symbol_wanted){ .build_id = build_id });
	else if (((path[0] == '/' && path[1] != '/') ||
	          strcmp(path, "[vdso]") == 0) &&
	         (!ppi_is_generated(path) || strstr(path, ".so")))
		open_file(symbols, module, build_id);
	module->name = ppi_symbols_keep(symbols, short_name(module->path));
	HASH_ADD_KEYPTR(hh, symbols->modules, module->key, length, module);
	return module;
}

static struct ppi_symbols_module *
module_of(struct ppi_symbols *symbols, const struct ppi_symbols_place *place)
{
	const char *path = place->has_mapping ? place->path : "";
	const char *build_id = place->has_mapping ? place->build_id : "";
	struct ppi_symbols_module *module;
	char *key;
	size_t bytes = strlen(path) + strlen(build_id) + 2;

	key = malloc(bytes);
	if (!key)
		return NULL;
	snprintf(key, bytes, "%s %s", build_id, path);
	HASH_FIND(hh, symbols->modules, key, strlen(key), module);
	if (!module)
		module = open_module(symbols, path, build_id, key);
	free(key);
	return module;
}

/* Every 64-bit Unix keeps its kernel in the upper half of the space. */
static bool is_kernel(const struct ppi_symbols_place *place)
{
	return place->address >> 63 ||
	       (place->has_mapping && strncmp(place->path, "[kernel", 7) == 0);
}

/* Source of an address; `name` is the symbol that it lies in. */
static void add_lines(struct ppi_symbols *symbols,
                      const struct ppi_symbols_module *module, uint64_t vaddr,
                      struct ppi_symbols_name *name)
{
	struct ppi_symbol_line lines[64];
	size_t count = ppi_symbol_file_lines(module->file, vaddr,
	                                     symbols->wants_inlines, lines,
	                                     sizeof(lines) / sizeof(lines[0]));
	const char *symbol = name->function;
	bool is_named = name->is_named;

	for (size_t i = 0; name && i < count; i++) {
		ppi_symbols_take_line(symbols, lines[i].file, lines[i].line,
		                      name);
		name->is_named = lines[i].function || is_named;
		name->function =
			lines[i].function
				? ppi_symbols_readable(
					  symbols, lines[i].function,
					  ppi_symbol_file_is_ada(module->file))
				: symbol;
		if (i + 1 < count)
			name = ppi_symbols_add_caller(symbols, name);
	}
}

static void tell_lack(struct ppi_symbols *symbols,
                      const struct ppi_symbols_module *module)
{
	char words[1024];

	if (ppi_symbol_file_lack(module->file, words, sizeof(words)))
		ppi_symbols_add_note(symbols, module->path, words);
}

static void take_frames(struct ppi_symbol_file *file, uint64_t vaddr,
                        struct ppi_symbols_name *name)
{
	name->frame_at = ppi_symbol_file_frame(file, vaddr);
	name->frame_before = ppi_symbol_file_frame(file, vaddr - 1);
	name->keeps_leaf_frames = ppi_symbol_file_keeps_leaf_frames(file);
}

static void find_in_file(struct ppi_symbols *symbols,
                         const struct ppi_symbols_module *module,
                         uint64_t address,
                         const struct ppi_symbols_place *place,
                         struct ppi_symbols_name *name)
{
	struct ppi_symbol_answer answer = { 0 };
	uint64_t offset = address - place->map_start + place->map_offset;

	ppi_symbol_file_find(module->file, offset, &answer);
	name->vaddr = answer.vaddr;
	name->start = answer.start;
	switch (answer.found) {
	case PPI_SYMBOL_NAME:
		name->function = ppi_symbols_readable(
			symbols, answer.name,
			ppi_symbol_file_is_ada(module->file));
		name->is_named = true;
		break;
	case PPI_SYMBOL_BOUNDS:
		ppi_symbols_by_address(symbols, answer.start, name);
		break;
	case PPI_SYMBOL_NOTHING:
		ppi_symbols_by_address(
			symbols, answer.vaddr ? answer.vaddr : offset, name);
		break;
	}
	name->is_stripped = !ppi_symbol_file_is_complete(module->file);
	if (symbols->wants_frames && answer.vaddr)
		take_frames(module->file, answer.vaddr, name);
	if ((symbols->wants_lines || symbols->wants_inlines) && answer.vaddr)
		add_lines(symbols, module, answer.vaddr, name);
	tell_lack(symbols, module);
}

/* Memory of no file, or of one that no folder has. */
static bool is_in_memory(const struct ppi_symbols_place *place)
{
	static const char *const kinds[] = { "//anon", "/memfd:", "/dev/zero",
		                             "/SYSV",  "[heap]",  "[stack",
		                             "[anon" };
	const char *path = place->has_mapping ? place->path : "";

	if (is_kernel(place))
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(path, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return path[0] == '\0';
}

/* A file that is used as memory is deleted at once, and has its code from its
 * beginning on, where programs and libraries have their header. */
bool ppi_symbols_is_made(const struct ppi_symbols_place *place)
{
	char *deleted;
	bool is_file;

	if (is_in_memory(place))
		return true;
	if (is_kernel(place))
		return false;
	if (place->has_mapping && ppi_is_generated(place->path))
		return true;
	if (place->build_id[0] || place->map_offset)
		return false;
	deleted = deleted_path(place->path);
	is_file = deleted != NULL;
	free(deleted);
	return is_file;
}

void ppi_symbols_find(struct ppi_symbols *symbols,
                      const struct ppi_symbols_place *place,
                      struct ppi_symbols_name *name)
{
	uint64_t address = place->address;
	struct ppi_symbols_module *module;

	memset(name, 0, sizeof(*name));
	name->source_file = "";
	if (is_kernel(place)) {
		ppi_symbols_in_kernel(symbols, address, name);
		return;
	}
	if (place->has_mapping && (strcmp(place->path, "[guest]") == 0 ||
	                           strcmp(place->path, "(wait not seen)") == 0 ||
	                           strcmp(place->path, "[unloaded]") == 0)) {
		name->function = name->module = name->path = ppi_symbols_keep(
			symbols, place->path);
		name->is_named = true;
		return;
	}
	if (place->pid_count && ppi_symbols_in_processes(symbols, place, name))
		return;
	module = module_of(symbols, place);
	if (module)
		tell_refusal(symbols, module);
	name->module = module ? module->name : "?";
	name->path = module ? module->path : "?";
	if (module && ppi_is_generated(module->path)) {
		name->made_in = module->path;
		name->module = name->path = PPI_GENERATED;
	}
	if (module && module->file)
		find_in_file(symbols, module, address, place, name);
	else if (place->has_mapping && place->path[0])
		ppi_symbols_by_address(
			symbols, address - place->map_start + place->map_offset,
			name);
	else
		ppi_symbols_by_address(symbols, address, name);
}

/* Whether the function is what code without a name is called. */
static bool is_placeholder(const char *function, const char *module)
{
	size_t length = strlen(module);

	if (strcmp(function, "[unknown]") == 0)
		return true;
	return strncmp(function, module, length) == 0 &&
	       strncmp(function + length, "+0x", 3) == 0 &&
	       function[length + 3] != '\0' &&
	       !function[length + 3 + strspn(function + length + 3,
	                                     "0123456789abcdef")];
}

void ppi_symbols_hush(struct ppi_symbols *symbols, bool is_hushed)
{
	symbols->is_hushed = is_hushed;
}

/* Where it lies in its file, of code that the profile names. */
static void find_place(struct ppi_symbols *symbols,
                       const struct ppi_symbols_place *place,
                       struct ppi_symbols_name *name)
{
	const struct ppi_symbols_module *module = module_of(symbols, place);
	struct ppi_symbol_answer answer = { 0 };

	if (!module || !module->file)
		return;
	ppi_symbol_file_find(module->file,
	                     place->address - place->map_start +
	                             place->map_offset, &answer);
	name->vaddr = answer.vaddr;
	name->start = answer.start;
}

void ppi_symbols_find_frames(struct ppi_symbols *symbols,
                             const struct ppi_symbols_place *place,
                             struct ppi_symbols_name *name)
{
	const struct ppi_symbols_module *module =
		is_kernel(place) || !place->has_mapping
			? NULL
			: module_of(symbols, place);
	uint64_t vaddr;

	if (module && module->file &&
	    ppi_symbol_file_vaddr(module->file,
	                          place->address - place->map_start +
	                                  place->map_offset, &vaddr))
		take_frames(module->file, vaddr, name);
}

void ppi_symbols_find_lack(struct ppi_symbols *symbols,
                           const struct ppi_symbols_place *place)
{
	const struct ppi_symbols_module *module =
		place->path[0] == '/' ? module_of(symbols, place) : NULL;
	struct ppi_symbol_answer answer = { 0 };
	struct ppi_symbol_line line;

	if (!module || !module->file)
		return;
	ppi_symbol_file_find(module->file,
	                     place->address - place->map_start +
	                             place->map_offset, &answer);
	ppi_symbol_file_lines(module->file, answer.vaddr, true, &line, 1);
	tell_lack(symbols, module);
}

const char *ppi_symbols_soname(struct ppi_symbols *symbols,
                               const struct ppi_symbols_place *place)
{
	const struct ppi_symbols_module *module = module_of(symbols, place);

	return module && module->file
	               ? ppi_symbols_keep(symbols,
	                                  ppi_symbol_file_soname(module->file))
	               : "";
}

/* Of made code that has a name: neither its process nor the file that names it
 * comes again. Programs and libraries in memory are none, which begin with a
 * header and have their code behind it, nor are files of others that do not say
 * where code lies. */
static void take_made(struct ppi_symbols *symbols,
                      const struct ppi_symbols_place *place,
                      struct ppi_symbols_name *name)
{
	const char *path = place->has_mapping ? place->path : "";
	char map[32];

	if (ppi_is_generated(path)) {
		name->made_in = name->path;
	} else if (!place->pid_count || !path[0] || !is_in_memory(place) ||
	           (is_memory(path) &&
	            (place->build_id[0] || place->map_offset))) {
		return;
	} else {
		snprintf(map, sizeof(map), "/tmp/perf-%" PRIu32 ".map",
		         place->pids[0]);
		name->made_in = ppi_symbols_keep(symbols, map);
	}
	name->module = name->path = PPI_GENERATED;
}

void ppi_symbols_take(struct ppi_symbols *symbols,
                      const struct ppi_symbols_place *place,
                      const struct ppi_symbols_given *given, size_t count,
                      struct ppi_symbols_name *name)
{
	const char *path = place->has_mapping ? place->path : "";
	memset(name, 0, sizeof(*name));
	name->module = is_kernel(place) ? "[kernel]"
	                                : ppi_symbols_keep(symbols,
	                                                   short_name(path));
	name->path = is_kernel(place) ? "[kernel]"
	                              : ppi_symbols_keep(symbols, path);
	/* what has no name is written by its address (ppi_symbols_gather) */
	name->is_named =
		!is_placeholder(given[0].function, name->module) &&
		!(ppi_symbols_is_made(place) &&
		  is_placeholder(given[0].function, "[anonymous]"));
	if (symbols->wants_lines && place->has_mapping && path[0] == '/')
		find_place(symbols, place, name);
	if (name->is_named)
		take_made(symbols, place, name);
	symbols->took_names |= name->is_named;
	for (size_t i = 0; name && i < count; i++) {
		name->function = ppi_symbols_keep(symbols, given[i].function);
		ppi_symbols_take_line(symbols, given[i].source_file,
		                      given[i].line, name);
		if (i + 1 < count)
			name = ppi_symbols_add_caller(symbols, name);
	}
}

void ppi_symbols_free(struct ppi_symbols *symbols)
{
	struct ppi_symbols_module *module, *next_module;

	if (!symbols)
		return;
	HASH_ITER (hh, symbols->modules, module, next_module) {
		HASH_DEL(symbols->modules, module);
		ppi_symbol_file_close(module->file);
		free(module->refusal);
		free(module);
	}
	ppi_symbols_free_processes(symbols);
	ppi_symbols_free_words(symbols);
	ppi_symbol_table_free(&symbols->kernel);
	free(symbols);
}
