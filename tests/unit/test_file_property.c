/* SPDX-License-Identifier: MIT */
/* Random sessions: whatever happens, the file says what the model says. */
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

#include <zlib.h>

#include <cmocka.h>

#include "api/profile/pprof/pprof.h"
#include "tests/unit/file_model.h"

static struct file_kit kit;
static struct model model;

/* $PORTPROF_SEED repeats one that failed. */
static uint64_t seed_of(uint64_t round)
{
	const char *given = getenv("PORTPROF_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0)
	                      : (round + 1) * 0x9e3779b97f4a7c15u;

	if (!given && round == 0)
		return seed;
	return seed ? seed : 1;
}

static void begin(uint64_t seed)
{
	kit_begin(&kit, 1 + seed % 3);
	model_begin(&model, seed, kit.plan.event_count);
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
}

static void random_sessions_are_what_they_were(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 60; round++) {
		portprof_profile *profile;
		uint64_t seed = seed_of(round);

		print_message("seed 0x%" PRIx64 "\n", seed);
		begin(seed);
		for (unsigned step = 0; step < 600; step++) {
			model_step(&model, &kit);
			if (kit_below(&model.seed, 90) == 0)
				assert_int_equal(kit_flush(&kit, NULL),
				                 PORTPROF_OK);
		}
		assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
		profile = kit_read(&kit);
		model_assert(&model, profile);
		portprof_profile_free(profile);
		assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
		profile = kit_read(&kit);
		model_assert(&model, profile);
		portprof_profile_free(profile);
		kit_end(&kit);
	}
}

/* ---- a file of some portions, cut and harmed ---- */

enum { PORTIONS = 4 };

struct portions {
	unsigned char *bytes;
	size_t count;
	size_t ends[PORTIONS + 1]; /* of the first one too */
	char *texts[PORTIONS + 1];
};

static portprof_status read_bytes(int fd, const void *bytes, size_t count,
                                  portprof_profile **profile)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bytes, count, 0), count);
	lseek(fd, 0, SEEK_SET);
	return ppi_profile_read_fd(fd, "bytes", 0, profile, NULL);
}

static size_t file_bytes(void)
{
	size_t bytes;

	free(kit_load(kit.path, &bytes));
	return bytes;
}

static void make_portions(struct portions *portions, uint64_t seed)
{
	begin(seed);
	kit_thread(&kit, 100, 100, "app", false);
	kit_deliver(&kit);
	for (unsigned i = 0; i <= PORTIONS; i++) {
		portprof_profile *profile = kit_read(&kit);

		portions->ends[i] = file_bytes();
		portions->texts[i] = kit_text(profile);
		portprof_profile_free(profile);
		for (unsigned step = 0; step < 12; step++)
			model_step(&model, &kit);
		if (i < PORTIONS)
			assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	}
	portions->bytes = kit_load(kit.path, &portions->count);
	portions->count = portions->ends[PORTIONS];
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	kit_end(&kit);
}

static void free_portions(struct portions *portions)
{
	for (unsigned i = 0; i <= PORTIONS; i++)
		free(portions->texts[i]);
	free(portions->bytes);
}

static void cut_anywhere_the_whole_portions_are_there(void **state)
{
	struct portions portions;
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	make_portions(&portions, 4711);
	for (size_t cut = 0; cut <= portions.count; cut++) {
		portprof_profile *profile = NULL;
		portprof_status status = read_bytes(
			fileno(file), portions.bytes, cut, &profile);
		unsigned whole = 0;
		char *text;

		if (cut < portions.ends[0]) {
			assert_int_equal(status, PORTPROF_E_FORMAT);
			continue;
		}
		while (whole < PORTIONS && portions.ends[whole + 1] <= cut)
			whole++;
		assert_int_equal(status, PORTPROF_OK);
		assert_int_equal(portprof_profile_origin_get(profile)->damage !=
					 NULL,
				 cut != portions.ends[whole]);
		text = kit_text(profile);
		assert_string_equal(text, portions.texts[whole]);
		free(text);
		portprof_profile_free(profile);
	}
	free_portions(&portions);
	fclose(file);
}

/* A portion has a checksum: one that is not whole is left out, with all that
 * comes behind, and never believed. */
static void harmed_anywhere_nothing_wrong_is_read(void **state)
{
	struct portions portions;
	FILE *file = tmpfile();
	uint64_t seed = 99;

	(void)state;
	assert_non_null(file);
	make_portions(&portions, 815);
	for (size_t at = 0; at < portions.count; at++) {
		portprof_profile *profile = NULL;
		unsigned char flip = (unsigned char)(1u << kit_below(&seed, 8));
		portprof_status status;
		bool is_known = false;
		char *text;

		portions.bytes[at] ^= flip;
		status = read_bytes(fileno(file), portions.bytes,
		                    portions.count, &profile);
		portions.bytes[at] ^= flip;
		if (status != PORTPROF_OK) {
			assert_int_equal(status, PORTPROF_E_FORMAT);
			continue;
		}
		text = kit_text(profile);
		for (unsigned i = 0; i <= PORTIONS; i++)
			is_known |= strcmp(text, portions.texts[i]) == 0;
		assert_true(is_known);
		free(text);
		portprof_profile_free(profile);
	}
	free_portions(&portions);
	fclose(file);
}

