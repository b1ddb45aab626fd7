/* SPDX-License-Identifier: MIT */
/*
 * The whole system, sampled and counted: idle time is nobody's. Some simulated
 * CPUs deliver samples of their idle task, others deliver none.
 */
#include "backends/perf/kernel/perf_proc.h"
#include "tests/unit/perf_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* /proc/stat tells each CPU's time in hundredths of a second. */
enum { CPUS = 4, STEP_MS = 10 };

static uint64_t idle_of_all(void)
{
	uint64_t sum = 0;

	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		sum += perf_sim_idle_time(cpu);
	return sum;
}

/* A thread on each CPU. */
static void begin(uint32_t silent_idle, int64_t tids[CPUS])
{
	perf_sim_machine.silent_idle = silent_idle;
	run.plan.target = (struct ppi_target){ .kind = PPI_TARGET_SYSTEM };
	for (unsigned i = 0; i < CPUS; i++)
		tids[i] = perf_sim_fork(0);
}

static void work_on_all(const int64_t tids[CPUS], uint64_t ns)
{
	struct perf_sim_work works[CPUS];

	for (unsigned i = 0; i < CPUS; i++)
		works[i] = (struct perf_sim_work){ tids[i], 0x1000 + i, ns, 0, NULL };
	perf_sim_run(works, CPUS);
}

/* Long idle times between short works, on CPUs of either kind. */
static void idle_time_is_nobodys(void **state)
{
	static const uint32_t kinds[] = { 0, 0xf, 0x5 };
	int64_t tids[CPUS];

	(void)state;
	for (size_t kind = 0; kind < 3; kind++) {
		uint64_t idle, busy = 0, most = 0, weight;
		struct ppi_account account;

		begin(kinds[kind], tids);
		open_and_start("task-clock", 1000);
		idle = idle_of_all();
		for (unsigned i = 0; i < 40; i++) {
			perf_sim_idle(250 * MS);
			work_on_all(tids, 50 * MS);
			run_drain(&run);
			busy += CPUS * 50 * MS;
		}
		run_stop(&run);
		idle = idle_of_all() - idle;
		account = run_account(&run, 0);
		assert_true(account.is_estimate);
		assert_in_range(account.idle_ns, idle - CPUS * STEP_MS * MS,
		                idle + CPUS * STEP_MS * MS);
		assert_in_range(account.total_weight,
		                busy - CPUS * STEP_MS * MS,
		                busy + CPUS * STEP_MS * MS);
		assert_int_equal(account.cpu_time_ns, account.total_weight);
		weight = run_weight(&run, 0);
		/* each work ends between two samples */
		assert_in_range(weight, busy - 40 * CPUS * MS,
		                busy + 40 * CPUS * MS);
		for (size_t i = 0; i < run.record_count; i++) {
			if (run.records[i].kind != PORTPROF_RECORD_SAMPLE)
				continue;
			assert_true(run.records[i].pid != 0);
			most = run.records[i].weight > most
				? run.records[i].weight : most;
		}
		assert_true(most < 2 * MS);
		run_close(&run);
		perf_sim_reset();
		run_init(&run, PPI_SAMPLE);
	}
}

static void a_system_that_sleeps_is_charged_nothing(void **state)
{
	struct ppi_account account;
	int64_t tids[CPUS];

	(void)state;
	begin(0x5, tids);
	open_and_start("cpu-clock", 100);
	perf_sim_idle(3000 * MS);
	run_stop(&run);
	account = run_account(&run, 0);
	assert_int_equal(run_samples(&run, 0), 0);
	assert_in_range(account.total_weight, 0, CPUS * STEP_MS * MS);
	assert_int_equal(account.idle_ns, CPUS * 3000 * MS);
}

/* Stopped and started again, and read while it runs. */
static void idle_time_is_that_of_the_session(void **state)
{
	struct ppi_account account;
	int64_t tids[CPUS];

	(void)state;
	begin(0, tids);
	open_and_start("task-clock", 1000);
	perf_sim_idle(1000 * MS);
	run_stop(&run);
	perf_sim_idle(5000 * MS);
	run_start(&run);
	perf_sim_idle(1000 * MS);
	work_on_all(tids, 100 * MS);
	run_drain(&run);
	account = run_account(&run, 0);
	assert_in_range(account.idle_ns, CPUS * 1990 * MS, CPUS * 2010 * MS);
	assert_in_range(account.total_weight, CPUS * 90 * MS,
	                CPUS * 110 * MS);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).idle_ns, account.idle_ns);
}

/* Some CPUs alone: the others' idle time is not theirs. */
static void idle_time_is_that_of_the_cpus(void **state)
{
	int64_t tids[CPUS];

	(void)state;
	begin(0, tids);
	run.plan.target.cpus = "1,3";
	open_and_start("task-clock", 1000);
	perf_sim_idle(1000 * MS);
	work_on_all(tids, 100 * MS);
	run_stop(&run);
	assert_int_equal(run_account(&run, 0).idle_ns, 2 * 1000 * MS);
	assert_in_range(run_account(&run, 0).total_weight, 2 * 90 * MS,
	                2 * 110 * MS);
}

