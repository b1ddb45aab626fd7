/* SPDX-License-Identifier: MIT */
/* Libraries that are loaded when they are first needed, or are not there. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "base/library.h"

typedef int function(void);

static void what_is_not_there_is_not_loaded(void **state)
{
	static const char *const names[] = { "anything" };
	function *found[1] = { NULL };

	(void)state;
	assert_false(ppi_library_load("libno-such-library.so.0", names, 1,
	                              found));
	assert_null(found[0]);
}

static void all_functions_must_be_there(void **state)
{
#if defined PPI_LIBPFM4_FILE
	static const char *const names[] = { "pfm_initialize",
		                             "pfm_get_version",
		                             "pfm_no_such_function" };
	function *found[3] = { NULL, NULL, NULL };

	(void)state;
	assert_false(ppi_library_load(PPI_LIBPFM4_FILE, names, 3, found));
	for (int i = 0; i < 3; i++)
		assert_null(found[i]);
	assert_true(ppi_library_load(PPI_LIBPFM4_FILE, names, 2, found));
	assert_non_null(found[0]);
	assert_int_equal(found[1]() >> 16, 4); /* its major version */
	assert_null(found[2]);
#else
	(void)state;
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_there_is_not_loaded),
		cmocka_unit_test(all_functions_must_be_there),
	};

	return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
