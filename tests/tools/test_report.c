/* SPDX-License-Identifier: MIT */
/* Rows, sums, text and JSON of a report, from a profile made by hand. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_profile.h"
#include "tools/report/report.h"
#include "tools/view/names.h"

#define MS UINT64_C(1000000)

/*
 * Two threads, one of them with call chains:
 *   thread 11 "main":   hot <- middle <- main    30 ms, 30 samples
 *                       hot <- hot <- main       10 ms (hot calls itself)
 *                       middle <- main            5 ms
 *   thread 12 "worker": hot (in another module)   3 ms
 * The event's total is 50 ms: 2 ms have no sample.
 */
enum { HOT, MIDDLE, MAIN, HOT_CALLER, OTHER_HOT };

static const portprof_profile_mapping mappings[] = {
	{ 0x1000, 0x2000, 0, "/usr/bin/app", "" },
	{ 0x8000, 0x9000, 0, "/lib/libx.so", "" },
};

static const portprof_profile_location locations[] = {
	{ 0x1010, 0, "hot", "", 0 },
	{ 0x1110, 0, "middle", "", 0 },
	{ 0x1210, 0, "main", "", 0 },
	{ 0x1018, 0, "hot", "", 0 },
	{ 0x8010, 1, "hot", "", 0 },
};

static const uint32_t chain_a[] = { HOT, MIDDLE, MAIN };
static const uint32_t chain_b[] = { HOT, HOT_CALLER, MAIN };
static const uint32_t chain_c[] = { MIDDLE, MAIN };
static const uint32_t chain_d[] = { OTHER_HOT };
static const uint64_t w30[] = { 30 * MS, 7 }, w10[] = { 10 * MS, 0 },
		      w5[] = { 5 * MS, 0 }, w3[] = { 3 * MS, 2 };
static const uint64_t n30[] = { 30, 7 }, n10[] = { 10, 0 }, n5[] = { 5, 0 },
		      n3[] = { 3, 2 };

static const portprof_profile_sample samples[] = {
	{ chain_a, 3, 10, 11, n30, w30, 0, "" },
	{ chain_b, 3, 10, 11, n10, w10, 0, "" },
	{ chain_c, 2, 10, 11, n5, w5, 0, "" },
	{ chain_d, 1, 10, 12, n3, w3, 0, "" },
};

static const portprof_profile_thread threads[] = {
	{ 10, 11, "main", -1, 0 },
	{ 10, 12, "wor\"ker\xff", -1, 0 },
};

static const portprof_profile_event events[] = {
	{ .name = "task-clock:u",
	  .asked = "cpu-clock:u",
	  .description = "CPU time in user mode",
	  .unit = PORTPROF_UNIT_NANOSECONDS,
	  .has_stats = 1,
	  .stats = { .size = sizeof(portprof_stats),
	             .delivered_samples = 49,
	             .kept_samples = 48,
	             .lost_samples = 1,
	             .lost_certainty = PORTPROF_EXACT,
	             .total_weight = 50 * MS,
	             .kept_weight = 48 * MS,
	             .unattributed_weight = 2 * MS,
	             .cpu_time_ns = 51 * MS,
	             .requested_hz = 1000,
	             .granted_hz = 250,
	             .achieved_hz = 249.66 } },
	{ .name = "page-faults",
	  .asked = "",
	  .description = "",
	  .unit = PORTPROF_UNIT_COUNT },
};

static const char *const better[] = { "perf" };
static const char *const reasons[] = { "not permitted here" };

static portprof_profile profile = {
	.origin = { .backend = "timer",
	            .passed_over_count = 1,
	            .passed_over_names = better,
	            .passed_over_reasons = reasons,
	            .command = "app",
	            .duration_ns = 60 * MS,
	            .is_complete = 1 },
	.events = events,
	.event_count = 2,
	.mappings = mappings,
	.mapping_count = 2,
	.locations = locations,
	.location_count = 5,
	.samples = samples,
	.sample_count = 4,
	.threads = threads,
	.thread_count = 2,
};

static struct ppi_symbols *symbols;
static struct ppi_symbols_name *names;

