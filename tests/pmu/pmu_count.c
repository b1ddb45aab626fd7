/* SPDX-License-Identifier: MIT */
/* Counting on the guest's PMU: exact, because its clock is the instruction. */
#include "tests/pmu/lab.h"

#include <portprof/tool.h>

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

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

/* Both are the number of instructions in this emulator. */
static void group_counts_the_same_instructions(void **state)
{
	portprof_group *group = lab_group("PMU::CPU_CYCLES:u,"
	                                  "PMU::INST_RETIRED:u,"
	                                  "cycles:u,instructions:u");
	uint64_t few[4], many[4];

	(void)state;
	lab_count_loop(group, SHORT, few, 4);
	lab_count_loop(group, SHORT, few, 4);
	lab_count_loop(group, LONG, many, 4);
	for (size_t i = 0; i < 4; i++) {
		lab_say("event %zu: %" PRIu64 " and %" PRIu64, i, few[i],
		        many[i]);
		assert_int_equal(few[i], few[0]);
		assert_int_equal(many[i] - few[i],
		                 LAB_INSTRUCTIONS * (LONG - SHORT));
	}
}

static portprof_count read_one(portprof_group *group)
{
	portprof_count count;

	lab_must(portprof_group_read(group, &count, 1));
	return count;
}

static void stopped_counts_nothing(void **state)
{
	portprof_group *group = lab_group("instructions:u");
	uint64_t stopped;

	(void)state;
	lab_must(portprof_group_stop(group));
	stopped = read_one(group).raw;
	lab_loop(LONG);
	assert_int_equal(read_one(group).raw, stopped);
	lab_must(portprof_group_start(group));
	lab_loop(SHORT);
	assert_in_range(read_one(group).raw - stopped,
	                LAB_INSTRUCTIONS * SHORT,
	                LAB_INSTRUCTIONS * SHORT + READ_MAX);
}

static void reset_begins_again(void **state)
{
	portprof_group *group = lab_group("instructions:u");
	portprof_count count;

	(void)state;
	lab_loop(LONG);
	lab_must(portprof_group_reset(group));
	lab_loop(SHORT);
	count = read_one(group);
	assert_in_range(count.raw, LAB_INSTRUCTIONS * SHORT,
	                LAB_INSTRUCTIONS * SHORT + READ_MAX);
	assert_int_equal(count.scaled, count.raw);
	assert_in_range(count.enabled_ns, 1, LONG);
}

/* Level by level, of the same instructions: what is read one counter after
 * the other is all that may be between them. */
static void levels_add_up(void **state)
{
	portprof_group *group = lab_group("instructions:u,instructions:k,"
	                                  "instructions:u:k");
	portprof_count before[3], after[3];
	uint64_t user, kernel, both;

	(void)state;
	lab_must(portprof_group_read(group, before, 3));
	lab_loop(LONG);
	for (int i = 0; i < 100; i++)
		getppid();
	lab_must(portprof_group_read(group, after, 3));
	user = after[0].raw - before[0].raw;
	kernel = after[1].raw - before[1].raw;
	both = after[2].raw - before[2].raw;
	lab_say("user %" PRIu64 " + kernel %" PRIu64 " = %" PRIu64, user,
	        kernel, both);
	assert_true(user >= LAB_INSTRUCTIONS * LONG && kernel > 100 * 20);
	assert_in_range(user + kernel, both - READ_MAX, both + READ_MAX);
}

/* The emulator knows this event, and that software never caused it. */
static void zero_is_a_count(void **state)
{
	portprof_group *group = lab_group("PMU::SW_INCR:u");
	portprof_count count;

	(void)state;
	lab_loop(LONG);
	count = read_one(group);
	assert_int_equal(count.status, PORTPROF_COUNT_OK);
	assert_int_equal(count.raw, 0);
	assert_true(count.running_ns > 0);
}

static void other_machines_pmu_is_refused(void **state)
{
	portprof_config *config = lab_config();
	portprof_group *group = NULL;

	(void)state;
	lab_add_event(config, "skl::INST_RETIRED:u");
	assert_int_not_equal(portprof_group_open_config(config, &group),
	                     PORTPROF_OK);
	lab_say("%s", portprof_last_diag()->words);
	assert_null(group);
}

