/* SPDX-License-Identifier: MIT */
/*
 * When counters are read in user space, and when the kernel is asked: sessions
 * on a simulated kernel and CPU.
 */
#include "tests/unit/perf_run.h"

#include "backends/perf/events/perf_sysfs.h"
#include "tests/unit/user_cpu.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static struct perf_run run;
static struct perf_kernel kernel; /* the simulated one, watched */
static unsigned kernel_reads, opens, opens_with_bit;
static bool refuses_bit, cannot_map, cannot_read;

static ssize_t watch_read(void *self, int fd, void *buffer, size_t bytes)
{
	kernel_reads++;
	return cannot_read ? -EIO
	                   : perf_sim_kernel.read_event(self, fd, buffer, bytes);
}

static int watch_open(void *self, struct perf_event_attr *attr, int64_t pid,
                      int at, int group_fd, unsigned long flags)
{
	opens++;
	opens_with_bit += attr->config1 == 2;
	if (refuses_bit && attr->config1)
		return -EOPNOTSUPP;
	return perf_sim_kernel.open_event(self, attr, pid, at, group_fd,
	                                  flags);
}

static int watch_map(void *self, int fd, size_t bytes, void **address)
{
	return cannot_map ? -EPERM : perf_sim_kernel.map(self, fd, bytes,
	                                                 address);
}

static int fresh_machine(void **state)
{
	(void)state;
	memset(&cpu, 0, sizeof(cpu));
	cpu.is_simulated = true;
	perf_sim_reset();
	perf_sim_machine.counters = 4;
	perf_sim_machine.user_width = 48;
	kernel = perf_sim_kernel;
	kernel.read_event = watch_read;
	kernel.open_event = watch_open;
	kernel.map = watch_map;
	kernel_reads = opens = opens_with_bit = 0;
	refuses_bit = cannot_map = cannot_read = false;
	run_init(&run, PPI_COUNT);
	run.bs.kernel = &kernel;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_TID, .pid = perf_sim_main_tid(),
		.tid = perf_sim_main_tid(), .is_self = true,
	};
	return 0;
}

static int nothing_is_held(void **state)
{
	(void)state;
	if (run.bs.state)
		run_close(&run);
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_mapped(), 0);
	assert_int_equal(perf_sim_abuses(), 0);
	return 0;
}

static void begin(const char *first, const char *second)
{
	assert_int_equal(run_add(&run, first, 0), PORTPROF_OK);
	if (second)
		assert_int_equal(run_add(&run, second, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, MS, 0);
}

static portprof_count one(size_t event)
{
	portprof_count count;

	memset(&count, 0x55, sizeof(count));
	assert_int_equal(run.bs.ops->count_ways->one(&run.bs, event, &count), PORTPROF_OK);
	return count;
}

/* By read(2), of the whole group. */
static portprof_count by_kernel(size_t event)
{
	portprof_count counts[RUN_EVENTS];

	assert_int_equal(run.bs.ops->count(&run.bs, counts, event + 1),
	                 PORTPROF_OK);
	return counts[event];
}

static void check_agree(size_t event)
{
	portprof_count short_way = one(event), other = by_kernel(event);

	assert_memory_equal(&short_way, &other, sizeof(other));
}

static bool how_says(size_t event, const char *words)
{
	return strstr(run.bs.ops->count_ways->how(&run.bs, event), words) != NULL;
}

static void both_ways_agree(void **state)
{
	(void)state;
	begin("cycles", "instructions");
	for (unsigned i = 0; i < 20; i++) {
		check_agree(0);
		check_agree(1);
		run_work(perf_sim_main_tid(), 0x1000, 777, 0);
	}
	assert_true(one(0).raw == MS + 20 * 777);
	assert_true(how_says(0, "in user space"));
}

static void the_kernel_is_asked_at_the_first_reading_only(void **state)
{
	(void)state;
	begin("cycles", NULL);
	assert_true(how_says(0, "so far"));
	/* what may have forbidden it, on this machine and no other */
#if defined __aarch64__
	assert_true(how_says(0, "perf_user_access"));
#else
	assert_true(how_says(0, "rdpmc"));
	assert_false(how_says(0, "perf_user_access"));
#endif
	one(0);
	assert_true(kernel_reads > 0);
	kernel_reads = 0;
	for (unsigned i = 0; i < 100; i++)
		one(0);
	assert_int_equal(kernel_reads, 0);
	assert_true(cpu.pmc_reads > 100);
}

static void a_process_has_no_registers(void **state)
{
	(void)state;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PROCESS, .pid = perf_sim_main_tid(),
		.tid = 0, .is_self = true,
	};
	begin("cycles", NULL);
	check_agree(0);
	check_agree(0);
	assert_int_equal(cpu.pmc_reads, 0);
	assert_true(how_says(0, "on one thread"));
}

static void nor_has_a_thread_of_another_process(void **state)
{
	int64_t pid = perf_sim_fork(0);

	(void)state;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_TID, .pid = pid,
		.tid = pid, .is_self = false,
	};
	begin("cycles", NULL);
	check_agree(0);
	check_agree(0);
	assert_int_equal(cpu.pmc_reads, 0);
}

static void nor_a_thread_that_asks_for_another(void **state)
{
	int64_t tid = perf_sim_thread(0);

	(void)state;
	run.plan.target.tid = tid;
	begin("cycles", NULL);
	run_work(tid, 0x1000, MS, 0);
	check_agree(0);
	assert_int_equal(one(0).raw, MS);
	assert_int_equal(cpu.pmc_reads, 0);
}

static void *read_elsewhere(void *result)
{
	*(portprof_count *)result = one(0);
	return NULL;
}

