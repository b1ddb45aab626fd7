/* SPDX-License-Identifier: MIT */
/* What programs read of a failure: reason, place, column, suggestions. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <portprof.h>

static const portprof_diag *failed(portprof_status status)
{
	assert_true(status < 0);
	assert_int_equal(portprof_last_diag()->status, status);
	return portprof_last_diag();
}

static bool suggests(const portprof_diag *why, const char *name)
{
	for (size_t i = 0; i < PORTPROF_SUGGESTIONS; i++)
		if (strcmp(why->suggestions[i], name) == 0)
			return true;
	return false;
}

static void mistyped_names_have_what_was_meant(void **state)
{
	portprof_event_info info = { .size = sizeof(info) };
	portprof_config *config = portprof_config_new();
	const portprof_diag *why;

	(void)state;
	why = failed(portprof_event_try("cpu-clokc", "null", &info));
	assert_int_equal(why->reason, PORTPROF_REASON_UNKNOWN_NAME);
	assert_true(suggests(why, "cpu-clock"));
	why = failed(portprof_event_try("cpu-clock", "nul", &info));
	assert_int_equal(why->reason, PORTPROF_REASON_UNKNOWN_NAME);
	assert_string_equal(why->suggestions[0], "null");
	why = failed(portprof_config_set(config, "cal-chain", "on"));
	assert_int_equal(why->reason, PORTPROF_REASON_UNKNOWN_NAME);
	assert_true(suggests(why, "callchain"));
	/* nothing of the last failure is left in the next */
	why = failed(portprof_config_add_event(config, NULL));
	assert_int_equal(why->reason, PORTPROF_REASON_ARGUMENT);
	assert_string_equal(why->suggestions[0], "");
	assert_int_equal(why->column, 0);
	portprof_config_free(config);
}

static void mistakes_in_texts_have_their_place(void **state)
{
	char path[] = "/tmp/portprof-reasons-XXXXXX";
	portprof_config *config = portprof_config_new();
	const portprof_diag *why;
	FILE *file;

	(void)state;
	why = failed(portprof_config_add_event(config, "cpu-clock:freq="));
	assert_int_equal(why->reason, PORTPROF_REASON_SYNTAX);
	assert_true(why->column > strlen("cpu-clock:"));
	assert_string_equal(why->place, "");
	assert_int_equal(why->line, 0);
	file = fdopen(mkstemp(path), "w");
	assert_non_null(file);
	fputs("event = cpu-clock\nnonsense\n", file);
	fclose(file);
	why = failed(portprof_config_load(config, path, NULL));
	assert_string_equal(why->place, path);
	assert_int_equal(why->line, 2);
	assert_true(why->column > 0);
	assert_int_equal(why->reason, PORTPROF_REASON_SYNTAX);
	unlink(path);
	portprof_config_free(config);
}

static void outputs_that_cannot_be_are_told_apart(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session = NULL;
	portprof_status status;

	(void)state;
	assert_int_equal(portprof_config_set(config, "output",
	                                     "/no/such/folder/x"), PORTPROF_OK);
	status = portprof_session_open(config, &session);
	if (status != PORTPROF_E_UNSUPPORTED)
		assert_int_equal(failed(status)->reason,
		                 PORTPROF_REASON_OUTPUT);
	portprof_config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistyped_names_have_what_was_meant),
		cmocka_unit_test(mistakes_in_texts_have_their_place),
		cmocka_unit_test(outputs_that_cannot_be_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
