/* SPDX-License-Identifier: MIT */
/* What portprof selftest makes of the lines of a conformance program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/selftest/selftest.h"

static void feed(struct ppi_tap *tap, const char *const *lines)
{
	memset(tap, 0, sizeof(*tap));
	while (*lines)
		ppi_tap_line(tap, *lines++);
}

static const struct ppi_clause *clause(const struct ppi_tap *tap,
                                       const char *name)
{
	for (size_t i = 0; i < tap->clause_count; i++)
		if (strcmp(tap->clauses[i].name, name) == 0)
			return &tap->clauses[i];
	fail_msg("no clause %s", name);
	return NULL;
}

static const char *const report[] = {
	"1..7",
	"ok 1 - life_10_new_image_lives",
	"ok 2 - life_4_stop_twice_is_ok",
	"not ok 3 - life_4_start_twice_is_ok",
	"# 0x1 != 0",
	"# ../tests/conform/life.c:41: error: Failure!",
	"skip: lacks chain, and refuses it",
	"not ok 4 # SKIP sample_12_chains",
	"ok 5 - sample_12_depth_is_refused",
	"skip: needs a real kernel",
	"not ok 6 # SKIP life_15_no_eintr",
	"ERROR: words on stderr",
	"ok 7 - sample_2_sleeping",
	"# not ok - perf_real",
	NULL
};

static void worst_case_is_the_verdict(void **state)
{
	struct ppi_tap tap;

	(void)state;
	feed(&tap, report);
	assert_int_equal(tap.planned, 7);
	assert_int_equal(tap.ran, 7);
	assert_int_equal(tap.failed, 1);
	assert_int_equal(clause(&tap, "LIFE-4")->verdict, PPI_CLAUSE_BROKEN);
	assert_int_equal(clause(&tap, "LIFE-10")->verdict, PPI_CLAUSE_HOLDS);
	assert_int_equal(clause(&tap, "LIFE-15")->verdict, PPI_CLAUSE_OPEN);
	assert_int_equal(clause(&tap, "SAMPLE-12")->verdict,
	                 PPI_CLAUSE_LACKING);
	assert_string_equal(clause(&tap, "SAMPLE-12")->lacking, "chain");
	assert_int_equal(ppi_tap_count(&tap, PPI_CLAUSE_HOLDS), 2);
	assert_int_equal(ppi_tap_count(&tap, PPI_CLAUSE_BROKEN), 1);
	ppi_tap_free(&tap);
}

static void failures_keep_their_words(void **state)
{
	struct ppi_tap tap;

	(void)state;
	feed(&tap, report);
	assert_string_equal(tap.failures,
	                    "life_4_start_twice_is_ok\n# 0x1 != 0\n"
	                    "# ../tests/conform/life.c:41: error: Failure!\n");
	ppi_tap_free(&tap);
}

static void clauses_are_sorted_by_number(void **state)
{
	static const char *const order[] = { "LIFE-4", "LIFE-10", "LIFE-15",
		                             "SAMPLE-2", "SAMPLE-12" };
	struct ppi_tap tap;

	(void)state;
	feed(&tap, report);
	ppi_tap_sort(&tap);
	assert_int_equal(tap.clause_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(tap.clauses[i].name, order[i]);
	ppi_tap_free(&tap);
}

/* Lines of a program that went wild. */
static void strange_lines_do_no_harm(void **state)
{
	static const char *const strange[] = {
		"", "ok", "ok ", "not ok ", "ok 1", "ok x - y", "1..", "# ",
		"ok 1 - nothing_like_a_clause", "ok 2 - life_",
		"ok 3 - averyveryveryverylongfamily_1_x",
		"ok 4 - life_99999999999999_x", "skip:", "not ok 5 # SKIP ",
		NULL
	};
	struct ppi_tap tap;

	(void)state;
	feed(&tap, strange);
	assert_int_equal(tap.clause_count, 0);
	ppi_tap_sort(&tap);
	ppi_tap_free(&tap);
}

static void a_program_that_ran_nothing_has_not_passed(void **state)
{
	struct ppi_selftest test;

	(void)state;
	memset(&test, 0, sizeof(test));
	assert_false(ppi_selftest_passed(&test));
	test.tap.planned = 2;
	test.tap.ran = 1;
	assert_false(ppi_selftest_passed(&test));
	test.tap.ran = 2;
	assert_true(ppi_selftest_passed(&test));
	test.status = 1; /* ended by a signal */
	assert_false(ppi_selftest_passed(&test));
}

/* On a busy machine a program that writes its lines may take long. */
static void silence_is_a_hang_and_time_is_not(void **state)
{
	const uint64_t second = 1000000000;
	struct ppi_selftest test;

	(void)state;
	memset(&test, 0, sizeof(test));
	test.heard_ns = 900 * second;
	assert_false(ppi_selftest_hangs(&test, 900 * second));
	assert_false(ppi_selftest_hangs(&test, 1190 * second));
	assert_true(ppi_selftest_hangs(&test, 1210 * second));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worst_case_is_the_verdict),
		cmocka_unit_test(failures_keep_their_words),
		cmocka_unit_test(clauses_are_sorted_by_number),
		cmocka_unit_test(strange_lines_do_no_harm),
		cmocka_unit_test(a_program_that_ran_nothing_has_not_passed),
		cmocka_unit_test(silence_is_a_hang_and_time_is_not),
	};

	return cmocka_run_group_tests_name("selftest", tests, NULL, NULL);
}
