/* SPDX-License-Identifier: MIT */
/* Events that overflow at one occurrence, of one session and of several. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/conform/conform.h"

#include <inttypes.h>
#include <sys/resource.h>

enum { FAULTS = 2100, RING_BYTES = 256 << 10 };

static portprof_config *config_of(const char *event)
{
	portprof_config *config = cf_config();

	if (!fixture.page_faults)
		cf_skip("counts no page faults");
	assert_int_equal(portprof_config_set_number(config, "ring", RING_BYTES),
			 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, event),
	                 PORTPROF_OK);
	return config;
}

/* For one who must find out why. */
static void print_account(const portprof_stats *stats, uint64_t period)
{
	print_message("period %" PRIu64 ": weight %" PRIu64 ", unattributed %"
	              PRIu64 "; samples delivered %" PRIu64 ", kept %" PRIu64
	              ", outside %" PRIu64 ", lost %" PRIu64 "\n",
	              period, stats->total_weight, stats->unattributed_weight,
	              stats->delivered_samples, stats->kept_samples,
	              stats->outside_samples, stats->lost_samples);
}

/* A sample for each period, all of them kept. */
static void check_all_are_there(portprof_session *session, size_t event,
                                uint64_t period)
{
	portprof_stats stats = cf_stats(session, event);

	if (stats.total_weight < FAULTS ||
	    stats.kept_samples != stats.total_weight / period ||
	    stats.lost_certainty != PORTPROF_EXACT)
		print_account(&stats, period);
	assert_true(stats.total_weight >= FAULTS);
	assert_int_equal(stats.delivered_samples, stats.total_weight / period);
	assert_int_equal(stats.kept_samples, stats.delivered_samples);
	assert_true(stats.unattributed_weight < period);
	assert_int_equal(stats.lost_samples, 0);
	assert_int_equal(stats.lost_certainty, PORTPROF_EXACT);
}

static void event_8_two_periods_of_one_event(void **state)
{
	portprof_config *config = config_of("page-faults:u:period=3");
	portprof_session *session;

	(void)state;
	cf_needs(PORTPROF_CAP_THREAD);
	assert_int_equal(portprof_config_add_event(config,
	                                           "page-faults:u:period=7"),
	                 PORTPROF_OK);
	assert_int_equal(
		portprof_config_set_target(config, PORTPROF_TARGET_THREAD, 0),
		PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	fixture.page_faults(FAULTS);
	cf_stop(session);
	check_all_are_there(session, 0, 3);
	check_all_are_there(session, 1, 7);
	cf_close(session);
}

static void life_11_sessions_of_one_event(void **state)
{
	enum { SESSIONS = 3 };
	portprof_session *sessions[SESSIONS];

	(void)state;
	for (unsigned i = 0; i < SESSIONS; i++) {
		portprof_config *config = config_of("page-faults:u:period=2");

		assert_int_equal(portprof_config_set_target(
					 config, PORTPROF_TARGET_THREAD, 0),
				 PORTPROF_OK);
		sessions[i] = cf_open(config);
	}
	for (unsigned i = 0; i < SESSIONS; i++)
		cf_start(sessions[i]);
	fixture.page_faults(FAULTS);
	for (unsigned i = 0; i < SESSIONS; i++)
		cf_stop(sessions[i]);
	for (unsigned i = 0; i < SESSIONS; i++) {
		check_all_are_there(sessions[i], 0, 2);
		cf_close(sessions[i]);
	}
}

/* Threads come and go while samples are lost: nothing of them is among those,
 * so that the number is that of the faults that were not kept. */
static void loss_3_only_samples_are_lost(void **state)
{
	portprof_config *config = config_of("page-faults:u:period=1");
	portprof_session *session;
	portprof_stats stats;

	(void)state;
	cf_needs(PORTPROF_CAP_LOST_EXACT);
	assert_int_equal(portprof_config_set_number(config, "ring", 4096),
			 PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	for (unsigned i = 0; i < 100; i++) {
		fixture.thread_start(1);
		fixture.page_faults(100);
		fixture.thread_end(1);
	}
	cf_stop(session);
	stats = cf_stats(session, 0);
	assert_true(stats.total_weight >= 10000);
	assert_int_equal(stats.lost_certainty, PORTPROF_EXACT);
	assert_int_equal(stats.delivered_samples, stats.total_weight);
	cf_close(session);
}

#ifdef RUSAGE_THREAD
static uint64_t own_faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}
#endif

/* Those of the helper thread are in the process's getrusage(2) as well: the file
 * and the chains that it makes take memory. */
static void sample_9_faults_of_the_helper_are_in_no_total(void **state)
{
#ifdef RUSAGE_THREAD
	portprof_config *config = config_of("page-faults:period=50");
	portprof_session *session;
	uint64_t before, began, end, after;

	(void)state;
	cf_needs_real();
	cf_needs_files();
	assert_int_equal(portprof_config_write_to(config, cf_path()),
	                 PORTPROF_OK);
	session = cf_open(config);
	before = own_faults();
	cf_start(session);
	began = own_faults();
	fixture.page_faults(FAULTS);
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	fixture.page_faults(FAULTS);
	end = own_faults();
	cf_stop(session);
	after = own_faults();
	assert_in_range(cf_stats(session, 0).total_weight, end - began,
	                after - before);
	cf_close(session);
#else
	(void)state;
	cf_skip("this system does not report a thread's faults");
#endif
}

static const struct cf_case cases[] = {
	CF_SAMPLES(event_8_two_periods_of_one_event),
	CF_SAMPLES(life_11_sessions_of_one_event),
	CF_SAMPLES(loss_3_only_samples_are_lost),
	CF_SAMPLES(sample_9_faults_of_the_helper_are_in_no_total),
};

CF_FAMILY(occurrence);
