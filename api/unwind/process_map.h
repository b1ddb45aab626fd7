/* SPDX-License-Identifier: MIT */
/* What each process has mapped now, and what the caller keeps of it. */
#ifndef PPI_PROCESS_MAP_H
#define PPI_PROCESS_MAP_H

#include "base/vector.h"

/* A part of an address space. */
struct ppi_extent {
	uint64_t start, limit;
	uint64_t shift;  /* address + shift = place in what is mapped */
	uintptr_t value; /* the caller's own: what is mapped */
};

/* What is mapped, sorted by address. Processes that are copies of each other
 * share one; a change makes another one, with another number. */
struct ppi_layout {
	uint32_t number; /* never used twice */
	uint32_t users;
	struct ppi_vector extents; /* of struct ppi_extent; disjoint */
};

struct ppi_process;

/* One thread at a time. */
struct ppi_process_map {
	struct ppi_process *head, *last; /* uthash, by pid; found last */
	struct ppi_layout *kernel;       /* everyone's: the upper half */
	uint32_t next_number;
	size_t ended; /* of the processes; none: no sweep finds one */
	/* Extents that have `value` became more (1) or fewer (-1); NULL: the
	 * caller does not count them. */
	void (*count_user)(void *context, uintptr_t value, int change);
	void *context;
};

void ppi_process_map_close(struct ppi_process_map *map);

/* What records say. False when out of memory: the layout is as it was. */
bool ppi_process_map_add(struct ppi_process_map *map, uint32_t pid,
                         const struct ppi_extent *added);
bool ppi_process_map_fork(struct ppi_process_map *map, uint32_t pid,
                          uint32_t parent_pid);
void ppi_process_map_exec(struct ppi_process_map *map, uint32_t pid);

/* False: it is not known, or has ended before. */
bool ppi_process_map_exit(struct ppi_process_map *map, uint32_t pid);

/* Forget the processes that ended before the last sweep and were not asked for
 * since. Now and then, as often as the caller likes. */
void ppi_process_map_sweep(struct ppi_process_map *map);

/* The layout of a process, for the address look-up and as a key; NULL when
 * nothing is known of it. Valid until the next change of it. */
const struct ppi_layout *ppi_process_map_find(struct ppi_process_map *map,
                                              uint32_t pid);

/* What lies at an address; NULL nothing. `layout` may be NULL. */
const struct ppi_extent *ppi_layout_at(const struct ppi_layout *layout,
                                       uint64_t address);

#endif
