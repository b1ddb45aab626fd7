/* SPDX-License-Identifier: MIT */
/* What tracepoints tell: the lines about it, the bytes, and samples that have it,
 * on a simulated kernel. */
#include "backends/perf/records/perf_fields.h"
#include "tests/unit/perf_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define EVENT "/sys/kernel/tracing/events/shop/sold/"

static const char format[] =
	"name: sold\nID: 411\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char who[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:long gain;\toffset:24;\tsize:8;\tsigned:1;\n"
	"\tfield:u8 small;\toffset:32;\tsize:1;\tsigned:0;\n"
	"\tfield:short left;\toffset:34;\tsize:2;\tsigned:1;\n"
	"\tfield:__data_loc char[] what;\toffset:36;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] behind;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:const void * place;\toffset:48;\tsize:8;\tsigned:0;\n"
	"\tfield:struct deal deal;\toffset:56;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned char mac[6];\toffset:64;\tsize:6;\tsigned:0;\n\n"
	"print fmt: \"field:%s;\", REC->who\n";

static const char *const files[] = {
	"/sys/kernel/tracing/available_events", "shop:sold\n",
	EVENT "id", "411\n", EVENT "format", format, NULL, NULL,
};

/* All that is in `format`, as this machine lays it out. */
static size_t occurrence(unsigned char out[128])
{
	static const struct {
		int64_t gain;
		uint8_t small, hole;
		int16_t left;
		uint32_t what, behind, hole2;
		uint64_t place;
	} numbers = { -7, 200, 0, -3, 6u << 16 | 80, 5u << 16 | 42, 0,
		      UINT64_MAX - 1 };

	memset(out, 0, 128);
	memcpy(out + 8, "a very long name", 16); /* not ended */
	memcpy(out + 24, &numbers, sizeof(numbers));
	memcpy(out + 80, "apple", 6);
	memcpy(out + 86, "four", 5); /* 44 + 42 */
	return 92;
}

static void kinds_are_those_of_the_types(void **state)
{
	static const struct {
		const char *name;
		enum perf_raw_kind kind;
		unsigned offset, bytes;
	} wanted[] = {
		{ "who", PERF_RAW_TEXT, 8, 16 },
		{ "gain", PERF_RAW_SIGNED, 24, 8 },
		{ "small", PERF_RAW_UNSIGNED, 32, 1 },
		{ "left", PERF_RAW_SIGNED, 34, 2 },
		{ "what", PERF_RAW_TEXT_AT, 36, 4 },
		{ "behind", PERF_RAW_TEXT_BEHIND, 40, 4 },
		{ "place", PERF_RAW_UNSIGNED, 48, 8 },
		{ "deal", PERF_RAW_OTHER, 56, 8 },
		{ "mac", PERF_RAW_OTHER, 64, 6 },
	};
	struct perf_raw_field field;
	const char *at = format;

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_true(ppi_perf_raw_next(&at, &field));
		assert_int_equal(field.name_bytes, strlen(wanted[i].name));
		assert_memory_equal(field.name, wanted[i].name,
		                    field.name_bytes);
		assert_int_equal(field.kind, wanted[i].kind);
		assert_int_equal(field.offset, wanted[i].offset);
		assert_int_equal(field.bytes, wanted[i].bytes);
	}
	assert_false(ppi_perf_raw_next(&at, &field));
}

/* By its whole name, also one that every tracepoint has. */
static void any_field_is_found_by_name(void **state)
{
	struct perf_raw_field field;

	(void)state;
	assert_true(ppi_perf_raw_find(format, "common_pid", 10, &field));
	assert_int_equal(field.offset, 4);
	assert_true(ppi_perf_raw_find(format, "left", 4, &field));
	assert_int_equal(field.offset, 34);
	assert_false(ppi_perf_raw_find(format, "lef", 3, &field));
	assert_false(ppi_perf_raw_find(format, "common", 6, &field));
}

static portprof_status open_with(const char *event)
{
	portprof_status status;

	perf_sim_machine.files = files;
	status = run_add(&run, event, 0);
	return status == PORTPROF_OK ? run_open(&run) : status;
}

/* "0=text 1=-7" of the nth sample. */
static const char *told(size_t nth)
{
	static char out[512];
	portprof_batch batch = { run.records, run.record_count, run.words,
		                 run.word_count, sizeof(portprof_record) };
	const portprof_event_field *field = NULL;
	const portprof_record *record = run.records;
	size_t used = 0;

	for (;; record++) {
		assert_true(record < run.records + run.record_count);
		if (record->kind == PORTPROF_RECORD_SAMPLE && nth-- == 0)
			break;
	}
	out[0] = '\0';
	while ((field = portprof_batch_event_field(&batch, record, field))) {
		used += (size_t)snprintf(out + used, sizeof(out) - used,
		                         "%s%u=", used ? " " : "", field->index);
		if (field->text_bytes)
			used += (size_t)snprintf(out + used, sizeof(out) - used,
			                         "%s",
			                         (const char *)(field + 1));
		else
			used += (size_t)snprintf(out + used, sizeof(out) - used,
			                         "%lld",
			                         (long long)field->number);
	}
	return out;
}

