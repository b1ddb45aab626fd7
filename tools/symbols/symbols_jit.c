/* SPDX-License-Identifier: MIT */
/* Names of code without a file, for each process that made it: by its map.
 * Dumps, which also say when, are read in symbols_jitdump.c. */
#include "config.h"

#include "tools/symbols/symbols_jit.h"

#include "base/foreign_file.h"
#include "base/processes.h"
#include "base/vector.h"
#include "tools/symbols/symbols.h"
#include "tools/symbols/symbols_held.h"
#include "tools/symbols/symbols_state.h"
#include "tools/symbols/symbols_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one map ---- */

/*
 * Names of code that a process made itself, from /tmp/perf-PID.map: what
 * python -X perf, node --perf-basic-prof, perf-map-agent and others write
 * (Documentation/jit-interface.txt in tools/perf of the kernel).
 */

/* A map that is larger, or has more pieces, is none: those of large programs
 * have some hundred thousand lines and tens of megabytes. */
#define MAP_BYTES_MAX (UINT64_C(256) << 20)
enum { PIECES_MAX = 4 << 20 };

/* Clocks of file systems are coarse, and that of processes has ticks. */
#define SLACK_NS UINT64_C(2000000000)

static uint64_t ns_of(struct timespec time)
{
	return time.tv_sec < 0 ? 0
	                       : (uint64_t)time.tv_sec * 1000000000u +
	                                 (uint64_t)time.tv_nsec;
}

/* When a file was made; 0 where nobody knows. */
static uint64_t made_ns(int fd)
{
#ifdef STATX_BTIME
	struct statx at;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &at) == 0 &&
	    at.stx_mask & STATX_BTIME)
		return (uint64_t)at.stx_btime.tv_sec * 1000000000u +
		       at.stx_btime.tv_nsec;
#endif
	(void)fd;
	return 0;
}

/* Whether the process that was measured runs on: then a map that it made
 * later is its own, too. */
static bool runs_on(const struct ppi_jit_owner *owner)
{
	struct ppi_process_owner now;

	return owner->began_ns && ppi_process_owner(owner->pid, &now) &&
	       now.began_ns + SLACK_NS > owner->began_ns &&
	       now.began_ns < owner->began_ns + SLACK_NS;
}

static const char *doubt(int fd, const struct stat *at,
                         const struct ppi_jit_owner *owner,
                         uint64_t bytes_max)
{
	uint64_t made = made_ns(fd);

	if (at->st_uid !=
	    (owner->user >= 0 ? (uid_t)owner->user : geteuid()))
		return "belongs to another user than the process";
	if (at->st_mode & S_IWOTH)
		return "can be written by everybody";
	if (at->st_size < 0 || (uint64_t)at->st_size > bytes_max)
		return "is too large";
	if (owner->began_ns && ns_of(at->st_mtim) + SLACK_NS < owner->began_ns)
		return "was written before the process began";
	if (owner->ended_ns && made > owner->ended_ns + SLACK_NS &&
	    !runs_on(owner))
		return "was made after the measurement, when the process was "
		       "gone";
	return NULL;
}

