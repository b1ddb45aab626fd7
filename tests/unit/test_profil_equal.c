/* SPDX-License-Identifier: MIT */
/*
 * Random programs through every simulated kernel with profil or pcsample: the
 * histograms must hold what an independent model makes of the ticks that the
 * kernel wrote, bin by bin, and of the program itself.
 *
 * usage: test_profil_equal [SEED]    that seed alone
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "api/core/helper.h"
#include "backends/backend.h"
#include "tests/model/expect.h"
#include "tests/sim/profil_seam.h"

#include <portprof.h>

#define MS UINT64_C(1000000)

enum {
	SEEDS = 500, WORKS = 12, REGIONS = 3, BINS_MAX = 8192, HITS = 65536,
	FUNCTIONS = 4, LEAD_MS = 200
};

struct system {
	const char *backend;
	const struct psim_os *os;
	enum profil_os backend_os;
	unsigned prof_hz, stat_hz;
	uint64_t resolution_ns;
};

static const struct system systems[] = {
	{ "profil", &psim_freebsd, PROFIL_FREEBSD, 8128, 127, 8 * MS },
	{ "profil", &psim_netbsd, PROFIL_NETBSD, 100, 100, 10 * MS },
	{ "profil", &psim_openbsd, PROFIL_OPENBSD, 1000, 100, MS },
	{ "profil", &psim_dragonfly, PROFIL_DRAGONFLY, 128, 128, 8 * MS },
	{ "profil", &psim_glibc, PROFIL_GLIBC, 100, 250, 14 * MS },
	{ "solaris", &psim_solaris, PROFIL_FREEBSD, 100, 100, 10 * MS },
	{ "solaris", &psim_solaris, PROFIL_FREEBSD, 1000, 1000, MS },
};

/* What a seed makes. */
static struct program {
	struct prun_work works[WORKS];
	size_t work_count;
	portprof_range regions[REGIONS];
	size_t region_count;
	bool has_kernel;    /* some of it in system calls */
	bool has_lead;      /* CPU time comes before the first tick */
	bool has_functions; /* a second histogram, a bin a function */
} program;

static struct pseam seam;
static uint32_t seed, number, first_seed = 1, last_seed = SEEDS;
static struct expect_hit hits[HITS]; /* that the kernel wrote */
static size_t hit_count;
static uint64_t bins[REGIONS][BINS_MAX], model[BINS_MAX];
static uint64_t function_bins[FUNCTIONS];

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static void remember(void *context, uint64_t pc, uint64_t ticks)
{
	(void)context;
	assert_true(hit_count < HITS);
	hits[hit_count++] = (struct expect_hit){ pc, ticks };
}

static void run_helper(void *context)
{
	(void)context;
	ppi_helper_run_tasks();
}

/* ---- programs ---- */

static uint32_t any_scale(void)
{
	return any(3) ? (uint32_t)2 << any(16) : 2 + any(131071);
}

/* Disjoint regions over the program's text, apart by even distances: a bin of
 * the kernel's is two bytes at least. */
static void make_regions(void)
{
	uint64_t at = PSEAM_FUNCTION + any(64);

	if (program.has_functions)
		at &= ~(uint64_t)1;
	program.region_count = 1 + any(REGIONS);
	for (size_t i = 0; i < program.region_count; i++) {
		uint32_t scale = any_scale();
		size_t count = 1 + any(600);
		uint64_t bytes = count * (uint64_t)131072 / scale;

		if (bytes > 0x3000)
			count = (size_t)(0x3000 * (uint64_t)scale / 131072) + 1;
		memset(bins[i], 0, sizeof(bins[i]));
		program.regions[i] = (portprof_range){ at, scale, 64, bins[i],
			                                count };
		bytes = count * (uint64_t)131072 / scale + 2;
		at += (bytes & ~(uint64_t)1) + 2 * any(500);
	}
}

static void make_works(void)
{
	program.work_count = 1 + any(WORKS);
	for (size_t i = 0; i < program.work_count; i++) {
		struct prun_work *work = &program.works[i];

		*work = (struct prun_work){ .thread = any(4) };
		work->cpu_ns = (5 + any(60)) * MS;
		if (program.has_kernel && any(3) == 0)
			work->kernel_ns = work->cpu_ns / 1000 * any(900);
		pseam_function(any(FUNCTIONS), &work->start, &work->end);
	}
}

