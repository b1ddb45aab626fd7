/* SPDX-License-Identifier: MIT */
/* The reader of the kernel's rings: wrapped, damaged and endless ones. */
#include "backends/perf/records/perf_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

enum { PAGE = 4096, DATA = 4096 };

static struct perf_event_mmap_page *control;
static unsigned char *data;
static struct perf_buffer ring;
static unsigned char scratch[PERF_RECORD_ROOM];

/* A ring whose positions begin at `at`, as after a long time. */
static void begin_at(uint64_t at)
{
	memset(control, 0, PAGE + DATA);
	control->data_offset = PAGE;
	control->data_size = DATA;
	control->data_head = at;
	control->data_tail = at;
	assert_true(ppi_perf_buffer_attach(&ring, control, PAGE + DATA, PAGE));
}

static int set_up(void **state)
{
	(void)state;
	control = aligned_alloc(PAGE, PAGE + DATA);
	data = (unsigned char *)control + PAGE;
	begin_at(0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(control);
	return 0;
}

/* What the kernel does: a record of `bytes`, numbered, byte by byte. */
static void write_record(uint16_t bytes, uint32_t number)
{
	struct perf_event_header header = { number, 0, bytes };
	unsigned char record[DATA];

	memset(record, (int)number & 0xff, bytes);
	memcpy(record, &header, sizeof(header));
	for (size_t i = 0; i < bytes; i++)
		data[(control->data_head + i) % DATA] = record[i];
	control->data_head += bytes;
}

static void expect_record(uint16_t bytes, uint32_t number)
{
	const struct perf_event_header *header;
	const unsigned char *record;

	assert_int_equal(ppi_perf_buffer_front(&ring), bytes);
	record = ppi_perf_buffer_record(&ring, bytes, scratch);
	header = (const void *)record;
	assert_int_equal(header->type, number);
	assert_int_equal(header->size, bytes);
	for (size_t i = sizeof(*header); i < bytes; i++)
		assert_int_equal(record[i], number & 0xff);
	ppi_perf_buffer_pop(&ring, bytes);
}

static void records_go_round_the_end(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		uint16_t bytes = (uint16_t)(8 + i % 40 * 8);

		write_record(bytes, i);
		ppi_perf_buffer_look(&ring);
		expect_record(bytes, i);
		assert_int_equal(ppi_perf_buffer_front(&ring), 0);
		assert_int_equal(control->data_tail, control->data_head);
	}
	assert_int_equal(ring.damaged, 0);
}

/* Past 2^31, 2^32 and the end of 64 bits. */
static void positions_have_64_bits(void **state)
{
	static const uint64_t starts[] = {
		UINT64_C(0x7fffff00), UINT64_C(0xffffff00),
		UINT64_C(0x7fffffffffffff00), UINT64_C(0xffffffffffffff00),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		begin_at(starts[i]);
		for (uint32_t n = 0; n < 100; n++) {
			write_record(64, n);
			write_record(24, n + 1000);
			ppi_perf_buffer_look(&ring);
			expect_record(64, n);
			expect_record(24, n + 1000);
		}
		assert_int_equal(ring.damaged, 0);
	}
}

static void words_of_a_wrapped_record(void **state)
{
	(void)state;
	begin_at(DATA - 16);
	write_record(48, 7);
	ppi_perf_buffer_look(&ring);
	assert_int_equal(ppi_perf_buffer_front(&ring), 48);
	for (size_t at = 8; at < 48; at += 8)
		assert_true(ppi_perf_buffer_word(&ring, at) ==
		            UINT64_C(0x0707070707070707));
}

static void nothing_new_before_a_look(void **state)
{
	(void)state;
	write_record(32, 1);
	assert_int_equal(ppi_perf_buffer_front(&ring), 0);
	ppi_perf_buffer_look(&ring);
	expect_record(32, 1);
}

/* A size that cannot be: all that was seen is dropped, and it is told. */
static void nonsense_is_skipped_and_counted(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 7, 12, 4000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct perf_event_header header;

		begin_at(8 * i);
		write_record(32, 1);
		memcpy(&header, data + 8 * i, sizeof(header));
		header.size = sizes[i];
		memcpy(data + 8 * i, &header, sizeof(header));
		ppi_perf_buffer_look(&ring);
		assert_int_equal(ppi_perf_buffer_front(&ring), 0);
		assert_int_equal(ring.damaged, 1);
		assert_int_equal(control->data_tail, control->data_head);
		/* It continues. */
		write_record(24, 2);
		ppi_perf_buffer_look(&ring);
		expect_record(24, 2);
	}
}

static void a_head_too_far_is_damage(void **state)
{
	(void)state;
	control->data_head = DATA + 8;
	ppi_perf_buffer_look(&ring);
	assert_int_equal(ring.damaged, 1);
	assert_int_equal(ppi_perf_buffer_front(&ring), 0);
}

/* A torn header: fewer bytes than a header has. */
static void half_a_header_is_damage(void **state)
{
	(void)state;
	control->data_head = 4;
	ppi_perf_buffer_look(&ring);
	assert_int_equal(ppi_perf_buffer_front(&ring), 0);
	assert_int_equal(ring.damaged, 1);
}

static void control_pages_that_cannot_be(void **state)
{
	static const uint64_t bad[][2] = {
		{ PAGE, 3 * PAGE }, { PAGE, 2 * PAGE }, { PAGE, DATA - 8 },
		{ 2 * PAGE + 8, 8 }, { PAGE + 4, 8 }, { PAGE, 4 },
		{ UINT64_MAX - 7, 8 }, { 8, UINT64_C(1) << 63 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		control->data_offset = bad[i][0];
		control->data_size = bad[i][1];
		assert_false(ppi_perf_buffer_attach(&ring, control, PAGE + DATA,
		                                  PAGE));
	}
	/* Kernels before 4.1 say nothing. */
	control->data_offset = control->data_size = 0;
	assert_true(ppi_perf_buffer_attach(&ring, control, PAGE + DATA, PAGE));
	assert_ptr_equal(ring.data, data);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(records_go_round_the_end),
		CASE(positions_have_64_bits),
		CASE(words_of_a_wrapped_record),
		CASE(nothing_new_before_a_look),
		CASE(nonsense_is_skipped_and_counted),
		CASE(a_head_too_far_is_damage),
		CASE(half_a_header_is_damage),
		CASE(control_pages_that_cannot_be),
	};

	return cmocka_run_group_tests_name("perf_ring", tests, NULL, NULL);
}
