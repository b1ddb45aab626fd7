/* SPDX-License-Identifier: MIT */
/* "The nth call of X from now fails with E": once, and then never again. */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

enum { SIM_VARIANTS = 5 };

/* A call of a seam and the errnos that its manual page lists, 0 after the
 * last. */
struct sim_fault {
	const char *name;
	int errnos[SIM_VARIANTS];
};

struct sim_faults {
	const struct sim_fault *calls;
	size_t count;
	/* what is to happen */
	size_t call;
	unsigned left; /* calls until it fails; 0 = nothing is to happen */
	int error;
	bool has_happened;
};

/* Let the nth next use of that call fail with its errno number `variant`.
 * False when it has no so many. nth 0 forgets. */
bool sim_faults_plan(struct sim_faults *faults, size_t call, unsigned nth,
                     unsigned variant);

/* Called first in each call: true, with errno set, when it is to fail. */
bool sim_faults_strike(struct sim_faults *faults, size_t call);

/* The errno of the one that failed since the last plan, or 0. */
int sim_faults_struck(const struct sim_faults *faults);

#endif