static void make_program(const struct system *system)
{
	seed = number * 2654435761u;
	/* DragonFly's ticks in the kernel are not told in ticks */
	program.has_kernel = any(2) &&
	                     system->os->kernel_tick != PSIM_MICROSECONDS;
	program.has_lead = any(4) > 0;
	program.has_functions = any(2);
	make_regions();
	make_works();
}

/* ---- a run ---- */

static void begin(const struct system *system)
{
	pseam_init(&seam, system->os, system->backend_os);
	seam.sim.prof_hz = seam.rate_hz = system->prof_hz;
	seam.sim.stat_hz = system->stat_hz;
	seam.sim.on_write = remember;
	seam.run.seed = seed;
	seam.run.every = run_helper;
	seam.run.every_ns = 7 * MS;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel(system->backend,
	                       system->os->has_pcsample ?
	                               (const void *)&seam.solaris :
	                               (const void *)&seam.kernel);
}

static portprof_session *open_session(const struct system *system)
{
	portprof_config *config = portprof_config_new();
	portprof_range functions = { PSEAM_FUNCTION, 32, 64, function_bins,
		                      FUNCTIONS };
	portprof_session *session = NULL;

	portprof_config_set_backend(config, system->backend);
	assert_int_equal(portprof_config_add_histogram(
				 config, 0, program.regions,
				 program.region_count, PORTPROF_BINS_WEIGHT),
	                 0);
	memset(function_bins, 0, sizeof(function_bins));
	if (program.has_functions)
		assert_int_equal(portprof_config_add_histogram(
					 config, 0, &functions, 1,
					 PORTPROF_BINS_WEIGHT), 0);
	if (portprof_session_open(config, &session))
		fail_msg("open: %s", portprof_last_diag()->words);
	portprof_config_free(config);
	hit_count = 0; /* of those to which a rate was measured */
	return session;
}

/* CPU time whose ticks the kernel loses: what follows is never short of time
 * to stand for, and each tick weighs exactly one period. */
static void run_lead(void)
{
	struct prun_work lead = { 0, PSEAM_LIBRARY, PSEAM_LIBRARY + 64,
		                  LEAD_MS * MS, 0 };

	seam.sim.lose_ticks = UINT32_MAX;
	prun_works(&seam.run, &lead, 1);
	seam.sim.lose_ticks = 0;
}

static void run_program(portprof_session *session)
{
	size_t half = program.work_count / 2;

	assert_int_equal(portprof_session_start(session), 0);
	if (program.has_lead)
		run_lead();
	prun_works(&seam.run, program.works, half);
	if (any(2))
		portprof_session_flush(session);
	prun_works(&seam.run, program.works + half,
	           program.work_count - half);
	assert_int_equal(portprof_session_stop(session), 0);
}

/* ---- what must have come out ---- */

/* A bin's ticks; exact where each of them weighs a period. Rounding on the way
 * to a bin loses less than a nanosecond each time. */
static uint64_t ticks_in(uint64_t weight, double tick_ns)
{
	return (uint64_t)((double)weight / tick_ns + 0.5);
}

static uint64_t check_region(const struct system *system, size_t r,
                             double tick_ns)
{
	const portprof_range *region = &program.regions[r];
	struct expect_region asked = { region->offset, region->scale, 64,
		                       region->bin_count };
	uint64_t inside = 0;
	size_t saturated;

	memset(model, 0, sizeof(model));
	expect_histogram(&asked, hits, hit_count, model, &saturated);
	for (size_t i = 0; i < region->bin_count; i++) {
		inside += model[i];
		if (program.has_lead)
			assert_int_equal(ticks_in(bins[r][i], tick_ns),
			                 model[i]);
		/* the first ticks of all CPUs may come at once */
		assert_true((double)bins[r][i] <= (double)model[i] * tick_ns +
		            4 * (double)system->resolution_ns);
		assert_int_equal(bins[r][i] > 0, model[i] > 0);
	}
	return inside;
}

