/* SPDX-License-Identifier: MIT */
/* What bytes of code are, for each machine: a call before an address, or code that no
 * table describes. */
#ifndef PPI_UNWIND_CODE_BYTES_H
#define PPI_UNWIND_CODE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* How many functions of code return, and set a frame pointer. */
struct ppi_pointer_use {
	size_t returns, frames;
};
void ppi_count_pointers(unsigned machine, const unsigned char *bytes,
                        size_t count, struct ppi_pointer_use *use);
/* Whether they have frame pointers; true where they are few. */
bool ppi_keeps_pointers(const struct ppi_pointer_use *use);

/* Whether the call that returns to bytes[at] is of what a kernel or a thread's parent
 * lets a stack begin with. */
bool ppi_begins_stack(unsigned machine, const unsigned char *bytes, size_t at);

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

/* What is at bytes[at] of code; those of x86-64 are followed (code_end.h). */
enum ppi_stub ppi_stub(unsigned machine, const unsigned char *bytes, size_t at,
                       size_t count);

#endif
