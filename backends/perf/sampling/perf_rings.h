/* SPDX-License-Identifier: MIT */
/*
 * The rings of a sampling session: of CPUs or of threads, for samples or at their
 * side. Each is a buffer that the kernel writes (records/perf_records.h) and the
 * event that owns it.
 */
#ifndef PERF_RINGS_H
#define PERF_RINGS_H

#include "backends/perf/records/perf_records.h"
#include "backends/perf/session/perf_session.h"

enum { PERF_RING_FREE = -1 };

/* The kernel refuses 64 KiB; and a record, which is as long at most, has more
 * than the stack (kernel/events/core.c, perf_sample_ustack_size). */
enum { PERF_STACK_MAX = 63 << 10, PERF_STACK_MIN = 1 << 10 };

struct perf_ring {
	struct perf_buffer buffer;
	int fd;          /* of the event that owns the ring; -1 = free place */
	bool owns_fd;    /* no source: an event for the ring alone */
	bool is_side;    /* of carriers alone: no sample is in it */
	bool is_ended;   /* its thread is gone: empty it, then close */
	bool is_exit_seen; /* ... and the kernel's record said so */
	uint32_t cpu;
	int64_t tid;     /* thread rings */
	uint64_t next_time_ns; /* of the front record */
	uint64_t last_time_ns; /* of the one before it */
	uint32_t front_type;
	size_t front_bytes;
	uint64_t counted_to; /* perf_clocks.c: position in the ring */
};

struct perf_rings {
	struct perf_ring *all;
	size_t count, room;
	/* Data of each ring of samples, and of each side ring: mappings,
	 * threads and names. Only ever reduced. */
	size_t sample_bytes, side_bytes;
	bool is_lock_limited; /* the user's locked memory reduced them */
	size_t page_bytes;
	uint64_t damaged;     /* of rings of samples that were given back */
	size_t *order;        /* heap of rings with a front record */
	size_t order_count;
	void *scratch;        /* for records that go round a ring's end */
};

/* How many side rings threads have of their own; beyond that a thread's
 * carrier writes into its ring of samples. */
size_t ppi_perf_side_rings_left(const struct perf_state *state);
/* A free place among the rings; SIZE_MAX when out of memory. */
size_t ppi_perf_new_ring(struct perf_state *state);
/* Map a buffer of the size that is set; a thread's for samples is made smaller, if
 * it must. */
portprof_status ppi_perf_map_ring(struct ppi_backend_session *bs, int fd,
                                  struct perf_ring *ring, struct ppi_diag *why);
/* Open a CPU's ring, for samples or at its side. */
portprof_status ppi_perf_attach_cpu(struct ppi_backend_session *bs,
                                    uint32_t cpu,
                                    bool is_side, struct ppi_diag *why);
/* Close all CPUs' rings again, before any thread is attached. */
void ppi_perf_close_cpus(struct ppi_backend_session *bs);
/* With stacks: rings of threads that memory can be locked for, and stacks that
 * fit them. Before any event is open. */
void ppi_perf_fit_thread_rings(struct ppi_backend_session *bs, size_t threads);
/* Halve the size of the rings to come; false when they are smallest. */
bool ppi_perf_shrink_rings(struct ppi_backend_session *bs);

/* Once the layout and the shape of records are known: how large rings are. */
void ppi_perf_size_rings(struct ppi_backend_session *bs);
/* After rings became smaller: copy no more of stacks than leaves time between
 * two drains. Before any event is open. */
void ppi_perf_fit_stacks(struct ppi_backend_session *bs);
/* How often rings are emptied. */
void ppi_perf_choose_nap(struct ppi_backend_session *bs);

#endif