/* The bytes of all portions without gzip: a profile too. */
static size_t inflate_all(const struct portions *portions, uint8_t *out,
                          size_t room)
{
	z_stream z = { .next_in = portions->bytes,
		       .avail_in = (uInt)portions->count, .next_out = out,
		       .avail_out = (uInt)room };

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	while (z.avail_in > 0) {
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		if (z.avail_in > 0) {
			uint8_t *at = z.next_out;
			uInt left = z.avail_out;

			inflateReset(&z);
			z.next_out = at;
			z.avail_out = left;
		}
	}
	room -= z.avail_out;
	inflateEnd(&z);
	return room;
}

/* As in test_file_read, with everything that portprof itself writes. */
static void mutants_of_ours_do_no_harm(void **state)
{
	struct portions portions;
	static uint8_t plain[1 << 16], mutant[1 << 16];
	FILE *file = tmpfile();
	uint64_t seed = 1234567;
	size_t count, refused = 0;

	(void)state;
	assert_non_null(file);
	make_portions(&portions, 42);
	count = inflate_all(&portions, plain, sizeof(plain));
	for (unsigned round = 0; round < 8000; round++) {
		portprof_profile *profile, *again;
		size_t changes = 1 + kit_below(&seed, 3);

		memcpy(mutant, plain, count);
		while (round > 0 && changes-- > 0)
			mutant[kit_below(&seed, count)] =
				(uint8_t)kit_random(&seed);
		if (read_bytes(fileno(file), mutant, count, &profile) !=
		    PORTPROF_OK) {
			assert_true(round > 0);
			refused++;
			continue;
		}
		lseek(fileno(file), 0, SEEK_SET);
		assert_int_equal(ftruncate(fileno(file), 0), 0);
		assert_int_equal(ppi_profile_write_fd(profile, fileno(file)),
		                 0);
		lseek(fileno(file), 0, SEEK_SET);
		assert_int_equal(ppi_profile_read_fd(fileno(file), "again", 0,
		                                     &again, NULL),
		                 PORTPROF_OK);
		kit_assert_written(profile, again);
		portprof_profile_free(profile);
		portprof_profile_free(again);
	}
	assert_true(refused > 500); /* it does look at what it reads */
	free_portions(&portions);
	fclose(file);
}

/* ---- merging ---- */

/* Sessions with one and the same number of events. */
static portprof_profile *random_profile(uint64_t seed)
{
	portprof_profile *profile;

	begin(seed * 3 + 1);
	for (unsigned step = 0; step < 150; step++)
		model_step(&model, &kit);
	kit.stats[0].cpu_time_ns = 1000000 + seed;
	kit.stats[0].achieved_hz = 1000;
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	profile = kit_read(&kit);
	kit_end(&kit);
	return profile;
}

static void merge(portprof_profile *into, const portprof_profile *from)
{
	assert_int_equal(portprof_profile_merge(into, from), PORTPROF_OK);
}

static uint64_t total(const portprof_profile *profile)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++)
		for (size_t e = 0;
		     e < portprof_profile_event_count(profile); e++)
			sum += portprof_profile_sample_get(profile, i)
				       ->weights[e];
	return sum;
}

static void the_order_of_merging_does_not_matter(void **state)
{
	(void)state;
	for (uint64_t round = 1; round < 12; round++) {
		portprof_profile *p[3][3], *right;
		uint64_t sum = 0;

		for (unsigned copy = 0; copy < 3; copy++)
			for (uint64_t i = 0; i < 3; i++)
				p[copy][i] = random_profile(round * 10 + i);
		for (unsigned i = 0; i < 3; i++)
			sum += total(p[0][i]);
		merge(p[0][0], p[0][1]); /* (a + b) + c */
		merge(p[0][0], p[0][2]);
		merge(p[1][1], p[1][2]); /* a + (b + c) */
		merge(p[1][0], p[1][1]);
		right = p[2][2]; /* (c + b) + a */
		merge(right, p[2][1]);
		merge(right, p[2][0]);
		kit_assert_same(p[0][0], p[1][0]);
		kit_assert_same(p[0][0], right);
		assert_int_equal(total(p[0][0]), sum);
		for (unsigned i = 0; i < 9; i++)
			portprof_profile_free(p[i / 3][i % 3]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sessions_are_what_they_were),
		cmocka_unit_test(cut_anywhere_the_whole_portions_are_there),
		cmocka_unit_test(harmed_anywhere_nothing_wrong_is_read),
		cmocka_unit_test(mutants_of_ours_do_no_harm),
		cmocka_unit_test(the_order_of_merging_does_not_matter),
	};

	return cmocka_run_group_tests_name("file_property", tests, NULL,
	                                   NULL);
}
