/* SPDX-License-Identifier: MIT */
/*
 * The drop-in functions over every fixture that the conformance suite has: on
 * each kernel, simulated or real, they must give the same bins. Cases are
 * named for the clauses of doc/contract.md that they hold the functions to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/core/helper.h"
#include "compat/drop-in/dialect.h"
#include "compat/drop-in/engine.h"
#include "tests/conform/fixture.h"
#include "tests/dropin/suite.h"

#define PORTPROF_COMPAT_OWN_NAMES
#include "compat/drop-in/portprof/compat/bsd.h"
#include "compat/drop-in/portprof/compat/glibc.h"
#include "compat/drop-in/portprof/compat/solaris.h"

#define MS UINT64_C(1000000)

uint16_t bins[BINS + GUARD], before[BINS + GUARD];
uint64_t low, high;

struct dialect {
	int (*profil)(void *bins, size_t bytes, uint64_t offset,
	              unsigned scale);
	unsigned off; /* a scale that stops, where one does */
	uint16_t top;
	bool full_stops;
	unsigned scale_max;      /* what is above is EINVAL */
	bool counts_at[2];       /* scales of 0 and 1: nothing, or one bin */
	unsigned bin_of_byte_3;  /* at a scale of 3/4 */
};

static int glibc(void *buffer, size_t bytes, uint64_t offset, unsigned scale)
{
	return portprof_glibc_profil(buffer, bytes, (size_t)offset, scale);
}

static int bsd(void *buffer, size_t bytes, uint64_t offset, unsigned scale)
{
	return portprof_bsd_profil(buffer, bytes, (unsigned long)offset,
	                           scale);
}

static int solaris(void *buffer, size_t bytes, uint64_t offset,
                   unsigned scale)
{
	return portprof_solaris_profil(buffer, bytes, (size_t)offset, scale);
}

static struct dialect dialects[] = {
	{ glibc, 0, 65535, false, UINT32_MAX, { true, true }, 0 },
	{ bsd, 0, 65535, false, 65536, { false, true }, 1 },
	{ solaris, 1, 32767, true, UINT32_MAX, { false, false }, 1 },
};

/* ---- the machine ---- */

bool has_cap(uint64_t cap)
{
	portprof_backend_info info = { .size = sizeof(info) };

	for (size_t i = 0; i < portprof_backend_count(); i++)
		if (portprof_backend_info_get(i, &info) == PORTPROF_OK &&
		    strcmp(info.name, fixture.backend) == 0)
			return info.caps & cap;
	return false;
}

uint64_t spend(unsigned thread, unsigned function, uint64_t ms)
{
	struct fx_work work = { .thread = thread, .function = function,
		                .cpu_ns = ms * MS };
	uint64_t used_ns = 0;

	fixture.spend(&work, 1, &used_ns);
	return used_ns;
}

static void find_functions(void)
{
	low = UINT64_MAX;
	high = 0;
	for (unsigned f = 0; f < FX_FUNCTIONS; f++) {
		uint64_t start, end;

		fixture.function_range(f, &start, &end);
		low = start < low ? start : low;
		high = end > high ? end : high;
	}
	low &= ~(uint64_t)1;
	assert_true((high - low) / 2 + 1 < BINS);
}

size_t bytes_of_all(void)
{
	return (size_t)((high - low + 1) / 2 * 2);
}

static int set_up(void **state)
{
	const char *reason;

	(void)state;
	setenv("PORTPROF_BACKEND", fixture.backend, 1);
	unsetenv("PORTPROF_HZ");
	ppi_dialect_forget();
	reason = fixture.setup();
	if (reason) {
		print_message("skip: %s\n", reason);
		exit(77);
	}
	memset(bins, 0, sizeof(bins));
	find_functions();
	return 0;
}

static int tear_down(void **state)
{
	size_t held;

	(void)state;
	ppi_engine_forget();
	held = fixture.held();
	fixture.teardown();
	return held ? -1 : 0;
}

/* ---- what must have come out ---- */

static uint64_t ticks_at(const uint16_t *from, unsigned function)
{
	uint64_t start, end, sum = 0;

	fixture.function_range(function, &start, &end);
	for (uint64_t pc = start & ~(uint64_t)1; pc < end; pc += 2)
		sum += from[(pc - low) / 2];
	return sum;
}

uint64_t all_ticks(const uint16_t *from)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < BINS; i++)
		sum += from[i];
	return sum;
}

