/* SPDX-License-Identifier: MIT */
/* Sets of labels, for who sums by them. */
#ifndef PPI_LABEL_H
#define PPI_LABEL_H

#include <portprof/label.h>

#include <stddef.h>
#include <stdint.h>

/* Each value of sets beyond the limit. */
#define PPI_LABEL_OTHER "(other)"

/* The one set of its labels, whether they were entered or pushed; NULL: none. */
const portprof_label_set *ppi_label_plain(const portprof_label_set *set);

/* Sets made later have larger numbers; none has the least. */
uint32_t ppi_label_number(const portprof_label_set *set);

/* Its labels, at most PORTPROF_LABELS_MAX, and how many. */
size_t ppi_label_list(const portprof_label_set *set, portprof_label *labels);

#endif
