/* SPDX-License-Identifier: MIT */
/* What a report folds, filters and hands to programs, from a profile made by
 * hand whose sums are known. */
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
#include "tools/view/filter.h"
#include "tools/view/owners.h"

enum { BY_FUNCTION = PPI_BY_FUNCTION | PPI_BY_MODULE };

/*
 * leaf first: who      weight
 *   work <- drive <- main   40   thread 11
 *   work <- work <- drive   20   thread 11 (work calls itself)
 *   drive <- main           10   thread 12
 *   work <- main             7   thread 13
 *   work, alone              3   process 20, thread 21
 *   nowhere                  5   thread 11
 */
enum { WORK, WORK_CALL, DRIVE, MAIN, LIBRARY };

static const portprof_profile_mapping mappings[] = {
	{ 0x1000, 0x2000, 0, "/usr/bin/app", "" },
	{ 0x8000, 0x9000, 0, "/lib/libx,1.so", "" },
};

static const portprof_profile_location locations[] = {
	{ 0x1010, 0, "work", "/src/a.c", 10 },
	{ 0x1020, 0, "work", "/src/a.c", 12 },
	{ 0x1110, 0, "drive", "/src/a.c", 30 },
	{ 0x1210, 0, "main", "/src/b.c", 5 },
	{ 0x8010, 1, "say \"it\"(int, char)", "", 0 },
};

static const uint32_t chain_a[] = { WORK, DRIVE, MAIN };
static const uint32_t chain_b[] = { WORK, WORK_CALL, DRIVE };
static const uint32_t chain_c[] = { DRIVE, MAIN };
static const uint32_t chain_d[] = { LIBRARY, MAIN };
static const uint32_t chain_e[] = { WORK };
static const uint64_t w40[] = { 40 }, w20[] = { 20 }, w10[] = { 10 },
		      w7[] = { 7 }, w3[] = { 3 }, w5[] = { 5 };

static const portprof_profile_sample samples[] = {
	{ chain_a, 3, 10, 11, w40, w40, 0, "" },
	{ chain_b, 3, 10, 11, w20, w20, 0, "" },
	{ chain_c, 2, 10, 12, w10, w10, 0, "" },
	{ chain_d, 2, 10, 13, w7, w7, 0, "" },
	{ chain_e, 1, 20, 21, w3, w3, 0, "" },
	{ NULL, 0, 10, 11, w5, w5, 0, "" },
};

static const portprof_profile_thread threads[] = {
	{ 10, 11, "main", -1, 0 },
	{ 10, 12, "pool", -1, 0 },
	{ 10, 13, "pool", -1, 0 },
};

static const portprof_profile_event events[] = {
	{ .name = "page-faults",
	  .asked = "",
	  .description = "",
	  .unit = PORTPROF_UNIT_COUNT,
	  .has_stats = 1,
	  .stats = { .size = sizeof(portprof_stats),
	             .total_weight = 100,
	             .outside_weight = 4 } },
};

static portprof_profile profile = {
	.origin = { .backend = "perf", .command = "app", .is_complete = 1 },
	.events = events,
	.event_count = 1,
	.mappings = mappings,
	.mapping_count = 2,
	.locations = locations,
	.location_count = 5,
	.samples = samples,
	.sample_count = 6,
	.threads = threads,
	.thread_count = 3,
};

static struct ppi_symbols *symbols;
static struct ppi_symbols_name *names;
static struct ppi_view view = { .profile = &profile };

static int set_up(void **state)
{
	(void)state;
	symbols = ppi_symbols_new(0);
	names = ppi_name_locations(&profile, symbols);
	view.names = names;
	return names ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(names);
	ppi_symbols_free(symbols);
	return 0;
}

/* The row of a function in a line of it (0: any); fails if there is none. */
static const struct ppi_row *find(const struct ppi_rows *rows,
                                  const char *function, uint64_t line)
{
	for (size_t i = 0; i < rows->count; i++)
		if (strcmp(rows->rows[i].function, function) == 0 &&
		    (line == 0 || rows->rows[i].line == line))
			return &rows->rows[i];
	fail_msg("no row %s:%d", function, (int)line);
	return NULL;
}