/* Between two samples of a thread there may be a period and a tick of the
 * kernel's; on a real machine some time is spent on the way, too. */
void near(uint64_t ticks, uint64_t used_ns, unsigned stretches)
{
	double tick_ns = 1e9 / HZ;
	double room = stretches * (tick_ns + 2 * (double)fixture.tick_ns);
	double used = (double)used_ns;

	room += tick_ns + (fixture.is_real ? used / 10 : 0);
	if ((double)ticks * tick_ns > used + room ||
	    (double)ticks * tick_ns < used - room)
		fail_msg("%llu ticks for %.0f ms, which is more than %.0f ms off",
		         (unsigned long long)ticks, used / 1e6, room / 1e6);
}

static void guard_is_untouched(void)
{
	for (size_t i = BINS; i < BINS + GUARD; i++)
		assert_int_equal(bins[i], 0);
}

static int on(const struct dialect *d)
{
	return d->profil(bins, bytes_of_all(), low, 65536);
}

static int off(const struct dialect *d)
{
	return d->profil(NULL, 0, 0, d->off);
}

/* ---- histograms ---- */

static void hist_3_each_function_has_its_time_in_its_bins(void **state)
{
	static const unsigned works[FX_FUNCTIONS] = { 320, 160, 480, 240 };
	const struct dialect *d = *state;
	uint64_t used[FX_FUNCTIONS], sum = 0, ticks = 0;

	assert_int_equal(on(d), 0);
	for (unsigned f = 0; f < FX_FUNCTIONS; f++)
		used[f] = spend(0, f, works[f]);
	assert_int_equal(off(d), 0);
	for (unsigned f = 0; f < FX_FUNCTIONS; f++) {
		near(ticks_at(bins, f), used[f], 2);
		ticks += ticks_at(bins, f);
		sum += used[f];
	}
	near(ticks, sum, 1);
	if (fixture.is_exact)
		assert_int_equal(all_ticks(bins), ticks);
	guard_is_untouched();
}

static void hist_3_wide_bins_are_where_the_formula_says(void **state)
{
	const struct dialect *d = *state;
	uint64_t start, end, used, bin;

	/* 1024 bytes a bin; the function lies in bin 3 and its neighbour */
	fixture.function_range(1, &start, &end);
	assert_int_equal(d->profil(bins, 20, start - 3 * 1024, 128), 0);
	used = spend(0, 1, 300);
	assert_int_equal(off(d), 0);
	bin = (end - 1 - start) / 1024;
	near((uint64_t)bins[3] + (bin ? bins[4] : 0), used, 1);
	if (fixture.is_exact)
		assert_int_equal(all_ticks(bins), bins[3] + bins[4]);
}

static void hist_6_outside_is_not_counted(void **state)
{
	const struct dialect *d = *state;
	uint64_t start, end;

	fixture.function_range(0, &start, &end);
	assert_int_equal(d->profil(bins, (size_t)((end - start) / 2 * 2),
	                           start, 65536), 0);
	spend(0, 1, 100);
	spend(0, 2, 100);
	assert_int_equal(off(d), 0);
	assert_int_equal(all_ticks(bins), 0);
	guard_is_untouched();
}

static void hist_7_bins_are_counted_up_never_cleared(void **state)
{
	const struct dialect *d = *state;
	size_t count = bytes_of_all() / 2;
	uint64_t used;

	for (size_t i = 0; i < count; i++)
		bins[i] = 5;
	assert_int_equal(on(d), 0);
	used = spend(0, 0, 300);
	assert_int_equal(off(d), 0);
	for (size_t i = 0; i < count; i++)
		assert_true(bins[i] >= 5);
	near(all_ticks(bins) - 5 * count, used, 1);
}

/* What was sampled comes to the bins by itself, soon. */
static bool becomes_full(uint16_t top)
{
	for (unsigned i = 0; i < 1000; i++) {
		if (fixture.is_real)
			usleep(10000);
		else
			ppi_helper_run_tasks();
		if (__atomic_load_n(&bins[0], __ATOMIC_RELAXED) == top ||
		    __atomic_load_n(&bins[1], __ATOMIC_RELAXED) == top)
			return true;
	}
	return false;
}

