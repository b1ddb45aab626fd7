/* SPDX-License-Identifier: MIT */
/* The values of a whole group, in each sample of those of it that are sampled. */
#include "tests/unit/perf_run.h"

#include <portprof.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static struct perf_run run;

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.counters = 4;
	run_init(&run, PPI_SAMPLE);
	run.plan.sample_fields = PORTPROF_FIELD_GROUP_VALUES;
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

static void add(const char *event, size_t group)
{
	size_t at = run.plan.event_count;

	if (run_add(&run, event, 1000) != PORTPROF_OK)
		fail_msg("%s", run.why.words);
	run.events[at].group = group;
}

static void open_it(void)
{
	if (run_open(&run) != PORTPROF_OK)
		fail_msg("%s", run.why.words);
}

static portprof_batch everything(void)
{
	return (portprof_batch){ run.records, run.record_count, run.words,
		                 run.word_count, sizeof(portprof_record) };
}

/* Every sample of an event whose group begins with `first` has as many values, and
 * stands for what its own grew by. Returns the last one's values. */
static const uint64_t *check_of_group(uint32_t event, uint32_t first,
                                      size_t members, int64_t tid,
                                      size_t at_least)
{
	portprof_batch batch = everything();
	const uint64_t *last = NULL;
	uint32_t own = event - first;
	size_t seen = 0;

	for (size_t i = 0; i < run.record_count; i++) {
		const portprof_record *record = &run.records[i];
		const uint64_t *values;
		size_t count;

		if (record->kind != PORTPROF_RECORD_SAMPLE ||
		    record->event != event || record->tid != tid)
			continue;
		values = portprof_batch_values(&batch, record, &count);
		assert_non_null(values);
		assert_int_equal(count, members);
		assert_int_equal(record->weight,
		                 values[own] - (last ? last[own] : 0));
		for (size_t m = 0; last && m < members; m++)
			assert_true(values[m] >= last[m]);
		last = values;
		seen++;
	}
	assert_true(seen >= at_least);
	return last;
}

static const uint64_t *check_samples(uint32_t leader, size_t members,
                                     int64_t tid, size_t at_least)
{
	return check_of_group(leader, leader, members, tid, at_least);
}

static void each_sample_has_the_whole_group(void **state)
{
	const uint64_t *last;

	(void)state;
	add("cycles:period=1000000", 0);
	add("instructions", 0);
	add("task-clock", 0);
	run.plan.chain_depth = 16;
	open_it();
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 50 * MS, 0);
	run_stop(&run);
	last = check_samples(0, 3, perf_sim_main_tid(), 40);
	/* no samples of the members */
	assert_int_equal(run_samples(&run, 1), 0);
	assert_int_equal(run_samples(&run, 2), 0);
	/* each its own: of what the machine counts in 50 ms */
	assert_int_equal(run_account(&run, 0).total_weight, run_weight(&run, 0));
	assert_int_equal(run_account(&run, 2).total_weight, 50 * MS);
	assert_in_range(last[1], 1, run_account(&run, 1).total_weight);
	assert_in_range(last[2], 40 * MS, 50 * MS);
}

/* Whose string has a period is sampled, wherever it stands. */
static void any_member_can_be_the_one_that_is_sampled(void **state)
{
	static const char *const texts[] = { "cycles", "instructions",
		                             "task-clock" };
	char text[64];

	for (uint32_t sampled = 1; sampled < 3; sampled++) {
		struct ppi_account account;

		fresh(state);
		for (uint32_t i = 0; i < 3; i++) {
			snprintf(text, sizeof(text), "%s%s", texts[i],
			         i == sampled ? ":period=1000000" : "");
			add(text, 0);
		}
		run.plan.chain_depth = 16;
		open_it();
		run_start(&run);
		run_work(perf_sim_main_tid(), 0x1000, 50 * MS, 0);
		run_stop(&run);
		check_of_group(sampled, 0, 3, perf_sim_main_tid(), 20);
		assert_int_equal(run_samples(&run, sampled),
		                 run_account(&run, sampled).total_weight /
		                 1000000);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(run_samples(&run, i) > 0,
			                 i == sampled);
		account = run_account(&run, sampled);
		assert_int_equal(account.total_weight,
		                 run_weight(&run, sampled));
		assert_int_equal(account.granted_period, 1000000);
		/* what is only counted counts all the same */
		assert_int_equal(run_account(&run, 2).total_weight, 50 * MS);
		assert_true(run_account(&run, 0).total_weight > 0);
		assert_int_equal(run_account(&run, 0).granted_period, 0);
		nothing_is_held(state);
	}
	fresh(state);
}