/* ---- folding ---- */

static void all_of_the_weight_is_in_rows(void **state)
{
	static const unsigned orders[] = {
		BY_FUNCTION,
		PPI_BY_MODULE,
		BY_FUNCTION | PPI_BY_LINE,
		BY_FUNCTION | PPI_BY_ADDRESS,
		PPI_BY_THREAD | PPI_BY_PROCESS,
		PPI_BY_PROCESS,
		PPI_BY_COMM,
		BY_FUNCTION | PPI_BY_THREAD | PPI_BY_PROCESS,
	};
	struct ppi_rows rows;

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		uint64_t weight = 0, count = 0;

		assert_true(ppi_rows_fold(&view, orders[i], &rows));
		for (size_t j = 0; j < rows.count; j++) {
			weight += rows.rows[j].self_weight;
			count += rows.rows[j].samples;
		}
		assert_int_equal(weight, 85);
		assert_int_equal(count, 85);
		assert_int_equal(rows.weight, 85);
		ppi_rows_free(&rows);
	}
}

static void samples_without_an_address_are_unknown(void **state)
{
	struct ppi_rows rows;

	(void)state;
	assert_true(ppi_rows_fold(&view, BY_FUNCTION, &rows));
	assert_int_equal(find(&rows, "[unknown]", 0)->self_weight, 5);
	assert_false(find(&rows, "[unknown]", 0)->is_named);
	ppi_rows_free(&rows);
}

static void lines_are_rows(void **state)
{
	struct ppi_rows rows;

	(void)state;
	assert_true(ppi_rows_fold(&view, BY_FUNCTION | PPI_BY_LINE, &rows));
	assert_int_equal(find(&rows, "work", 10)->self_weight, 63);
	assert_int_equal(find(&rows, "work", 12)->self_weight, 0);
	assert_int_equal(find(&rows, "work", 12)->total_weight, 20);
	assert_string_equal(find(&rows, "work", 12)->source_file, "/src/a.c");
	assert_int_equal(find(&rows, "main", 5)->total_weight, 57);
	/* what has no line is told: 7 of the library, 5 of nobody */
	assert_int_equal(rows.lineless.count, 2);
	assert_int_equal(rows.lineless.modules[0].weight, 7);
	ppi_rows_free(&rows);
}

static void threads_of_a_name_are_one_comm(void **state)
{
	struct ppi_rows rows;

	(void)state;
	assert_true(ppi_rows_fold(&view, PPI_BY_COMM, &rows));
	assert_int_equal(rows.count, 3);
	assert_string_equal(rows.rows[0].thread, "main");
	assert_int_equal(rows.rows[0].self_weight, 65);
	assert_string_equal(rows.rows[1].thread, "pool");
	assert_int_equal(rows.rows[1].self_weight, 17);
	assert_string_equal(rows.rows[2].thread, "");
	ppi_rows_free(&rows);
}

/* The sums by a label's values, "text=sum " each. */
static void check_labels(struct ppi_view *some, unsigned keys,
                         const char *expected)
{
	struct ppi_rows rows;
	char said[200] = "";

	assert_true(ppi_rows_fold(some, keys, &rows));
	for (size_t i = 0; i < rows.count; i++)
		snprintf(said + strlen(said), sizeof(said) - strlen(said),
		         "%s=%d ", rows.rows[i].label,
		         (int)rows.rows[i].self_weight);
	assert_string_equal(said, expected);
	ppi_rows_free(&rows);
}

static void labels_are_rows(void **state)
{
	static const portprof_profile_label labels[] = {
		{ "size", "", "bytes", 64 }, { "size", "", "bytes", 4096 },
		{ "size", "", "bytes", 64 }, { "color", "red", "", 0 },
	};
	struct portprof_profile labelled = profile;
	struct ppi_view some = view;

	(void)state;
	labelled.labels = labels;
	labelled.label_count = 4;
	some.profile = &labelled;
	some.label = "size,comm";
	check_labels(&some, PPI_BY_LABEL,
	             "64 bytes=50 4096 bytes=20 (none)=15 ");
	check_labels(&some, PPI_BY_LABEL | PPI_BY_COMM,
	             "64 bytes=40 4096 bytes=20 64 bytes=10 (none)=7 (none)=5 "
	             "(none)=3 ");
	some.label = "color";
	check_labels(&some, PPI_BY_LABEL, "(none)=78 red=7 ");
	assert_string_equal(ppi_labels_name(&labelled, 1), "color");
	assert_null(ppi_labels_name(&labelled, 2));
}

