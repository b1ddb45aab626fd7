/* SPDX-License-Identifier: MIT */
/* The one program or library of a profile that a gmon.out describes. */
#ifndef PPI_FILE_GMON_MODULE_H
#define PPI_FILE_GMON_MODULE_H

#include <portprof/profile.h>

#include "api/profile/image.h"

struct ppi_gmon_module {
	const char *path, *build_id; /* as recorded, the profile's own */
	struct ppi_image image;
};

/*
 * Find it by its path or the last part of it, NULL for the program, and look
 * into it where it lies now: at `file`, or where it was.
 */
portprof_status ppi_gmon_module_find(struct ppi_gmon_module *module,
                                     const portprof_profile *profile,
                                     const char *name, const char *file,
                                     struct ppi_diag *why);

/* The file's own address of a location; false when that is in another file or
 * in no code. */
bool ppi_gmon_module_at(const struct ppi_gmon_module *module,
                        const portprof_profile *profile, size_t location,
                        uint64_t *address);

#endif
