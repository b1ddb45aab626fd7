/* SPDX-License-Identifier: MIT */
/*
 * Reading a counter in user space: the protocol, on pages that change at every
 * step of it. The registers are simulated, the rest is what runs on a CPU that
 * has them.
 */
#include "tests/unit/user_cpu.h"

#include "backends/perf/counts/perf_counts.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { RDPMC = 1u << 2, TIME = 1u << 3, TIME_SHORT = 1u << 5 };

static int fresh_page(void **state)
{
	(void)state;
	memset(&cpu, 0, sizeof(cpu));
	cpu.page.lock = 6;
	cpu.page.index = 5;
	cpu.page.offset = 1000000;
	cpu.page.time_enabled = 7 * MS;
	cpu.page.time_running = 7 * MS;
	cpu.page.capabilities = RDPMC;
	cpu.page.pmc_width = 48;
	cpu.pmc = 234;
	return 0;
}

static struct perf_user_value value;

static enum perf_user_verdict read_page(void)
{
	memset(&value, 0, sizeof(value));
	cpu.barriers = 0;
	return ppi_perf_user_read(&cpu.page, &value);
}

static void offset_and_counter_are_added(void **state)
{
	(void)state;
	assert_int_equal(read_page(), PERF_USER_OK);
	assert_int_equal(value.raw, 1000234);
	assert_int_equal(value.enabled_ns, 7 * MS);
	assert_int_equal(value.running_ns, 7 * MS);
	assert_int_equal(cpu.barriers, 2);
}

static void the_index_is_one_more_than_the_counter(void **state)
{
	(void)state;
	assert_int_equal(read_page(), PERF_USER_OK);
	assert_int_equal(cpu.asked, 4);
	cpu.page.index = (1u << 30) + 1; /* x86's first fixed counter */
	assert_int_equal(read_page(), PERF_USER_OK);
	assert_int_equal(cpu.asked, 1u << 30);
	cpu.page.index = 32; /* arm64's cycle counter */
	assert_int_equal(read_page(), PERF_USER_OK);
	assert_int_equal(cpu.asked, 31);
}

static void counters_are_as_wide_as_told(void **state)
{
	static const unsigned widths[] = { 32, 40, 47, 48, 63, 64 };

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		unsigned width = widths[i];
		uint64_t top = UINT64_C(1) << (width - 1);

		cpu.page.pmc_width = (uint16_t)width;
		/* below zero by 5, in so many bits */
		cpu.pmc = width == 64 ? 0 - UINT64_C(5)
		                      : (UINT64_C(1) << width) - 5;
		assert_int_equal(read_page(), PERF_USER_OK);
		assert_int_equal(value.raw, 1000000 - 5);
		/* the largest that is not negative, the smallest that is */
		cpu.pmc = top - 1;
		assert_int_equal(read_page(), PERF_USER_OK);
		assert_int_equal(value.raw, 1000000 + top - 1);
		cpu.pmc = top;
		assert_int_equal(read_page(), PERF_USER_OK);
		assert_int_equal(value.raw, 1000000 - top);
	}
}

static void what_is_above_the_width_is_not_looked_at(void **state)
{
	(void)state;
	cpu.page.pmc_width = 32;
	cpu.pmc = UINT64_C(0xabcdef0000000007);
	assert_int_equal(read_page(), PERF_USER_OK);
	assert_int_equal(value.raw, 1000007);
}

static void offsets_may_be_below_zero(void **state)
{
	(void)state;
	cpu.page.offset = -200;
	assert_int_equal(read_page(), PERF_USER_OK);
	assert_int_equal(value.raw, 34);
}

static void without_sharing_no_clock_is_read(void **state)
{
	(void)state;
	cpu.page.capabilities = RDPMC | TIME;
	cpu.page.time_offset = 99;
	assert_int_equal(read_page(), PERF_USER_OK);
	assert_int_equal(cpu.clock_reads, 0);
	assert_int_equal(value.enabled_ns, 7 * MS);
}

/* The kernel's formula, exact for shifts up to 32: what the upper half is shifted
 * by leaves no remainder. */
static uint64_t time_of(uint64_t cycles)
{
	uint64_t high = (cycles >> 32) * cpu.page.time_mult;
	uint64_t low = (cycles & UINT32_MAX) * cpu.page.time_mult;

	return cpu.page.time_offset + (high << (32 - cpu.page.time_shift)) +
	       (low >> cpu.page.time_shift);
}

static void share(uint64_t clock)
{
	cpu.page.time_running = 3 * MS;
	cpu.page.capabilities |= TIME;
	cpu.page.time_shift = 31;
	cpu.page.time_mult = 1431655765; /* 1.5 GHz */
	cpu.clock = clock;
}

static void times_go_on_since_the_kernel_looked(void **state)
{
	static const uint64_t clocks[] = {
		0, 1, 1499999999, (UINT64_C(1) << 31) - 1, UINT64_C(1) << 31,
		UINT64_C(123456789012345)
	};

	(void)state;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		share(clocks[i]);
		cpu.page.time_offset = 0 - UINT64_C(1234567);
		assert_int_equal(read_page(), PERF_USER_SHARED);
		assert_int_equal(value.raw, 1000234);
		assert_int_equal(value.enabled_ns, 7 * MS + time_of(clocks[i]));
		assert_int_equal(value.running_ns, 3 * MS + time_of(clocks[i]));
	}
}

static void put_word(size_t offset, uint64_t word)
{
	memcpy((char *)&cpu.page + offset, &word, sizeof(word));
}

