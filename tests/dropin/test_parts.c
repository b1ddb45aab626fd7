/* SPDX-License-Identifier: MIT */
/* Parts of the drop-in library, each against a simpler answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compat/drop-in/monitor.h"
#include "compat/drop-in/sprofil.h"
#include "compat/drop-in/dialect.h"
#include "compat/drop-in/engine.h"
#include "compat/drop-in/store.h"

enum { PROGRAMS = 300, REGIONS = 6, TEXT = 1500 };

static uint32_t seed = 1;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

/* ---- sprofil's regions ---- */

static size_t make_wanted(struct ppi_wanted *wanted)
{
	static const uint32_t scales[] = { 65536, 32768, 8192, 0xC000, 0x5555,
		                           131072, 1, 2 };
	size_t count = any(REGIONS + 1);

	for (size_t i = 0; i < count; i++)
		wanted[i] = (struct ppi_wanted){ NULL, any(120), any(TEXT),
			                         scales[any(7)] };
	if (any(2) && count)
		wanted[any((uint32_t)count)] =
			(struct ppi_wanted){ NULL, 1, 0, 2 };
	return count;
}

/* The region with the highest offset that has a bin for it; of equal ones the
 * first; else the first overflow bin. */
static bool find_simply(const struct ppi_wanted *wanted, size_t count,
                        unsigned unit, uint64_t pc, size_t *owner,
                        uint64_t *bin)
{
	bool is_found = false;

	for (size_t i = 0; i < count; i++) {
		const struct ppi_wanted *w = &wanted[i];
		uint64_t here;

		if (w->scale < 2 || pc < w->offset)
			continue;
		here = (pc - w->offset) / unit * w->scale / 65536;
		if (here >= w->bins ||
		    (is_found && wanted[*owner].offset >= w->offset))
			continue;
		*owner = i;
		*bin = here;
		is_found = true;
	}
	for (size_t i = 0; i < count && !is_found; i++)
		if (wanted[i].offset == 0 && wanted[i].scale == 2 &&
		    wanted[i].bins) {
			*owner = i;
			*bin = 0;
			is_found = true;
		}
	return is_found;
}

static void pieces_equal_a_search_of_all_regions(void **state)
{
	struct ppi_wanted wanted[REGIONS];

	(void)state;
	for (unsigned n = 0; n < PROGRAMS; n++) {
		size_t count = make_wanted(wanted), owner = 0, model = 0;
		unsigned unit = 2 + 2 * any(2);
		struct ppi_pieces pieces;

		assert_true(ppi_pieces_make(&pieces, wanted, count, unit));
		for (uint64_t pc = 0; pc < 3 * TEXT; pc++) {
			uint64_t bin = 0, expected = 0;
			bool is_there = find_simply(wanted, count, unit, pc,
			                            &model, &expected);

			assert_int_equal(ppi_pieces_find(&pieces, wanted, pc,
			                                 &owner, &bin),
			                 is_there);
			if (!is_there)
				continue;
			assert_int_equal(owner, model);
			assert_int_equal(bin, expected);
		}
		ppi_pieces_free(&pieces);
	}
}

/* ---- spans: what a backend must tell ---- */

/* All that has a bin lies inside, and no bin of the text is cut. */
static void spans_hold_all_that_has_a_bin(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 4000; n++) {
		uint32_t scale = any(2) ? 1u << any(18) : 1 + any(200000);
		uint64_t offset = any(100000), count = 1 + any(500);
		unsigned unit = 2 + 2 * any(2);
		struct ppi_span span;
		uint64_t last;

		assert_true(ppi_span_make(&span, offset, count, unit, scale));
		assert_int_equal(span.start, offset);
		assert_true(span.bin_bytes && span.bin_bytes <= 65536);
		assert_int_equal(span.bin_bytes & (span.bin_bytes - 1), 0);
		last = span.end - offset;
		assert_true(ppi_entry_of(last, unit, scale) >= count ||
		            ppi_entry_of(last + unit, unit, scale) >= count);
		for (unsigned i = 0; i < 20; i++) {
			uint64_t at = any((uint32_t)(last / span.bin_bytes)) *
			              span.bin_bytes;

			assert_int_equal(ppi_entry_of(at, unit, scale),
			                 ppi_entry_of(at + span.bin_bytes - 1,
			                              unit, scale));
		}
	}
}

static void spans_of_no_end_are_whole(void **state)
{
	struct ppi_span span;

	(void)state;
	assert_true(ppi_span_make(&span, 4096, 10, 2, 0));
	assert_true(ppi_spans_are_whole(&span, 1));
	assert_true(ppi_span_make(&span, 4096, UINT64_MAX, 2, 65536));
	assert_true(ppi_spans_are_whole(&span, 1));
	assert_false(ppi_span_make(&span, UINT64_MAX - 8, 10, 2, 65536));
	assert_false(ppi_span_make(&span, 4096, 0, 2, 65536));
	assert_true(ppi_span_make(&span, 4096, 10, 2, 65536));
	assert_false(ppi_spans_are_whole(&span, 1));
	assert_int_equal(span.end, 4096 + 20);
}

/* ---- counters ---- */