/* The weight of samples of the one value "red", however it is spelled. */
static void one_label_alone(void **state)
{
	static const char *const values[] = {
		"red", "a,b", "~red", "r*d", "[red]", "r?d", "a\\b", "(red)",
		"a.b|c+{2}^$", "64 bytes",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const portprof_profile_label labels[] = {
			{ "color", "re", "", 0 }, { "color", values[i], "", 0 },
		};
		struct portprof_profile labelled = profile;
		bool is_out[sizeof(samples) / sizeof(samples[0])] = { 0 };
		size_t in = 0;
		char *only = ppi_filter_label_of("color", values[i]);

		labelled.labels = labels;
		labelled.label_count = 2;
		assert_non_null(only);
		assert_true(ppi_filter_label_check(only));
		assert_true(ppi_filter_label(only, &labelled, is_out));
		for (size_t j = 0; j < sizeof(is_out); j++)
			in += !is_out[j];
		if (in != 1 || is_out[1])
			fail_msg("%s: %zu samples", only, in);
		free(only);
	}
}

static void functions_of_threads(void **state)
{
	struct ppi_rows rows;
	const struct ppi_row *row;

	(void)state;
	assert_true(ppi_rows_fold(
		&view, BY_FUNCTION | PPI_BY_THREAD | PPI_BY_PROCESS, &rows));
	row = find(&rows, "work", 0);
	assert_int_equal(row->tid, 11);
	assert_int_equal(row->self_weight, 60);
	for (row = rows.rows; row < rows.rows + rows.count; row++)
		if (strcmp(row->function, "main") == 0 && row->tid == 12)
			assert_int_equal(row->total_weight, 10);
	ppi_rows_free(&rows);
}

static void most_in_total_can_come_first(void **state)
{
	struct ppi_rows rows;

	(void)state;
	assert_true(ppi_rows_fold(&view, BY_FUNCTION, &rows));
	assert_string_equal(rows.rows[0].function, "work");
	ppi_rows_by_total(&rows);
	assert_string_equal(rows.rows[0].function, "drive");
	assert_int_equal(rows.rows[0].total_weight, 70);
	ppi_rows_free(&rows);
}

/* As --inline finds it: tiny was inlined into work, and that into main. */
static void inlined_functions_are_callers(void **state)
{
	struct ppi_symbols_name *inlined = names;
	const struct ppi_symbols_name saved = names[WORK];
	struct ppi_symbols_name outer = saved;
	struct ppi_rows rows;

	(void)state;
	outer.line = 77;
	inlined[WORK].function = "tiny";
	inlined[WORK].caller = &outer;
	assert_true(ppi_rows_fold(&view, BY_FUNCTION | PPI_BY_LINE, &rows));
	assert_int_equal(find(&rows, "tiny", 10)->self_weight, 63);
	assert_int_equal(find(&rows, "work", 77)->self_weight, 0);
	assert_int_equal(find(&rows, "work", 77)->total_weight, 63);
	assert_int_equal(rows.weight, 85);
	ppi_rows_free(&rows);
	assert_true(ppi_rows_edges(&view, BY_FUNCTION, PPI_CALLERS,
	                           "tiny", &rows));
	assert_int_equal(find(&rows, "work", 0)->self_weight, 63);
	ppi_rows_free(&rows);
	names[WORK] = saved;
}

/* ---- callers and callees ---- */

static void callers_make_the_whole(void **state)
{
	struct ppi_rows rows;

	(void)state;
	assert_true(ppi_rows_edges(&view, BY_FUNCTION, PPI_CALLERS,
	                           "work", &rows));
	assert_int_equal(rows.weight, 63);
	assert_int_equal(rows.count, 2);
	/* not of the call to itself, but of the outermost one */
	assert_int_equal(find(&rows, "drive", 0)->self_weight, 60);
	/* a chain of ours that does not reach main has lost the rest */
	assert_int_equal(find(&rows, "(unknown)", 0)->self_weight, 3);
	ppi_rows_free(&rows);
}

