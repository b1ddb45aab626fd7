/* SPDX-License-Identifier: MIT */
/*
 * Delay and duration. Both go by the real clock, also where the kernel is
 * simulated, so these cases sleep a little.
 */
#include "tests/conform/conform.h"

#include <time.h>

enum { SHORT_MS = 150 };

static void sleep_until(uint64_t until)
{
	struct timespec time = { .tv_nsec = 1000000 };

	while (cf_now_ns() <= until)
		nanosleep(&time, NULL);
}

/* The helper thread keeps the times; a flush does too, where there is none. */
static uint64_t total_now(portprof_session *session)
{
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	return cf_stats(session, 0).total_weight;
}

static void life_22_nothing_before_the_delay_is_over(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	uint64_t due, early;

	(void)state;
	assert_int_equal(portprof_config_set_number(config, "delay", SHORT_MS),
			 PORTPROF_OK);
	session = cf_open(config);
	due = cf_now_ns() + SHORT_MS * CF_MS;
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	early = total_now(session);
	/* on a busy machine that may have taken longer than the delay */
	if (cf_now_ns() < due)
		assert_int_equal(early, 0);
	sleep_until(due + 20 * CF_MS);
	early = total_now(session);
	cf_burn(0, 0, 100 * CF_MS);
	cf_stop(session);
	assert_true(cf_stats(session, 0).total_weight >= early + 80 * CF_MS);
	cf_close(session);
}

static void life_22_nothing_when_the_time_is_up(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	uint64_t due, total;

	(void)state;
	assert_int_equal(
		portprof_config_set_number(config, "duration", SHORT_MS),
		PORTPROF_OK);
	session = cf_open(config);
	due = cf_now_ns() + SHORT_MS * CF_MS;
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	sleep_until(due + 20 * CF_MS);
	total = total_now(session);
	cf_burn(0, 0, 50 * CF_MS);
	assert_int_equal(total_now(session), total);
	/* start begins again, for as long */
	due = cf_now_ns() + SHORT_MS * CF_MS;
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	if (cf_now_ns() < due)
		assert_true(total_now(session) > total);
	sleep_until(due + 20 * CF_MS);
	total = total_now(session);
	cf_burn(0, 0, 50 * CF_MS);
	cf_stop(session);
	assert_int_equal(cf_stats(session, 0).total_weight, total);
	cf_close(session);
}

static void life_22_stop_ends_the_delay(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;

	(void)state;
	assert_int_equal(portprof_config_set_number(config, "delay", 3600000),
			 PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	cf_burn(0, 0, 20 * CF_MS);
	cf_stop(session);
	cf_burn(0, 0, 20 * CF_MS);
	assert_int_equal(total_now(session), 0);
	cf_close(session);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(life_22_nothing_before_the_delay_is_over),
	CF_SAMPLES(life_22_nothing_when_the_time_is_up),
	CF_LIFE(life_22_stop_ends_the_delay),
};

CF_FAMILY(times);