static void several_of_a_group_can_be_sampled(void **state)
{
	(void)state;
	add("cycles:period=1000000", 0);
	add("task-clock", 0);
	add("instructions:period=500000", 0);
	add("page-faults", 1);
	add("cpu-clock:freq=1000", 1);
	open_it();
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 50 * MS, 0);
	run_stop(&run);
	check_of_group(0, 0, 3, perf_sim_main_tid(), 40);
	check_of_group(2, 0, 3, perf_sim_main_tid(), 40);
	check_of_group(4, 3, 2, perf_sim_main_tid(), 40);
	assert_int_equal(run_samples(&run, 1), 0);
	assert_int_equal(run_samples(&run, 3), 0);
}

static void who_is_sampled_is_steered(void **state)
{
	const struct ppi_steering *steering = run.bs.ops->steering;
	size_t before;

	(void)state;
	add("task-clock", 0);
	add("cpu-clock:period=1000000", 0);
	open_it();
	run_start(&run);
	assert_int_equal(steering->steer(&run.bs, 0, PPI_STEER_PERIOD, MS,
	                                 &run.why), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(run.why.words, "that is sampled"));
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	run_drain(&run);
	assert_int_equal(run_samples(&run, 1), 10);
	assert_int_equal(steering->steer(&run.bs, 1, PPI_STEER_PERIOD, 2 * MS,
	                                 &run.why), PORTPROF_OK);
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	run_drain(&run);
	assert_int_equal(run_samples(&run, 1), 15);
	assert_int_equal(steering->steer(&run.bs, 1, PPI_STEER_ENABLED, 0,
	                                 &run.why), PORTPROF_OK);
	before = run_samples(&run, 1);
	run_work(perf_sim_main_tid(), 0x1000, 10 * MS, 0);
	run_stop(&run);
	assert_int_equal(run_samples(&run, 1), before);
	assert_int_equal(run_account(&run, 0).total_weight, 30 * MS);
	assert_int_equal(run_account(&run, 1).total_weight, 20 * MS);
}

static void groups_are_told_apart(void **state)
{
	(void)state;
	add("cycles:period=1000000", 0);
	add("instructions", 0);
	add("task-clock", 1);
	open_it();
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 50 * MS, 0);
	run_stop(&run);
	check_samples(0, 2, perf_sim_main_tid(), 40);
	check_samples(2, 1, perf_sim_main_tid(), 40);
}

/* Members follow their leader: none counts before start or after stop. */
static void all_begin_and_end_together(void **state)
{
	uint64_t counted;

	(void)state;
	add("task-clock", 0);
	add("instructions", 0);
	open_it();
	run_work(perf_sim_main_tid(), 0x1000, 20 * MS, 0);
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 20 * MS, 0);
	run_stop(&run);
	counted = run_account(&run, 1).total_weight;
	assert_true(counted > 0);
	assert_int_equal(run_account(&run, 0).total_weight, 20 * MS);
	run_work(perf_sim_main_tid(), 0x1000, 20 * MS, 0);
	assert_int_equal(run_account(&run, 1).total_weight, counted);
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 20 * MS, 0);
	run_stop(&run);
	assert_int_equal(run_account(&run, 1).total_weight, 2 * counted);
}

static void every_thread_has_values_of_its_own(void **state)
{
	int64_t tid = perf_sim_thread(perf_sim_main_tid());
	const uint64_t *mine, *others;

	(void)state;
	add("task-clock", 0);
	add("instructions", 0);
	open_it();
	run_start(&run);
	run_work(perf_sim_main_tid(), 0x1000, 20 * MS, 0);
	run_work(tid, 0x2000, 60 * MS, 0);
	run_stop(&run);
	mine = check_samples(0, 2, perf_sim_main_tid(), 10);
	others = check_samples(0, 2, tid, 40);
	assert_in_range(mine[0], 10 * MS, 20 * MS);
	assert_in_range(others[0], 50 * MS, 60 * MS);
}

