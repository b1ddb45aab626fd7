/* SPDX-License-Identifier: MIT */
/*
 * Sampling on the guest's PMU. On cycles alone: the emulator (qemu 7.2) does
 * not arm the overflow of its instruction counter again, so that an event on
 * that brings a few samples and then none, whatever the kernel does.
 */
#include "tests/pmu/lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A cycle is an instruction, and a nanosecond: twenty million of them. */
enum { CYCLES = 20000000, TURNS = CYCLES / LAB_INSTRUCTIONS };

/* Periods of 20,000 and 20,001 that end in their middle: what start and stop
 * execute beside the loop, some thousand, is not enough for one more sample. */
enum { HALVES_TURNS = TURNS + 10000 / LAB_INSTRUCTIONS };

static portprof_session *open_one(const char *pattern, struct lab_log **log)
{
	portprof_config *config = lab_config();

	lab_add_event(config, pattern);
	*log = lab_log(config);
	return lab_open_session(config);
}

/*
 * Kept + lost (which is delivered) are all overflows there were, and those are
 * what was counted, divided by the period. With two CPUs the emulator's clock
 * may jump over one while the other CPU has its turn.
 */
static void check_overflows(const portprof_stats *stats, uint64_t cycles,
                            uint64_t period)
{
	uint64_t least = cycles / period, most = stats->total_weight / period;

	assert_int_equal(stats->lost_certainty, PORTPROF_EXACT);
	assert_int_equal(stats->kept_samples + stats->lost_samples,
	                 stats->delivered_samples);
	assert_in_range(stats->delivered_samples, least, most);
	if (lab_is_exact())
		assert_int_equal(most, least);
}

/*
 * Samples fall in the loop that was run. With two CPUs the emulator's clock may
 * jump while the program is not in the loop yet, or no longer; such jumps are
 * few, and what lies outside the loop stays within 2 % (one of 1005 was seen).
 */
static void check_in_loop(const struct lab_log *log)
{
	uint64_t least = log->samples[0] - log->samples[0] / 50;

	assert_true(log->samples[0] > 0);
	if (lab_is_exact())
		least = log->samples[0];
	assert_in_range(log->in_loop[0], least, log->samples[0]);
}

/* Samples at 50 kHz: none is lost, and each stands for its period. */
static void fifty_khz_brings_every_overflow(void **state)
{
	enum { PERIOD = 20000 };
	struct lab_log *log;
	portprof_session *session = open_one("cycles:u:period=20000", &log);
	portprof_stats stats;

	(void)state;
	log->period[0] = PERIOD;
	lab_sample_loop(session, TURNS);
	stats = lab_stats(session, 0);
	check_overflows(&stats, CYCLES, PERIOD);
	assert_int_equal(stats.lost_samples, 0);
	assert_int_equal(stats.throttled, 0);
	assert_int_equal(log->samples[0], stats.delivered_samples);
	assert_int_equal(log->weight[0], stats.kept_weight);
	assert_in_range(stats.unattributed_weight, 0, PERIOD);
	if (lab_is_exact()) {
		assert_int_equal(log->weight[0], CYCLES);
		assert_int_equal(log->not_period[0], 0);
	}
	assert_int_equal(stats.requested_period, PERIOD);
	assert_int_equal(stats.granted_period, PERIOD);
	assert_int_equal(log->other_threads, 0);
	assert_int_equal(log->backwards, 0);
}

static void period_10000_is_10000_samples(void **state)
{
	enum { PERIOD = 10000, MANY = 10000 };
	struct lab_log *log;
	portprof_session *session = open_one("PMU::CPU_CYCLES:u@10000", &log);
	portprof_stats stats;

	(void)state;
	lab_sample_loop(session, PERIOD / LAB_INSTRUCTIONS * MANY);
	stats = lab_stats(session, 0);
	check_overflows(&stats, PERIOD * MANY, PERIOD);
	if (lab_is_exact())
		assert_int_equal(stats.kept_samples, MANY);
	assert_int_equal(stats.kept_samples, log->samples[0]);
}

/* By an even period it is always the same of two instructions, by an odd one
 * each in turn: what skid there is, is always the same. */
