/* SPDX-License-Identifier: MIT */
/* Histograms bin by bin, against the model, from the same records. */
#include "tests/conform/conform.h"

enum { SCALES_MAX = 12 };

static uint64_t pc_of(const portprof_record *record)
{
	uint32_t entered = PORTPROF_FIELD_KERNEL | PORTPROF_FIELD_USER_ADDRESS;

	return (record->valid & entered) == entered ? record->user_address :
	                                              record->address;
}

static struct expect_hit *hits_of(const struct cf_log *log)
{
	struct expect_hit *hits = cf_memory((log->count + 1) * sizeof(*hits));

	for (size_t i = 0; i < log->count; i++)
		hits[i] = (struct expect_hit){ pc_of(&log->records[i]),
			                       log->records[i].weight };
	return hits;
}

static void check_against_model(const portprof_range *region,
                                const struct expect_hit *hits, size_t count,
                                portprof_sink_stats sink)
{
	struct expect_region model = { region->offset, region->scale,
		                       region->bin_bits, region->bin_count };
	uint64_t *bins = cf_memory(region->bin_count * 8), outside;
	size_t saturated;

	outside = expect_histogram(&model, hits, count, bins, &saturated);
	for (size_t i = 0; i < region->bin_count; i++)
		if (cf_bin(region, i) != bins[i])
			fail_msg("scale %u: bin %zu holds %llu, not %llu",
			         region->scale, i,
			         (unsigned long long)cf_bin(region, i),
			         (unsigned long long)bins[i]);
	assert_int_equal(sink.outside_weight, outside);
	assert_int_equal(sink.saturated_bins, saturated);
}

static void run_scales(const uint32_t *scales, const int *shifts, size_t count)
{
	portprof_config *config = cf_config();
	portprof_range regions[SCALES_MAX];
	portprof_session *session;
	struct expect_hit *hits;
	struct cf_log *log;
	uint64_t low, high;

	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	cf_needs(PORTPROF_CAP_EXACT_PC);
	cf_bounds(&low, &high);
	for (size_t i = 0; i < count; i++) {
		uint64_t bins = (high - low) * scales[i] / 131072 + 1;

		regions[i] = cf_range(low + (uint64_t)shifts[i], scales[i],
		                      64, (size_t)bins);
		cf_histogram(config, &regions[i], 1, PORTPROF_BINS_WEIGHT);
	}
	log = cf_log(config);
	session = cf_open(config);
	cf_burn_all(session, 25 * CF_MS);
	hits = hits_of(log);
	for (size_t i = 0; i < count; i++)
		check_against_model(&regions[i], hits, log->count,
		                    cf_sink(session, i));
	cf_close(session);
}

/* The pc that the most samples have. */
static uint64_t commonest_pc(void)
{
	portprof_config *config = cf_config();
	struct cf_log *log = cf_log(config);
	portprof_session *session = cf_open(config);
	uint64_t best = 0;
	size_t best_count = 0;

	cf_start(session);
	cf_burn(0, 0, 20 * (CF_PERIOD_NS + fixture.tick_ns));
	cf_stop(session);
	for (size_t i = 0; i < log->count; i++) {
		size_t same = 0;

		for (size_t j = 0; j < log->count; j++)
			same += pc_of(&log->records[j]) ==
			        pc_of(&log->records[i]);
		if (same > best_count) {
			best_count = same;
			best = pc_of(&log->records[i]);
		}
	}
	cf_close(session);
	return best;
}

static void hist_3_power_of_two_scales_are_exact(void **state)
{
	static const uint32_t scales[] = { 2, 4, 256, 16384, 32768, 65536,
		                           65536, 131072, 32768, 16384 };
	static const int shifts[] = { 0, 0, 0, 0, 0, 0, 1, 0, 3, -1 };

	(void)state;
	run_scales(scales, shifts, sizeof(shifts) / sizeof(shifts[0]));
}

/* The model's two formulas agree there, so what was proved is the manual's. */
static void hist_3_is_the_formula_of_the_manual(void **state)
{
	(void)state;
	for (uint32_t scale = 2; scale <= 65536; scale *= 2)
		for (uint64_t d = 0; d < 70000; d += 7)
			assert_int_equal(expect_bin_of_manual(d, 0, scale),
			                 expect_bin_of_kernel(d, 0, scale));
}

static void hist_4_other_scales_round_once(void **state)
{
	static const uint32_t scales[] = { 3, 1000, 21845, 49152, 65535, 49152,
		                           65537, 131071, 100003 };
	static const int shifts[] = { 0, 0, 0, 0, 0, 1, 0, 0, 1 };

	(void)state;
	run_scales(scales, shifts, sizeof(shifts) / sizeof(shifts[0]));
}

static void hist_4_differs_by_one_at_odd_distances_only(void **state)
{
	static const uint32_t scales[] = { 3, 21845, 49152, 65535 };
	size_t odd_ones = 0;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (uint64_t d = 0; d < 20000; d++) {
			uint64_t manual = expect_bin_of_manual(d, 0,
			                                       scales[i]);
			uint64_t ours = expect_bin_of_kernel(d, 0, scales[i]);

			if (ours == manual)
				continue;
			assert_int_equal(d % 2, 1);
			assert_int_equal(ours, manual + 1);
			odd_ones++;
		}
	}
	assert_true(odd_ones > 0);
}

static void hist_6_edges_of_a_region(void **state)
{
	portprof_config *config = cf_config();
	portprof_range regions[4];
	portprof_session *session;
	struct expect_hit *hits;
	struct cf_log *log;
	uint64_t pc;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	cf_needs(PORTPROF_CAP_EXACT_PC);
	pc = commonest_pc();
	assert_true(pc > 64);
	regions[0] = cf_range(pc, 65536, 64, 4);      /* first byte */
	regions[1] = cf_range(pc - 7, 65536, 64, 4);  /* last byte */
	regions[2] = cf_range(pc - 8, 65536, 64, 4);  /* one past */
	regions[3] = cf_range(pc + 1, 65536, 64, 4);  /* one before */
	for (size_t i = 0; i < 4; i++)
		cf_histogram(config, &regions[i], 1, PORTPROF_BINS_WEIGHT);
	log = cf_log(config);
	session = cf_open(config);
	cf_start(session);
	cf_burn(0, 0, 20 * (CF_PERIOD_NS + fixture.tick_ns));
	cf_stop(session);
	hits = hits_of(log);
	for (size_t i = 0; i < 4; i++)
		check_against_model(&regions[i], hits, log->count,
		                    cf_sink(session, i));
	cf_close(session);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(hist_3_power_of_two_scales_are_exact),
	CF_CASE(hist_3_is_the_formula_of_the_manual),
	CF_SAMPLES(hist_4_other_scales_round_once),
	CF_CASE(hist_4_differs_by_one_at_odd_distances_only),
	CF_SAMPLES(hist_6_edges_of_a_region),
};

CF_FAMILY(scale);