static int64_t late;

/* Processes are listed already, and their threads are being looked at. */
static void begin_one(void)
{
	if (late)
		return;
	late = perf_sim_fork(0);
	perf_sim_exec(late, "late");
	perf_sim_map_code(late, 0x50000, 0x1000, "/bin/late", NULL);
}

static void what_begins_while_we_look_is_known(void **state)
{
	int64_t tids[CPUS];

	(void)state;
	begin(0, tids);
	late = 0;
	perf_sim_machine.on_list = begin_one;
	open_and_start("task-clock", 1000);
	assert_true(late > 0);
	run_work(late, 0x50010, 50 * MS, 0);
	run_stop(&run);
	assert_non_null(run_module(&run, "/bin/late"));
	assert_string_equal(run_name(&run, late), "late");
	assert_in_range(run_weight_of(&run, late), 48 * MS, 52 * MS);
}

/* Who runs outside has no number there; in both, what is in no list of processes
 * is called something. */
static void a_container_is_said(void **state)
{
	int64_t tids[CPUS];

	(void)state;
	for (unsigned contained = 0; contained < 2; contained++) {
		begin(0, tids);
		perf_sim_machine.is_container = contained;
		open_and_start("task-clock", 1000);
		run_stop(&run);
		assert_int_equal(run_has_note(&run, "container"), contained);
		assert_string_equal(run_name(&run, 0),
		                    contained ? "(idle or outside)"
		                    : "swapper");
		assert_string_equal(run_name(&run, UINT32_MAX), "(exited)");
		run_close(&run);
		run_init(&run, PPI_SAMPLE);
	}
}

/* Then what the idle task was seen to have is left out, and it is said. */
static void without_proc_the_total_is_uncertain(void **state)
{
	struct ppi_account account;
	int64_t tids[CPUS];

	(void)state;
	begin(0, tids);
	perf_sim_machine.lacks_stat = true;
	open_and_start("task-clock", 1000);
	perf_sim_idle(1000 * MS);
	work_on_all(tids, 100 * MS);
	run_stop(&run);
	account = run_account(&run, 0);
	assert_int_equal(account.total_certainty, PORTPROF_UNKNOWN);
	assert_in_range(account.total_weight, CPUS * 99 * MS,
	                CPUS * 102 * MS);
	assert_true(run_has_note(&run, "/proc/stat"));
}

