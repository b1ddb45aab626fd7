/* SPDX-License-Identifier: MIT */
/* Configuration text: tables of right and wrong ones, and what is left. */

#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <portprof.h>

#include "table.h"

static const char *const keys[] = {
	"event", "backend", "frequency", "period", "output", "callchain",
	"children", "ring", "delay", "duration", "timeline",
	"fields", "branches", "precise", "labels", "partial",
};

enum { KEYS = sizeof(keys) / sizeof(keys[0]), DUMP = 8192 };

/* What a new config has. */
static int is_default(const char *key, const char *value)
{
	return (strcmp(key, "backend") == 0 && strcmp(value, "auto") == 0) ||
	       (strcmp(key, "frequency") == 0 && strcmp(value, "100") == 0) ||
	       (strcmp(key, "children") == 0 && strcmp(value, "no") == 0);
}

/* "key=value;key=value", all that is not a default. */
static void dump(const portprof_config *config, char out[DUMP])
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t k = 0; k < KEYS; k++) {
		char value[1024];

		for (size_t i = 0; portprof_config_get(config, keys[k], i,
		                                       value, sizeof(value)) ==
		                   PORTPROF_OK; i++)
			if (!is_default(keys[k], value))
				used += (size_t)snprintf(
					out + used, DUMP - used, "%s%s=%s",
					used ? ";" : "", keys[k], value);
	}
}

static void good_texts_put_their_settings_in_force(void **state)
{
	struct table table;
	char dumped[DUMP];

	(void)state;
	assert_int_equal(table_open(&table, "config-good.txt"), 0);
	while (table_next(&table)) {
		portprof_config *config = portprof_config_new();
		portprof_status status = portprof_config_load_text(
			config, "good.conf", table.field[2], table.field[1]);

		table_check(&table, status == PORTPROF_OK, "%s",
		            portprof_last_diag()->words);
		dump(config, dumped);
		table_check(&table, strcmp(dumped, table.field[0]) == 0,
		            "in force is %s", dumped);
		portprof_config_free(config);
	}
}

/* A config with something in every place. */
static portprof_config *full_config(void)
{
	portprof_config *config = portprof_config_new();

	assert_int_equal(portprof_config_add_event(config, "cs:u"), 0);
	assert_int_equal(portprof_config_add_event(config, "cpu-clock"), 0);
	assert_int_equal(portprof_config_set(config, "output", "first"), 0);
	assert_int_equal(portprof_config_set(config, "period", "12345"), 0);
	assert_int_equal(portprof_config_set(config, "ring", "8K"), 0);
	return config;
}

static void bad_texts_change_nothing_and_say_where(void **state)
{
	struct table table;
	char before[DUMP], after[DUMP];

	(void)state;
	assert_int_equal(table_open(&table, "config-bad.txt"), 0);
	while (table_next(&table)) {
		portprof_config *config = full_config();
		const char *words = portprof_last_diag()->words;
		char place[64] = "bad.conf: ";
		portprof_status status;

		dump(config, before);
		status = portprof_config_load_text(config, "bad.conf",
		                                   table.field[3],
		                                   table.field[2]);
		table_check(&table, status == PORTPROF_E_INVALID,
		            "status is %d: %s", status, words);
		if (table.field[0][0] != '-')
			snprintf(place, sizeof(place), "bad.conf:%s: ",
			         table.field[0]);
		table_check(&table, strncmp(words, place, strlen(place)) == 0,
		            "not at %s: %s", place, words);
		table_check(&table, strstr(words, table.field[1]) != NULL,
		            "the words are: %s", words);
		for (const char *c = words; *c; c++)
			table_check(&table, (unsigned char)*c >= ' ',
			            "the words hold a control character");
		dump(config, after);
		table_check(&table, strcmp(before, after) == 0,
		            "it was %s and is %s", before, after);
		portprof_config_free(config);
	}
}

