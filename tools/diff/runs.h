/* SPDX-License-Identifier: MIT */
/* Several runs of one side of a difference: read as one profile, of which it is
 * known what each run has of every sample. */
#ifndef PPI_RUNS_H
#define PPI_RUNS_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/view/view.h"
#include "tools/view/wall.h"

struct ppi_run;

struct ppi_runs {
	const char *const *paths;
	size_t count;
	portprof_profile *profile; /* all of them */
	struct ppi_run *runs;      /* NULL: there is one */
};

/* Read the files of `runs->paths`. Says why when it returns false; ppi_runs_free is
 * due all the same. */
bool ppi_runs_read(struct ppi_runs *runs, const char *root,
                   uint64_t memory_max);
void ppi_runs_free(struct ppi_runs *runs);

/* Make what the subject weighs the mean of the runs. False when out of memory. */
bool ppi_runs_mean(const struct ppi_runs *runs, struct ppi_subject *subject);

/* By sample what runs from `from` to before `to` weigh, of several; to be freed.
 * NULL when out of memory. */
uint64_t *ppi_runs_weights(const struct ppi_runs *runs, size_t from, size_t to,
                           const struct ppi_subject *subject);

/* The total of one of several runs, with what no sample stands for. */
double ppi_runs_total(const struct ppi_runs *runs, size_t run,
                      const struct ppi_subject *subject);

/* Whether the totals were counted, so that chance has no part in which samples make
 * them up. */
bool ppi_runs_are_counted(const struct ppi_runs *runs,
                          const struct ppi_subject *subject);

#endif