static void samples_have_what_was_asked_for(void **state)
{
	unsigned char raw[128];
	size_t bytes = occurrence(raw);

	(void)state;
	if (open_with("shop:sold:field=left:field=who:field=what:field=gain:"
	              "field=behind:field=small:field=place:period=1") !=
	    PORTPROF_OK)
		fail_msg("%s", run.why.words);
	assert_string_equal(run.events[0].fields,
	                    "left who what gain behind small place");
	run_start(&run);
	perf_sim_hit(perf_sim_main_tid(), 0x1000, raw, bytes);
	raw[32] = 7;
	perf_sim_hit(perf_sim_main_tid(), 0x1000, raw, bytes);
	run_stop(&run);
	assert_string_equal(told(0), "0=-3 1=a very long name 2=apple 3=-7 "
	                             "4=four 5=200 6=-2");
	assert_string_equal(told(1), "0=-3 1=a very long name 2=apple 3=-7 "
	                             "4=four 5=7 6=-2");
}

/* Rings and files of the kernel's are not trusted: what lies outside of the
 * occurrence is left out. */
static void what_lies_outside_is_left_out(void **state)
{
	static const uint32_t far[] = { 6u << 16 | 1000, 1000u << 16 | 80 };
	unsigned char raw[128];
	size_t bytes = occurrence(raw);

	(void)state;
	assert_int_equal(open_with("shop:sold:field=small:field=what:field=place:"
	                           "period=1"), PORTPROF_OK);
	run_start(&run);
	for (size_t i = 0; i < 2; i++) {
		memcpy(raw + 36, &far[i], 4);
		perf_sim_hit(perf_sim_main_tid(), 0x1000, raw, bytes);
	}
	perf_sim_hit(perf_sim_main_tid(), 0x1000, raw, 36);
	perf_sim_hit(perf_sim_main_tid(), 0x1000, NULL, 0);
	run_stop(&run);
	assert_string_equal(told(0), "0=200 2=-2");
	assert_string_equal(told(1), "0=200 2=-2");
	assert_string_equal(told(2), "0=200");
	assert_string_equal(told(3), "");
}

static void a_long_text_is_cut(void **state)
{
	uint32_t where = 60u << 16 | 66;
	unsigned char raw[200] = { 0 };

	(void)state;
	memset(raw + 64, 'x', 130);
	assert_int_equal(open_with("shop:sold:field=what:period=1"),
	                 PORTPROF_OK);
	run_start(&run);
	for (size_t i = 0; i < 2; i++) {
		memcpy(raw + 36, &where, 4);
		perf_sim_hit(perf_sim_main_tid(), 0x1000, raw, 196);
		where += 60u << 16;
	}
	run_stop(&run);
	assert_int_equal(strlen(told(0)), 2 + 60);
	assert_int_equal(strlen(told(1)), 2 + 63);
}

/* Each says what would be taken. */
static void what_cannot_be_told_is_refused(void **state)
{
	static const struct {
		const char *event, *words;
		portprof_status status;
	} rows[] = {
		{ "shop:sold:field=nobody", "column 17: it has no field "
		  "'nobody'; fields: who (text), gain, small",
		  PORTPROF_E_NOTFOUND },
		{ "shop:sold:field=deal", "numbers and texts",
		  PORTPROF_E_UNSUPPORTED },
		{ "shop:sold:field=mac", "numbers and texts",
		  PORTPROF_E_UNSUPPORTED },
		{ "page-faults:field=who", "only tracepoints",
		  PORTPROF_E_UNSUPPORTED },
		{ "shop:sold:field=a:field=b:field=c:field=d:field=e:field=f:"
		  "field=g:field=h:field=i", "8 fields at most",
		  PORTPROF_E_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(open_with(rows[i].event), rows[i].status);
		if (!strstr(run.why.words, rows[i].words))
			fail_msg("%s", run.why.words);
		run_init(&run, PPI_SAMPLE);
	}
}

static void they_are_for_who_may_trace(void **state)
{
	(void)state;
	perf_sim_machine.is_privileged = false;
	perf_sim_machine.paranoid = 1;
	assert_int_equal(open_with("shop:sold:field=who"), PORTPROF_E_DENIED);
	assert_non_null(strstr(run.why.words, "leave field out"));
	run_init(&run, PPI_SAMPLE);
	assert_int_equal(open_with("shop:sold"), PORTPROF_OK);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(kinds_are_those_of_the_types),
		CASE(any_field_is_found_by_name),
		CASE(samples_have_what_was_asked_for),
		CASE(what_lies_outside_is_left_out),
		CASE(a_long_text_is_cut),
		CASE(what_cannot_be_told_is_refused),
		CASE(they_are_for_who_may_trace),
	};

	return cmocka_run_group_tests_name("perf_raw", tests, NULL, NULL);
}
