/* SPDX-License-Identifier: MIT */
/* Conformance cases of histograms: bins, scales, ranges, saturation. */
#include "tests/conform/conform.h"

#include <stdlib.h>
#include <string.h>

static portprof_status add(portprof_config *config,
                           const portprof_range *regions, size_t count,
                           portprof_bin_unit unit)
{
	return portprof_config_add_histogram(config, 0, regions, count, unit);
}

static void refuse(const portprof_range *region)
{
	portprof_config *config = cf_config();

	assert_int_equal(add(config, region, 1, PORTPROF_BINS_TICKS),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
}

static void hist_1_other_widths_are_refused(void **state)
{
	portprof_range region = cf_range(0x400000, 65536, 64, 64);
	portprof_range bad = region;

	(void)state;
	for (unsigned bits = 0; bits < 130; bits++) {
		bad.bin_bits = bits;
		if (bits != 16 && bits != 32 && bits != 64)
			refuse(&bad);
	}
	bad = region;
	bad.bins = (char *)region.bins + 1;
	refuse(&bad);
	bad = region;
	bad.bins = NULL;
	refuse(&bad);
	bad = region;
	bad.bin_count = 0;
	refuse(&bad);
	bad = region;
	bad.scale = 0;
	refuse(&bad);
	bad.scale = 1;
	refuse(&bad);
	bad.scale = 131073;
	refuse(&bad);
	bad = region;
	bad.bin_count = SIZE_MAX;
	refuse(&bad);
	bad = region;
	bad.offset = UINT64_MAX - 4;
	refuse(&bad);
}

static uint64_t most_of(unsigned bits)
{
	return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static void fill(const portprof_range *region, uint64_t value)
{
	for (size_t i = 0; i < region->bin_count; i++) {
		if (region->bin_bits == 16)
			((uint16_t *)region->bins)[i] = (uint16_t)value;
		else if (region->bin_bits == 32)
			((uint32_t *)region->bins)[i] = (uint32_t)value;
		else
			((uint64_t *)region->bins)[i] = value;
	}
}

/* Each bin begins with the lower half of its bits set, so that a count goes
 * into the upper one. */
static void hist_1_every_width_counts(void **state)
{
	static const unsigned widths[] = { 16, 32, 64 };
	portprof_config *config = cf_config();
	portprof_range regions[3], empty;
	portprof_session *session;
	uint64_t low, high;

	(void)state;
	cf_bounds(&low, &high);
	empty = cf_range(low, 65536, 64, (size_t)(high - low) / 2 + 1);
	cf_histogram(config, &empty, 1, PORTPROF_BINS_TICKS);
	for (size_t i = 0; i < 3; i++) {
		regions[i] = cf_range(low, 65536, widths[i], empty.bin_count);
		fill(&regions[i], most_of(widths[i] / 2));
		cf_histogram(config, &regions[i], 1, PORTPROF_BINS_TICKS);
	}
	session = cf_open(config);
	cf_burn_all(session, 20 * CF_MS);
	for (size_t i = 0; i < empty.bin_count; i++)
		for (size_t w = 0; w < 3; w++)
			assert_int_equal(cf_bin(&regions[w], i) -
			                         most_of(widths[w] / 2),
			                 cf_bin(&empty, i));
	if (cf_stats(session, 0).kept_weight > 0)
		assert_true(cf_bin_sum(&empty) > 0);
	cf_close(session);
}

/* The first sample's nanoseconds are more than what a bin has left. */
static void hist_2_bins_saturate_and_say_so(void **state)
{
	static const unsigned widths[] = { 16, 32, 64 };

	(void)state;
	for (size_t w = 0; w < 3; w++) {
		uint64_t most = most_of(widths[w]), low, high;
		portprof_config *config = cf_config();
		portprof_range region;
		portprof_session *session;
		portprof_sink_stats sink;

		cf_bounds(&low, &high);
		region = cf_range(low, 2, widths[w],
		                   (size_t)(high - low) / 65536 + 1);
		fill(&region, most - 1);
		cf_histogram(config, &region, 1, PORTPROF_BINS_WEIGHT);
		session = cf_open(config);
		cf_start(session);
		cf_burn(0, 0, 20 * (CF_PERIOD_NS + fixture.tick_ns));
		cf_stop(session);
		sink = cf_sink(session, 0);
		assert_true(sink.saturated_bins > 0);
		assert_true(sink.lost_samples > 0);
		for (size_t i = 0; i < region.bin_count; i++)
			assert_true(cf_bin(&region, i) == most - 1 ||
			            cf_bin(&region, i) == most);
		assert_true(cf_stats(session, 0).lost_samples >=
		            sink.lost_samples);
		cf_close(session);
	}
}

static void hist_2_a_full_bin_stays_full(void **state)
{
	portprof_config *config = cf_config();
	portprof_range region;
	portprof_session *session;
	uint64_t low, high;

	(void)state;
	cf_bounds(&low, &high);
	region = cf_range(low, 65536, 16, (size_t)(high - low) / 2 + 1);
	memset(region.bins, 0xff, region.bin_count * 2);
	cf_histogram(config, &region, 1, PORTPROF_BINS_TICKS);
	session = cf_open(config);
	cf_start(session);
	cf_burn(0, 0, 20 * (CF_PERIOD_NS + fixture.tick_ns));
	cf_stop(session);
	for (size_t i = 0; i < region.bin_count; i++)
		assert_int_equal(cf_bin(&region, i), 65535);
	/* what was full before did not become full */
	assert_int_equal(cf_sink(session, 0).saturated_bins, 0);
	if (cf_stats(session, 0).delivered_samples > 8)
		assert_true(cf_sink(session, 0).lost_samples > 0);
	cf_close(session);
}

static void hist_5_many_disjoint_ranges(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_watch watch;
	struct expect expect;

	(void)state;
	cf_watch(config, &watch); /* four ranges */
	session = cf_open(config);
	cf_start(session);
	for (unsigned f = 0; f < FX_FUNCTIONS; f++)
		cf_work(&program, 0, f, (f + 1) * 20 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	expect = cf_expect(&program, CF_PERIOD_NS);
	cf_check_functions(&watch, &expect);
	cf_close(session);
}

static void hist_5_any_order_and_any_size(void **state)
{
	enum { MANY = 1000 };
	portprof_config *config = cf_config();
	portprof_range *regions = cf_memory(MANY * sizeof(*regions));
	uint64_t *bins = cf_memory(MANY * 8);

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		regions[i] = (portprof_range){
			.offset = 0x10000 + (MANY - i) * 16, .scale = 65536,
			.bin_bits = 64, .bins = &bins[i], .bin_count = 1,
		};
	cf_histogram(config, regions, MANY, PORTPROF_BINS_WEIGHT);
	cf_close(cf_open(config));
}

static void hist_5_overlap_is_refused_by_number(void **state)
{
	portprof_config *config = cf_config();
	portprof_range regions[3];

	(void)state;
	regions[0] = cf_range(0x1000, 65536, 64, 64); /* to 0x1080 */
	regions[1] = cf_range(0x5000, 65536, 64, 64);
	regions[2] = cf_range(0x107f, 65536, 64, 64);
	assert_int_equal(add(config, regions, 3, PORTPROF_BINS_TICKS),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	assert_non_null(strchr(portprof_last_diag()->words, '0'));
	assert_non_null(strchr(portprof_last_diag()->words, '2'));
	/* neighbours do not overlap */
	regions[2].offset = 0x1080;
	cf_histogram(config, regions, 3, PORTPROF_BINS_TICKS);
}

static void hist_6_outside_is_counted(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	portprof_range region;
	portprof_stats stats;
	struct expect expect;
	uint64_t start, end;

	(void)state;
	fixture.function_range(0, &start, &end);
	region = cf_range(start, 65536, 64, (size_t)(end - start + 1) / 2);
	cf_histogram(config, &region, 1, PORTPROF_BINS_WEIGHT);
	session = cf_open(config);
	cf_start(session);
	cf_work(&program, 0, 0, 40 * CF_MS);
	cf_work(&program, 0, 1, 80 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	expect = cf_expect(&program, CF_PERIOD_NS);
	stats = cf_stats(session, 0);
	cf_in_range(stats.kept_weight, expect.function[0], "inside");
	cf_in_range(stats.outside_weight, expect.function[1], "outside");
	assert_int_equal(cf_bin_sum(&region), stats.kept_weight);
	assert_int_equal(cf_sink(session, 0).outside_weight,
	                 stats.outside_weight);
	cf_close(session);
}

static void hist_7_bins_are_counted_up(void **state)
{
	enum { PRESET = 1000 };
	portprof_config *config = cf_config();
	portprof_session *session;
	portprof_range region;
	uint64_t low, high, first;

	(void)state;
	cf_bounds(&low, &high);
	region = cf_range(low, 65536, 64, (size_t)(high - low) / 2 + 1);
	for (size_t i = 0; i < region.bin_count; i++)
		((uint64_t *)region.bins)[i] = PRESET;
	cf_histogram(config, &region, 1, PORTPROF_BINS_WEIGHT);
	session = cf_open(config);
	cf_burn_all(session, 10 * CF_MS);
	first = cf_bin_sum(&region) - PRESET * region.bin_count;
	assert_int_equal(first, cf_stats(session, 0).kept_weight);
	cf_burn_all(session, 10 * CF_MS);
	assert_int_equal(cf_bin_sum(&region) - PRESET * region.bin_count,
	                 cf_stats(session, 0).kept_weight);
	assert_true(cf_bin_sum(&region) - PRESET * region.bin_count >= first);
	cf_close(session);
}

static void hist_8_weights_and_ticks_sum_to_what_was_kept(void **state)
{
	portprof_config *config = cf_config();
	portprof_range weights, ticks;
	portprof_session *session;
	uint64_t low, high, kept, expected;

	(void)state;
	cf_bounds(&low, &high);
	weights = cf_range(low, 65536, 64, (size_t)(high - low) / 2 + 1);
	ticks = cf_range(low, 65536, 32, (size_t)(high - low) / 2 + 1);
	cf_histogram(config, &weights, 1, PORTPROF_BINS_WEIGHT);
	cf_histogram(config, &ticks, 1, PORTPROF_BINS_TICKS);
	session = cf_open(config);
	cf_burn_all(session, 30 * CF_MS);
	kept = cf_stats(session, 0).kept_weight;
	assert_int_equal(cf_bin_sum(&weights), kept);
	expected = kept / CF_PERIOD_NS;
	assert_true(cf_bin_sum(&ticks) + 1 >= expected);
	assert_true(cf_bin_sum(&ticks) <= expected + 1);
	cf_close(session);
}

/* More ticks in one function than 16 bits can count. */
static void hist_9_long_runs_do_not_wrap(void **state)
{
	enum { TICKS = 70000 };
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	uint64_t tick = CF_PERIOD_NS > fixture.tick_ns ? CF_PERIOD_NS :
	                                                 fixture.tick_ns;
	uint64_t used = 0;
	portprof_session *session;
	struct cf_watch watch;
	struct expect expect;

	(void)state;
	if (!fixture.is_exact)
		cf_skip("takes minutes on a real clock");
	cf_watch(config, &watch);
	session = cf_open(config);
	cf_start(session);
	for (uint64_t left = TICKS * tick; left > 0;) {
		uint64_t part = left < 200 * tick ? left : 200 * tick;

		used += cf_burn(0, 0, part);
		left -= part;
		assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	}
	cf_stop(session);
	program.works[0] = (struct fx_work){ .cpu_ns = used };
	program.used_ns[0] = used;
	program.count = program.done = 1;
	expect = cf_expect(&program, CF_PERIOD_NS);
	cf_check_functions(&watch, &expect);
	assert_int_equal(cf_stats(session, 0).total_weight, used);
	assert_int_equal(cf_stats(session, 0).lost_samples, 0);
	cf_close(session);
}

static void hist_10_asks_for_nothing_but_samples(void **state)
{
	portprof_config *config = cf_config();
	portprof_range region = cf_range(0x400000, 65536, 64, 64);

	(void)state;
	cf_histogram(config, &region, 1, PORTPROF_BINS_TICKS);
	cf_close(cf_open(config));
}

static const struct cf_case cases[] = {
	CF_CASE(hist_1_other_widths_are_refused),
	CF_SAMPLES(hist_1_every_width_counts),
	CF_SAMPLES(hist_2_bins_saturate_and_say_so),
	CF_SAMPLES(hist_2_a_full_bin_stays_full),
	CF_SAMPLES(hist_5_many_disjoint_ranges),
	CF_LIFE(hist_5_any_order_and_any_size),
	CF_CASE(hist_5_overlap_is_refused_by_number),
	CF_SAMPLES(hist_6_outside_is_counted),
	CF_SAMPLES(hist_7_bins_are_counted_up),
	CF_SAMPLES(hist_8_weights_and_ticks_sum_to_what_was_kept),
	CF_SAMPLES(hist_9_long_runs_do_not_wrap),
	CF_LIFE(hist_10_asks_for_nothing_but_samples),
};

CF_FAMILY(hist);
