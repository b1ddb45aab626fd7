/* SPDX-License-Identifier: MIT */
/* Sinks are checked when they are added, before anything is kept. */

#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/core/session_config.h"

static uint64_t bins[64];

static portprof_status add(portprof_config *config,
                           const portprof_range *regions, size_t count)
{
	return portprof_config_add_histogram(config, 0, regions, count,
	                                     PORTPROF_BINS_TICKS);
}

/* One wrong thing each; the rest is right. */
static void wrong_ranges_are_refused(void **state)
{
	static const struct {
		portprof_range region;
		const char *words;
	} cases[] = {
		{ { 0x1000, 1, 32, bins, 8 }, "scale must be 2 to 131072" },
		{ { 0x1000, 131073, 32, bins, 8 }, "scale must be" },
		{ { 0x1000, 65536, 8, bins, 8 }, "bin_bits must be" },
		{ { 0x1000, 65536, 33, bins, 8 }, "bin_bits must be" },
		{ { 0x1000, 65536, 0, bins, 8 }, "bin_bits must be" },
		{ { 0x1000, 65536, 32, NULL, 8 }, "bins is NULL" },
		{ { 0x1000, 65536, 32, (char *)bins + 2, 8 }, "not aligned" },
		{ { 0x1000, 65536, 64, (char *)bins + 4, 8 }, "not aligned" },
		{ { 0x1000, 65536, 16, (char *)bins + 1, 8 }, "not aligned" },
		{ { 0x1000, 65536, 32, bins, 0 }, "bin_count is 0" },
		{ { 0x1000, 65536, 64, bins, SIZE_MAX / 4 }, "too large" },
		{ { 0x1000, 131072, 16, bins, SIZE_MAX / 2 }, "too large" },
		{ { UINT64_MAX - 6, 65536, 16, bins, 4 }, "beyond the" },
	};
	portprof_config *config = portprof_config_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		portprof_range both[2] = { { 0x100, 65536, 16, bins, 4 },
			                    cases[i].region };

		assert_int_equal(add(config, both, 2), PORTPROF_E_INVALID);
		if (!strstr(portprof_last_diag()->words, cases[i].words) ||
		    !strstr(portprof_last_diag()->words, "range 1:"))
			fail_msg("case %zu: %s", i,
			         portprof_last_diag()->words);
		assert_int_equal(config->sink_count, 0);
	}
	portprof_config_free(config);
}

static void the_limits_themselves_are_right(void **state)
{
	const portprof_range cases[] = {
		{ 0x1000, 2, 16, bins, 1 },
		{ 0x1000, 131072, 64, bins, 64 },
		{ 0, 65536, 16, (char *)bins + 2, 1 },
		{ UINT64_MAX - 9, 65536, 16, bins, 4 },
	};
	portprof_config *config = portprof_config_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (add(config, &cases[i], 1))
			fail_msg("case %zu: %s", i,
			         portprof_last_diag()->words);
	portprof_config_free(config);
}

/* The message numbers ranges as the caller did, not as they are sorted. */
static void overlap_is_told_by_the_callers_numbers(void **state)
{
	portprof_range regions[] = {
		{ 0x3000, 65536, 16, bins, 8 },
		{ 0x1000, 65536, 16, bins, 8 }, /* to 0x1010 */
		{ 0x2000, 65536, 16, bins, 8 },
		{ 0x100f, 65536, 16, bins, 8 },
	};
	portprof_config *config = portprof_config_new();

	(void)state;
	assert_int_equal(add(config, regions, 4), PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "ranges 1 and 3 overlap at 0x100f"));
	regions[3].offset = 0x1010;
	assert_int_equal(add(config, regions, 4), PORTPROF_OK);
	assert_int_equal(config->sinks[0].range_count, 4);
	assert_int_equal(config->sinks[0].ranges[0].offset, 0x1000);
	assert_int_equal(config->sinks[0].ranges[3].offset, 0x3000);
	regions[1] = regions[2];
	assert_int_equal(add(config, regions, 4), PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "ranges 1 and 2 overlap at 0x2000"));
	assert_int_equal(config->sink_count, 1);
	portprof_config_free(config);
}

/* It would be a histogram of all whose values are lost. */
static void sets_without_values_of_their_own_are_refused(void **state)
{
	const portprof_label other[] = { { "tenant", "a" },
		                         { "endpoint", "(other)" } };
	const portprof_range range = { 0x1000, 65536, 32, bins, 8 };
	portprof_config *config = portprof_config_new();

	(void)state;
	assert_int_equal(portprof_config_add_label_histogram(
				 config, 0, &range, 1, PORTPROF_BINS_TICKS,
				 portprof_label_set_new(other, 2)),
	                 PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words, "endpoint"));
	assert_int_equal(portprof_config_add_label_histogram(
				 config, 0, &range, 1, PORTPROF_BINS_TICKS,
				 NULL),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_add_label_histogram(
				 config, 0, &range, 1, PORTPROF_BINS_TICKS,
				 portprof_label_set_new(other, 1)),
	                 PORTPROF_OK);
	portprof_config_free(config);
}

static void arrays_are_checked(void **state)
{
	portprof_config *config = portprof_config_new();

	(void)state;
	assert_int_equal(portprof_config_add_array(config, bins, 0),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_add_array(config, bins,
	                                           SIZE_MAX / 8 + 1),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_add_array(
				 config, (uint64_t *)((char *)bins + 4), 4),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_add_array(config, bins, 64),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_write_to(config, ""),
	                 PORTPROF_E_INVALID);
	assert_int_equal(config->sink_count, 1);
	portprof_config_free(config);
}

static void sixteen_sinks_and_no_more(void **state)
{
	portprof_config *config = portprof_config_new(), *copy;

	(void)state;
	for (int i = 0; i < PORTPROF_SINKS_MAX; i++)
		assert_int_equal(portprof_config_write_to(config, "file"),
		                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_array(config, bins, 4),
	                 PORTPROF_E_LIMIT);
	assert_int_equal(portprof_config_write_to(config, "file"),
	                 PORTPROF_E_LIMIT);
	assert_int_equal(portprof_config_set(config, "output", "file"),
	                 PORTPROF_E_LIMIT);
	copy = ppi_config_copy(config);
	assert_non_null(copy);
	assert_int_equal(copy->sink_count, PORTPROF_SINKS_MAX);
	assert_ptr_not_equal(copy->sinks[0].path, config->sinks[0].path);
	portprof_config_free(copy);
	portprof_config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_ranges_are_refused),
		cmocka_unit_test(the_limits_themselves_are_right),
		cmocka_unit_test(overlap_is_told_by_the_callers_numbers),
		cmocka_unit_test(sets_without_values_of_their_own_are_refused),
		cmocka_unit_test(arrays_are_checked),
		cmocka_unit_test(sixteen_sinks_and_no_more),
	};

	return cmocka_run_group_tests_name("config_sinks", tests, NULL, NULL);
}
