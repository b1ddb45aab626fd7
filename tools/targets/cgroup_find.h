/* SPDX-License-Identifier: MIT */
/* The control group of a unit of systemd, or of a container. */
#ifndef PPI_CGROUP_FIND_H
#define PPI_CGROUP_FIND_H

#include <stdbool.h>

enum { PPI_CGROUP_PATH = 2048 };

enum ppi_cgroup_kind { PPI_CGROUP_UNIT, PPI_CGROUP_CONTAINER };

struct ppi_cgroup_found {
	char folder[PPI_CGROUP_PATH]; /* below the root that was given */
	bool is_for_perf; /* the kernel takes it for a target; else only its
	                   * processes are known */
	char words[512];  /* why there is none, with names like it; or why it
	                   * is not for perf */
};

/* Look below `root`/sys/fs/cgroup; "" is this machine's. False with words. */
bool ppi_cgroup_find(const char *root, enum ppi_cgroup_kind kind,
                     const char *wanted, struct ppi_cgroup_found *found);

#endif
