/* SPDX-License-Identifier: MIT */
/* Settings read back as text. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <portprof.h>
#include <portprof/tool.h>

static portprof_config *config;
static char value[64];

static int set_up(void **state)
{
	(void)state;
	config = portprof_config_new();
	strcpy(value, "untouched");
	return config ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	portprof_config_free(config);
	return 0;
}

static const char *get(const char *key, size_t index)
{
	return portprof_config_get(config, key, index, value, sizeof(value))
	               ? "-"
	               : value;
}

static void defaults(void **state)
{
	(void)state;
	assert_string_equal(get("backend", 0), "auto");
	assert_string_equal(get("frequency", 0), "100");
	assert_string_equal(get("period", 0), "-");
	assert_string_equal(get("children", 0), "no");
	assert_string_equal(get("event", 0), "-");
	assert_string_equal(get("output", 0), "-");
	assert_string_equal(get("callchain", 0), "-");
}

static void what_was_set(void **state)
{
	(void)state;
	assert_int_equal(portprof_config_add_event(config, "cpu-clock:u"), 0);
	assert_int_equal(portprof_config_add_event(config, "page-faults"), 0);
	assert_int_equal(portprof_config_set_period(config, 12345), 0);
	assert_int_equal(portprof_config_set_backend(config, "timer"), 0);
	assert_int_equal(portprof_config_set_number(config, "children", 1), 0);
	assert_int_equal(portprof_config_set_number(config, "callchain", 64),
			 0);
	assert_int_equal(portprof_config_set_number(config, "ring", 65536), 0);
	assert_int_equal(portprof_config_write_to(config, "/tmp/a"), 0);
	assert_int_equal(portprof_config_write_to(config, "/tmp/b"), 0);
	assert_string_equal(get("event", 0), "cpu-clock:u");
	assert_string_equal(get("event", 1), "page-faults");
	assert_string_equal(get("event", 2), "-");
	assert_string_equal(get("frequency", 0), "-");
	assert_string_equal(get("period", 0), "12345");
	assert_string_equal(get("backend", 0), "timer");
	assert_string_equal(get("children", 0), "yes");
	assert_int_equal(portprof_config_set_number(config, "children",
						    PORTPROF_CHILDREN_EXACT),
			 0);
	assert_string_equal(get("children", 0), "exact");
	assert_string_equal(get("callchain", 0), "64");
	assert_string_equal(get("ring", 0), "65536");
	assert_string_equal(get("output", 0), "/tmp/a");
	assert_string_equal(get("output", 1), "/tmp/b");
	assert_string_equal(get("backend", 1), "-");
}

static void refusals_leave_the_value_alone(void **state)
{
	(void)state;
	assert_int_equal(portprof_config_get(config, "backends", 0, value,
	                                     sizeof(value)),
	                 PORTPROF_E_NOTFOUND);
	assert_int_equal(portprof_config_get(config, "backend", 0, value, 4),
	                 PORTPROF_E_LIMIT);
	assert_int_equal(portprof_config_get(config, "backend", 0, NULL, 4),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_get(NULL, "backend", 0, value, 4),
	                 PORTPROF_E_INVALID);
	assert_string_equal(value, "untouched");
	assert_int_equal(portprof_config_get(config, "backend", 0, value, 5),
	                 PORTPROF_OK);
}

static void origins(void **state)
{
	static const char text[] = "frequency = 250\n[a]\nevent = cpu-clock\n"
				   "require = chain, fair\n";

	(void)state;
	assert_null(portprof_config_file(config));
	assert_int_equal(portprof_config_add_event(config, "page-faults"), 0);
	assert_int_equal(portprof_config_load_text(config, "x.conf", text,
	                                           "a"), 0);
	assert_string_equal(portprof_config_file(config), "x.conf");
	assert_string_equal(portprof_config_origin(config, "event", 0),
	                    "the program");
	assert_string_equal(portprof_config_origin(config, "event", 1),
	                    "x.conf:3");
	assert_null(portprof_config_origin(config, "event", 2));
	assert_string_equal(portprof_config_origin(config, "frequency", 0),
	                    "x.conf:1");
	assert_string_equal(portprof_config_origin(config, "backend", 0),
	                    "default");
	assert_null(portprof_config_origin(config, "colour", 0));
	assert_null(portprof_config_origin(NULL, "event", 0));
	assert_string_equal(get("require", 0), "chain, fair");
	assert_string_equal(get("require", 1), "-");
	/* what a mistake leaves behind is nothing */
	assert_int_equal(portprof_config_load_text(config, "y.conf", "x = 1\n",
	                                           NULL),
	                 PORTPROF_E_INVALID);
	assert_string_equal(portprof_config_file(config), "x.conf");
}

/* Each key can be set, and what can be set is listed. */
static void keys(void **state)
{
	size_t count = 0;
	const char *key;

	(void)state;
	while ((key = portprof_config_key(count))) {
		/* any text is the name of a file, or a command */
		if (portprof_config_set(config, key, "\x01"))
			assert_null(strstr(portprof_last_diag()->words,
			                   "there is no setting"));
		else if (strcmp(key, "command") != 0)
			assert_string_equal(key, "output");
		count++;
	}
	assert_int_equal(portprof_config_set(config, "zzz", "1"),
	                 PORTPROF_E_INVALID);
	for (size_t i = 0; i < count; i++)
		assert_non_null(strstr(portprof_last_diag()->words,
		                       portprof_config_key(i)));
	assert_true(count >= 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(defaults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_set, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(refusals_leave_the_value_alone,
		                                set_up, tear_down),
		cmocka_unit_test_setup_teardown(origins, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keys, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("config get", tests, NULL, NULL);
}
