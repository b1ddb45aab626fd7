/* SPDX-License-Identifier: MIT */
/* The arithmetic of portprof stat: scaling, means, what goes with what. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "tools/stat/stat.h"

/* ---- readings ---- */

static struct ppi_stat_value between(uint64_t raw, uint64_t enabled,
                                     uint64_t running)
{
	const portprof_count before = { .raw = 1000, .scaled = 1000,
		                        .enabled_ns = 500, .running_ns = 500,
		                        .status = PORTPROF_COUNT_OK };
	const portprof_count after = { .raw = 1000 + raw,
		                       .enabled_ns = 500 + enabled,
		                       .running_ns = 500 + running,
		                       .status = PORTPROF_COUNT_SCALED };

	return ppi_stat_between(&before, &after);
}

static void counted_all_the_time(void **state)
{
	struct ppi_stat_value value = between(12345, 100, 100);

	(void)state;
	assert_int_equal(value.status, PORTPROF_COUNT_OK);
	assert_int_equal(value.exact, 12345);
	assert_true(value.value == 12345);
}

/* Far beyond what 64 bits or a double could do: the numbers have no common
 * divisor to shorten by. */
static void scaled_in_full_precision(void **state)
{
	struct ppi_stat_value value =
		between(1000000000000000003u, 3000000001u, 1000000001u);

	(void)state;
	assert_int_equal(value.status, PORTPROF_COUNT_SCALED);
	assert_int_equal(value.raw, 1000000000000000003u);
	/* 1000000000000000003 * 3000000001 / 1000000001, by hand in 128 bits:
	 * 3 - 2/1000000001 times as much */
	assert_int_equal(value.exact, 2999999998000000010u);
	assert_int_equal(between(UINT64_MAX - 1000, 1000, 10).exact,
	                 UINT64_MAX);
}

static void what_was_not_counted_is_no_number(void **state)
{
	struct ppi_stat_value idle = between(0, 0, 0);
	struct ppi_stat_value never = between(0, 100, 0);
	portprof_count ok = { .status = PORTPROF_COUNT_OK }, bad = ok;
	struct ppi_stat_value value;

	(void)state;
	assert_int_equal(idle.status, PPI_STAT_IDLE);
	assert_false(ppi_stat_is_number(&idle));
	assert_int_equal(never.status, PORTPROF_COUNT_NEVER_RAN);
	assert_false(ppi_stat_is_number(&never));
	for (uint64_t status = PORTPROF_COUNT_NEVER_RAN;
	     status <= PORTPROF_COUNT_REFUSED; status++) {
		bad.status = status;
		value = ppi_stat_between(&ok, &bad);
		assert_int_equal(value.status, status);
		assert_false(ppi_stat_is_number(&value));
	}
}

/* ---- runs ---- */

static void add(struct ppi_stat_sum *sum, double number)
{
	struct ppi_stat_value value = { .value = number };

	ppi_stat_sum_add(sum, &value);
}

