/* SPDX-License-Identifier: MIT */
/* Tables of regions, of any number of processes, as one. */
#ifndef PPI_MERGE_H
#define PPI_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <uthash.h>

/* What one process counted in a region, over all its threads and labels: of rows whose
 * counters had to share, counts and times are added up, and the sum is scaled, as
 * portprof_regions_read(3) does. */
struct ppi_region_cell {
	uint64_t value;
	uint64_t raw, enabled_ns, running_ns;
	bool is_known, is_estimate;
};

struct ppi_merge_process {
	char *path, *host;
	uint64_t pid, rank, opened_ns;
	bool has_rank;
	uint64_t refused_threads;
	size_t order; /* of reading */
};

/* Calls are the first cell of a process, events follow. */
struct ppi_merge_region {
	UT_hash_handle hh;
	char *name;
	size_t processes; /* as many have a row of cells */
	struct ppi_region_cell **rows;
};

struct ppi_merge_event {
	char *name, *unit;
};

/* What a preset stands for: the sum of values times `of`, divided by that by
 * `by` unless all of those are 0. */
struct ppi_merge_metric {
	char *name, *unit;
	double *of, *by; /* of each event */
	size_t of_count, by_count;
};

struct ppi_merge_regions {
	struct ppi_merge_process *processes;
	size_t process_count;
	struct ppi_merge_event *events;
	size_t event_count;
	struct ppi_merge_metric *metrics;
	size_t metric_count;
	struct ppi_merge_region *regions; /* in the order of reading */
	size_t left_out;
};

/* What one column of a region is over all processes: one that did not have the
 * region counts as 0, one that could not count it not at all. */
struct ppi_merge_spread {
	size_t processes;       /* that had the region */
	size_t counted;         /* that are in the rest */
	bool is_estimate;
	uint64_t sum, least, most;
	size_t least_at, most_at;
	double mean;
	double imbalance;       /* in percent; negative: there is none */
};

/* Add a file's table; what cannot be added is said and counted. */
void ppi_merge_regions_add(struct ppi_merge_regions *all, const char *path);
/* In the order of ranks. */
void ppi_merge_regions_sort(struct ppi_merge_regions *all);
struct ppi_merge_spread
ppi_merge_spread(const struct ppi_merge_regions *all,
                 const struct ppi_merge_region *region, size_t column);
/* Of one process, or of all together (SIZE_MAX); NAN: a part of it was not
 * counted, or it divides by 0. */
double ppi_merge_metric_value(const struct ppi_merge_regions *all,
                              const struct ppi_merge_region *region,
                              size_t metric, size_t process);
void ppi_merge_regions_free(struct ppi_merge_regions *all);

#endif
