/* SPDX-License-Identifier: MIT */
/* What the code at an address of a process is, by its bytes (code_bytes.h): answers
 * are kept. */
#ifndef PPI_UNWIND_CODE_PLACES_H
#define PPI_UNWIND_CODE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/unwind/code_bytes.h"
#include "api/unwind/code_end.h"
#include "api/unwind/code_map.h"

struct ppi_code_places;

/* NULL when there is no memory. */
struct ppi_code_places *ppi_code_places_new(void);
void ppi_code_places_free(struct ppi_code_places *bytes);
extern const size_t ppi_code_places_size;

/* An address of a process, and what is mapped there. */
struct ppi_code_place {
	const struct ppi_machine *machine;
	const struct ppi_extent *extent; /* NULL: not known */
	uint64_t address;
	uint32_t pid;
};

/* Code from there on; how much could be read. */
size_t ppi_code_read(const struct ppi_code_place *place, unsigned char *bytes,
                     size_t count);

/* Whether a call precedes it; true where it cannot be read. */
bool ppi_code_follows_call(struct ppi_code_places *bytes,
                           const struct ppi_code_place *place);

/* Whether nothing is left but to restore registers and to return; false where it
 * cannot be read. */
bool ppi_code_is_epilogue(struct ppi_code_places *bytes,
                          const struct ppi_code_place *place);

/* What the function has left to do from there on, whose extent is known; UNKNOWN where
 * it cannot be read, too. `is_first`: as below; `is_near`: if it ends near there. */
struct ppi_code_end ppi_code_find_end(struct ppi_code_places *bytes,
                                      const struct ppi_code_place *place,
                                      bool is_first, bool is_near);

/* Whether functions there, whose extent is known, have frame pointers; and whether a
 * stack begins with the call that returns there. */
bool ppi_code_keeps_pointers(struct ppi_code_places *bytes,
                             const struct ppi_code_place *place);
bool ppi_code_begins_stack(struct ppi_code_places *bytes,
                           const struct ppi_code_place *place);

enum ppi_code_kind {
	PPI_CODE_OTHER,
	PPI_CODE_SIGNAL_RETURN, /* what a signal handler returns to */
	PPI_CODE_STUB,          /* as enum ppi_stub */
	PPI_CODE_STUB_PUSHED
};

/* What lies there that no table describes; OTHER where it cannot be read.
 * `is_first`: it is executed, and not returned to. */
enum ppi_code_kind ppi_code_kind_of(struct ppi_code_places *bytes,
                                    const struct ppi_code_place *place,
                                    bool is_first);

/* What follows a call there; PLAIN where it cannot be read. */
enum ppi_return ppi_code_return(struct ppi_code_places *bytes,
                                const struct ppi_code_place *place);

/* Where the call goes that precedes it, and where the function begins that it is in,
 * whose extent is known; 0: not known. */
uint64_t ppi_code_call_target(struct ppi_code_places *bytes,
                              const struct ppi_code_place *place);
uint64_t ppi_code_function_start(struct ppi_code_places *bytes,
                                 const struct ppi_code_place *place);

/*
 * How a frame pointer led to a place, a return address, from a function that has
 * changed the stack and called another there: it is at `inner` when that returns,
 * which is at `called` itself.
 */
enum ppi_code_between {
	PPI_BETWEEN_NONE,   /* it has the frame pointer */
	PPI_BETWEEN_ONE,    /* its caller has, and continues at *between */
	PPI_BETWEEN_UNKNOWN /* somebody has */
};
enum ppi_code_between ppi_code_find_between(struct ppi_code_places *bytes,
                                            const struct ppi_code_place *place,
                                            uint64_t inner, uint64_t called,
                                            uint64_t *between);

#endif
