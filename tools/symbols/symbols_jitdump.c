/* SPDX-License-Identifier: MIT */
/*
 * Names of code that a process made itself, and when, from its jit-PID.dump: what
 * node --perf-prof, LLVM, .NET and perf's agent for Java write
 * (tools/perf/Documentation/jitdump-specification.txt of Linux).
 */
#include "config.h"

#include "tools/symbols/symbols_jit.h"

#include "base/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The machine code itself is passed by, so a dump may be large. */
#define DUMP_BYTES_MAX (UINT64_C(16) << 30)
#define TEXT_BYTES_MAX ((size_t)512 << 20)
enum {
	LOADS_MAX = 1 << 20,
	LINES_MAX = 8 << 20,
	RECORD_MAX = 16 << 20, /* of one that is read as a whole */
	NAME_MAX_BYTES = 1 << 16
};

enum { MAGIC = 0x4a695444, HEADER_BYTES = 40, RECORD_BYTES = 16 };

/* JITDUMP_FLAGS_ARCH_TIMESTAMP: times of the CPU's own counter. */
#define FLAG_CPU_TIMES UINT64_C(1)

enum kind { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE };

/* Texts are offsets in `text`; number 0 is "". */
struct load {
	uint64_t time_ns, start, end;
	uint64_t index; /* by which it is moved */
	size_t function, first_line;
	uint32_t line_count;
};

struct line {
	uint64_t address;
	size_t file;
	uint32_t number;
};

/*
 * Code lies over code that lay there before, in part perhaps, and nobody says
 * when it goes. So the addresses are cut at each end of a load, and a tree over
 * the pieces has each load at the few nodes that make up its span, oldest
 * first: what lay at an address is at one of the nodes above its piece.
 */
struct ppi_jitdump {
	struct ppi_vector loads; /* struct load */
	struct ppi_vector lines; /* struct line */
	struct ppi_vector text;  /* char */

	uint64_t *edges;
	size_t edge_count;
	size_t *first;   /* by node, one more behind: where its loads begin */
	uint32_t *loads_of;

	/* while it is read: 1 more than the newest load of each index, by
	 * index_slot; and lines told of the load that comes next */
	uint32_t *newest;
	size_t newest_room;
	uint64_t told_address;
	size_t told_first;
	uint32_t told_count;
};

static struct load *loads_in(const struct ppi_jitdump *dump)
{
	return PPI_AT(&dump->loads, struct load);
}

static const char *text_at(const struct ppi_jitdump *dump, size_t number)
{
	return PPI_AT(&dump->text, const char) + number;
}

/* ---- records ---- */

