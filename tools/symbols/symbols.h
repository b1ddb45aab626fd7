/* SPDX-License-Identifier: MIT */
/* From recorded addresses to the names of functions. */
#ifndef PPI_SYMBOLS_H
#define PPI_SYMBOLS_H

#include "tools/symbols/symbols_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names come, in this order, from what the profile says itself, from libdw,
 * from libelf, and where neither knows from "module+0xADDRESS", the address
 * being that of the file as nm and objdump print it. One thread at a time.
 */
struct ppi_symbols;

/* Where an address lay when it was recorded. */
struct ppi_symbols_place {
	uint64_t address;
	bool has_mapping;    /* the rest is known */
	uint64_t map_start, map_offset;
	const char *path;     /* "" unknown */
	const char *build_id; /* "" unknown */
	/* The processes that ran it, where it lies in no file: their own maps
	 * are asked. */
	const uint32_t *pids;
	size_t pid_count;
};

/* Whether it lies in no file, but in memory of the process' own. */
bool ppi_symbols_is_made(const struct ppi_symbols_place *place);

/* The module of code made while running that has a name. */
#define PPI_GENERATED "[generated code]"

/* Whether a file is called as tools call where a process made code, with the
 * process's number: perf-PID.map, jit-PID.dump, jitted-PID-NUMBER.so,
 * "[JIT] tid PID". */
bool ppi_is_generated(const char *path);

/* Strings live as long as the struct ppi_symbols that gave them. */
struct ppi_symbols_name {
	const char *function; /* "module+0xADDRESS" when it has no name */
	const char *module;   /* last part of the path, or "[kernel]" */
	const char *path;
	bool is_named;
	bool is_stripped;     /* names may be missing from that file */
	const char *source_file; /* "" unknown */
	uint64_t line;           /* 0 unknown */
	/* The function that it was inlined into, at the line of the call; NULL
	 * when it was not, or when that was not asked for. */
	const struct ppi_symbols_name *caller;
	/* Whether the code keeps a frame pointer at the address, and just
	 * before it, where the call is if this is what it returns to. */
	enum ppi_frame_pointer frame_at, frame_before;
	/* Its compiler can be asked for frames in functions that call nobody. */
	bool keeps_leaf_frames;
	/* Of code made while running that has no name: "module+0xADDRESS", where
	 * function is one name for all such code of the process, and what would
	 * give it names. Both NULL otherwise. */
	const char *by_address, *advice;
	/* Of code made while running: what perf calls its module, which has the
	 * number of the process. NULL otherwise. */
	const char *made_in;
	/* Of the address and of its function, in the file as objdump prints
	 * them; 0 unknown. */
	uint64_t vaddr, start;
	/* What ppi_name_locations adds for chains: nobody calls it, or only
	 * what has no frame pointer; the kernel's; no code at all. */
	bool is_first, is_kernel, is_nonsense;
	bool is_pseudo; /* a name for what has no code */
};

/* recorded_ns: when the profile was taken (CLOCK_REALTIME, 0 unknown). NULL
 * when out of memory. */
struct ppi_symbols *ppi_symbols_new(uint64_t recorded_ns);
void ppi_symbols_free(struct ppi_symbols *symbols);

/* What else to find from now on, in debug information: lines, inlined functions. It
 * takes longer. */
void ppi_symbols_want(struct ppi_symbols *symbols, bool lines, bool inlines);

bool ppi_symbols_wants_lines(const struct ppi_symbols *symbols);
bool ppi_symbols_wants_inlines(const struct ppi_symbols *symbols);
bool ppi_symbols_wants_frames(const struct ppi_symbols *symbols);

/* Find frame pointers, too. Before the first find. */
void ppi_symbols_want_frames(struct ppi_symbols *symbols);

/* Another folder with separate debug files; NULL for none. It must live as
 * long as the symbols. Before the first find. */
void ppi_symbols_look_in(struct ppi_symbols *symbols, const char *folder);

/* Where the files of the profile lie, as if this folder were their "/"; what is
 * not there is looked for where it was. NULL: there alone. It must live as long
 * as the symbols. Before the first find. */
void ppi_symbols_look_below(struct ppi_symbols *symbols, const char *root);

/* What the profile knows of a process, of which a map can be trusted then:
 * its user (-1 unknown), when it began, and until when it was measured
 * (CLOCK_REALTIME, 0 unknown). Before the first find. */
void ppi_symbols_know_process(struct ppi_symbols *symbols, uint32_t pid,
                              int64_t user, uint64_t began_ns);
void ppi_symbols_know_end(struct ppi_symbols *symbols, uint64_t ended_ns);

/* What is held open of it (tools/symbols/symbols_held.h), NULL for nothing; it
 * must live as long as the symbols. Before the first find. */
struct ppi_held;
void ppi_symbols_know_held(struct ppi_symbols *symbols,
                           const struct ppi_held *held);

void ppi_symbols_find(struct ppi_symbols *symbols,
                      const struct ppi_symbols_place *place,
                      struct ppi_symbols_name *name);

/* The same for code that the profile itself names: `count` functions, the
 * innermost inlined one first. */
struct ppi_symbols_given {
	const char *function, *source_file;
	uint64_t line;
};
void ppi_symbols_take(struct ppi_symbols *symbols,
                      const struct ppi_symbols_place *place,
                      const struct ppi_symbols_given *given, size_t count,
                      struct ppi_symbols_name *name);

/* Which frame pointers code keeps, without its name, which takes longer. */
void ppi_symbols_find_frames(struct ppi_symbols *symbols,
                             const struct ppi_symbols_place *place,
                             struct ppi_symbols_name *name);

/* Note what of the debug information of a file is missing that inlined functions
 * would come from. */
void ppi_symbols_find_lack(struct ppi_symbols *symbols,
                           const struct ppi_symbols_place *place);

/* Give all code that a process made while running, and that has no name, one
 * name and module. */
void ppi_symbols_gather(struct ppi_symbols *symbols,
                        const struct ppi_symbols_place *place,
                        struct ppi_symbols_name *name);

/* Say nothing of files that cannot be used, as long as it is true: the code
 * has names. */
void ppi_symbols_hush(struct ppi_symbols *symbols, bool is_hushed);

/* What the library at a place calls itself (DT_SONAME), if its file is there and is
 * the one that was measured; "". */
const char *ppi_symbols_soname(struct ppi_symbols *symbols,
                               const struct ppi_symbols_place *place);

/* Which way of naming this build has, for people. */
const char *ppi_symbols_tier(void);

/* Whether the profile named code itself. */
bool ppi_symbols_took_names(const struct ppi_symbols *symbols);

/* And what was asked for beside names, with a comma before; "" nothing. */
const char *ppi_symbols_tier_more(const struct ppi_symbols *symbols);

/* What kept code from being named, a sentence each; NULL past the last. */
const char *ppi_symbols_note(const struct ppi_symbols *symbols, size_t index);

/* Whether it is about the module of this path alone. */
bool ppi_symbols_note_is_of(const struct ppi_symbols *symbols, size_t index,
                            const char *path);

/* ---- readable names of C++ and Rust functions ---- */

/* The readable name, to be freed; NULL when the name is not mangled or the
 * build has no demangler. */
char *ppi_demangle(const char *name);

#endif
