/* SPDX-License-Identifier: MIT */
/* Where samples fall, numbered as the file numbers it: strings, mappings and
 * locations, each written once. */
#ifndef PPI_FILE_LOCATIONS_H
#define PPI_FILE_LOCATIONS_H

#include <portprof/record.h>

#include "api/profile/pool.h"

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

/*
 * The mapping that a module mapped at [start, limit) belongs to. One file
 * mapped at several places, by several processes perhaps, is one mapping, at
 * the place where it was seen first: move addresses by its start - `start`.
 */
uint32_t ppi_locations_mapping(struct ppi_locations *locations, uint64_t start,
                               uint64_t limit, const portprof_module *module);

/* The mapping of kernel addresses of which nothing is known. */
uint32_t ppi_locations_kernel(struct ppi_locations *locations);

/* The one location of code that virtual machines ran; 0 when out of memory. */
uint64_t ppi_locations_guest(struct ppi_locations *locations);

const struct ppi_file_mapping *
ppi_locations_mapping_at(const struct ppi_locations *locations,
                         uint32_t mapping);

/* From now on the file has to have this mapping. False when out of memory. */
bool ppi_locations_list_mapping(struct ppi_locations *locations,
                                uint32_t mapping);

/* The id of a location: not 0, or 0 when out of memory. */
uint64_t ppi_locations_add(struct ppi_locations *locations, uint32_t mapping,
                           uint64_t address);

/* What was written is not needed any more, when there is much of it. */
void ppi_locations_trim(struct ppi_locations *locations);

#endif
