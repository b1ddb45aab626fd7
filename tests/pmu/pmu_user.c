/* SPDX-License-Identifier: MIT */
/* Reading counters without the kernel: the same numbers, in few instructions,
 * and by the kernel where it may not be. */
#include "tests/pmu/lab.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { SHORT = 1000, LONG = 1000000, INSTRUCTIONS_MAX = 60, TRIES = 25 };

static portprof_count read_counter(portprof_group *group, size_t index)
{
	portprof_count count = { .raw = 0 };

	lab_must(portprof_group_event_read(group, index, &count));
	return count;
}

static uint64_t by_kernel(portprof_group *group)
{
	portprof_count count = { .raw = 0 };

	lab_must(portprof_group_read(group, &count, 1));
	return count.raw;
}

static bool is_by_user(portprof_group *group, size_t index)
{
	return strncmp(portprof_group_event_how(group, index), "in user space",
		       13) == 0;
}

static portprof_group *user_group(const char *patterns, size_t count)
{
	portprof_group *group = lab_group(patterns);

	for (size_t i = 0; i < count; i++) {
		read_counter(group, i); /* compares the ways */
		if (!is_by_user(group, i))
			lab_say("%s", portprof_group_event_how(group, i));
		assert_true(is_by_user(group, i));
		read_counter(group, i); /* binds and warms up */
	}
	return group;
}

/* What lies between one way of reading and the other, at this place. */
static uint64_t distance(portprof_group *group, uint64_t turns)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < (lab_is_exact() ? 1 : TRIES); i++) {
		uint64_t user, kernel;

		lab_loop(turns);
		user = read_counter(group, 0).raw;
		kernel = by_kernel(group);
		assert_true(user < kernel);
		if (kernel - user < least)
			least = kernel - user;
	}
	return least;
}

/* However much was counted, read(2) is always the same few instructions
 * later: both tell the same to the digit. */
static void user_reads_equal_the_kernels(void **state)
{
	static const uint64_t turns[] = { 1, 1, SHORT, 12345, LONG, 7, 99999 };
	portprof_group *group = user_group("instructions:u", 1);
	uint64_t first;

	(void)state;
	distance(group, 1);
	first = distance(group, 1);
	lab_say("read(2) tells %" PRIu64 " more, 1 to %d turns after the start",
	        first, LONG);
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++)
		assert_int_equal(distance(group, turns[i]), first);
}

static uint64_t user_loop(portprof_group *group, uint64_t turns)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < (lab_is_exact() ? 1 : TRIES); i++) {
		uint64_t before = read_counter(group, 0).raw, counted;

		lab_loop(turns);
		counted = read_counter(group, 0).raw - before;
		least = counted < least ? counted : least;
	}
	return least;
}

static void user_reads_are_exact(void **state)
{
	portprof_group *group = user_group("PMU::CPU_CYCLES:u", 1);
	uint64_t few, many;

	(void)state;
	user_loop(group, SHORT);
	few = user_loop(group, SHORT);
	many = user_loop(group, LONG);
	lab_say("%d turns are %" PRIu64 " = %d x %d + %" PRIu64, SHORT, few,
	        LAB_INSTRUCTIONS, SHORT, few - LAB_INSTRUCTIONS * SHORT);
	assert_int_equal(many - few, LAB_INSTRUCTIONS * (LONG - SHORT));
	assert_true(few - LAB_INSTRUCTIONS * SHORT <= 2 * INSTRUCTIONS_MAX);
}

/* The counter measures its own reading: call, read and return, and what the
 * caller needs to call again. */
static void user_read_costs_sixty_instructions_at_most(void **state)
{
	portprof_group *group = user_group("instructions:u", 1);
	portprof_count first, second;
	uint64_t least = UINT64_MAX;

	(void)state;
	for (size_t i = 0; i < TRIES; i++) {
		uint64_t cost;

		portprof_group_event_read(group, 0, &first);
		portprof_group_event_read(group, 0, &second);
		cost = second.raw - first.raw;
		least = cost < least ? cost : least;
	}
	lab_say("a read in user space: %" PRIu64 " instructions", least);
	assert_in_range(least, 10, INSTRUCTIONS_MAX);
}

/* Each event of a group by its own register. */
static void members_are_told_apart(void **state)
{
	portprof_group *group = user_group("instructions:u,PMU::SW_INCR:u,"
	                                   "cycles:u", 3);
	uint64_t before[3];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		before[i] = read_counter(group, i).raw;
	lab_loop(LONG);
	assert_true(read_counter(group, 0).raw - before[0] >=
	            LAB_INSTRUCTIONS * LONG);
	assert_int_equal(read_counter(group, 1).raw, 0);
	assert_true(read_counter(group, 2).raw - before[2] >=
	            LAB_INSTRUCTIONS * LONG);
}

/* ---- where it may not be ---- */

