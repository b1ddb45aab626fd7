/* SPDX-License-Identifier: MIT */
/*
 * From a ring that the kernel writes to what its records say. The order of fields
 * is that of include/uapi/linux/perf_event.h, enum perf_event_type.
 */
#include "backends/perf/records/perf_records.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- one ring that the kernel writes ---- */

bool ppi_perf_buffer_attach(struct perf_buffer *buffer, void *address,
                            size_t bytes, size_t page_bytes)
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
	memset(buffer, 0, sizeof(*buffer));
	buffer->address = address;
	buffer->mapped_bytes = bytes;
	buffer->data = (unsigned char *)address + offset;
	buffer->data_bytes = size;
	buffer->tail = control->data_tail;
	buffer->head = buffer->tail;
	return true;
}

void ppi_perf_buffer_look(struct perf_buffer *buffer)
{
	struct perf_event_mmap_page *control = buffer->address;

	/* Pairs with the kernel's write barrier before it moves the head
	 * (perf_output_put_handle): the records up to it are complete. */
	buffer->head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	if (buffer->head - buffer->tail > buffer->data_bytes) {
		buffer->damaged++;
		ppi_perf_buffer_pop(buffer, buffer->head - buffer->tail);
	}
}

uint64_t ppi_perf_buffer_word(const struct perf_buffer *buffer, size_t at)
{
	uint64_t word;

	/* Aligned to 8 in a buffer of a multiple of 8: never in two parts. */
	at = (buffer->tail + at) & (buffer->data_bytes - 1);
	memcpy(&word, buffer->data + at, sizeof(word));
	return word;
}

size_t ppi_perf_buffer_front(struct perf_buffer *buffer)
{
	uint64_t left = buffer->head - buffer->tail;
	struct perf_event_header header;
	uint64_t word;

	if (left == 0)
		return 0;
	if (left >= sizeof(header)) {
		word = ppi_perf_buffer_word(buffer, 0);
		memcpy(&header, &word, sizeof(header));
		if (header.size >= sizeof(header) && header.size % 8 == 0 &&
		    header.size <= left)
			return header.size;
	}
	buffer->damaged++;
	ppi_perf_buffer_pop(buffer, left);
	return 0;
}

const void *ppi_perf_buffer_record(const struct perf_buffer *buffer, size_t bytes,
                                 void *scratch)
{
	uint64_t at = buffer->tail & (buffer->data_bytes - 1);
	uint64_t first = buffer->data_bytes - at;

	if (bytes <= first)
		return buffer->data + at;
	memcpy(scratch, buffer->data + at, first);
	memcpy((char *)scratch + first, buffer->data, bytes - first);
	return scratch;
}

void ppi_perf_buffer_pop(struct perf_buffer *buffer, size_t bytes)
{
	struct perf_event_mmap_page *control = buffer->address;

	buffer->tail += bytes;
	/* The kernel may overwrite what lies before the tail as soon as it
	 * sees it: our reads must be done by then. */
	__atomic_store_n(&control->data_tail, buffer->tail, __ATOMIC_RELEASE);
}

/* ---- one record ---- */

/* Reads words from the front; once it fails it stays failed. */
struct reader {
	const unsigned char *at;
	size_t left;
	bool has_failed;
};

static uint64_t next(struct reader *reader)
{
	uint64_t word = 0;

	if (reader->left < sizeof(word)) {
		reader->has_failed = true;
		return 0;
	}
	memcpy(&word, reader->at, sizeof(word));
	reader->at += sizeof(word);
	reader->left -= sizeof(word);
	return word;
}

/* Two 32-bit numbers that share a word, in memory order. */
static void next_pair(struct reader *reader, uint32_t *first, uint32_t *second)
{
	uint64_t word = next(reader);
	uint32_t pair[2];

	memcpy(pair, &word, sizeof(pair));
	*first = pair[0];
	*second = pair[1];
}

static size_t has(const struct perf_shape *shape, uint64_t bit)
{
	return (shape->sample_type & bit) != 0;
}

size_t ppi_perf_time_in_sample(const struct perf_shape *shape)
{
	return 8 * (1 + has(shape, PERF_SAMPLE_IDENTIFIER) +
	            has(shape, PERF_SAMPLE_IP) + has(shape, PERF_SAMPLE_TID));
}

size_t ppi_perf_time_from_end(const struct perf_shape *shape)
{
	return 8 * (1 + has(shape, PERF_SAMPLE_CPU) +
	            has(shape, PERF_SAMPLE_IDENTIFIER));
}

