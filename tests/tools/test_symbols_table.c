/* SPDX-License-Identifier: MIT */
/* The symbol table: nesting, labels, aliases, ends. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tools/symbols/symbols_kept.h"
#include "tools/symbols/symbols_table.h"

static struct ppi_symbol_table table;

static void add(uint64_t start, uint64_t size, unsigned rank, const char *name)
{
	assert_true(ppi_symbol_table_add(&table, start, size, 0x1000, rank,
	                                 name));
}

static const char *find(uint64_t address)
{
	const struct ppi_symbol *symbol =
		ppi_symbol_table_find(&table, address);

	return symbol ? ppi_symbol_name(&table, symbol) : "-";
}

static int tear_down(void **state)
{
	(void)state;
	ppi_symbol_table_free(&table);
	return 0;
}

static void an_empty_table_has_nothing(void **state)
{
	(void)state;
	assert_true(ppi_symbol_table_sort(&table));
	assert_string_equal(find(0), "-");
	assert_string_equal(find(UINT64_MAX), "-");
}

static void a_symbol_ends_where_its_size_says(void **state)
{
	(void)state;
	add(0x100, 0x10, 0, "a");
	add(0x200, 0x10, 0, "b");
	assert_true(ppi_symbol_table_sort(&table));
	assert_string_equal(find(0xff), "-");
	assert_string_equal(find(0x100), "a");
	assert_string_equal(find(0x10f), "a");
	assert_string_equal(find(0x110), "-");
	assert_string_equal(find(0x200), "b");
}

static void without_a_size_it_ends_at_the_next(void **state)
{
	(void)state;
	add(0x100, 0, 0, "label");
	add(0x200, 0x10, 0, "b");
	add(0xf00, 0, 0, "last");
	assert_true(ppi_symbol_table_sort(&table));
	assert_string_equal(find(0x1ff), "label");
	assert_string_equal(find(0x200), "b");
	assert_string_equal(find(0x210), "-");
	assert_string_equal(find(0xfff), "last");
	assert_string_equal(find(0x1000), "-"); /* its section ends */
}

static void the_innermost_one_is_found(void **state)
{
	(void)state;
	add(0x100, 0x100, 0, "outer");
	add(0x120, 0x10, 0, "inner");
	add(0x122, 0, 0, "label in inner");
	add(0x180, 0, 0, "label in outer");
	assert_true(ppi_symbol_table_sort(&table));
	assert_string_equal(find(0x11f), "outer");
	assert_string_equal(find(0x125), "inner");
	assert_string_equal(find(0x130), "outer");
	assert_string_equal(find(0x190), "outer");
}

static void the_highest_rank_names_it(void **state)
{
	(void)state;
	add(0x100, 0x10, 1, "__local_alias");
	add(0x100, 0x10, 5, "public");
	add(0x100, 0, 9, "label");
	add(0x100, 0x10, 3, "_alias");
	assert_true(ppi_symbol_table_sort(&table));
	assert_string_equal(find(0x108), "public");
	assert_int_equal(table.count, 1);
}

/* Against a search that looks at every symbol. */
static void many_agree_with_a_plain_search(void **state)
{
	enum { COUNT = 500 };
	static uint64_t starts[COUNT], sizes[COUNT];
	uint64_t seed = 12345;
	char name[16];

	(void)state;
	for (unsigned i = 0; i < COUNT; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		starts[i] = (uint64_t)i * 8;
		sizes[i] = 1 + (seed >> 33) % 60;
		snprintf(name, sizeof(name), "%u", i);
		assert_true(ppi_symbol_table_add(&table, starts[i], sizes[i],
		                                 UINT64_MAX, 0, name));
	}
	assert_true(ppi_symbol_table_sort(&table));
	for (uint64_t at = 0; at < COUNT * 8 + 100; at++) {
		char want[16] = "-";

		for (unsigned i = 0; i < COUNT; i++)
			if (at >= starts[i] && at < starts[i] + sizes[i])
				snprintf(want, sizeof(want), "%u", i);
		assert_string_equal(find(at), want);
	}
}

/* ---- for the next window ---- */

enum { KEPT_BYTES = 1 << 20 };

static void a_kept_table_is_the_same(void **state)
{
	struct ppi_kept *kept = ppi_kept_new(KEPT_BYTES);
	uint64_t number = 0;

	(void)state;
	assert_non_null(kept);
	ppi_kept_begin(kept);
	add(0x100, 0x10, 0, "a");
	add(0x120, 0, 0, "label");
	add(0x200, 0x10, 0, "b");
	assert_true(ppi_symbol_table_sort(&table));
	ppi_symbol_table_keep(&table, kept, "one", 7);
	ppi_symbol_table_free(&table);
	assert_false(ppi_symbol_table_take(&table, kept, "two", &number));
	assert_true(ppi_symbol_table_take(&table, kept, "one", &number));
	assert_int_equal(number, 7);
	assert_string_equal(find(0x10f), "a");
	assert_string_equal(find(0x110), "-");
	assert_string_equal(find(0x1ff), "label");
	assert_string_equal(find(0x200), "b");
	ppi_symbol_table_free(&table);
	/* an empty one is known to be empty */
	assert_true(ppi_symbol_table_sort(&table));
	ppi_symbol_table_keep(&table, kept, "none", 0);
	ppi_symbol_table_free(&table);
	assert_true(ppi_symbol_table_take(&table, kept, "none", &number));
	assert_string_equal(find(0), "-");
	ppi_kept_free(kept);
}

