/* SPDX-License-Identifier: MIT */
/* What the instructions at an address are: a call before it, or code that no table
 * describes. */
#ifndef PPI_UNWIND_CODE_BYTES_H
#define PPI_UNWIND_CODE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/unwind/code_map.h"

/* ---- bytes: whether a call precedes them, as with return addresses ---- */

enum { PPI_CALL_BEFORE = 8, PPI_CALL_AFTER = 16 }; /* bytes to look at */

/* Whether this is what a signal handler returns to: false of machines that are
 * not known. */
bool ppi_returns_by_signal(unsigned machine, const unsigned char *code,
                           size_t count);

/* Whether a function returns to bytes[at] of code of an ELF machine, `count`
 * bytes being known. True of machines that are not known. */
bool ppi_returns_to(unsigned machine, const unsigned char *bytes, size_t at,
                    size_t count);

/* What follows a call, on the stack that the called function was on. */
enum ppi_return {
	PPI_RETURN_PLAIN,
	PPI_RETURN_NEVER, /* nothing: that stack begins with the call */
	PPI_RETURN_BACK   /* the way back to another stack */
};

enum { PPI_RETURN_AFTER = 64 }; /* bytes to look at */

/* What lies at bytes[at], which a function returns to. */
enum ppi_return ppi_return_kind(unsigned machine, const unsigned char *bytes,
                                size_t at, size_t count);

/* Of bytes[at], which lies at `address`: where its function begins, which is not
 * long; 0: not there. */
uint64_t ppi_function_start(unsigned machine, const unsigned char *bytes,
                            size_t at, uint64_t address);

/*
 * Among `count` bytes of code at `start`, those that have so many behind them: how
 * many instructions give the address `named`. *returns_to gets where a call of
 * `callee` returns to, if it is the first behind the last of them; or 0.
 */
unsigned ppi_find_named(unsigned machine, const unsigned char *code,
                        size_t count, uint64_t start, uint64_t named,
                        uint64_t callee, uint64_t *returns_to);

enum { PPI_NAMED_BEFORE = 7, PPI_NAMED_AFTER = 64 };

/* Where the function that begins at `start` with these bytes returns to from its
 * one call of another; 0: it has none, or several, or code follows them. */
uint64_t ppi_one_call(unsigned machine, const unsigned char *code, size_t count,
                      uint64_t start, uint64_t callee);

/* Where the call goes that ends before `address`; false unless it says so itself. */
bool ppi_call_target(unsigned machine, const unsigned char *end, size_t before,
                     uint64_t address, uint64_t *target);

/* Whether bytes[at] and what follows only take registers from the stack, and then
 * return or jump to another function. False of machines whose tables say of each
 * register that it is restored. */
bool ppi_is_epilogue(unsigned machine, const unsigned char *bytes, size_t at,
                     size_t count);

/* Code by which a linker leads elsewhere, such as an entry of a PLT. */
enum { PPI_STUB_BEFORE = 16, PPI_STUB_AFTER = 28 }; /* bytes to look at */

enum ppi_stub {
	PPI_STUB_NONE,
	PPI_STUB_PLAIN, /* registers of callers and stack are as at the call */
	PPI_STUB_PUSHED /* two words are on the stack */
};

/* What is at bytes[at] of code; on x86-64 a function's return is one, too. */
enum ppi_stub ppi_stub(unsigned machine, const unsigned char *bytes, size_t at,
                       size_t count);

/* ---- of processes: answers that are kept ---- */

struct ppi_code_bytes;

/* NULL when there is no memory. */
struct ppi_code_bytes *ppi_code_bytes_new(void);
void ppi_code_bytes_free(struct ppi_code_bytes *bytes);
extern const size_t ppi_code_bytes_size;

/* An address of a process, and what is mapped there. */
struct ppi_code_place {
	const struct ppi_machine *machine;
	const struct ppi_extent *extent; /* NULL: not known */
	uint64_t address;
	uint32_t pid;
};

/* Whether a call precedes it; true where it cannot be read. */
bool ppi_code_follows_call(struct ppi_code_bytes *bytes,
                           const struct ppi_code_place *place);

/* Whether nothing is left but to restore registers and to return; false where it
 * cannot be read. */
bool ppi_code_is_epilogue(struct ppi_code_bytes *bytes,
                          const struct ppi_code_place *place);

enum ppi_code_kind {
	PPI_CODE_OTHER,
	PPI_CODE_SIGNAL_RETURN, /* what a signal handler returns to */
	PPI_CODE_STUB,          /* as enum ppi_stub */
	PPI_CODE_STUB_PUSHED
};

/* What lies there that no table describes; OTHER where it cannot be read.
 * `is_first`: it is executed, and not returned to. */
enum ppi_code_kind ppi_code_kind_of(struct ppi_code_bytes *bytes,
                                    const struct ppi_code_place *place,
                                    bool is_first);

/* What follows a call there; PLAIN where it cannot be read. */
enum ppi_return ppi_code_return(struct ppi_code_bytes *bytes,
                                const struct ppi_code_place *place);

/* Where the call goes that precedes it, and where the function begins that it is in,
 * whose extent is known; 0: not known. */
uint64_t ppi_code_call_target(struct ppi_code_bytes *bytes,
                              const struct ppi_code_place *place);
uint64_t ppi_code_function_start(struct ppi_code_bytes *bytes,
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
enum ppi_code_between ppi_code_find_between(struct ppi_code_bytes *bytes,
                                            const struct ppi_code_place *place,
                                            uint64_t inner, uint64_t called,
                                            uint64_t *between);

#endif
