/* SPDX-License-Identifier: MIT */
/* The small parts of the core: rooms, diagnostics, nearest names, sizes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/core/open.h"
#include "api/common/diag.h"
#include "backends/backend.h"

static void test_room_takes_whole_records_or_none(void **state)
{
	portprof_record records[2];
	uint64_t words[4], chain[3] = { 1, 2, 3 };
	struct ppi_room room = { records, 2, 0, words, 4, 0 };
	portprof_record record = { .kind = PORTPROF_RECORD_SAMPLE,
		                   .valid = PORTPROF_FIELD_CHAIN };
	portprof_batch batch;
	const uint64_t *found;
	size_t depth;

	(void)state;
	assert_true(ppi_room_add(&room, &record, chain, sizeof(chain)));
	assert_false(ppi_room_add(&room, &record, chain, sizeof(chain)));
	assert_int_equal(room.record_count, 1);
	assert_true(ppi_room_add(&room, &record, chain, 8));
	assert_false(ppi_room_add(&room, &record, NULL, 0));
	batch = (portprof_batch){ records, 2, words, room.word_count,
	                          sizeof(portprof_record) };
	found = portprof_batch_chain(&batch, &records[0], &depth);
	assert_int_equal(depth, 3);
	assert_memory_equal(found, chain, sizeof(chain));
	found = portprof_batch_chain(&batch, &records[1], &depth);
	assert_int_equal(depth, 1);
	assert_int_equal(found[0], 1);
}

/* As after a release whose records have more members than this program's. */
static void test_records_stand_as_far_apart_as_the_batch_says(void **state)
{
	const struct {
		portprof_record record;
		uint64_t more[3];
	} records[3] = {
		{ { .weight = 1 }, { 9, 9, 9 } },
		{ { .weight = 2 }, { 9, 9, 9 } },
		{ { .weight = 3 }, { 9, 9, 9 } },
	};
	const portprof_batch batch = {
		.records = records,
		.count = 3,
		.record_bytes = sizeof(records[0]),
	};
	portprof_record own[2];
	const struct ppi_room room = { own, 2, 2, NULL, 0, 0 };
	const portprof_batch ours = ppi_room_batch(&room);

	(void)state;
	for (size_t i = 0; i < batch.count; i++)
		assert_int_equal(portprof_batch_record(&batch, i)->weight,
		                 i + 1);
	assert_ptr_equal(portprof_batch_record(&ours, 1), &own[1]);
}

static void test_module_and_name_come_back(void **state)
{
	portprof_record records[2];
	uint64_t words[64];
	struct ppi_room room = { records, 2, 0, words, 64, 0 };
	portprof_record module = { .kind = PORTPROF_RECORD_MODULE };
	portprof_record thread = { .kind = PORTPROF_RECORD_THREAD };
	portprof_batch batch;
	const portprof_module *found;

	(void)state;
	assert_true(ppi_room_add_module(&room, &module, 0x2000, "\1\2\3", 3,
	                                "/lib/x.so"));
	assert_true(ppi_room_add_name(&room, &thread, "worker-7"));
	batch = (portprof_batch){ records, 2, words, room.word_count,
	                          sizeof(portprof_record) };
	found = portprof_batch_module(&batch, &records[0]);
	assert_non_null(found);
	assert_string_equal(found->path, "/lib/x.so");
	assert_int_equal(found->file_offset, 0x2000);
	assert_int_equal(found->build_id_bytes, 3);
	assert_memory_equal(found->build_id, "\1\2\3", 3);
	assert_string_equal(portprof_batch_name(&batch, &records[1]),
	                    "worker-7");
	assert_null(portprof_batch_module(&batch, &records[1]));
	/* a payload that points outside the batch is not followed */
	records[0].payload = 60;
	assert_null(portprof_batch_module(&batch, &records[0]));
	records[0].payload = UINT64_MAX;
	assert_null(portprof_batch_module(&batch, &records[0]));
}

static void test_diag_is_kept_and_cut_at_a_character(void **state)
{
	char long_words[PORTPROF_WORDS_BYTES + 8];
	struct ppi_diag why;
	const portprof_diag *last;

	(void)state;
	/* two-byte characters: a cut at an odd place would halve one */
	for (size_t i = 0; i + 1 < sizeof(long_words); i += 2)
		memcpy(&long_words[i], "\xc3\xa4", 2);
	long_words[sizeof(long_words) - 1] = '\0';
	assert_int_equal(ppi_fail(&why, PORTPROF_E_DENIED, EACCES, "step",
	                          "%s", long_words), PORTPROF_E_DENIED);
	assert_int_equal(strlen(why.words) % 2, 0);
	assert_int_equal(ppi_report(&why), PORTPROF_E_DENIED);
	last = portprof_last_diag();
	assert_int_equal(last->status, PORTPROF_E_DENIED);
	assert_int_equal(last->os_errno, EACCES);
	assert_string_equal(last->step, "step");
	assert_string_equal(last->words, why.words);
}

static void test_nearest_names(void **state)
{
	static const char *const known[] = { "cpu-clock", "task-clock",
		                             "page-faults", "cycles" };
	struct ppi_nearest nearest;
	char out[320];

	(void)state;
	ppi_nearest_begin(&nearest, "cpu_clokc");
	for (size_t i = 0; i < 4; i++)
		ppi_nearest_offer(&nearest, known[i]);
	assert_string_equal(ppi_nearest_say(&nearest, out, sizeof(out)),
	                    "; did you mean cpu-clock?");
	ppi_nearest_begin(&nearest, "zzzzzz");
	for (size_t i = 0; i < 4; i++)
		ppi_nearest_offer(&nearest, known[i]);
	assert_string_equal(ppi_nearest_say(&nearest, out, sizeof(out)), "");
}

