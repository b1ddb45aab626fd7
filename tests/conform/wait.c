/* SPDX-License-Identifier: MIT */
/* What threads do when they do not run: ready-time and blocked-time beside the events
 * of any backend. */
#include "tests/conform/conform.h"

#include <string.h>

enum { OWN, READY, BLOCKED };

/* CPU time, which every backend has, and both of waits. */
static portprof_config *with_waits(void)
{
	portprof_config *config = cf_config();

	assert_int_equal(portprof_config_add_event(config, "task-clock"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, "ready-time"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, "blocked-time"),
	                 PORTPROF_OK);
	return config;
}

/* Sums of waits are their kernel's, whatever samples the program beside. */
static void loss_14_waits_are_what_was_charged(void **state)
{
	portprof_session *session;
	uint64_t before;

	(void)state;
	fx_charge(3 * CF_MS, 2 * CF_MS, CF_MS);
	session = cf_open(with_waits());
	assert_true(portprof_session_caps(session) & PORTPROF_CAP_WAITS);
	cf_start(session);
	for (unsigned i = 1; i <= 5; i++) {
		cf_burn(0, 0, 10 * CF_MS);
		fx_charge(10 * CF_MS, i * CF_MS, 20 * CF_MS);
		assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	}
	cf_stop(session);
	assert_int_equal(cf_stats(session, READY).total_weight, 15 * CF_MS);
	assert_int_equal(cf_stats(session, BLOCKED).total_weight, 100 * CF_MS);
	/* the other event is what it is alone, */
	assert_true(cf_stats(session, OWN).total_weight > 0);
	/* and what was charged between a stop and a start is nobody's */
	fx_charge(CF_MS, 40 * CF_MS, 40 * CF_MS);
	before = cf_stats(session, OWN).total_weight;
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	fx_charge(10 * CF_MS, 0, 5 * CF_MS);
	cf_stop(session);
	assert_int_equal(cf_stats(session, READY).total_weight, 15 * CF_MS);
	assert_int_equal(cf_stats(session, BLOCKED).total_weight, 105 * CF_MS);
	assert_true(cf_stats(session, OWN).total_weight > before);
	cf_close(session);
}

/* On the system itself: two threads that do nothing are blocked for as long, however
 * busy the machine is. */
static void loss_14_who_does_nothing_is_blocked(void **state)
{
	portprof_session *session;
	portprof_status status;
	uint64_t blocked;

	(void)state;
	cf_needs_real();
	fixture.thread_start(1);
	status = cf_try_open(with_waits(), &session);
	if (status == PORTPROF_E_UNSUPPORTED) {
		cf_diag(status);
		fixture.thread_end(1);
		cf_skip("lacks %s, and refuses it",
		        portprof_cap_name(PORTPROF_CAP_WAITS));
	}
	assert_int_equal(status, PORTPROF_OK);
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	fixture.idle(100 * CF_MS);
	cf_stop(session);
	fixture.thread_end(1);
	blocked = cf_stats(session, BLOCKED).total_weight;
	cf_measured(blocked);
	assert_true(blocked >= 2 * 90 * CF_MS);
	cf_close(session);
}

/* Where a system says nothing it is refused, and with the reason. */
static void loss_14_no_waits_are_no_zeros(void **state)
{
	portprof_session *session;

	(void)state;
	fx_take_away_waits();
	assert_int_equal(cf_try_open(with_waits(), &session),
	                 PORTPROF_E_UNSUPPORTED);
	cf_diag(PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words, "ready-time"));
}

static const struct cf_case cases[] = {
	CF_SAMPLES(loss_14_waits_are_what_was_charged),
	CF_SAMPLES(loss_14_who_does_nothing_is_blocked),
	CF_LIFE(loss_14_no_waits_are_no_zeros),
};

CF_FAMILY(wait);
