/* SPDX-License-Identifier: MIT */
/* A profile as its messages are in the file, before they are validated. */
#ifndef PPI_FILE_RAW_H
#define PPI_FILE_RAW_H

#include <portprof/status.h>

#include "api/profile/memory.h"
#include "api/profile/pprof/profile.pb-c.h"
#include "base/vector.h"

struct ppi_raw_string {
	const char *text;
	size_t bytes;
};

struct ppi_raw_location {
	uint64_t id, mapping, address;
	size_t first_line, line_count;
	bool is_folded;
};

struct ppi_raw_line {
	uint64_t function;
	int64_t line, column;
};

struct ppi_raw_label {
	int64_t key, str, num, unit;
};

/* Its message, read through once without a mistake. */
struct ppi_raw_sample {
	const uint8_t *bytes;
	size_t count;
};

/* A sample taken apart; memory is used again for the next. */
struct ppi_raw_parts {
	struct ppi_vector locations; /* uint64_t */
	struct ppi_vector values;    /* int64_t */
	struct ppi_vector labels;    /* struct ppi_raw_label */
};

struct ppi_raw_thread {
	uint32_t pid, tid;
	const char *name;
	uint32_t owner; /* plus 1 */
	uint64_t began_ns;
};

enum ppi_raw_list {
	PPI_RAW_STRINGS,   /* struct ppi_raw_string */
	PPI_RAW_TYPES,     /* Ppi__ValueType */
	PPI_RAW_MAPPINGS,  /* Ppi__Mapping */
	PPI_RAW_FUNCTIONS, /* Ppi__Function */
	PPI_RAW_LOCATIONS, /* struct ppi_raw_location */
	PPI_RAW_LINES,     /* struct ppi_raw_line */
	PPI_RAW_SAMPLES,   /* struct ppi_raw_sample */
	PPI_RAW_COMMENTS,  /* int64_t */
	PPI_RAW_THREADS,   /* struct ppi_raw_thread */
	PPI_RAW_LISTS
};

/* Fields of which the last one counts. */
struct ppi_raw_single {
	int64_t drop_frames, keep_frames, time_ns, duration_ns, period;
	int64_t default_type, doc_url, period_type, period_unit;
	const uint8_t *account; /* a packed message */
	size_t account_bytes;
};

struct ppi_raw {
	struct ppi_vector lists[PPI_RAW_LISTS];
	struct ppi_raw_single single;
	struct ppi_arena arena;   /* texts */
	struct ppi_arena news;    /* samples and the account */
	struct ppi_raw_parts parts; /* of the sample in hand */
	struct ppi_arena scratch; /* the message in hand */
	const struct ppi_bounds *bounds; /* of all of it; NULL: none */
};

/* What it takes in memory. */
uint64_t ppi_raw_bytes(const struct ppi_raw *raw);

/*
 * Add the messages in `bytes`. E_FORMAT, E_LIMIT (the bounds) or E_NOMEM: `raw`
 * is as before. All numbers that point to something may still point to nothing.
 */
portprof_status ppi_raw_add(struct ppi_raw *raw, const uint8_t *bytes,
                            size_t count);
void ppi_raw_free(struct ppi_raw *raw);

/* Forget the samples: what is added later may still point to all else. False
 * when out of memory. */
bool ppi_raw_forget_samples(struct ppi_raw *raw);

/* E_FORMAT, E_NOMEM: `parts` holds anything. */
portprof_status ppi_raw_sample_read(const struct ppi_raw_sample *sample,
                                    struct ppi_raw_parts *parts);
void ppi_raw_parts_free(struct ppi_raw_parts *parts);

/* Unpack into `arena`; NULL and E_FORMAT, or E_NOMEM. */
void *ppi_unpack(const ProtobufCMessageDescriptor *kind,
                 struct ppi_arena *arena, const uint8_t *bytes, size_t count,
                 portprof_status *status);

#endif
