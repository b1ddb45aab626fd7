/* SPDX-License-Identifier: MIT */
/* What records claim: fields, times, kernel addresses, whose they are. */
#include "tests/conform/conform.h"

#include <time.h>

static bool is_claimed(const portprof_record *record, uint32_t field)
{
	return (record->valid & field) == field;
}

static void check_claims(const portprof_record *record, uint64_t caps)
{
	assert_int_equal(is_claimed(record, PORTPROF_FIELD_PID |
	                                            PORTPROF_FIELD_TID),
	                 (caps & PORTPROF_CAP_PID_TID) != 0);
	assert_int_equal(is_claimed(record, PORTPROF_FIELD_TIME),
	                 (caps & PORTPROF_CAP_TIME) != 0);
	assert_int_equal(is_claimed(record, PORTPROF_FIELD_CPU),
	                 (caps & PORTPROF_CAP_CPU) != 0);
	if (caps & PORTPROF_CAP_EXACT_PC)
		assert_int_equal(record->span, 1);
	else
		assert_true(record->span > 1);
	if (is_claimed(record, PORTPROF_FIELD_KERNEL))
		assert_true(caps & PORTPROF_CAP_KERNEL);
	if (is_claimed(record, PORTPROF_FIELD_CHAIN))
		assert_true(caps & PORTPROF_CAP_CHAIN);
}

static void sample_8_records_claim_what_the_kernel_gave(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_log *log;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	log = cf_log(config);
	session = cf_open(config);
	cf_work(&program, 0, 0, 50 * CF_MS);
	cf_kernel_work(&program, 0, 1, 50 * CF_MS, 25 * CF_MS);
	cf_measure(session, &program);
	for (size_t i = 0; i < log->count; i++)
		check_claims(&log->records[i],
		             portprof_session_caps(session));
	cf_close(session);
}

static void sample_9_helper_is_in_no_profile(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_log *log;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	cf_needs(PORTPROF_CAP_PID_TID);
	log = cf_log(config);
	session = cf_open(config);
	fixture.thread_start(1);
	cf_start(session);
	for (unsigned i = 0; i < 10; i++) {
		cf_work(&program, i % 2, i % FX_FUNCTIONS, 10 * CF_MS);
		cf_run(&program);
		assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	}
	cf_stop(session);
	/* only the two threads that worked */
	for (size_t i = 0; i < log->count; i++)
		if ((int64_t)log->records[i].tid != fixture.thread_tid(0))
			assert_int_equal(log->records[i].tid,
			                 fixture.thread_tid(1));
	fixture.thread_end(1);
	cf_close(session);
}

static void sample_9_helper_cost_is_told(void **state)
{
	portprof_session *session = cf_open(cf_config());
	portprof_stats stats;

	(void)state;
	cf_needs_real();
	cf_start(session);
	fixture.idle(600 * CF_MS); /* it drains every 250 ms */
	cf_stop(session);
	stats = cf_stats(session, 0);
	assert_true(stats.own_cost_ns > 0);
	assert_true(stats.own_cost_ns < 600 * CF_MS);
	cf_close(session);
}

static void sample_13_times_lie_between_start_and_stop(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_log *log;
	uint64_t start, stop;

	(void)state;
	cf_needs(PORTPROF_CAP_TIME);
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	log = cf_log(config);
	session = cf_open(config);
	cf_work(&program, 0, 0, 50 * CF_MS);
	start = cf_now_ns();
	cf_measure(session, &program);
	stop = cf_now_ns();
	for (size_t i = 0; i < log->count; i++) {
		const portprof_record *record = &log->records[i];

		if (i > 0 && record->tid == record[-1].tid)
			assert_true(record->time_ns >= record[-1].time_ns);
		/* a virtual clock has another zero */
		if (!fixture.is_exact)
			assert_true(record->time_ns >= start &&
			            record->time_ns <= stop);
	}
	cf_close(session);
}

static void sample_14_kernel_time_belongs_to_the_total(void **state)
{
	portprof_session *session = cf_open(cf_config());
	struct cf_program program = { .count = 0 };
	struct expect expect;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		cf_kernel_work(&program, 0, 0, 20 * CF_MS, 10 * CF_MS);
		cf_work(&program, 0, 1, 5 * CF_MS);
	}
	cf_measure(session, &program);
	expect = cf_expect(&program, CF_PERIOD_NS);
	cf_check_total(session, &expect);
	if (fixture.is_exact)
		assert_int_equal(cf_stats(session, 0).total_weight,
		                 cf_used(&program));
	cf_close(session);
}

