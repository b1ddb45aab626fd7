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
#include "tools/view/short_names.h"

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

/* On a terminal the last part of a name is what tells functions apart. */
static void cut_names_keep_their_end(void **state)
{
	static const struct {
		const char *name;
		size_t columns;
		const char *cut;
	} cases[] = {
		{ "main", 4, "main" },
		{ "a::b::C<int>::method(int, char)", 40,
		  "a::b::C<int>::method(int, char)" },
		{ "a::b::C<int>::method(int, char)", 20,
		  "a::b::C<>::method" },
		{ "a::b::C<int>::method(int, char)", 16, "...C<>::method" },
		{ "a::b::C<int>::method(int, char)", 12, "...method" },
		{ "a::b::C<int>::method(int, char)", 6, "met..." },
		{ "company/pkg.(*Server).serve", 20, "...(*Server).serve" },
		{ "com.company.Class.method", 18, "...Class.method" },
		{ "long_function_of_c.constprop.0", 20, "long_function_of_..." },
		{ "/usr/lib/libabc.so.6+0x123", 12, "/usr/lib/..." },
	};
	char room[PPI_SHOWN_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(ppi_fit_name(cases[i].name,
		                                 cases[i].columns, room),
		                    cases[i].cut);
}

static void the_last_part_means_a_function(void **state)
{
	const char *const method = "a::b::C<std::pair<int, int> >::method(int)";

	(void)state;
	assert_true(ppi_is_function_part("method", method));
	assert_true(ppi_is_function_part("C::method", method));
	assert_true(ppi_is_function_part("C<>::method", method));
	assert_true(ppi_is_function_part("a::b::C::method", method));
	assert_false(ppi_is_function_part("ethod", method));
	assert_false(ppi_is_function_part("C", method));
	assert_false(ppi_is_function_part("int", method));
	assert_false(ppi_is_function_part("", method));
	assert_true(ppi_is_function_part("serve", "x/pkg.(*Server).serve"));
	assert_false(ppi_is_function_part("0", "work.constprop.0"));
	assert_false(ppi_is_function_part("6", "libc.so.6+0x10"));
}

static const char *const functions[] = {
	"a::work(int)", "b::work(int)", "work", NULL, "a::other(int)",
};

static const char *function_at(const void *things, size_t i)
{
	return ((const char *const *)things)[i];
}

/* A whole name means itself, whatever else ends like it. */
static void whole_names_come_first(void **state)
{
	enum { COUNT = sizeof(functions) / sizeof(functions[0]) };
	bool is_meant[COUNT];
	char words[200];

	(void)state;
	ppi_functions_meant("work", COUNT, function_at, functions, is_meant);
	assert_false(is_meant[0] || is_meant[1] || is_meant[3] || is_meant[4]);
	assert_true(is_meant[2]);
	ppi_functions_meant("work", 2, function_at, functions, is_meant);
	assert_true(is_meant[0] && is_meant[1]);
	assert_string_equal(ppi_functions_like("b::wrok", COUNT, function_at,
	                                       functions, words, sizeof(words)),
	                    "; did you mean b::work or a::work?");
	assert_string_equal(ppi_functions_like("othr", COUNT, function_at,
	                                       functions, words, sizeof(words)),
	                    "; did you mean other?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_short),
		cmocka_unit_test(without_room_they_stay),
		cmocka_unit_test(cut_names_keep_their_end),
		cmocka_unit_test(the_last_part_means_a_function),
		cmocka_unit_test(whole_names_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