static void callees_make_the_whole(void **state)
{
	struct ppi_rows rows;

	(void)state;
	assert_true(ppi_rows_edges(&view, BY_FUNCTION, PPI_CALLEES,
	                           "drive", &rows));
	assert_int_equal(rows.weight, 70);
	assert_int_equal(find(&rows, "work", 0)->self_weight, 60);
	assert_int_equal(find(&rows, "(itself)", 0)->self_weight, 10);
	assert_int_equal(rows.count, 2);
	ppi_rows_free(&rows);
	assert_true(ppi_rows_edges(&view, BY_FUNCTION, PPI_CALLEES,
	                           "work", &rows));
	assert_int_equal(rows.count, 1);
	assert_int_equal(find(&rows, "(itself)", 0)->self_weight, 63);
	ppi_rows_free(&rows);
}

static void a_function_is_named_in_short(void **state)
{
	(void)state;
	assert_true(ppi_is_function("work", "work"));
	assert_false(ppi_is_function("work", "worker"));
	assert_true(ppi_is_function("ns::f", "ns::f(int, char)"));
	assert_true(ppi_is_function("ns::f(int, char)", "ns::f(int, char)"));
	assert_false(ppi_is_function("ns::f(int)", "ns::f(int, char)"));
	assert_true(ppi_is_function("w*", "work"));
	assert_false(ppi_is_function("w*", "drive"));
	assert_false(ppi_is_function("[ab]", "a"));
}

/* ---- filters ---- */

/* The weight that a filter leaves in. */
static uint64_t filtered(const struct ppi_filter *filter)
{
	struct ppi_view some = view;
	struct ppi_rows rows;
	uint64_t weight;
	bool *is_left_out;

	assert_int_equal(
		ppi_filter_apply(filter, &profile, names, &is_left_out),
		PPI_FILTER_OK);
	some.is_left_out = is_left_out;
	assert_true(ppi_rows_fold(&some, BY_FUNCTION, &rows));
	weight = rows.weight;
	assert_int_equal(weight + rows.left_weight, 85);
	assert_int_equal(weight + rows.left_samples, 85);
	ppi_rows_free(&rows);
	free(is_left_out);
	return weight;
}

static void filters_leave_in(void **state)
{
	static const struct {
		struct ppi_filter filter;
		uint64_t weight;
	} cases[] = {
		{ { .threads = NULL }, 85 },
		{ { .threads = "pool" }, 17 },
		{ { .threads = "12" }, 10 },
		{ { .threads = "12,13" }, 17 },
		{ { .threads = "10" }, 82 }, /* a process */
		{ { .threads = "p*,21" }, 20 },
		{ { .modules = "app" }, 73 },
		{ { .modules = "/usr/bin/*" }, 73 },
		{ { .modules = "libx*" }, 7 },
		{ { .functions = "drive" }, 70 },
		{ { .functions = "say \"it\"(int, char)" }, 7 },
		{ { .threads = "pool", .modules = "app", .functions = "main" },
		  10 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (filtered(&cases[i].filter) != cases[i].weight)
			fail_msg("case %d leaves %d, not %d", (int)i,
			         (int)filtered(&cases[i].filter),
			         (int)cases[i].weight);
}

static void filters_that_fit_nothing_are_refused(void **state)
{
	static const struct ppi_filter filters[] = {
		{ .threads = "nobody" },
		{ .threads = "pool,nobody" },
		{ .threads = "0" },
		{ .threads = "" },
		{ .modules = "libc.so.6" },
		{ .functions = "wor" },
		{ .has_times = true, .to = { .amount = 1e300 } }, /* none are kept */
	};
	bool *is_left_out;

	(void)state;
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		assert_int_equal(ppi_filter_apply(&filters[i], &profile, names,
		                                  &is_left_out),
		                 PPI_FILTER_NOTHING);
		assert_null(is_left_out);
	}
}

/* Slices of two seconds; sample i begins in the i-th. */
static void times_leave_in(void **state)
{
	static const struct {
		const char *times;
		uint64_t weight;
	} cases[] = {
		{ "0,", 85 },      { ",12", 85 },  { "2,4", 20 },
		{ "2,", 45 },      { ",2", 40 },   { "1,2", 40 },
		{ "1.5,3.5", 20 }, { "10,12", 5 }, { "3,3.5", 20 },
	};
	static const char *const wrong[] = { "",     ",",    "2",   "5,2",
		                             "2,2",  "a,3",  "1,b", "-1,2",
		                             "1,,2", "1e3,", " 1,2" };
	struct ppi_filter filter = { 0 };
	bool *is_left_out;

	(void)state;
	profile.origin.start_ns = 1000000000000u;
	profile.origin.timeline_ns = 2000000000u;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(ppi_filter_read_times(cases[i].times, &filter));
		if (filtered(&filter) != cases[i].weight)
			fail_msg("%s leaves %d, not %d", cases[i].times,
			         (int)filtered(&filter), (int)cases[i].weight);
	}
	assert_true(ppi_filter_read_times("100,", &filter));
	assert_int_equal(
		ppi_filter_apply(&filter, &profile, names, &is_left_out),
		PPI_FILTER_NOTHING);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (ppi_filter_read_times(wrong[i], &filter))
			fail_msg("'%s' is taken", wrong[i]);
	profile.origin.timeline_ns = 0;
}