static int set_up(void **state)
{
	(void)state;
	symbols = ppi_symbols_new(0);
	names = ppi_name_locations(&profile, symbols);
	return names ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(names);
	ppi_symbols_free(symbols);
	return 0;
}

static void build(size_t event, unsigned keys, struct ppi_rows *rows)
{
	const struct ppi_view view = { .profile = &profile, .names = names,
		                       .event = event };

	assert_true(ppi_rows_fold(&view, keys, rows));
}

static void functions_are_told_apart_by_module(void **state)
{
	struct ppi_rows rows;

	(void)state;
	build(0, PPI_BY_FUNCTION | PPI_BY_MODULE, &rows);
	assert_int_equal(rows.count, 4);
	assert_string_equal(rows.rows[0].function, "hot");
	assert_string_equal(rows.rows[0].module, "app");
	assert_string_equal(rows.rows[0].path, "/usr/bin/app");
	assert_int_equal(rows.rows[0].self_weight, 40 * MS);
	assert_int_equal(rows.rows[0].samples, 40);
	assert_string_equal(rows.rows[1].function, "middle");
	assert_int_equal(rows.rows[1].self_weight, 5 * MS);
	assert_string_equal(rows.rows[2].function, "hot");
	assert_string_equal(rows.rows[2].module, "libx.so");
	assert_int_equal(rows.weight, 48 * MS);
	assert_int_equal(rows.samples, 48);
	ppi_rows_free(&rows);
}

static void a_chain_counts_once_for_each_function(void **state)
{
	struct ppi_rows rows;

	(void)state;
	build(0, PPI_BY_FUNCTION | PPI_BY_MODULE, &rows);
	assert_true(rows.has_chains);
	/* hot called itself: still 40, not 50 */
	assert_int_equal(rows.rows[0].total_weight, 40 * MS);
	assert_int_equal(rows.rows[1].total_weight, 35 * MS);
	assert_string_equal(rows.rows[3].function, "main");
	assert_int_equal(rows.rows[3].self_weight, 0);
	assert_int_equal(rows.rows[3].total_weight, 45 * MS);
	ppi_rows_free(&rows);
}

static void threads_and_modules_and_addresses(void **state)
{
	struct ppi_rows rows;

	(void)state;
	build(0, PPI_BY_THREAD | PPI_BY_PROCESS, &rows);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.rows[0].tid, 11);
	assert_string_equal(rows.rows[0].thread, "main");
	assert_int_equal(rows.rows[0].self_weight, 45 * MS);
	assert_int_equal(rows.rows[1].samples, 3);
	ppi_rows_free(&rows);
	build(0, PPI_BY_MODULE, &rows);
	assert_int_equal(rows.count, 2);
	assert_string_equal(rows.rows[0].module, "app");
	assert_int_equal(rows.rows[0].self_weight, 45 * MS);
	ppi_rows_free(&rows);
	build(0, PPI_BY_ADDRESS | PPI_BY_FUNCTION | PPI_BY_MODULE, &rows);
	assert_int_equal(rows.count, 5); /* hot is at two addresses of app */
	ppi_rows_free(&rows);
}

static void each_event_has_rows_of_its_own(void **state)
{
	struct ppi_rows rows;

	(void)state;
	build(1, PPI_BY_FUNCTION | PPI_BY_MODULE, &rows);
	assert_int_equal(rows.weight, 9);
	assert_string_equal(rows.rows[0].module, "app");
	assert_int_equal(rows.rows[0].self_weight, 7);
	assert_int_equal(rows.rows[1].self_weight, 2);
	ppi_rows_free(&rows);
}

static struct ppi_report report_of(size_t event)
{
	return (struct ppi_report){
		.path = "x.pb.gz",
		.profile = &profile,
		.symbols = symbols,
		.names = names,
		.event = event,
		.keys = PPI_BY_FUNCTION | PPI_BY_MODULE,
	};
}

