/* SPDX-License-Identifier: MIT */
/* The histogram sink: bins, edges, ticks, saturation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "api/core/sink.h"
#include "base/clock_ns.h"
#include "base/thread.h"

/* One histogram, opened by hand. */
struct hist {
	struct ppi_sink_request request;
	struct ppi_event event;
	struct ppi_plan plan;
	struct ppi_run run;
	struct ppi_sink sink;
};

static void hist_begin(struct hist *hist, portprof_range *regions,
                       size_t count, portprof_bin_unit unit, uint64_t period)
{
	memset(hist, 0, sizeof(*hist));
	hist->request.ops = &ppi_sink_hist;
	hist->request.ranges = regions;
	hist->request.range_count = count;
	hist->request.bin_unit = unit;
	hist->event.request.period = period;
	hist->event.is_cpu_time = true;
	hist->plan.events = &hist->event;
	hist->plan.event_count = 1;
	hist->run.plan = &hist->plan;
	hist->sink.ops = &ppi_sink_hist;
	hist->sink.request = &hist->request;
	assert_int_equal(ppi_sink_hist.open(&hist->sink, &hist->run, NULL), 0);
}

static enum ppi_verdict hist_take(struct hist *hist, uint64_t pc,
                                  uint64_t weight)
{
	portprof_record record = { .kind = PORTPROF_RECORD_SAMPLE,
		                   .address = pc, .span = 1,
		                   .weight = weight, .samples = 1 };
	portprof_batch batch = { &record, 1, NULL, 0,
	                         sizeof(portprof_record) };
	uint8_t verdict = PPI_LOST;

	ppi_sink_hist.take(&hist->sink, &batch, &verdict);
	return verdict;
}

static void hist_end(struct hist *hist)
{
	ppi_sink_hist.close(&hist->sink, NULL, NULL);
}

/* The bin that a pc at distance d lands in, or -1; 2^40 bins are pretended
 * by looking at one at a time. */
static int64_t bin_hit(uint64_t d, uint32_t scale, uint64_t expected)
{
	uint64_t bin = 0;
	portprof_range region = { .scale = scale, .bin_bits = 64,
		                   .bins = &bin - expected,
		                   .bin_count = (size_t)expected + 1 };
	struct hist hist;
	int64_t hit = -1;

	hist_begin(&hist, &region, 1, PORTPROF_BINS_WEIGHT, 1);
	if (hist_take(&hist, d, 7) == PPI_KEPT && bin == 7)
		hit = (int64_t)expected;
	hist_end(&hist);
	return hit;
}

/* Vectors of os-semantics section 2, BSD LP64 and illumos columns where the
 * two agree: the kernels' formula, without the kernels' aliasing. */
