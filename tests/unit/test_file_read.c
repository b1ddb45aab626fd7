/* SPDX-License-Identifier: MIT */
/* Reading pprof files of other writers, and files meant to do harm. */
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/profile/pprof/encode.h"
#include "api/profile/pprof/profile.pb-c.h"
#include "api/profile/pprof/pprof.h"
#include "tests/unit/file_kit.h"

static struct file_kit kit;

static int set_up(void **state)
{
	(void)state;
	kit_begin(&kit, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kit_end(&kit);
	return 0;
}

/* ---- another writer's profile, as one message ---- */

enum { STRINGS = 18 };

struct foreign {
	Ppi__Profile profile;
	Ppi__ValueType types[2], period_type, *type_pointers[2];
	Ppi__Mapping mapping, *mapping_pointer;
	Ppi__Function functions[2], *function_pointers[2];
	Ppi__Line lines[2], *line_pointers[2];
	Ppi__Location locations[2], *location_pointers[2];
	Ppi__Label labels[3], *label_pointers[3];
	Ppi__Sample samples[2], *sample_pointers[2];
	Ppi__Account account, *account_pointer;
	char *strings[STRINGS];
	uint64_t ids[2];
	int64_t values[4], comments[1];
};

#define POINT(array, pointers)                                                \
	for (size_t p = 0; p < sizeof(pointers) / sizeof((pointers)[0]); p++) \
		(pointers)[p] = &(array)[p]

static void make_tables(struct foreign *f)
{
	static const char *const strings[STRINGS] = {
		"",       "samples", "count",  "cpu",    "nanoseconds",
		"/bin/x", "b1d",     "inner",  "outer",  "x.c",
		"pid",    "tid",     "thread", "worker", "a comment",
		"main.*", "milliseconds", "bytes",
	};

	ppi__profile__init(&f->profile);
	for (size_t i = 0; i < STRINGS; i++)
		f->strings[i] = (char *)(uintptr_t)strings[i];
	f->profile.n_string_table = STRINGS;
	f->profile.string_table = f->strings;
	for (size_t i = 0; i < 2; i++) {
		ppi__value_type__init(&f->types[i]);
		ppi__function__init(&f->functions[i]);
		ppi__line__init(&f->lines[i]);
		ppi__location__init(&f->locations[i]);
		ppi__sample__init(&f->samples[i]);
	}
	f->types[0].type = 1;
	f->types[0].unit = 2;
	f->types[1].type = 3;
	f->types[1].unit = 4;
	POINT(f->types, f->type_pointers);
	f->profile.n_sample_type = 2;
	f->profile.sample_type = f->type_pointers;
	f->period_type = f->types[1];
	f->profile.period_type = &f->period_type;
	f->profile.period = 10000000;
	f->profile.comment = f->comments;
	f->profile.n_comment = 1;
	f->comments[0] = 14;
	f->profile.drop_frames = 15;
	f->profile.time_nanos = 1234567890;
}

/* Ids as unlike numbers from 1 as they may be. */
static void make_places(struct foreign *f)
{
	ppi__mapping__init(&f->mapping);
	f->mapping.id = UINT64_MAX;
	f->mapping.memory_start = 0x1000;
	f->mapping.memory_limit = 0x9000;
	f->mapping.filename = 5;
	f->mapping.build_id = 6;
	f->mapping.has_functions = true;
	f->mapping_pointer = &f->mapping;
	f->profile.n_mapping = 1;
	f->profile.mapping = &f->mapping_pointer;
	for (size_t i = 0; i < 2; i++) {
		f->functions[i].id = i ? 3 : 70000;
		f->functions[i].name = i ? 8 : 7;
		f->functions[i].system_name = f->functions[i].name;
		f->functions[i].filename = 9;
		f->functions[i].start_line = 5;
		f->lines[i].function_id = f->functions[i].id;
		f->lines[i].line = (int64_t)(10 + i);
		f->locations[i].id = i ? 1 : (uint64_t)1 << 60;
		f->locations[i].mapping_id = i ? 0 : UINT64_MAX;
		f->locations[i].address = i ? 0xdead : 0x1234;
	}
	POINT(f->functions, f->function_pointers);
	POINT(f->lines, f->line_pointers);
	POINT(f->locations, f->location_pointers);
	f->locations[0].n_line = 2; /* inner was inlined into outer */
	f->locations[0].line = f->line_pointers;
	f->profile.n_function = 2;
	f->profile.function = f->function_pointers;
	f->profile.n_location = 2;
	f->profile.location = f->location_pointers;
}

static void make_samples(struct foreign *f)
{
	for (size_t i = 0; i < 3; i++) {
		ppi__label__init(&f->labels[i]);
		f->labels[i].key = (int64_t)(10 + i);
		f->labels[i].num = i < 2 ? 41 : 0;
		f->labels[i].str = i < 2 ? 0 : 13;
	}
	POINT(f->labels, f->label_pointers);
	f->ids[0] = (uint64_t)1 << 60;
	f->ids[1] = 1;
	for (size_t i = 0; i < 2; i++) {
		f->values[2 * i] = (int64_t)(3 + i);
		f->values[2 * i + 1] = (int64_t)(300 + i);
		f->samples[i].n_value = 2;
		f->samples[i].value = &f->values[2 * i];
		f->samples[i].location_id = &f->ids[i];
		f->samples[i].n_location_id = 2 - i;
	}
	f->samples[0].n_label = 3;
	f->samples[0].label = f->label_pointers;
	POINT(f->samples, f->sample_pointers);
	f->profile.n_sample = 2;
	f->profile.sample = f->sample_pointers;
}

static void make_foreign(struct foreign *f)
{
	memset(f, 0, sizeof(*f));
	make_tables(f);
	make_places(f);
	make_samples(f);
}

static void store_packed(const struct foreign *f)
{
	size_t bytes = ppi__profile__get_packed_size(&f->profile);
	uint8_t *packed = malloc(bytes);

	assert_non_null(packed);
	ppi__profile__pack(&f->profile, packed);
	kit_store(kit.path, packed, bytes);
	free(packed);
}

static portprof_profile *read_foreign(const struct foreign *f)
{
	store_packed(f);
	return kit_read(&kit);
}

static void others_profiles_are_understood(void **state)
{
	struct foreign f;
	portprof_profile *profile;
	const portprof_profile_sample *sample;
	const portprof_profile_location *location;
	const portprof_profile_event *event;

	(void)state;
	make_foreign(&f);
	profile = read_foreign(&f);
	assert_int_equal(portprof_profile_event_count(profile), 1);
	event = portprof_profile_event_get(profile, 0);
	assert_string_equal(event->name, "cpu");
	assert_int_equal(event->unit, PORTPROF_UNIT_NANOSECONDS);
	assert_false(event->has_stats);
	assert_int_equal(portprof_profile_sample_count(profile), 2);
	sample = portprof_profile_sample_get(profile, 0);
	assert_int_equal(sample->samples[0], 3);
	assert_int_equal(sample->weights[0], 300);
	assert_int_equal(sample->depth, 2);
	assert_int_equal(sample->pid, 41);
	assert_int_equal(sample->tid, 41);
	location = portprof_profile_location_get(profile,
	                                         sample->locations[0]);
	assert_int_equal(location->address, 0x1234);
	assert_string_equal(location->function, "inner");
	assert_string_equal(location->source_file, "x.c");
	assert_int_equal(location->line, 10);
	assert_string_equal(portprof_profile_mapping_get(
				    profile, location->mapping)->build_id,
	                    "b1d");
	location = portprof_profile_location_get(profile,
	                                         sample->locations[1]);
	assert_int_equal(location->mapping, SIZE_MAX);
	assert_string_equal(location->function, "");
	assert_int_equal(portprof_profile_thread_count(profile), 1);
	assert_string_equal(portprof_profile_thread_get(profile, 0)->name,
	                    "worker");
	assert_string_equal(portprof_profile_origin_get(profile)->backend, "");
	assert_null(portprof_profile_sample_get(profile, 2));
	assert_null(portprof_profile_mapping_get(profile, SIZE_MAX));
	portprof_profile_free(profile);
}

/* Types without a common count: each is an event of its own. */
static void values_without_a_sample_count_are_events(void **state)
{
	struct foreign f;
	portprof_profile *profile;

	(void)state;
	make_foreign(&f);
	f.types[0].type = 7; /* no longer called "samples" */
	profile = read_foreign(&f);
	assert_int_equal(portprof_profile_event_count(profile), 2);
	assert_string_equal(portprof_profile_event_get(profile, 0)->name,
	                    "inner");
	assert_int_equal(
		portprof_profile_sample_get(profile, 0)->weights[0], 3);
	assert_int_equal(
		portprof_profile_sample_get(profile, 0)->samples[0], 3);
	assert_int_equal(
		portprof_profile_sample_get(profile, 0)->weights[1], 300);
	assert_int_equal(
		portprof_profile_sample_get(profile, 0)->samples[1], 0);
	portprof_profile_free(profile);
}

static Ppi__Profile *unpack_written(void)
{
	size_t bytes, room = 1 << 20;
	unsigned char *all = kit_load(kit.path, &bytes);
	uint8_t *plain = malloc(room);
	Ppi__Profile *message;
	z_stream z = { .next_in = all, .avail_in = (uInt)bytes,
		       .next_out = plain, .avail_out = (uInt)room };

	assert_non_null(plain);
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0); /* one member */
	message = ppi__profile__unpack(NULL, z.total_out, plain);
	assert_non_null(message);
	inflateEnd(&z);
	free(plain);
	free(all);
	return message;
}