static void counting_leaves_idle_time_out(void **state)
{
	portprof_count counts[2], before = { 0 };
	int64_t tids[CPUS];

	(void)state;
	run_init(&run, PPI_COUNT);
	begin(0x5, tids);
	assert_int_equal(run_add(&run, "task-clock", 0), PORTPROF_OK);
	assert_int_equal(run_add(&run, "cpu-clock", 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	run_start(&run);
	for (unsigned i = 0; i < 30; i++) {
		perf_sim_idle(37 * MS);
		work_on_all(tids, 3 * MS);
		assert_int_equal(run.bs.ops->count(&run.bs, counts, 2),
		                 PORTPROF_OK);
		assert_true(counts[0].raw >= before.raw);
		assert_int_equal(counts[0].status, PORTPROF_COUNT_OK);
		assert_int_equal(counts[0].scaled, counts[0].raw);
		before = counts[0];
	}
	for (unsigned i = 0; i < 2; i++) {
		assert_in_range(counts[i].raw, CPUS * (90 - STEP_MS) * MS,
		                CPUS * (90 + STEP_MS) * MS);
		assert_int_equal(counts[i].enabled_ns, CPUS * 30 * 40 * MS);
	}
}

static const char *const energy_meter[] = {
	"/sys/bus/event_source/devices/meter/type", "77\n",
	"/sys/bus/event_source/devices/meter/cpumask", "0,2\n",
	"/sys/bus/event_source/devices/meter/events/energy", "event=0x2\n",
	"/sys/bus/event_source/devices/meter/events/energy.scale", "2.5e-10\n",
	"/sys/bus/event_source/devices/meter/events/energy.unit", "Joules\n",
	"/sys/bus/event_source/devices/meter/format/event", "config:0-7\n",
	NULL, NULL,
};

/* A session that counts these for the system, after 30 times 3 ms of work on
 * each CPU and 37 of nothing. */
static void count_system(const char *const *events, size_t count,
                         portprof_count *counts)
{
	int64_t tids[CPUS];

	run_init(&run, PPI_COUNT);
	begin(0x5, tids);
	for (size_t i = 0; i < count; i++)
		if (run_add(&run, events[i], 0) != PORTPROF_OK)
			fail_msg("%s", run.why.words);
	if (run_open(&run) != PORTPROF_OK)
		fail_msg("%s", run.why.words);
	run_start(&run);
	for (unsigned i = 0; i < 30; i++) {
		perf_sim_idle(37 * MS);
		work_on_all(tids, 3 * MS);
	}
	assert_int_equal(run.bs.ops->count(&run.bs, counts, count),
	                 PORTPROF_OK);
}

static void packages_are_counted_once_each(void **state)
{
	static const char *const events[] = { "meter::energy", "cpu-clock" };
	portprof_count counts[2];

	(void)state;
	perf_sim_machine.files = energy_meter;
	count_system(events, 2, counts);
	assert_true(strcmp(run.events[0].scaled_unit, "Joules") == 0);
	assert_true(run.events[0].scale > 2.4999e-10 &&
	            run.events[0].scale < 2.5001e-10);
	/* on two of four CPUs, which are counted for as long as the others */
	assert_int_equal(counts[0].status, PORTPROF_COUNT_OK);
	assert_int_equal(counts[0].enabled_ns, 2 * 30 * 40 * MS);
	assert_int_equal(counts[1].enabled_ns, CPUS * 30 * 40 * MS);
}

static void one_cpu_can_be_counted(void **state)
{
	static const char *const events[] = { "cpu-clock:cpu=1", "cpu-clock" };
	portprof_count counts[2];

	(void)state;
	count_system(events, 2, counts);
	assert_int_equal(counts[0].enabled_ns, 30 * 40 * MS);
	/* idle time is that of this CPU */
	assert_in_range(counts[0].raw, (90 - STEP_MS) * MS,
	                (90 + STEP_MS) * MS);
	assert_int_equal(counts[1].enabled_ns, CPUS * 30 * 40 * MS);
}

static void what_is_of_cpus_is_of_no_process(void **state)
{
	static const struct {
		const char *event, *words;
		bool is_system;
	} rows[] = {
		{ "meter::energy", "stat -a", false },
		{ "cpu-clock:cpu=1", "cpu=1", false },
		{ "cpu-clock:cpu=99", "none of the CPUs", true },
	};

	(void)state;
	perf_sim_machine.files = energy_meter;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run_init(&run, PPI_COUNT);
		if (rows[i].is_system)
			run.plan.target = (struct ppi_target){
				.kind = PPI_TARGET_SYSTEM };
		if (run_add(&run, rows[i].event, 0) != PORTPROF_OK)
			fail_msg("%s", run.why.words);
		assert_int_equal(run_open(&run), PORTPROF_E_UNSUPPORTED);
		if (!strstr(run.why.words, rows[i].words))
			fail_msg("%s", run.why.words);
	}
	run_init(&run, PPI_COUNT);
	assert_int_equal(run_add(&run, "meter::energy:u", 0),
	                 PORTPROF_E_UNSUPPORTED);
	run_init(&run, PPI_SAMPLE);
	assert_int_equal(run_add(&run, "meter::energy", 0),
	                 PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(run.why.words, "portprof stat -a"));
}

/* Where events may be refused it alone is, and says the same. */
static void other_events_are_counted_all_the_same(void **state)
{
	portprof_count counts[2];

	(void)state;
	perf_sim_machine.files = energy_meter;
	run_init(&run, PPI_COUNT);
	assert_int_equal(run_add(&run, "meter::energy", 0), PORTPROF_OK);
	assert_int_equal(run_add(&run, "task-clock", 0), PORTPROF_OK);
	run.plan.allow_refused = true;
	assert_int_equal(run_open(&run), PORTPROF_OK);
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 5 * MS, 0);
	assert_int_equal(run.bs.ops->count(&run.bs, counts, 2), PORTPROF_OK);
	assert_int_equal(counts[0].status, PORTPROF_COUNT_REFUSED);
	assert_non_null(strstr(run.refusals[0].words, "stat -a"));
	assert_int_equal(counts[1].status, PORTPROF_COUNT_OK);
	assert_int_equal(counts[1].raw, 5 * MS);
}

/* As in a chroot. */
static void cpus_are_found_where_no_sys_is_mounted(void **state)
{
	static const char *const files[] = { "/sys/devices/system/cpu/online",
		                             NULL, NULL };
	size_t count = 0;
	int *cpus;

	(void)state;
	perf_sim_machine.files = files;
	assert_int_equal(ppi_perf_proc_cpus(&perf_sim_kernel, &cpus, &count),
	                 0);
	assert_int_equal(count, CPUS);
	for (int i = 0; i < CPUS; i++)
		assert_int_equal(cpus[i], i);
	free(cpus);
}

#define CASE(name) \
	cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(idle_time_is_nobodys),
		CASE(a_system_that_sleeps_is_charged_nothing),
		CASE(idle_time_is_that_of_the_session),
		CASE(idle_time_is_that_of_the_cpus),
		CASE(what_begins_while_we_look_is_known),
		CASE(a_container_is_said),
		CASE(without_proc_the_total_is_uncertain),
		CASE(counting_leaves_idle_time_out),
		CASE(packages_are_counted_once_each),
		CASE(other_events_are_counted_all_the_same),
		CASE(one_cpu_can_be_counted),
		CASE(what_is_of_cpus_is_of_no_process),
		CASE(cpus_are_found_where_no_sys_is_mounted),
	};

	return cmocka_run_group_tests_name("perf_system", tests, NULL, NULL);
}
