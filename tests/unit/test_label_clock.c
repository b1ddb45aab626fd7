/* SPDX-License-Identifier: MIT */
/* A clock that is carried on by a counter: never further from the clock than it says,
 * whatever becomes of either. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock_ns.h"
#include "base/label_clock.h"

#define MS UINT64_C(1000000)

/* A world in which both go on as it is told. */
static struct {
	double ns, cycles, pace; /* cycles of a nanosecond */
	struct ppi_label_clock clock;
} world;

static int fresh(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	world.ns = 5e15 + 0.25;
	world.cycles = 7e12;
	world.pace = 2.6;
	return 0;
}

static void pass(double ns)
{
	world.ns += ns;
	world.cycles += ns * world.pace;
}

/* Half a window before the clock is read, and half of one after. */
static void take(double window_ns)
{
	uint64_t cycles = (uint64_t)world.cycles, ns;

	pass(window_ns / 2);
	ns = (uint64_t)world.ns;
	pass(window_ns / 2);
	world.clock.carried_for = 0;
	ppi_label_clock_take(&world.clock, cycles, ns, (uint64_t)world.cycles);
}

static uint64_t carried(void)
{
	return ppi_label_clock_carry(&world.clock, (uint64_t)world.cycles);
}

static uint64_t apart(void)
{
	uint64_t now = (uint64_t)world.ns, then = carried();

	return now > then ? now - then : then - now;
}

static void learn(void)
{
	for (unsigned i = 0; i < 8; i++) {
		pass(1e6);
		take(40);
	}
	assert_int_not_equal(carried(), 0);
}

static void carried_once_its_pace_is_known(void **state)
{
	(void)state;
	assert_int_equal(carried(), 0);
	take(40);
	assert_int_equal(carried(), 0);
	pass(4e6);
	take(40);
	assert_int_equal(carried(), 0);
	pass(2e6);
	take(40);
	for (unsigned i = 0; i < PPI_LABEL_CARRY_NS / 100 - 2; i++) {
		pass(100);
		assert_int_not_equal(carried(), 0);
		assert_true(apart() <= 2);
	}
	pass(300);
	assert_int_equal(carried(), 0);
}

/* Wherever in its window the clock was read. */
static void never_further_than_it_says(void **state)
{
	(void)state;
	learn();
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t cycles = (uint64_t)world.cycles, ns;
		double before = i % 100, after = 99 - before;

		pass(before);
		ns = (uint64_t)world.ns;
		pass(after);
		world.clock.carried_for = 0;
		ppi_label_clock_take(&world.clock, cycles, ns,
		                     (uint64_t)world.cycles);
		assert_false(world.clock.was_wrong);
		pass(PPI_LABEL_CARRY_NS / 2 - 200);
		assert_int_not_equal(carried(), 0);
		assert_true(apart() <= PPI_LABEL_SLACK_NS);
		/* set right as fast as the system does, and back */
		world.pace *= i % 2 ? 1.0005 : 1 / 1.0005;
		pass(PPI_LABEL_CARRY_NS / 2 - 200);
		assert_true(carried() == 0 || apart() <= PPI_LABEL_SLACK_NS);
	}
}

/* Its thread was away meanwhile. */
static void what_took_long_is_not_used(void **state)
{
	(void)state;
	learn();
	pass(30000);
	take(PPI_LABEL_WINDOW_NS + 10);
	assert_int_equal(carried(), 0);
	pass(7e6);
	take(5e6);
	assert_int_equal(carried(), 0);
	pass(100);
	take(40);
	assert_int_not_equal(carried(), 0);
	assert_true(apart() <= PPI_LABEL_SLACK_NS);
	/* nor what the pace is measured from */
	fresh(NULL);
	take(3e6);
	pass(9e6);
	take(40);
	assert_int_equal(carried(), 0);
	pass(9e6);
	take(40);
	assert_int_not_equal(carried(), 0);
	assert_true(apart() <= 30);
}

static void another_pace_is_noticed(void **state)
{
	(void)state;
	learn();
	world.pace *= 1.1;
	pass(PPI_LABEL_CARRY_NS + 100);
	take(40);
	assert_true(world.clock.was_wrong);
	assert_int_equal(carried(), 0);
	pass(1e6);
	take(40);
	assert_false(world.clock.was_wrong);
	assert_int_equal(carried(), 0);
	learn();
	assert_true(apart() <= PPI_LABEL_SLACK_NS);
}

static void nothing_is_carried_over_a_gap(void **state)
{
	(void)state;
	learn();
	pass(2e9); /* it changed no sets */
	assert_int_equal(carried(), 0);
	take(40);
	assert_int_equal(carried(), 0);
	learn();
	world.ns += 3e9; /* the counter stood still */
	world.cycles += 1e6;
	take(40);
	assert_int_equal(carried(), 0);
	learn();
	world.cycles = 1000; /* began again */
	pass(1e4);
	assert_int_equal(carried(), 0);
	take(40);
	assert_int_equal(carried(), 0);
	learn();
	assert_true(apart() <= PPI_LABEL_SLACK_NS);
}

/* One step of 24 MHz is 42 ns: by that nobody knows better. */
static void slow_counters_are_not_used(void **state)
{
	(void)state;
	world.pace = 0.024;
	for (unsigned i = 0; i < 40; i++) {
		pass(1e6 + 7 * i);
		take(i % 40);
		assert_int_equal(carried(), 0);
	}
}

static void the_real_ones(void **state)
{
	struct ppi_label_clock *clock = &world.clock;
	uint64_t end_ns = ppi_monotonic_ns() + 30 * MS;
	uint64_t position = 0;
	unsigned times = 0;

	(void)state;
	if (!ppi_cycles_are_even())
		skip();
	while (ppi_monotonic_ns() < end_ns) {
		uint64_t before_ns = ppi_monotonic_ns();
		uint64_t cycles = ppi_cycles_after(), now_ns, after_ns;

		now_ns = ppi_label_clock_carry(clock, cycles);
		after_ns = ppi_monotonic_ns();
		if (now_ns == 0) {
			ppi_label_clock_read(clock, ppi_cycles(), ++position);
			continue;
		}
		times++;
		assert_true(now_ns + PPI_LABEL_SLACK_NS >= before_ns);
		assert_true(now_ns <= after_ns + PPI_LABEL_SLACK_NS);
	}
	print_message("%u times\n", times);
}

#define CASE(name) cmocka_unit_test_setup(name, fresh)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(carried_once_its_pace_is_known),
		CASE(never_further_than_it_says),
		CASE(what_took_long_is_not_used),
		CASE(another_pace_is_noticed),
		CASE(nothing_is_carried_over_a_gap),
		CASE(slow_counters_are_not_used),
		CASE(the_real_ones),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("label_clock", tests, NULL, NULL);
}