/* What we have no name for is not thrown away. */
static void others_profiles_are_written_as_they_were(void **state)
{
	struct foreign f;
	portprof_profile *profile, *again;
	Ppi__Profile *message;

	(void)state;
	make_foreign(&f);
	profile = read_foreign(&f);
	assert_int_equal(portprof_profile_write(profile, kit.path),
	                 PORTPROF_OK);
	again = kit_read(&kit);
	kit_assert_same(profile, again);
	message = unpack_written();
	assert_int_equal(message->n_account, 0);
	assert_int_equal(message->n_comment, 1);
	assert_string_equal(message->string_table[message->comment[0]],
	                    "a comment");
	assert_string_equal(message->string_table[message->drop_frames],
	                    "main.*");
	assert_int_equal(message->period, 10000000);
	assert_int_equal(message->time_nanos, 1234567890);
	assert_int_equal(message->location[0]->n_line, 2);
	assert_int_equal(message->location[0]->line[1]->line, 11);
	assert_int_equal(message->function[0]->start_line, 5);
	assert_true(message->mapping[0]->has_functions);
	assert_int_equal(message->sample[0]->n_label, 3);
	ppi__profile__free_unpacked(message, NULL);
	portprof_profile_free(profile);
	portprof_profile_free(again);
}

/* Old writers put one number a field instead of all in one. */
static void numbers_one_by_one_are_read(void **state)
{
	static const uint8_t bytes[] = {
		0x32, 0,                         /* string "" */
		0x32, 3,    'c',  'p', 'u',      /* string 1 */
		0x0a, 2,    0x08, 1,             /* sample_type cpu */
		0x22, 4,    0x08, 1,  0x18, 16,  /* location 1 at 16 */
		0x12, 6,    0x08, 1,  0x08, 1,   /* sample 1, 1: */
		0x10, 5,                         /* value 5 */
		0x68, 1,                         /* comment 1 */
	};
	portprof_profile *profile;

	(void)state;
	kit_store(kit.path, bytes, sizeof(bytes));
	profile = kit_read(&kit);
	assert_int_equal(portprof_profile_sample_get(profile, 0)->depth, 2);
	assert_int_equal(
		portprof_profile_sample_get(profile, 0)->weights[0], 5);
	portprof_profile_free(profile);
}

