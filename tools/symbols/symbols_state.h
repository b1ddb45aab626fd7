/* SPDX-License-Identifier: MIT */
/* What the parts of the namer share. */
#ifndef PPI_SYMBOLS_STATE_H
#define PPI_SYMBOLS_STATE_H

#include "base/vector.h"
#include "tools/symbols/symbols_file.h"
#include "tools/symbols/symbols_table.h"

#include <uthash.h>

struct ppi_symbols_name;
struct ppi_symbols_place;
struct ppi_symbols_word;
struct ppi_symbols_inlined;
struct ppi_symbols_process;

struct ppi_symbols_module {
	UT_hash_handle hh;
	const char *name, *path;
	struct ppi_symbol_file *file; /* NULL: cannot be used */
	char *refusal; /* why, until a note says so; NULL */
	char key[];                   /* path and build-id */
};

struct ppi_symbols {
	uint64_t recorded_ns, ended_ns;
	bool wants_lines, wants_inlines, wants_frames;
	bool is_hushed, took_names;
	const char *folder; /* with debug files */
	const char *root;   /* with all files; NULL */
	const struct ppi_held *held;
	struct ppi_symbols_word *words;
	struct ppi_symbols_module *modules;
	struct ppi_symbols_inlined *inlined;
	struct ppi_symbols_process *processes; /* whose maps were read */
	bool has_quarrel;
	struct ppi_symbol_table kernel;
	bool is_kernel_read, has_kernel;
	bool is_kernel_kept; /* by an earlier window */
	struct ppi_vector notes; /* see symbols_words.c */
};

/* The kept copy of a string, as it is; "?" when out of memory. */
const char *ppi_symbols_keep(struct ppi_symbols *symbols, const char *text);

/* The same of a function's name as people write it; names of Ada are like those of C,
 * and are told by the file that they are in. */
const char *ppi_symbols_readable(struct ppi_symbols *symbols, const char *name,
                                 bool is_ada);

/* Call code by its module and address. */
void ppi_symbols_by_address(struct ppi_symbols *symbols, uint64_t address,
                            struct ppi_symbols_name *name);

/* `path`: kept, of the one module that it is about; NULL. */
void ppi_symbols_add_note(struct ppi_symbols *symbols, const char *path,
                          const char *words);

void ppi_symbols_take_line(struct ppi_symbols *symbols, const char *file,
                           uint64_t line, struct ppi_symbols_name *name);

/* What the name was inlined into, as a copy that lives on; NULL when out of
 * memory. */
struct ppi_symbols_name *ppi_symbols_add_caller(struct ppi_symbols *symbols,
                                                struct ppi_symbols_name *name);

void ppi_symbols_in_kernel(struct ppi_symbols *symbols, uint64_t address,
                           struct ppi_symbols_name *name);

/* Name code by what its processes say of it; false when they do not, or not
 * the same. */
bool ppi_symbols_in_processes(struct ppi_symbols *symbols,
                              const struct ppi_symbols_place *place,
                              struct ppi_symbols_name *name);
void ppi_symbols_free_processes(struct ppi_symbols *symbols);

/* Free all texts. */
void ppi_symbols_free_words(struct ppi_symbols *symbols);

#endif
