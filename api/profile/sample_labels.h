/* SPDX-License-Identifier: MIT */
/* What the hardware or the event itself reports of samples, as labels of a file. */
#ifndef PPI_FILE_SAMPLE_LABELS_H
#define PPI_FILE_SAMPLE_LABELS_H

#include <portprof/record.h>

#include "api/profile/label_texts.h"
#include "api/profile/locations.h"

/* So many different sets of labels a file has, and labels a set. Data addresses
 * would make each sample one of its own. */
enum {
	PPI_LABEL_SETS_MAX = 4096,
	PPI_SET_LABELS_MAX = 10 + 8 + PORTPROF_LABELS_MAX
};

struct ppi_sample_labels {
	uint32_t fields;      /* of PORTPROF_FIELD_: those to keep; 0 = none */
	const struct ppi_event *events; /* of the records; their fields are kept,
	                       * too. NULL: they have none */
	struct ppi_pool sets; /* of all portions */
	struct ppi_label_texts texts; /* the program's own labels */
	uint64_t left_out;    /* samples that were kept without their set */
};

/* What is kept of a sample: the number of its set from 1 on; 0: none, or there
 * was no room, which is counted. */
uint32_t ppi_sample_labels_enter(struct ppi_sample_labels *labels,
                                 uint32_t pid, const portprof_batch *batch,
                                 const portprof_record *record);

/* The labels of a set; returns how many, PPI_SET_LABELS_MAX at most. Their
 * strings are entered. */
size_t ppi_sample_labels_make(const struct ppi_sample_labels *labels,
                              uint32_t set, struct ppi_locations *locations,
                              struct ppi_label_ids *out);

/* What a file says of samples without their labels; false: there are none. */
bool ppi_sample_labels_note(const struct ppi_sample_labels *labels, char *out,
                            size_t bytes);

#endif