/* A location may come in a later member than the sample in it. */
static void members_may_point_forward(void **state)
{
	struct foreign f, g;
	struct ppi_gzip gzip;
	portprof_profile *profile, *whole;
	FILE *out;

	(void)state;
	make_foreign(&f);
	whole = read_foreign(&f);
	g = f;
	f.profile.n_location = 0;
	f.profile.n_function = 0;
	f.profile.n_string_table = 5;
	out = fopen(kit.path, "wb");
	assert_non_null(out);
	assert_int_equal(ppi_gzip_open(&gzip, PPI_GZIP_PORTION, -1), 0);
	for (unsigned part = 0; part < 2; part++) {
		uint8_t packed[4096];
		size_t bytes;

		if (part == 1) {
			f = g;
			f.profile.n_sample_type = 0;
			f.profile.n_sample = 0;
			f.profile.n_mapping = 0;
			f.profile.n_comment = 0;
			f.profile.string_table += 5;
			f.profile.n_string_table -= 5;
		}
		bytes = ppi__profile__pack(&f.profile, packed);
		ppi_gzip_begin(&gzip);
		ppi_gzip_add(&gzip, packed, bytes);
		assert_int_equal(ppi_gzip_end(&gzip), 0);
		assert_int_equal(
			fwrite(gzip.out.data, 1, gzip.out.count, out),
			gzip.out.count);
	}
	ppi_gzip_close(&gzip);
	assert_int_equal(fclose(out), 0);
	profile = kit_read(&kit);
	kit_assert_same(profile, whole);
	portprof_profile_free(profile);
	portprof_profile_free(whole);
}