static void past_the_end_is_none(void **state)
{
	portprof_record record = { .kind = PORTPROF_RECORD_SAMPLE,
		                   .valid = PORTPROF_FIELD_GROUP_VALUES,
		                   .values = 3, .value_count = 1 };
	uint64_t words[3] = { 1, 2, 3 };
	portprof_batch batch = { &record, 1, words, 3,
	                         sizeof(portprof_record) };
	size_t count = 9;

	(void)state;
	assert_null(portprof_batch_values(&batch, &record, &count));
	assert_int_equal(count, 0);
	record.values = UINT64_MAX;
	assert_null(portprof_batch_values(&batch, &record, &count));
	record.values = 1;
	record.value_count = 2;
	assert_ptr_equal(portprof_batch_values(&batch, &record, &count),
	                 &words[1]);
	assert_int_equal(count, 2);
	record.valid = 0;
	assert_null(portprof_batch_values(&batch, &record, &count));
}

static void children_are_refused_in_words(void **state)
{
	(void)state;
	add("task-clock", 0);
	add("page-faults", 0);
	run.plan.follow_children = true;
	assert_int_equal(run_open(&run), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(run.why.words, "leave out children"));
	run.plan.follow_children = false;
	run.plan.target.kind = PPI_TARGET_COMMAND;
	assert_int_equal(run_open(&run), PORTPROF_E_UNSUPPORTED);
}

/* More than the PMU has counters for is a group that never runs. */
static void a_group_that_does_not_fit_is_refused(void **state)
{
	(void)state;
	perf_sim_machine.counters = 1;
	add("cycles", 0);
	add("instructions", 0);
	assert_int_not_equal(run_open(&run), PORTPROF_OK);
	assert_true(strlen(run.why.words) > 0);
}

static void backends_without_groups_are_refused(void **state)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session;

	(void)state;
	assert_int_equal(portprof_config_set_number(
				 config, "fields", PORTPROF_FIELD_GROUP_VALUES),
			 PORTPROF_OK);
	assert_int_equal(portprof_config_set_backend(config, "null"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_session_open(config, &session),
	                 PORTPROF_E_UNSUPPORTED);
	portprof_config_free(config);
}

/* ---- the machine's own kernel, whose software events need no PMU ---- */

enum { PAGES = 64, PAGE = 4096 };

static struct {
	size_t samples, lacking;
	uint64_t weight, last[2];
} told;

static void take_values(const portprof_batch *batch, void *context)
{
	(void)context;
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);
		const uint64_t *values;
		size_t count;

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		values = portprof_batch_values(batch, record, &count);
		told.samples++;
		told.weight += record->weight;
		if (count == 2 && record->event == 0 &&
		    values[0] >= told.last[0] && values[1] >= told.last[1])
			memcpy(told.last, values, sizeof(told.last));
		else
			told.lacking++;
	}
}

static void burn(void)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec == 0 && now.tv_nsec < 300000000);
}

