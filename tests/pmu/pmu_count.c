/* SPDX-License-Identifier: MIT */
/* Counting on the guest's PMU: exact, because its clock is the instruction. */
#include "tests/pmu/lab.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SHORT = 1000, LONG = 1000000, READ_MAX = 2000 };

/*
 * n turns are 2n instructions and what lies between the two readings: that is
 * the same each time, and little. A first loop warms up: pages, bindings.
 */
static void counts_exactly(const char *pattern)
{
	portprof_group *group = lab_group(pattern);
	uint64_t first, again, longer;

	lab_count_loop(group, 1, &first, 1);
	lab_count_loop(group, SHORT, &first, 1);
	lab_count_loop(group, SHORT, &again, 1);
	lab_count_loop(group, LONG, &longer, 1);
	lab_say("%s: %d turns are %" PRIu64 " = %d x %d + %" PRIu64
	        ", %d turns %" PRIu64, lab_event(pattern), SHORT, first,
	        LAB_INSTRUCTIONS, SHORT, first - LAB_INSTRUCTIONS * SHORT,
	        LONG, longer);
	assert_int_equal(first, again);
	assert_int_equal(longer - first, LAB_INSTRUCTIONS * (LONG - SHORT));
	assert_in_range(first, LAB_INSTRUCTIONS * SHORT,
	                LAB_INSTRUCTIONS * SHORT + READ_MAX);
}

static void exact_generic_cycles(void **state)
{
	(void)state;
	counts_exactly("cycles:u");
}

static void exact_generic_instructions(void **state)
{
	(void)state;
	counts_exactly("instructions:u");
}

static void exact_libpfm4_cycles(void **state)
{
	(void)state;
	counts_exactly("PMU::CPU_CYCLES:u");
}

static void exact_libpfm4_instructions(void **state)
{
	(void)state;
	counts_exactly("PMU::INST_RETIRED:u");
}

static void exact_libpfm4_name_without_pmu(void **state)
{
	(void)state;
	counts_exactly("INST_RETIRED:u");
}

static void exact_raw_code(void **state)
{
	(void)state;
	counts_exactly("r11:u");
}

static void exact_sysfs_event(void **state)
{
	(void)state;
	counts_exactly("armv8_pmuv3::inst_retired:u");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LAB_CASE(exact_generic_cycles),
		LAB_CASE(exact_generic_instructions),
		LAB_CASE(exact_libpfm4_cycles),
		LAB_CASE(exact_libpfm4_instructions),
		LAB_CASE(exact_libpfm4_name_without_pmu),
		LAB_CASE(exact_raw_code),
		LAB_CASE(exact_sysfs_event),
	};

	lab_begin(argc, argv);
	return cmocka_run_group_tests_name("pmu_count", tests, NULL, NULL);
}
