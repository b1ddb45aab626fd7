/* SPDX-License-Identifier: MIT */
/* The account: what was delivered, kept, outside, lost, unattributed. */
#include "tests/conform/conform.h"

#include <string.h>

#include <portprof/tool.h>

/* A histogram over one function. */
static void add_region_over(portprof_config *config, unsigned function)
{
	portprof_range region;
	uint64_t start, end;

	fixture.function_range(function, &start, &end);
	region = cf_range(start, 65536, 64, (size_t)(end - start + 1) / 2);
	cf_histogram(config, &region, 1, PORTPROF_BINS_WEIGHT);
}

/* cf_stats checks both sums; here at every moment of a life. */
static void check_sums_all_along(portprof_session *session)
{
	cf_stats(session, 0);
	cf_start(session);
	for (unsigned i = 0; i < 12; i++) {
		cf_burn(0, i % FX_FUNCTIONS, 7 * CF_MS);
		cf_stats(session, 0);
		if (i % 3 == 0)
			assert_int_equal(portprof_session_flush(session),
			                 PORTPROF_OK);
		cf_stats(session, 0);
	}
	cf_stop(session);
	cf_stats(session, 0);
	cf_start(session);
	cf_burn(0, 1, 7 * CF_MS);
	cf_stats(session, 0);
	cf_stop(session);
	cf_stats(session, 0);
}

static void loss_1_samples_add_up_at_every_moment(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;

	(void)state;
	add_region_over(config, 0);
	session = cf_open(config);
	check_sums_all_along(session);
	cf_close(session);
}

static void loss_2_weights_add_up_at_every_moment(void **state)
{
	portprof_session *session = cf_open(cf_config());

	(void)state;
	check_sums_all_along(session);
	cf_close(session);
}

static void loss_3_lost_samples_are_counted(void **state)
{
	enum { LOST = 20 };
	portprof_session *session = cf_open(cf_config());
	portprof_stats before, after;

	(void)state;
	if (!fixture.lose)
		cf_skip("cannot make this kernel lose samples");
	cf_start(session);
	cf_burn(0, 0, 20 * CF_MS);
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	before = cf_stats(session, 0);
	fixture.lose(LOST);
	cf_burn(0, 0, LOST * (CF_PERIOD_NS + fixture.tick_ns) + 20 * CF_MS);
	cf_stop(session);
	after = cf_stats(session, 0);
	if (portprof_session_caps(session) & PORTPROF_CAP_LOST_EXACT) {
		assert_int_equal(after.lost_certainty, PORTPROF_EXACT);
		assert_int_equal(after.lost_samples - before.lost_samples,
		                 LOST);
	} else {
		assert_true(after.lost_samples > before.lost_samples ||
		            after.lost_certainty == PORTPROF_UNKNOWN);
	}
	cf_close(session);
}

static void loss_4_lost_weight_stays_in_the_total(void **state)
{
	enum { LOST = 20 };
	portprof_session *session = cf_open(cf_config());
	uint64_t used, resolution = CF_PERIOD_NS + fixture.tick_ns;
	portprof_stats stats;

	(void)state;
	if (!fixture.lose)
		cf_skip("cannot make this kernel lose samples");
	cf_start(session);
	used = cf_burn(0, 0, 20 * CF_MS);
	fixture.lose(LOST);
	used += cf_burn(0, 0, LOST * resolution + 20 * CF_MS);
	cf_stop(session);
	stats = cf_stats(session, 0);
	assert_true(stats.total_weight >= used - used / 20);
	if (fixture.is_exact)
		assert_int_equal(stats.total_weight, used);
	assert_true(stats.unattributed_weight <=
	            resolution + LOST * resolution +
	                    (fixture.is_exact ? 0 : used / 4 + 20 * CF_MS));
	cf_close(session);
}

