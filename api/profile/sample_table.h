/* SPDX-License-Identifier: MIT */
/* Samples of one portion, added up by call chain, process, thread, labels. */
#ifndef PPI_FILE_SAMPLE_TABLE_H
#define PPI_FILE_SAMPLE_TABLE_H

#include <portprof/record.h>

#include "api/profile/locations.h"

/* ---- labels that say when, and how whole a chain is ---- */

/* The label that says when a sample's slice of time began, by CLOCK_REALTIME,
 * so that files of several processes agree. */
#define PPI_TIME_LABEL "time"
#define PPI_TIME_UNIT "unix_ms"

/*
 * Where nobody said how finely (timeline = auto): slices of the finest length
 * for so many of them, then ten times as long until there are as many, and so
 * on, so that a file has a bounded number of times. A slice that is longer
 * than the finest has the time of a finest one in its middle, so that readers
 * need not know.
 */
enum { PPI_TIMELINE_SLICES = 2000 };

/* The label of a chain that was unwound by frame tables and is cut: why, as a
 * number of enum portprof_chain_end. */
#define PPI_CHAIN_END_LABEL "chain_end"

/* The label of samples in code that their process made while running, and of
 * which it says when: the time of the sample, by CLOCK_MONOTONIC. */
#define PPI_CODE_TIME_LABEL "code_time"
#define PPI_CODE_TIME_UNIT "monotonic_ns"

/* ---- the table ---- */

/* What the values of the same number belong to. */
struct ppi_sample_line {
	size_t chain;   /* first of `depth` elements of chains */
	uint32_t depth;
	uint32_t pid, tid;
	uint32_t span;  /* 0 = exact; else bytes that a pc stands for */
	uint64_t time_ms; /* of its slice, CLOCK_REALTIME; 0 = not kept */
	uint64_t code_time_ns; /* CLOCK_MONOTONIC; 0 = not kept */
	bool is_kernel, is_guest, is_unseen;
	bool has_code;  /* some code of the process was known then */
	bool is_whole;  /* every location is known */
	uint8_t chain_end; /* enum portprof_chain_end */
	uint32_t labels; /* the number of their set; 0 = none */
	uint32_t name;   /* of the thread then: a string; 0 = not known */
};

struct ppi_sample_table {
	struct ppi_spaces *spaces;
	struct ppi_returns returns;
	size_t event_count;
	uint64_t slice_ns;        /* keep when samples fell; 0 = do not */
	bool slices_grow;         /* see PPI_TIMELINE_SLICES */
	uint64_t first_ns;        /* then, of the first sample; 0 = none yet */
	uint64_t realtime_ns;     /* CLOCK_REALTIME when CLOCK_MONOTONIC is 0 */
	struct ppi_pool keys;     /* words: see sample_table.c */
	struct ppi_vector lines;  /* struct ppi_sample_line, by key */
	struct ppi_vector chains; /* uint64_t: locations, 0 = not known yet */
	struct ppi_vector values; /* int64_t: 2 * event_count a line, in the
	                           * order of the file's sample types */
	struct ppi_vector scratch; /* room for the words of a key */
	bool has_cut_chains;      /* some line has a chain_end that says so */
	bool has_code_times;      /* some line has a code_time_ns */
	uint64_t samples, weight; /* sums over all lines and events */
};

/* Where the values of an event stand among a sample's: the counts first, in
 * order of the events; then the weights, of the first event last. */
static inline size_t ppi_samples_value(size_t event)
{
	return event;
}

static inline size_t ppi_weight_value(size_t event, size_t event_count)
{
	return 2 * event_count - 1 - event;
}

void ppi_sample_table_open(struct ppi_sample_table *table,
                           struct ppi_spaces *spaces, size_t event_count);
void ppi_sample_table_close(struct ppi_sample_table *table);

/*
 * Count a sample. `chain` has its call chain, leaf first, other addresses
 * being return addresses; with depth 0 record->address is all there is. The
 * chain ends before what cannot be a caller: memory where no code is mapped,
 * or text without a call. `labels` is the set of its labels and `name` the
 * string of its thread's name, 0 for none. False when out of memory: it was not
 * counted.
 */
bool ppi_sample_table_add(struct ppi_sample_table *table,
                          const portprof_record *record, uint32_t pid,
                          const uint64_t *chain, size_t depth, uint32_t labels,
                          uint32_t name);

/* Whether it is time to write, for the memory that it takes. */
bool ppi_sample_table_is_full(const struct ppi_sample_table *table);

/* Look again for what was not mapped when it was first seen: a module may be
 * told of after the first sample in it. False when out of memory. */
bool ppi_sample_table_finish(struct ppi_sample_table *table);

/* Begin anew, after the portion was made. */
void ppi_sample_table_clear(struct ppi_sample_table *table);

static inline size_t
ppi_sample_table_count(const struct ppi_sample_table *table)
{
	return table->lines.count;
}

#endif
