/* SPDX-License-Identifier: MIT */
/* Memory that processes share: streams, areas, and writers that are killed. */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/area/area.h"
#include "backends/common/tick_ring.h"

/* ---- streams ---- */

enum { SMALL = 4096 };

static struct ppi_stream new_stream(size_t size)
{
	struct ppi_stream stream;
	void *memory = calloc(1, ppi_stream_bytes(size));

	assert_non_null(memory);
	ppi_stream_use(&stream, memory, ppi_stream_bytes(size));
	assert_int_equal(stream.size, size);
	return stream;
}

/* Bytes that tell where they are from. */
static void fill(unsigned char *bytes, size_t count, unsigned seed)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = (unsigned char)(seed * 31 + i * 7);
}

static bool is_filled(const unsigned char *bytes, size_t count, unsigned seed)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i] != (unsigned char)(seed * 31 + i * 7))
			return false;
	return true;
}

static void messages_of_any_length_come_out_as_they_went_in(void **state)
{
	struct ppi_stream stream = new_stream(SMALL);
	unsigned char body[SMALL / 4];
	size_t bytes;

	(void)state;
	assert_null(ppi_stream_peek(&stream, &bytes));
	for (unsigned n = 0; n < 4000; n++) {
		unsigned head = n;
		size_t length = n * 37 % (sizeof(body) - sizeof(head));
		const unsigned char *got;

		fill(body, length, n);
		assert_true(ppi_stream_put(&stream, &head, sizeof(head), body,
		                           length));
		got = ppi_stream_peek(&stream, &bytes);
		assert_non_null(got);
		assert_int_equal(bytes, sizeof(head) + length);
		assert_memory_equal(got, &head, sizeof(head));
		assert_true(is_filled(got + sizeof(head), length, n));
		ppi_stream_pass(&stream);
		assert_null(ppi_stream_peek(&stream, &bytes));
	}
	free(stream.memory);
}

static void what_finds_no_room_is_refused(void **state)
{
	struct ppi_stream stream = new_stream(SMALL);
	unsigned char body[SMALL];
	size_t bytes, put = 0, got = 0;

	(void)state;
	fill(body, sizeof(body), 1);
	assert_false(ppi_stream_put(&stream, body, SMALL / 4 + 1, NULL, 0));
	while (ppi_stream_put(&stream, body, 500, NULL, 0))
		put++;
	assert_int_equal(put, SMALL / 512);
	ppi_stream_peek(&stream, &bytes);
	ppi_stream_pass(&stream);
	assert_true(ppi_stream_put(&stream, body, 500, NULL, 0));
	assert_false(ppi_stream_put(&stream, body, 500, NULL, 0));
	while (ppi_stream_peek(&stream, &bytes)) {
		assert_int_equal(bytes, 500);
		ppi_stream_pass(&stream);
		got++;
	}
	assert_int_equal(got, put);
	free(stream.memory);
}

/* Positions are about to wrap. */
static void positions_may_wrap(void **state)
{
	struct ppi_stream stream = new_stream(SMALL);
	size_t bytes;

	(void)state;
	atomic_store(&stream.memory->head, (size_t)0 - SMALL);
	atomic_store(&stream.memory->tail, (size_t)0 - SMALL);
	for (unsigned n = 0; n < 1000; n++) {
		const unsigned *got;

		assert_true(ppi_stream_put(&stream, &n, sizeof(n), NULL, 0));
		got = ppi_stream_peek(&stream, &bytes);
		assert_non_null(got);
		assert_int_equal(*got, n);
		ppi_stream_pass(&stream);
	}
	free(stream.memory);
}

/* ---- stacks of 64 KiB from several threads ---- */

enum { WRITERS = 4, MESSAGES = 300 };

static struct ppi_stream stacks;
static atomic_uint writers_running;

struct stack_head {
	unsigned writer, number, bytes;
};