/* As pprof -diff_base writes it: what was before is below 0. */
static void a_difference_has_two_sides(void **state)
{
	struct foreign f;
	portprof_profile *profile, *again;
	const portprof_profile_sample *sample;

	(void)state;
	make_foreign(&f);
	f.types[1].unit = 16; /* milliseconds */
	f.values[0] = -3;
	f.values[1] = -300;
	profile = read_foreign(&f);
	assert_int_equal(portprof_profile_event_count(profile), 2);
	assert_string_equal(portprof_profile_event_get(profile, 0)->name,
	                    "before-cpu");
	assert_string_equal(portprof_profile_event_get(profile, 1)->name,
	                    "after-cpu");
	assert_int_equal(portprof_profile_event_get(profile, 1)->unit,
	                 PORTPROF_UNIT_NANOSECONDS);
	sample = portprof_profile_sample_get(profile, 0);
	assert_int_equal(sample->samples[0], 3);
	assert_int_equal(sample->samples[1], 0);
	assert_int_equal(sample->weights[0], 300 * 1000000);
	assert_int_equal(sample->weights[1], 0);
	sample = portprof_profile_sample_get(profile, 1);
	assert_int_equal(sample->samples[0], 0);
	assert_int_equal(sample->samples[1], 4);
	assert_int_equal(sample->weights[0], 0);
	assert_int_equal(sample->weights[1], 301 * 1000000);
	assert_non_null(strstr(portprof_profile_origin_get(profile)->notes[0],
	                       "portprof diff"));
	assert_int_equal(portprof_profile_write(profile, kit.path),
	                 PORTPROF_OK);
	again = kit_read(&kit);
	assert_int_equal(portprof_profile_event_count(again), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(
			portprof_profile_event_get(profile, i)->name,
			portprof_profile_event_get(again, i)->name);
		for (size_t k = 0; k < 2; k++)
			assert_int_equal(portprof_profile_sample_get(profile, k)
			                         ->weights[i],
			                 portprof_profile_sample_get(again, k)
			                         ->weights[i]);
	}
	portprof_profile_free(profile);
	portprof_profile_free(again);
}

