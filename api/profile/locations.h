/* SPDX-License-Identifier: MIT */
/* Where samples fall while measuring, numbered as the file numbers it. */
#ifndef PPI_FILE_LOCATIONS_H
#define PPI_FILE_LOCATIONS_H

#include <portprof/record.h>

#include "api/profile/memory.h"
#include "api/unwind/process_map.h"

/* ---- strings, mappings and locations, each written once ---- */

/* A mapping as the file has it. */
struct ppi_file_mapping {
	uint64_t start, limit, file_offset;
	uint32_t path, build_id; /* numbers of strings */
	bool is_listed;          /* in `listed` */
};

struct ppi_locations {
	struct ppi_pool strings;     /* number 0 is "" */
	struct ppi_pool mappings;    /* what makes a mapping another one */
	struct ppi_vector mapping;   /* struct ppi_file_mapping, by number */
	struct ppi_vector listed;    /* uint32_t: in the order of the file */
	struct ppi_pool keys;        /* struct ppi_location_key */
	uint64_t location_base;      /* id of a location: base + number + 1 */
	uint32_t main_mapping;       /* the program itself, or PPI_NONE */
	uint32_t kernel_mapping;
	size_t strings_written, listed_written, locations_written;
};

struct ppi_location_key {
	uint64_t address;
	uint64_t mapping; /* number, or PPI_NONE */
};

bool ppi_locations_open(struct ppi_locations *locations);
void ppi_locations_close(struct ppi_locations *locations);

/* PPI_NONE when out of memory, here and below. */
uint32_t ppi_locations_string(struct ppi_locations *locations,
                              const char *text);

/* The one location of code that virtual machines ran; 0 when out of memory. */
#define PPI_GUEST_PATH  "[guest]"
#define PPI_UNSEEN_PATH "(wait not seen)"
uint64_t ppi_locations_nowhere(struct ppi_locations *locations,
                               const char *path);

const struct ppi_file_mapping *
ppi_locations_mapping_at(const struct ppi_locations *locations,
                         uint32_t mapping);

/* The id of a location: not 0, or 0 when out of memory. */
uint64_t ppi_locations_add(struct ppi_locations *locations, uint32_t mapping,
                           uint64_t address);

/* Forget all locations: new ones have ids that none had. */
void ppi_locations_forget(struct ppi_locations *locations);

/* What was written is not needed any more, when there is much of it. */
void ppi_locations_trim(struct ppi_locations *locations);

/* ---- whether an address in a call chain can be a return address ---- */

struct ppi_returns {
	struct ppi_locations *locations;
	struct ppi_vector files;    /* struct returns_file, by mapping */
	struct ppi_vector verdicts; /* uint8_t, by location */
	/* What was asked, and the answers, which outlive the numbers of locations:
	 * those of a recording's next window are others. */
	struct ppi_pool asked;      /* struct ppi_location_key */
	struct ppi_vector answers;  /* uint8_t */
	uint64_t base;              /* the locations' when they were made */
};

void ppi_returns_open(struct ppi_returns *returns,
                      struct ppi_locations *locations);
void ppi_returns_close(struct ppi_returns *returns);

/*
 * False when the text in front of the location was read and has no call there,
 * so that no function returns to it: what the stack held was no return address.
 * `id` is a location; its address is one less than the return address. The
 * file is asked once a location, and only if it still is the one that was
 * mapped.
 */
bool ppi_returns_can_be(struct ppi_returns *returns, uint64_t id);

/*
 * The location of such a caller itself: the same one, unless a signal handler
 * returns there. No call stands before that code, so it is looked up by its
 * first byte; one less is another function. 0: out of memory.
 */
uint64_t ppi_returns_exact(struct ppi_returns *returns, uint64_t id);

/* ---- address spaces: where an address of a process belongs, now ---- */

/* What each process has mapped. The value of an extent is a mapping of
 * ppi_locations; its shift makes an address one of that mapping. */
struct ppi_spaces {
	struct ppi_locations *locations;
	struct ppi_process_map processes;
	int64_t main_pid; /* whose program is the main one */
	struct ppi_ids dumping; /* processes that map a jit-PID.dump */
};

void ppi_spaces_open(struct ppi_spaces *spaces, struct ppi_locations *locations,
                     int64_t main_pid);
void ppi_spaces_close(struct ppi_spaces *spaces);

/* What records say, and ppi_process_map_fork and _exit. False when out of
 * memory: the space is as it was. */
bool ppi_spaces_map(struct ppi_spaces *spaces, uint32_t pid, uint64_t start,
                    uint64_t limit, const portprof_module *module);

void ppi_spaces_exec(struct ppi_spaces *spaces, uint32_t pid);

/* Whether another function may lie at the address of a process at another time,
 * and a file says which. `layout` may be NULL. */
bool ppi_spaces_may_change(const struct ppi_spaces *spaces,
                           const struct ppi_layout *layout, uint64_t address);

/* The location of an address; 0 when nothing is known to be mapped there, or
 * when out of memory. `layout` may be NULL. */
uint64_t ppi_spaces_locate(struct ppi_spaces *spaces,
                           const struct ppi_layout *layout, uint64_t address,
                           bool is_kernel);

#endif
