/* SPDX-License-Identifier: MIT */
/* The labels of programs in a file: whose number means what, and its bound. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/profile/label_texts.h"

static struct ppi_label_texts texts;
static struct ppi_locations locations;

static int fresh(void **state)
{
	(void)state;
	memset(&texts, 0, sizeof(texts));
	return ppi_locations_open(&locations) ? 0 : -1;
}

static int gone(void **state)
{
	(void)state;
	ppi_label_texts_close(&texts);
	ppi_locations_close(&locations);
	return 0;
}

static void tell_bytes(uint32_t pid, uint64_t set, const char *text,
                       size_t bytes)
{
	uint64_t words[1024] = { 0 };
	const portprof_record record = {
		.kind = PORTPROF_RECORD_LABELS,
		.valid = PORTPROF_FIELD_PID,
		.pid = pid,
		.address = set,
		.payload_words = (bytes + 7) / 8,
	};
	const portprof_batch batch = { &record, 1, words, 1024,
		                       sizeof(record) };

	memcpy(words, text, bytes);
	ppi_label_texts_tell(&texts, pid, &batch, &record);
}

static void tell(uint32_t pid, uint64_t set, const char *key,
                 const char *value)
{
	char text[256] = { 0 };
	size_t bytes = strlen(key) + 1;

	memcpy(text, key, bytes);
	memcpy(text + bytes, value, strlen(value) + 1);
	tell_bytes(pid, set, text, bytes + strlen(value) + 1);
}

static uint32_t of(uint32_t pid, uint64_t set)
{
	const portprof_record record = {
		.kind = PORTPROF_RECORD_SAMPLE,
		.valid = set ? PORTPROF_FIELD_LABELS : 0,
		.samples = 1,
		.label_set = set,
	};

	return ppi_label_texts_of(&texts, pid, &record);
}

static bool is_taken(const char *key)
{
	return strcmp(key, "thread") == 0;
}

static const char *string_of(uint32_t number)
{
	return ppi_pool_key(&locations.strings, number, NULL);
}

static const char *labels_of(uint32_t word)
{
	static char out[4096];
	struct ppi_label_ids ids[PORTPROF_LABELS_MAX];
	size_t count = ppi_label_texts_make(&texts, word, is_taken, &locations,
	                                    ids), used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(out + used, sizeof(out) - used,
		                         "%s%s=%s", i ? " " : "",
		                         string_of(ids[i].key),
		                         string_of(ids[i].text));
	return out;
}

static void numbers_are_those_of_their_process(void **state)
{
	(void)state;
	tell(1, 2, "endpoint", "/a");
	tell(2, 2, "endpoint", "/b");
	tell(3, 9, "endpoint", "/a");
	assert_string_equal(labels_of(of(1, 2)), "endpoint=/a");
	assert_string_equal(labels_of(of(2, 2)), "endpoint=/b");
	assert_int_equal(of(1, 2), of(3, 9));
	assert_int_equal(of(1, 0), 0);
	assert_string_equal(labels_of(of(1, 0)), "");
	/* nobody told of it */
	assert_string_equal(labels_of(of(1, 3)), "endpoint=(unknown)");
	assert_string_equal(labels_of(of(4, 2)), "endpoint=(unknown)");
}

static void programs_end_with_an_exec_and_children_inherit(void **state)
{
	(void)state;
	tell(1, 2, "endpoint", "/a");
	ppi_label_texts_fork(&texts, 5, 1);
	assert_string_equal(labels_of(of(5, 2)), "endpoint=/a");
	tell(5, 3, "endpoint", "/of the child");
	assert_string_equal(labels_of(of(5, 3)), "endpoint=/of the child");
	assert_string_equal(labels_of(of(1, 3)), "endpoint=(unknown)");
	ppi_label_texts_exec(&texts, 5);
	assert_string_equal(labels_of(of(5, 2)), "endpoint=(unknown)");
	assert_string_equal(labels_of(of(1, 2)), "endpoint=/a");
	/* a new process with an old number */
	ppi_label_texts_fork(&texts, 1, 77);
	assert_string_equal(labels_of(of(1, 2)), "endpoint=(unknown)");
}

static void more_than_the_bound_is_other(void **state)
{
	char value[16], note[200];
	unsigned others = 0;

	(void)state;
	texts.most = 10;
	for (unsigned i = 0; i < 100; i++) {
		snprintf(value, sizeof(value), "r%u", i);
		tell(1, 2 + i, "request", value);
		others += strcmp(labels_of(of(1, 2 + i)), "request=(other)") ==
		          0;
	}
	assert_int_equal(others, 90);
	assert_string_equal(labels_of(of(1, 2)), "request=r0");
	assert_string_equal(labels_of(of(1, PORTPROF_LABEL_SET_OTHER)),
	                    "request=(other)");
	assert_true(ppi_label_texts_note(&texts, note, sizeof(note)));
	assert_non_null(strstr(note, "91 samples"));
}

static void a_note_says_how_many_are_unknown(void **state)
{
	char note[200];

	(void)state;
	assert_false(ppi_label_texts_note(&texts, note, sizeof(note)));
	tell(1, 2, "a", "b");
	of(1, 2);
	assert_false(ppi_label_texts_note(&texts, note, sizeof(note)));
	of(1, PORTPROF_LABEL_SET_UNKNOWN);
	assert_true(ppi_label_texts_note(&texts, note, sizeof(note)));
	assert_non_null(strstr(note, "1 sample "));
}

static void taken_names_have_another(void **state)
{
	(void)state;
	tell(1, 2, "thread", "x");
	assert_string_equal(labels_of(of(1, 2)), "label_thread=x");
}

/* Of another process's memory: pairs that are whole, and no more. */
static void what_is_cut_is_left_out(void **state)
{
	(void)state;
	tell_bytes(1, 2, "a\0b\0c", 5);
	assert_string_equal(labels_of(of(1, 2)), "a=b");
	tell_bytes(1, 3, "aaaaaaaa", 8);
	assert_string_equal(labels_of(of(1, 3)), "");
	tell_bytes(1, 4, "a\0bbbbbb", 8);
	assert_string_equal(labels_of(of(1, 4)), "");
	tell_bytes(1, 5, "\0a\0b", 5);
	assert_string_equal(labels_of(of(1, 5)), "");
	tell_bytes(1, 6, "", 0);
	assert_string_equal(labels_of(of(1, 6)), "");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, gone)
	const struct CMUnitTest tests[] = {
		CASE(numbers_are_those_of_their_process),
		CASE(programs_end_with_an_exec_and_children_inherit),
		CASE(more_than_the_bound_is_other),
		CASE(a_note_says_how_many_are_unknown),
		CASE(taken_names_have_another),
		CASE(what_is_cut_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
