/* SPDX-License-Identifier: MIT */
/* Names of C++ and Rust, cut to what tells functions apart, by the list that the
 * page of report --html is held to as well. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/table.h"
#include "tools/view/names.h"

static void names_are_short(void **state)
{
	struct table table;
	char room[256];

	(void)state;
	assert_int_equal(table_open(&table, "short-names.txt"), 0);
	while (table_next(&table)) {
		const char *is = ppi_short_name(table.field[0], room,
		                                sizeof(room));

		table_check(&table, strcmp(is, table.field[1]) == 0, "%s", is);
	}
	assert_string_equal(ppi_short_name("", room, sizeof(room)), "");
}

/* What does not fit is not cut: a tree does that, in characters. */
static void without_room_they_stay(void **state)
{
	char room[6];

	(void)state;
	assert_string_equal(ppi_short_name("abcdefgh(int)", room, sizeof(room)),
	                    "abcdefgh(int)");
	assert_string_equal(ppi_short_name("abc(int)", room, sizeof(room)),
	                    "abc");
	assert_string_equal(ppi_short_name("abc(int)", room, 0), "abc(int)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_short),
		cmocka_unit_test(without_room_they_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
