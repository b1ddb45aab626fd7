/* SPDX-License-Identifier: MIT */
/* Whose a sample is: a thread's, a process', that of threads of a name, or of a
 * label's value. All are numbered in the order of their first coming. */
#ifndef PPI_OWNERS_H
#define PPI_OWNERS_H

#include <portprof.h>
#include <portprof/tool.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- pairs of numbers ---- */

#define PPI_NO_PAIR UINT32_MAX

/* All zero is empty. */
struct ppi_pairs {
	uint64_t *pairs; /* by number */
	uint32_t count;
	uint32_t *slots;   /* number + 1; 0 is free */
	size_t slot_count; /* a power of two, or 0 */
};

/* The number of a pair, entered when it is new (`count` has then grown by
 * one). PPI_NO_PAIR when out of memory. */
uint32_t ppi_pairs_enter(struct ppi_pairs *pairs, uint32_t left,
                         uint32_t right);

/* The number of a pair, or PPI_NO_PAIR. */
uint32_t ppi_pairs_find(const struct ppi_pairs *pairs, uint32_t left,
                        uint32_t right);

void ppi_pairs_free(struct ppi_pairs *pairs);

/* ---- threads and processes ---- */

struct ppi_owner_entry;

struct ppi_owner {
	uint32_t pid, tid; /* 0 where not told apart by them */
	const char *name;  /* "" unknown */
	uint32_t number;
};

struct ppi_owners {
	const portprof_profile *profile;
	unsigned keys; /* PPI_BY_ bits */
	struct ppi_owner_entry *table, *last;
	struct ppi_pairs named_threads; /* all of the profile */
	uint32_t count;
};

/* False when out of memory; ppi_owners_close is due all the same. */
bool ppi_owners_open(struct ppi_owners *owners, const portprof_profile *profile,
                     unsigned keys);

/* NULL when out of memory. */
const struct ppi_owner *
ppi_owners_find(struct ppi_owners *owners,
                const portprof_profile_sample *sample);
void ppi_owners_close(struct ppi_owners *owners);

/* ---- labels: the value of one in each sample, as text ---- */

/* Equal values are one. */
struct ppi_label_value {
	uint32_t number;
	const char *text; /* "swapper/0", "64 cycles" */
};

struct ppi_label_entry;

struct ppi_labels {
	const portprof_profile *profile;
	char name[128];
	/* Without that label: the value of another one (NULL), or this text. */
	const char *second, *missing;
	struct ppi_label_entry *table;
	uint32_t count;
	const portprof_profile_sample *last; /* asked for, and its value */
	const struct ppi_label_value *value;
};

/* The values of one label; `name` ends with a zero, a comma or a "=". */
void ppi_labels_open(struct ppi_labels *labels, const portprof_profile *profile,
                     const char *name);

/* What a sample has, else `missing` ("(none)"); NULL when out of memory. */
const struct ppi_label_value *
ppi_labels_find(struct ppi_labels *labels,
                const portprof_profile_sample *sample);

/* Enter a value that a caller made; NULL when out of memory. */
const struct ppi_label_value *ppi_labels_enter(struct ppi_labels *labels,
                                               const char *text);

/* All values, by their numbers. */
void ppi_labels_list(const struct ppi_labels *labels, const char **texts);

void ppi_labels_close(struct ppi_labels *labels);

/* The label of that name; false: the sample has none. */
bool ppi_label_find(const portprof_profile *profile,
                    const portprof_profile_sample *sample, const char *name,
                    portprof_profile_label *label);

/* Whether a sample has a label of that name, which ends as above. False with
 * words that name those that there are. */
bool ppi_labels_check(const portprof_profile *profile, const char *name);

/* Whether a label says who, where or when: no more than its sample does. */
bool ppi_label_is_own(const char *name);

/* The name of the index-th label of a profile that says more than who and when,
 * in the order of their first coming; NULL past the last. */
const char *ppi_labels_name(const portprof_profile *profile, size_t index);

#endif