/* Three slots, best first, whatever the order of offering. */
static void test_nearest_keeps_the_best_three(void **state)
{
	static const char *const known[] = { "abcdefxx", "abcdefgx",
		                             "abcdefgh", "abcdxxgh",
		                             "abcdefg" };
	struct ppi_nearest nearest;

	(void)state;
	for (size_t first = 0; first < 5; first++) {
		ppi_nearest_begin(&nearest, "abcdefgh");
		for (size_t i = 0; i < 5; i++)
			ppi_nearest_offer(&nearest, known[(first + i) % 5]);
		assert_string_equal(nearest.best[0], "abcdefgh");
		assert_int_equal(nearest.distance[0], 0);
		assert_int_equal(nearest.distance[1], 1);
		assert_int_equal(nearest.distance[2], 1);
	}
}

static void test_sized_copy(void **state)
{
	struct { size_t size; char text[8]; } full = { 0, "abcdefg" };
	struct { size_t size; char text[16], beyond; } out;

	(void)state;
	memset(&out, '#', sizeof(out));
	out.size = sizeof(size_t) + 3;
	assert_int_equal(ppi_sized_copy(&out, &full, sizeof(full), "t"), 0);
	assert_memory_equal(out.text, "abc#####", 8);
	assert_int_equal(out.size, sizeof(size_t) + 3);
	/* a program that is newer than the library */
	out.size = sizeof(size_t) + sizeof(out.text);
	assert_int_equal(ppi_sized_copy(&out, &full, sizeof(full), "t"), 0);
	assert_memory_equal(out.text, "abcdefg\0\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(out.beyond, '#');
	assert_int_equal(out.size, sizeof(size_t) + sizeof(out.text));
	out.size = 0;
	assert_int_equal(ppi_sized_copy(&out, &full, sizeof(full), "t"),
	                 PORTPROF_E_INVALID);
}

static void test_every_capability_has_one_name(void **state)
{
	char list[512];

	(void)state;
	assert_string_equal(portprof_cap_name(PORTPROF_CAP_SAMPLE), "sample");
	assert_string_equal(portprof_cap_name(PORTPROF_CAP_CHAIN), "chain");
	assert_string_equal(portprof_cap_name(PORTPROF_CAP_FAIR), "fair");
	assert_string_equal(portprof_cap_name(PORTPROF_CAP_MODULES),
	                    "modules");
	assert_null(portprof_cap_name(0));
	assert_null(portprof_cap_name(PORTPROF_CAP_SAMPLE |
	                              PORTPROF_CAP_COUNT));
	assert_null(portprof_cap_name((uint64_t)1 << 63));
	assert_string_equal(ppi_cap_list(PORTPROF_CAP_CHAIN |
	                                 PORTPROF_CAP_ATTACH, list,
	                                 sizeof(list)), "chain, attach");
}

/* Automatic choice walks the table from the front. */
static void test_registry_is_sorted_by_rank(void **state)
{
	(void)state;
	assert_non_null(ppi_backend_at(0));
	for (size_t i = 1; ppi_backend_at(i); i++)
		assert_true(ppi_backend_rank(ppi_backend_at(i - 1)) >
		            ppi_backend_rank(ppi_backend_at(i)));
	assert_ptr_equal(ppi_backend_find("null")->name,
	                 ppi_backend_find("null")->name);
	assert_null(ppi_backend_find("nul"));
}

static uint64_t caps_here(const struct ppi_backend_ops *ops)
{
	struct ppi_probe probe = { 0 };

	if (ppi_backend_kernel(ops))
		ops->probe(ppi_backend_kernel(ops), &probe);
	return probe.is_usable && !probe.only_by_name &&
	                       ppi_backend_rank(ops) >= 0 ?
	               probe.caps :
	               0;
}

/* No promise was made in this program: what needs one is the last choice. */
static void test_auto_prefers_what_exec_cannot_disturb(void **state)
{
	const struct ppi_backend_ops *ops;
	bool was_unsafe = false;

	(void)state;
	for (size_t i = 0; (ops = ppi_backend_at(i)); i++) {
		uint64_t caps = caps_here(ops);

		if (!(caps & PORTPROF_CAP_SAMPLE))
			continue; /* exec is nothing to those that count */
		if (caps & PORTPROF_CAP_EXEC_SAFE)
			assert_false(was_unsafe);
		else if (caps)
			was_unsafe = true;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room_takes_whole_records_or_none),
		cmocka_unit_test(
			test_records_stand_as_far_apart_as_the_batch_says),
		cmocka_unit_test(test_module_and_name_come_back),
		cmocka_unit_test(test_diag_is_kept_and_cut_at_a_character),
		cmocka_unit_test(test_nearest_names),
		cmocka_unit_test(test_nearest_keeps_the_best_three),
		cmocka_unit_test(test_sized_copy),
		cmocka_unit_test(test_every_capability_has_one_name),
		cmocka_unit_test(test_registry_is_sorted_by_rank),
		cmocka_unit_test(test_auto_prefers_what_exec_cannot_disturb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
