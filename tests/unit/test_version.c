/* SPDX-License-Identifier: MIT */
/* Headers, library and build agree on one version. */

#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>

#include <cmocka.h>

#include <portprof.h>

static void library_matches_headers(void **state)
{
	(void)state;
	assert_string_equal(portprof_version(), PORTPROF_VERSION_STRING);
}

static void string_matches_numbers(void **state)
{
	char text[64];

	(void)state;
	snprintf(text, sizeof(text), "%d.%d.%d", PORTPROF_VERSION_MAJOR,
	         PORTPROF_VERSION_MINOR, PORTPROF_VERSION_PATCH);
	assert_string_equal(text, PORTPROF_VERSION_STRING);
}

static void package_matches_headers(void **state)
{
	(void)state;
	assert_string_equal(PACKAGE_VERSION, PORTPROF_VERSION_STRING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(library_matches_headers),
		cmocka_unit_test(string_matches_numbers),
		cmocka_unit_test(package_matches_headers),
	};

	return cmocka_run_group_tests_name("version", tests, NULL, NULL);
}
