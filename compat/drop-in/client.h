/* SPDX-License-Identifier: MIT */
/* The clients of the engine, and the text of each. */
#ifndef PPI_CLIENT_H
#define PPI_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text [start, end), told to bin_bytes, a power of two. */
struct ppi_span {
	uint64_t start, end;
	uint64_t bin_bytes;
};

struct ppi_client {
	/* One sample. It may turn the client off: samples then pass it by. In
	 * normal context, never two at once, not even of two clients. */
	void (*take)(struct ppi_client *client, uint64_t pc,
	             uint64_t weight_ns);
	const struct ppi_span *spans; /* NULL: the whole address space */
	size_t span_count;
	unsigned hz;                  /* ticks per second of CPU time */
	uint64_t carry;               /* part of a tick, in 1e-9 / hz */
	atomic_bool is_on;
	bool goes_on_in_child;        /* of fork */
	bool is_known;                /* the engine's: it is in its list */
	struct ppi_client *next;
};

#endif
