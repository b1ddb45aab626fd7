/* SPDX-License-Identifier: MIT */
/* What became of the time that threads lived: the sums of a profile, what they
 * waited for, and how much of that was seen. */
#ifndef PPI_LIFE_H
#define PPI_LIFE_H

#include <portprof.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/view/view.h"

/* The function of weight without an observed wait. */
#define PPI_WAIT_NOT_SEEN "(wait not seen)"

/* Its kind, in words and JSON. */
#define PPI_LIFE_NOT_SEEN "not seen"

/* The label of weight that was distributed, not seen. */
#define PPI_LIFE_ESTIMATE "estimate"

/* Whether a label says what a thread did and how that was measured: where waits were
 * recorded it is no label of the program's. */
bool ppi_label_is_of_wait(const char *name);

bool ppi_life_is_unseen(const portprof_profile *profile, size_t location);

struct ppi_life_kind {
	const char *name; /* of the profile, or a constant */
	uint64_t ns;
};

enum { PPI_LIFE_KINDS = 32 };

struct ppi_life {
	portprof_life sums; /* threads 0: not measured */
	struct ppi_life_kind kinds[PPI_LIFE_KINDS]; /* largest first */
	size_t kind_count;
	/* Of ready and blocked time in samples: */
	uint64_t waited_ns, estimated_ns, unseen_ns;
};

/* False: waits were not measured, and everything is 0. */
bool ppi_life_find(const portprof_profile *profile, struct ppi_life *life);

/* What one of so many runs has on the average. */
void ppi_life_divide(struct ppi_life *life, size_t runs);

/* "6.10 s of 3 threads: 0.13 s running, ... blocked (4.1 lock, ...)". */
void ppi_life_print(const struct ppi_life *life, FILE *out);

/* How much of the waits was seen; false: there is nothing to say. */
bool ppi_life_print_seen(const struct ppi_life *life, FILE *out);

/* The key "life": its object, or null where waits were not measured. */
struct ppi_json;
void ppi_life_put(struct ppi_json *json, const struct ppi_life *life);

#endif
