/* SPDX-License-Identifier: MIT */
/* Starting and stopping again and again, and configs used again. */
#include "tests/conform/conform.h"

#include <string.h>

static void life_2_start_and_stop_any_number_of_times(void **state)
{
	portprof_session *session = cf_open(cf_config());
	struct cf_program program = { .count = 0 };
	struct expect expect;

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		cf_start(session);
		cf_work(&program, 0, i % FX_FUNCTIONS, 10 * CF_MS);
		cf_run(&program);
		cf_stop(session);
	}
	/* each stretch may leave a tail */
	expect = cf_expect(&program, CF_PERIOD_NS);
	if (fixture.is_exact)
		assert_int_equal(cf_stats(session, 0).total_weight,
		                 cf_used(&program));
	assert_true(cf_stats(session, 0).total_weight >= expect.sampled.low);
	assert_true(cf_stats(session, 0).unattributed_weight <=
	            10 * expect.unattributed.high);
	cf_close(session);
}

static void life_4_stop_twice_is_ok(void **state)
{
	portprof_session *session = cf_open(cf_config());
	portprof_stats once, twice;

	(void)state;
	cf_stop(session); /* never started */
	cf_start(session);
	cf_burn(0, 0, 20 * CF_MS);
	cf_stop(session);
	once = cf_stats(session, 0);
	cf_stop(session);
	twice = cf_stats(session, 0);
	assert_memory_equal(&once, &twice, sizeof(once));
	cf_close(session);
}

static void life_4_start_twice_is_ok(void **state)
{
	portprof_session *session = cf_open(cf_config());
	struct cf_program program = { .count = 0 };
	struct expect expect;

	(void)state;
	cf_start(session);
	cf_work(&program, 0, 0, 30 * CF_MS);
	cf_run(&program);
	cf_start(session);
	cf_work(&program, 0, 0, 30 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	expect = cf_expect(&program, CF_PERIOD_NS);
	cf_in_range(cf_stats(session, 0).kept_weight, expect.sampled,
	            "weight");
	cf_close(session);
}

static void life_5_totals_continue_after_start(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	portprof_stats first, second;
	struct cf_watch watch;

	(void)state;
	cf_watch(config, &watch);
	session = cf_open(config);
	cf_start(session);
	cf_burn(0, 0, 50 * CF_MS);
	cf_stop(session);
	first = cf_stats(session, 0);
	cf_start(session);
	cf_burn(0, 0, 50 * CF_MS);
	cf_stop(session);
	second = cf_stats(session, 0);
	assert_true(second.total_weight >= first.total_weight);
	assert_true(second.kept_weight >= first.kept_weight);
	assert_true(second.delivered_samples >= first.delivered_samples);
	if (first.kept_weight > 0)
		assert_true(second.kept_weight > first.kept_weight);
	assert_int_equal(cf_watched(&watch, 0) + cf_watched(&watch, 1) +
	                         cf_watched(&watch, 2) + cf_watched(&watch, 3),
	                 second.kept_weight);
	cf_close(session);
}

static void life_19_config_may_go_after_open(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_range region;
	uint64_t *bins = cf_memory(64 * 8);
	portprof_session *session;
	portprof_event_info info = { .size = sizeof(info) };

	(void)state;
	region = (portprof_range){ .offset = 0x400000, .scale = 65536,
		                    .bin_bits = 64, .bins = bins,
		                    .bin_count = 64 };
	assert_int_equal(portprof_config_set_backend(config, fixture.backend),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config,
	                                           "cpu-clock:freq=300"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_histogram(config, 0, &region, 1,
	                                               PORTPROF_BINS_TICKS),
	                 PORTPROF_OK);
	memset(&region, 0xee, sizeof(region));
	session = cf_open(config);
	portprof_config_free(config);
	cf_start(session);
	cf_burn(0, 0, 30 * CF_MS);
	cf_stop(session);
	assert_int_equal(portprof_session_event(session, 0, &info),
	                 PORTPROF_OK);
	assert_int_equal(info.rate_hz, 300);
	cf_stats(session, 0);
	cf_close(session);
}

static void life_19_config_may_be_used_again(void **state)
{
	portprof_config *config = cf_config();

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		portprof_session *session = cf_open(config);

		cf_start(session);
		cf_burn(0, 0, 5 * CF_MS);
		cf_stop(session);
		cf_close(session);
	}
}

static void life_21_a_thousand_starts_and_stops(void **state)
{
	portprof_session *session = cf_open(cf_config());
	size_t held;

	(void)state;
	cf_start(session);
	cf_stop(session);
	held = fixture.held();
	for (unsigned i = 0; i < 1000; i++) {
		cf_start(session);
		cf_stop(session);
	}
	assert_int_equal(fixture.held(), held);
	cf_stats(session, 0);
	cf_close(session);
}

static void life_21_a_thousand_opens_and_closes(void **state)
{
	portprof_config *config = cf_config();

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		portprof_session *session = cf_open(config);

		if (i % 10 == 0)
			cf_start(session);
		cf_close(session);
	}
	assert_int_equal(fixture.held(), 0);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(life_2_start_and_stop_any_number_of_times),
	CF_SAMPLES(life_4_stop_twice_is_ok),
	CF_SAMPLES(life_4_start_twice_is_ok),
	CF_SAMPLES(life_5_totals_continue_after_start),
	CF_LIFE(life_19_config_may_go_after_open),
	CF_LIFE(life_19_config_may_be_used_again),
	CF_LIFE(life_21_a_thousand_starts_and_stops),
	CF_LIFE(life_21_a_thousand_opens_and_closes),
};

CF_FAMILY(cycle);
