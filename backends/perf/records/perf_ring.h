/* SPDX-License-Identifier: MIT */
/* Reading one ring that the kernel writes. */
#ifndef PERF_RING_H
#define PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No record is longer: its size is a 16-bit number. */
enum { PERF_RECORD_ROOM = 65536 };

struct perf_ring {
	void *address;        /* the mapping: a control page, then data */
	size_t mapped_bytes;
	unsigned char *data;
	uint64_t data_bytes;  /* a power of two */
	uint64_t head;        /* as of the last look; positions never wrap */
	uint64_t tail;        /* next byte to read */
	uint64_t damaged;     /* times the ring held nonsense and was skipped */
};

/* Take a mapping of `bytes`; false when its control page contradicts that. */
bool ppi_perf_ring_attach(struct perf_ring *ring, void *address, size_t bytes,
                          size_t page_bytes);

/* See how far the kernel has written. */
void ppi_perf_ring_look(struct perf_ring *ring);

/* Size of the record at the tail, header included; 0 when there is none. A
 * size that cannot be drops all that was seen, and counts as damage. */
size_t ppi_perf_ring_front(struct perf_ring *ring);

/* The 8-byte word at byte `at` (a multiple of 8) of the front record. */
uint64_t ppi_perf_ring_word(const struct perf_ring *ring, size_t at);

/* The front record in one piece: in place, or copied to scratch when it goes
 * round the end. Valid until ppi_perf_ring_pop. */
const void *ppi_perf_ring_record(const struct perf_ring *ring, size_t bytes,
                                 void *scratch);

/* Give the front record's bytes back to the kernel. */
void ppi_perf_ring_pop(struct perf_ring *ring, size_t bytes);

#endif
