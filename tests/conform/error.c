/* SPDX-License-Identifier: MIT */
/* Errors: what a failure reports, and what it leaves unchanged. */
#include "tests/conform/conform.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void is_invalid(portprof_status status)
{
	assert_int_equal(status, PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	assert_int_equal(fixture.held(), 0);
}

static void err_1_refusals_are_explained(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;

	(void)state;
	is_invalid(portprof_config_set_frequency(config, 0));
	assert_int_equal(portprof_config_add_event(config, "no-such-event"),
	                 PORTPROF_OK);
	assert_int_equal(cf_try_open(config, &session), PORTPROF_E_NOTFOUND);
	cf_diag(PORTPROF_E_NOTFOUND);
	assert_non_null(strstr(portprof_last_diag()->words, "no-such-event"));
}

static void err_1_every_status_has_name_and_text(void **state)
{
	(void)state;
	for (int s = PORTPROF_END; s >= PORTPROF_E_FORMAT; s--) {
		assert_true(strncmp(portprof_status_name(s), "PORTPROF_",
		                    9) == 0);
		assert_null(strchr(portprof_status_name(s), '?'));
		assert_true(strlen(portprof_status_text(s)) > 4);
	}
	assert_string_equal(portprof_status_name(2), "PORTPROF_E_?");
	assert_string_equal(portprof_status_name(-1000), "PORTPROF_E_?");
}

static bool is_untouched(const void *block, size_t bytes)
{
	const unsigned char *byte = block;

	while (bytes-- > 0)
		if (*byte++ != 0x5a)
			return false;
	return true;
}

static void err_2_outputs_are_untouched(void **state)
{
	portprof_session *session = cf_open(cf_config());
	portprof_session *other = (portprof_session *)0x5a5a;
	portprof_group *group = (portprof_group *)0x5a5a;
	portprof_config *config = cf_config();
	portprof_stats stats;
	portprof_sink_stats sink;
	portprof_event_info event;
	portprof_backend_info backend;

	(void)state;
	memset(&stats, 0x5a, sizeof(stats));
	stats.size = sizeof(stats);
	assert_int_equal(portprof_session_stats(session, 7, &stats),
	                 PORTPROF_E_INVALID);
	assert_true(is_untouched((char *)&stats + sizeof(stats.size),
	                         sizeof(stats) - sizeof(stats.size)));
	memset(&sink, 0x5a, sizeof(sink));
	sink.size = sizeof(sink);
	assert_int_equal(portprof_session_sink_stats(session, 7, &sink),
	                 PORTPROF_E_INVALID);
	assert_true(is_untouched((char *)&sink + sizeof(sink.size),
	                         sizeof(sink) - sizeof(sink.size)));
	memset(&event, 0x5a, sizeof(event));
	event.size = sizeof(event);
	assert_int_equal(portprof_session_event(session, 7, &event),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_event_try("no-such", fixture.backend, &event),
			 PORTPROF_E_NOTFOUND);
	assert_true(is_untouched((char *)&event + sizeof(event.size),
	                         sizeof(event) - sizeof(event.size)));
	memset(&backend, 0x5a, sizeof(backend));
	backend.size = sizeof(backend);
	assert_int_equal(portprof_backend_info_get(1000, &backend),
	                 PORTPROF_E_INVALID);
	assert_true(is_untouched((char *)&backend + sizeof(backend.size),
	                         sizeof(backend) - sizeof(backend.size)));
	assert_int_equal(portprof_config_add_event(config, "no-such-event"),
	                 PORTPROF_OK);
	assert_int_not_equal(portprof_session_open(config, &other),
	                     PORTPROF_OK);
	assert_ptr_equal(other, (portprof_session *)0x5a5a);
	assert_int_not_equal(portprof_group_open_config(config, &group),
	                     PORTPROF_OK);
	assert_ptr_equal(group, (portprof_group *)0x5a5a);
	cf_close(session);
}

static void err_3_null_is_refused(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_group *group = NULL;
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_range region = { .offset = 0 };

	(void)state;
	is_invalid(portprof_session_open(NULL, &session));
	is_invalid(portprof_session_open(config, NULL));
	is_invalid(portprof_session_start(NULL));
	is_invalid(portprof_session_stop(NULL));
	is_invalid(portprof_session_flush(NULL));
	is_invalid(portprof_session_reset(NULL));
	is_invalid(portprof_session_stats(NULL, 0, &stats));
	is_invalid(portprof_group_open(NULL, &group));
	is_invalid(portprof_group_open("cpu-clock", NULL));
	is_invalid(portprof_group_open_config(NULL, &group));
	is_invalid(portprof_group_read(NULL, NULL, 0));
	is_invalid(portprof_event_look_up(NULL, NULL, NULL));
	is_invalid(portprof_backend_info_get(0, NULL));
	is_invalid(portprof_config_add_event(config, NULL));
	is_invalid(portprof_config_add_event(NULL, "cpu-clock"));
	is_invalid(portprof_config_set_backend(config, NULL));
	is_invalid(portprof_config_set_frequency(NULL, 100));
	is_invalid(portprof_config_set_period(NULL, 100));
	is_invalid(portprof_config_set(config, NULL, "1"));
	is_invalid(portprof_config_set(config, "frequency", NULL));
	is_invalid(portprof_config_add_histogram(config, 0, NULL, 1,
	                                         PORTPROF_BINS_TICKS));
	is_invalid(portprof_config_add_histogram(NULL, 0, &region, 1,
	                                         PORTPROF_BINS_TICKS));
	is_invalid(portprof_config_add_array(config, NULL, 4));
	is_invalid(portprof_config_add_callback(config, NULL, NULL));
	is_invalid(portprof_config_write_to(config, NULL));
}

static void err_3_values_out_of_range_are_refused(void **state)
{
	portprof_config *config = cf_config();

	(void)state;
	is_invalid(portprof_config_set_frequency(config, 0));
	is_invalid(portprof_config_set_frequency(config, 1000001));
	is_invalid(portprof_config_set_frequency(config, UINT64_MAX));
	is_invalid(portprof_config_set_period(config, 0));
	is_invalid(portprof_config_set_period(config, (uint64_t)1 << 63));
	is_invalid(portprof_config_set_period(config, UINT64_MAX));
	is_invalid(portprof_config_set_backend(config, ""));
	is_invalid(portprof_config_set_target(config, PORTPROF_TARGET_TID, -1));
	is_invalid(portprof_config_set_target(config, PORTPROF_TARGET_PID, -1));
	is_invalid(portprof_config_set_target(config, PORTPROF_TARGET_COMMAND,
					      -5));
	is_invalid(portprof_config_require(config, (uint64_t)1 << 63));
	is_invalid(portprof_config_set(config, "frequency", "-5"));
	is_invalid(portprof_config_set(config, "frequency", "many"));
	is_invalid(portprof_config_set(config, "no-such-key", "1"));
	is_invalid(portprof_config_write_to(config, ""));
}

static void err_3_histogram_of_no_event_is_refused(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_range region = { .offset = 0x400000, .scale = 65536,
		                   .bin_bits = 64, .bin_count = 8 };
	portprof_status status;

	(void)state;
	region.bins = cf_memory(64);
	status = portprof_config_add_histogram(config, 5, &region, 1,
	                                       PORTPROF_BINS_TICKS);
	if (status == PORTPROF_OK)
		status = cf_try_open(config, &session);
	is_invalid(status);
	assert_null(session);
}

static double requested_by(portprof_config *config)
{
	portprof_session *session = cf_open(config);
	double hz = cf_stats(session, 0).requested_hz;

	cf_close(session);
	return hz;
}

static void err_4_config_stays_as_it_was(void **state)
{
	portprof_config *config = cf_config();

	(void)state;
	assert_int_equal(portprof_config_set_frequency(config, 123),
	                 PORTPROF_OK);
	is_invalid(portprof_config_set_frequency(config, 0));
	is_invalid(portprof_config_set_period(config, 0));
	is_invalid(portprof_config_set_backend(config, ""));
	is_invalid(portprof_config_add_event(config, "cpu-clock::"));
	is_invalid(portprof_config_set(config, "frequency", "x"));
	assert_int_equal(portprof_config_event_count(config), 0);
	assert_true(requested_by(config) == 123);
}

/* ---- silence ---- */

struct quiet {
	int out, err, saved_out, saved_err;
};

static void be_quiet(struct quiet *quiet, const char *path)
{
	fflush(stdout);
	fflush(stderr);
	quiet->saved_out = dup(1);
	quiet->saved_err = dup(2);
	quiet->out = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	dup2(quiet->out, 1);
	dup2(quiet->out, 2);
}

static long end_quiet(struct quiet *quiet)
{
	struct stat info = { .st_size = -1 };

	fflush(stdout);
	fflush(stderr);
	dup2(quiet->saved_out, 1);
	dup2(quiet->saved_err, 2);
	close(quiet->saved_out);
	close(quiet->saved_err);
	if (fstat(quiet->out, &info) != 0)
		info.st_size = -1;
	close(quiet->out);
	return (long)info.st_size;
}

static void err_7_library_is_silent(void **state)
{
	portprof_config *config = cf_config(), *bad = cf_config();
	portprof_session *session = NULL;
	portprof_status opened, failed;
	struct quiet quiet;
	long written;

	(void)state;
	assert_int_equal(portprof_config_add_event(bad, "no-such-event"),
	                 PORTPROF_OK);
	be_quiet(&quiet, cf_path());
	opened = portprof_session_open(config, &session);
	if (opened == PORTPROF_OK) {
		portprof_session_start(session);
		cf_burn(0, 0, 20 * CF_MS);
		portprof_session_stop(session);
		portprof_session_close(session);
	}
	failed = portprof_session_open(bad, &session);
	portprof_event_look_up("cpu-clock::", NULL, NULL);
	written = end_quiet(&quiet);
	assert_int_equal(written, 0);
	assert_int_equal(opened, PORTPROF_OK);
	assert_int_equal(failed, PORTPROF_E_NOTFOUND);
}

static void *look_at_diag(void *context)
{
	portprof_status *seen = context;

	seen[0] = portprof_last_diag()->status;
	portprof_config_set_frequency(NULL, 1);
	seen[1] = portprof_last_diag()->status;
	return NULL;
}

static void err_8_diagnostics_belong_to_threads(void **state)
{
	portprof_status seen[2] = { PORTPROF_E_SYSTEM, PORTPROF_E_SYSTEM };
	portprof_event_info info = { .size = sizeof(info) };
	pthread_t thread;
	char words[PORTPROF_WORDS_BYTES];

	(void)state;
	assert_int_equal(portprof_event_try("no-such", fixture.backend, &info),
			 PORTPROF_E_NOTFOUND);
	strcpy(words, portprof_last_diag()->words);
	assert_int_equal(pthread_create(&thread, NULL, look_at_diag, seen), 0);
	pthread_join(thread, NULL);
	assert_int_equal(seen[0], PORTPROF_OK);
	assert_int_equal(seen[1], PORTPROF_E_INVALID);
	assert_int_equal(portprof_last_diag()->status, PORTPROF_E_NOTFOUND);
	assert_string_equal(portprof_last_diag()->words, words);
}

/* PORTPROF_END is no failure: the diagnostic is still that of the last one. */
static void err_9_the_end_is_no_failure(void **state)
{
	portprof_session *session = cf_open(cf_config());
	const char *name = "untouched", *reason = name;
	size_t group = 7, items = 0, index = 0;
	portprof_status status;
	char event[32] = "", kept[32];

	(void)state;
	assert_int_equal(portprof_config_set_frequency(NULL, 1),
	                 PORTPROF_E_INVALID);
	while ((status = portprof_event_list_get("cs,{a,b}", items, event,
	                                         sizeof(event), &group)) == 0)
		items++;
	strcpy(kept, event);
	assert_int_equal(status, PORTPROF_END);
	assert_int_equal(items, 3);
	assert_string_equal(event, "b");
	assert_int_equal(group, 1);
	assert_int_equal(portprof_event_list_get("cs", 9, event, sizeof(event),
	                                         &group), PORTPROF_END);
	assert_string_equal(event, kept);
	while ((status = portprof_session_passed_over(session, index, &name,
	                                              &reason)) == 0)
		index++;
	assert_int_equal(status, PORTPROF_END);
	assert_int_equal(index, 0); /* this backend was named */
	assert_string_equal(name, "untouched");
	assert_int_equal(portprof_last_diag()->status, PORTPROF_E_INVALID);
	assert_int_equal(portprof_session_passed_over(session, 0, NULL,
	                                              &reason),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	cf_close(session);
}

static const struct cf_case cases[] = {
	CF_CASE(err_1_refusals_are_explained),
	CF_CASE(err_1_every_status_has_name_and_text),
	CF_LIFE(err_2_outputs_are_untouched),
	CF_CASE(err_3_null_is_refused),
	CF_CASE(err_3_values_out_of_range_are_refused),
	CF_CASE(err_3_histogram_of_no_event_is_refused),
	CF_LIFE(err_4_config_stays_as_it_was),
	CF_LIFE(err_7_library_is_silent),
	CF_CASE(err_8_diagnostics_belong_to_threads),
	CF_LIFE(err_9_the_end_is_no_failure),
};

CF_FAMILY(error);
