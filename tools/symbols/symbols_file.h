/* SPDX-License-Identifier: MIT */
/* One file with code: its build-id, its layout, the names in it. */
#ifndef PPI_SYMBOLS_FILE_H
#define PPI_SYMBOLS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/symbols/symbols_line.h"

struct ppi_symbol_file;

/* What the profile says of the file that was mapped. */
struct ppi_symbol_wanted {
	const char *path;     /* or "[vdso]" */
	const char *build_id; /* lower-case hexadecimal; "" unknown */
	uint64_t recorded_ns; /* CLOCK_REALTIME; 0 unknown */
	const char *folder;   /* with separate debug files; NULL: the usual */
	struct ppi_kept *kept; /* what earlier windows found; NULL */
};

enum ppi_symbol_found {
	PPI_SYMBOL_NOTHING, /* the address lies in none of its code */
	PPI_SYMBOL_NAME,    /* `name` is the function's */
	PPI_SYMBOL_BOUNDS   /* nameless, but `start` is where it begins */
};

struct ppi_symbol_answer {
	enum ppi_symbol_found found;
	const char *name;
	uint64_t vaddr; /* of the address itself */
	uint64_t start; /* of the function */
};

/* How names are found in this build: "libdw", "libelf", "none". */
const char *ppi_symbol_file_tier(void);

/*
 * Open the file that was recorded. NULL when it is not there or is not the
 * same: then `why` says so in a sentence without the path ("" when there is
 * nothing to say).
 */
struct ppi_symbol_file *
ppi_symbol_file_open(const struct ppi_symbol_wanted *wanted, char *why,
                     size_t why_bytes);

/* The address of what lies at this offset of the file; false: none of its code. */
bool ppi_symbol_file_vaddr(const struct ppi_symbol_file *file, uint64_t offset,
                           uint64_t *vaddr);

/* What lies at this offset of the file. The name lives as long as the file. */
void ppi_symbol_file_find(struct ppi_symbol_file *file, uint64_t offset,
                          struct ppi_symbol_answer *answer);

/*
 * The source of an address of the file (not of an offset): where it is and,
 * with `inlines`, from where each function was inlined into the next, the
 * innermost first. How many of `room` were filled; 0 when nothing is known.
 * Strings live as long as the file.
 */
size_t ppi_symbol_file_lines(struct ppi_symbol_file *file, uint64_t vaddr,
                             bool inlines, struct ppi_symbol_line *lines,
                             size_t room);

/* Whether the code at an address of the file keeps a frame pointer there, as
 * the unwind tables have it; of Go code, which has none, as the code has it. */
enum ppi_frame_pointer ppi_symbol_file_frame(struct ppi_symbol_file *file,
                                             uint64_t vaddr);

/* Whether its compiler honours -mno-omit-leaf-frame-pointer. */
bool ppi_symbol_file_keeps_leaf_frames(const struct ppi_symbol_file *file);

/* What it calls itself, if it is a library that does; "". */
const char *ppi_symbol_file_soname(const struct ppi_symbol_file *file);

/* Whether functions of it have names of Ada, as GNAT writes them: pack__work. */
bool ppi_symbol_file_is_ada(struct ppi_symbol_file *file);

/* Whether its full symbol table was found, here or in a separate file, by what was
 * asked for so far. */
bool ppi_symbol_file_is_complete(const struct ppi_symbol_file *file);

/* What of its debug information cannot be used, of what was asked for so far, once:
 * words that name the file. */
bool ppi_symbol_file_lack(struct ppi_symbol_file *file, char *words,
                          size_t bytes);

void ppi_symbol_file_close(struct ppi_symbol_file *file);

#endif