/* Who keeps nothing has no keys. */
static void nothing_kept_has_no_keys(void **state)
{
	size_t bytes;

	(void)state;
	assert_null(ppi_kept_room(NULL, "a", 8));
	assert_null(ppi_kept_find(NULL, NULL, &bytes));
}

enum { SMALL = 100, SMALL_BYTES = 1000 };

static void keep(struct ppi_kept *kept, const char *key, size_t bytes)
{
	void *value = ppi_kept_room(kept, key, bytes);

	assert_non_null(value);
	memset(value, key[0], bytes);
	ppi_kept_done(kept);
}

/* Numbers from the first on, as long as there is room. */
static void keep_numbers(struct ppi_kept *kept, unsigned first, unsigned behind)
{
	for (unsigned i = first; i < behind; i++) {
		char key[32], *value;

		snprintf(key, sizeof(key), "%u", i);
		value = ppi_kept_room(kept, key, SMALL_BYTES);
		if (!value)
			return;
		memset(value, (int)i, SMALL_BYTES);
		ppi_kept_done(kept);
	}
}

/* How many of them are there, each with its value. */
static unsigned count_kept(struct ppi_kept *kept, unsigned first,
                           unsigned behind)
{
	unsigned count = 0;

	for (unsigned i = first; i < behind; i++) {
		const char *value;
		char key[32];
		size_t found;

		snprintf(key, sizeof(key), "%u", i);
		value = ppi_kept_find(kept, key, &found);
		if (!value)
			continue;
		assert_int_equal(found, SMALL_BYTES);
		assert_int_equal((unsigned char)value[0], i & 0xff);
		assert_int_equal((unsigned char)value[SMALL_BYTES - 1], i & 0xff);
		count++;
	}
	return count;
}

/* Who begins makes room where there was none. */
static void a_full_one_keeps_what_is_asked_for(void **state)
{
	struct ppi_kept *kept = ppi_kept_new(KEPT_BYTES);
	size_t bytes;

	(void)state;
	assert_non_null(kept);
	/* in no window */
	assert_null(ppi_kept_room(kept, "0", 1));
	assert_null(ppi_kept_find(kept, "0", &bytes));
	ppi_kept_begin(kept);
	keep(kept, "large", KEPT_BYTES / 3);
	keep(kept, "other", KEPT_BYTES / 4);
	keep_numbers(kept, 0, SMALL);
	/* of large ones the one that all ask for stays, though others come */
	for (unsigned turn = 0; turn < 4; turn++) {
		assert_null(ppi_kept_room(kept, "no room", KEPT_BYTES / 2));
		ppi_kept_begin(kept);
		assert_int_equal(count_kept(kept, 0, SMALL / 2), SMALL / 2);
		assert_non_null(ppi_kept_find(kept, "large", &bytes));
		assert_int_equal(bytes, KEPT_BYTES / 3);
		assert_null(ppi_kept_find(kept, "other", &bytes));
		assert_null(ppi_kept_find(kept, "new", &bytes));
		keep(kept, "new", KEPT_BYTES / 5);
	}
	/* of small ones those that are asked for; what a process has taken stays as long
	 * as it lives */
	for (unsigned turn = 1; turn < 4; turn++) {
		keep_numbers(kept, turn * 10000, (turn + 1) * 10000);
		assert_int_equal(count_kept(kept, 0, SMALL / 2), SMALL / 2);
		ppi_kept_begin(kept);
	}
	assert_int_equal(count_kept(kept, 0, SMALL / 2), SMALL / 2);
	assert_int_equal(count_kept(kept, SMALL / 2, SMALL), 0);
	assert_in_range(count_kept(kept, 30000, 40000), SMALL, 1000);
	/* what would take most of it is not kept, and nothing goes for it */
	assert_null(ppi_kept_room(kept, "large", KEPT_BYTES - 1));
	assert_non_null(ppi_kept_room(kept, "small", 1));
	ppi_kept_free(kept);
	assert_null(ppi_kept_find(NULL, "0", &bytes));
	assert_null(ppi_kept_room(NULL, "0", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_empty_table_has_nothing,
		                          tear_down),
		cmocka_unit_test_teardown(a_symbol_ends_where_its_size_says,
		                          tear_down),
		cmocka_unit_test_teardown(without_a_size_it_ends_at_the_next,
		                          tear_down),
		cmocka_unit_test_teardown(the_innermost_one_is_found,
		                          tear_down),
		cmocka_unit_test_teardown(the_highest_rank_names_it,
		                          tear_down),
		cmocka_unit_test_teardown(many_agree_with_a_plain_search,
		                          tear_down),
		cmocka_unit_test_teardown(a_kept_table_is_the_same,
		                          tear_down),
		cmocka_unit_test(nothing_kept_has_no_keys),
		cmocka_unit_test(a_full_one_keeps_what_is_asked_for),
	};

	return cmocka_run_group_tests_name("symbols table", tests, NULL, NULL);
}