static uint32_t u32(const unsigned char *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static uint64_t u64(const unsigned char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static bool add_text(struct ppi_jitdump *dump, const char *text, size_t bytes,
                     size_t *number)
{
	if (bytes >= NAME_MAX_BYTES)
		bytes = NAME_MAX_BYTES - 1;
	*number = dump->text.count;
	return dump->text.count + bytes + 1 <= TEXT_BYTES_MAX &&
	       ppi_vector_add(&dump->text, 1, text, bytes) &&
	       ppi_vector_add(&dump->text, 1, "", 1);
}

/* Where an index is in the table of the newest loads, or would be. Fibonacci
 * hashing: runtimes count their code; and from an address that is another each
 * time, so that no file can be made whose indices all meet. */
static uint32_t *index_slot(const struct ppi_jitdump *dump, uint64_t index)
{
	uint64_t mixed = index ^ (uint64_t)(uintptr_t)dump;
	size_t at = (size_t)(mixed * UINT64_C(11400714819323198485) >> 32);

	for (;; at++) {
		uint32_t *slot = &dump->newest[at & (dump->newest_room - 1)];

		if (!*slot || loads_in(dump)[*slot - 1].index == index)
			return slot;
	}
}

/* Room for one more, at most half of the table in use. */
static bool grow_newest(struct ppi_jitdump *dump)
{
	uint32_t *old = dump->newest;

	if (dump->loads.count < dump->newest_room / 2)
		return true;
	dump->newest_room = dump->newest_room ? 2 * dump->newest_room : 256;
	dump->newest = calloc(dump->newest_room, sizeof(*dump->newest));
	free(old);
	for (size_t i = 0; dump->newest && i < dump->loads.count; i++)
		*index_slot(dump, loads_in(dump)[i].index) = (uint32_t)i + 1;
	return dump->newest;
}

static bool add_load(struct ppi_jitdump *dump, const struct load *load)
{
	if (load->end <= load->start)
		return true; /* no code, or none that there can be */
	if (!ppi_vector_reserve(&dump->loads, sizeof(*load), 1) ||
	    !grow_newest(dump) ||
	    !ppi_vector_add(&dump->loads, sizeof(*load), load, 1))
		return false;
	*index_slot(dump, load->index) = (uint32_t)dump->loads.count;
	return true;
}

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/*
 * Lines are told just before their code. V8 adds to their addresses the size of
 * the header that perf inject puts before each function (deps/v8/src/diagnostics/
 * perf-jit.cc of node: kElfHeaderSize), and the names of some of its files are
 * what lay in freed memory: then addresses behind them are none of the code.
 */
static void take_told_lines(struct ppi_jitdump *dump, struct load *load)
{
	enum { ELF_HEADER_BYTES = 0x40 };
	struct line *lines;
	uint32_t count = dump->told_count;
	uint64_t shift;

	dump->told_count = 0;
	if (count == 0 || dump->told_address != load->start)
		return;
	lines = PPI_AT(&dump->lines, struct line) + dump->told_first;
	qsort(lines, count, sizeof(*lines), compare_lines);
	shift = lines[0].address - load->start == ELF_HEADER_BYTES
	                ? ELF_HEADER_BYTES : 0;
	if (lines[0].address < load->start ||
	    lines[count - 1].address - shift > load->end)
		return;
	for (uint32_t i = 0; i < count; i++)
		lines[i].address -= shift;
	load->first_line = dump->told_first;
	load->line_count = count;
}

/* pid, tid, vma, address, size, index; the name; the code. */
static bool take_load(struct ppi_jitdump *dump, uint64_t time_ns,
                      const unsigned char *body, size_t bytes)
{
	enum { FIXED = 40 };
	struct load load = { .time_ns = time_ns };
	const char *name = (const char *)body + FIXED;

	if (bytes <= FIXED || !memchr(name, '\0', bytes - FIXED))
		return true;
	load.start = u64(body + 16);
	load.end = load.start + u64(body + 24);
	load.index = u64(body + 32);
	take_told_lines(dump, &load);
	return add_text(dump, name, strlen(name), &load.function) &&
	       add_load(dump, &load);
}

/* pid, tid, vma, old address, new address, size, index */
static bool take_move(struct ppi_jitdump *dump, uint64_t time_ns,
                      const unsigned char *body, size_t bytes)
{
	enum { FIXED = 48 };
	struct load load;
	uint32_t number;

	if (bytes < FIXED || dump->loads.count == 0)
		return true;
	number = *index_slot(dump, u64(body + 40));
	if (!number || loads_in(dump)[number - 1].start != u64(body + 16))
		return true;
	load = loads_in(dump)[number - 1];
	load.time_ns = time_ns;
	load.start = u64(body + 24);
	load.end = load.start + u64(body + 32);
	load.line_count = 0; /* they have the old addresses */
	return add_load(dump, &load);
}

/* address, line, discriminator; the file. One of "\377" is the one before. */
static bool take_line(struct ppi_jitdump *dump, const unsigned char **at,
                      const unsigned char *end, size_t *file)
{
	enum { FIXED = 16 };
	struct line line = { 0 };
	const char *name = (const char *)*at + FIXED;
	const char *stop;

	if (end - *at <= FIXED ||
	    !(stop = memchr(name, '\0', (size_t)(end - *at) - FIXED))) {
		*at = end;
		return true;
	}
	if (strcmp(name, "\377") != 0 &&
	    (*file == 0 || strcmp(text_at(dump, *file), name) != 0) &&
	    !add_text(dump, name, (size_t)(stop - name), file))
		return false;
	line.address = u64(*at);
	line.number = u32(*at + 8);
	line.file = *file;
	*at = (const unsigned char *)stop + 1;
	if (dump->lines.count >= LINES_MAX)
		return true;
	if (!ppi_vector_add(&dump->lines, sizeof(line), &line, 1))
		return false;
	dump->told_count++;
	return true;
}

static bool take_debug_info(struct ppi_jitdump *dump,
                            const unsigned char *body, size_t bytes)
{
	enum { FIXED = 16 };
	const unsigned char *at = body + FIXED, *end = body + bytes;
	uint64_t count;
	size_t file = 0;

	if (bytes < FIXED)
		return true;
	dump->told_address = u64(body);
	dump->told_first = dump->lines.count;
	dump->told_count = 0;
	for (count = u64(body + 8); count > 0 && at < end; count--)
		if (!take_line(dump, &at, end, &file))
			return false;
	return true;
}

/* ---- the file ---- */

/* Of a record as much as says something: not the code. */
static size_t bytes_wanted(uint32_t kind, size_t bytes)
{
	switch (kind) {
	case CODE_LOAD:
		return bytes < 40 + NAME_MAX_BYTES ? bytes : 40 + NAME_MAX_BYTES;
	case CODE_MOVE:
		return bytes < 48 ? bytes : 48;
	case CODE_DEBUG_INFO:
		return bytes < RECORD_MAX ? bytes : RECORD_MAX;
	default:
		return 0;
	}
}

static bool take_record(struct ppi_jitdump *dump, uint32_t kind,
                        uint64_t time_ns, const unsigned char *body,
                        size_t bytes)
{
	switch (kind) {
	case CODE_LOAD:
		return take_load(dump, time_ns, body, bytes);
	case CODE_MOVE:
		return take_move(dump, time_ns, body, bytes);
	case CODE_DEBUG_INFO:
		return take_debug_info(dump, body, bytes);
	default:
		return true;
	}
}

/* Until its end, or a record that is not whole: the process may run on. */
static bool read_records(struct ppi_jitdump *dump, FILE *file)
{
	unsigned char head[RECORD_BYTES];
	struct ppi_vector body = { 0 };
	bool is_good = true;

	while (is_good && dump->loads.count < LOADS_MAX &&
	       fread(head, 1, sizeof(head), file) == sizeof(head)) {
		uint32_t kind = u32(head), bytes = u32(head + 4);
		size_t wanted;

		if (bytes < sizeof(head) || kind == CODE_CLOSE)
			break;
		bytes -= (uint32_t)sizeof(head);
		wanted = bytes_wanted(kind, bytes);
		is_good = ppi_vector_reserve(&body, 1, wanted + 1);
		if (!is_good || fread(body.data, 1, wanted, file) != wanted ||
		    fseeko(file, (off_t)(bytes - wanted), SEEK_CUR) != 0)
			break;
		is_good = take_record(dump, kind, u64(head + 8), body.data,
		                      wanted);
	}
	ppi_vector_free(&body);
	return is_good;
}

/* Why a file with this beginning cannot be read; NULL: it can. */
static const char *doubt(const unsigned char *header, size_t bytes)
{
	if (bytes >= 4 && u32(header) == __builtin_bswap32(MAGIC))
		return "was written on a machine of another byte order";
	if (bytes < HEADER_BYTES || u32(header) != MAGIC)
		return "is not a jitdump";
	if (u32(header + 4) != 1)
		return "is a jitdump of a version other than 1";
	if (u32(header + 8) < HEADER_BYTES)
		return "has an incomplete header";
	if (u64(header + 32) & FLAG_CPU_TIMES)
		return "has times of the CPU's counter, not of CLOCK_MONOTONIC";
	return NULL;
}

/* ---- which code lay where ---- */

static int compare_edges(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Of equal times, as of runtimes without a clock, the later record counts. */
static int compare_times(const void *left, const void *right)
{
	const struct load *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static bool cut(struct ppi_jitdump *dump)
{
	size_t kept = 0;

	dump->edges = malloc((2 * dump->loads.count + 1) *
	                     sizeof(*dump->edges));
	if (!dump->edges)
		return false;
	for (size_t i = 0; i < dump->loads.count; i++) {
		dump->edges[2 * i] = loads_in(dump)[i].start;
		dump->edges[2 * i + 1] = loads_in(dump)[i].end;
	}
	if (dump->loads.count)
		qsort(dump->edges, 2 * dump->loads.count, sizeof(*dump->edges),
		      compare_edges);
	for (size_t i = 0; i < 2 * dump->loads.count; i++)
		if (kept == 0 || dump->edges[i] != dump->edges[kept - 1])
			dump->edges[kept++] = dump->edges[i];
	dump->edge_count = kept;
	return true;
}

/* The piece that begins at or last before an address; SIZE_MAX none. */
static size_t piece_of(const struct ppi_jitdump *dump, uint64_t address)
{
	size_t low = 0, high = dump->edge_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dump->edges[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : SIZE_MAX;
}

/* Leaf i is node count + i, the one above a node half its number. `put` NULL
 * counts the loads of each node, else they are put where put[node] says. */
static void spread(struct ppi_jitdump *dump, size_t *put)
{
	for (size_t i = 0; i < dump->loads.count; i++) {
		size_t low = piece_of(dump, loads_in(dump)[i].start) +
		             dump->edge_count;
		size_t high = piece_of(dump, loads_in(dump)[i].end) +
		              dump->edge_count;

		for (; low < high; low /= 2, high /= 2) {
			size_t nodes[2], count = 0;

			if (low & 1)
				nodes[count++] = low++;
			if (high & 1)
				nodes[count++] = --high;
			for (size_t j = 0; j < count; j++)
				if (put)
					dump->loads_of[put[nodes[j]]++] =
						(uint32_t)i;
				else
					dump->first[nodes[j] + 1]++;
		}
	}
}

static bool build(struct ppi_jitdump *dump)
{
	size_t nodes, *put;

	if (dump->loads.count)
		qsort(dump->loads.data, dump->loads.count, sizeof(struct load),
		      compare_times);
	if (!cut(dump))
		return false;
	nodes = 2 * dump->edge_count;
	dump->first = calloc(nodes + 2, sizeof(*dump->first));
	put = malloc((nodes + 1) * sizeof(*put));
	if (dump->first && put) {
		spread(dump, NULL);
		for (size_t i = 0; i < nodes; i++)
			dump->first[i + 1] += dump->first[i];
		dump->loads_of = malloc((dump->first[nodes] + 1) *
		                        sizeof(*dump->loads_of));
		memcpy(put, dump->first, nodes * sizeof(*put));
	}
	if (dump->loads_of)
		spread(dump, put);
	free(put);
	return dump->loads_of != NULL;
}

struct ppi_jitdump *ppi_jitdump_read(const char *path,
                                     const struct ppi_jit_owner *owner,
                                     char *why, size_t why_bytes)
{
	struct ppi_jitdump *dump;
	unsigned char header[HEADER_BYTES];
	const char *doubts;
	FILE *file;
	size_t empty;
	bool is_good;

	why[0] = '\0';
	file = ppi_jit_open(path, owner, DUMP_BYTES_MAX, why, why_bytes);
	if (!file)
		return NULL;
	doubts = doubt(header, fread(header, 1, sizeof(header), file));
	if (doubts) {
		snprintf(why, why_bytes, "%s", doubts);
		fclose(file);
		return NULL;
	}
	dump = calloc(1, sizeof(*dump));
	is_good = dump && add_text(dump, "", 0, &empty) &&
	          fseeko(file, (off_t)u32(header + 8), SEEK_SET) == 0 &&
	          read_records(dump, file) && build(dump);
	fclose(file);
	if (is_good)
		return dump;
	snprintf(why, why_bytes, "needs more memory than is available");
	ppi_jitdump_free(dump);
	return NULL;
}

void ppi_jitdump_free(struct ppi_jitdump *dump)
{
	if (!dump)
		return;
	ppi_vector_free(&dump->loads);
	free(dump->newest);
	ppi_vector_free(&dump->lines);
	ppi_vector_free(&dump->text);
	free(dump->edges);
	free(dump->first);
	free(dump->loads_of);
	free(dump);
}

/* ---- looking up ---- */

/* Of those of a node: the last until then, and the first of all. */
static void look_in_node(const struct ppi_jitdump *dump, size_t node,
                         uint64_t time_ns, uint32_t *last, uint32_t *first)
{
	size_t begin = dump->first[node], low = begin;
	size_t high = dump->first[node + 1];

	if (low == high)
		return;
	if (dump->loads_of[low] < *first)
		*first = dump->loads_of[low];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (loads_in(dump)[dump->loads_of[middle]].time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > begin &&
	    (*last == UINT32_MAX || dump->loads_of[low - 1] > *last))
		*last = dump->loads_of[low - 1];
}

static void find_line(const struct ppi_jitdump *dump, const struct load *load,
                      uint64_t address, struct ppi_jitdump_code *code)
{
	const struct line *lines =
		PPI_AT(&dump->lines, const struct line) + load->first_line;
	size_t low = 0, high = load->line_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lines[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return;
	code->source_file = text_at(dump, lines[low - 1].file);
	code->line = lines[low - 1].number;
}

bool ppi_jitdump_find(const struct ppi_jitdump *dump, uint64_t address,
                      uint64_t time_ns, struct ppi_jitdump_code *code)
{
	uint32_t last = UINT32_MAX, first = UINT32_MAX;
	size_t piece = piece_of(dump, address);
	const struct load *load;

	if (piece == SIZE_MAX)
		return false;
	for (size_t node = piece + dump->edge_count; node > 0; node /= 2)
		look_in_node(dump, node, time_ns, &last, &first);
	if (last == UINT32_MAX)
		last = first;
	if (last == UINT32_MAX)
		return false;
	load = &loads_in(dump)[last];
	*code = (struct ppi_jitdump_code){ text_at(dump, load->function), "", 0 };
	if (load->line_count)
		find_line(dump, load, address, code);
	return true;
}
