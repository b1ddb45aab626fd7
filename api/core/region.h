/* SPDX-License-Identifier: MIT */
/* Regions in code: what counting them and reading them share. */
#ifndef PPI_REGION_H
#define PPI_REGION_H

#include <portprof/region.h>

#include "api/core/session_config.h"
#include "base/fork_guard.h"

#include <pthread.h>

/* Out of memory: what was to be added has no table (hh.tbl). */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* A name, numbered in the order in which names were first begun. */
struct ppi_region_name {
	UT_hash_handle hh; /* by text, in the order of numbers */
	size_t number;
	char text[];
};

/* What calls counted that began in one set of labels. */
struct ppi_region_part {
	UT_hash_handle hh; /* by labels */
	const portprof_label_set *labels; /* NULL: none */
	uint64_t calls;
	portprof_count totals[]; /* one an event */
};

/* A name in one thread. */
struct ppi_region {
	UT_hash_handle hh; /* by the name's text */
	const struct ppi_region_name *name;
	unsigned depth;    /* times it is open now */
	struct ppi_region_part *parts;
	struct ppi_region_part *last; /* found; NULL: none yet */
};

/* One that is open: where its counters stood. */
struct ppi_region_frame {
	struct ppi_region *region;
	struct ppi_region_part *part;
	bool is_outermost;       /* of several of one region, in recursion */
	portprof_count *begun;   /* of the outermost */
};

/* One thread in one set, until the set is closed. */
struct ppi_region_thread {
	struct ppi_region_thread *next;
	pthread_mutex_t lock;    /* its regions: the thread and who reads */
	int64_t tid;
	portprof_group *group;   /* NULL: ended, or could not be opened */
	portprof_status status;  /* why it could not */
	portprof_diag why;
	struct ppi_region *regions;
	struct ppi_region_frame *frames;
	size_t depth, room;
};

/* A set of regions. */
struct portprof_regions {
	uint64_t generation;     /* which opening of the process this is */
	unsigned slot;           /* of the sets that are open */
	struct ppi_fork_guard guard;
	portprof_config *config;
	struct ppi_event *resolved;  /* those of the first group */
	portprof_event_info *events; /* the same; its strings are theirs */
	size_t event_count;
	pthread_mutex_t lock;    /* threads and names */
	struct ppi_region_thread *threads;
	struct ppi_region_name *names;
	size_t name_count;
};

/* The slot of the process's own set, which is opened without a handle. */
enum { PPI_REGIONS_OWN = 0 };

/* The process's own set, or NULL. */
struct portprof_regions *ppi_regions_now(void);
/* The same; when it is not open, and $PORTPROF asks for it, it is opened. */
struct portprof_regions *ppi_regions_wanted(void);
/* The program has its own: $PORTPROF is not asked any more. */
void ppi_regions_want_none(void);
/* Write the table that $PORTPROF asked for, if it did and was not written. */
void ppi_regions_deliver(void);

/* From now on the own set is not open, and nothing was given back: for a forked
 * child, which closes it with _free. NULL is nothing. */
struct portprof_regions *ppi_regions_disown(void);
void ppi_regions_free(struct portprof_regions *all);
/* Refuse a call that needs open regions. */
portprof_status ppi_regions_refuse_closed(const char *step);

/* Whether a set is the one of this generation, and open; while it is held no set
 * is closed. */
struct portprof_regions *ppi_regions_hold(unsigned slot, uint64_t generation);
void ppi_regions_release(void);

/* End what the calling thread has open in the own set. */
void ppi_region_end_all(void);

/* The calling thread's from now on, with its group; NULL: open one. NULL when
 * out of memory. */
struct ppi_region_thread *ppi_region_thread_add(struct portprof_regions *all,
                                                portprof_group *group);

#endif