/* What the kernel did not tell, the model does not know either: of a bin of
 * two bytes the first. Wider ones never straddle an edge of ours. */
static void blur_hits(const portprof_session *session)
{
	uint64_t base = program.has_functions ? PSEAM_FUNCTION :
	                                        program.regions[0].offset;

	if (portprof_session_caps(session) & PORTPROF_CAP_EXACT_PC)
		return;
	for (size_t i = 0; i < hit_count; i++)
		hits[i].pc -= (hits[i].pc - base) & 1;
}

static void check_bins(const struct system *system, portprof_session *session,
                       const portprof_stats *stats)
{
	portprof_sink_stats sink = { .size = sizeof(sink) };
	uint64_t ticks = 0, inside = 0;

	for (size_t i = 0; i < hit_count; i++)
		ticks += hits[i].amount;
	assert_int_equal(stats->delivered_samples, ticks);
	blur_hits(session);
	for (size_t r = 0; r < program.region_count; r++)
		inside += check_region(system, r, 1e9 / stats->granted_hz);
	assert_int_equal(portprof_session_sink_stats(session, 0, &sink), 0);
	assert_int_equal(sink.kept_samples, inside);
	assert_int_equal(sink.outside_samples, ticks - inside);
}

static void check_program(const struct system *system,
                          const portprof_stats *stats)
{
	struct expect_work list[WORKS];
	struct expect_terms terms = {
		.period_ns = system->resolution_ns, .clocks = 1,
		.is_fair = system->os->pending != PSIM_SIGNAL,
	};
	uint64_t lead_ns = program.has_lead ? LEAD_MS * MS : 0;
	uint64_t sampled = stats->kept_weight + stats->outside_weight;
	struct expect expect;

	for (size_t i = 0; i < program.work_count; i++) {
		const struct prun_work *work = &program.works[i];
		/* the halves are apart: to a CPU's clock not one stretch */
		unsigned thread = work->thread +
		                  (i < program.work_count / 2 ? 0 : 32);

		list[i] = (struct expect_work){ thread,
			(unsigned)((work->start - PSEAM_FUNCTION) / 0x1000),
			work->cpu_ns, work->kernel_ns };
	}
	expect_program(list, program.work_count, &terms, &expect);
	assert_int_equal(stats->total_weight, expect.total + lead_ns);
	assert_in_range(sampled, expect.sampled.low,
	                expect.sampled.high + lead_ns);
	if (!program.has_functions || !program.has_lead || program.has_kernel)
		return;
	/* the model knows no lead: it thinks that weight ends at the total */
	for (unsigned f = 0; f < FUNCTIONS; f++)
		assert_in_range(function_bins[f], expect.function[f].low,
		                expect.function[f].high +
		                        WORKS * system->resolution_ns);
}

static void run_one(const struct system *system)
{
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_session *session;

	make_program(system);
	begin(system);
	session = open_session(system);
	run_program(session);
	assert_int_equal(portprof_session_stats(session, 0, &stats), 0);
	check_bins(system, session, &stats);
	check_program(system, &stats);
	assert_int_equal(portprof_session_close(session), 0);
	assert_int_equal(pseam_held(&seam), 0);
	psim_free(&seam.sim);
}

static void equals_the_model(void **state)
{
	for (number = first_seed; number <= last_seed; number++)
		run_one(*state);
	number = 0;
}

/* A test that failed left its loop in the middle. */
static int tell_seed(void **state)
{
	if (number)
		print_message("# it failed with the seed %u\n", number);
	number = 0;
	(void)state;
	return 0;
}

#define TEST(title, index)                                        \
	{ title, equals_the_model, NULL, tell_seed,               \
	  (void *)(uintptr_t)&systems[index] }

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST("freebsd_equals_the_model", 0),
		TEST("netbsd_equals_the_model", 1),
		TEST("openbsd_equals_the_model", 2),
		TEST("dragonfly_equals_the_model", 3),
		TEST("glibc_equals_the_model", 4),
		TEST("solaris_at_100_hz_equals_the_model", 5),
		TEST("solaris_at_1000_hz_equals_the_model", 6),
	};

	if (argc == 2)
		first_seed = last_seed = (uint32_t)strtoul(argv[1], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
