/* SPDX-License-Identifier: MIT */
/* What threads do when they do not run: ready-time and blocked-time beside the events
 * of any backend. */
#include "tests/conform/conform.h"

#include <string.h>
#include <unistd.h>

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

/* ---- the sets of labels that threads wait in ---- */

static struct {
	uint64_t a_set; /* whose label is a; 0: not told yet */
	uint64_t in_a, in_none, in_unknown, in_others; /* blocked time */
	uint32_t tid;   /* of that thread; 0: all */
} sets;

static void take(const portprof_batch *batch, void *context)
{
	(void)context;
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);
		size_t bytes;
		const char *text = portprof_batch_labels(batch, record, &bytes);

		if (text && strcmp(text, "wait") == 0 &&
		    strcmp(text + strlen("wait") + 1, "a") == 0)
			sets.a_set = record->address;
		if (record->kind != PORTPROF_RECORD_SAMPLE ||
		    record->event != BLOCKED ||
		    (sets.tid && record->tid != sets.tid))
			continue;
		if (!(record->valid & PORTPROF_FIELD_LABELS))
			sets.in_none += record->weight;
		else if (record->label_set == PORTPROF_LABEL_SET_UNKNOWN)
			sets.in_unknown += record->weight;
		else if (sets.a_set && record->label_set == sets.a_set)
			sets.in_a += record->weight;
		else
			sets.in_others += record->weight;
	}
}

static const portprof_label_set *set_of(const char *value)
{
	const portprof_label label = { "wait", value };
	const portprof_label_set *set = portprof_label_set_new(&label, 1);

	assert_non_null(set);
	return set;
}

static portprof_config *with_sets(uint32_t tid)
{
	portprof_config *config = with_waits();

	memset(&sets, 0, sizeof(sets));
	sets.tid = tid;
	assert_int_equal(portprof_config_add_callback(config, take, NULL),
	                 PORTPROF_OK);
	return config;
}

static void wait_20_ms(portprof_session *session)
{
	fx_charge(10 * CF_MS, 5 * CF_MS, 20 * CF_MS);
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
}

/* Sums of a time in which a thread changed sets are of none that is known, also if it is
 * in the same one before and after. */
static void label_7_waits_have_the_set_of_their_time(void **state)
{
	const portprof_label_set *a = set_of("a"), *b = set_of("b");
	portprof_session *session;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	fx_charged_enters(NULL);
	fx_charge(3 * CF_MS, 2 * CF_MS, CF_MS);
	session = cf_open(with_sets(0));
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	wait_20_ms(session); /* in none */
	fx_charged_enters(a);
	wait_20_ms(session); /* in either */
	wait_20_ms(session);
	wait_20_ms(session);
	fx_charged_enters(b);
	fx_charged_enters(a);
	wait_20_ms(session); /* in any */
	fx_charged_enters(NULL);
	wait_20_ms(session); /* in either */
	wait_20_ms(session);
	cf_stop(session);
	assert_int_equal(cf_stats(session, BLOCKED).total_weight, 140 * CF_MS);
	cf_measured(sets.in_a);
	assert_int_equal(sets.in_a, 40 * CF_MS);
	assert_int_equal(sets.in_unknown, 60 * CF_MS);
	assert_int_equal(sets.in_none, 40 * CF_MS);
	assert_int_equal(sets.in_others, 0);
	cf_close(session);
}

/* Waits in turn in one set, and is then in another one. */
static void wait_in_a(portprof_session *session)
{
	const portprof_label_set *a = set_of("a"), *b = set_of("b");

	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	for (int i = 0; i < 3; i++) {
		portprof_label_enter(a);
		fixture.idle(100 * CF_MS);
		portprof_label_enter(b);
	}
	portprof_label_leave(NULL);
	cf_stop(session);
}

/* On the system itself: a look that meets a wait knows its set. A busy machine may look
 * too late, but not each time. */
static void label_7_who_waits_in_a_set_is_in_it(void **state)
{
	portprof_session *session;
	portprof_status status;
	uint64_t in_a = 0;

	(void)state;
	cf_needs_real();
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	for (int i = 0; i < 20 && !in_a; i++) {
		status = cf_try_open(with_sets((uint32_t)getpid()), &session);
		if (status == PORTPROF_E_UNSUPPORTED) {
			cf_diag(status);
			cf_skip("lacks %s, and refuses it",
			        portprof_cap_name(PORTPROF_CAP_WAITS));
		}
		assert_int_equal(status, PORTPROF_OK);
		wait_in_a(session);
		in_a = sets.in_a;
		cf_close(session);
		assert_int_equal(sets.in_others, 0);
	}
	cf_measured(in_a);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(loss_14_waits_are_what_was_charged),
	CF_SAMPLES(loss_14_who_does_nothing_is_blocked),
	CF_LIFE(loss_14_no_waits_are_no_zeros),
	CF_SAMPLES(label_7_waits_have_the_set_of_their_time),
	CF_SAMPLES(label_7_who_waits_in_a_set_is_in_it),
};

CF_FAMILY(wait);