static void counters_stop_or_wrap(void **state)
{
	uint16_t narrow = 65530;
	uint32_t wide = UINT32_MAX - 2;
	unsigned char odd[5] = { 0, 0xff, 0xff, 0, 0 };

	(void)state;
	assert_int_equal(ppi_store_add(&narrow, 2, 3, 65535), 0);
	assert_int_equal(narrow, 65533);
	assert_int_equal(ppi_store_add(&narrow, 2, 10, 65535), 8);
	assert_int_equal(narrow, 65535);
	assert_int_equal(ppi_store_add(&narrow, 2, 2, 0), 0);
	assert_int_equal(narrow, 1);
	narrow = 40000; /* more than Solaris lets a bin have: left alone */
	assert_int_equal(ppi_store_add(&narrow, 2, 1, 32767), 1);
	assert_int_equal(narrow, 40000);
	assert_int_equal(ppi_store_add(&wide, 4, 5, UINT32_MAX), 3);
	assert_int_equal(wide, UINT32_MAX);
	assert_int_equal(ppi_store_add(odd + 1, 2, 1, 65535), 1);
	assert_int_equal(ppi_store_add(odd + 1, 2, 1, 0), 0);
	assert_int_equal(odd[0] + odd[1] + odd[2] + odd[3], 0);
}

/* As systems without a futex look: nothing is changed, or left open. */
static void a_pipe_shows_what_can_be_written(void **state)
{
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int next = dup(0);

	(void)state;
	assert_true(memory != MAP_FAILED);
	close(next);
	memory[7] = 42;
	errno = 3;
	assert_true(ppi_store_can_write(memory + 7));
	assert_int_equal(memory[7], 42);
	mprotect(memory, 4096, PROT_READ);
	assert_false(ppi_store_can_write(memory + 7));
	assert_int_equal(memory[7], 42);
	mprotect(memory, 4096, PROT_NONE);
	assert_false(ppi_store_can_write(memory + 7));
	munmap(memory, 4096);
	assert_false(ppi_store_can_write(memory + 7));
	assert_int_equal(errno, 3);
	assert_int_equal(dup(0), next);
	close(next);
}

static void pages_are_tried_before_they_are_written(void **state)
{
	struct ppi_pages pages;
	size_t bytes = 1 << 16;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(memory != MAP_FAILED);
	memory[100] = 42;
	ppi_pages_forget(&pages);
	assert_true(ppi_pages_can_write(&pages, memory, bytes));
	assert_int_equal(memory[100], 42);
	assert_false(ppi_pages_can_write(&pages, NULL, 2));
	assert_false(ppi_pages_can_write(&pages, (void *)UINTPTR_MAX, 2));
	mprotect(memory, bytes, PROT_READ);
	ppi_pages_forget(&pages);
	assert_false(ppi_pages_can_write(&pages, memory, 2));
	munmap(memory, bytes);
	ppi_pages_forget(&pages);
	assert_false(ppi_pages_can_write(&pages, memory + 4096, 2));
}

/* ---- calls ---- */

enum { THREADS = 4, CALLS = 50000, PAIRS = 37 };

static void *call_around(void *unused)
{
	for (uintptr_t i = 0; i < CALLS; i++)
		ppi_arcs_count(0x1000 + i % PAIRS, 0x5000 + i % PAIRS * 3);
	return unused;
}

static void calls_of_all_threads_are_counted(void **state)
{
	pthread_t threads[THREADS];
	struct ppi_gmon_arc *arcs;
	uint64_t lost, sum = 0;
	size_t count;

	(void)state;
	assert_true(ppi_arcs_begin(1 << 16));
	call_around(NULL); /* not yet on */
	ppi_arcs_set(true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_around, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ppi_arcs_set(false);
	count = ppi_arcs_take(&arcs, &lost);
	assert_int_equal(count, PAIRS);
	assert_int_equal(lost, 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal((arcs[i].from - 0x1000) * 3,
		                 arcs[i].self - 0x5000);
		sum += arcs[i].count;
	}
	assert_int_equal(sum, THREADS * CALLS);
	free(arcs);
}

/* What finds no room is told, and nothing else is disturbed. */
static void calls_without_room_are_told(void **state)
{
	struct ppi_gmon_arc *arcs;
	uint64_t lost, sum = 0;
	size_t count;

	(void)state;
	assert_true(ppi_arcs_begin(1));
	ppi_arcs_set(true);
	for (uintptr_t i = 0; i < 3000000; i++)
		ppi_arcs_count(0x1000 + i, 0x1000 + i);
	ppi_arcs_set(false);
	count = ppi_arcs_take(&arcs, &lost);
	assert_true(lost > 0);
	for (size_t i = 0; i < count; i++)
		sum += arcs[i].count;
	assert_int_equal(sum + lost, 3000000);
	free(arcs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_equal_a_search_of_all_regions),
		cmocka_unit_test(spans_hold_all_that_has_a_bin),
		cmocka_unit_test(spans_of_no_end_are_whole),
		cmocka_unit_test(counters_stop_or_wrap),
		cmocka_unit_test(a_pipe_shows_what_can_be_written),
		cmocka_unit_test(pages_are_tried_before_they_are_written),
		cmocka_unit_test(calls_of_all_threads_are_counted),
		cmocka_unit_test(calls_without_room_are_told),
	};

	return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
