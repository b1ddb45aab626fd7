/* SPDX-License-Identifier: MIT */
/* What the readers of parts of an ELF file share. */
#ifndef PPI_SYMBOLS_ELF_H
#define PPI_SYMBOLS_ELF_H

#include "config.h"

#ifdef HAVE_LIBELF_GELF_H
#include <libelf/gelf.h>
#else
#include <gelf.h>
#endif

#include "tools/symbols/symbols_line.h"
#include "tools/symbols/symbols_table.h"

/* Add the functions of every symbol table of the file to `table`, their
 * addresses lowered by `bias`. True when it has a full one (.symtab). */
bool ppi_elf_add_symbols(Elf *elf, uint64_t bias,
                         struct ppi_symbol_table *table);

/* Rank of a symbol among those that begin at the same address. */
unsigned ppi_elf_symbol_rank(const GElf_Sym *symbol, const char *name);

/* Whether a symbol can name code. */
bool ppi_elf_is_code_symbol(const GElf_Sym *symbol, const char *name);

/* Add "function@plt" for every stub that calls into another module. */
void ppi_elf_add_plt(Elf *elf, struct ppi_symbol_table *table);

/* Add the bounds of every function that .eh_frame_hdr lists, nameless. */
void ppi_elf_add_frames(Elf *elf, struct ppi_symbol_table *table);

/* Room for a build-id as text. */
enum { PPI_BUILD_ID_ROOM = 129 };

/* Bytes as lower-case hexadecimal, as many as fit. */
void ppi_elf_print_id(const unsigned char *bytes, size_t count, char *out,
                      size_t out_bytes);

/* Program headers, symbols and the like that are looked at: no honest file
 * has more, and time and memory go with them. */
enum {
	PPI_ELF_SEGMENTS_MAX = 128,
	PPI_ELF_ENTRIES_MAX = 1 << 24, /* of a table of symbols, of slots */
	PPI_ELF_FRAMES_MAX = 1 << 22,
	PPI_ELF_NOTES_MAX = 1 << 20 /* bytes */
};

/* The number of entries of a section's table, as far as they are looked at. */
size_t ppi_elf_entries(const GElf_Shdr *header);

/* The number of its program headers, as far as they are looked at. */
size_t ppi_elf_segments(Elf *elf);

/* The build-id as lower-case hexadecimal; "" when it has none. */
void ppi_elf_build_id(Elf *elf, char *out, size_t out_bytes);

/* What a library calls itself (DT_SONAME); "" nothing. It lives as long as `elf`. */
const char *ppi_elf_soname(Elf *elf);

/* File contents [offset, offset+bytes) unconverted; NULL when not there. */
const unsigned char *ppi_elf_bytes(Elf *elf, uint64_t offset, uint64_t bytes);

/* Contents at a virtual address of a loaded segment; the number of bytes that
 * follow in it goes to *left. */
const unsigned char *ppi_elf_at(Elf *elf, uint64_t vaddr, uint64_t *left);

/* A section by its name, and its header; NULL none. */
Elf_Scn *ppi_elf_find(Elf *elf, const char *wanted, GElf_Shdr *header);
/* The contents of a section, unconverted; NULL none. */
Elf_Data *ppi_elf_section(Elf *elf, const char *wanted);

/* Add the functions of a Go program, which are known when it is stripped, too.
 * False when they are not: it is none, or one of before Go 1.18, or memory
 * ran out. */
bool ppi_elf_add_go(Elf *elf, struct ppi_symbol_table *table);

/* Whether that table is there and would be read. */
bool ppi_elf_has_go_names(Elf *elf);

/* What the compiler left that a frame pointer depends on (symbols_go.c).
 * Whether it is Go's; its code between a function's start and an address. */
bool ppi_elf_is_go(Elf *elf);
enum ppi_frame_pointer ppi_elf_go_frame(Elf *elf, uint64_t start,
                                        uint64_t vaddr);
bool ppi_elf_keeps_leaf_frames(Elf *elf);

/*
 * What a file was stripped of, in itself or in its separate debug file, which
 * is found by build-id or by debug link. Implemented by symbols_dwarf.c with
 * libdw, else by symbols_debug.c.
 */
struct ppi_debug;

/* folder: where to look beside the usual places; NULL. NULL when out of
 * memory. */
struct ppi_debug *ppi_debug_open(Elf *elf, const char *path,
                                 const char *build_id, const char *folder);

/* Add the symbols. True when there was a full table. */
bool ppi_debug_symbols(struct ppi_debug *debug,
                       struct ppi_symbol_table *table);

/* The source of an address, as ppi_symbol_file_lines has it. */
size_t ppi_debug_lines(struct ppi_debug *debug, uint64_t vaddr, bool inlines,
                       struct ppi_symbol_line *lines, size_t room);
/* Files with a part of it that cannot be used, so far: *refused is of another
 * build, *split is missing (-gsplit-dwarf). NULL there is none. */
void ppi_debug_lack(const struct ppi_debug *debug, const char **refused,
                    const char **split);
void ppi_debug_close(struct ppi_debug *debug);

/* The unwind tables of a file, read by symbols_dwarf.c; without libdw there are
 * none. open: NULL when out of memory, or without. */
struct ppi_cfi;
struct ppi_cfi *ppi_cfi_open(Elf *elf);
enum ppi_frame_pointer ppi_cfi_look(struct ppi_cfi *cfi, uint64_t vaddr);
void ppi_cfi_close(struct ppi_cfi *cfi);

extern const char ppi_elf_debug_tier[];

/* ---- where separate debug files are ---- */

/*
 * The debug file of the executable or library `elf` at `path`: a descriptor,
 * and its path, which is the caller's to free, or -1. It is looked for by
 * build-id under `folder` (NULL: none) and /usr/lib/debug, then by the name in
 * .gnu_debuglink, or "NAME.debug", beside the file, in .debug there and under
 * these folders. Only regular files are opened, and only the one is taken that
 * has the build-id, or else the sum that the link says. *refused becomes the path
 * of the first one that the link names and that has another; to be freed.
 */
int ppi_debug_find(Elf *elf, const char *path, const char *build_id,
                   const char *folder, char **found, char **refused);

/* What dwz(1) moved out of the debug file at `path`: the file called `name`
 * that has this build-id. */
int ppi_debug_find_rest(const char *path, const char *name,
                        const unsigned char *id, size_t id_bytes, char **found);

/* "FOLDER OF PATH/NAME", or `name` where it begins with a slash; to be freed,
 * NULL when out of memory. */
char *ppi_debug_beside(const char *path, const char *name);

/* Text of its own, to be freed; NULL when out of memory. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
char *ppi_debug_print(const char *format, ...);

#endif
