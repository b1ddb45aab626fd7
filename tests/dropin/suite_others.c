/* SPDX-License-Identifier: MIT */
/* The drop-in suite's cases of sprofil and pcsample. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat/drop-in/dialect.h"
#include "tests/conform/fixture.h"
#include "tests/dropin/suite.h"

#define PORTPROF_COMPAT_OWN_NAMES
#include "compat/drop-in/portprof/compat/glibc.h"
#include "compat/drop-in/portprof/compat/solaris.h"

/* ---- sprofil ---- */

static uint64_t sum_of(const void *from, size_t count, size_t width)
{
	const uint16_t *narrow = from;
	const uint32_t *wide = from;
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += width == 4 ? wide[i] : narrow[i];
	return sum;
}

static struct prof over(unsigned function, void *base, size_t width)
{
	uint64_t start, end;

	fixture.function_range(function, &start, &end);
	return (struct prof){ base, (size_t)((end - start) / width * width),
		              (size_t)start, 65536 };
}

/* A region over all, and two on top of it, which win; in any order. */
static void check_overlap(unsigned flags)
{
	static uint32_t all[BINS], one[BINS], two[BINS];
	size_t width = flags & PROF_UINT ? 4 : 2;
	struct prof regions[3] = { over(1, one, width),
		{ all, (size_t)((high - low) / width * width), (size_t)low,
		  65536 }, over(2, two, width) };
	uint64_t used[FX_FUNCTIONS];

	memset(all, 0, sizeof(all));
	memset(one, 0, sizeof(one));
	memset(two, 0, sizeof(two));
	assert_int_equal(portprof_glibc_sprofil(regions, 3, NULL, flags), 0);
	for (unsigned f = 0; f < FX_FUNCTIONS; f++)
		used[f] = spend(0, f, 200);
	assert_int_equal(portprof_glibc_sprofil(NULL, 0, NULL, 0), 0);
	near(sum_of(one, BINS, width), used[1], 2);
	near(sum_of(two, BINS, width), used[2], 2);
	near(sum_of(all, BINS, width), used[0] + used[3], 4);
}

void hist_5_the_higher_start_wins(void **state)
{
	(void)state;
	check_overlap(PROF_USHORT);
	check_overlap(PROF_UINT);
	/* and once more, from the start */
	check_overlap(PROF_USHORT | PROF_FAST);
}

void hist_6_the_overflow_bin_has_the_rest(void **state)
{
	uint16_t rest = 0;
	struct prof regions[2] = { over(0, bins, 2), { &rest, 2, 0, 2 } };
	uint64_t inside = 0, outside = 0;
	int result = portprof_glibc_sprofil(regions, 2, NULL, 0);
	int error = errno;

	(void)state;
	if (!has_cap(PORTPROF_CAP_WHOLE_SPACE)) {
		assert_int_equal(result, -1);
		assert_int_equal(error, ENOSYS);
		return;
	}
	assert_int_equal(result, 0);
	/* Turns of 14 ms do not beat with ticks of 1, 4 or 10. */
	for (unsigned i = 0; i < 28; i++) {
		inside += spend(0, 0, 7);
		outside += spend(0, 1 + i % 3, 7);
	}
	assert_int_equal(portprof_glibc_sprofil(NULL, 0, NULL, 0), 0);
	near((uint64_t)all_ticks(bins) + rest, inside + outside, 1);
	assert_true(rest > 0 && all_ticks(bins) > 0);
}

void sample_7_the_period_is_the_true_one(void **state)
{
	struct timeval period = { 9, 9 };
	struct prof region = over(0, bins, 2);
	uint64_t used;

	(void)state;
	setenv("PORTPROF_HZ", "1000", 1);
	ppi_dialect_forget();
	assert_int_equal(portprof_glibc_sprofil(&region, 1, &period, 0), 0);
	used = spend(0, 0, 300);
	assert_int_equal(portprof_glibc_sprofil(NULL, 0, NULL, 0), 0);
	assert_int_equal(period.tv_sec, 0);
	assert_int_equal(period.tv_usec, 1000);
	near(all_ticks(bins) / 10, used, 1);
}

void err_3_what_cannot_be_is_refused(void **state)
{
	struct prof region = over(0, bins, 2);

	(void)state;
	assert_int_equal(portprof_glibc_sprofil(&region, -1, NULL, 0), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(portprof_glibc_sprofil(NULL, 0, NULL, 0), 0);
	region.pr_scale = 1; /* no region: so nothing is on */
	assert_int_equal(portprof_glibc_sprofil(&region, 1, NULL, 0), 0);
	region.pr_scale = 65536;
	assert_int_equal(portprof_glibc_sprofil(&region, 1, NULL, 0), 0);
	spend(0, 0, 300);
	assert_int_equal(portprof_glibc_sprofil(NULL, 0, NULL, 0), 0);
	assert_true(all_ticks(bins) > 0);
}

/* ---- pcsample ---- */

enum { PCS = 4096 };
static uintptr_t pcs[PCS];

static uint64_t pcs_in(unsigned function, long count)
{
	uint64_t start, end, sum = 0;

	fixture.function_range(function, &start, &end);
	for (long i = 0; i < count; i++)
		sum += pcs[i] >= start && pcs[i] < end;
	return sum;
}

void sink_1_pcsample_stores_in_the_order_of_time(void **state)
{
	long count = portprof_solaris_pcsample(pcs, PCS);
	uint64_t first, second;
	int error = errno;

	(void)state;
	if (!has_cap(PORTPROF_CAP_WHOLE_SPACE)) {
		assert_int_equal(count, -1);
		assert_int_equal(error, ENOSYS);
		return;
	}
	assert_int_equal(count, 0);
	first = spend(0, 0, 200);
	assert_int_equal(portprof_solaris_pcsample(pcs, -1), -1);
	assert_int_equal(errno, EINVAL);
	second = spend(0, 1, 300);
	count = portprof_solaris_pcsample(pcs, 0);
	near((uint64_t)count, first + second, 1);
	near(pcs_in(0, count), first, 1);
	near(pcs_in(1, count), second, 1);
	near(pcs_in(0, (long)pcs_in(0, count)), first, 1);
	assert_int_equal(portprof_solaris_pcsample(pcs, 0), 0);
}

void sink_1_pcsample_stops_when_it_is_full(void **state)
{
	(void)state;
	if (!has_cap(PORTPROF_CAP_WHOLE_SPACE))
		return;
	memset(pcs, 0, sizeof(pcs));
	assert_int_equal(portprof_solaris_pcsample(pcs, 7), 0);
	spend(0, 0, 200);
	assert_int_equal(portprof_solaris_pcsample(pcs, 0), 7);
	assert_true(pcs[6] != 0 && pcs[7] == 0);
}

/* Of profil and pcsample the last call wins. */
void life_11_solaris_has_one_of_both(void **state)
{
	(void)state;
	if (!has_cap(PORTPROF_CAP_WHOLE_SPACE))
		return;
	assert_int_equal(portprof_solaris_pcsample(pcs, PCS), 0);
	spend(0, 0, 100);
	assert_int_equal(portprof_solaris_profil(bins, bytes_of_all(),
	                                         (size_t)low, 65536), 0);
	spend(0, 0, 200);
	/* it was off, and its count is gone */
	assert_int_equal(portprof_solaris_pcsample(pcs, PCS), 0);
	assert_true(all_ticks(bins) > 0);
	memcpy(before, bins, sizeof(bins));
	spend(0, 0, 200);
	assert_true(portprof_solaris_pcsample(pcs, 0) > 0);
	assert_memory_equal(bins, before, sizeof(bins));
}
