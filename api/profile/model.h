/* SPDX-License-Identifier: MIT */
/* A profile in memory, and how things get into it: each thing once, equal
 * samples added up. */
#ifndef PPI_FILE_MODEL_H
#define PPI_FILE_MODEL_H

#include <portprof/profile.h>

#include "api/profile/memory.h"

/* One of a sample's values, as the file orders them. */
struct ppi_type {
	uint32_t type, unit; /* strings */
	uint32_t event;      /* whose value this is */
	bool is_samples;     /* its count of samples; else its weight */
	uint32_t factor;     /* of its values in another unit of time; 0: none */
};

struct ppi_profile_event {
	portprof_profile_event shown;
	bool is_cpu_time; /* its total is the CPU time of the target */
};

struct ppi_mapping {
	portprof_profile_mapping shown;
	bool has_functions, has_filenames, has_line_numbers, has_inlines;
};

struct ppi_function {
	uint32_t name, system_name, filename; /* strings */
	uint32_t unused;                      /* 0: it is part of a key */
	int64_t start_line;
};

struct ppi_line {
	uint64_t function; /* number */
	int64_t line, column;
};

struct ppi_location {
	portprof_profile_location shown;
	size_t first_line, line_count; /* of lines */
	bool is_folded;
};

struct ppi_label {
	uint32_t key, text, unit; /* strings */
	uint32_t unused;
	int64_t number;
};

struct ppi_sample {
	portprof_profile_sample shown; /* arrays lie in pool and arena */
	uint32_t labels;               /* number of a set */
};

/* Its members are the tables of a file, each with its count. */
struct portprof_profile {
	struct ppi_pool strings; /* 0 is "" */
	struct ppi_arena arena;

	struct ppi_vector types;  /* struct ppi_type */
	struct ppi_vector events; /* struct ppi_profile_event */
	uint32_t default_type;    /* string */
	struct ppi_type period_type;
	int64_t period;
	uint32_t drop_frames, keep_frames, doc_url;
	struct ppi_vector comments; /* uint32_t: others' than ours */

	struct ppi_pool mapping_keys, mapping_contents;
	struct ppi_vector mappings, content_mappings;
	struct ppi_pool function_keys;
	struct ppi_vector functions;
	struct ppi_pool location_keys;
	bool has_old_keys; /* a location was named: its key is another one */
	struct ppi_vector locations, lines;
	struct ppi_vector shown_lines; /* portprof_profile_line, of lines */
	struct ppi_pool label_sets; /* 0 is the empty one */
	struct ppi_pool sample_keys;
	struct ppi_vector samples;
	struct ppi_pool thread_keys;
	struct ppi_vector threads; /* portprof_profile_thread */

	bool has_account; /* the writer was portprof */
	bool has_main;    /* mapping 0 is the program */
	portprof_profile_origin origin;
	struct ppi_vector passed_names, passed_reasons, notes, facts; /* char * */
	char *damage;
};

/* An empty profile; NULL when out of memory. */
portprof_profile *ppi_profile_new(void);

/* Below, PPI_NONE and false mean that memory is out. */

/* What is measured; then, once, the types of values in the order of every file:
 * counts of samples, then weights backwards. */
bool ppi_profile_add_event(portprof_profile *profile, const char *name,
                           const char *description, portprof_unit unit,
                           bool is_cpu_time);
bool ppi_profile_add_types(portprof_profile *profile);

uint32_t ppi_profile_text(portprof_profile *profile, const char *text,
                          size_t bytes);
/* The string of a number, and one that the profile keeps. */
const char *ppi_profile_string(const portprof_profile *profile, uint32_t text);
const char *ppi_profile_keep(portprof_profile *profile, const char *text);

/*
 * A mapping of these contents. `merge`: one that lies elsewhere is taken too
 * when it is the same file; the caller moves its addresses.
 */
uint32_t ppi_profile_mapping(portprof_profile *profile,
                             const struct ppi_mapping *mapping, bool merge);
uint32_t ppi_profile_function(portprof_profile *profile,
                              const struct ppi_function *function);
/* Lines of functions that are in the profile; *first is where they stand. */
bool ppi_profile_lines(portprof_profile *profile, const struct ppi_line *lines,
                       size_t count, size_t *first);
/* mapping: a number or PPI_NONE. */
uint32_t ppi_profile_location(portprof_profile *profile, uint32_t mapping,
                              uint64_t address, const struct ppi_line *lines,
                              size_t line_count, bool is_folded);
uint32_t ppi_profile_labels(portprof_profile *profile,
                            const struct ppi_label *labels, size_t count);
const struct ppi_label *ppi_profile_label_set(const portprof_profile *profile,
                                              uint32_t set, size_t *count);

/* Add a sample: to the equal one that is there, or as a new one. `shown` has
 * all but the labels; its arrays are copied. */
bool ppi_profile_sample(portprof_profile *profile,
                        const portprof_profile_sample *shown, uint32_t labels);

/* A thread; a name replaces none, and with `replace` any. */
bool ppi_profile_thread(portprof_profile *profile, uint32_t pid, uint32_t tid,
                        const char *name, bool replace);

/* Whose the process is that was entered as a thread; nothing where it was not,
 * or where that is known. */
void ppi_profile_owner(portprof_profile *profile, uint32_t pid, int64_t owner,
                       uint64_t began_ns);

/* Both unless they are there already. */
bool ppi_profile_fact(portprof_profile *profile, const char *words);
bool ppi_profile_note(portprof_profile *profile, const char *words);
bool ppi_profile_passed_over(portprof_profile *profile, const char *name,
                             const char *reason);
bool ppi_profile_comment(portprof_profile *profile, uint32_t text);

/* What it takes in memory, but for what is small in all of them. */
uint64_t ppi_profile_bytes(const portprof_profile *profile);

/* a + b, but the largest number when that would be more. */
static inline uint64_t ppi_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

#endif