/* Sizes are of what was taken off, however much; units stay. */
static void a_difference_of_sizes_keeps_its_unit(void **state)
{
	struct foreign f;
	portprof_profile *profile;
	Ppi__Profile *message;

	(void)state;
	make_foreign(&f);
	f.types[0].type = 8; /* no count of samples */
	f.types[1].unit = 17; /* bytes */
	f.profile.default_sample_type = 3;
	f.values[3] = INT64_MIN;
	profile = read_foreign(&f);
	assert_int_equal(portprof_profile_event_count(profile), 4);
	assert_string_equal(portprof_profile_event_get(profile, 2)->name,
	                    "before-cpu");
	assert_int_equal(portprof_profile_sample_get(profile, 1)->weights[2],
	                 (uint64_t)1 << 63);
	assert_int_equal(portprof_profile_sample_get(profile, 1)->weights[1],
	                 4);
	assert_int_equal(portprof_profile_write(profile, kit.path),
	                 PORTPROF_OK);
	message = unpack_written();
	for (size_t i = 0; i < message->n_sample_type; i++) {
		const char *type = message->string_table
		                           [message->sample_type[i]->type];
		const char *unit = message->string_table
		                           [message->sample_type[i]->unit];

		if (strcmp(type, "before-cpu") == 0 ||
		    strcmp(type, "after-cpu") == 0)
			assert_string_equal(unit, "bytes");
		else
			assert_string_equal(unit, "count");
	}
	assert_string_equal(
		message->string_table[message->default_sample_type],
		"after-cpu");
	ppi__profile__free_unpacked(message, NULL);
	portprof_profile_free(profile);
}

static void a_newer_account_is_told_and_left(void **state)
{
	struct foreign f;
	portprof_profile *profile;

	(void)state;
	make_foreign(&f);
	ppi__account__init(&f.account);
	f.account.format = 2;
	f.account.backend = f.strings[13];
	f.account_pointer = &f.account;
	f.profile.n_account = 1;
	f.profile.account = &f.account_pointer;
	profile = read_foreign(&f);
	assert_string_equal(portprof_profile_origin_get(profile)->backend, "");
	assert_non_null(strstr(portprof_profile_origin_get(profile)->notes[0],
	                       "newer portprof"));
	portprof_profile_free(profile);
}

/* The kernel tells no name of some processes; whose they are is kept. */
static void a_process_without_a_name_is_written(void **state)
{
	struct foreign f;
	Ppi__Thread thread = PPI__THREAD__INIT, *pointer = &thread;
	portprof_profile *profile, *again;
	const portprof_profile_thread *last;

	(void)state;
	make_foreign(&f);
	ppi__account__init(&f.account);
	f.account.format = 1;
	f.account_pointer = &f.account;
	f.profile.n_account = 1;
	f.profile.account = &f.account_pointer;
	thread.pid = thread.tid = 4242;
	thread.owner = 1001;
	thread.began_ns = 77;
	f.profile.n_thread = 1;
	f.profile.thread = &pointer;
	profile = read_foreign(&f);
	assert_int_equal(portprof_profile_write(profile, kit.path),
	                 PORTPROF_OK);
	again = kit_read(&kit);
	kit_assert_same(profile, again);
	for (size_t i = 0;
	     (last = portprof_profile_thread_get(again, i)) != NULL &&
	     last->pid != 4242; i++)
		;
	assert_non_null(last);
	assert_int_equal(last->owner, 1000);
	assert_int_equal(last->began_ns, 77);
	portprof_profile_free(profile);
	portprof_profile_free(again);
}

/* ---- what must be refused ---- */

static void assert_no_profile(const char *what)
{
	portprof_profile *profile = (portprof_profile *)&kit;

	if (portprof_profile_read(kit.path, 0, &profile) != PORTPROF_E_FORMAT)
		fail_msg("%s was not refused", what);
	assert_ptr_equal(profile, &kit); /* untouched */
	assert_non_null(strstr(portprof_last_diag()->words, kit.path));
}