static void parts_make_the_total(void **state)
{
	struct ppi_report report = report_of(0);

	(void)state;
	ppi_report_sum(&report, 48 * MS);
	assert_int_equal(report.total, 50 * MS);
	assert_int_equal(report.unattributed, 2 * MS);
	/* more samples than the account knows: the file was cut */
	ppi_report_sum(&report, 55 * MS);
	assert_int_equal(report.total, 55 * MS);
	assert_int_equal(report.unattributed, 0);
	/* another writer's: the samples are all there is */
	report.event = 1;
	ppi_report_sum(&report, 9);
	assert_int_equal(report.total, 9);
	assert_int_equal(report.unattributed, 0);
}

static void words_for_sorting(void **state)
{
	const char *unknown = NULL, *label;

	(void)state;
	assert_int_equal(ppi_rows_keys("module", &label, &unknown),
	                 PPI_BY_MODULE);
	assert_null(label);
	assert_int_equal(ppi_rows_keys("module,thread", &label, &unknown),
	                 PPI_BY_MODULE | PPI_BY_THREAD | PPI_BY_PROCESS);
	assert_int_equal(ppi_rows_keys("module,threads", &label, &unknown), 0);
	assert_string_equal(unknown, "threads");
	assert_int_equal(ppi_rows_keys("", &label, &unknown), 0);
	assert_int_equal(ppi_rows_keys("label:latency,comm", &label, &unknown),
	                 PPI_BY_LABEL | PPI_BY_COMM);
	assert_string_equal(label, "latency,comm");
	assert_int_equal(ppi_rows_keys("label:", &label, &unknown), 0);
	assert_int_equal(ppi_rows_keys("label:a,label:b", &label, &unknown), 0);
	assert_string_equal(unknown, "label:b");
}

/* What print writes, as a string to be freed. */
static char *printed(struct ppi_report *report, bool is_json)
{
	struct ppi_rows functions, by_thread;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	build(report->event, report->keys, &functions);
	build(report->event, PPI_BY_THREAD | PPI_BY_PROCESS, &by_thread);
	ppi_report_sum(report, functions.weight);
	if (is_json) {
		assert_true(ppi_report_print_json(report, &functions,
		                                  &by_thread, out));
	} else {
		ppi_report_print_header(report, out);
		ppi_report_print_rows(report, &functions, out);
	}
	fclose(out);
	ppi_rows_free(&functions);
	ppi_rows_free(&by_thread);
	return text;
}

static void assert_line(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no \"%s\" in:\n%s", line, text);
}

static void text_has_account_and_rows(void **state)
{
	struct ppi_report report = report_of(0);
	char *text = printed(&report, false);

	(void)state;
	assert_line(text, "backend       timer\n");
	assert_line(text, "passed over   perf: not permitted here\n");
	assert_line(text, "event         task-clock:u (asked as cpu-clock:u): "
	                  "CPU time in user mode\n");
	assert_line(text, "rate          1000 Hz asked, 250 Hz granted, "
	                  "249.7 Hz achieved\n");
	assert_line(text, "CPU time      51.000 ms in 60.000 ms\n");
	assert_line(text, "samples       48 kept, 1 lost\n");
	assert_line(text, "total         50.000 ms: 48.000 ms in samples, "
	                  "0.000 ms outside, 2.000 ms unattributed (4.0 %)\n");
	assert_line(text, "   40.000 ms   80.0%    40.000 ms   80.0%        40 "
	                  " app      hot\n");
	assert_line(text, "    0.000 ms    0.0%    45.000 ms   90.0%         0 "
	                  " app      main\n");
	assert_line(text, "    2.000 ms    4.0%            -       -         - "
	                  "          (unattributed)\n");
	free(text);
}

/* task-clock counts while a hypervisor has taken the CPU; wait4 does not. */
static void more_than_was_charged_is_told(void **state)
{
	portprof_profile_event charged = events[0];
	portprof_profile other = profile;
	struct ppi_report report = report_of(0);
	char *text;

	(void)state;
	other.events = &charged;
	report.profile = &other;
	charged.stats.cpu_time_ns = 50 * MS; /* as much as was counted */
	text = printed(&report, false);
	assert_null(strstr(text, "more than the system charged"));
	free(text);
	charged.stats.cpu_time_ns = 40 * MS;
	text = printed(&report, false);
	assert_line(text, "10.000 ms (25.0 %) more than the system charged: ");
	free(text);
}