/* Solaris stops there, and a new call continues. */
static void hist_2_a_full_bin_stays_full(void **state)
{
	const struct dialect *d = *state;
	uint64_t start, end, used;

	fixture.function_range(0, &start, &end);
	bins[0] = bins[1] = (uint16_t)(d->top - 4);
	assert_int_equal(d->profil(bins, 4, start, 128), 0);
	spend(0, 0, 300);
	assert_true(becomes_full(d->top));
	assert_true(__atomic_load_n(&bins[0], __ATOMIC_RELAXED) <= d->top);
	assert_true(__atomic_load_n(&bins[1], __ATOMIC_RELAXED) <= d->top);
	__atomic_store_n(&bins[0], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&bins[1], 0, __ATOMIC_RELAXED);
	spend(0, 0, 300);
	assert_int_equal(off(d), 0);
	assert_int_equal(bins[0] + bins[1] == 0, d->full_stops);
	bins[0] = bins[1] = 0;
	assert_int_equal(d->profil(bins, 4, start, 128), 0);
	used = spend(0, 0, 300);
	assert_int_equal(off(d), 0);
	near((uint64_t)bins[0] + bins[1], used, 1);
}

/* ---- what differs from system to system ---- */

static void old_2_each_has_its_own_scales(void **state)
{
	const struct dialect *d = *state;

	for (unsigned scale = 0; scale < 2; scale++) {
		/* at 0 all of memory is one bin */
		if (scale == 0 && d->counts_at[0] &&
		    !has_cap(PORTPROF_CAP_WHOLE_SPACE))
			continue;
		memset(bins, 0, sizeof(bins));
		assert_int_equal(d->profil(bins, bytes_of_all(), low, scale),
		                 0);
		spend(0, 0, 200);
		assert_int_equal(off(d), 0);
		assert_int_equal(all_ticks(bins) > 0, d->counts_at[scale]);
		assert_int_equal(all_ticks(bins), bins[0]);
	}
	errno = 0;
	assert_int_equal(d->profil(bins, bytes_of_all(), low, 65537),
	                 d->scale_max > 65536 ? 0 : -1);
	assert_int_equal(errno, d->scale_max > 65536 ? 0 : EINVAL);
	assert_int_equal(off(d), 0);
}

/* Where all time of a function is at one address. */
static void old_2_each_has_its_own_formula(void **state)
{
	const struct dialect *d = *state;
	size_t at = 0;

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(on(d), 0);
		spend(0, 0, 200);
		assert_int_equal(off(d), 0);
	}
	while (at < BINS - 1 && !bins[at])
		at++;
	/* of few samples all may be at one by chance */
	if (fixture.is_real || all_ticks(bins) != bins[at] ||
	    !has_cap(PORTPROF_CAP_EXACT_PC)) {
		print_message("skip: a function has more than one address\n");
		skip();
	}
	memset(bins, 0, sizeof(bins));
	assert_int_equal(d->profil(bins, 8, low + 2 * at - 3, 0xC000), 0);
	spend(0, 0, 200);
	assert_int_equal(off(d), 0);
	assert_true(all_ticks(bins) > 0);
	assert_int_equal(all_ticks(bins), bins[d->bin_of_byte_3]);
}

/* ---- life ---- */

/* Timers begin a new period at each start, so what stretches shorter than that
 * have used is met by chance; the others go on where they were. */
static bool begins_anew(void)
{
	return strcmp(fixture.backend, "timer") == 0 ||
	       strcmp(fixture.backend, "itimer") == 0 ||
	       strcmp(fixture.name, "profil_glibc_sim") == 0;
}

static void life_2_no_time_is_lost_between_stop_and_start(void **state)
{
	const struct dialect *d = *state;
	uint64_t used = 0;

	for (unsigned i = 0; i < 60; i++) {
		assert_int_equal(on(d), 0);
		used += spend(0, 0, 7);
		assert_int_equal(off(d), 0);
	}
	if (begins_anew())
		assert_true(ticks_at(bins, 0) * 10 * MS <= used + 10 * MS);
	else
		near(ticks_at(bins, 0), used, 2);
}

static void life_3_nothing_is_written_after_stop(void **state)
{
	const struct dialect *d = *state;

	assert_int_equal(on(d), 0);
	spend(0, 0, 100);
	assert_int_equal(off(d), 0);
	memcpy(before, bins, sizeof(bins));
	spend(0, 0, 100);
	assert_memory_equal(bins, before, sizeof(bins));
	/* stopping what is stopped is nothing */
	assert_int_equal(off(d), 0);
	assert_memory_equal(bins, before, sizeof(bins));
}

