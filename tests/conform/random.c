/* SPDX-License-Identifier: MIT */
/*
 * Programs that nobody chose, held to the model: the same ones on every
 * simulated kernel. A failure tells the seed; PORTPROF_SEED=N runs that alone.
 */
#include "tests/conform/conform.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 1000, WORKS = 16, THREADS = 4 };

static uint32_t state_of_chance;

static uint32_t any(uint32_t below)
{
	state_of_chance = state_of_chance * 1664525u + 1013904223u;
	return (state_of_chance >> 8) % below;
}

/* Time in the kernel only where one thread is busy: some kernels charge it to
 * whichever thread comes back first. */
static unsigned make_program(struct cf_program *program)
{
	unsigned threads = 1 + any(THREADS);
	size_t works = 1 + any(WORKS);

	for (size_t i = 0; i < works; i++) {
		uint64_t cpu_ns = (1 + any(40)) * CF_MS, in_kernel_ns = 0;
		unsigned thread = any(threads);

		if (threads == 1 && any(3) == 0)
			in_kernel_ns = cpu_ns / 1000 * any(1000);
		cf_kernel_work(program, thread, any(FX_FUNCTIONS), cpu_ns,
		               in_kernel_ns);
	}
	return threads;
}

/* One histogram over the four functions, whose bins all programs share. */
static portprof_range regions[FX_FUNCTIONS];

static portprof_config *watch_functions(void)
{
	portprof_config *config = cf_config();

	for (unsigned f = 0; f < FX_FUNCTIONS; f++) {
		uint64_t start, end;

		fixture.function_range(f, &start, &end);
		regions[f] = cf_range(start, 65536, 64,
		                      (size_t)((end - start + 1) / 2));
	}
	cf_histogram(config, regions, FX_FUNCTIONS, PORTPROF_BINS_WEIGHT);
	return config;
}

static void clear_bins(void)
{
	for (unsigned f = 0; f < FX_FUNCTIONS; f++)
		memset(regions[f].bins, 0, regions[f].bin_count * 8);
}

static void check(uint32_t seed, uint64_t value, struct expect_range range,
                  const char *what, unsigned which)
{
	if (value < range.low || value > range.high)
		fail_msg("seed %lu: %s %u is %llu, not in %llu..%llu",
		         (unsigned long)seed, what, which,
		         (unsigned long long)value,
		         (unsigned long long)range.low,
		         (unsigned long long)range.high);
}

static void run_program(const portprof_config *config, uint32_t seed)
{
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct expect expect;
	portprof_stats stats;
	unsigned threads;

	state_of_chance = seed * 2654435761u;
	threads = make_program(&program);
	clear_bins();
	session = cf_open(config);
	for (unsigned t = 1; t < threads; t++)
		fixture.thread_start(t);
	cf_measure(session, &program);
	for (unsigned t = 1; t < threads; t++)
		fixture.thread_end(t);
	expect = cf_expect(&program, CF_PERIOD_NS);
	stats = cf_stats(session, 0);
	check(seed, stats.total_weight,
	      (struct expect_range){ expect.total, expect.total }, "total", 0);
	check(seed, stats.kept_weight + stats.outside_weight, expect.sampled,
	      "weight of samples", 0);
	for (unsigned f = 0; f < FX_FUNCTIONS; f++)
		check(seed, cf_bin_sum(&regions[f]), expect.function[f],
		      "weight of function", f);
	cf_close(session);
}

static void sample_5_random_programs_equal_the_model(void **state)
{
	const char *only = getenv("PORTPROF_SEED");
	portprof_config *config;

	(void)state;
	if (!fixture.is_exact)
		cf_skip("needs a kernel on a virtual clock");
	config = watch_functions();
	if (only) {
		run_program(config, (uint32_t)strtoul(only, NULL, 0));
		return;
	}
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++)
		run_program(config, seed);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(sample_5_random_programs_equal_the_model),
};

CF_FAMILY(random);
