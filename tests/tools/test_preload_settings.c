/* SPDX-License-Identifier: MIT */
/* $PORTPROF taken apart, and the names of files. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "tools/preload/preload.h"

static struct ppi_preload_settings settings;

static int tear_down(void **state)
{
	(void)state;
	ppi_preload_settings_free(&settings);
	return 0;
}

static void output_and_children_are_the_objects_own(void **state)
{
	(void)state;
	assert_true(ppi_preload_parse("frequency=1000;output=/a b/c=d;"
	                              "children=no;event=cpu-clock:u",
	                              &settings));
	assert_string_equal(settings.lines,
	                    "frequency=1000\nevent=cpu-clock:u\n");
	assert_string_equal(settings.output, "/a b/c=d");
	assert_false(settings.children);
}

static void the_rest_goes_to_the_library(void **state)
{
	(void)state;
	/* nonsense too: the library says what is wrong with it */
	assert_true(ppi_preload_parse(";;nonsense;outputs=x\nbackend=timer;",
	                              &settings));
	assert_string_equal(settings.lines,
	                    "nonsense\noutputs=x\nbackend=timer\n");
	assert_null(settings.output);
	assert_true(settings.children);
}

static void the_last_output_counts(void **state)
{
	(void)state;
	assert_true(ppi_preload_parse("output=a;output=b;children=no;"
	                              "children=yes",
	                              &settings));
	assert_string_equal(settings.output, "b");
	assert_true(settings.children);
	assert_string_equal(settings.lines, "");
}

static void assert_path(const char *pattern, pid_t pid, const char *want)
{
	char *path = ppi_preload_path(pattern, pid);

	assert_string_equal(path, want);
	free(path);
}

static void patterns_name_the_process(void **state)
{
	char *first, *second;

	(void)state;
	assert_path("/tmp/a.pb.gz", 12, "/tmp/a.pb.gz");
	assert_path("%p/%p", 12, "12/12");
	assert_path("%%p%", 12, "%p%");
	assert_path("%x%", 4194304, "%x%");
	assert_path("%p%p%p%p%p%p", 4194304,
	            "419430441943044194304419430441943044194304");
	assert_true(ppi_pattern_has("a%%%p", 'p'));
	assert_false(ppi_pattern_has("a%%p%n", 'p'));
	first = ppi_preload_path("%n", 1);
	second = ppi_preload_path("%n", 1);
	assert_int_equal(strlen(first), 16);
	/* as text in the order of time */
	assert_true(strcmp(first, second) < 0);
	free(first);
	free(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
			output_and_children_are_the_objects_own, tear_down),
		cmocka_unit_test_teardown(the_rest_goes_to_the_library,
		                          tear_down),
		cmocka_unit_test_teardown(the_last_output_counts, tear_down),
		cmocka_unit_test(patterns_name_the_process),
	};

	return cmocka_run_group_tests_name("preload settings", tests, NULL,
	                                   NULL);
}
