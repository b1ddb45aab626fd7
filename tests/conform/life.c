/* SPDX-License-Identifier: MIT */
/* Life of a session: open, start, stop, reset, flush, close. */
#include "tests/conform/conform.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void life_1_nothing_is_measured_before_start(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	struct cf_watch watch;
	portprof_stats stats;

	(void)state;
	cf_watch(config, &watch);
	session = cf_open(config);
	cf_burn(0, 0, 50 * CF_MS);
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	stats = cf_stats(session, 0);
	assert_int_equal(stats.total_weight, 0);
	assert_int_equal(stats.delivered_samples, 0);
	assert_int_equal(stats.cpu_time_ns, 0);
	for (unsigned f = 0; f < FX_FUNCTIONS; f++)
		assert_int_equal(cf_watched(&watch, f), 0);
	cf_start(session);
	cf_burn(0, 0, 20 * CF_MS);
	cf_stop(session);
	assert_true(cf_stats(session, 0).total_weight > 0);
	cf_close(session);
}

static void life_1_nothing_is_measured_while_stopped(void **state)
{
	portprof_session *session = cf_open(cf_config());
	portprof_stats before, after;

	(void)state;
	cf_start(session);
	cf_burn(0, 0, 20 * CF_MS);
	cf_stop(session);
	before = cf_stats(session, 0);
	cf_burn(0, 1, 50 * CF_MS);
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	after = cf_stats(session, 0);
	assert_int_equal(after.total_weight, before.total_weight);
	assert_int_equal(after.delivered_samples, before.delivered_samples);
	assert_int_equal(after.cpu_time_ns, before.cpu_time_ns);
	cf_close(session);
}

/* ---- the caller's memory ---- */

static atomic_bool should_burn;

static void *burn_until_told(void *unused)
{
	atomic_uint turns = 0;

	(void)unused;
	while (atomic_load(&should_burn))
		atomic_fetch_add(&turns, 1);
	return NULL;
}

/* Bins in pages of their own, taken away on the line after stop while
 * threads still run: a late write would be a crash. */
static void life_3_memory_may_go_right_after_stop(void **state)
{
	size_t bytes = 1 << 20;
	portprof_config *config = cf_config();
	portprof_session *session;
	pthread_t thread;
	uint64_t start, end;
	char *bins = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	portprof_range region = { .scale = 65536, .bin_bits = 64,
		                   .bins = bins, .bin_count = bytes / 8 };

	(void)state;
	assert_true(bins != MAP_FAILED);
	fixture.function_range(0, &start, &end);
	region.offset = start;
	assert_int_equal(portprof_config_add_histogram(config, 0, &region, 1,
	                                               PORTPROF_BINS_WEIGHT),
	                 PORTPROF_OK);
	session = cf_open(config);
	atomic_store(&should_burn, fixture.is_real);
	assert_int_equal(pthread_create(&thread, NULL, burn_until_told, NULL),
	                 0);
	for (unsigned i = 0; i < 10; i++) {
		cf_start(session);
		cf_burn(0, 0, 5 * CF_MS);
		cf_stop(session);
		mprotect(bins, bytes, PROT_NONE);
		cf_burn(0, 0, 5 * CF_MS);
		fixture.idle(5 * CF_MS);
		mprotect(bins, bytes, PROT_READ | PROT_WRITE);
	}
	munmap(bins, bytes);
	cf_burn(0, 0, 5 * CF_MS);
	cf_stats(session, 0);
	cf_close(session);
	atomic_store(&should_burn, false);
	pthread_join(thread, NULL);
}

