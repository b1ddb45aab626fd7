/* SPDX-License-Identifier: MIT */
/* Adding to memory that belongs to the program, which may be gone. */
#ifndef PPI_STORE_H
#define PPI_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Kernels survive a bad buffer: profiling ends, the process lives. So each
 * page is tried before it is written, once a batch of samples: what a program
 * unmaps in that moment while profiling is on, is its own mistake.
 */
struct ppi_pages {
	uintptr_t writable[64]; /* by page number; 0 = not tried */
};

void ppi_pages_forget(struct ppi_pages *pages);

/* Whether the byte at `at`, which is left as it is, can be written: what systems
 * without a futex are asked. */
bool ppi_store_can_write(void *at);

/* Whether all of [at, at + bytes) can be written. */
bool ppi_pages_can_write(struct ppi_pages *pages, const void *at,
                         size_t bytes);

/*
 * Add to a counter of 2 or 4 bytes, up to `top`, or modulo its width when top
 * is 0. Returns what did not fit. Atomic where it is aligned: the program may
 * clear its counters meanwhile.
 */
uint64_t ppi_store_add(void *at, unsigned width, uint64_t amount,
                       uint64_t top);

#endif