static void this_kernel_tells_page_faults_with_time(void **state)
{
	portprof_config *config = portprof_config_new();
	volatile char *memory = mmap(NULL, (size_t)PAGES * PAGE,
	                             PROT_READ | PROT_WRITE,
	                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	portprof_session *session;

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(portprof_config_load_text(
				 config, "test",
				 "backend = perf\n"
				 "event = {task-clock,page-faults}:u\n"
				 "frequency = 1000\n"
				 "fields = group-values\n", NULL),
	                 PORTPROF_OK);
	portprof_config_add_callback(config, take_values, NULL);
	if (portprof_session_open(config, &session) != PORTPROF_OK) {
		print_message("skip: %s\n", portprof_last_diag()->words);
		portprof_config_free(config);
		munmap((void *)memory, (size_t)PAGES * PAGE);
		skip();
	}
	portprof_session_start(session);
	for (size_t i = 0; i < PAGES; i++)
		memory[i * PAGE] = 1;
	burn();
	portprof_session_stop(session);
	portprof_session_close(session);
	portprof_config_free(config);
	munmap((void *)memory, (size_t)PAGES * PAGE);
	assert_true(told.samples > 0);
	assert_int_equal(told.lacking, 0);
	/* huge pages may take most away */
	assert_true(told.last[1] > 0);
	/* what samples stand for is what their own event had counted */
	assert_in_range(told.weight, told.last[0] / 100 * 95,
	                told.last[0] / 100 * 105);
}

/* Another recorder of the same occurrences is there first: the kernel fills samples
 * in for it, with its id. */
static portprof_session *open_faults(const char *events,
                                     void (*take)(const portprof_batch *,
                                                  void *), void *context)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session = NULL;

	assert_int_equal(portprof_config_load_text(config, "test", events,
	                                           NULL), PORTPROF_OK);
	assert_int_equal(portprof_config_set_target(
				 config, PORTPROF_TARGET_THREAD, 0),
	                 PORTPROF_OK);
	portprof_config_add_callback(config, take, context);
	if (portprof_session_open(config, &session) != PORTPROF_OK)
		print_message("%s\n", portprof_last_diag()->words);
	portprof_config_free(config);
	return session;
}

static void ignore(const portprof_batch *batch, void *context)
{
	(void)batch;
	(void)context;
}

static struct {
	uint64_t samples, weight, of_others, last[2];
} faults;

static void take_faults(const portprof_batch *batch, void *context)
{
	(void)context;
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);
		const uint64_t *values;
		size_t count;

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		values = portprof_batch_values(batch, record, &count);
		faults.of_others += record->event != 1 || count != 2;
		faults.samples++;
		faults.weight += record->weight;
		if (count == 2)
			memcpy(faults.last, values, sizeof(faults.last));
	}
}

static void this_kernel_samples_the_second(void **state)
{
	volatile char *memory = mmap(NULL, (size_t)PAGES * PAGE,
	                             PROT_READ | PROT_WRITE,
	                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	portprof_session *other, *session;
	portprof_stats stats = { .size = sizeof(stats) };

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	madvise((void *)memory, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
	other = open_faults("backend = perf\nevent = page-faults:u:period=1\n",
	                    ignore, NULL);
	session = open_faults("backend = perf\n"
	                      "event = {task-clock,page-faults:period=1}:u\n"
	                      "fields = group-values\n", take_faults, NULL);
	if (!other || !session) {
		portprof_session_close(other);
		portprof_session_close(session);
		munmap((void *)memory, (size_t)PAGES * PAGE);
		skip();
	}
	portprof_session_start(other);
	portprof_session_start(session);
	for (size_t i = 0; i < PAGES; i++)
		memory[i * PAGE] = 1;
	portprof_session_stop(session);
	portprof_session_stop(other);
	assert_int_equal(portprof_session_stats(session, 1, &stats),
	                 PORTPROF_OK);
	/* each fault is a sample, with the time at which it was */
	assert_true(faults.samples >= PAGES);
	assert_int_equal(faults.of_others, 0);
	assert_int_equal(faults.weight, faults.samples);
	assert_int_equal(faults.last[1], stats.total_weight);
	assert_int_equal(faults.samples, stats.total_weight);
	assert_true(faults.last[0] > 0);
	portprof_session_close(session);
	portprof_session_close(other);
	munmap((void *)memory, (size_t)PAGES * PAGE);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(each_sample_has_the_whole_group),
		CASE(any_member_can_be_the_one_that_is_sampled),
		CASE(several_of_a_group_can_be_sampled),
		CASE(who_is_sampled_is_steered),
		CASE(groups_are_told_apart),
		CASE(all_begin_and_end_together),
		CASE(every_thread_has_values_of_its_own),
		CASE(past_the_end_is_none),
		CASE(children_are_refused_in_words),
		CASE(a_group_that_does_not_fit_is_refused),
		CASE(backends_without_groups_are_refused),
		cmocka_unit_test(this_kernel_tells_page_faults_with_time),
		cmocka_unit_test(this_kernel_samples_the_second),
	};

	return cmocka_run_group_tests_name("perf_values", tests, NULL, NULL);
}
