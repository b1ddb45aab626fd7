/* SPDX-License-Identifier: MIT */
/* A profile on its way to a gmon.out: weights in bins, then ticks. */
#ifndef PPI_FILE_GMON_EXPORT_H
#define PPI_FILE_GMON_EXPORT_H

#include <portprof/gmon.h>
#include <portprof/profile.h>

#include "api/profile/gmon/gmon.h"
#include "api/profile/image.h"
#include "base/vector.h"

enum {
	PPI_GMON_CODE_ROOM = sizeof(((struct ppi_image *)0)->code) /
	                     sizeof(((struct ppi_image *)0)->code[0]),
	PPI_GMON_MOST_RATE = 1000000
};

/* The one program or library of a profile that a gmon.out describes. */
struct ppi_gmon_module {
	const char *path, *build_id; /* as recorded, the profile's own */
	struct ppi_image image;
};

struct ppi_gmon_export {
	const portprof_profile *profile;
	portprof_gmon_wanted wanted;
	struct ppi_gmon_module module;
	struct ppi_gmon gmon;
	struct ppi_gmon_histogram histograms[PPI_GMON_CODE_ROOM];
	struct ppi_vector arcs;
	uint64_t events_a_tick; /* where it is no time */
	uint64_t bytes;         /* that the records will take, about */
	portprof_gmon_written written;
	struct ppi_diag *why;
};

/* Bins for all code of the module, empty. */
portprof_status ppi_gmon_export_lay(struct ppi_gmon_export *exporting);

/*
 * Put a weight into the bins of [address, address + span), as gprof shares a
 * bin out among functions; what would go past the code goes to its last bin.
 */
void ppi_gmon_export_spread(struct ppi_gmon_export *exporting, uint64_t address,
                            uint64_t span, uint64_t weight);

/* From weights to ticks, of a rate and unit that suit the event. */
portprof_status ppi_gmon_export_ticks(struct ppi_gmon_export *exporting);

/* The event, NULL when there is none of that number. */
const portprof_profile_event *
ppi_gmon_export_event(const struct ppi_gmon_export *exporting);

/* E_NOMEM, with words. */
portprof_status ppi_gmon_export_memory(const struct ppi_gmon_export *exporting);

#endif