/* Its sums would not be those of its account. */
static void a_file_of_ours_is_no_difference(void **state)
{
	struct foreign f;

	(void)state;
	make_foreign(&f);
	ppi__account__init(&f.account);
	f.account.format = 1;
	f.account_pointer = &f.account;
	f.profile.n_account = 1;
	f.profile.account = &f.account_pointer;
	f.values[1] = -300;
	store_packed(&f);
	assert_no_profile("a value below 0 beside an account");
}

/* One thing is wrong each time, and nothing else for that reason; numbers
 * are those of `foreign`. */
static void wrong(struct foreign *f, unsigned what)
{
	switch (what) {
	case 0: f->profile.n_string_table = 0; break;
	case 1: f->strings[0] = f->strings[1]; break;
	case 2: f->profile.n_sample_type = 0; break;
	case 3: f->types[1].type = STRINGS; break;
	case 4: f->types[1].unit = -1; break;
	case 5: f->mapping.filename = INT64_MAX; break;
	case 6: f->mapping.build_id = INT64_MIN; break;
	case 7: f->mapping.id = f->locations[0].mapping_id = 0; break;
	case 8: f->functions[1].id = f->lines[1].function_id = 70000; break;
	case 9: f->functions[0].name = STRINGS; break;
	case 10: f->functions[0].filename = STRINGS; break;
	case 11: f->functions[0].id = 0; f->lines[0].function_id = 3; break;
	case 12: f->locations[0].id = 0; f->ids[0] = 1; break;
	case 13: f->locations[0].id = f->ids[0] = 1; break;
	case 14: f->locations[0].mapping_id = 9; break;
	case 15: f->lines[1].function_id = 9; break;
	case 16: f->ids[1] = 9; break;
	case 17: f->ids[0] = 0; break;
	case 18: f->samples[0].n_value = 1; break;
	case 19: f->samples[0].n_value = 3; break;
	case 20: f->labels[0].key = STRINGS; break;
	case 21: f->labels[2].str = -5; break;
	case 22: f->labels[1].num_unit = STRINGS; break;
	case 23: f->comments[0] = STRINGS; break;
	case 24: f->profile.drop_frames = STRINGS; break;
	case 25: f->period_type.unit = STRINGS; break;
	case 26: f->profile.default_sample_type = -1; break;
	case 27: f->profile.doc_url = STRINGS; break;
	default: fail();
	}
}

static void what_points_to_nothing_is_refused(void **state)
{
	(void)state;
	for (unsigned what = 0; what < 28; what++) {
		struct foreign f;
		char name[32];

		make_foreign(&f);
		wrong(&f, what);
		store_packed(&f);
		snprintf(name, sizeof(name), "wrong %u", what);
		assert_no_profile(name);
	}
}

