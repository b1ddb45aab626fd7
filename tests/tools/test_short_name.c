/* SPDX-License-Identifier: MIT */
/* Names of C++ and Rust, cut to what tells functions apart. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "tools/report/report_tree.h"

static const struct {
	const char *name, *is;
} names[] = {
	{ "main", "main" },
	{ "libc.so.6+0x1234", "libc.so.6+0x1234" },
	{ "(unknown)", "(unknown)" },
	{ "work(int, char const*)", "work" },
	{ "std::vector<int, std::allocator<int> >::push_back(int const&)",
	  "std::vector<>::push_back" },
	{ "void std::sort<int*>(int*, int*)", "std::sort<>" },
	{ "a::b::operator()(int) const", "a::b::operator()" },
	{ "std::ostream& std::operator<< <char>(std::ostream&, char const*)",
	  "std::operator<<<>" },
	{ "operator new(unsigned long)", "operator new" },
	{ "bool f<&(g())>(int)", "f<>" },
	{ "(anonymous namespace)::run(int)", "(anonymous namespace)::run(int)" },
	{ "a::(anonymous namespace)::run(int)", "a::(anonymous namespace)::run" },
	{ "main::{lambda(int)#1}::operator()(int) const",
	  "main::{lambda(int)#1}::operator()" },
	{ "f(int)::{lambda()#2}::operator()() const",
	  "f::{lambda()#2}::operator()" },
	{ "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
	  "<alloc::vec::Vec<T> as core::ops::Drop>::drop" },
	{ "core::ptr::drop_in_place<alloc::vec::Vec<u8>>",
	  "core::ptr::drop_in_place<>" },
	{ "broken<int(", "broken<int(" },
	{ "a->b(c)", "a->b" },
	{ "", "" },
};

static void names_are_short(void **state)
{
	char room[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(
			ppi_short_name(names[i].name, room, sizeof(room)),
			names[i].is);
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