static void mean_and_deviation(void **state)
{
	/* mean 5, squares of distances 32, of 8 */
	static const double numbers[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct ppi_stat_sum sum = { .runs = 0 };

	(void)state;
	for (size_t i = 0; i < 8; i++)
		add(&sum, numbers[i]);
	assert_true(fabs(sum.mean - 5) < 1e-12);
	assert_true(fabs(ppi_stat_deviation(&sum) - sqrt(32.0 / 7)) < 1e-12);
	assert_true(fabs(ppi_stat_error(&sum) - sqrt(32.0 / 7 / 8)) < 1e-12);
	assert_true(sum.least == 2 && sum.most == 9);
}

/* Where a sum of squares minus a square of sums has no digit left. */
static void large_numbers_that_differ_little(void **state)
{
	struct ppi_stat_sum sum = { .runs = 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		add(&sum, 1e15 + i % 2);
	assert_true(fabs(ppi_stat_deviation(&sum) - 0.5002501876563868) <
	            1e-6);
}

static void one_run_has_no_deviation(void **state)
{
	struct ppi_stat_sum sum = { .runs = 0 };

	(void)state;
	add(&sum, 7);
	assert_true(isnan(ppi_stat_deviation(&sum)));
	assert_true(isnan(ppi_stat_error(&sum)));
}

/* A run in which it was not counted is none of the mean's, and is told. */
static void runs_without_a_number(void **state)
{
	struct ppi_stat_value never = { .status = PORTPROF_COUNT_NEVER_RAN };
	struct ppi_stat_sum sum = { .runs = 0 };

	(void)state;
	add(&sum, 10);
	ppi_stat_sum_add(&sum, &never);
	add(&sum, 20);
	assert_int_equal(sum.runs, 2);
	assert_true(sum.mean == 15);
	assert_int_equal(sum.status, PORTPROF_COUNT_NEVER_RAN);
}

/* ---- metrics ---- */

static struct ppi_stat_event events[4];
static struct ppi_stat_group groups[2];
static struct ppi_stat_value values[4];
static struct ppi_stat stat = { .events = events, .groups = groups,
	                        .group_count = 2 };

static void put(size_t index, size_t group, const char *name, double number)
{
	struct ppi_stat_event *event = &events[index];

	memset(event, 0, sizeof(*event));
	snprintf(event->canonical, sizeof(event->canonical), "%s",
	         name);
	event->info.unit = strstr(name, "clock") ? PORTPROF_UNIT_NANOSECONDS
	                                         : PORTPROF_UNIT_COUNT;
	event->info.counts_user = 1;
	event->info.counts_kernel = strchr(name, ':') == NULL;
	event->group = group;
	if (groups[group].count++ == 0)
		groups[group].first = index;
	values[index] = (struct ppi_stat_value){ .value = number };
	stat.event_count = index + 1;
}

static int no_events(void **state)
{
	(void)state;
	memset(groups, 0, sizeof(groups));
	return 0;
}

static struct ppi_stat_metric metric(size_t index)
{
	return ppi_stat_metric(&stat, values, index, 1000000000);
}

static void instructions_per_cycle(void **state)
{
	(void)state;
	put(0, 0, "cycles:u", 1000);
	put(1, 0, "instructions:u", 2500);
	assert_true(metric(1).value == 2.5);
	assert_string_equal(metric(1).unit, "instructions per cycle");
	/* not counted: unknown, and that is told */
	values[0].status = PORTPROF_COUNT_NEVER_RAN;
	assert_string_equal(metric(1).unit, "instructions per cycle");
	assert_true(isnan(metric(1).value));
}

/* Two events of one group, and what they are to each other. */
static void presets_are_groups(void **state)
{
	struct ppi_stat chosen = {
		.options.events = {
			.list = { "ipc:u,{page-faults,branch-miss-rate}",
			          "CPI" },
			.count = 2,
		},
	};
	static const char *const asked[] = {
		"instructions:u", "cycles:u", "page-faults", "branch-misses",
		"branches", "cycles", "instructions",
	};
	static const size_t group[] = { 0, 0, 1, 1, 1, 2, 2 };
	const struct ppi_stat_value counted[7] = {
		{ .value = 300 }, { .value = 200 }, { .value = 1 },
		{ .value = 5 }, { .value = 40 }, { .value = 700 },
		{ .status = PORTPROF_COUNT_NEVER_RAN },
	};
	struct ppi_stat_metric metric;

	(void)state;
	assert_true(ppi_stat_choose(&chosen));
	assert_int_equal(chosen.event_count, 7);
	assert_int_equal(chosen.group_count, 3);
	for (size_t i = 0; i < 7; i++) {
		assert_string_equal(chosen.events[i].asked, asked[i]);
		assert_int_equal(chosen.events[i].group, group[i]);
	}
	metric = ppi_stat_metric(&chosen, counted, 0, 1000);
	assert_string_equal(metric.unit, "instructions per cycle");
	assert_true(metric.value == 1.5);
	metric = ppi_stat_metric(&chosen, counted, 3, 1000);
	assert_string_equal(metric.unit, "% of branches");
	assert_true(metric.value == 12.5);
	/* what was not counted stays unknown */
	metric = ppi_stat_metric(&chosen, counted, 5, 1000);
	assert_string_equal(metric.unit, "cycles per instruction");
	assert_true(isnan(metric.value));
	ppi_stat_free(&chosen);
}

/* As a CPU's own tables call them, with modifiers or none. */
static void names_of_the_cpu_are_related_too(void **state)
{
	(void)state;
	put(0, 0, "arm_ac57::CPU_CYCLES", 1000);
	put(1, 0, "arm_ac57::INST_RETIRED", 500);
	put(2, 0, "arm_ac57::L1D_CACHE_REFILL", 7);
	assert_true(metric(1).value == 0.5);
	assert_string_equal(metric(1).unit, "instructions per cycle");
	assert_true(metric(2).value == 14);
	assert_string_equal(metric(2).unit, "per 1000 instructions");
}

static void another_group_is_no_partner(void **state)
{
	(void)state;
	put(0, 0, "cycles:u", 1000);
	put(1, 1, "instructions:u", 2500);
	assert_null(metric(1).unit);
	/* nor is one that comes later */
	memset(groups, 0, sizeof(groups));
	put(0, 0, "instructions:u", 2500);
	put(1, 1, "cycles:u", 1000);
	assert_null(metric(0).unit);
}

static void another_privilege_level_is_no_partner(void **state)
{
	(void)state;
	put(0, 0, "cycles", 1000);
	put(1, 0, "instructions:u", 2500);
	assert_null(metric(1).unit);
}

static void shares_and_rates(void **state)
{
	(void)state;
	put(0, 0, "task-clock", 500e6);
	put(1, 0, "branches:u", 4e6);
	put(2, 0, "branch-misses:u", 1e6);
	put(3, 0, "cycles:u", 1.5e9);
	assert_true(metric(0).value == 0.5);
	assert_string_equal(metric(0).unit, "CPUs utilized");
	assert_true(fabs(metric(1).value - 8) < 1e-9);
	assert_string_equal(metric(1).unit, "M/sec");
	assert_true(metric(2).value == 25);
	assert_string_equal(metric(2).unit, "% of branches");
	assert_true(metric(3).value == 3);
	assert_string_equal(metric(3).unit, "GHz");
}

static void nothing_is_divided_by_nothing(void **state)
{
	(void)state;
	put(0, 0, "cycles:u", 0);
	put(1, 0, "instructions:u", 0);
	assert_true(isnan(metric(1).value));
}

/* ---- JSON ---- */

static void expect_json(struct ppi_json *json, char **text, const char *wanted)
{
	assert_true(ppi_json_end(json));
	fclose(json->out);
	assert_string_equal(*text, wanted);
	free(*text);
}

static void json_of_every_kind(void **state)
{
	struct ppi_json json;
	char *text;
	size_t bytes;

	(void)state;
	ppi_json_begin(&json, open_memstream(&text, &bytes), true);
	ppi_json_number(&json, "most", UINT64_MAX);
	ppi_json_signed(&json, "least", INT64_MIN);
	ppi_json_real(&json, "half", 0.5);
	ppi_json_real(&json, "none", NAN);
	ppi_json_real(&json, "endless", INFINITY);
	ppi_json_flag(&json, "yes", true);
	ppi_json_text(&json, "absent", NULL);
	ppi_json_array(&json, "list");
	ppi_json_close(&json);
	ppi_json_array(&json, "nested");
	ppi_json_object(&json, NULL);
	ppi_json_text(&json, "a", "b");
	ppi_json_close(&json);
	ppi_json_number(&json, NULL, 1);
	expect_json(&json, &text,
	            "{\"most\": 18446744073709551615, "
	            "\"least\": -9223372036854775808, \"half\": 0.5, "
	            "\"none\": null, \"endless\": null, \"yes\": true, "
	            "\"absent\": null, \"list\": [], "
	            "\"nested\": [{\"a\": \"b\"}, 1]}\n");
}

static void json_text_is_utf8(void **state)
{
	struct ppi_json json;
	char *text;
	size_t bytes;

	(void)state;
	ppi_json_begin(&json, open_memstream(&text, &bytes), true);
	ppi_json_array(&json, "t");
	ppi_json_text(&json, NULL, "q\"b\\n\n\t\x01\x7f");
	ppi_json_text(&json, NULL, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	/* too long a form, half a character, a surrogate, beyond Unicode */
	ppi_json_text(&json, NULL, "\xc0\xaf \xe2\x82 \xed\xa0\x80 "
	                           "\xf4\x90\x80\x80");
	expect_json(&json, &text,
	            "{\"t\": [\"q\\\"b\\\\n\\u000a\\u0009\\u0001\\u007f\", "
	            "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\", "
	            "\"\\ufffd\\ufffd \\ufffd\\ufffd "
	            "\\ufffd\\ufffd\\ufffd "
	            "\\ufffd\\ufffd\\ufffd\\ufffd\"]}\n");
}

#define METRIC(name) cmocka_unit_test_setup(name, no_events)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted_all_the_time),
		cmocka_unit_test(scaled_in_full_precision),
		cmocka_unit_test(what_was_not_counted_is_no_number),
		cmocka_unit_test(mean_and_deviation),
		cmocka_unit_test(large_numbers_that_differ_little),
		cmocka_unit_test(one_run_has_no_deviation),
		cmocka_unit_test(runs_without_a_number),
		METRIC(presets_are_groups),
		METRIC(instructions_per_cycle),
		METRIC(names_of_the_cpu_are_related_too),
		METRIC(another_group_is_no_partner),
		METRIC(another_privilege_level_is_no_partner),
		METRIC(shares_and_rates),
		METRIC(nothing_is_divided_by_nothing),
		cmocka_unit_test(json_of_every_kind),
		cmocka_unit_test(json_text_is_utf8),
	};

	return cmocka_run_group_tests_name("stat", tests, NULL, NULL);
}
