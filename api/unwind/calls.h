/* SPDX-License-Identifier: MIT */
/* Whether code in front of an address calls: a return address follows one. And
 * what code is that no table describes. */
#ifndef PPI_UNWIND_CALLS_H
#define PPI_UNWIND_CALLS_H

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

/* Code by which a linker leads elsewhere, such as an entry of a PLT. */
enum { PPI_STUB_BEFORE = 16, PPI_STUB_AFTER = 28 }; /* bytes to look at */
enum ppi_stub {
	PPI_STUB_NONE,
	PPI_STUB_PLAIN, /* registers of callers and stack are as at the call */
	PPI_STUB_PUSHED /* two words are on the stack */
};

/* What is at bytes[at] of code of arm64; on x86-64 tables describe it. */
enum ppi_stub ppi_stub(unsigned machine, const unsigned char *bytes, size_t at,
                       size_t count);

#endif