/* No limit cuts a line or a value: 4000 events of 200 letters are there. */
static void length_has_no_limit(void **state)
{
	enum { COUNT = 4000 };
	portprof_config *config = portprof_config_new();
	char *text = malloc(COUNT * 256), *at = text;

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < COUNT; i++)
		at += sprintf(at, "event = pmu::E%0180d:u\n", i);
	memcpy(at, "output = ", 9);
	memset(at + 9, 'x', 20000);
	at[20009] = '\0';
	assert_int_equal(portprof_config_load_text(config, "long", text, NULL),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_event_count(config), COUNT);
	assert_non_null(strstr(portprof_config_event(config, COUNT - 1),
	                       "3999:u"));
	assert_int_equal(portprof_config_get(config, "output", 0, text, 20002),
	                 PORTPROF_OK);
	assert_int_equal(strlen(text), 20000);
	free(text);
	portprof_config_free(config);
}

/* By name the later output is meant; write_to adds one. */
static void output_by_name_replaces(void **state)
{
	portprof_config *config = portprof_config_new();
	char value[64];

	(void)state;
	assert_int_equal(portprof_config_write_to(config, "added"), 0);
	assert_int_equal(portprof_config_set(config, "output", "one"), 0);
	assert_int_equal(portprof_config_load_text(config, "t", "output = two",
	                                           NULL), 0);
	assert_int_equal(portprof_config_set(config, "output", ""),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_get(config, "output", 0, value,
	                                     sizeof(value)), 0);
	assert_string_equal(value, "added");
	assert_int_equal(portprof_config_get(config, "output", 1, value,
	                                     sizeof(value)), 0);
	assert_string_equal(value, "two");
	assert_int_equal(portprof_config_get(config, "output", 2, value,
	                                     sizeof(value)),
	                 PORTPROF_E_NOTFOUND);
	portprof_config_free(config);
}

/* What get tells, set takes. */
static void every_setting_goes_round(void **state)
{
	portprof_config *from = full_config(), *to = portprof_config_new();
	char before[DUMP], after[DUMP], value[64];

	(void)state;
	assert_int_equal(portprof_config_set(from, "callchain", "on"), 0);
	assert_int_equal(portprof_config_set(from, "children", "yes"), 0);
	assert_int_equal(portprof_config_set(from, "backend", "null"), 0);
	for (size_t k = 0; k < KEYS; k++)
		for (size_t i = 0; portprof_config_get(from, keys[k], i, value,
		                                       sizeof(value)) == 0;
		     i++)
			assert_int_equal(portprof_config_set(to, keys[k],
			                                     value), 0);
	dump(from, before);
	dump(to, after);
	assert_string_equal(before, after);
	portprof_config_free(from);
	portprof_config_free(to);
}

static void arguments_are_checked(void **state)
{
	portprof_config *config = portprof_config_new();

	(void)state;
	assert_int_equal(portprof_config_set(config, "event", NULL),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_set(config, NULL, "x"),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_set(NULL, "event", "x"),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_set(config, "frequenzy", "5"),
	                 PORTPROF_E_INVALID);
	assert_string_equal(portprof_last_diag()->words,
	                    "there is no setting 'frequenzy'; did you mean "
	                    "frequency?");
	assert_int_equal(portprof_config_load_text(config, NULL, "", NULL),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_load_text(config, "t", NULL, NULL),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_load_text(NULL, "t", "", NULL),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_load(NULL, "t", NULL),
	                 PORTPROF_E_INVALID);
	portprof_config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_texts_put_their_settings_in_force),
		cmocka_unit_test(bad_texts_change_nothing_and_say_where),
		cmocka_unit_test(length_has_no_limit),
		cmocka_unit_test(output_by_name_replaces),
		cmocka_unit_test(every_setting_goes_round),
		cmocka_unit_test(arguments_are_checked),
	};

	return cmocka_run_group_tests_name("config_text", tests, NULL, NULL);
}
