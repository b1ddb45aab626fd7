/* SPDX-License-Identifier: MIT */
/* The bytes of a profile file, as another reader finds them: every message
 * is unpacked by protobuf-c at once, without a line of our reader. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include <cmocka.h>

#include "api/profile/pprof/encode.h"
#include "api/profile/pprof/profile.pb-c.h"
#include "base/text.h"
#include "tests/unit/file_kit.h"

static struct file_kit kit;
static Ppi__Profile *message;
static size_t members;

/* All members of the file as one message. */
static void unpack(void)
{
	size_t bytes, room = 1 << 20;
	unsigned char *all = kit_load(kit.path, &bytes);
	uint8_t *plain = malloc(room);
	z_stream z = { .next_in = all, .avail_in = (uInt)bytes };
	size_t used = 0;

	assert_non_null(plain);
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	for (members = 0; z.avail_in > 0; members++) {
		z.next_out = plain + used;
		z.avail_out = (uInt)(room - used);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		used = room - z.avail_out;
		inflateReset(&z);
	}
	inflateEnd(&z);
	message = ppi__profile__unpack(NULL, used, plain);
	assert_non_null(message);
	free(plain);
	free(all);
}

static const char *text(int64_t number)
{
	assert_true(number >= 0 &&
	            (size_t)number < message->n_string_table);
	return message->string_table[number];
}

static bool has_comment(const char *wanted)
{
	for (size_t i = 0; i < message->n_comment; i++)
		if (strcmp(text(message->comment[i]), wanted) == 0)
			return true;
	return false;
}

static int set_up(void **state)
{
	(void)state;
	kit_begin(&kit, 3);
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	kit_module(&kit, 100, 0x10000, 0x1000, 0x3000, "/bin/app", "\xc0\xde");
	kit_thread(&kit, 100, 101, "worker", false);
	for (unsigned event = 0; event < 3; event++)
		kit_sample(&kit, event, 100, 101, 0x10010, 1 + event,
		           10 * (1 + event));
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ppi__profile__free_unpacked(message, NULL);
	message = NULL;
	if (kit.sink.state)
		ppi_sink_file.close(&kit.sink, NULL, NULL);
	kit_end(&kit);
	return 0;
}

static void assert_type(size_t value, const char *type, const char *unit)
{
	assert_string_equal(text(message->sample_type[value]->type), type);
	assert_string_equal(text(message->sample_type[value]->unit), unit);
}

/* Counts first, the wanted value last: some readers take that. */
static void assert_types_and_sample(void)
{
	static const int64_t values[] = { 1, 2, 3, 30, 20, 10 };
	const Ppi__Sample *sample = message->sample[0];

	assert_string_equal(message->string_table[0], "");
	assert_int_equal(message->n_sample_type, 6);
	assert_type(0, "samples", "count");
	assert_type(1, "samples:cycles:u", "count");
	assert_type(2, "samples:page-faults", "count");
	assert_type(3, "page-faults", "count");
	assert_type(4, "cycles:u", "count");
	assert_type(5, "cpu", "nanoseconds");
	assert_string_equal(text(message->default_sample_type), "cpu");
	assert_string_equal(text(message->period_type->type), "cpu");
	assert_int_equal(message->period, 1000000);
	assert_int_equal(message->n_sample, 1);
	assert_int_equal(sample->n_value, 6);
	assert_memory_equal(sample->value, values, sizeof(values));
	assert_int_equal(sample->n_label, 3);
	assert_string_equal(text(sample->label[0]->key), "pid");
	assert_int_equal(sample->label[0]->num, 100);
	assert_string_equal(text(sample->label[1]->key), "tid");
	assert_int_equal(sample->label[1]->num, 101);
	assert_string_equal(text(sample->label[2]->key), "thread");
	assert_string_equal(text(sample->label[2]->str), "worker");
}

static void assert_places(void)
{
	const Ppi__Mapping *mapping = message->mapping[0];
	const Ppi__Location *location = message->location[0];

	assert_int_equal(message->n_mapping, 1);
	assert_true(mapping->id != 0);
	assert_int_equal(mapping->memory_start, 0x10000);
	assert_int_equal(mapping->memory_limit, 0x11000);
	assert_int_equal(mapping->file_offset, 0x3000);
	assert_string_equal(text(mapping->filename), "/bin/app");
	assert_string_equal(text(mapping->build_id), "c0de");
	assert_int_equal(message->n_location, 1);
	assert_true(location->id != 0);
	assert_int_equal(location->mapping_id, mapping->id);
	assert_int_equal(location->address, 0x10010);
	assert_int_equal(message->sample[0]->location_id[0], location->id);
}

static void portions_are_one_profile_when_put_together(void **state)
{
	(void)state;
	unpack();
	assert_int_equal(members, 2);
	assert_types_and_sample();
	assert_places();
	assert_true(has_comment("portprof.backend=paper"));
	assert_true(has_comment("portprof.state=recording, in portions"));
	assert_int_equal(message->n_account, 2);
	assert_false(message->account[1]->complete);
	/* by the last account a killed run still has its sums */
	assert_int_equal(message->account[1]->event[0]->stats->kept_samples,
	                 1);
}