static void addresses_are_those_of_the_loop(void **state)
{
	struct lab_log *log;
	portprof_session *session = open_one("cycles:u:period=20000", &log);
	uint64_t first;

	(void)state;
	lab_sample_loop(session, HALVES_TURNS);
	lab_say("even: %" PRIu64 " of %" PRIu64 " in the loop, %" PRIu64
	        " at its first", log->in_loop[0], log->samples[0],
	        log->at_first[0]);
	check_in_loop(log);
	if (lab_is_exact())
		assert_true(log->at_first[0] == 0 ||
		            log->at_first[0] == log->in_loop[0]);
	session = open_one("cycles:u:period=20001", &log);
	lab_sample_loop(session, HALVES_TURNS);
	lab_say("odd: %" PRIu64 " of %" PRIu64 " in the loop, %" PRIu64
	        " at its first", log->in_loop[0], log->samples[0],
	        log->at_first[0]);
	check_in_loop(log);
	first = log->at_first[0] * 2;
	if (lab_is_exact())
		assert_in_range(first, log->in_loop[0] - 1,
		                log->in_loop[0] + 1);
}

/* Bins of one instruction each: the same samples, counted the other way. */
static void histogram_has_the_same_samples(void **state)
{
	uint64_t bins[2] = { 0, 0 };
	portprof_range region = {
		.offset = (uintptr_t)lab_loop_first, .scale = 32768,
		.bin_bits = 64, .bins = bins, .bin_count = 2,
	};
	portprof_config *config = lab_config();
	portprof_session *session;
	struct lab_log *log;

	(void)state;
	lab_add_event(config, "cycles:u:period=20001");
	lab_must(portprof_config_add_histogram(config, 0, &region, 1,
	                                       PORTPROF_BINS_WEIGHT));
	log = lab_log(config);
	session = lab_open_session(config);
	lab_sample_loop(session, HALVES_TURNS);
	lab_say("%" PRIu64 " and %" PRIu64, bins[0], bins[1]);
	check_in_loop(log);
	assert_in_range(bins[0] + bins[1], log->weight[0] / 10 * 9,
	                log->weight[0]);
	if (lab_is_exact())
		assert_int_equal(bins[0] + bins[1], log->weight[0]);
	assert_true(bins[0] > 0 && bins[1] > 0);
}

static void rate_is_held(void **state)
{
	struct lab_log *log;
	portprof_session *session = open_one("cycles:u:freq=1000", &log);
	portprof_stats stats;

	(void)state;
	lab_sample_loop(session, 10 * TURNS);
	stats = lab_stats(session, 0);
	assert_true(stats.requested_hz == 1000 && stats.granted_hz == 1000);
	assert_true(stats.achieved_hz > 800 && stats.achieved_hz < 1200);
	assert_int_equal(log->weight[0], stats.kept_weight);
	assert_true(stats.kept_weight > UINT64_C(10) * CYCLES / 100 * 98);
}

/* Two million a second are more than the kernel lets pass. */
static void throttling_is_told(void **state)
{
	struct lab_log *log;
	portprof_session *session = open_one("cycles:u:period=500", &log);
	portprof_stats stats;

	(void)state;
	lab_sample_loop(session, TURNS);
	stats = lab_stats(session, 0);
	assert_true(stats.throttled > 0);
	assert_int_equal(log->weight[0], stats.kept_weight);
	assert_int_equal(stats.lost_certainty, PORTPROF_EXACT);
}

/* 4 KiB hold some sixty samples, and a hundred of them come in a millisecond. */
static void lost_samples_are_counted(void **state)
{
	portprof_config *config = lab_config();
	portprof_session *session;
	portprof_stats stats;
	struct lab_log *log;

	(void)state;
	lab_add_event(config, "cycles:u:period=20000");
	lab_must(portprof_config_set_number(config, "ring", 4096));
	log = lab_log(config);
	session = lab_open_session(config);
	lab_sample_loop(session, TURNS);
	stats = lab_stats(session, 0);
	check_overflows(&stats, CYCLES, 20000);
	assert_true(stats.lost_samples > 0);
	/* The ring went round many times. */
	check_in_loop(log);
	assert_int_equal(stats.kept_samples, log->samples[0]);
	assert_int_equal(log->weight[0], stats.kept_weight);
}

