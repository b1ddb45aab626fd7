/* SPDX-License-Identifier: MIT */
/* Reading one ring that the kernel writes. */
#include "backends/perf/records/perf_ring.h"

#include <string.h>

#include <linux/perf_event.h>

bool ppi_perf_ring_attach(struct perf_ring *ring, void *address, size_t bytes,
                          size_t page_bytes)
{
	const struct perf_event_mmap_page *control = address;
	uint64_t offset = control->data_offset;
	uint64_t size = control->data_size;

	/* Kernels before 4.1 leave both 0: data follow the first page. */
	if (offset == 0 && size == 0) {
		offset = page_bytes;
		size = bytes - page_bytes;
	}
	if (size < 8 || (size & (size - 1)) || offset > bytes ||
	    size > bytes - offset || offset % 8)
		return false;
	memset(ring, 0, sizeof(*ring));
	ring->address = address;
	ring->mapped_bytes = bytes;
	ring->data = (unsigned char *)address + offset;
	ring->data_bytes = size;
	ring->tail = control->data_tail;
	ring->head = ring->tail;
	return true;
}

void ppi_perf_ring_look(struct perf_ring *ring)
{
	struct perf_event_mmap_page *control = ring->address;

	/* Pairs with the kernel's write barrier before it moves the head
	 * (perf_output_put_handle): the records up to it are complete. */
	ring->head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	if (ring->head - ring->tail > ring->data_bytes) {
		ring->damaged++;
		ppi_perf_ring_pop(ring, ring->head - ring->tail);
	}
}

uint64_t ppi_perf_ring_word(const struct perf_ring *ring, size_t at)
{
	uint64_t word;

	/* Aligned to 8 in a ring of a multiple of 8: never in two parts. */
	memcpy(&word, ring->data + ((ring->tail + at) & (ring->data_bytes - 1)),
	       sizeof(word));
	return word;
}

size_t ppi_perf_ring_front(struct perf_ring *ring)
{
	uint64_t left = ring->head - ring->tail;
	struct perf_event_header header;
	uint64_t word;

	if (left == 0)
		return 0;
	if (left >= sizeof(header)) {
		word = ppi_perf_ring_word(ring, 0);
		memcpy(&header, &word, sizeof(header));
		if (header.size >= sizeof(header) && header.size % 8 == 0 &&
		    header.size <= left)
			return header.size;
	}
	ring->damaged++;
	ppi_perf_ring_pop(ring, left);
	return 0;
}

const void *ppi_perf_ring_record(const struct perf_ring *ring, size_t bytes,
                                 void *scratch)
{
	uint64_t at = ring->tail & (ring->data_bytes - 1);
	uint64_t first = ring->data_bytes - at;

	if (bytes <= first)
		return ring->data + at;
	memcpy(scratch, ring->data + at, first);
	memcpy((char *)scratch + first, ring->data, bytes - first);
	return scratch;
}

void ppi_perf_ring_pop(struct perf_ring *ring, size_t bytes)
{
	struct perf_event_mmap_page *control = ring->address;

	ring->tail += bytes;
	/* The kernel may overwrite what lies before the tail as soon as it
	 * sees it: our reads must be done by then. */
	__atomic_store_n(&control->data_tail, ring->tail, __ATOMIC_RELEASE);
}