static void *write_stacks(void *argument)
{
	unsigned writer = (unsigned)(uintptr_t)argument;
	unsigned char *body = malloc(PPI_STREAM_MESSAGE_MAX);

	for (unsigned n = 0; body && n < MESSAGES; n++) {
		struct stack_head head = { writer, n, n % 5 == 0 ?
			PPI_STREAM_MESSAGE_MAX : n * 97 % 5000 };

		fill(body, head.bytes, writer + n);
		while (!ppi_stream_put(&stacks, &head, sizeof(head), body,
		                       head.bytes))
			sched_yield();
	}
	free(body);
	atomic_fetch_sub(&writers_running, 1);
	return NULL;
}

static void read_stacks(unsigned next[WRITERS])
{
	const struct stack_head *head;
	size_t bytes;

	while ((head = ppi_stream_peek(&stacks, &bytes))) {
		assert_in_range(head->writer, 0, WRITERS - 1);
		assert_int_equal(bytes, sizeof(*head) + head->bytes);
		assert_int_equal(head->number, next[head->writer]++);
		assert_true(is_filled((const unsigned char *)(head + 1),
		                      head->bytes,
		                      head->writer + head->number));
		ppi_stream_pass(&stacks);
	}
}

static void stacks_of_64_kib_from_several_threads(void **state)
{
	pthread_t threads[WRITERS];
	unsigned next[WRITERS] = { 0 };

	(void)state;
	stacks = new_stream(1 << 19);
	assert_in_range(PPI_STREAM_MESSAGE_MAX, 1, stacks.size / 4 - 64);
	writers_running = WRITERS;
	for (uintptr_t i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_stacks,
		                                (void *)i), 0);
	while (writers_running) {
		read_stacks(next);
		sched_yield();
	}
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	read_stacks(next);
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(next[i], MESSAGES);
	free(stacks.memory);
}

/* ---- writers that are killed in the middle ---- */

/* As if a writer had claimed a cell and never filled it. */
static void a_cell_that_was_never_filled_is_left_out(void **state)
{
	struct ppi_tick tick = { .pc = 1 }, got;
	struct ppi_pcring ring;

	(void)state;
	assert_true(ppi_pcring_init(&ring, 4));
	for (int lap = 0; lap < 5; lap++) {
		assert_false(ppi_pcring_skip(&ring));
		tick.pc = 1;
		assert_true(ppi_pcring_put(&ring, &tick));
		atomic_fetch_add(&ring.memory->head, 1);
		tick.pc = 3;
		assert_true(ppi_pcring_put(&ring, &tick));
		assert_true(ppi_pcring_take(&ring, &got));
		assert_int_equal(got.pc, 1);
		assert_false(ppi_pcring_take(&ring, &got));
		assert_true(ppi_pcring_skip(&ring));
		assert_true(ppi_pcring_take(&ring, &got));
		assert_int_equal(got.pc, 3);
	}
	assert_int_equal(ppi_pcring_dropped(&ring), 0);
	ppi_pcring_free(&ring);
}

/* Another process sees the ring's memory at another address. */
static void a_ring_is_read_by_another_view(void **state)
{
	struct ppi_pcring writer, reader;
	struct ppi_tick tick = { .pc = 0 };
	size_t bytes = ppi_pcring_bytes(8);
	void *memory = calloc(1, bytes);

	(void)state;
	assert_non_null(memory);
	ppi_pcring_write_to(&writer, memory, bytes);
	ppi_pcring_read_from(&reader, memory, bytes);
	for (uint64_t n = 0; n < 30; n++) {
		for (int i = 0; i < 8; i++) {
			tick.pc = n * 8 + (unsigned)i;
			assert_true(ppi_pcring_put(&writer, &tick));
		}
		assert_false(ppi_pcring_put(&writer, &tick));
		for (int i = 0; i < 8; i++) {
			assert_true(ppi_pcring_take(&reader, &tick));
			assert_int_equal(tick.pc, n * 8 + (unsigned)i);
		}
	}
	assert_int_equal(ppi_pcring_dropped(&writer), 0);
	assert_int_equal(ppi_pcring_dropped(&reader), 30);
	ppi_pcring_free(&writer);
	free(memory);
}

/* ---- pools ---- */

static struct ppi_areas *new_pool(size_t areas)
{
	struct ppi_areas *pool = NULL;
	struct ppi_diag why;

