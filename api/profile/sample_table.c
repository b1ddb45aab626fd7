/* SPDX-License-Identifier: MIT */
/* Samples of one portion, added up by call chain, process, thread, labels. */
#include "api/profile/sample_table.h"

#include "backends/backend.h"
#include "base/clock_ns.h"

#include <string.h>

/*
 * A key is an array of words: the layout of the address space and what kind
 * of sample it is; process and thread; when, if that is kept, and how the chain
 * ends; when exactly, where code comes and goes; its labels and its thread's name;
 * then the addresses as they came. The layout's number makes the same address
 * another key once something else is mapped there, so locations are looked up once
 * a key.
 */
enum {
	WORD_LAYOUT,
	WORD_THREAD,
	WORD_TIME,
	WORD_CODE_TIME,
	WORD_LABELS,
	WORD_CHAIN
};

/* Bounds of the memory of one portion. */
enum { LINES_MAX = 1 << 15, BYTES_MAX = 8 << 20 };

void ppi_sample_table_open(struct ppi_sample_table *table,
                           struct ppi_spaces *spaces, size_t event_count)
{
	memset(table, 0, sizeof(*table));
	table->spaces = spaces;
	ppi_returns_open(&table->returns, spaces->locations);
	table->event_count = event_count;
}

void ppi_sample_table_close(struct ppi_sample_table *table)
{
	ppi_returns_close(&table->returns);
	ppi_pool_free(&table->keys);
	ppi_vector_free(&table->lines);
	ppi_vector_free(&table->chains);
	ppi_vector_free(&table->values);
	ppi_vector_free(&table->scratch);
}