/*
 * Of software events that overflow together the kernel fills in the sample once
 * (kernel/events/core.c, perf_prepare_sample: sample_flags), with the id of the
 * first. What it reads is each one's own (perf_output_read), the id there too.
 */
static void take_own_id(struct perf_seen *seen, uint64_t id)
{
	seen->is_shared = seen->has_id && seen->id != id;
	seen->id = id;
	seen->has_id = true;
}

static void read_values(const struct perf_shape *shape, struct reader *reader,
                        struct perf_seen *seen)
{
	seen->value = next(reader);
	if (shape->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) {
		seen->thread_time = next(reader);
		seen->has_thread_time = true;
	}
	if (shape->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		seen->running = next(reader);
	if (shape->read_format & PERF_FORMAT_ID)
		take_own_id(seen, next(reader));
	if (shape->read_format & PERF_READ_LOST)
		next(reader);
}

void ppi_perf_seen_choose(struct perf_seen *seen, size_t index)
{
	const uint64_t *values = seen->values + index * seen->value_step;

	seen->value = values[0];
	if (seen->has_value_ids)
		take_own_id(seen, values[1]);
}

/* Whose sample it is among a group's values: the leader's, where the kernel filled
 * it in for another event. */
static size_t find_own(const struct perf_seen *seen)
{
	for (size_t i = 0; seen->has_value_ids && seen->has_id &&
	     i < seen->value_count; i++)
		if (seen->values[i * seen->value_step + 1] == seen->id)
			return i;
	return 0;
}

/* The number, the times, then value, id and lost of each; the leader's first. */
static void read_group(const struct perf_shape *shape, struct reader *reader,
                       struct perf_seen *seen)
{
	const uint64_t format = shape->read_format;
	uint64_t count = next(reader);
	size_t step = 1 + ((format & PERF_FORMAT_ID) != 0) +
	              ((format & PERF_READ_LOST) != 0);

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED) {
		seen->thread_time = next(reader);
		seen->has_thread_time = true;
	}
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		seen->running = next(reader);
	if (count == 0 || count > reader->left / (8 * step)) {
		reader->has_failed = true;
		return;
	}
	seen->values = (const uint64_t *)(const void *)reader->at;
	seen->value_count = (size_t)count;
	seen->value_step = step;
	seen->has_value_ids = format & PERF_FORMAT_ID;
	ppi_perf_seen_choose(seen, find_own(seen));
	reader->at += count * 8 * step;
	reader->left -= (size_t)count * 8 * step;
}

static void read_chain(struct reader *reader, struct perf_seen *seen)
{
	uint64_t words = next(reader);

	if (words > reader->left / 8) {
		reader->has_failed = true;
		return;
	}
	/* Records lie at multiples of 8, and so does all in them. */
	seen->chain = (const uint64_t *)(const void *)reader->at;
	seen->chain_words = (size_t)words;
	reader->at += words * 8;
	reader->left -= (size_t)words * 8;
}

/* Its length and that, which end together at a word. */
static void read_raw(struct reader *reader, struct perf_seen *seen)
{
	uint32_t bytes;

	if (reader->left < 8) {
		reader->has_failed = true;
		return;
	}
	memcpy(&bytes, reader->at, sizeof(bytes));
	if (bytes > reader->left - 4 || (bytes + 4) % 8) {
		reader->has_failed = true;
		return;
	}
	seen->raw = reader->at + 4;
	seen->raw_bytes = bytes;
	reader->at += bytes + 4;
	reader->left -= bytes + 4;
}

/* Each branch has from, to and a word of flags. */
static void read_branches(struct reader *reader, struct perf_seen *seen)
{
	uint64_t count = next(reader);

	if (count > reader->left / 24) {
		reader->has_failed = true;
		return;
	}
	seen->branches = (const uint64_t *)(const void *)reader->at;
	seen->branch_count = (size_t)count;
	reader->at += count * 24;
	reader->left -= (size_t)count * 24;
}

static size_t count_bits(uint64_t mask)
{
	size_t count = 0;

	for (; mask; mask &= mask - 1)
		count++;
	return count;
}

