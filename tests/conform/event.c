/* SPDX-License-Identifier: MIT */
/* Conformance cases of event strings and what they resolve to. */
#include "tests/conform/conform.h"

#include <stdio.h>
#include <string.h>

static const char *const bad_strings[] = {
	"", ":", "::", ":u", "@", "cpu-clock:", "cpu-clock::u", "cpu-clock:u:",
	"cpu-clock:freq=", "cpu-clock:freq=-5", "cpu-clock:freq=0",
	"cpu-clock:freq=1e3", "cpu-clock:freq=99999999999999999999",
	"cpu-clock:period=0", "cpu-clock:period=-1", "cpu-clock:u=0:k=0",
	"cpu-clock:c=1e3", "cpu-clock@", "cpu-clock@x", "cpu-clock@0",
	"cpu-clock@1000:u", "cpu clock", "cpu-clock,,task-clock",
	"cpu-clock:u=2", "cpu-clock\n", "cpu-clock:\x01", "freq=100",
	"cpu-clock:freq=100:freq=200", "cpu-clock:freq=100:period=5",
};

static void event_1_malformed_is_refused_with_the_column(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_strings) / sizeof(bad_strings[0]);
	     i++) {
		portprof_config *config = portprof_config_new();

		assert_non_null(config);
		if (portprof_event_look_up(bad_strings[i], NULL, NULL) !=
		    PORTPROF_E_INVALID)
			fail_msg("not refused: '%s'", bad_strings[i]);
		cf_diag(PORTPROF_E_INVALID);
		if (!strstr(portprof_last_diag()->words, "column"))
			fail_msg("no column for '%s': %s", bad_strings[i],
			         portprof_last_diag()->words);
		assert_int_equal(portprof_config_add_event(config,
		                                           bad_strings[i]),
		                 PORTPROF_E_INVALID);
		assert_int_equal(portprof_config_event_count(config), 0);
		portprof_config_free(config);
	}
}

/* Of what the core does not know the backend says whether it takes it, and where
 * it stands. */
static void event_1_parts_of_a_backend_are_taken_or_refused(void **state)
{
	static const char *const strings[] = { "cpu-clock:nosuch=7",
		                               "cpu-clock:nosuch" };
	portprof_event_info info = { .size = sizeof(info) };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		portprof_config *config = cf_config();
		const char *words;

		assert_int_equal(portprof_event_look_up(strings[i], NULL, NULL),
				 PORTPROF_OK);
		assert_int_not_equal(
			portprof_event_try(strings[i], fixture.backend, &info),
			PORTPROF_OK);
		words = portprof_last_diag()->words;
		if (!strstr(words, "column 11") ||
		    !strstr(words, strchr(strings[i], ':') + 1))
			fail_msg("%s: %s", strings[i], words);
		assert_int_equal(portprof_config_add_event(config, strings[i]),
		                 PORTPROF_OK);
		assert_int_not_equal(cf_try_any(config), PORTPROF_OK);
		assert_non_null(strstr(portprof_last_diag()->words,
		                       "column 11"));
	}
}

/* What a list says is what its events say one by one. */
static void event_10_lists_are_read_alike_everywhere(void **state)
{
	static const char list[] = "cpu-clock,{task-clock:u,cs@7}:k,cpu-clock";
	static const char *const events[] = { "cpu-clock", "task-clock:u:k",
		                              "cs:k@7", "cpu-clock" };
	static const size_t groups[] = { 0, 1, 1, 2 };
	portprof_config *config = portprof_config_new();
	size_t group = SIZE_MAX;
	char event[64];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(portprof_event_list_get(list, i, event,
		                                         sizeof(event),
		                                         &group),
		                 PORTPROF_OK);
		assert_string_equal(event, events[i]);
		assert_int_equal(group, groups[i]);
	}
	assert_int_equal(portprof_event_list_get(list, 4, event, sizeof(event),
	                                         &group),
	                 PORTPROF_END);
	assert_int_equal(portprof_config_add_event(config, list), PORTPROF_OK);
	assert_int_equal(portprof_config_event_count(config), 3);
	/* all of it or nothing */
	assert_int_equal(portprof_config_add_event(config,
	                                           "cpu-clock,task-clock:"),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_config_event_count(config), 3);
	portprof_config_free(config);
}

static portprof_status explain(const char *event, portprof_event_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return portprof_event_try(event, fixture.backend, info);
}

static void must_explain(const char *event, portprof_event_info *info)
{
	portprof_status status = explain(event, info);

	if (status)
		fail_msg("%s: %s: %s", event, portprof_status_name(status),
		         portprof_last_diag()->words);
}