static void what_is_no_protobuf_is_refused(void **state)
{
	static const struct {
		const char *name, *bytes;
		size_t count;
	} rows[] = {
		{ "nothing", "", 0 },
		{ "a text", "flat profile:\n", 14 },
		{ "an ELF file", "\x7f" "ELF\2\1\1\0\0\0\0\0", 12 },
		{ "field number 0", "\0\0", 2 },
		{ "a group", "\x0b\x0c", 2 },
		{ "a length past the end", "\x32\x7f" "ab", 4 },
		{ "a length past all memory",
		  "\x32\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 11 },
		{ "a number without end",
		  "\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 13 },
		{ "a tag without a value", "\x48", 1 },
		{ "a sample that is a number", "\x10\1", 2 },
		{ "a time that is a text", "\x4a\1x", 3 },
		{ "a string that is a number", "\x30\1", 2 },
		{ "a sample of half a field", "\x32\0\x12\1\x0a", 5 },
		{ "half a magic", "\x1f", 1 },
		{ "a magic alone", "\x1f\x8b", 2 },
		{ "a gzip head alone", "\x1f\x8b\x08\0\0\0\0\0\0\3", 10 },
		{ "gzip of another kind", "\x1f\x8b\x07\0\0\0\0\0\0\3ab", 12 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		kit_store(kit.path, rows[i].bytes, rows[i].count);
		assert_no_profile(rows[i].name);
	}
}

static void files_that_cannot_be_opened_are_told_apart(void **state)
{
	portprof_profile *profile = NULL;
	bool is_root = geteuid() == 0;

	(void)state;
	assert_int_equal(portprof_profile_read(kit.path, 0, &profile),
			 PORTPROF_E_NOTFOUND);
	assert_int_equal(portprof_profile_read(kit.folder, 0, &profile),
			 PORTPROF_E_FORMAT);
	assert_non_null(strstr(portprof_last_diag()->words, "folder"));
	assert_int_equal(portprof_profile_read(NULL, 0, &profile),
			 PORTPROF_E_INVALID);
	assert_int_equal(portprof_profile_read(kit.path, 0, NULL),
			 PORTPROF_E_INVALID);
	kit_store(kit.path, "x", 1);
	if (is_root)
		assert_int_equal(seteuid(65534), 0);
	else
		unlink(kit.path);
	assert_int_equal(portprof_profile_read(kit.path, 0, &profile),
			 is_root ? PORTPROF_E_DENIED
				 : PORTPROF_E_NOTFOUND);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_null(profile);
}

/*
 * Any byte of a file changed: it is read or refused, and whatever is read
 * can be walked from end to end, merged and written.
 */
static void survive(int fd, const uint8_t *bytes, size_t count)
{
	portprof_profile *profile, *other;
	portprof_status status;

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bytes, count, 0), count);
	lseek(fd, 0, SEEK_SET);
	status = ppi_profile_read_fd(fd, "mutant", 0, &profile, NULL);
	if (status != PORTPROF_OK) {
		assert_int_equal(status, PORTPROF_E_FORMAT);
		return;
	}
	free(kit_text(profile));
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(ppi_profile_read_fd(fd, "mutant", 0, &other, NULL),
	                 PORTPROF_OK);
	assert_int_equal(portprof_profile_merge(profile, other), PORTPROF_OK);
	free(kit_text(profile));
	portprof_profile_free(other);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(ppi_profile_write_fd(profile, fd), 0);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(ppi_profile_read_fd(fd, "mutant", 0, &other, NULL),
	                 PORTPROF_OK);
	kit_assert_written(profile, other);
	portprof_profile_free(other);
	portprof_profile_free(profile);
}

static void mutants_do_no_harm(void **state)
{
	uint64_t seed = 0x9e3779b97f4a7c15u;
	struct foreign f;
	uint8_t bytes[4096], mutant[4096];
	FILE *file = tmpfile();
	size_t count;

	(void)state;
	assert_non_null(file);
	make_foreign(&f);
	count = ppi__profile__pack(&f.profile, bytes);
	for (unsigned round = 0; round < 20000; round++) {
		size_t changes = 1 + kit_below(&seed, 4), length = count;

		memcpy(mutant, bytes, count);
		while (changes-- > 0)
			mutant[kit_below(&seed, count)] =
				(uint8_t)kit_random(&seed);
		if (round % 8 == 0)
			length = kit_below(&seed, count);
		survive(fileno(file), mutant, length);
	}
	fclose(file);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(others_profiles_are_understood),
		CASE(values_without_a_sample_count_are_events),
		CASE(others_profiles_are_written_as_they_were),
		CASE(numbers_one_by_one_are_read),
		CASE(members_may_point_forward),
		CASE(a_difference_has_two_sides),
		CASE(a_difference_of_sizes_keeps_its_unit),
		CASE(a_file_of_ours_is_no_difference),
		CASE(a_newer_account_is_told_and_left),
		CASE(a_process_without_a_name_is_written),
		CASE(what_points_to_nothing_is_refused),
		CASE(what_is_no_protobuf_is_refused),
		CASE(files_that_cannot_be_opened_are_told_apart),
		CASE(mutants_do_no_harm),
	};

	return cmocka_run_group_tests_name("file_read", tests, NULL, NULL);
}
