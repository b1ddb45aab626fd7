/* SPDX-License-Identifier: MIT */
/*
 * Build-ids of mapped files, read from the files' notes and remembered.
 *
 * The kernel would put them into its records (attr.build_id), but the mark of
 * such a record, PERF_RECORD_MISC_MMAP_BUILD_ID, then stays set in the records
 * of the same mapping for everybody else's events (kernel/events/core.c,
 * perf_event_mmap_output), and their readers take an inode for a build-id:
 * perf 6.1 aborts. So no event of ours asks for them, and no mark is believed.
 */
#ifndef PERF_BUILD_ID_H
#define PERF_BUILD_ID_H

#include "backends/perf/kernel/perf_proc.h"

struct perf_known_id;

struct perf_build_ids {
	struct perf_known_id *slots; /* NULL until the first is looked up */
	size_t count;
};

/*
 * The build-id of the ELF file that the process `pid` maps as `path`; at most
 * PORTPROF_BUILD_ID_BYTES. 0 when it has none, or when neither in the root of
 * that process nor in ours the path leads to that very file any more.
 */
size_t ppi_perf_build_id(struct perf_build_ids *ids,
                         const struct perf_kernel *kernel, int64_t pid,
                         const struct perf_file_key *file, const char *path,
                         unsigned char *out);
void ppi_perf_build_ids_free(struct perf_build_ids *ids);

#endif