static void test_vectors(void **state)
{
	static const struct {
		uint64_t d;
		uint32_t scale;
		int64_t bin;
	} rows[] = {
		{ 2, 0x10000, 1 },           { 3, 0xC000, 1 },
		{ 7, 0xFFFF, 3 },            { 0x65, 0x8000, 25 },
		{ 0x12347, 0x5555, 12427 },  { 0x1FFFE, 2, 1 },
		{ 0, 0x10000, 0 },           { 1, 0x10000, 0 },
		{ 5, 0x20000, 5 },
		{ 0x100000008, 0x10000, 0x80000004 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(bin_hit(rows[i].d, rows[i].scale,
		                         (uint64_t)rows[i].bin),
		                 rows[i].bin);
}

/* For powers of two the kernels' formula is the manual pages'. */
static void test_power_of_two_is_the_manual_formula(void **state)
{
	(void)state;
	for (uint32_t scale = 4; scale <= 65536; scale *= 2)
		for (uint64_t d = 0; d < 5000; d += 1 + d / 64) {
			uint64_t manual = d / 2 * scale / 65536;

			assert_int_equal(bin_hit(d, scale, manual), manual);
		}
}

/* HIST-4: elsewhere they differ, and only at odd addresses. */
static void test_other_scales_differ_at_odd_addresses_only(void **state)
{
	unsigned differ = 0;

	(void)state;
	for (uint32_t scale = 3; scale < 65536; scale += 977)
		for (uint64_t d = 0; d < 300; d++) {
			uint64_t manual = d / 2 * scale / 65536;
			bool same = bin_hit(d, scale, manual) >= 0;

			assert_true(same || d % 2 == 1);
			differ += !same;
		}
	assert_true(differ > 0);
}

static void test_edges_and_gaps(void **state)
{
	uint32_t low[4] = { 0 }, high[2] = { 0 };
	portprof_range regions[] = {
		{ 0x1000, 65536, 32, low, 4 },   /* [0x1000, 0x1008) */
		{ 0x2000, 32768, 32, high, 2 },  /* [0x2000, 0x2008) */
	};
	struct hist hist;

	(void)state;
	hist_begin(&hist, regions, 2, PORTPROF_BINS_WEIGHT, 1);
	assert_int_equal(hist_take(&hist, 0xfff, 1), PPI_OUTSIDE);
	assert_int_equal(hist_take(&hist, 0x1000, 1), PPI_KEPT);
	assert_int_equal(hist_take(&hist, 0x1007, 1), PPI_KEPT);
	assert_int_equal(hist_take(&hist, 0x1008, 1), PPI_OUTSIDE);
	assert_int_equal(hist_take(&hist, 0x2003, 1), PPI_KEPT);
	assert_int_equal(hist_take(&hist, 0x2007, 1), PPI_KEPT);
	assert_int_equal(hist_take(&hist, 0x2008, 1), PPI_OUTSIDE);
	assert_int_equal(hist_take(&hist, UINT64_MAX, 1), PPI_OUTSIDE);
	assert_int_equal(low[0], 1);
	assert_int_equal(low[3], 1);
	assert_int_equal(high[0], 1);
	assert_int_equal(high[1], 1);
	assert_int_equal(hist.sink.stats.kept_samples, 4);
	assert_int_equal(hist.sink.stats.outside_samples, 4);
	hist_end(&hist);
}

/* The range told to backends is exactly what the bins take. */
static void test_range_is_what_the_bins_take(void **state)
{
	(void)state;
	for (uint32_t scale = 2; scale <= 131072; scale += 1 + scale / 3) {
		uint64_t bins[3];
		portprof_range region = { 0x5000, scale, 64, bins, 3 };
		struct ppi_range range = ppi_range_of_text(&region);
		struct hist hist;

		hist_begin(&hist, &region, 1, PORTPROF_BINS_WEIGHT, 1);
		assert_int_equal(range.start, 0x5000);
		memset(bins, 0, sizeof(bins));
		assert_int_equal(hist_take(&hist, range.end - 1, 1), PPI_KEPT);
		assert_int_equal(bins[2], 1);
		assert_int_equal(hist_take(&hist, range.end, 1), PPI_OUTSIDE);
		hist_end(&hist);
	}
}

/* HIST-2: a bin stops at its largest value and never wraps. */
static void test_saturation(void **state)
{
	uint16_t bins[3] = { 0, 0, 0xbeef };
	portprof_range region = { 0, 65536, 16, bins, 2 };
	struct hist hist;

	(void)state;
	hist_begin(&hist, &region, 1, PORTPROF_BINS_WEIGHT, 1);
	assert_int_equal(hist_take(&hist, 0, 65534), PPI_KEPT);
	assert_int_equal(hist.sink.stats.saturated_bins, 0);
	assert_int_equal(hist_take(&hist, 0, 5), PPI_KEPT);
	assert_int_equal(bins[0], 65535);
	assert_int_equal(hist.sink.stats.saturated_bins, 1);
	assert_int_equal(hist_take(&hist, 0, 1), PPI_LOST);
	assert_int_equal(bins[0], 65535);
	assert_int_equal(bins[1], 0);
	assert_int_equal(bins[2], 0xbeef);
	assert_int_equal(hist.sink.stats.saturated_bins, 1);
	assert_int_equal(hist.sink.stats.lost_samples, 1);
	hist_end(&hist);
}

/* Ticks times the period is the weight, to within one period. */
static void test_ticks_keep_the_total(void **state)
{
	uint64_t bins[8] = { 0 }, weight = 0, ticks = 0, seed = 42;
	portprof_range region = { 0, 65536, 64, bins, 8 };
	struct hist hist;

	(void)state;
	hist_begin(&hist, &region, 1, PORTPROF_BINS_TICKS, 1000);
	for (int i = 0; i < 1000; i++) {
		uint64_t w;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		w = seed >> 33 & 4095;
		assert_int_equal(hist_take(&hist, seed >> 60, w), PPI_KEPT);
		weight += w;
	}
	for (int i = 0; i < 8; i++)
		ticks += bins[i];
	assert_true(ticks * 1000 <= weight && weight < ticks * 1000 + 1000);
	hist_end(&hist);
}

/* A kernel sample counts where it entered from user mode. */
static void test_kernel_sample_counts_at_its_user_address(void **state)
{
	uint32_t bins[2] = { 0 };
	portprof_range region = { 0x100, 65536, 32, bins, 2 };
	portprof_record record = {
		.kind = PORTPROF_RECORD_SAMPLE, .span = 1, .weight = 3,
		.samples = 1, .address = UINT64_MAX - 100,
		.user_address = 0x102,
		.valid = PORTPROF_FIELD_KERNEL | PORTPROF_FIELD_USER_ADDRESS,
	};
	portprof_batch batch = { &record, 1, NULL, 0,
	                         sizeof(portprof_record) };
	uint8_t verdict = PPI_LOST;
	struct hist hist;

	(void)state;
	hist_begin(&hist, &region, 1, PORTPROF_BINS_WEIGHT, 1);
	ppi_sink_hist.take(&hist.sink, &batch, &verdict);
	assert_int_equal(verdict, PPI_KEPT);
	assert_int_equal(bins[1], 3);
	record.valid = PORTPROF_FIELD_KERNEL;
	verdict = PPI_LOST;
	ppi_sink_hist.take(&hist.sink, &batch, &verdict);
	assert_int_equal(verdict, PPI_OUTSIDE);
	hist_end(&hist);
}

/* ---- histograms of labels ---- */

/* One record with its text, if any; what became of it. */
static enum ppi_verdict label_take(struct hist *hist, uint32_t kind,
                                   uint32_t pid, uint64_t number,
                                   const char *text, size_t bytes)
{
	uint64_t words[8] = { 0 };
	portprof_record record = { .kind = kind, .span = 1, .weight = 1,
		                   .samples = 1, .pid = pid, .tid = pid,
		                   .valid = PORTPROF_FIELD_PID |
		                            PORTPROF_FIELD_TID };
	portprof_batch batch = { &record, 1, words, 8, sizeof(record) };
	uint8_t verdict = PPI_LOST;

	if (kind == PORTPROF_RECORD_SAMPLE) {
		record.label_set = number;
		record.valid |= number ? PORTPROF_FIELD_LABELS : 0;
	} else {
		record.address = number;
		record.payload_words = (bytes + 7) / 8;
		record.valid |= kind == PORTPROF_RECORD_THREAD
			? PORTPROF_FIELD_EXEC : 0;
	}
	if (bytes)
		memcpy(words, text, bytes);
	ppi_sink_label_hist.take(&hist->sink, &batch, &verdict);
	return verdict;
}

#define TELL(pid, number, text)                                              \
	label_take(&hist, PORTPROF_RECORD_LABELS, pid, number, text, sizeof(text))
#define SAMPLE(pid, number)                                                  \
	label_take(&hist, PORTPROF_RECORD_SAMPLE, pid, number, NULL, 0)

static void test_only_what_has_the_labels_is_counted(void **state)
{
	const portprof_label wanted[] = { { "a", "1" }, { "c", "" } };
	uint64_t bin = 0;
	portprof_range all = { 0, 2, 64, &bin, 1 };
	struct hist hist;

	(void)state;
	hist_begin(&hist, &all, 1, PORTPROF_BINS_WEIGHT, 1);
	hist_end(&hist);
	hist.request.labels = portprof_label_set_new(wanted, 2);
	assert_int_equal(ppi_sink_label_hist.open(&hist.sink, &hist.run, NULL),
	                 0);
	TELL(5, 2, "a\0001\0b\0002\0c\0\0");
	TELL(5, 3, "a\00011\0c\0\0");
	TELL(5, 4, "a\0001\0c\0x\0");
	TELL(5, 6, "b\0a\0c\0\0");
	TELL(5, 7, "a\0001"); /* the rest is missing */
	assert_int_equal(SAMPLE(5, 2), PPI_KEPT);
	assert_int_equal(SAMPLE(5, 3), PPI_OUTSIDE);
	assert_int_equal(SAMPLE(5, 4), PPI_OUTSIDE);
	assert_int_equal(SAMPLE(5, 6), PPI_OUTSIDE);
	assert_int_equal(SAMPLE(5, 7), PPI_OUTSIDE);
	assert_int_equal(SAMPLE(5, 0), PPI_OUTSIDE);
	assert_int_equal(SAMPLE(5, PORTPROF_LABEL_SET_OTHER), PPI_OUTSIDE);
	assert_int_equal(SAMPLE(5, PORTPROF_LABEL_SET_UNKNOWN), PPI_OUTSIDE);
	assert_int_equal(SAMPLE(6, 2), PPI_OUTSIDE);
	/* the child has its parent's sets, and after an exec nobody's */
	label_take(&hist, PORTPROF_RECORD_FORK, 6, 5, NULL, 0);
	assert_int_equal(SAMPLE(6, 2), PPI_KEPT);
	label_take(&hist, PORTPROF_RECORD_THREAD, 6, 0, NULL, 0);
	assert_int_equal(SAMPLE(6, 2), PPI_OUTSIDE);
	assert_int_equal(SAMPLE(5, 2), PPI_KEPT);
	TELL(6, 2, "a\0002\0c\0\0");
	TELL(6, 3, "a\0001\0c\0\0");
	assert_int_equal(SAMPLE(6, 2), PPI_OUTSIDE);
	assert_int_equal(SAMPLE(6, 3), PPI_KEPT);
	/* the number is another process's */
	label_take(&hist, PORTPROF_RECORD_FORK, 6, 7, NULL, 0);
	assert_int_equal(SAMPLE(6, 3), PPI_OUTSIDE);
	assert_int_equal(bin, 4);
	assert_int_equal(hist.sink.stats.kept_samples, 4);
	assert_int_equal(hist.sink.stats.outside_samples, 11);
	ppi_sink_label_hist.close(&hist.sink, NULL, NULL);
}

static void open_of_a(struct hist *hist, portprof_range *range)
{
	const portprof_label a = { "a", "1" };

	hist_begin(hist, range, 1, PORTPROF_BINS_WEIGHT, 1);
	hist_end(hist);
	hist->request.labels = portprof_label_set_new(&a, 1);
	assert_int_equal(
		ppi_sink_label_hist.open(&hist->sink, &hist->run, NULL), 0);
}

/* CPU time of that many children, each with the sets of its parent, which end. */
static uint64_t time_of_forks(unsigned count)
{
	uint64_t bin = 0, before = 0, after = 0;
	portprof_range all = { 0, 2, 64, &bin, 1 };
	struct hist hist;

	open_of_a(&hist, &all);
	TELL(5, 2, "a\0001");
	ppi_clock_ns(ppi_thread_clock(0), &before);
	for (uint32_t pid = 6; pid < 6 + count; pid++) {
		label_take(&hist, PORTPROF_RECORD_FORK, pid, 5, NULL, 0);
		if (SAMPLE(pid, 2) != PPI_KEPT)
			fail();
		label_take(&hist, PORTPROF_RECORD_EXIT, pid, 0, NULL, 0);
	}
	ppi_clock_ns(ppi_thread_clock(0), &after);
	assert_int_equal(SAMPLE(6, 2), PPI_OUTSIDE);
	assert_int_equal(SAMPLE(5, 2), PPI_KEPT);
	assert_int_equal(bin, count + 1);
	ppi_sink_label_hist.close(&hist.sink, NULL, NULL);
	return after - before;
}

/* Ten times as many take ten times as long; a hundred if each looked at all before it. */
static void test_processes_that_have_ended_are_forgotten(void **state)
{
	uint64_t few_ns, many_ns;

	(void)state;
	time_of_forks(2000);
	few_ns = time_of_forks(2000);
	many_ns = time_of_forks(20000);
	assert_true(many_ns < 40 * few_ns);
}

/* Their other threads still run. */
static void test_processes_outlive_their_first_thread(void **state)
{
	const uint32_t own = (uint32_t)getpid(), child = own + 1;
	uint64_t bin = 0;
	portprof_range all = { 0, 2, 64, &bin, 1 };
	struct hist hist;

	(void)state;
	open_of_a(&hist, &all);
	TELL(own, 2, "a\0001");
	label_take(&hist, PORTPROF_RECORD_EXIT, own, 0, NULL, 0);
	assert_int_equal(SAMPLE(own, 2), PPI_KEPT);
	label_take(&hist, PORTPROF_RECORD_FORK, child, own, NULL, 0);
	label_take(&hist, PORTPROF_RECORD_EXIT, child, 0, NULL, 0);
	assert_int_equal(SAMPLE(child, 2), PPI_KEPT);
	TELL(child, 3, "a\0001");
	assert_int_equal(SAMPLE(child, 3), PPI_KEPT);
	/* the number is another process's, which ends as often as it likes */
	label_take(&hist, PORTPROF_RECORD_FORK, child, own, NULL, 0);
	assert_int_equal(SAMPLE(child, 3), PPI_OUTSIDE);
	for (unsigned i = 0; i < 3000; i++)
		label_take(&hist, PORTPROF_RECORD_EXIT, child, 0, NULL, 0);
	assert_int_equal(SAMPLE(child, 2), PPI_KEPT);
	ppi_sink_label_hist.close(&hist.sink, NULL, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_power_of_two_is_the_manual_formula),
		cmocka_unit_test(
			test_other_scales_differ_at_odd_addresses_only),
		cmocka_unit_test(test_edges_and_gaps),
		cmocka_unit_test(test_range_is_what_the_bins_take),
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_ticks_keep_the_total),
		cmocka_unit_test(test_kernel_sample_counts_at_its_user_address),
		cmocka_unit_test(test_only_what_has_the_labels_is_counted),
		cmocka_unit_test(test_processes_that_have_ended_are_forgotten),
		cmocka_unit_test(
			test_processes_outlive_their_first_thread),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