static void life_4_a_second_call_replaces_the_first(void **state)
{
	const struct dialect *d = *state;
	static uint16_t other[BINS];
	uint64_t first, second;

	memset(other, 0, sizeof(other));
	assert_int_equal(on(d), 0);
	first = spend(0, 0, 200);
	assert_int_equal(d->profil(other, bytes_of_all(), low, 65536), 0);
	memcpy(before, bins, sizeof(bins));
	second = spend(0, 1, 200);
	assert_int_equal(off(d), 0);
	near(ticks_at(bins, 0), first, 1);
	assert_memory_equal(bins, before, sizeof(bins));
	near(ticks_at(other, 1), second, 2);
}

static void life_5_what_is_refused_changes_nothing(void **state)
{
	const struct dialect *d = *state;
	uint64_t used;

	assert_int_equal(on(d), 0);
	used = spend(0, 0, 150);
	errno = 0;
	if (d->profil == bsd) {
		assert_int_equal(bsd(before, 100, low, 65537), -1);
		assert_int_equal(errno, EINVAL);
		assert_int_equal(bsd(before, 100, low, UINT32_MAX), -1);
	}
	used += spend(0, 0, 150);
	assert_int_equal(off(d), 0);
	near(ticks_at(bins, 0), used, 1);
}

static void life_13_threads_have_all_their_time(void **state)
{
	const struct dialect *d = *state;
	struct fx_work works[3];
	uint64_t used[3], sum = 0;

	assert_int_equal(on(d), 0);
	for (unsigned i = 0; i < 3; i++) {
		if (i)
			fixture.thread_start(i);
		works[i] = (struct fx_work){ .thread = i, .function = i,
			                     .cpu_ns = 300 * MS };
	}
	fixture.spend(works, 3, used);
	assert_int_equal(off(d), 0);
	for (unsigned i = 1; i < 3; i++)
		fixture.thread_end(i);
	for (unsigned i = 0; i < 3; i++)
		sum += used[i];
	near(ticks_at(bins, 0) + ticks_at(bins, 1) + ticks_at(bins, 2), sum,
	     4);
}

/* Mapped away while it is on, as by free(): it ends, and nobody dies. */
static void err_a_buffer_that_goes_is_survived(void **state)
{
	const struct dialect *d = *state;
	size_t bytes = 1 << 20;
	void *gone = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(gone != MAP_FAILED);
	assert_int_equal(d->profil(gone, bytes, low, 65536), 0);
	munmap(gone, bytes);
	spend(0, 0, 100);
	assert_int_equal(off(d), 0);
	assert_int_equal(d->profil((void *)8, bytes, low, 65536), 0);
	spend(0, 0, 100);
	assert_int_equal(off(d), 0);
}

#define CASE(name, value)                                                    \
	{ #name, name, set_up, tear_down, value }
#define EACH(name)                                                           \
	{ #name "_glibc", name, set_up, tear_down, &dialects[0] },           \
	{ #name "_bsd", name, set_up, tear_down, &dialects[1] },             \
	{ #name "_solaris", name, set_up, tear_down, &dialects[2] }

/* usage: on_FIXTURE [PATTERN]    cases whose names match, '*' and '?' */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		EACH(hist_3_each_function_has_its_time_in_its_bins),
		EACH(hist_3_wide_bins_are_where_the_formula_says),
		EACH(hist_6_outside_is_not_counted),
		EACH(hist_7_bins_are_counted_up_never_cleared),
		EACH(hist_2_a_full_bin_stays_full),
		EACH(old_2_each_has_its_own_scales),
		EACH(old_2_each_has_its_own_formula),
		EACH(life_2_no_time_is_lost_between_stop_and_start),
		EACH(life_3_nothing_is_written_after_stop),
		EACH(life_4_a_second_call_replaces_the_first),
		EACH(life_5_what_is_refused_changes_nothing),
		EACH(life_13_threads_have_all_their_time),
		EACH(err_a_buffer_that_goes_is_survived),
		CASE(hist_5_the_higher_start_wins, NULL),
		CASE(hist_6_the_overflow_bin_has_the_rest, NULL),
		CASE(sample_7_the_period_is_the_true_one, NULL),
		CASE(err_3_what_cannot_be_is_refused, NULL),
		CASE(sink_1_pcsample_stores_in_the_order_of_time, NULL),
		CASE(sink_1_pcsample_stops_when_it_is_full, NULL),
		CASE(life_11_solaris_has_one_of_both, NULL),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name(fixture.name, tests, NULL, NULL);
}