	assert_int_equal(ppi_areas_open(&pool, &why), PORTPROF_OK);
	pool->ring_bytes = ppi_pcring_bytes(64);
	assert_true(ppi_areas_fill(pool, areas));
	return pool;
}

static void each_session_has_an_area_of_its_own(void **state)
{
	struct ppi_areas *pool = new_pool(3);
	struct ppi_area *areas[3];
	struct ppi_diag why;
	size_t bytes, stack_bytes;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ppi_area_take(ppi_areas_name(pool), &areas[i],
		                               &why), PORTPROF_OK);
		assert_int_equal(pool->areas[i].shared->use, SHARE_USED);
		assert_int_equal(pool->areas[i].shared->pid, getpid());
		assert_non_null(ppi_area_ring(areas[i], &bytes, &stack_bytes));
		assert_int_equal(stack_bytes, 0);
		assert_int_equal(bytes, pool->ring_bytes);
		assert_false(ppi_area_is_abandoned(areas[i]));
	}
	assert_true(ppi_areas_fill(pool, 2));
	assert_int_equal(pool->count, 5);
	for (int i = 0; i < 3; i++)
		ppi_area_leave(areas[i]);
	ppi_areas_give_back(pool, 1);
	assert_int_equal(ppi_area_take(ppi_areas_name(pool), &areas[0], &why),
	                 PORTPROF_OK);
	assert_int_equal(pool->areas[1].shared->use, SHARE_USED);
	ppi_area_leave(areas[0]);
	ppi_areas_release(pool);
}

static void memory_of_another_layout_is_refused(void **state)
{
	struct ppi_areas *pool = new_pool(1);
	struct ppi_area *area = NULL;
	struct ppi_diag why;

	(void)state;
	pool->index->layout++;
	assert_int_equal(ppi_area_take(ppi_areas_name(pool), &area, &why),
	                 PORTPROF_E_UNSUPPORTED);
	pool->index->layout--;
	pool->index->magic++;
	assert_int_equal(ppi_area_take(ppi_areas_name(pool), &area, &why),
	                 PORTPROF_E_UNSUPPORTED);
	assert_null(area);
	ppi_areas_release(pool);
}

static void an_area_tells_that_nobody_collects(void **state)
{
	struct ppi_areas *pool = new_pool(1);
	struct ppi_area *area;
	struct ppi_diag why;

	(void)state;
	assert_int_equal(ppi_area_take(ppi_areas_name(pool), &area, &why),
	                 PORTPROF_OK);
	assert_false(ppi_area_is_abandoned(area));
	ppi_areas_release(pool);
	assert_true(ppi_area_is_abandoned(area));
	ppi_area_leave(area);
}

/* An account that is being written when its writer dies is not read. */
static void an_account_is_whole(void **state)
{
	struct ppi_areas *pool = new_pool(1);
	struct ppi_account account = { .total_weight = 1 };
	struct ppi_area *area;
	struct share_area *shared = pool->areas[0].shared;
	struct ppi_diag why;

	(void)state;
	assert_int_equal(ppi_area_take(ppi_areas_name(pool), &area, &why),
	                 PORTPROF_OK);
	for (uint64_t i = 1; i < 10; i++) {
		account.total_weight = i;
		ppi_area_account(area, &account, i == 9);
		assert_int_equal(shared->accounts[shared->current & 1]
		                         .total_weight, i);
		assert_int_equal(shared->accounts[1 - (shared->current & 1)]
		                         .total_weight, i - 1);
	}
	assert_int_equal(shared->use, SHARE_ENDED);
	ppi_area_leave(area);
	ppi_areas_release(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_of_any_length_come_out_as_they_went_in),
		cmocka_unit_test(what_finds_no_room_is_refused),
		cmocka_unit_test(positions_may_wrap),
		cmocka_unit_test(stacks_of_64_kib_from_several_threads),
		cmocka_unit_test(a_cell_that_was_never_filled_is_left_out),
		cmocka_unit_test(a_ring_is_read_by_another_view),
		cmocka_unit_test(each_session_has_an_area_of_its_own),
		cmocka_unit_test(memory_of_another_layout_is_refused),
		cmocka_unit_test(an_area_tells_that_nobody_collects),
		cmocka_unit_test(an_account_is_whole),
	};

	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