static void loss_5_unattributed_is_bounded(void **state)
{
	portprof_session *session = cf_open(cf_config());
	struct cf_program program = { .count = 0 };
	struct expect expect;
	portprof_stats stats;

	(void)state;
	fixture.thread_start(1);
	fixture.thread_start(2);
	cf_start(session);
	for (unsigned t = 0; t < 3; t++)
		cf_work(&program, t, t, 60 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	expect = cf_expect(&program, CF_PERIOD_NS);
	stats = cf_stats(session, 0);
	cf_in_range(stats.unattributed_weight - stats.not_attached_weight,
	            expect.unattributed, "unattributed");
	fixture.thread_end(1);
	fixture.thread_end(2);
	cf_close(session);
}

/* Many threads, each too short for a sample to be due. */
static void loss_6_short_threads_are_unattributed(void **state)
{
	enum { THREADS = 20, HZ = 5 };
	portprof_config *config = cf_config();
	uint64_t used = 0, longest = 0;
	portprof_session *session;
	portprof_stats stats;

	(void)state;
	assert_int_equal(portprof_config_set_frequency(config, HZ),
	                 PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	for (unsigned i = 0; i < THREADS; i++) {
		uint64_t one;

		fixture.thread_start(1);
		one = cf_burn(1, i % FX_FUNCTIONS, 2 * CF_MS);
		fixture.thread_end(1);
		used += one;
		longest = one > longest ? one : longest;
	}
	cf_stop(session);
	stats = cf_stats(session, 0);
	assert_true(stats.total_weight >= used - used / 20);
	if (fixture.is_exact)
		assert_int_equal(stats.total_weight, used);
	/* no sample stands for more than its own thread used, or, where
	 * threads are met by chance, than a tick of the kernel's or a period
	 * of them all */
	if (fixture.has_own_rate && fixture.tick_ns > longest)
		longest = fixture.tick_ns;
	if (fixture.is_weighed_together)
		longest = 1000 * CF_MS / HZ;
	if (!fixture.is_exact)
		longest += 10 * CF_MS; /* starting threads is not free */
	assert_true(stats.kept_weight <= stats.delivered_samples * longest);
	assert_int_equal(stats.unattributed_weight,
	                 stats.total_weight - stats.kept_weight);
	cf_close(session);
}

static void loss_7_total_is_what_the_system_charged(void **state)
{
	portprof_session *session = cf_open(cf_config());
	struct cf_program program = { .count = 0 };
	uint64_t before, charged, used, slack;
	portprof_stats stats;

	(void)state;
	fixture.thread_start(1);
	before = fixture.cpu_time_ns();
	cf_start(session);
	for (unsigned i = 0; i < 8; i++)
		cf_work(&program, i % 2, i % FX_FUNCTIONS, 20 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	charged = fixture.cpu_time_ns() - before;
	used = cf_used(&program);
	slack = cf_slack(used);
	stats = cf_stats(session, 0);
	assert_true(stats.total_weight + slack >= used);
	assert_true(stats.total_weight <= charged + slack);
	if (stats.cpu_time_ns > 0) {
		assert_true(stats.cpu_time_ns + slack >= used);
		assert_true(stats.cpu_time_ns <= charged + slack);
	}
	fixture.thread_end(1);
	cf_close(session);
}

static void loss_7_an_ended_target_is_told(void **state)
{
	portprof_session *session = cf_open(cf_config());
	portprof_stats stats;

	(void)state;
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	cf_stop(session);
	assert_int_equal(portprof_session_set_number(session, 0, "cpu-time",
	                                             5000 * CF_MS),
	                 PORTPROF_OK);
	stats = cf_stats(session, 0);
	assert_int_equal(stats.cpu_time_ns, 5000 * CF_MS);
	assert_int_equal(stats.total_weight, 5000 * CF_MS);
	cf_close(session);
}

/* One sink keeps, another finds it outside; then nobody keeps. */
static void loss_8_best_verdict_of_all_sinks_counts(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	portprof_sink_stats first, second;
	portprof_stats stats;

	(void)state;
	add_region_over(config, 0);
	add_region_over(config, 1);
	session = cf_open(config);
	cf_start(session);
	for (unsigned f = 0; f < 3; f++)
		cf_burn(0, f, 40 * CF_MS);
	cf_stop(session);
	stats = cf_stats(session, 0);
	first = cf_sink(session, 0);
	second = cf_sink(session, 1);
	assert_int_equal(stats.kept_weight,
	                 first.kept_weight + second.kept_weight);
	assert_int_equal(stats.kept_samples,
	                 first.kept_samples + second.kept_samples);
	assert_int_equal(first.kept_weight + first.outside_weight,
	                 stats.kept_weight + stats.outside_weight);
	assert_int_equal(second.kept_samples + second.outside_samples,
	                 stats.kept_samples + stats.outside_samples);
	cf_close(session);
}

static void loss_8_what_no_sink_could_take_is_lost(void **state)
{
	portprof_config *config = cf_config();
	uint64_t room[3];
	portprof_session *session;
	portprof_sink_stats sink;
	portprof_stats stats;

	(void)state;
	cf_needs(PORTPROF_CAP_EXACT_PC);
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	assert_int_equal(portprof_config_add_array(config, room, 3),
	                 PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	cf_burn(0, 0, 20 * (CF_PERIOD_NS + fixture.tick_ns));
	cf_stop(session);
	stats = cf_stats(session, 0);
	sink = cf_sink(session, 0);
	assert_int_equal(sink.kept_samples, stats.kept_samples);
	assert_true(sink.kept_samples <= 3);
	assert_true(stats.lost_samples >= sink.lost_samples);
	assert_int_equal(stats.outside_samples, 0);
	if (stats.delivered_samples > 3)
		assert_true(sink.lost_samples > 0);
	cf_close(session);
}

/* The same program drained in rooms of 1 and 7 records. */
static void run_in_room(size_t room)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_watch watch;
	struct expect expect;
	portprof_stats stats;

	fx_set_room(room);
	cf_watch(config, &watch);
	session = cf_open(config);
	cf_start(session);
	for (unsigned i = 0; i < 3; i++) {
		cf_work(&program, 0, i, 30 * CF_MS);
		cf_run(&program);
	}
	cf_stop(session);
	expect = cf_expect(&program, CF_PERIOD_NS);
	stats = cf_stats(session, 0);
	cf_in_range(stats.kept_weight + stats.outside_weight, expect.sampled,
	            "weight");
	cf_check_functions(&watch, &expect);
	if (fixture.is_exact)
		assert_int_equal(stats.total_weight, cf_used(&program));
	cf_close(session);
	fx_set_room(0);
}

static void loss_9_small_steps_change_nothing(void **state)
{
	(void)state;
	run_in_room(1);
	run_in_room(2);
	run_in_room(7);
	run_in_room(0);
}

static void loss_9_small_steps_lose_no_record(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	struct cf_log *log;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	fx_set_room(1);
	log = cf_log(config);
	session = cf_open(config);
	cf_start(session);
	cf_burn(0, 0, 50 * CF_MS);
	cf_stop(session);
	assert_null(log->mistake);
	assert_int_equal(cf_log_weight(log, 0),
	                 cf_stats(session, 0).kept_weight);
	cf_close(session);
}

static void loss_10_unknown_is_marked(void **state)
{
	portprof_session *session = cf_open(cf_config());
	portprof_stats stats;

	(void)state;
	cf_start(session);
	cf_burn(0, 0, 20 * CF_MS);
	cf_stop(session);
	stats = cf_stats(session, 0);
	assert_in_range(stats.lost_certainty, PORTPROF_UNKNOWN,
	                PORTPROF_EXACT);
	assert_in_range(stats.unattributed_certainty, PORTPROF_UNKNOWN,
	                PORTPROF_EXACT);
	if (portprof_session_caps(session) & PORTPROF_CAP_LOST_EXACT)
		assert_int_equal(stats.lost_certainty, PORTPROF_EXACT);
	cf_close(session);
}

/* Threads come and go: what the kernel reports about them is among no losses. */
static void loss_11_no_more_samples_than_periods(void **state)
{
	enum { THREADS = 300 };
	uint64_t period = CF_PERIOD_NS;
	portprof_config *config = cf_config();
	portprof_session *session;
	portprof_stats stats;

	(void)state;
	assert_int_equal(portprof_config_set_number(config, "ring", 4096),
			 PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	for (unsigned i = 0; i < THREADS; i++) {
		fixture.thread_start(1);
		fixture.thread_end(1);
		if (i % 100 == 0)
			cf_burn(0, 0, 10 * CF_MS);
	}
	cf_stop(session);
	stats = cf_stats(session, 0);
	if (fixture.has_own_rate && stats.granted_hz > 0)
		period = (uint64_t)(1e9 / stats.granted_hz);
	assert_true(stats.delivered_samples <=
	            stats.total_weight / period + THREADS / 100 + 1);
	cf_close(session);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(loss_1_samples_add_up_at_every_moment),
	CF_SAMPLES(loss_2_weights_add_up_at_every_moment),
	CF_SAMPLES(loss_3_lost_samples_are_counted),
	CF_SAMPLES(loss_4_lost_weight_stays_in_the_total),
	CF_SAMPLES(loss_5_unattributed_is_bounded),
	CF_SAMPLES(loss_6_short_threads_are_unattributed),
	CF_SAMPLES(loss_7_total_is_what_the_system_charged),
	CF_SAMPLES(loss_7_an_ended_target_is_told),
	CF_SAMPLES(loss_8_best_verdict_of_all_sinks_counts),
	CF_SAMPLES(loss_8_what_no_sink_could_take_is_lost),
	CF_SAMPLES(loss_9_small_steps_change_nothing),
	CF_SAMPLES(loss_9_small_steps_lose_no_record),
	CF_SAMPLES(loss_10_unknown_is_marked),
	CF_SAMPLES(loss_11_no_more_samples_than_periods),
};

CF_FAMILY(loss);
