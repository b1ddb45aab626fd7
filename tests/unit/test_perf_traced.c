/* SPDX-License-Identifier: MIT */
/* Probes that are inherited, by entries of our own in tracefs, on a simulated
 * kernel: what they count, what is said where there can be none, and that none is
 * left behind. */
#include "tests/unit/perf_case.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROBE "uprobe:/bin/shop:0x1234"
#define RETURN "uretprobe:/bin/shop:0x1300"
#define PMU "/sys/bus/event_source/devices/uprobe/"

static const char *const files[] = {
	PMU "type", "78\n", PMU "format/retprobe", "config:0\n", NULL, NULL,
};

static void begin(enum ppi_mode mode)
{
	run_init(&run, mode);
	perf_sim_machine.files = files;
	perf_sim_machine.has_tracefs = true;
	run.plan.follow_children = true;
}

static int fresh_tracefs(void **state)
{
	fresh(state);
	begin(PPI_COUNT);
	return 0;
}

static int nothing_is_left(void **state)
{
	nothing_is_held(state);
	assert_int_equal(perf_sim_entries(NULL, 0), 0);
	return 0;
}

static bool has_entry(const char *line)
{
	char text[4096] = "";

	perf_sim_entries(text, sizeof(text));
	return strstr(text, line) != NULL;
}

static void hit(int64_t tid, unsigned times)
{
	while (times--)
		perf_sim_hit(tid, 0x1234, NULL, 0);
}

/* By the thread that is there, one that begins later and a process. */
static void hit_by_all(void)
{
	int64_t thread = perf_sim_thread(perf_sim_main_tid());
	int64_t child = perf_sim_fork(perf_sim_main_tid());

	hit(perf_sim_main_tid(), 3);
	hit(thread, 20);
	hit(child, 100);
	perf_sim_exit(thread);
	perf_sim_exit(child);
}

static uint64_t count_of(size_t event)
{
	portprof_count counts[RUN_EVENTS];

	assert_int_equal(run.bs.ops->count(&run.bs, counts,
	                                   run.plan.event_count), PORTPROF_OK);
	return counts[event].raw;
}