/* A clock of 40 bits went round since time_cycles was taken. */
static void narrow_clocks_are_widened(void **state)
{
	const uint64_t then = (UINT64_C(3) << 40) - 100;

	(void)state;
	share(50);
	cpu.page.capabilities |= TIME_SHORT;
	put_word(80, then); /* time_cycles, time_mask: 5.9's header */
	put_word(88, (UINT64_C(1) << 40) - 1);
	assert_int_equal(read_page(), PERF_USER_SHARED);
	assert_int_equal(value.enabled_ns, 7 * MS + time_of(then + 150));
}

static void sharing_without_a_clock_is_for_the_kernel(void **state)
{
	(void)state;
	cpu.page.time_running--;
	assert_int_equal(read_page(), PERF_USER_NOT);
	assert_int_equal(cpu.pmc_reads + cpu.clock_reads, 0);
}

/* rdpmc of no counter would be a signal. */
static void what_is_off_the_pmu_is_not_read(void **state)
{
	(void)state;
	cpu.page.index = 0;
	assert_int_equal(read_page(), PERF_USER_NOT);
	assert_int_equal(cpu.pmc_reads, 0);
}

static void what_is_not_permitted_is_not_read(void **state)
{
	(void)state;
	cpu.page.capabilities = TIME;
	assert_int_equal(read_page(), PERF_USER_NOT);
	assert_int_equal(cpu.pmc_reads, 0);
}

/* Off the PMU and on again, in another counter: a whole update. */
static void update(void)
{
	cpu.page.lock += 2;
	cpu.page.index = 7;
	cpu.page.offset += 5000;
	cpu.pmc = 3;
	cpu.page.time_enabled += MS;
	cpu.page.time_running += MS;
}

static void begin_update(void)
{
	cpu.page.lock++;
	cpu.page.offset += 5000;
}

static void an_update_at_any_step_is_noticed(void **state)
{
	(void)state;
	for (int at = STEP_LOCKED; at < STEPS; at++) {
		fresh_page(NULL);
		share(1000);
		cpu.happens = update;
		cpu.at = (enum step)at;
		assert_int_equal(read_page(), PERF_USER_NOT);
		cpu.happens = NULL;
		assert_int_equal(read_page(), PERF_USER_SHARED);
		assert_int_equal(value.raw, 1005003);
	}
}

static void half_an_update_is_noticed(void **state)
{
	(void)state;
	for (int at = STEP_LOCKED; at < STEPS; at++) {
		if (at == STEP_CLOCK)
			continue; /* not read here */
		fresh_page(NULL);
		cpu.happens = begin_update;
		cpu.at = (enum step)at;
		assert_int_equal(read_page(), PERF_USER_NOT);
	}
}

static void an_update_that_began_before_is_noticed(void **state)
{
	(void)state;
	begin_update();
	assert_int_equal(read_page(), PERF_USER_NOT);
}

static bool is_over;

/* One number in all places, so that a torn reading is one of two numbers. */
static void *keep_updating(void *unused)
{
	(void)unused;
	for (uint64_t n = 1; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); n++) {
		volatile struct perf_event_mmap_page *page = &cpu.page;

		page->lock++;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		page->offset = (int64_t)n;
		__atomic_store_n(&cpu.pmc, n, __ATOMIC_RELAXED);
		page->time_enabled = n;
		page->time_running = n;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		page->lock++;
		for (volatile unsigned i = 0; i < 300; i++)
			;
	}
	return NULL;
}

static void a_writer_beside_tears_nothing(void **state)
{
	unsigned whole = 0, torn = 0;
	pthread_t writer;

	(void)state;
#if defined __SANITIZE_THREAD__
	skip(); /* the kernel's page is no C object: a race by design */
#endif
	cpu.page.offset = (int64_t)cpu.pmc;
	cpu.page.time_enabled = cpu.page.time_running = cpu.pmc;
	is_over = false;
	assert_int_equal(pthread_create(&writer, NULL, keep_updating, NULL),
	                 0);
	while (__atomic_load_n(&cpu.page.lock, __ATOMIC_RELAXED) == 6)
		sched_yield();
	for (unsigned i = 0;
	     i < 3000000 && (whole < 1000 || torn < 1000); i++) {
		if (read_page() != PERF_USER_OK) {
			torn++;
			continue;
		}
		whole++;
		assert_int_equal(value.raw, 2 * value.enabled_ns);
		assert_int_equal(value.running_ns, value.enabled_ns);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	pthread_join(writer, NULL);
	assert_int_equal(read_page(), PERF_USER_OK);
	assert_int_equal(value.raw, 2 * value.enabled_ns);
	print_message("# %u readings were whole, %u torn\n", whole, torn);
}

#define CASE(name) cmocka_unit_test_setup(name, fresh_page)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(offset_and_counter_are_added),
		CASE(the_index_is_one_more_than_the_counter),
		CASE(counters_are_as_wide_as_told),
		CASE(what_is_above_the_width_is_not_looked_at),
		CASE(offsets_may_be_below_zero),
		CASE(without_sharing_no_clock_is_read),
		CASE(times_go_on_since_the_kernel_looked),
		CASE(narrow_clocks_are_widened),
		CASE(sharing_without_a_clock_is_for_the_kernel),
		CASE(what_is_off_the_pmu_is_not_read),
		CASE(what_is_not_permitted_is_not_read),
		CASE(an_update_at_any_step_is_noticed),
		CASE(half_an_update_is_noticed),
		CASE(an_update_that_began_before_is_noticed),
		CASE(a_writer_beside_tears_nothing),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("perf_user_page", tests, NULL,
	                                   NULL);
}