/* Asks the kernel, and is right all the same. */
static void check_by_kernel(portprof_group *group, const char *why)
{
	uint64_t before = read_counter(group, 0).raw, counted;

	lab_loop(LONG);
	counted = read_counter(group, 0).raw - before;
	lab_say("%s", portprof_group_event_how(group, 0));
	assert_false(is_by_user(group, 0));
	assert_non_null(strstr(portprof_group_event_how(group, 0), why));
	assert_in_range(counted, LAB_INSTRUCTIONS * LONG,
	                LAB_INSTRUCTIONS * LONG + LONG / 100);
}

static void inherited_is_read_by_the_kernel(void **state)
{
	portprof_config *config = lab_config();

	(void)state;
	lab_must(
		portprof_config_set_target(config, PORTPROF_TARGET_PROCESS, 0));
	lab_add_event(config, "instructions:u");
	check_by_kernel(lab_open_group(config), "a thread's own");
}

static void per_cpu_is_read_by_the_kernel(void **state)
{
	portprof_config *config = lab_config();

	(void)state;
	lab_must(portprof_config_set_target_system(config, NULL, NULL));
	lab_add_event(config, "instructions:u");
	check_by_kernel(lab_open_group(config), "a thread's own");
}

static void software_is_read_by_the_kernel(void **state)
{
	portprof_group *group = lab_group("task-clock");
	uint64_t before = read_counter(group, 0).raw;

	(void)state;
	lab_loop(LONG);
	assert_true(read_counter(group, 0).raw > before);
	assert_false(is_by_user(group, 0));
}

static void set_access(const char *value)
{
	int fd = open("/proc/sys/kernel/perf_user_access", O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, value, 1), 1);
	close(fd);
}

static int give_access(void **state)
{
	set_access("1");
	return lab_clean_up(state);
}

static void forbidden_is_read_by_the_kernel(void **state)
{
	(void)state;
	set_access("0");
	check_by_kernel(lab_group("instructions:u"), "perf_user_access");
}

/* The owner is read by its own registers; this thread has others. */
static void *read_from_elsewhere(void *group)
{
	static uint64_t seen;

	seen = read_counter(group, 0).raw;
	lab_loop(LONG);
	seen = read_counter(group, 0).raw - seen;
	return &seen;
}

static void other_thread_asks_the_kernel(void **state)
{
	portprof_group *group = user_group("instructions:u", 1);
	uint64_t before = read_counter(group, 0).raw, after;
	pthread_t thread;
	void *seen;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, read_from_elsewhere,
	                                group), 0);
	assert_int_equal(pthread_join(thread, &seen), 0);
	after = read_counter(group, 0).raw;
	lab_say("the other thread saw %" PRIu64 ", the owner counted %" PRIu64,
	        *(uint64_t *)seen, after - before);
	/* The owner waited meanwhile, and its loops were the other's. */
	assert_true(*(uint64_t *)seen < LONG);
	assert_true(after - before < LONG);
}

/* Nine that share six counters: one that has none at the moment is asked of the
 * kernel, and no value ever goes back. */
static void shared_counters_never_go_back(void **state)
{
	enum { GROUPS = 9, ROUNDS = 3000 };
	portprof_group *groups[GROUPS];
	uint64_t last[GROUPS] = { 0 };
	unsigned shared = 0;

	(void)state;
	for (size_t i = 0; i < GROUPS; i++)
		groups[i] = lab_group("PMU::INST_RETIRED:u");
	for (unsigned round = 0; round < ROUNDS; round++) {
		lab_loop(SHORT * 5);
		for (size_t i = 0; i < GROUPS; i++) {
			portprof_count count = read_counter(groups[i], 0);

			assert_true(count.raw >= last[i]);
			assert_true(count.running_ns <= count.enabled_ns);
			last[i] = count.raw;
			shared += count.status == PORTPROF_COUNT_SCALED;
		}
	}
	for (size_t i = 0; i < GROUPS; i++) {
		portprof_count count;
		uint64_t kernel, user = read_counter(groups[i], 0).raw;

		lab_must(portprof_group_read(groups[i], &count, 1));
		kernel = count.raw;
		assert_true(user <= kernel && kernel - user < LONG / 100);
		assert_true(is_by_user(groups[i], 0));
	}
	assert_true(shared > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		LAB_CASE(user_reads_equal_the_kernels),
		LAB_CASE(user_reads_are_exact),
		LAB_CASE(user_read_costs_sixty_instructions_at_most),
		LAB_CASE(members_are_told_apart),
		LAB_CASE(inherited_is_read_by_the_kernel),
		LAB_CASE(per_cpu_is_read_by_the_kernel),
		LAB_CASE(software_is_read_by_the_kernel),
		cmocka_unit_test_teardown(forbidden_is_read_by_the_kernel,
		                          give_access),
		LAB_CASE(other_thread_asks_the_kernel),
		LAB_CASE(shared_counters_never_go_back),
	};

	lab_begin(argc, argv);
	return cmocka_run_group_tests_name("pmu_user", tests, NULL, NULL);
}