static void what_begins_later_is_counted(void **state)
{
	char entry[96];

	(void)state;
	assert_int_equal(run_add(&run, PROBE, 0), PORTPROF_OK);
	assert_int_equal(run_add(&run, RETURN, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_int_equal(perf_sim_entries(NULL, 0), 2);
	snprintf(entry, sizeof(entry), "p:portprof/p%" PRId64 "_",
	         perf_sim_main_tid());
	assert_true(has_entry(entry));
	assert_true(has_entry(" /bin/shop:0x1234\n"));
	entry[0] = 'r';
	assert_true(has_entry(entry));
	assert_true(has_entry(" /bin/shop:0x1300\n"));
	run_start(&run);
	hit_by_all();
	assert_int_equal(count_of(0), 123);
	assert_int_equal(count_of(1), 123);
	assert_false(run_has_note(&run, "begin later"));
}

static void in_a_group_too(void **state)
{
	(void)state;
	assert_int_equal(run_add(&run, "page-faults", 0), PORTPROF_OK);
	assert_int_equal(run_add(&run, PROBE, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_int_equal(perf_state_of(&run.bs)->sources[1].leader,
	                 perf_state_of(&run.bs)->sources[0].fd);
	run_start(&run);
	hit_by_all();
	assert_int_equal(count_of(1), 123);
}

static void sampled_too(void **state)
{
	(void)state;
	begin(PPI_SAMPLE);
	open_and_start(PROBE "@1", 0);
	assert_int_equal(perf_sim_entries(NULL, 0), 1);
	hit_by_all();
	run_stop(&run);
	assert_int_equal(run_samples(&run, 0), 123);
	assert_int_equal(run_weight(&run, 0), 123);
}

/* One thread has nobody to hand it on to. */
static void only_where_it_is_of_use(void **state)
{
	(void)state;
	run.plan.target = (struct ppi_target){
		.kind = PPI_TARGET_TID, .pid = perf_sim_main_tid(),
		.tid = perf_sim_main_tid(), .is_self = true };
	run.plan.follow_children = false;
	assert_int_equal(run_add(&run, PROBE, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_int_equal(perf_sim_entries(NULL, 0), 0);
	assert_false(run_has_note(&run, "begin later"));
}

static void expect_fallback(const char *event, const char *remedy)
{
	assert_int_equal(run_add(&run, event, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_true(run_has_note(&run, "begin later"));
	assert_true(run_has_note(&run, remedy));
	assert_int_equal(perf_sim_entries(NULL, 0), 0);
	/* that the event is not handed on is what the simulated kernel
	 * watches (abuses) */
}

static void tracefs_is_not_mounted(void **state)
{
	(void)state;
	perf_sim_machine.has_tracefs = false;
	expect_fallback(PROBE, "mount -t tracefs");
}

static void the_path_cannot_be_written(void **state)
{
	(void)state;
	expect_fallback("uprobe:/bin/sh#op:0x1234", "'#'");
}

static void it_may_not_be_written(void **state)
{
	/* 0: no words of the C library's, but which file */
	const int errors[] = { EMFILE, 0, ENOMEM, EINVAL, 0 };

	for (unsigned variant = 0; variant < 5; variant++) {
		begin(PPI_COUNT);
		perf_sim_fail(perf_sim_call_count() - 1, 1, variant);
		expect_fallback(PROBE, errors[variant]
		                ? strerror(errors[variant]) : "uprobe_events");
		assert_true(perf_sim_fault_errno());
		nothing_is_left(state);
		run.bs.state = NULL;
	}
}

/* Whatever fails, and whatever comes of it. */
static void no_fault_leaves_one(void **state)
{
	for (size_t call = 0; call < perf_sim_call_count(); call++)
		for (unsigned variant = 0; variant < 5; variant++)
			for (unsigned nth = 1; nth < 60; nth++) {
				fresh_tracefs(state);
				if (run_add(&run, PROBE, 0) ||
				    run_add(&run, RETURN, 0) ||
				    !perf_sim_fail(call, nth, variant))
					break;
				if (run_open(&run) == PORTPROF_OK)
					run_close(&run);
				run.bs.state = NULL;
				/* our own removal may be what failed */
				if (call + 1 < perf_sim_call_count())
					nothing_is_left(state);
				else
					assert_in_range(perf_sim_entries(
						NULL, 0), 0, 1);
				if (!perf_sim_fault_errno())
					break;
			}
	perf_sim_reset();
	run.bs.state = NULL;
}

static void what_the_dead_left_is_swept(void **state)
{
	const uint64_t space = 0xeffffffc;
	int64_t child = perf_sim_fork(perf_sim_main_tid());
	const int64_t dead = 3999999;
	char name[8][64];

	(void)state;
	snprintf(name[0], 64, "portprof/p%" PRId64 "_%" PRIu64 "_1", dead, space);
	snprintf(name[1], 64, "portprof/p%" PRId64 "_%" PRIu64 "_77", dead, space);
	/* of the living, of another PID namespace, of somebody else */
	snprintf(name[2], 64, "portprof/p%" PRId64 "_%" PRIu64 "_1", child, space);
	snprintf(name[3], 64, "portprof/p%" PRId64 "_17_1", dead);
	snprintf(name[4], 64, "shop/p%" PRId64 "_%" PRIu64 "_1", dead, space);
	snprintf(name[5], 64, "portprof/p%" PRId64 "_%" PRIu64 "_1x", dead, space);
	snprintf(name[6], 64, "portprof/mine");
	snprintf(name[7], 64, "portprof/p0%" PRId64 "_%" PRIu64 "_1", dead, space);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(perf_sim_make_entry(name[i]), 0);
	assert_int_equal(run_add(&run, PROBE, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	run_close(&run);
	run.bs.state = NULL;
	assert_int_equal(perf_sim_entries(NULL, 0), 6);
	for (size_t i = 2; i < 8; i++)
		assert_true(has_entry(name[i]));
	perf_sim_reset();
}

/* What this process left before it executed this program has our numbers. */
static void a_name_that_is_taken_is_not_used(void **state)
{
	char name[64];

	(void)state;
	for (unsigned i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "portprof/p%" PRId64 "_%u_%u",
		         perf_sim_main_tid(), 0xeffffffc, i * 10);
		assert_int_equal(perf_sim_make_entry(name), 0);
	}
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(run_add(&run, PROBE, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_int_equal(perf_sim_entries(NULL, 0), 36);
	run_close(&run);
	run.bs.state = NULL;
	assert_int_equal(perf_sim_entries(NULL, 0), 30);
	assert_int_equal(perf_sim_abuses(), 0);
	perf_sim_reset();
}

static void a_forked_child_leaves_it_to_its_parent(void **state)
{
	pid_t child;
	int status;

	(void)state;
	assert_int_equal(run_add(&run, PROBE, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	child = fork();
	if (child == 0) {
		run_close(&run);
		_exit((int)perf_sim_entries(NULL, 0));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

/* A child that was forked has its parent's descriptors, and the kernel refuses as
 * long as it lives (EBUSY): the next session of probes takes them away. */
static void what_a_child_held_is_removed_later(void **state)
{
	(void)state;
	assert_int_equal(run_add(&run, PROBE, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_int_equal(perf_sim_entries(NULL, 0), 1);
	perf_sim_machine.holds_entries = true;
	run_close(&run);
	assert_int_equal(perf_sim_entries(NULL, 0), 1);
	begin(PPI_COUNT);
	assert_int_equal(run_add(&run, PROBE, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	run_close(&run);
	assert_int_equal(perf_sim_entries(NULL, 0), 2);
	perf_sim_machine.holds_entries = false;
	begin(PPI_COUNT);
	assert_int_equal(run_add(&run, PROBE, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_int_equal(perf_sim_entries(NULL, 0), 1);
}

/* Before Linux 6.12 events are swapped between processes, and hits are lost. */
static void an_older_kernel_is_said(void **state)
{
	(void)state;
	perf_sim_machine.missing = PERF_HAS_INHERIT_READ;
	assert_int_equal(run_add(&run, PROBE, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_true(run_has_note(&run, "6.12"));
	run_close(&run);
	begin(PPI_COUNT);
	run.plan.follow_children = false;
	assert_int_equal(run_add(&run, PROBE, 0), PORTPROF_OK);
	assert_int_equal(run_open(&run), PORTPROF_OK);
	assert_false(run_has_note(&run, "6.12"));
}

#define CASE(name)                                                         \
	cmocka_unit_test_setup_teardown(name, fresh_tracefs, nothing_is_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_begins_later_is_counted),
		CASE(in_a_group_too),
		CASE(sampled_too),
		CASE(only_where_it_is_of_use),
		CASE(tracefs_is_not_mounted),
		CASE(the_path_cannot_be_written),
		CASE(it_may_not_be_written),
		CASE(no_fault_leaves_one),
		CASE(what_the_dead_left_is_swept),
		CASE(a_name_that_is_taken_is_not_used),
		CASE(a_forked_child_leaves_it_to_its_parent),
		CASE(what_a_child_held_is_removed_later),
		CASE(an_older_kernel_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