static void event_2_names_without_pmu_are_known_everywhere(void **state)
{
	static const char *const names[] = {
		"cpu-clock", "task-clock", "page-faults", "minor-faults",
		"major-faults", "context-switches", "cpu-migrations",
		"alignment-faults", "emulation-faults",
	};
	portprof_event_info info;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		portprof_status status = explain(names[i], &info);

		if (status == PORTPROF_OK)
			continue;
		if (status != PORTPROF_E_UNSUPPORTED)
			fail_msg("%s: %s: %s", names[i],
			         portprof_status_name(status),
			         portprof_last_diag()->words);
		cf_diag(status);
	}
	must_explain("cpu-clock", &info);
	assert_int_equal(info.unit, PORTPROF_UNIT_NANOSECONDS);
	must_explain("task-clock", &info);
	assert_int_equal(info.unit, PORTPROF_UNIT_NANOSECONDS);
	assert_int_equal(info.is_counted_only, !cf_has(PORTPROF_CAP_SAMPLE));
}

static void event_3_unknown_gets_the_nearest_names(void **state)
{
	static const char *const wrong[][2] = {
		{ "cpu-clok", "cpu-clock" },
		{ "task-clokc", "task-clock" },
		{ "page-fautls", "page-faults" },
	};
	portprof_event_info info;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(explain(wrong[i][0], &info),
		                 PORTPROF_E_NOTFOUND);
		cf_diag(PORTPROF_E_NOTFOUND);
		if (!strstr(portprof_last_diag()->words, wrong[i][1]))
			fail_msg("%s: %s is not named: %s", wrong[i][0],
			         wrong[i][1], portprof_last_diag()->words);
	}
}

static void event_3_open_refuses_an_unknown_name(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;

	(void)state;
	assert_int_equal(portprof_config_add_event(config, "no-such-event"),
	                 PORTPROF_OK);
	assert_int_equal(cf_try_open(config, &session), PORTPROF_E_NOTFOUND);
	cf_diag(PORTPROF_E_NOTFOUND);
	assert_null(session);
}

static void event_4_says_exactly_what_is_measured(void **state)
{
	portprof_event_info info;

	(void)state;
	must_explain("cpu-clock:freq=250", &info);
	assert_int_equal(info.unit, PORTPROF_UNIT_NANOSECONDS);
	assert_int_equal(info.rate_hz, 250);
	assert_int_equal(info.period, 0);
	assert_true(strlen(info.description) > 8);
	assert_true(info.counts_user == 1);
	must_explain("cpu-clock:period=2000000", &info);
	assert_int_equal(info.rate_hz, 0);
	assert_int_equal(info.period, 2000000);
}

static void event_4_session_tells_what_explaining_told(void **state)
{
	portprof_config *config = cf_config();
	portprof_event_info told, open = { .size = sizeof(open) };
	portprof_session *session;

	(void)state;
	must_explain("cpu-clock:freq=250", &told);
	assert_int_equal(portprof_config_add_event(config,
	                                           "cpu-clock:freq=250"),
	                 PORTPROF_OK);
	session = cf_open(config);
	assert_int_equal(portprof_session_event_count(session), 1);
	assert_int_equal(portprof_session_event(session, 0, &open),
	                 PORTPROF_OK);
	assert_string_equal(open.canonical, told.canonical);
	assert_string_equal(open.description, told.description);
	assert_int_equal(open.unit, told.unit);
	assert_int_equal(open.rate_hz, told.rate_hz);
	assert_int_equal(open.counts_kernel, told.counts_kernel);
	assert_int_equal(portprof_session_event(session, 1, &open),
	                 PORTPROF_E_INVALID);
	/* the session's own strings: no other event takes them away */
	must_explain("task-clock:freq=99", &told);
	assert_non_null(strstr(open.canonical, "cpu-clock"));
	assert_non_null(strstr(told.canonical, "task-clock"));
	cf_close(session);
}

/* The strings of the next event that is asked for take the place of these. */
static void keep_strings(portprof_event_info *info, char room[2][512])
{
	snprintf(room[0], 512, "%s", info->canonical);
	snprintf(room[1], 512, "%s", info->encoding);
	info->canonical = room[0];
	info->encoding = room[1];
}

/* All but the canonical form itself. */
static void assert_same_measurement(const portprof_event_info *a,
                                    const portprof_event_info *b)
{
	assert_int_equal(a->unit, b->unit);
	assert_int_equal(a->period, b->period);
	assert_int_equal(a->rate_hz, b->rate_hz);
	assert_int_equal(a->counts_user, b->counts_user);
	assert_int_equal(a->counts_kernel, b->counts_kernel);
	assert_string_equal(a->encoding, b->encoding);
}