/* What a preset comes to of these values, as of a reading. */
static portprof_metric metric_of(portprof_group *group, const uint64_t *values,
                                 size_t index)
{
	portprof_metric metric = { .size = sizeof(metric) };
	portprof_count counts[8] = { { .raw = 0 } };

	for (size_t i = 0; i < portprof_group_event_count(group); i++)
		counts[i].raw = counts[i].scaled = values[i];
	lab_must(portprof_group_metric(group, counts, index, &metric));
	lab_say("%s: %g %s", metric.name, metric.value, metric.unit);
	return metric;
}

/* One instruction is one cycle; what is counted is what the formula takes. */
static void presets_are_computed_of_exact_counts(void **state)
{
	portprof_group *group = lab_group("IPC:u,CPI:u");
	uint64_t few[4], many[4], mixed[4];

	(void)state;
	lab_count_loop(group, SHORT, few, 4);
	lab_count_loop(group, SHORT, few, 4);
	lab_count_loop(group, LONG, many, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(many[i] - few[i],
		                 LAB_INSTRUCTIONS * (LONG - SHORT));
	assert_true(metric_of(group, many, 0).value == 1);
	assert_true(metric_of(group, many, 1).value == 1);
	/* of two exact counts that differ */
	memcpy(mixed, many, sizeof(mixed));
	mixed[0] = few[0];
	assert_true(metric_of(group, mixed, 0).value ==
	            (double)few[0] / (double)many[1]);
	mixed[3] = few[3];
	assert_true(metric_of(group, mixed, 1).value ==
	            (double)many[2] / (double)few[3]);
}

static int take_region(const portprof_region_info *region, void *context)
{
	portprof_metric metric = { .size = sizeof(metric) };
	uint64_t *counts = context;

	lab_must(portprof_regions_metric(NULL, region->counts, 0, &metric));
	lab_say("%s: %" PRIu64 " instructions, %" PRIu64 " cycles, %s %g",
	        region->name, region->counts[0].raw, region->counts[1].raw,
	        metric.name, metric.value);
	assert_true(metric.value == (double)region->counts[0].scaled /
	                                    (double)region->counts[1].scaled);
	counts[strcmp(region->name, "short") == 0] = region->counts[0].raw;
	return 0;
}

static void presets_of_regions_are_exact(void **state)
{
	portprof_config *config = lab_config();
	uint64_t counts[2];
	static const char *const names[] = { "warm", "short", "long" };
	static const uint64_t turns[] = { SHORT, SHORT, LONG };

	(void)state;
	lab_add_event(config, "IPC:u");
	lab_must(portprof_regions_open(config, NULL));
	for (size_t i = 0; i < 3; i++) {
		lab_must(portprof_region_begin(NULL, names[i]));
		lab_loop(turns[i]);
		lab_must(portprof_region_end(NULL, names[i]));
	}
	lab_must(portprof_regions_read(NULL, 0, take_region, counts));
	portprof_regions_close(NULL);
	if (lab_is_exact())
		assert_in_range(counts[0] - counts[1],
		                LAB_INSTRUCTIONS * (LONG - SHORT) - READ_MAX,
		                LAB_INSTRUCTIONS * (LONG - SHORT) + READ_MAX);
}

static void presets_that_this_pmu_cannot_are_refused_by_name(void **state)
{
	static const char *const names[] = { "FLOPS", "topdown" };
	portprof_group *group = NULL;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		portprof_config *config = lab_config();

		lab_add_event(config, names[i]);
		assert_int_equal(portprof_group_open_config(config, &group),
		                 PORTPROF_E_UNSUPPORTED);
		lab_say("%s", portprof_last_diag()->words);
		assert_non_null(strstr(portprof_last_diag()->words, names[i]));
		assert_null(group);
	}
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
		LAB_CASE(group_counts_the_same_instructions),
		LAB_CASE(stopped_counts_nothing),
		LAB_CASE(reset_begins_again),
		LAB_CASE(levels_add_up),
		LAB_CASE(zero_is_a_count),
		LAB_CASE(other_machines_pmu_is_refused),
		LAB_CASE(presets_are_computed_of_exact_counts),
		LAB_CASE(presets_of_regions_are_exact),
		LAB_CASE(presets_that_this_pmu_cannot_are_refused_by_name),
	};

	lab_begin(argc, argv);
	return cmocka_run_group_tests_name("pmu_count", tests, NULL, NULL);
}
