/* SPDX-License-Identifier: MIT */
/* Where the tables of a module of a process are read from. */
#ifndef PPI_UNWIND_MODULE_IMAGE_H
#define PPI_UNWIND_MODULE_IMAGE_H

#include "api/unwind/frame_rules.h"

/*
 * Open the tables of what process `pid` has mapped at `start` from `path`: from
 * the file in the process's own root folder, or, where that is another one by
 * now or none, from the process's memory. False: it has none, whoever asks.
 * True with *rules NULL: not found this time. *image is memory to free after
 * the rules, or NULL.
 */
bool ppi_module_image_open(const struct ppi_machine *machine, uint32_t pid,
                           uint64_t start, const char *path,
                           const unsigned char *build_id,
                           size_t build_id_bytes, struct ppi_frame_rules **rules,
                           char **image);

/* Call `take` for each mapping of a process that may be executed; `path` is as
 * the system shows it, "" for memory of no file. */
void ppi_process_each_code(uint32_t pid,
                           void (*take)(void *context, uint64_t start,
                                        uint64_t limit, uint64_t offset,
                                        const char *path),
                           void *context);

/* Bytes of a process's memory; how many could be read. */
size_t ppi_process_read(uint32_t pid, uint64_t address, void *bytes,
                        size_t count);

/* The same of the vdso, which lies in this process, too. */
size_t ppi_vdso_read(uint64_t offset, void *bytes, size_t count);

#endif