/* pprof has signed 64-bit values: stop at the largest. */
static void add_value(int64_t *value, uint64_t more)
{
	uint64_t sum = (uint64_t)*value + more;

	*value = sum < more || sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

static uint32_t span_of(const portprof_record *record)
{
	if (record->span <= 1)
		return 0;
	return record->span > INT32_MAX ? INT32_MAX : (uint32_t)record->span;
}

/* How long the slice is that a sample falls in. */
static uint64_t slice_of(struct ppi_sample_table *table, uint64_t time_ns)
{
	uint64_t slice_ns = table->slice_ns;

	if (!table->slices_grow)
		return slice_ns;
	if (!table->first_ns)
		table->first_ns = time_ns;
	while (time_ns > table->first_ns &&
	       (time_ns - table->first_ns) / PPI_TIMELINE_SLICES >= slice_ns)
		slice_ns *= 10;
	return slice_ns;
}

/* When the slice began that the sample fell in. */
static uint64_t time_ms_of(struct ppi_sample_table *table,
                           const portprof_record *record)
{
	uint64_t time_ns = table->realtime_ns + record->time_ns, slice_ns;

	if (!table->slice_ns || !(record->valid & PORTPROF_FIELD_TIME))
		return 0;
	slice_ns = slice_of(table, time_ns);
	time_ns = time_ns / slice_ns * slice_ns;
	if (slice_ns > table->slice_ns)
		time_ns += (slice_ns - table->slice_ns) / 2;
	return time_ns / 1000000u;
}

/* When the sample fell, of a process that says when it made which code, where
 * the chain has such code; else 0. */
static uint64_t code_time_of(const struct ppi_sample_table *table,
                             const portprof_record *record, uint32_t pid,
                             const struct ppi_layout *layout,
                             const uint64_t *chain, size_t depth)
{
	if (ppi_ids_find(&table->spaces->dumping, pid) == PPI_NONE)
		return 0;
	for (size_t i = 0; i < depth; i++)
		if (ppi_spaces_may_change(table->spaces, layout, chain[i]))
			return record->valid & PORTPROF_FIELD_TIME
			               ? record->time_ns
			               : ppi_monotonic_ns();
	return 0;
}

static uint64_t chain_end_of(const portprof_record *record)
{
	return record->valid & PORTPROF_FIELD_CHAIN ? record->chain_end
	                                            : PORTPROF_CHAIN_UNKNOWN;
}

/*
 * The location of frame `i` of a line. A caller's address is that of the
 * instruction after its call: one less lies in the call, which is what pprof
 * expects and what its line is looked up by.
 */
static uint64_t locate(struct ppi_sample_table *table,
                       const struct ppi_layout *layout,
                       const struct ppi_sample_line *line,
                       const uint64_t *chain, size_t i, uint64_t *address)
{
	/* where kernel addresses have no sign, only the leaf is sure */
	bool is_kernel = line->is_kernel && i == 0;

	if ((line->is_guest || line->is_unseen) && i == 0) {
		*address = 0;
		return ppi_locations_nowhere(
			table->spaces->locations,
			line->is_guest ? PPI_GUEST_PATH : PPI_UNSEEN_PATH);
	}
	*address = chain[i] - (i > 0 && chain[i] > 0);
	return ppi_spaces_locate(table->spaces, layout, *address, is_kernel);
}

/*
 * Whether the address may belong to the user's part of a chain and is no leaf.
 * Where kernel addresses have no sign (s390), a sample of the kernel may have
 * its callers among them.
 */
static bool is_caller(const struct ppi_sample_line *line, const uint64_t *chain,
                      size_t i)
{
	return i > 0 && !(chain[i] >> 63) &&
	       (!line->is_kernel || chain[0] >> 63);
}

/* What the unwinder followed was looked at by it: a place where a signal
 * interrupted follows no call. */
static bool is_unwound(const struct ppi_sample_line *line)
{
	return line->chain_end != PORTPROF_CHAIN_UNKNOWN;
}

static bool add_line(struct ppi_sample_table *table,
                     const portprof_record *record,
                     const struct ppi_layout *layout, uint32_t pid,
                     uint64_t code_time_ns, uint32_t labels, uint32_t name,
                     const uint64_t *chain, size_t depth)
{
	struct ppi_sample_line line = {
		.labels = labels,
		.name = name,
		.chain = table->chains.count,
		.depth = (uint32_t)depth,
		.pid = pid,
		.tid = record->valid & PORTPROF_FIELD_TID ? record->tid : 0,
		.span = span_of(record),
		.time_ms = time_ms_of(table, record),
		.code_time_ns = code_time_ns,
		.chain_end = (uint8_t)chain_end_of(record),
		.is_kernel = record->valid & PORTPROF_FIELD_KERNEL,
		.is_guest = record->valid & PORTPROF_FIELD_GUEST,
		.is_unseen = record->valid & PORTPROF_FIELD_NOT_SEEN,
		.has_code = layout && layout->extents.count > 0,
		.is_whole = true,
	};
	uint64_t address, *locations;

	if (!ppi_vector_reserve(&table->chains, sizeof(*locations), depth) ||
	    !ppi_vector_reserve(&table->lines, sizeof(line), 1) ||
	    !ppi_vector_add(&table->values, sizeof(int64_t), NULL,
	                    2 * table->event_count))
		return false;
	locations = PPI_AT(&table->chains, uint64_t) + line.chain;
	for (size_t i = 0; i < line.depth; i++) {
		locations[i] = locate(table, layout, &line, chain, i, &address);
		line.is_whole &= locations[i] != 0;
		if (!locations[i] || !is_caller(&line, chain, i))
			continue;
		if (!is_unwound(&line) &&
		    !ppi_returns_can_be(&table->returns, locations[i]))
			line.depth = (uint32_t)i;
		else
			locations[i] = ppi_returns_exact(&table->returns,
			                                 locations[i]);
		if (!locations[i])
			return false;
	}
	table->chains.count += line.depth;
	table->has_cut_chains |= line.chain_end > PORTPROF_CHAIN_WHOLE;
	table->has_code_times |= code_time_ns != 0;
	return ppi_vector_add(&table->lines, sizeof(line), &line, 1);
}

bool ppi_sample_table_add(struct ppi_sample_table *table,
                          const portprof_record *record, uint32_t pid,
                          const uint64_t *chain, size_t depth, uint32_t labels,
                          uint32_t name)
{
	const struct ppi_layout *layout =
		ppi_process_map_find(&table->spaces->processes, pid);
	uint32_t tid = record->valid & PORTPROF_FIELD_TID ? record->tid : 0;
	bool is_kernel = record->valid & PORTPROF_FIELD_KERNEL;
	uint64_t *key;
	int64_t *values;
	uint32_t number;

	if (depth == 0) {
		chain = &record->address;
		depth = 1;
	}
	if (!ppi_vector_reserve(&table->scratch, sizeof(*key),
	                        WORD_CHAIN + depth))
		return false;
	key = table->scratch.data;
	key[WORD_LAYOUT] = (uint64_t)(layout ? layout->number : 0) << 32 |
	                   (uint64_t)span_of(record) << 1 | is_kernel;
	if (record->valid & PORTPROF_FIELD_GUEST)
		key[WORD_LAYOUT] = UINT64_MAX; /* no layout has that number */
	if (record->valid & PORTPROF_FIELD_NOT_SEEN)
		key[WORD_LAYOUT] = UINT64_MAX - 1; /* nor that one */
	key[WORD_THREAD] = (uint64_t)pid << 32 | tid;
	key[WORD_TIME] = time_ms_of(table, record) ^ chain_end_of(record) << 56;
	key[WORD_CODE_TIME] =
		code_time_of(table, record, pid, layout, chain, depth);
	key[WORD_LABELS] = (uint64_t)name << 32 | labels;
	memcpy(key + WORD_CHAIN, chain, depth * sizeof(*chain));
	number = ppi_pool_enter(&table->keys, key,
	                        (WORD_CHAIN + depth) * sizeof(*key));
	if (number == PPI_NONE)
		return false;
	if (number == table->lines.count &&
	    !add_line(table, record, layout, pid, key[WORD_CODE_TIME], labels,
	              name, chain, depth)) {
		ppi_pool_drop_last(&table->keys);
		table->values.count = number * 2 * table->event_count;
		return false;
	}
	values = PPI_AT(&table->values, int64_t) +
	         (size_t)number * 2 * table->event_count;
	add_value(&values[ppi_samples_value(record->event)], record->samples);
	add_value(&values[ppi_weight_value(record->event, table->event_count)],
	          record->weight);
	table->samples += record->samples;
	table->weight += record->weight;
	return true;
}

bool ppi_sample_table_is_full(const struct ppi_sample_table *table)
{
	return table->lines.count >= LINES_MAX ||
	       table->keys.arena.total +
	                       table->chains.count * sizeof(uint64_t) >=
	               BYTES_MAX;
}

static bool finish_line(struct ppi_sample_table *table, size_t number)
{
	struct ppi_sample_line *line =
		&PPI_AT(&table->lines, struct ppi_sample_line)[number];
	const struct ppi_layout *layout =
		ppi_process_map_find(&table->spaces->processes, line->pid);
	const uint64_t *key =
		ppi_pool_key(&table->keys, (uint32_t)number, NULL);
	uint64_t *locations = PPI_AT(&table->chains, uint64_t) + line->chain;

	for (size_t i = 0; i < line->depth; i++) {
		const uint64_t *chain = key + WORD_CHAIN;
		uint64_t address;

		if (locations[i])
			continue;
		locations[i] = locate(table, layout, line, chain, i, &address);
		if (is_caller(line, chain, i) && !is_unwound(line) &&
		    (locations[i] ? !ppi_returns_can_be(&table->returns,
		                                        locations[i])
		                  : line->has_code)) {
			line->depth = (uint32_t)i;
			break;
		}
		if (!locations[i])
			locations[i] = ppi_locations_add(
				table->spaces->locations, PPI_NONE, address);
		else if (is_caller(line, chain, i))
			locations[i] = ppi_returns_exact(&table->returns,
			                                 locations[i]);
		if (!locations[i])
			return false;
	}
	line->is_whole = true;
	return true;
}

bool ppi_sample_table_finish(struct ppi_sample_table *table)
{
	for (size_t i = 0; i < table->lines.count; i++)
		if (!PPI_AT(&table->lines, struct ppi_sample_line)[i]
		             .is_whole &&
		    !finish_line(table, i))
			return false;
	return true;
}

void ppi_sample_table_clear(struct ppi_sample_table *table)
{
	ppi_pool_clear(&table->keys);
	table->lines.count = 0;
	table->chains.count = 0;
	table->values.count = 0;
	table->samples = 0;
	table->weight = 0;
}