/* No registers follow where there is no user context. */
static void read_registers(const struct perf_shape *shape,
                           struct reader *reader, struct perf_seen *seen)
{
	uint64_t abi = next(reader);
	size_t count = count_bits(shape->user_mask), at;

	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	if (count > reader->left / 8) {
		reader->has_failed = true;
		return;
	}
	seen->registers = (const uint64_t *)(const void *)reader->at;
	seen->is_32_bit = abi != PERF_SAMPLE_REGS_ABI_64;
	for (at = 0; at < count; at++) {
		uint64_t value = next(reader);

		if (!shape->user_ip_mask ||
		    at != count_bits(shape->user_mask &
		                     (shape->user_ip_mask - 1)))
			continue;
		seen->user_ip = value;
		seen->has_user_ip = true;
	}
}

/* Its room, the copy, and how much of the room the copy has: no third word
 * without room. The kernel stops where the stack's memory does. */
static void read_stack(struct reader *reader, struct perf_seen *seen)
{
	uint64_t room = next(reader), bytes;
	const unsigned char *stack = reader->at;

	if (room == 0)
		return;
	if (room % 8 || room > reader->left) {
		reader->has_failed = true;
		return;
	}
	reader->at += room;
	reader->left -= (size_t)room;
	bytes = next(reader);
	seen->stack = stack;
	seen->stack_bytes = (size_t)(bytes < room ? bytes : room);
	seen->is_stack_all = bytes < room;
}

static void decode_sample(const struct perf_shape *shape,
                          struct reader *reader, struct perf_seen *seen)
{
	uint32_t reserved;

	if (has(shape, PERF_SAMPLE_IDENTIFIER)) {
		seen->id = next(reader);
		seen->has_id = true;
	}
	if (has(shape, PERF_SAMPLE_IP))
		seen->ip = next(reader);
	if (has(shape, PERF_SAMPLE_TID))
		next_pair(reader, &seen->pid, &seen->tid);
	if (has(shape, PERF_SAMPLE_TIME)) {
		seen->time_ns = next(reader);
		seen->has_time = true;
	}
	if (has(shape, PERF_SAMPLE_ADDR))
		seen->data_address = next(reader);
	if (has(shape, PERF_SAMPLE_CPU)) {
		next_pair(reader, &seen->cpu, &reserved);
		seen->has_cpu = true;
	}
	if (has(shape, PERF_SAMPLE_PERIOD))
		seen->period = next(reader);
	if (has(shape, PERF_SAMPLE_READ) &&
	    shape->read_format & PERF_FORMAT_GROUP)
		read_group(shape, reader, seen);
	else if (has(shape, PERF_SAMPLE_READ))
		read_values(shape, reader, seen);
	if (has(shape, PERF_SAMPLE_CALLCHAIN))
		read_chain(reader, seen);
	if (has(shape, PERF_SAMPLE_RAW))
		read_raw(reader, seen);
	if (has(shape, PERF_SAMPLE_BRANCH_STACK))
		read_branches(reader, seen);
	if (has(shape, PERF_SAMPLE_REGS_USER))
		read_registers(shape, reader, seen);
	if (has(shape, PERF_SAMPLE_STACK_USER))
		read_stack(reader, seen);
	if (has(shape, PERF_SAMPLE_WEIGHT | PERF_TELLS_WEIGHTS))
		seen->latency = next(reader);
	if (has(shape, PERF_SAMPLE_DATA_SRC))
		seen->data_source = next(reader);
	if (has(shape, PERF_SAMPLE_TRANSACTION))
		seen->transaction = next(reader);
	if (has(shape, PERF_TELLS_PHYSICAL))
		seen->physical_address = next(reader);
	if (has(shape, PERF_TELLS_CGROUP))
		seen->cgroup = next(reader);
	if (has(shape, PERF_TELLS_DATA_PAGE))
		seen->data_page_bytes = next(reader);
	if (has(shape, PERF_TELLS_CODE_PAGE))
		seen->code_page_bytes = next(reader);
}

/* The words that sample_id_all puts at the end of other records. */
static void decode_trailer(const struct perf_shape *shape,
                           struct reader *reader, struct perf_seen *seen)
{
	size_t bytes = 8 * (has(shape, PERF_SAMPLE_TID) +
	                    has(shape, PERF_SAMPLE_TIME) +
	                    has(shape, PERF_SAMPLE_CPU) +
	                    has(shape, PERF_SAMPLE_IDENTIFIER));
	struct reader end = *reader;
	uint32_t unused;

