/* SPDX-License-Identifier: MIT */
/* Labels of samples: the value of one in each sample, as text. */
#ifndef PPI_REPORT_LABELS_H
#define PPI_REPORT_LABELS_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Equal values are one. */
struct ppi_label_value {
	uint32_t number;
	const char *text; /* "swapper/0", "64 cycles" */
};

struct ppi_label_entry;

struct ppi_labels {
	const portprof_profile *profile;
	char name[128];
	struct ppi_label_entry *table;
	uint32_t count;
	const portprof_profile_sample *last; /* asked for, and its value */
	const struct ppi_label_value *value;
};

/* The values of one label; `name` ends with a zero, a comma or a "=". */
void ppi_labels_open(struct ppi_labels *labels, const portprof_profile *profile,
                     const char *name);

/* What a sample has, "(none)" without it; NULL when out of memory. */
const struct ppi_label_value *
ppi_labels_find(struct ppi_labels *labels,
                const portprof_profile_sample *sample);

void ppi_labels_close(struct ppi_labels *labels);

/* Whether a sample has a label of that name, which ends as above. False with words
 * that name those that there are. */
bool ppi_labels_check(const portprof_profile *profile, const char *name);

/* The name of the index-th label of a profile that says more than who and when,
 * in the order of their first coming; NULL past the last. */
const char *ppi_labels_name(const portprof_profile *profile, size_t index);

#endif
