/* SPDX-License-Identifier: MIT */
/* Kernel records taken apart: whole, cut short, and hostile ones. */
#include "backends/perf/records/perf_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Everything that a session may ask for. */
static const struct perf_shape full = {
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
	               PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
	               PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
	               PERF_SAMPLE_REGS_USER,
	.user_mask = 0x100,
	.user_ip_mask = 0x100,
	.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
	               PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_READ_LOST,
};
static const struct perf_shape lean = {
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
	               PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	               PERF_SAMPLE_PERIOD,
};

/* A record in memory of exactly its size, so that a checker sees any byte
 * read past its end. */
struct record {
	uint64_t words[64];
	size_t count;
};

static void begin(struct record *record, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = { type, misc, 0 };

	memset(record, 0, sizeof(*record));
	memcpy(record->words, &header, sizeof(header));
	record->count = 1;
}

static void put(struct record *record, uint64_t word)
{
	record->words[record->count++] = word;
}

static void put_pair(struct record *record, uint32_t a, uint32_t b)
{
	uint32_t pair[2] = { a, b };

	memcpy(&record->words[record->count++], pair, sizeof(pair));
}

static void put_text(struct record *record, const char *text)
{
	strcpy((char *)&record->words[record->count], text);
	record->count += strlen(text) / 8 + 1;
}

/* TID, TIME, CPU, IDENTIFIER. */
static void put_trailer(struct record *record)
{
	put_pair(record, 10, 11);
	put(record, 777);
	put_pair(record, 3, 0);
	put(record, 42);
}

static struct perf_seen seen;

static bool decode(const struct perf_shape *shape, const struct record *record,
                   size_t bytes)
{
	void *exact = malloc(bytes ? bytes : 1);
	bool is_good;

	memcpy(exact, record->words, bytes);
	is_good = ppi_perf_decode(shape, exact, bytes, &seen);
	/* What points into it must be looked at before it goes. */
	if (is_good && seen.name)
		assert_true(strlen(seen.name) < bytes);
	free(exact);
	return is_good;
}

static void put_sample(struct record *record)
{
	begin(record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put(record, 42);           /* id */
	put(record, 0xabc);        /* ip */
	put_pair(record, 10, 11);  /* pid, tid */
	put(record, 777);          /* time */
	put_pair(record, 3, 0);    /* cpu */
	put(record, 1000);         /* value */
	put(record, 2000);         /* enabled */
	put(record, 1500);         /* running */
	put(record, 5);            /* lost */
	put(record, 3);            /* chain */
	put(record, (uint64_t)PERF_CONTEXT_USER);
	put(record, 0x111);
	put(record, 0x222);
	put(record, PERF_SAMPLE_REGS_ABI_64);
	put(record, 0xdef);
}

static void a_full_sample(void **state)
{
	struct record record;

	(void)state;
	put_sample(&record);
	assert_true(ppi_perf_decode(&full, record.words, record.count * 8,
	                            &seen));
	assert_int_equal(seen.type, PERF_RECORD_SAMPLE);
	assert_true(seen.is_kernel);
	assert_int_equal(seen.id, 42);
	assert_int_equal(seen.ip, 0xabc);
	assert_int_equal(seen.pid, 10);
	assert_int_equal(seen.tid, 11);
	assert_int_equal(seen.time_ns, 777);
	assert_int_equal(seen.cpu, 3);
	assert_int_equal(seen.value, 1000);
	assert_int_equal(seen.thread_time, 2000);
	assert_int_equal(seen.running, 1500);
	assert_int_equal(seen.chain_words, 3);
	assert_int_equal(seen.chain[1], 0x111);
	assert_true(seen.has_user_ip);
	assert_int_equal(seen.user_ip, 0xdef);
	assert_int_equal(record.words[ppi_perf_time_in_sample(&full) / 8], 777);
}

static void samples_of_virtual_machines(void **state)
{
	static const struct {
		uint16_t misc;
		bool is_kernel, is_guest;
	} cases[] = {
		{ PERF_RECORD_MISC_USER, false, false },
		{ PERF_RECORD_MISC_HYPERVISOR, false, false },
		{ PERF_RECORD_MISC_GUEST_KERNEL, false, true },
		{ PERF_RECORD_MISC_GUEST_USER, false, true },
	};
	struct perf_event_header header;
	struct record record;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_sample(&record);
		memcpy(&header, record.words, sizeof(header));
		header.misc = cases[i].misc;
		memcpy(record.words, &header, sizeof(header));
		assert_true(ppi_perf_decode(&full, record.words,
		                            record.count * 8, &seen));
		assert_int_equal(seen.is_kernel, cases[i].is_kernel);
		assert_int_equal(seen.is_guest, cases[i].is_guest);
	}
}

