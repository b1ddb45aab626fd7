/* SPDX-License-Identifier: MIT */
/* The code that processes have mapped, and its frame tables. */
#ifndef PPI_UNWIND_CODE_MAP_H
#define PPI_UNWIND_CODE_MAP_H

#include "api/unwind/frame_rules.h"
#include "api/unwind/process_map.h"

/* A program, library or piece of generated code; processes share them. */
struct ppi_code;

/* The value of an extent is a struct ppi_code, and what is added to an address
 * makes it a place in its file. */
struct ppi_code_map {
	struct ppi_process_map processes;
	const struct ppi_machine *machine;
	struct ppi_code *codes; /* uthash, by what makes it another one */
	uint32_t next_serial;
	unsigned ended;
	/* Tables that are open, and how many bytes of them may be: more where all
	 * were asked for lately. */
	size_t table_bytes, table_bytes_most, in_use_bytes_most;
	uint64_t in_use_asked; /* so many questions are that */
	uint64_t asked;  /* how often tables were asked for */
	uint64_t opened; /* modules that have had their tables opened */
	uint64_t next_look_ns; /* CLOCK_MONOTONIC */
};

/* The map stays where it is while it is open. */
void ppi_code_map_open(struct ppi_code_map *map,
                       const struct ppi_machine *machine);
void ppi_code_map_close(struct ppi_code_map *map);

/* What records say, and ppi_process_map_fork and _exec. Out of memory, a space
 * is as it was. */
void ppi_code_map_add(struct ppi_code_map *map, uint32_t pid, uint64_t start,
                      uint64_t limit, const portprof_module *module);
void ppi_code_map_exit(struct ppi_code_map *map, uint32_t pid);

/*
 * Code lies where no record has said so: look at what the process has mapped now.
 * False when nothing was added, or the last look was a moment ago. Extents of
 * the process that were found before may be gone.
 */
bool ppi_code_map_look(struct ppi_code_map *map, uint32_t pid);

/*
 * The tables of code, which are opened when first asked for; NULL when it has
 * none. *serial is theirs alone, also after they are closed.
 */
struct ppi_frame_rules *ppi_code_map_rules(struct ppi_code_map *map,
                                           const struct ppi_extent *extent,
                                           uint32_t pid, uint32_t *serial);

/* Code of a process that has ended, from its file; how much could be read. */
size_t ppi_code_map_read(const struct ppi_extent *extent, uint64_t address,
                         void *bytes, size_t count);

/* Never used twice: processes that share code have the same. */
uint32_t ppi_code_map_serial(const struct ppi_extent *extent);

/* Whether it was made at run time: no file has it. */
bool ppi_code_map_is_made(const struct ppi_extent *extent);

/* Whether it is the kernel's own, which all processes have. */
bool ppi_code_map_is_vdso(const struct ppi_extent *extent);

/* Bytes of the vdso, which lies in this process, too; how many could be read. */
size_t ppi_vdso_read(uint64_t offset, void *bytes, size_t count);

#endif