/* ---- CSV ---- */

static char *printed_csv(unsigned keys, const char *separator, size_t limit,
                         const char *edge)
{
	struct ppi_report report = {
		.profile = &profile,
		.symbols = symbols,
		.names = names,
		.keys = keys,
		.row_limit = limit,
	};
	struct ppi_rows rows;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_true(ppi_rows_fold(&view, keys, &rows));
	ppi_report_sum(&report, rows.weight);
	if (edge) {
		ppi_rows_free(&rows);
		assert_true(ppi_rows_edges(&view, BY_FUNCTION, PPI_CALLERS,
		                           "work", &rows));
	}
	ppi_report_print_csv_names(&report, separator, edge != NULL, out);
	ppi_report_print_csv_rows(&report, &rows, separator, edge, out);
	fclose(out);
	ppi_rows_free(&rows);
	return text;
}

static void csv_is(const char *expected, char *text)
{
	if (strcmp(text, expected) != 0)
		fail_msg("expected:\n%sgot:\n%s", expected, text);
	free(text);
}

static void csv_has_plain_numbers(void **state)
{
	(void)state;
	csv_is("event;self;self_share;total;total_share;samples;thread;pid\n"
	       "page-faults;82;0.820000;82;0.820000;82;;10\n"
	       "page-faults;3;0.030000;3;0.030000;3;;20\n"
	       "page-faults;4;0.040000;4;0.040000;0;;(outside)\n"
	       "page-faults;11;0.110000;11;0.110000;0;;(unattributed)\n",
	       printed_csv(PPI_BY_PROCESS, ";", 0, NULL));
}

static void csv_quotes_what_needs_it(void **state)
{
	(void)state;
	csv_is("event,self,self_share,total,total_share,samples,module,"
	       "function\n"
	       "page-faults,63,0.630000,63,0.630000,63,/usr/bin/app,work\n"
	       "page-faults,10,0.100000,70,0.700000,10,/usr/bin/app,drive\n"
	       "page-faults,7,0.070000,7,0.070000,7,\"/lib/libx,1.so\","
	       "\"say \"\"it\"\"(int, char)\"\n"
	       "page-faults,5,0.050000,5,0.050000,5,,(more)\n"
	       "page-faults,4,0.040000,4,0.040000,0,,(outside)\n"
	       "page-faults,11,0.110000,11,0.110000,0,,(unattributed)\n",
	       printed_csv(BY_FUNCTION, ",", 3, NULL));
}