/* Any record cut anywhere is refused, never read past its end. */
static void cut_samples_are_refused(void **state)
{
	struct record record;

	(void)state;
	put_sample(&record);
	for (size_t bytes = 0; bytes < record.count * 8; bytes++)
		assert_false(decode(&full, &record, bytes));
	assert_true(decode(&full, &record, record.count * 8));
}

static void a_chain_longer_than_its_record(void **state)
{
	static const uint64_t lengths[] = { 6, 1000, UINT64_C(1) << 61,
		                            UINT64_MAX };
	struct record record;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		put_sample(&record);
		record.words[10] = lengths[i];
		assert_false(decode(&full, &record, record.count * 8));
	}
}

static const struct perf_shape with_stack = {
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_REGS_USER |
	               PERF_SAMPLE_STACK_USER,
	.user_mask = 0x1c0, /* bp, sp, ip */
	.user_ip_mask = 0x100,
};

static void put_stack(struct record *record, uint64_t abi, uint64_t room,
                      uint64_t used)
{
	begin(record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(record, 42);
	put(record, abi);
	for (uint64_t i = 1; i <= 3; i++)
		put(record, i * 0x11);
	put(record, room);
	for (uint64_t i = 0; i < room / 8; i++)
		put(record, i);
	put(record, used);
}

static void registers_and_a_stack(void **state)
{
	struct record record;

	(void)state;
	put_stack(&record, PERF_SAMPLE_REGS_ABI_64, 32, 32);
	assert_true(decode(&with_stack, &record, record.count * 8));
	assert_non_null(seen.registers);
	assert_int_equal(seen.user_ip, 0x33);
	assert_int_equal(seen.stack_bytes, 32);
	assert_false(seen.is_stack_all);
	assert_false(seen.is_32_bit);
	for (size_t bytes = 8; bytes < record.count * 8; bytes += 8)
		assert_false(decode(&with_stack, &record, bytes));
	/* the stack ends within the copy */
	put_stack(&record, PERF_SAMPLE_REGS_ABI_64, 32, 16);
	assert_true(decode(&with_stack, &record, record.count * 8));
	assert_int_equal(seen.stack_bytes, 16);
	assert_true(seen.is_stack_all);
	/* more than there is room for, as the kernel never says */
	put_stack(&record, PERF_SAMPLE_REGS_ABI_64, 32, UINT64_MAX);
	assert_true(decode(&with_stack, &record, record.count * 8));
	assert_int_equal(seen.stack_bytes, 32);
	/* a 32-bit program's are marked as such */
	put_stack(&record, PERF_SAMPLE_REGS_ABI_32, 32, 32);
	assert_true(decode(&with_stack, &record, record.count * 8));
	assert_non_null(seen.registers);
	assert_true(seen.is_32_bit);
	assert_int_equal(seen.user_ip, 0x33);
}

static void a_stack_longer_than_its_record(void **state)
{
	static const uint64_t rooms[] = { 31, 48, UINT64_C(1) << 61,
		                          UINT64_MAX & ~UINT64_C(7) };
	struct record record;

	(void)state;
	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		put_stack(&record, PERF_SAMPLE_REGS_ABI_64, 32, 32);
		record.words[6] = rooms[i];
		assert_false(decode(&with_stack, &record, record.count * 8));
	}
	/* no room is no copy: no third word follows */
	put_stack(&record, PERF_SAMPLE_REGS_ABI_64, 0, 0);
	record.count--;
	assert_true(decode(&with_stack, &record, record.count * 8));
	assert_null(seen.stack);
}

/* What the event tells itself, and the group behind it. */
static void bytes_of_the_event(void **state)
{
	static const struct perf_shape shape = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_RAW |
		               PERF_TELLS_CGROUP,
	};
	static const uint32_t lengths[] = { 21, 24, 28, 36, UINT32_MAX - 3,
		                            UINT32_MAX };
	struct record record;

	(void)state;
	begin(&record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(&record, 42);
	put_pair(&record, 20, 0x11);
	put(&record, 0x22);
	put(&record, 0x33);
	put(&record, 4711);
	assert_true(ppi_perf_decode(&shape, record.words, record.count * 8,
	                            &seen));
	assert_int_equal(seen.raw_bytes, 20);
	assert_ptr_equal(seen.raw, (unsigned char *)&record.words[2] + 4);
	assert_int_equal(seen.cgroup, 4711);
	for (size_t bytes = 8; bytes < record.count * 8; bytes += 4)
		assert_false(decode(&shape, &record, bytes));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memcpy(&record.words[2], &lengths[i], 4);
		assert_false(decode(&shape, &record, record.count * 8));
	}
}

