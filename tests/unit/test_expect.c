/* SPDX-License-Identifier: MIT */
/* The model that judges the library must itself be right: by hand-made cases
 * and by test vectors of real kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/model/expect.h"

/*
 * Bins that FreeBSD's kernel (sys/kern/subr_prof.c, byte offset halved) and
 * glibc 2.36's profil (sysdeps/posix/profil.c) use for a distance and a scale.
 */
static const struct {
	uint64_t distance;
	uint32_t scale;
	uint64_t kernel, manual;
} vectors[] = {
	{ 2, 0x10000, 1, 1 },         { 3, 0xC000, 1, 0 },
	{ 7, 0xFFFF, 3, 2 },          { 0x65, 0x8000, 25, 25 },
	{ 0x12347, 0x5555, 12427, 12427 },
	{ 0x20000, 1, 1, 1 },         { 5, 0x20000, 5, 4 },
	{ 0x100000008, 0x10000, 0x80000004, 0x80000004 },
	{ UINT64_MAX, 0x10000, UINT64_MAX / 2, UINT64_MAX / 2 },
};

static void bins_are_those_of_kernels_and_manuals(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		assert_int_equal(expect_bin_of_kernel(vectors[i].distance, 0,
		                                      vectors[i].scale),
		                 vectors[i].kernel);
		assert_int_equal(expect_bin_of_manual(vectors[i].distance, 0,
		                                      vectors[i].scale),
		                 vectors[i].manual);
	}
	assert_int_equal(expect_bin_of_kernel(99, 100, 65536), UINT64_MAX);
	assert_int_equal(expect_bin_of_manual(99, 100, 65536), UINT64_MAX);
}

static void histogram_saturates_and_counts_outside(void **state)
{
	const struct expect_region region = { 100, 65536, 16, 2 };
	const struct expect_hit hits[] = {
		{ 99, 1 }, { 100, 10 }, { 101, 20 }, { 102, 65530 },
		{ 103, 6 }, { 103, 6 }, { 104, 3 },
	};
	uint64_t bins[2] = { 5, 0 };
	size_t saturated;

	(void)state;
	assert_int_equal(expect_histogram(&region, hits, 7, bins, &saturated),
	                 4);
	assert_int_equal(bins[0], 35);
	assert_int_equal(bins[1], 65535);
	assert_int_equal(saturated, 1);
}

static const struct expect_terms exact = { .period_ns = 10, .clocks = 1,
	                                   .is_fair = true,
	                                   .sees_kernel = true };

static void one_thread(void **state)
{
	const struct expect_work works[] = {
		{ 0, 0, 100, 0 }, { 0, 0, 50, 0 }, { 0, 1, 5, 0 },
	};
	struct expect e;

	(void)state;
	expect_program(works, 3, &exact, &e);
	assert_int_equal(e.total, 155);
	assert_int_equal(e.unattributed.low, 0);
	assert_int_equal(e.unattributed.high, 10);
	assert_int_equal(e.sampled.low, 145);
	assert_int_equal(e.sampled.high, 155);
	/* 100 and 50 are one stretch */
	assert_int_equal(e.function[0].low, 140);
	assert_int_equal(e.function[0].high, 155);
	assert_int_equal(e.function[1].low, 0);
	assert_int_equal(e.function[1].high, 15);
	assert_int_equal(e.function[2].high, 0);
	assert_int_equal(e.samples.low, 14);
	assert_int_equal(e.samples.high, 16);
}

static void many_threads_and_no_fairness(void **state)
{
	const struct expect_work works[] = { { 0, 0, 100, 0 },
		                             { 3, 1, 40, 0 } };
	struct expect_terms terms = exact;
	struct expect e;

	(void)state;
	expect_program(works, 2, &terms, &e);
	assert_int_equal(e.unattributed.high, 20);
	assert_int_equal(e.thread[3].low, 30);
	assert_int_equal(e.thread[3].high, 40);
	terms.is_fair = false;
	expect_program(works, 2, &terms, &e);
	assert_int_equal(e.total, 140);
	assert_int_equal(e.unattributed.high, 140);
	assert_int_equal(e.thread[3].low, 0);
	assert_int_equal(e.thread[3].high, 40);
	assert_int_equal(e.function[1].low, 0);
	assert_int_equal(e.function[2].high, 0);
	/* one busy thread is always seen */
	expect_program(works, 1, &terms, &e);
	assert_int_equal(e.unattributed.high, 10);
}

static void ticks_and_silence_in_the_kernel(void **state)
{
	const struct expect_work works[] = { { 0, 0, 200, 60 } };
	struct expect_terms terms = exact;
	struct expect e;

	(void)state;
	terms.tick_ns = 40;
	expect_program(works, 1, &terms, &e);
	assert_int_equal(e.unattributed.high, 50);
	terms.spread_ns = 5;
	expect_program(works, 1, &terms, &e);
	assert_int_equal(e.unattributed.high, 55);
	terms.spread_ns = 0;
	terms.sees_kernel = false;
	expect_program(works, 1, &terms, &e);
	assert_int_equal(e.unattributed.high, 110);
	terms.slack_ns = 7;
	expect_program(works, 1, &terms, &e);
	assert_int_equal(e.unattributed.high, 117);
	assert_int_equal(e.sampled.low, 83);
	assert_int_equal(e.sampled.high, 207);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bins_are_those_of_kernels_and_manuals),
		cmocka_unit_test(histogram_saturates_and_counts_outside),
		cmocka_unit_test(one_thread),
		cmocka_unit_test(many_threads_and_no_fairness),
		cmocka_unit_test(ticks_and_silence_in_the_kernel),
	};

	return cmocka_run_group_tests_name("expect", tests, NULL, NULL);
}