static void the_end_is_one_member_of_the_same(void **state)
{
	(void)state;
	kit.stats[0].lost_samples = 3;
	kit.stats[0].granted_hz = 998;
	kit.stats[0].achieved_hz = 42.5;
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	unpack();
	assert_int_equal(members, 1);
	assert_types_and_sample();
	assert_places();
	assert_int_equal(message->time_nanos, 1700000000123456789);
	assert_int_equal(message->duration_nanos, kit.run.duration_ns);
	assert_int_equal(message->n_account, 1);
	assert_true(message->account[0]->complete);
	assert_int_equal(message->account[0]->main_mapping,
	                 message->mapping[0]->id);
	assert_int_equal(message->n_thread, 1);
	assert_string_equal(message->thread[0]->name, "worker");
}

/* What a person reads who has only pprof. */
static void comments_tell_the_account(void **state)
{
	static const char *const wanted[] = {
		"portprof.backend=paper",
		"portprof.passed_over=perf: not permitted here",
		"portprof.note=a note",
		"portprof.command=/bin/app",
		"portprof.event=task-clock: what task-clock measures",
		"portprof.asked=asked-task-clock (task-clock)",
		"portprof.rate=requested 1000 Hz, granted 998 Hz, "
		"achieved 42.5 Hz (task-clock)",
		"portprof.samples=1 kept, 0 outside (task-clock)",
		"portprof.lost=3 exact (task-clock)",
		"portprof.weight=20 count: 20 kept, 0 outside, "
		"0 unattributed (at least) (cycles:u)",
		"portprof.cpu_time=77 nanoseconds",
		"portprof.state=complete",
	};

	(void)state;
	kit.stats[0].lost_samples = 3;
	kit.stats[0].cpu_time_ns = 77;
	kit.stats[0].granted_hz = 998;
	kit.stats[0].achieved_hz = 42.5;
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	unpack();
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!has_comment(wanted[i]))
			fail_msg("no comment '%s'", wanted[i]);
	assert_false(has_comment("portprof.state=recording, in portions"));
}

/* Of two events with one name, and of two that are CPU time, each has a type
 * of its own. */
static void types_are_told_apart(void **state)
{
	(void)state;
	ppi_sink_file.close(&kit.sink, NULL, NULL);
	kit.sink.state = NULL;
	kit.events[1] = kit.events[0];
	kit.events[2] = kit.events[0];
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	unpack();
	assert_type(5, "cpu", "nanoseconds");
	assert_type(4, "task-clock#2", "nanoseconds");
	assert_type(3, "task-clock#3", "nanoseconds");
}

static void text_is_utf8(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "plain", "plain" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe2\x82\xac\xf0\x9f\x98\x80",
		  "\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "cut\xe2\x82", "cut??" },
		{ "\xc0\xaf", "??" },             /* too long a form */
		{ "\xe0\x80\x80", "???" },
		{ "\xed\xa0\x80", "???" },        /* a surrogate */
		{ "\xf4\x90\x80\x80", "????" },   /* above 10FFFF */
		{ "\xff" "a\x80", "?a?" },
	};
	size_t count = sizeof(rows) / sizeof(rows[0]);

	(void)state;
	for (uint32_t i = 0; i < count; i++) {
		kit_thread(&kit, 100, 200 + i, rows[i].in, false);
		kit_sample(&kit, 0, 100, 200 + i, 0x10010, 1, 1);
	}
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	unpack();
	for (size_t i = 0; i < count; i++)
		assert_string_equal(text(message->sample[1 + i]->label[2]->str),
		                    rows[i].out);
}

/* In the file they are UTF-8 by the bytes of other characters; who reads it has the
 * path that opens the file. */
static void paths_keep_their_bytes(void **state)
{
	static const char *const paths[] = {
		"/lib/lib\377bad.so", "/lib/\x80\xbf\xc0.so",
		"/lib/\xee\xbe\x80\xee\xbf\xbf.so", "/lib/gr\xc3\xbc\xc3.so",
	};
	portprof_profile *profile;

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		kit_module(&kit, 100, 0x20000 + 0x1000 * i, 0x1000, 0, paths[i],
		           "");
		kit_sample(&kit, 0, 100, 101, 0x20010 + 0x1000 * i, 1, 1);
	}
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	unpack();
	for (size_t i = 0; i < message->n_string_table; i++) {
		char *copy = strdup(message->string_table[i]);

		ppi_text_mend(copy);
		assert_string_equal(copy, message->string_table[i]);
		free(copy);
	}
	profile = kit_read(&kit);
	for (size_t i = 0; i < 4; i++)
		assert_true(kit_find_mapping(profile, paths[i]) != SIZE_MAX);
	portprof_profile_free(profile);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(portions_are_one_profile_when_put_together),
		CASE(the_end_is_one_member_of_the_same),
		CASE(comments_tell_the_account),
		CASE(types_are_told_apart),
		CASE(text_is_utf8),
		CASE(paths_keep_their_bytes),
	};

	return cmocka_run_group_tests_name("file_format", tests, NULL, NULL);
}