/* Once the thread itself has read, others still ask the kernel. */
static void other_threads_ask_the_kernel(void **state)
{
	portprof_count count;
	pthread_t thread;
	unsigned before;

	(void)state;
	begin("cycles", NULL);
	one(0);
	one(0);
	before = cpu.pmc_reads;
	kernel_reads = 0;
	assert_int_equal(pthread_create(&thread, NULL, read_elsewhere, &count),
	                 0);
	pthread_join(thread, NULL);
	assert_int_equal(cpu.pmc_reads, before);
	assert_int_equal(kernel_reads, 1);
	assert_int_equal(count.raw, MS);
}

static void what_the_kernel_counts_it_reads(void **state)
{
	(void)state;
	begin("task-clock", "cycles");
	check_agree(0);
	check_agree(1);
	kernel_reads = 0;
	one(1);
	assert_int_equal(kernel_reads, 0);
	one(0);
	assert_int_equal(kernel_reads, 1);
	assert_true(how_says(0, "not a PMU"));
}

/* Six of four: some are off the PMU when they are read, each alone is asked
 * of the kernel then, and the others' times are of now. */
static void shared_counters_are_scaled(void **state)
{
	unsigned shared = 0;

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(run_add(&run, "cycles", 0), PORTPROF_OK);
		run.events[i].group = i;
	}
	assert_int_equal(run_open(&run), PORTPROF_OK);
	run_start(&run);
	for (unsigned round = 0; round < 30; round++) {
		run_work(perf_sim_main_tid(), 0x1000, 7 * MS, 0);
		for (size_t i = 0; i < 6; i++) {
			check_agree(i);
			kernel_reads = 0;
			shared += one(i).status == PORTPROF_COUNT_SCALED &&
			          kernel_reads == 0;
		}
	}
	assert_true(shared > 60);
	assert_true(cpu.clock_reads > 60);
}

static void stopped_counters_are_off_the_pmu(void **state)
{
	unsigned before;

	(void)state;
	begin("cycles", NULL);
	one(0);
	run_stop(&run);
	before = cpu.pmc_reads;
	run_work(perf_sim_main_tid(), 0x1000, MS, 0);
	check_agree(0);
	assert_int_equal(one(0).raw, MS);
	assert_int_equal(cpu.pmc_reads, before);
}

static void registers_that_tell_something_else_are_left(void **state)
{
	(void)state;
	perf_sim_machine.user_lies = true;
	begin("cycles", NULL);
	for (unsigned i = 0; i < 10; i++)
		check_agree(0);
	assert_int_equal(cpu.pmc_reads, 1);
	assert_true(how_says(0, "differ"));
}

static void without_its_page_it_counts_all_the_same(void **state)
{
	(void)state;
	cannot_map = true;
	begin("cycles", NULL);
	check_agree(0);
	assert_int_equal(one(0).raw, MS);
	assert_true(how_says(0, "could not be mapped"));
}

static void a_reading_that_fails_changes_nothing(void **state)
{
	portprof_count count, before;

	(void)state;
	cannot_map = true;
	begin("cycles", NULL);
	memset(&count, 0x55, sizeof(count));
	before = count;
	cannot_read = true;
	assert_int_equal(run.bs.ops->count_ways->one(&run.bs, 0, &count),
	                 PORTPROF_E_SYSTEM);
	assert_memory_equal(&count, &before, sizeof(count));
	assert_non_null(strstr(portprof_last_diag()->words, "perf"));
}

/* arm64: a bit asks for it, where the PMU's format names one. */
static const char *const with_bit[] = {
	PERF_SYSFS_PMUS "/armv8_pmuv3/type", "8\n",
	PERF_SYSFS_PMUS "/armv8_pmuv3/format/rdpmc", "config1:1\n", NULL
};

static void the_kernel_is_asked_by_the_bit_it_names(void **state)
{
	(void)state;
	perf_sim_machine.files = with_bit;
	begin("cycles", "task-clock");
	assert_int_equal(opens_with_bit, 1);
	check_agree(0);
}

static void who_names_no_bit_is_not_asked(void **state)
{
	(void)state;
	begin("cycles", NULL);
	assert_int_equal(opens_with_bit, 0);
}

static void a_process_does_not_ask(void **state)
{
	(void)state;
	perf_sim_machine.files = with_bit;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_PROCESS, .pid = perf_sim_main_tid(),
		.tid = 0, .is_self = true,
	};
	begin("cycles", NULL);
	assert_int_equal(opens_with_bit, 0);
}

static void who_refuses_the_bit_counts_without(void **state)
{
	(void)state;
	perf_sim_machine.files = with_bit;
	refuses_bit = true;
	begin("cycles", NULL);
	assert_int_equal(opens_with_bit, 1);
	assert_int_equal(one(0).raw, MS);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fresh_machine, nothing_is_held)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(both_ways_agree),
		CASE(the_kernel_is_asked_at_the_first_reading_only),
		CASE(a_process_has_no_registers),
		CASE(nor_has_a_thread_of_another_process),
		CASE(nor_a_thread_that_asks_for_another),
		CASE(other_threads_ask_the_kernel),
		CASE(what_the_kernel_counts_it_reads),
		CASE(shared_counters_are_scaled),
		CASE(stopped_counters_are_off_the_pmu),
		CASE(registers_that_tell_something_else_are_left),
		CASE(without_its_page_it_counts_all_the_same),
		CASE(a_reading_that_fails_changes_nothing),
		CASE(the_kernel_is_asked_by_the_bit_it_names),
		CASE(who_names_no_bit_is_not_asked),
		CASE(a_process_does_not_ask),
		CASE(who_refuses_the_bit_counts_without),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("perf_user", tests, NULL, NULL);
}
