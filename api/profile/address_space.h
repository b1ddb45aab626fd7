/* SPDX-License-Identifier: MIT */
/* Address spaces: which mapping an address of a process belongs to, now. */
#ifndef PPI_FILE_ADDRESS_SPACE_H
#define PPI_FILE_ADDRESS_SPACE_H

#include "api/profile/ids.h"
#include "api/profile/locations.h"
#include "api/unwind/process_map.h"

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
