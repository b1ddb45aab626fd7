/* SPDX-License-Identifier: MIT */
/* Reads one ring of the kernel's and parses its records; nothing in them is
 * trusted. */
#ifndef PERF_RECORDS_H
#define PERF_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/perf/kernel/perf_attr.h"
#include "backends/perf/kernel/perf_proc.h"

/* ---- one ring that the kernel writes ---- */

/* No record is longer: its size is a 16-bit number. */
enum { PERF_RECORD_ROOM = 65536 };

/* The ring buffer of an event, as far as it was read. */
struct perf_buffer {
	void *address;        /* the mapping: a control page, then data */
	size_t mapped_bytes;
	unsigned char *data;
	uint64_t data_bytes;  /* a power of two */
	uint64_t head;        /* as of the last look; positions never wrap */
	uint64_t tail;        /* next byte to read */
	uint64_t damaged;     /* times the ring held nonsense and was skipped */
};

/* Take a mapping of `bytes`; false when its control page contradicts that. */
bool ppi_perf_buffer_attach(struct perf_buffer *buffer, void *address,
                            size_t bytes, size_t page_bytes);

/* See how far the kernel has written. */
void ppi_perf_buffer_look(struct perf_buffer *buffer);

/* Size of the record at the tail, header included; 0 when there is none. A
 * size that cannot be drops all that was seen, and counts as damage. */
size_t ppi_perf_buffer_front(struct perf_buffer *buffer);

/* The 8-byte word at byte `at` (a multiple of 8) of the front record. */
uint64_t ppi_perf_buffer_word(const struct perf_buffer *buffer, size_t at);

/* The front record in one piece: in place, or copied to scratch when it goes
 * round the end. Valid until ppi_perf_buffer_pop. */
const void *ppi_perf_buffer_record(const struct perf_buffer *buffer, size_t bytes,
                                 void *scratch);

/* Give the front record's bytes back to the kernel. */
void ppi_perf_buffer_pop(struct perf_buffer *buffer, size_t bytes);

/* ---- one record ---- */

/* What one kernel record says. Pointers lead into the record. Its members are the
 * fields of all kinds of records and samples (perf_event_open(2)). */
struct perf_seen {
	uint32_t type; /* PERF_RECORD_ */
	bool is_kernel;
	bool is_guest;     /* SAMPLE: in a virtual machine; ip is of its space */
	bool is_exec;      /* COMM: because of exec */
	bool has_time, has_cpu, has_id, has_thread_time, has_user_ip;
	uint32_t pid, tid;
	uint32_t parent_pid, parent_tid; /* FORK, EXIT */
	uint32_t cpu;
	uint64_t id, time_ns;

	/* SAMPLE */
	bool is_shared; /* the kernel filled it in for another event, which
	                 * overflowed at the same occurrence: id is that of READ,
	                 * time and chain may be as the other asked for them */
	uint64_t ip, period, user_ip;
	uint64_t value;       /* READ: the event's own count */
	uint64_t thread_time; /* READ: time enabled */
	uint64_t running;     /* READ: time running, if asked for */
	const uint64_t *chain;
	size_t chain_words;   /* markers included */
	const uint64_t *registers;      /* of user code, as the shape has them;
	                                 * NULL = none */
	bool is_32_bit;                 /* so is the user code */
	const unsigned char *stack;     /* a copy, from the stack pointer up */
	size_t stack_bytes;
	bool is_stack_all;              /* it could not have been longer */
	/* 0: the hardware told none */
	uint64_t data_address, latency, data_source, transaction;
	uint64_t physical_address, data_page_bytes, code_page_bytes;
	uint64_t cgroup;      /* of the thread, in the hierarchy of perf's */
	const uint64_t *branches;       /* from, to, flags of each */
	size_t branch_count;
	const uint64_t *values; /* READ of a group: each with value_step */
	size_t value_count, value_step;
	bool has_value_ids;
	const unsigned char *raw;       /* of the event's own; NULL = none */
	size_t raw_bytes;

	uint64_t lost;        /* LOST, LOST_SAMPLES */

	/* MMAP, MMAP2, COMM */
	uint64_t address, length, file_offset;
	struct perf_file_key file;      /* MMAP2 */
	const char *name; /* zero-terminated within the record */
};

/* Of a group's values that one is the sample's own event's. */
void ppi_perf_seen_choose(struct perf_seen *seen, size_t index);

/* Byte of the word that holds the time in a sample, and how far from its end
 * in any other record. */
size_t ppi_perf_time_in_sample(const struct perf_shape *shape);
size_t ppi_perf_time_from_end(const struct perf_shape *shape);

/*
 * Take a record of `bytes` bytes apart. False when it is too short for what
 * it must hold; a type that we do not know is true, with `type` alone.
 */
bool ppi_perf_decode(const struct perf_shape *shape, const void *record,
                     size_t bytes, struct perf_seen *seen);

/* Copy a chain without the kernel's context markers, at most `room`
 * addresses; returns how many. */
size_t ppi_perf_chain_clean(const uint64_t *chain, size_t words, uint64_t *out,
                            size_t room);

/* How many words of a chain, markers included, are the kernel's part. */
size_t ppi_perf_chain_kernel_part(const uint64_t *chain, size_t words);

#endif
