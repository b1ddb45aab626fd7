/* SPDX-License-Identifier: MIT */
/* Address spaces: which mapping an address of a process belongs to, now. */
#ifndef PPI_FILE_ADDRESS_SPACE_H
#define PPI_FILE_ADDRESS_SPACE_H

#include "api/file/locations.h"

/* A part of an address space. */
struct ppi_extent {
	uint64_t start, limit;
	uint64_t shift;   /* address in the file = address + shift */
	uint32_t mapping; /* of ppi_places */
};

/* What is mapped, sorted by address. Processes that are copies of each other
 * share one; a change makes another one, with another number. */
struct ppi_layout {
	uint32_t number; /* never used twice */
	uint32_t users;
	struct ppi_vector extents;
};

struct ppi_space;

struct ppi_spaces {
	struct ppi_places *places;
	struct ppi_space *head;  /* uthash, by pid */
	struct ppi_space *last;  /* found by the last look-up */
	struct ppi_layout *kernel;
	uint32_t next_number;
	int64_t main_pid;        /* whose program is the main one */
};

bool ppi_spaces_open(struct ppi_spaces *spaces, struct ppi_places *places,
                     int64_t main_pid);
void ppi_spaces_close(struct ppi_spaces *spaces);

/* What records say. False when out of memory: the space is as it was. */
bool ppi_spaces_map(struct ppi_spaces *spaces, uint32_t pid, uint64_t start,
                    uint64_t limit, const portprof_module *module);
bool ppi_spaces_fork(struct ppi_spaces *spaces, uint32_t pid,
                     uint32_t parent_pid);
void ppi_spaces_exec(struct ppi_spaces *spaces, uint32_t pid);
void ppi_spaces_exit(struct ppi_spaces *spaces, uint32_t pid);

/* About once a second: forget processes that ended some time ago. */
void ppi_spaces_sweep(struct ppi_spaces *spaces);

/* The layout of a process, for the address look-up and as a key; NULL when
 * nothing is known of it. Valid until the next change of it. */
const struct ppi_layout *ppi_spaces_layout(struct ppi_spaces *spaces,
                                           uint32_t pid);

/* The location of an address; 0 when nothing is known to be mapped there, or
 * when out of memory. `layout` may be NULL. */
uint64_t ppi_spaces_locate(struct ppi_spaces *spaces,
                           const struct ppi_layout *layout, uint64_t address,
                           bool is_kernel);

#endif
