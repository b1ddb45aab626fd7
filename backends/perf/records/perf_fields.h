/* SPDX-License-Identifier: MIT */
/* What only some samples have: fields of tracepoints, and of some hardware. */
#ifndef PERF_FIELDS_H
#define PERF_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "backends/perf/kernel/perf_attr.h"
#include "backends/perf/records/perf_records.h"

/* ---- fields of the hardware ---- */

/* So many branches of a sample are kept; no PMU tells more. */
enum { PERF_BRANCHES_MAX = 64 };

/* Each field that the plan asks for is one that some sampled event can have. */
portprof_status ppi_perf_fields_check(const struct ppi_plan *plan,
                                      struct ppi_diag *why);

/* Add what the plan asks for to the shape of samples. */
void ppi_perf_fields_ask(const struct ppi_plan *plan, struct perf_shape *shape);

/* How many words of a room its fields take, and put them there. */
size_t ppi_perf_fields_words(const struct perf_seen *seen);
void ppi_perf_fields_add(uint32_t fields, const struct perf_seen *seen,
                         struct ppi_room *room, portprof_record *record);

/* What of it this refusal is about, for people. */
const char *ppi_perf_fields_refused(uint32_t fields, int os_error);

/* ---- fields of a tracepoint ---- */

enum perf_raw_kind {
	PERF_RAW_OTHER,    /* a structure, or several numbers */
	PERF_RAW_UNSIGNED,
	PERF_RAW_SIGNED,
	PERF_RAW_TEXT,
	PERF_RAW_TEXT_AT,  /* a word that says where it begins and how long it is */
	PERF_RAW_TEXT_BEHIND /* the same, from the word's end on */
};

struct perf_raw_field {
	const char *name;  /* in the text that it was read from */
	size_t name_bytes;
	uint16_t offset, bytes;
	enum perf_raw_kind kind;
};

/* Of a text kept are so many bytes at most, its end included; and words of the
 * room that an event's fields take. */
enum {
	PERF_RAW_TEXT_BYTES = 64,
	PERF_RAW_WORDS = PERF_RAW_MAX *
		(sizeof(portprof_event_field) + PERF_RAW_TEXT_BYTES) / 8
};

/* The next field of a tracepoint's file `format` but those that every one has; *at
 * is where to look, and moves on. False: there is none. */
bool ppi_perf_raw_next(const char **at, struct perf_raw_field *field);
/* The one of that name, also of those that every one has. */
bool ppi_perf_raw_find(const char *format, const char *name, size_t bytes,
                       struct perf_raw_field *field);

/* One of `seen` behind the others, as the `index`th; nothing where the record is
 * too short for it. */
void ppi_perf_raw_add(const struct perf_raw_field *field, unsigned index,
                      const struct perf_seen *seen, struct ppi_room *room);

#endif