/* What a higher rate would find, where the kernel grants one. */
static void much_that_is_missing_has_a_remedy(void **state)
{
	portprof_profile_event missing = events[0];
	portprof_profile changed = profile;
	struct ppi_report report = report_of(0);
	char *text;

	(void)state;
	missing.description = "CPU time, 100 times a second";
	missing.stats.requested_hz = missing.stats.granted_hz = 100;
	missing.stats.lost_samples = 0;
	missing.stats.total_weight = 60 * MS;
	missing.stats.unattributed_weight = 12 * MS;
	changed.events = &missing;
	changed.event_count = 1;
	report.profile = &changed;
	text = printed(&report, false);
	assert_line(text, "before their next sample: a higher rate, such as "
	                  "record -F 4000, finds more\n");
	assert_line(text, "): CPU time\n");
	free(text);
	missing.stats.requested_hz = 1000;
	text = printed(&report, false);
	assert_null(strstr(text, "a higher rate"));
	free(text);
	missing.stats.requested_hz = 100;
	missing.stats.unattributed_weight = 2 * MS;
	missing.stats.total_weight = 50 * MS;
	text = printed(&report, false);
	assert_null(strstr(text, "a higher rate"));
	free(text);
}

/* Samples of CPUs that are further from what was charged than chance leads. */
static void a_bias_of_estimates_is_told(void **state)
{
	static const char *const notes[] = {
		PORTPROF_NOTE_ESTIMATES "weights are estimates",
	};
	portprof_profile_event estimate = events[0];
	portprof_profile changed = profile;
	struct ppi_report report = report_of(0);
	char *text;

	(void)state;
	estimate.stats.lost_samples = 0;
	estimate.stats.total_weight = 60 * MS;
	estimate.stats.unattributed_weight = 12 * MS;
	estimate.stats.standard_error = 2 * MS;
	changed.events = &estimate;
	changed.event_count = 1;
	changed.origin.notes = notes;
	changed.origin.note_count = 1;
	report.profile = &changed;
	text = printed(&report, false);
	assert_line(text, "samples have 20.0 % less than was charged");
	assert_line(text, "--no-estimates");
	free(text);
	estimate.stats.standard_error = 3 * MS;
	text = printed(&report, false);
	assert_line(text, "a standard error of 3.000 ms");
	assert_null(strstr(text, "than was charged"));
	free(text);
}

/* Within twice its error a gap of estimates is none, on either side. */
static void noise_is_no_gap(void **state)
{
	portprof_profile_event estimate = events[0];
	portprof_profile changed = profile;
	struct ppi_report report = report_of(0);
	char *text;

	(void)state;
	estimate.stats.standard_error = 2 * MS;
	changed.events = &estimate;
	changed.event_count = 1;
	report.profile = &changed;
	report.is_short = true;
	for (uint64_t total = 46 * MS; total <= 52 * MS; total += 2 * MS) {
		estimate.stats.total_weight = total;
		text = printed(&report, false);
		assert_line(text, "0 ± 2.000 ms unattributed");
		assert_line(text, "    0.000 ms    0.0%            -       -  "
		                  "       -           (unattributed, ± 2.000 "
		                  "ms)\n");
		assert_null(strstr(text, "-0."));
		free(text);
	}
	estimate.stats.total_weight = 60 * MS;
	text = printed(&report, false);
	assert_line(text, "12.000 ms unattributed (20.0 %)");
	free(text);
}

/* What the interval of few samples is was computed by hand:
 * (0.1 + z^2/20 +- z sqrt(0.009 + z^2/400)) / (1 + z^2/10) of 10 samples. */