FILE *ppi_jit_open(const char *path, const struct ppi_jit_owner *owner,
                   uint64_t bytes_max, char *why, size_t why_bytes)
{
	struct stat at;
	int fd = ppi_foreign_open(path,
	                          strncmp(path, "/proc/self/fd/", 14) == 0
	                                  ? PPI_FOREIGN_FILE
	                                  : PPI_FOREIGN_NO_LINK, &at);
	const char *doubts;
	FILE *file;

	if (fd < 0) {
		if (errno != ENOENT)
			snprintf(why, why_bytes, "cannot be read: %s",
			         ppi_foreign_error(errno));
		return NULL;
	}
	doubts = fstat(fd, &at) == 0 ? doubt(fd, &at, owner, bytes_max)
	                             : "cannot be read";
	if (doubts)
		snprintf(why, why_bytes, "%s", doubts);
	file = doubts ? NULL : fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

/* [start, end) was said to be `name` by a line; later ones have higher
 * numbers. */
struct piece {
	uint64_t start, end;
	size_t line, name; /* name: where it begins in the text of names */
};

struct map {
	struct ppi_vector pieces; /* struct piece */
	struct ppi_vector names;  /* char */
	bool has_reused; /* lines give the same address two names */
};

static bool add_piece(struct map *map, uint64_t start, uint64_t end,
                      size_t line, const char *name)
{
	struct piece piece = { start, end, line, map->names.count };

	return ppi_vector_add(&map->names, 1, name, strlen(name) + 1) &&
	       ppi_vector_add(&map->pieces, sizeof(piece), &piece, 1);
}

/* A line that is none is passed by. */
static bool read_line(struct map *map, char *line, size_t number)
{
	uint64_t start, size;
	char *at;

	line[strcspn(line, "\r\n")] = '\0';
	errno = 0;
	start = strtoumax(line, &at, 16);
	if (at == line || *at != ' ')
		return true;
	line = at;
	size = strtoumax(line, &at, 16);
	while (*at == ' ')
		at++;
	if (at == line || errno || size == 0 || !*at ||
	    start > UINT64_MAX - size)
		return true;
	return add_piece(map, start, start + size, number, at);
}

/* ---- what counts where lines overlap ---- */

static int compare_starts(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int compare_edges(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Pieces that have begun, the youngest on top. */
struct heap {
	const struct piece **pieces;
	size_t count;
};

static void push(struct heap *heap, const struct piece *piece)
{
	size_t at = heap->count++;

	for (; at > 0 && heap->pieces[(at - 1) / 2]->line < piece->line;
	     at = (at - 1) / 2)
		heap->pieces[at] = heap->pieces[(at - 1) / 2];
	heap->pieces[at] = piece;
}

static void pop(struct heap *heap)
{
	const struct piece *last = heap->pieces[--heap->count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    heap->pieces[child + 1]->line > heap->pieces[child]->line)
			child++;
		if (heap->pieces[child]->line <= last->line)
			break;
		heap->pieces[at] = heap->pieces[child];
		at = child;
	}
	heap->pieces[at] = last;
}

static void pop_ended(struct heap *heap, uint64_t address)
{
	while (heap->count && heap->pieces[0]->end <= address)
		pop(heap);
}

static const char *name_of(const struct map *map, const struct piece *piece)
{
	return PPI_AT(&map->names, const char) + piece->name;
}

static void begin(struct map *map, struct heap *heap,
                  const struct piece *piece)
{
	pop_ended(heap, piece->start);
	map->has_reused |= heap->count &&
	                   strcmp(name_of(map, heap->pieces[0]),
	                          name_of(map, piece)) != 0;
	push(heap, piece);
}

/* From edge to edge, the youngest piece that has begun and not ended. */
static bool sweep(struct map *map, const uint64_t *edges,
                  struct heap *heap, struct ppi_symbol_table *table)
{
	const struct piece *pieces = PPI_AT(&map->pieces, const struct piece);
	size_t count = map->pieces.count, next = 0;
	bool is_good = true;

	for (size_t i = 0; is_good && i + 1 < 2 * count; i++) {
		if (edges[i] == edges[i + 1])
			continue;
		while (next < count && pieces[next].start <= edges[i])
			begin(map, heap, &pieces[next++]);
		pop_ended(heap, edges[i]);
		if (heap->count)
			is_good = ppi_symbol_table_add(
				table, edges[i], edges[i + 1] - edges[i],
				edges[i + 1], 0,
				name_of(map, heap->pieces[0]));
	}
	return is_good;
}

static bool resolve(struct map *map, struct ppi_symbol_table *table)
{
	struct piece *pieces = PPI_AT(&map->pieces, struct piece);
	size_t count = map->pieces.count;
	uint64_t *edges = calloc(2 * count + 1, sizeof(*edges));
	struct heap heap = { calloc(count + 1, sizeof(*heap.pieces)), 0 };
	bool is_good = edges && heap.pieces;

	if (is_good && count) {
		for (size_t i = 0; i < count; i++) {
			edges[2 * i] = pieces[i].start;
			edges[2 * i + 1] = pieces[i].end;
		}
		qsort(edges, 2 * count, sizeof(*edges), compare_edges);
		qsort(pieces, count, sizeof(*pieces), compare_starts);
		is_good = sweep(map, edges, &heap, table);
	}
	free(edges);
	free(heap.pieces);
	return is_good && ppi_symbol_table_sort(table);
}

bool ppi_jit_read(const char *path, const struct ppi_jit_owner *owner,
                  struct ppi_symbol_table *table, char *why, size_t why_bytes)
{
	FILE *file;
	struct map map = { 0 };
	char *line = NULL;
	size_t room = 0, number = 0;
	bool is_good = true;

	why[0] = '\0';
	file = ppi_jit_open(path, owner, MAP_BYTES_MAX, why, why_bytes);
	if (!file)
		return false;
	/* it may grow while it is read */
	while (is_good && map.pieces.count < PIECES_MAX &&
	       (uint64_t)ftello(file) <= MAP_BYTES_MAX && getline(&line, &room, file) >= 0)
		is_good = read_line(&map, line, number++);
	free(line);
	fclose(file);
	is_good = is_good && resolve(&map, table);
	if (!is_good)
		snprintf(why, why_bytes, "needs more memory than is available");
	else if (map.pieces.count == 0)
		snprintf(why, why_bytes,
		         "has no lines of the form START SIZE NAME");
	else if (map.has_reused)
		snprintf(why, why_bytes,
		         "names some addresses more than once: its last line "
		         "for an address counts, also for code that was there "
		         "before");
	is_good = is_good && map.pieces.count;
	ppi_vector_free(&map.pieces);
	ppi_vector_free(&map.names);
	return is_good;
}

/* ---- what files with such names are called ---- */

bool ppi_is_generated(const char *path)
{
	static const char *const forms[] = { "perf-%*u.map%n", "jit-%*u.dump%n",
		                             "jitted-%*u-%*u.so%n",
		                             "[JIT] tid %*u%n" };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		int length = 0;

		(void)sscanf(name, forms[i], &length);
		if (length && (!name[length] ||
		               strcmp(name + length, " (deleted)") == 0))
			return true;
	}
	return false;
}

/* ---- the processes ---- */

/* What one process says of its code. */
struct ppi_symbols_process {
	UT_hash_handle hh;
	uint32_t pid;
	bool is_read, has_names;
	int64_t user;      /* -1 unknown */
	uint64_t began_ns; /* 0 unknown */
	const char *path;
	struct ppi_symbol_table table;
};

/* A map that was finished before may be of an earlier process of that number:
 * nobody takes them away. Whose it is cannot be seen, so people are told. */
static void note_old_map(struct ppi_symbols *symbols, const char *path)
{
	struct stat at;
	char words[300];

	if (symbols->recorded_ns == 0 || stat(path, &at) != 0 ||
	    (uint64_t)at.st_mtime >= symbols->recorded_ns / 1000000000u)
		return;
	snprintf(words, sizeof(words),
	         "%s was written before the measurement: its names are right "
	         "only if the process had made all its code by then",
	         path);
	ppi_symbols_add_note(symbols, NULL, words);
}

static struct ppi_symbols_process *get_process(struct ppi_symbols *symbols,
                                               uint32_t pid)
{
	struct ppi_symbols_process *process;

	HASH_FIND(hh, symbols->processes, &pid, sizeof(pid), process);
	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->user = -1;
	HASH_ADD(hh, symbols->processes, pid, sizeof(process->pid), process);
	return process;
}

void ppi_symbols_know_process(struct ppi_symbols *symbols, uint32_t pid,
                              int64_t user, uint64_t began_ns)
{
	struct ppi_symbols_process *process = get_process(symbols, pid);

	if (!process)
		return;
	process->user = user;
	process->began_ns = began_ns;
}

static void read_map(struct ppi_symbols *symbols,
                     struct ppi_symbols_process *process)
{
	const struct ppi_jit_owner owner = { process->pid, process->user,
		                             process->began_ns,
		                             symbols->ended_ns };
	char path[64], held[PPI_HELD_NAME_ROOM], why[200], words[300];

	process->is_read = true;
	snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", process->pid);
	process->path = ppi_symbols_keep(symbols, path);
	process->has_names =
		(ppi_held_map(symbols->held, process->pid, held) &&
	         ppi_jit_read(held, &owner, &process->table, why,
	                      sizeof(why))) ||
		ppi_jit_read(path, &owner, &process->table, why, sizeof(why));
	if (process->has_names) {
		if (!process->began_ns)
			note_old_map(symbols, path);
		if (why[0]) {
			snprintf(words, sizeof(words), "%s %s", path, why);
			ppi_symbols_add_note(symbols, NULL, words);
		}
	} else if (why[0]) {
		snprintf(words, sizeof(words), "%s %s; its code is not named",
		         path, why);
		ppi_symbols_add_note(symbols, NULL, words);
	}
}

static const struct ppi_symbols_process *process_of(struct ppi_symbols *symbols,
                                                    uint32_t pid)
{
	struct ppi_symbols_process *process = get_process(symbols, pid);

	if (process && !process->is_read)
		read_map(symbols, process);
	return process;
}

static void note_quarrel(struct ppi_symbols *symbols)
{
	if (symbols->has_quarrel)
		return;
	symbols->has_quarrel = true;
	ppi_symbols_add_note(symbols, NULL,
	                     "processes call the same address by different "
	                     "names; such code is not named");
}

bool ppi_symbols_in_processes(struct ppi_symbols *symbols,
                              const struct ppi_symbols_place *place,
                              struct ppi_symbols_name *name)
{
	const char *found = NULL;

	for (size_t i = 0; i < place->pid_count; i++) {
		const struct ppi_symbols_process *process =
			process_of(symbols, place->pids[i]);
		const struct ppi_symbol *symbol = NULL;
		const char *text;

		if (process && process->has_names)
			symbol = ppi_symbol_table_find(&process->table,
			                               place->address);
		if (!symbol)
			continue;
		text = ppi_symbols_keep(
			symbols, ppi_symbol_name(&process->table, symbol));
		if (found && text != found) {
			note_quarrel(symbols);
			return false;
		}
		if (!found)
			name->made_in = process->path;
		found = text;
	}
	if (!found)
		return false;
	name->module = name->path = PPI_GENERATED;
	name->function = found;
	name->is_named = true;
	return true;
}

void ppi_symbols_gather(struct ppi_symbols *symbols,
                        const struct ppi_symbols_place *place,
                        struct ppi_symbols_name *name)
{
	char function[80] = "(code made while running)";

	name->module = "[anonymous]";
	name->path = "//anon";
	if (ppi_is_generated(place->path))
		name->made_in = ppi_symbols_keep(symbols, place->path);
	ppi_symbols_by_address(symbols, place->address, name);
	name->by_address = name->function;
	/* what was forked lies at the same addresses */
	if (place->pid_count > 1)
		snprintf(function, sizeof(function),
		         "(code made while running, several processes)");
	else if (place->pid_count)
		snprintf(function, sizeof(function),
		         "(code made while running, PID %" PRIu32 ")",
		         place->pids[0]);
	name->function = ppi_symbols_keep(symbols, function);
}

void ppi_symbols_free_processes(struct ppi_symbols *symbols)
{
	struct ppi_symbols_process *process, *next;

	HASH_ITER (hh, symbols->processes, process, next) {
		HASH_DEL(symbols->processes, process);
		ppi_symbol_table_free(&process->table);
		free(process);
	}
}
