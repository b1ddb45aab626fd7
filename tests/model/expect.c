/* SPDX-License-Identifier: MIT */
/* What a measurement of a known program must be, found without the library. */
#include "tests/model/expect.h"

#include <string.h>

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The most one thread can use between two of its samples. */
static uint64_t resolution(const struct expect_terms *terms)
{
	return (terms->period_ns + terms->spread_ns + terms->tick_ns) *
	       terms->clocks;
}

/* What one thread did, in all and in its longest stay in the kernel. */
struct thread_sum {
	uint64_t used, in_kernel;
};

static struct thread_sum sum_thread(const struct expect_work *works,
                                    size_t count, unsigned thread)
{
	struct thread_sum sum = { 0, 0 };

	for (size_t i = 0; i < count; i++) {
		if (works[i].thread != thread)
			continue;
		sum.used += works[i].cpu_ns;
		sum.in_kernel += works[i].in_kernel_ns;
	}
	return sum;
}

/*
 * A stretch in one function is seen to within one resolution at either end:
 * the first sample in it may carry weight from before, and its own last part
 * may be carried by a sample after it. A kernel that stays silent in kernel
 * mode delays that sample by as much as the thread stayed there.
 */
static void expect_stretch(const struct expect_work *work, uint64_t blur,
                           struct expect_range *function)
{
	function->low += less(work->cpu_ns, blur);
	function->high += work->cpu_ns + blur;
}

static bool is_same_stretch(const struct expect_work *a,
                            const struct expect_work *b)
{
	return a->thread == b->thread && a->function == b->function;
}

/* Works that follow one another in one function are one stretch. Finds the
 * one that begins with works[first]; false when it began before. */
static bool join_stretch(const struct expect_work *works, size_t count,
                         size_t first, struct expect_work *joined)
{
	const struct expect_work *last = NULL;

	for (size_t i = 0; i < first; i++)
		if (works[i].thread == works[first].thread)
			last = &works[i];
	if (last && is_same_stretch(last, &works[first]))
		return false;
	*joined = works[first];
	for (size_t i = first + 1; i < count; i++) {
		if (works[i].thread != joined->thread)
			continue;
		if (works[i].function != joined->function)
			break;
		joined->cpu_ns += works[i].cpu_ns;
		joined->in_kernel_ns += works[i].in_kernel_ns;
	}
	return true;
}

static void expect_thread(const struct expect_work *works, size_t count,
                          unsigned thread, const struct expect_terms *terms,
                          struct expect *out)
{
	struct thread_sum sum = sum_thread(works, count, thread);
	uint64_t blur = resolution(terms);
	uint64_t unseen;

	if (!terms->sees_kernel)
		blur += sum.in_kernel;
	unseen = terms->is_fair ? lesser(sum.used, blur) : sum.used;
	out->thread[thread].low = less(sum.used, unseen + terms->slack_ns);
	out->thread[thread].high = sum.used + terms->slack_ns;
	out->total += sum.used;
	out->unattributed.high += unseen;
	for (size_t i = 0; i < count; i++) {
		struct expect_work stretch;

		if (works[i].thread == thread &&
		    join_stretch(works, count, i, &stretch))
			expect_stretch(&stretch, blur,
			               &out->function[stretch.function]);
	}
}

static unsigned count_threads(const struct expect_work *works, size_t count)
{
	unsigned threads = 0;

	for (unsigned t = 0; t < EXPECT_THREADS; t++)
		threads += sum_thread(works, count, t).used > 0;
	return threads;
}

/* Without fairness only one busy thread is sure to be seen where it is. */
static void expect_unfair(struct expect *out)
{
	for (unsigned f = 0; f < EXPECT_FUNCTIONS; f++) {
		out->function[f].low = 0;
		if (out->function[f].high > 0)
			out->function[f].high = out->total;
	}
}

static void add_slack(struct expect_range *range, uint64_t slack_ns,
                      uint64_t most)
{
	range->low = less(range->low, slack_ns);
	range->high = lesser(range->high + slack_ns, most + slack_ns);
}

void expect_program(const struct expect_work *works, size_t count,
                    const struct expect_terms *asked, struct expect *out)
{
	struct expect_terms terms = *asked;
	unsigned threads = count_threads(works, count);

	memset(out, 0, sizeof(*out));
	terms.is_fair = asked->is_fair || threads <= 1;
	for (unsigned t = 0; t < EXPECT_THREADS; t++)
		expect_thread(works, count, t, &terms, out);
	if (!terms.is_fair)
		expect_unfair(out);
	out->sampled.low = out->total - out->unattributed.high;
	out->sampled.high = out->total;
	out->samples.low = less(out->sampled.low, terms.slack_ns) /
	                   resolution(&terms);
	out->samples.high = (out->total + terms.slack_ns) / terms.period_ns +
	                    (uint64_t)threads * terms.clocks;
	add_slack(&out->sampled, terms.slack_ns, out->total);
	add_slack(&out->unattributed, terms.slack_ns, out->total);
	for (unsigned f = 0; f < EXPECT_FUNCTIONS; f++)
		add_slack(&out->function[f], terms.slack_ns, out->total);
}

/* ---- histograms ---- */

/* a * b / 2^shift without overflow, by long multiplication in base 2^16: slow,
 * and nothing like what the library does. */
static uint64_t scale_down(uint64_t a, uint32_t b, unsigned shift)
{
	uint32_t digits[8] = { 0 };
	uint64_t carry = 0, result = 0;

	for (unsigned i = 0; i < 8; i++) {
		uint64_t digit = i < 4 ? (a >> (16 * i)) & 0xffff : 0;

		carry += digit * b;
		digits[i] = carry & 0xffff;
		carry >>= 16;
	}
	for (unsigned bit = shift; bit < 128 && bit - shift < 64; bit++)
		if (digits[bit / 16] >> (bit % 16) & 1)
			result |= (uint64_t)1 << (bit - shift);
	return result;
}

uint64_t expect_bin_of_manual(uint64_t pc, uint64_t offset, uint32_t scale)
{
	return pc < offset ? UINT64_MAX :
	                     scale_down((pc - offset) / 2, scale, 16);
}

uint64_t expect_bin_of_kernel(uint64_t pc, uint64_t offset, uint32_t scale)
{
	return pc < offset ? UINT64_MAX : scale_down(pc - offset, scale, 17);
}

uint64_t expect_histogram(const struct expect_region *region,
                          const struct expect_hit *hits, size_t count,
                          uint64_t *bins, size_t *saturated)
{
	uint64_t most = UINT64_MAX >> (64 - region->bin_bits);
	uint64_t outside = 0;

	*saturated = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t bin = expect_bin_of_kernel(hits[i].pc, region->offset,
		                                    region->scale);

		if (bin >= region->bin_count) {
			outside += hits[i].amount;
			continue;
		}
		if (hits[i].amount > 0 && bins[bin] < most &&
		    most - bins[bin] <= hits[i].amount)
			++*saturated;
		bins[bin] = most - bins[bin] < hits[i].amount ?
			most : bins[bin] + hits[i].amount;
	}
	return outside;
}