static void few_samples_are_worth_what_they_are(void **state)
{
	double low, high;

	(void)state;
	ppi_share_range(0.1, 10, &low, &high);
	assert_float_equal(low, 0.0179, 0.0005);
	assert_float_equal(high, 0.4042, 0.0005);
	ppi_share_range(0, 10, &low, &high);
	assert_float_equal(low, 0, 0.0005);
	ppi_share_range(1, 0, &low, &high);
	assert_float_equal(high, 1, 0.0005);
}

static void rows_beyond_the_limit_are_summed(void **state)
{
	struct ppi_report report = report_of(0);
	char *text;

	(void)state;
	report.row_limit = 1;
	text = printed(&report, false);
	assert_line(text, "    8.000 ms   16.0%            -       -         8 "
	                  "         (3 more; -n 0 shows all)\n");
	assert_null(strstr(text, "libx"));
	free(text);
}

static void damage_is_told_first(void **state)
{
	struct ppi_report report = report_of(0);
	char *text;

	(void)state;
	profile.origin.damage = "the last portion is missing";
	text = printed(&report, false);
	profile.origin.damage = NULL;
	assert_line(text, "x.pb.gz: app\n  DAMAGED       the last portion is "
	                  "missing\n");
	free(text);
	profile.origin.is_complete = 0;
	text = printed(&report, false);
	profile.origin.is_complete = 1;
	assert_line(text, "  INCOMPLETE    the recording was cut short");
	free(text);
}

/* That it is JSON is held by check-report.sh, with another reader. */
static void json_has_every_key(void **state)
{
	static const char *const lines[] = {
		"\n \"schema\": 1,",
		"\n \"damage\": null,",
		"\n \"complete\": true,",
		"\n \"backend\": ",
		"\"reason\": \"not permitted here\"",
		"\n \"event\": ",
		"\n \"unit\": \"nanoseconds\",",
		"\"granted\": 250,",
		"\n \"cpu_time_ns\": ",
		"\n \"total_weight\": 50000000,",
		"\n \"samples\": 48,",
		"\n \"lost\": 1,",
		"\n \"outside\": ",
		"\n \"unattributed\": 2000000,",
		"\n \"functions\": [\n  {\"name\": \"hot\", \"module\": \"app\", ",
		"\"self_weight\": 40000000, \"total_weight\": 40000000, "
		"\"samples\": 40, ",
		"\n \"threads\": [\n  {",
		"\"tid\": 12, \"name\": \"wor\\\"ker\\ufffd\", "
		"\"weight\": 3000000, ",
	};
	struct ppi_report report = report_of(0);
	char *text = printed(&report, true);

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_line(text, lines[i]);
	free(text);
}

static void json_says_null_for_unknown(void **state)
{
	struct ppi_report report = report_of(1);
	char *text = printed(&report, true);

	(void)state;
	assert_line(text, "\n \"unit\": \"count\",");
	assert_line(text, "\n \"cpu_time_ns\": null,");
	assert_line(text, "\n \"lost\": null,");
	assert_line(text, "\"granted\": null,");
	assert_line(text, "\n \"total_weight\": 9,");
	assert_line(text, "\n \"samples\": 9,");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_told_apart_by_module),
		cmocka_unit_test(a_chain_counts_once_for_each_function),
		cmocka_unit_test(threads_and_modules_and_addresses),
		cmocka_unit_test(each_event_has_rows_of_its_own),
		cmocka_unit_test(parts_make_the_total),
		cmocka_unit_test(words_for_sorting),
		cmocka_unit_test(text_has_account_and_rows),
		cmocka_unit_test(more_than_was_charged_is_told),
		cmocka_unit_test(much_that_is_missing_has_a_remedy),
		cmocka_unit_test(a_bias_of_estimates_is_told),
		cmocka_unit_test(noise_is_no_gap),
		cmocka_unit_test(few_samples_are_worth_what_they_are),
		cmocka_unit_test(rows_beyond_the_limit_are_summed),
		cmocka_unit_test(damage_is_told_first),
		cmocka_unit_test(json_has_every_key),
		cmocka_unit_test(json_says_null_for_unknown),
	};

	setenv("COLUMNS", "2000", 1); /* no line is broken */
	return cmocka_run_group_tests_name("report", tests, set_up, tear_down);
}