static void each_sample_says_its_event(void **state)
{
	portprof_config *config = lab_config();
	portprof_session *session;
	portprof_stats stats;
	struct lab_log *log;

	(void)state;
	lab_add_event(config, "cycles:u:period=20000");
	lab_add_event(config, "PMU::CPU_CYCLES:u:period=60000");
	lab_add_event(config, "task-clock:u:period=1000000");
	log = lab_log(config);
	session = lab_open_session(config);
	lab_sample_loop(session, TURNS);
	for (size_t i = 0; i < 3; i++) {
		stats = lab_stats(session, i);
		assert_int_equal(log->samples[i], stats.kept_samples);
		assert_int_equal(log->weight[i], stats.kept_weight);
		assert_int_equal(stats.lost_samples, 0);
		if (i < 2)
			check_overflows(&stats, CYCLES,
			                i == 0 ? 20000 : 60000);
	}
	assert_true(log->samples[2] >= CYCLES / 1000000 - 1);
}

/* The overflow interrupts of this counter fail to come, see above: what it
 * counted is told all the same. */
static void missing_interrupts_do_not_falsify_the_total(void **state)
{
	struct lab_log *log;
	portprof_session *session = open_one("instructions:u:period=10000",
	                                     &log);
	portprof_stats stats;

	(void)state;
	lab_sample_loop(session, TURNS);
	stats = lab_stats(session, 0);
	/* On two CPUs this count, whose overflows nobody sees there, comes out
	 * 0.4 to 2.2 % higher, by when the thread is switched. */
	assert_in_range(stats.total_weight, CYCLES, CYCLES + CYCLES / 20);
	assert_int_equal(log->weight[0], stats.kept_weight);
}

/* The kernel takes every level and ignores it: samples are as they are without,
 * and the session says so. */
static void precision_is_not_pretended(void **state)
{
	static const char *const patterns[] = {
		"cycles:u:period=20000:precise=1",
		"cycles:u:period=20000:precise=3",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct lab_log *log;
		portprof_session *session = open_one(patterns[i], &log);
		portprof_stats stats;

		assert_non_null(portprof_session_note(session, 0));
		assert_non_null(strstr(portprof_session_note(session, 0),
		                       "may have ignored it"));
		lab_sample_loop(session, TURNS);
		stats = lab_stats(session, 0);
		check_overflows(&stats, CYCLES, 20000);
		check_in_loop(log);
	}
}

__attribute__((noinline)) static void callers_are_told(void **state)
{
	portprof_config *config = lab_config();
	portprof_session *session;
	struct lab_log *log;
	bool is_known = false;

	(void)state;
	lab_add_event(config, "cycles:u:period=1000000");
	lab_must(portprof_config_set_number(config, "callchain", LAB_CHAIN));
	log = lab_log(config);
	session = lab_open_session(config);
	lab_sample_loop(session, TURNS);
	assert_int_equal(log->chain_depth, LAB_CHAIN);
	assert_in_range(log->chain[0], (uintptr_t)lab_loop_first,
	                (uintptr_t)lab_loop_end - 1);
	/* lab_loop has no frame of its own, so its caller may be skipped. */
	for (size_t i = 1; i < LAB_CHAIN; i++)
		is_known |= log->chain[i] - (uintptr_t)callers_are_told < 2048;
	assert_true(is_known);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LAB_CASE(fifty_khz_brings_every_overflow),
		LAB_CASE(period_10000_is_10000_samples),
		LAB_CASE(addresses_are_those_of_the_loop),
		LAB_CASE(histogram_has_the_same_samples),
		LAB_CASE(rate_is_held),
		LAB_CASE(throttling_is_told),
		LAB_CASE(lost_samples_are_counted),
		LAB_CASE(each_sample_says_its_event),
		LAB_CASE(missing_interrupts_do_not_falsify_the_total),
		LAB_CASE(precision_is_not_pretended),
		LAB_CASE(callers_are_told),
	};

	lab_begin(argc, argv);
	return cmocka_run_group_tests_name("pmu_sample", tests, NULL, NULL);
}