static void sample_14_kernel_time_falls_on_who_called(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_watch watch;
	struct expect expect;

	(void)state;
	cf_watch(config, &watch);
	session = cf_open(config);
	cf_kernel_work(&program, 0, 0, 60 * CF_MS, 30 * CF_MS);
	cf_work(&program, 0, 1, 60 * CF_MS);
	cf_measure(session, &program);
	expect = cf_expect(&program, CF_PERIOD_NS);
	cf_check_functions(&watch, &expect);
	cf_close(session);
}

static void sample_14_kernel_sample_says_where_it_was_entered(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_watch watch;
	struct cf_log *log;
	size_t of_kernel = 0;

	(void)state;
	cf_needs(PORTPROF_CAP_KERNEL);
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	cf_watch(config, &watch); /* a user of user addresses */
	log = cf_log(config);
	session = cf_open(config);
	cf_kernel_work(&program, 0, 0, 80 * CF_MS, 80 * CF_MS);
	cf_measure(session, &program);
	for (size_t i = 0; i < log->count; i++) {
		const portprof_record *record = &log->records[i];

		if (!is_claimed(record, PORTPROF_FIELD_KERNEL))
			continue;
		of_kernel++;
		assert_true(is_claimed(record, PORTPROF_FIELD_USER_ADDRESS));
	}
	if (cf_used(&program) > 0)
		assert_true(of_kernel > 0);
	cf_close(session);
}

/* What was seen of the values of a group, of one thread. */
struct seen_values {
	uint64_t last, samples, mistakes;
	int64_t tid;
};

/* On a real machine the event's clock and the thread's, by which CPU time is
 * weighed, are read a moment apart. */
static bool is_difference(uint64_t weight, uint64_t difference)
{
	uint64_t room = fixture.is_exact ? 0 : difference / 20 + 50000;

	return weight + room >= difference && weight <= difference + room;
}

static void take_values(const portprof_batch *batch, void *context)
{
	struct seen_values *seen = context;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);
		const uint64_t *values;
		size_t count = 0;

		if (record->kind != PORTPROF_RECORD_SAMPLE ||
		    (int64_t)record->tid != seen->tid)
			continue;
		cf_measured(record->weight);
		values = portprof_batch_values(batch, record, &count);
		seen->samples++;
		if (!values || count != 3 || record->event != 1 ||
		    !is_difference(record->weight, values[1] - seen->last))
			seen->mistakes++;
		else
			seen->last = values[1];
	}
}

/* The second of three is sampled; the others are counted. */
static void sample_17_each_sample_has_the_values_of_its_group(void **state)
{
	struct seen_values seen = { .tid = fixture.thread_tid(0) };
	portprof_config *config = cf_config();
	portprof_session *session;

	(void)state;
	cf_needs(PORTPROF_CAP_EVENTS);
	cf_needs(PORTPROF_CAP_GROUP);
	cf_needs(PORTPROF_CAP_PID_TID);
	assert_int_equal(portprof_config_add_event(config,
			"{page-faults,task-clock:period=1000000,"
			"minor-faults}"), PORTPROF_OK);
	assert_int_equal(portprof_config_set(config, "fields", "group-values"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_callback(config, take_values,
	                                              &seen), PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	cf_burn(0, 0, 60 * CF_MS);
	cf_stop(session);
	assert_true(seen.samples > 8);
	assert_int_equal(seen.mistakes, 0);
	assert_int_equal(cf_stats(session, 0).delivered_samples, 0);
	assert_int_equal(cf_stats(session, 2).delivered_samples, 0);
	cf_close(session);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(sample_8_records_claim_what_the_kernel_gave),
	CF_SAMPLES(sample_9_helper_is_in_no_profile),
	CF_SAMPLES(sample_9_helper_cost_is_told),
	CF_SAMPLES(sample_13_times_lie_between_start_and_stop),
	CF_SAMPLES(sample_14_kernel_time_belongs_to_the_total),
	CF_SAMPLES(sample_14_kernel_time_falls_on_who_called),
	CF_SAMPLES(sample_14_kernel_sample_says_where_it_was_entered),
	CF_SAMPLES(sample_17_each_sample_has_the_values_of_its_group),
};

CF_FAMILY(claim);