	if (reader->left < bytes) {
		reader->has_failed = true;
		return;
	}
	reader->left -= bytes;
	end.at += reader->left;
	end.left = bytes;
	if (has(shape, PERF_SAMPLE_TID))
		next_pair(&end, &seen->pid, &seen->tid);
	if (has(shape, PERF_SAMPLE_TIME)) {
		seen->time_ns = next(&end);
		seen->has_time = true;
	}
	if (has(shape, PERF_SAMPLE_CPU)) {
		next_pair(&end, &seen->cpu, &unused);
		seen->has_cpu = true;
	}
	if (has(shape, PERF_SAMPLE_IDENTIFIER)) {
		seen->id = next(&end);
		seen->has_id = true;
	}
}

static void read_name(struct reader *reader, struct perf_seen *seen)
{
	if (reader->left == 0 || !memchr(reader->at, 0, reader->left))
		reader->has_failed = true;
	else
		seen->name = (const char *)reader->at;
}

static void decode_mapping(struct reader *reader, struct perf_seen *seen)
{
	next_pair(reader, &seen->pid, &seen->tid);
	seen->address = next(reader);
	seen->length = next(reader);
	seen->file_offset = next(reader);
	if (seen->type == PERF_RECORD_MMAP2) {
		/* PERF_RECORD_MISC_MMAP_BUILD_ID is not looked at: a
		 * neighbour's event leaves it set in records of ours. */
		next_pair(reader, &seen->file.device_major,
		          &seen->file.device_minor);
		seen->file.inode = next(reader);
		seen->file.generation = next(reader);
		next(reader); /* protection, flags */
	}
	read_name(reader, seen);
}

static void decode_other(const struct perf_shape *shape,
                         struct reader *reader, uint16_t misc,
                         struct perf_seen *seen)
{
	uint32_t pid, tid;

	decode_trailer(shape, reader, seen);
	switch (seen->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		decode_mapping(reader, seen);
		break;
	case PERF_RECORD_COMM:
		next_pair(reader, &seen->pid, &seen->tid);
		seen->is_exec = misc & PERF_RECORD_MISC_COMM_EXEC;
		read_name(reader, seen);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		next_pair(reader, &pid, &seen->parent_pid);
		next_pair(reader, &tid, &seen->parent_tid);
		seen->pid = pid;
		seen->tid = tid;
		break;
	case PERF_RECORD_LOST:
		next(reader);
		seen->lost = next(reader);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		seen->lost = next(reader);
		break;
	default:
		break;
	}
}

bool ppi_perf_decode(const struct perf_shape *shape, const void *record,
                     size_t bytes, struct perf_seen *seen)
{
	struct perf_event_header header;
	struct reader reader = { .has_failed = false };
	unsigned mode;

	memset(seen, 0, sizeof(*seen));
	if (bytes < sizeof(header))
		return false;
	memcpy(&header, record, sizeof(header));
	reader.at = (const unsigned char *)record + sizeof(header);
	reader.left = bytes - sizeof(header);
	seen->type = header.type;
	mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	seen->is_kernel = mode == PERF_RECORD_MISC_KERNEL;
	seen->is_guest = mode == PERF_RECORD_MISC_GUEST_KERNEL ||
	                 mode == PERF_RECORD_MISC_GUEST_USER;
	if (header.type == PERF_RECORD_SAMPLE)
		decode_sample(shape, &reader, seen);
	else
		decode_other(shape, &reader, header.misc, seen);
	return !reader.has_failed;
}

/* No code is at 0, and none where the topmost byte is mixed: x86-64 and arm64
 * have neither user nor kernel addresses there. */
static bool can_be_code(uint64_t address)
{
	return address != 0 && (address >> 56 == 0 || address >> 56 == 0xff);
}

size_t ppi_perf_chain_kernel_part(const uint64_t *chain, size_t words)
{
	size_t count = 0;

	while (count < words && chain[count] != (uint64_t)PERF_CONTEXT_USER)
		count++;
	return count;
}

size_t ppi_perf_chain_clean(const uint64_t *chain, size_t words, uint64_t *out,
                            size_t room)
{
	bool is_user = false;
	size_t count = 0;

	for (size_t i = 0; i < words && count < room; i++) {
		if (chain[i] >= PERF_CHAIN_MARKER) {
			is_user = chain[i] == (uint64_t)PERF_CONTEXT_USER;
			continue;
		}
		/* what code without frame pointers left where one should be */
		if (count > 0 && (!can_be_code(chain[i]) ||
		                  (is_user && chain[i] >> 63)))
			break;
		out[count++] = chain[i];
	}
	return count;
}
