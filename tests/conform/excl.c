/* SPDX-License-Identifier: MIT */
/* Facilities that a process has one of, and several sessions at once. */
#include "tests/conform/conform.h"

#include <string.h>

static void life_11_second_session_gets_busy(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *first, *second = NULL;
	portprof_status status;
	struct cf_watch watch;
	struct expect expect;

	(void)state;
	if (!cf_has(PORTPROF_CAP_EXCLUSIVE))
		cf_skip("is not exclusive: any number of sessions");
	cf_watch(config, &watch);
	first = cf_open(config);
	cf_start(first);
	cf_work(&program, 0, 0, 40 * CF_MS);
	cf_run(&program);
	status = cf_try_open(cf_config(), &second);
	if (status == PORTPROF_OK)
		status = portprof_session_start(second);
	assert_int_equal(status, PORTPROF_E_BUSY);
	cf_diag(PORTPROF_E_BUSY);
	cf_work(&program, 0, 0, 40 * CF_MS);
	cf_run(&program);
	if (second)
		cf_close(second);
	cf_work(&program, 0, 0, 40 * CF_MS);
	cf_run(&program);
	cf_stop(first);
	expect = cf_expect(&program, CF_PERIOD_NS);
	cf_check_functions(&watch, &expect);
	cf_close(first);
}

static void life_11_free_again_after_stop_or_close(void **state)
{
	portprof_session *first = cf_open(cf_config());
	portprof_session *second;

	(void)state;
	cf_start(first);
	cf_burn(0, 0, 10 * CF_MS);
	cf_close(first);
	second = cf_open(cf_config());
	cf_start(second);
	cf_burn(0, 0, 10 * CF_MS);
	cf_stop(second);
	cf_close(second);
}

static void life_11_two_sessions_as_if_alone(void **state)
{
	portprof_config *configs[2] = { cf_config(), cf_config() };
	struct cf_program program = { .count = 0 };
	portprof_session *sessions[2];
	struct cf_watch watches[2];
	struct expect expect;

	(void)state;
	if (cf_has(PORTPROF_CAP_EXCLUSIVE))
		cf_skip("is exclusive: one session a process");
	for (size_t i = 0; i < 2; i++) {
		cf_watch(configs[i], &watches[i]);
		sessions[i] = cf_open(configs[i]);
	}
	cf_start(sessions[0]);
	cf_start(sessions[1]);
	for (unsigned f = 0; f < FX_FUNCTIONS; f++)
		cf_work(&program, 0, f, 30 * CF_MS);
	cf_run(&program);
	cf_stop(sessions[0]);
	cf_stop(sessions[1]);
	expect = cf_expect(&program, CF_PERIOD_NS);
	for (size_t i = 0; i < 2; i++) {
		cf_check_functions(&watches[i], &expect);
		if (fixture.is_exact)
			assert_int_equal(cf_stats(sessions[i], 0).total_weight,
			                 cf_used(&program));
	}
	cf_close(sessions[0]);
	cf_close(sessions[1]);
}

/* One goes, the other stays. */
static void life_11_closing_one_leaves_the_other(void **state)
{
	struct cf_program program = { .count = 0 };
	portprof_session *stays, *goes;
	struct expect expect;

	(void)state;
	if (cf_has(PORTPROF_CAP_EXCLUSIVE))
		cf_skip("is exclusive: one session a process");
	stays = cf_open(cf_config());
	goes = cf_open(cf_config());
	fixture.thread_start(1);
	cf_start(goes);
	cf_start(stays);
	cf_work(&program, 0, 0, 30 * CF_MS);
	cf_work(&program, 1, 1, 30 * CF_MS);
	cf_run(&program);
	cf_close(goes);
	cf_work(&program, 0, 2, 30 * CF_MS);
	cf_work(&program, 1, 3, 30 * CF_MS);
	cf_run(&program);
	cf_stop(stays);
	expect = cf_expect(&program, CF_PERIOD_NS);
	cf_in_range(cf_stats(stays, 0).kept_weight, expect.sampled, "weight");
	fixture.thread_end(1);
	cf_close(stays);
}

/* Each time another of what it can take: a timer alone, a handler alone. */
static void life_12_nothing_is_stolen_from_the_application(void **state)
{
	portprof_session *session;

	(void)state;
	if (!fixture.application_takes)
		cf_skip("needs nothing that an application could have");
	for (int i = 0; i < 2; i++) {
		portprof_status status;

		session = NULL;
		fixture.application_takes();
		status = cf_try_open(cf_config(), &session);
		if (status == PORTPROF_OK)
			status = portprof_session_start(session);
		assert_true(fixture.application_is_intact());
		assert_int_equal(status, PORTPROF_E_BUSY);
		cf_diag(PORTPROF_E_BUSY);
		if (session)
			cf_close(session);
		assert_true(fixture.application_is_intact());
		fixture.application_gives_back();
	}
	session = cf_open(cf_config());
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	cf_stop(session);
	cf_close(session);
}

static void life_12_what_is_taken_later_is_the_applications(void **state)
{
	(void)state;
	if (!fixture.application_takes)
		cf_skip("needs nothing that an application could have");
	if (!cf_has(PORTPROF_CAP_EXACT_PC))
		cf_skip("the C library's profil() has what it needs");
	for (int i = 0; i < 2; i++) {
		portprof_session *session = cf_open(cf_config());

		cf_start(session);
		cf_burn(0, 0, 10 * CF_MS);
		fixture.application_takes();
		fixture.idle(400 * CF_MS);
		cf_burn(0, 0, 10 * CF_MS);
		assert_true(fixture.application_is_intact());
		cf_stop(session);
		assert_true(fixture.application_is_intact());
		cf_close(session);
		assert_true(fixture.application_is_intact());
		fixture.application_gives_back();
	}
}

static const struct cf_case cases[] = {
	CF_SAMPLES(life_11_second_session_gets_busy),
	CF_LIFE(life_11_free_again_after_stop_or_close),
	CF_SAMPLES(life_11_two_sessions_as_if_alone),
	CF_SAMPLES(life_11_closing_one_leaves_the_other),
	CF_LIFE(life_12_nothing_is_stolen_from_the_application),
	CF_LIFE(life_12_what_is_taken_later_is_the_applications),
};

CF_FAMILY(excl);