static void life_3_all_samples_have_reached_their_sinks(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_watch watch;
	struct expect expect;
	uint64_t at_stop[FX_FUNCTIONS];

	(void)state;
	cf_watch(config, &watch);
	session = cf_open(config);
	cf_start(session);
	cf_work(&program, 0, 0, 60 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	expect = cf_expect(&program, CF_PERIOD_NS);
	cf_check_functions(&watch, &expect);
	for (unsigned f = 0; f < FX_FUNCTIONS; f++)
		at_stop[f] = cf_watched(&watch, f);
	cf_burn(0, 1, 30 * CF_MS);
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	cf_close(session);
	for (unsigned f = 0; f < FX_FUNCTIONS; f++)
		assert_int_equal(cf_watched(&watch, f), at_stop[f]);
}

static void life_6_reset_makes_totals_0(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	portprof_stats stats;
	struct cf_watch watch;
	struct expect expect;
	uint64_t bins;

	(void)state;
	cf_watch(config, &watch);
	session = cf_open(config);
	cf_start(session);
	cf_burn(0, 0, 50 * CF_MS);
	cf_stop(session);
	bins = cf_watched(&watch, 0);
	assert_int_equal(portprof_session_reset(session), PORTPROF_OK);
	stats = cf_stats(session, 0);
	assert_int_equal(stats.total_weight, 0);
	assert_int_equal(stats.delivered_samples, 0);
	assert_int_equal(stats.lost_samples, 0);
	assert_int_equal(stats.cpu_time_ns, 0);
	assert_int_equal(stats.own_cost_ns, 0);
	assert_int_equal(cf_sink(session, 0).kept_weight, 0);
	assert_int_equal(cf_watched(&watch, 0), bins);
	cf_start(session);
	cf_work(&program, 0, 1, 60 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	expect = cf_expect(&program, CF_PERIOD_NS);
	stats = cf_stats(session, 0);
	cf_in_range(stats.kept_weight + stats.outside_weight, expect.sampled,
	            "weight after reset");
	if (fixture.is_exact)
		assert_int_equal(stats.total_weight, cf_used(&program));
	cf_close(session);
}

static void life_6_reset_while_running_is_refused(void **state)
{
	portprof_session *session = cf_open(cf_config());

	(void)state;
	cf_start(session);
	cf_burn(0, 0, 20 * CF_MS);
	assert_int_equal(portprof_session_reset(session), PORTPROF_E_STATE);
	cf_diag(PORTPROF_E_STATE);
	cf_stop(session);
	assert_int_equal(portprof_session_reset(session), PORTPROF_OK);
	cf_close(session);
}

static void life_7_close_gives_back_everything(void **state)
{
	portprof_session *session;

	(void)state;
	assert_int_equal(fixture.held(), 0);
	cf_close(cf_open(cf_config())); /* opened only */
	assert_int_equal(fixture.held(), 0);
	session = cf_open(cf_config());
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	cf_close(session); /* running */
	assert_int_equal(fixture.held(), 0);
	session = cf_open(cf_config());
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	cf_stop(session);
	cf_close(session); /* stopped */
	assert_int_equal(fixture.held(), 0);
	assert_int_equal(portprof_session_close(NULL), PORTPROF_OK);
}

static void life_7_threads_may_outlive_the_session(void **state)
{
	portprof_session *session = cf_open(cf_config());

	(void)state;
	fixture.thread_start(1);
	cf_start(session);
	cf_burn(1, 0, 10 * CF_MS);
	cf_close(session);
	assert_int_equal(fixture.held(), 0);
	cf_burn(1, 1, 10 * CF_MS);
	fixture.thread_end(1);
}

static void life_18_flush_brings_samples_to_the_sinks(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_watch watch;
	struct expect expect;

	(void)state;
	cf_watch(config, &watch);
	session = cf_open(config);
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	cf_start(session);
	cf_work(&program, 0, 0, 60 * CF_MS);
	cf_run(&program);
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	expect = cf_expect(&program, CF_PERIOD_NS);
	cf_check_functions(&watch, &expect);
	cf_stop(session);
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	cf_close(session);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(life_1_nothing_is_measured_before_start),
	CF_SAMPLES(life_1_nothing_is_measured_while_stopped),
	CF_SAMPLES(life_3_memory_may_go_right_after_stop),
	CF_SAMPLES(life_3_all_samples_have_reached_their_sinks),
	CF_SAMPLES(life_6_reset_makes_totals_0),
	CF_LIFE(life_6_reset_while_running_is_refused),
	CF_LIFE(life_7_close_gives_back_everything),
	CF_LIFE(life_7_threads_may_outlive_the_session),
	CF_SAMPLES(life_18_flush_brings_samples_to_the_sinks),
};

CF_FAMILY(life);