/* A kernel thread has no user registers: one word says so. */
static void no_user_registers(void **state)
{
	struct record record;

	(void)state;
	put_sample(&record);
	record.words[record.count - 2] = PERF_SAMPLE_REGS_ABI_NONE;
	record.count--;
	assert_true(decode(&full, &record, record.count * 8));
	assert_false(seen.has_user_ip);
}

static void a_lean_sample(void **state)
{
	struct record record;

	(void)state;
	begin(&record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(&record, 42);
	put(&record, 0xabc);
	put_pair(&record, 10, 11);
	put(&record, 777);
	put(&record, 1000000);
	assert_true(decode(&lean, &record, record.count * 8));
	assert_false(seen.is_kernel);
	assert_false(seen.has_cpu);
	assert_false(seen.has_thread_time);
	assert_int_equal(seen.period, 1000000);
}

/* PERF_RECORD_MISC_MMAP_BUILD_ID; a neighbour's event leaves it set in records
 * of ours that hold an inode. */
#define MARK_BUILD_ID (1u << 14)

static void put_mapping(struct record *record, uint16_t misc)
{
	begin(record, PERF_RECORD_MMAP2, misc);
	put_pair(record, 20, 21);
	put(record, 0x7000);
	put(record, 0x1000);
	put(record, 0x3000);
	put_pair(record, 8, 1);
	put(record, 4711);
	put(record, 99);
	put_pair(record, 5, 2);
	put_text(record, "/lib/libc.so.6");
	put_trailer(record);
}

static void a_mapping_whatever_its_mark(void **state)
{
	struct record record;

	(void)state;
	for (unsigned marked = 0; marked < 2; marked++) {
		put_mapping(&record, (uint16_t)(PERF_RECORD_MISC_USER |
		                     (marked ? MARK_BUILD_ID : 0)));
		assert_true(ppi_perf_decode(&full, record.words,
		                            record.count * 8, &seen));
		assert_int_equal(seen.pid, 20);
		assert_int_equal(seen.address, 0x7000);
		assert_int_equal(seen.length, 0x1000);
		assert_int_equal(seen.file_offset, 0x3000);
		assert_int_equal(seen.file.device_major, 8);
		assert_int_equal(seen.file.device_minor, 1);
		assert_int_equal(seen.file.inode, 4711);
		assert_int_equal(seen.file.generation, 99);
		assert_string_equal(seen.name, "/lib/libc.so.6");
		assert_int_equal(seen.time_ns, 777);
		assert_int_equal(seen.id, 42);
	}
}

static void names_end_within_their_record(void **state)
{
	struct record record;

	(void)state;
	put_mapping(&record, PERF_RECORD_MISC_USER);
	memset(&record.words[9], 'x', 16); /* the name loses its end */
	assert_false(decode(&full, &record, record.count * 8));
	begin(&record, PERF_RECORD_COMM, 0);
	put_pair(&record, 20, 21);
	put(&record, UINT64_C(0x7878787878787878));
	put_trailer(&record);
	assert_false(decode(&full, &record, record.count * 8));
}

static void cut_mappings_are_refused(void **state)
{
	struct record record;

	(void)state;
	put_mapping(&record, PERF_RECORD_MISC_USER);
	/* At a cut of 8 the trailer's words are others, but within. */
	for (size_t bytes = 0; bytes < 13 * 8; bytes += 8)
		assert_false(decode(&full, &record, bytes));
}

static void tasks_names_and_losses(void **state)
{
	struct record record;

	(void)state;
	begin(&record, PERF_RECORD_FORK, 0);
	put_pair(&record, 30, 20);
	put_pair(&record, 31, 21);
	put(&record, 777);
	put_trailer(&record);
	assert_true(decode(&full, &record, record.count * 8));
	assert_int_equal(seen.pid, 30);
	assert_int_equal(seen.tid, 31);
	assert_int_equal(seen.parent_pid, 20);
	assert_int_equal(seen.parent_tid, 21);

	begin(&record, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put_pair(&record, 20, 21);
	put_text(&record, "worker");
	put_trailer(&record);
	assert_true(ppi_perf_decode(&full, record.words, record.count * 8,
	                            &seen));
	assert_true(seen.is_exec);
	assert_string_equal(seen.name, "worker");

	begin(&record, PERF_RECORD_LOST, 0);
	put(&record, 42);
	put(&record, 1234);
	put_trailer(&record);
	assert_true(decode(&full, &record, record.count * 8));
	assert_int_equal(seen.lost, 1234);

	begin(&record, PERF_RECORD_LOST_SAMPLES, 0);
	put(&record, 99);
	put_trailer(&record);
	assert_true(decode(&full, &record, record.count * 8));
	assert_int_equal(seen.lost, 99);
}

/* A type of a newer kernel is no mistake; it only says nothing. */
static void unknown_types_are_skipped(void **state)
{
	struct record record;

	(void)state;
	begin(&record, 22, 0);
	put(&record, 1);
	put_trailer(&record);
	assert_true(decode(&full, &record, record.count * 8));
	assert_int_equal(seen.type, 22);
	assert_int_equal(seen.time_ns, 777);
	assert_false(decode(&full, &record, 16));
}

/* Whatever the bytes: an answer, and nothing read outside. */
static void random_bytes(void **state)
{
	uint64_t random = UINT64_C(88172645463325252);
	unsigned good = 0;

	(void)state;
	for (unsigned round = 0; round < 200000; round++) {
		struct record record;
		size_t words = 1 + round % 24;

		for (size_t i = 0; i < words; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			record.words[i] = i % 3 ? random : random % 64;
		}
		((unsigned char *)record.words)[0] = (unsigned char)(random %
		                                                     24);
		memset((unsigned char *)record.words + 1, 0, 3);
		good += decode(round % 2 ? &full : &lean, &record, words * 8);
	}
	assert_in_range(good, 1000, 199000);
}

static void chains_without_markers(void **state)
{
	const uint64_t chain[] = {
		(uint64_t)PERF_CONTEXT_KERNEL, 1, 2,
		(uint64_t)PERF_CONTEXT_USER, 3, 4,
		(uint64_t)-640 /* a deferred one of later kernels */, 5
	};
	uint64_t out[8];

	(void)state;
	assert_int_equal(ppi_perf_chain_clean(chain, 8, out, 8), 5);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(out[i], i + 1);
	assert_int_equal(ppi_perf_chain_clean(chain, 8, out, 3), 3);
	assert_int_equal(ppi_perf_chain_clean(chain, 0, out, 3), 0);
}

/* Code without frame pointers leaves anything where the kernel reads one. */
static void chains_end_where_no_code_can_be(void **state)
{
	const uint64_t at_zero[] = { 0x401000, 0x402000, 0, 0x403000 };
	const uint64_t text[] = { 0x401000, 0x2063626120636260 };
	const uint64_t kernel[] = { 0xffffffff81000000, 0x401000 };
	const uint64_t leaf[] = { 0, 0x401000 }; /* a call of nothing */
	const uint64_t both[] = { (uint64_t)PERF_CONTEXT_KERNEL,
		                  0xffffffff81000000, 0xffffffff82000000,
		                  (uint64_t)PERF_CONTEXT_USER, 0x401000,
		                  0xffffbbb4ffffbc2b, 0x402000 };
	uint64_t out[8];

	(void)state;
	assert_int_equal(ppi_perf_chain_clean(at_zero, 4, out, 8), 2);
	assert_int_equal(out[1], 0x402000);
	assert_int_equal(ppi_perf_chain_clean(text, 2, out, 8), 1);
	assert_int_equal(ppi_perf_chain_clean(kernel, 2, out, 8), 2);
	assert_int_equal(ppi_perf_chain_clean(leaf, 2, out, 8), 2);
	/* a kernel address that a program's stack holds is no caller */
	assert_int_equal(ppi_perf_chain_clean(both, 7, out, 8), 3);
	assert_int_equal(out[2], 0x401000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_sample),
		cmocka_unit_test(samples_of_virtual_machines),
		cmocka_unit_test(cut_samples_are_refused),
		cmocka_unit_test(a_chain_longer_than_its_record),
		cmocka_unit_test(no_user_registers),
		cmocka_unit_test(registers_and_a_stack),
		cmocka_unit_test(a_stack_longer_than_its_record),
		cmocka_unit_test(bytes_of_the_event),
		cmocka_unit_test(a_lean_sample),
		cmocka_unit_test(a_mapping_whatever_its_mark),
		cmocka_unit_test(names_end_within_their_record),
		cmocka_unit_test(cut_mappings_are_refused),
		cmocka_unit_test(tasks_names_and_losses),
		cmocka_unit_test(unknown_types_are_skipped),
		cmocka_unit_test(random_bytes),
		cmocka_unit_test(chains_without_markers),
		cmocka_unit_test(chains_end_where_no_code_can_be),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("ppi_perf_decode", tests, NULL,
	                                   NULL);
}