static void event_5_canonical_form_is_the_same_measurement(void **state)
{
	static const char *const strings[] = {
		"cpu-clock", "task-clock", "cpu-clock:freq=1000",
		"cpu-clock@1000000", "task-clock:period=0x100000",
		"cpu-clock:u", "cpu-clock:u:k", "cpu-clock:k", "page-faults",
		"page-faults:u@100", "context-switches:freq=10",
		"cpu-clock:u=1:k=0:freq=99",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		portprof_event_info once, twice;
		char room[2][512];

		if (explain(strings[i], &once) != PORTPROF_OK)
			continue;
		keep_strings(&once, room);
		must_explain(once.canonical, &twice);
		assert_string_equal(once.canonical, twice.canonical);
		assert_same_measurement(&once, &twice);
	}
}

static void event_6_at_means_period(void **state)
{
	static const char *const same[] = {
		"cpu-clock@1000000", "cpu-clock:period=1000000",
		"cpu-clock:period=0xf4240", "cpu-clock@0xf4240",
	};
	portprof_event_info first, other;
	char room[2][512];

	(void)state;
	must_explain(same[0], &first);
	keep_strings(&first, room);
	assert_int_equal(first.period, 1000000);
	for (size_t i = 1; i < sizeof(same) / sizeof(same[0]); i++) {
		must_explain(same[i], &other);
		assert_string_equal(other.canonical, first.canonical);
		assert_same_measurement(&first, &other);
	}
}

static void event_7_levels_are_kept_or_refused(void **state)
{
	static const struct {
		const char *event;
		uint32_t user, kernel;
	} levels[] = {
		{ "cpu-clock:u", 1, 0 }, { "cpu-clock:k", 0, 1 },
		{ "cpu-clock:u:k", 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		portprof_event_info info;
		portprof_status status = explain(levels[i].event, &info);

		if (status == PORTPROF_OK) {
			assert_int_equal(info.counts_user, levels[i].user);
			assert_int_equal(info.counts_kernel, levels[i].kernel);
			continue;
		}
		if (status != PORTPROF_E_DENIED)
			assert_int_equal(status, PORTPROF_E_UNSUPPORTED);
		cf_diag(status);
	}
}

static void event_8_several_events_have_their_own_account(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_log *log;

	(void)state;
	cf_needs(PORTPROF_CAP_EVENTS);
	log = cf_log(config);
	assert_int_equal(portprof_config_add_event(config,
	                                           "cpu-clock:freq=1000"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config,
	                                           "task-clock:freq=500"),
	                 PORTPROF_OK);
	session = cf_open(config);
	assert_int_equal(portprof_session_event_count(session), 2);
	cf_start(session);
	cf_work(&program, 0, 0, 60 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	for (size_t event = 0; event < 2; event++) {
		portprof_stats stats = cf_stats(session, event);
		struct expect expect = cf_expect(&program, CF_PERIOD_NS *
		                                           (event + 1));

		cf_in_range(stats.kept_weight, expect.sampled, "weight");
		assert_int_equal(stats.kept_weight, cf_log_weight(log, event));
		assert_true(stats.requested_hz == (event ? 500 : 1000));
	}
	for (size_t i = 0; i < log->count; i++)
		assert_in_range(log->records[i].event, 0, 1);
	cf_close(session);
}

static void event_8_needs_the_capability(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_status status;

	(void)state;
	assert_int_equal(portprof_config_add_event(config, "cpu-clock"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, "task-clock"),
	                 PORTPROF_OK);
	status = cf_try_open(config, &session);
	if (cf_has(PORTPROF_CAP_EVENTS)) {
		assert_int_equal(status, PORTPROF_OK);
		cf_close(session);
		return;
	}
	assert_int_equal(status, PORTPROF_E_UNSUPPORTED);
	cf_diag(status);
}

static const struct cf_case cases[] = {
	CF_CASE(event_1_malformed_is_refused_with_the_column),
	CF_CASE(event_1_parts_of_a_backend_are_taken_or_refused),
	CF_CASE(event_2_names_without_pmu_are_known_everywhere),
	CF_CASE(event_3_unknown_gets_the_nearest_names),
	CF_CASE(event_3_open_refuses_an_unknown_name),
	CF_LIFE(event_4_says_exactly_what_is_measured),
	CF_LIFE(event_4_session_tells_what_explaining_told),
	CF_CASE(event_5_canonical_form_is_the_same_measurement),
	CF_LIFE(event_6_at_means_period),
	CF_CASE(event_7_levels_are_kept_or_refused),
	CF_SAMPLES(event_8_several_events_have_their_own_account),
	CF_LIFE(event_8_needs_the_capability),
	CF_CASE(event_10_lists_are_read_alike_everywhere),
};

CF_FAMILY(event);