static void csv_tells_lines_and_addresses(void **state)
{
	char *text = printed_csv(BY_FUNCTION | PPI_BY_LINE | PPI_BY_ADDRESS,
	                         "\t", 1, NULL);

	(void)state;
	assert_non_null(strstr(text, "samples\tmodule\taddress\tfile\tline\t"
	                             "function\n"));
	assert_non_null(strstr(text, "63\t/usr/bin/app\t0x1010\t/src/a.c\t10\t"
	                             "work\n"));
	assert_non_null(strstr(text, "\t22\t\t\t\t\t(more)\n"));
	free(text);
}

static void csv_tells_whose_callers(void **state)
{
	(void)state;
	csv_is("event,edge,self,self_share,total,total_share,samples,module,"
	       "function\n"
	       "page-faults,callers,60,0.600000,60,0.600000,60,/usr/bin/app,"
	       "drive\n"
	       "page-faults,callers,3,0.030000,3,0.030000,3,,(unknown)\n",
	       printed_csv(BY_FUNCTION, ",", 0, "callers"));
}

/* ---- pairs ---- */

static void pairs_keep_their_numbers(void **state)
{
	enum { COUNT = 5000 };
	struct ppi_pairs pairs = { 0 };

	(void)state;
	assert_int_equal(ppi_pairs_find(&pairs, 1, 2), PPI_NO_PAIR);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(ppi_pairs_enter(&pairs, i % 50, i * 7919), i);
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_int_equal(ppi_pairs_enter(&pairs, i % 50, i * 7919), i);
		assert_int_equal(ppi_pairs_find(&pairs, i % 50, i * 7919), i);
		assert_int_equal(ppi_pairs_find(&pairs, 51, i * 7919),
		                 PPI_NO_PAIR);
	}
	assert_int_equal(pairs.count, COUNT);
	ppi_pairs_free(&pairs);
}

static void what_rounds_to_nothing_is_not_below_it(void **state)
{
	(void)state;
	assert_string_equal(ppi_minus("0.000 s"), "");
	assert_string_equal(ppi_minus("0"), "");
	assert_string_equal(ppi_minus("0.001 s"), "-");
	assert_string_equal(ppi_minus("10.0"), "-");
}

/* By tables of Student's and the normal distribution, two-sided 5 %. */
static void noise_has_the_limits_of_tables(void **state)
{
	static const struct {
		size_t functions, freedom;
		double limit;
	} known[] = {
		{ 1, 0, 1.960 }, { 1, 1, 12.706 }, { 1, 2, 4.303 },
		{ 1, 3, 3.182 }, { 1, 4, 2.776 }, { 1, 9, 2.262 },
		{ 1, 30, 2.042 }, { 5, 4, 4.604 }, { 50, 5, 6.869 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_float_equal(
			ppi_noise_limit_of_runs(known[i].functions,
		                                known[i].freedom),
			known[i].limit, 0.001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_the_weight_is_in_rows),
		cmocka_unit_test(samples_without_an_address_are_unknown),
		cmocka_unit_test(lines_are_rows),
		cmocka_unit_test(threads_of_a_name_are_one_comm),
		cmocka_unit_test(labels_are_rows),
		cmocka_unit_test(one_label_alone),
		cmocka_unit_test(functions_of_threads),
		cmocka_unit_test(most_in_total_can_come_first),
		cmocka_unit_test(inlined_functions_are_callers),
		cmocka_unit_test(callers_make_the_whole),
		cmocka_unit_test(callees_make_the_whole),
		cmocka_unit_test(a_function_is_named_in_short),
		cmocka_unit_test(filters_leave_in),
		cmocka_unit_test(filters_that_fit_nothing_are_refused),
		cmocka_unit_test(times_leave_in),
		cmocka_unit_test(csv_has_plain_numbers),
		cmocka_unit_test(csv_quotes_what_needs_it),
		cmocka_unit_test(csv_tells_lines_and_addresses),
		cmocka_unit_test(csv_tells_whose_callers),
		cmocka_unit_test(pairs_keep_their_numbers),
		cmocka_unit_test(what_rounds_to_nothing_is_not_below_it),
		cmocka_unit_test(noise_has_the_limits_of_tables),
	};

	return cmocka_run_group_tests_name("report rows", tests, set_up,
	                                   tear_down);
}
