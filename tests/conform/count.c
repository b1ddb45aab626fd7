/* SPDX-License-Identifier: MIT */
/* Counting: groups, their values and what they are worth. */
#include "tests/conform/conform.h"

#include <string.h>
#include <time.h>

static portprof_group *open_group(const char *first, const char *second)
{
	portprof_config *config = cf_config();

	assert_int_equal(portprof_config_add_event(config, first),
	                 PORTPROF_OK);
	if (second)
		assert_int_equal(portprof_config_add_event(config, second),
		                 PORTPROF_OK);
	return cf_group(config);
}

static void count_1_counts_from_open_on(void **state)
{
	portprof_group *group;
	uint64_t used, before;
	portprof_count count;

	(void)state;
	group = open_group("task-clock", NULL);
	assert_int_equal(portprof_group_event_count(group), 1);
	before = cf_read(group).scaled;
	used = cf_burn(0, 0, 50 * CF_MS);
	count = cf_read(group);
	assert_int_equal(count.status, PORTPROF_COUNT_OK);
	assert_true(count.scaled - before + cf_slack(used) >= used);
	assert_true(count.scaled - before <= used + cf_slack(used));
	cf_close_group(group);
}

static void count_1_values_never_go_back(void **state)
{
	portprof_group *group;
	portprof_count last, now;

	(void)state;
	group = open_group("task-clock", NULL);
	last = cf_read(group);
	for (unsigned i = 0; i < 200; i++) {
		if (i % 20 == 0)
			cf_burn(0, 0, CF_MS);
		now = cf_read(group);
		assert_true(now.raw >= last.raw);
		assert_true(now.enabled_ns >= last.enabled_ns);
		assert_true(now.running_ns >= last.running_ns);
		last = now;
	}
	cf_close_group(group);
}

static void count_1_needs_the_capability(void **state)
{
	portprof_config *config = cf_config();
	portprof_group *group = NULL;
	portprof_status status;

	(void)state;
	assert_int_equal(portprof_config_add_event(config, "task-clock"),
	                 PORTPROF_OK);
	if (cf_has(PORTPROF_CAP_COUNT)) {
		cf_close_group(cf_group(config));
		return;
	}
	status = portprof_group_open_config(config, &group);
	assert_true(status == PORTPROF_E_UNSUPPORTED ||
	            status == PORTPROF_E_DENIED);
	cf_diag(status);
	assert_null(group);
}

static void count_1_whole_process(void **state)
{
	struct cf_program program = { .count = 0 };
	portprof_group *group;
	uint64_t used, before, value;

	(void)state;
	fixture.thread_start(1);
	group = open_group("task-clock", NULL);
	fixture.thread_start(2);
	before = cf_read(group).scaled;
	for (unsigned t = 0; t < 3; t++)
		cf_work(&program, t, t, 30 * CF_MS);
	cf_run(&program);
	value = cf_read(group).scaled - before;
	used = cf_used(&program);
	assert_true(value + cf_slack(used) >= used);
	assert_true(value <= used + cf_slack(used));
	fixture.thread_end(1);
	fixture.thread_end(2);
	cf_close_group(group);
}

static void count_2_one_group_has_one_time(void **state)
{
	portprof_count counts[2];
	portprof_group *group;

	(void)state;
	cf_needs(PORTPROF_CAP_GROUP);
	group = open_group("task-clock", "page-faults");
	for (unsigned i = 0; i < 20; i++) {
		cf_burn(0, 0, 2 * CF_MS);
		assert_int_equal(portprof_group_read(group, counts, 2),
		                 PORTPROF_OK);
		cf_measured(counts[0].raw);
		assert_int_equal(counts[0].enabled_ns, counts[1].enabled_ns);
		assert_int_equal(counts[0].running_ns, counts[1].running_ns);
	}
	cf_close_group(group);
}

static void check_worth(const portprof_count *count)
{
	assert_true(count->running_ns <= count->enabled_ns);
	switch (count->status) {
	case PORTPROF_COUNT_OK:
		assert_int_equal(count->scaled, count->raw);
		assert_int_equal(count->running_ns, count->enabled_ns);
		break;
	case PORTPROF_COUNT_SCALED:
		assert_true(count->running_ns < count->enabled_ns);
		assert_true(count->running_ns > 0);
		assert_true(count->scaled >= count->raw);
		break;
	case PORTPROF_COUNT_NEVER_RAN:
		assert_int_equal(count->running_ns, 0);
		break;
	default:
		assert_in_range(count->status, PORTPROF_COUNT_ERROR,
		                PORTPROF_COUNT_REFUSED);
	}
}

static void count_3_values_say_what_they_are_worth(void **state)
{
	portprof_group *group;
	portprof_count count;

	(void)state;
	group = open_group("task-clock", NULL);
	for (unsigned i = 0; i < 10; i++) {
		cf_burn(0, 0, 2 * CF_MS);
		count = cf_read(group);
		check_worth(&count);
	}
	cf_close_group(group);
}

/* More events than any machine has counters: each is seen for a part of the
 * time. */
enum { CROWD = 24 };

static portprof_group *open_crowd(void)
{
	portprof_config *config = cf_config();
	portprof_group *group;

	for (unsigned i = 0; i < CROWD; i++)
		assert_int_equal(portprof_config_add_event(config,
		                                           "{cycles:u}"),
		                 PORTPROF_OK);
	if (cf_try_group(config, &group) != PORTPROF_OK)
		cf_skip("%s", portprof_last_diag()->words);
	return group;
}

/* Work that they do not count, in the kernel, makes an estimate fall. */
static void read_crowd(portprof_group *group, portprof_count *counts,
                       bool is_in_kernel)
{
	struct cf_program program = { .count = 0 };

	cf_kernel_work(&program, 0, 0, 7 * CF_MS,
	               is_in_kernel ? 7 * CF_MS : 0);
	cf_run(&program);
	assert_int_equal(portprof_group_read(group, counts, CROWD),
	                 PORTPROF_OK);
}

static void count_1_estimates_never_go_back(void **state)
{
	enum { ROUNDS = 60 };
	portprof_group *group = open_crowd();
	portprof_count last[CROWD] = { { 0 } }, now[CROWD];

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		if (round == ROUNDS / 2) {
			assert_int_equal(portprof_group_reset(group),
			                 PORTPROF_OK);
			memset(last, 0, sizeof(last));
		}
		read_crowd(group, now, round % 3 > 0);
		for (unsigned i = 0; i < CROWD; i++) {
			assert_true(now[i].raw >= last[i].raw);
			assert_true(now[i].scaled >= last[i].scaled);
		}
		memcpy(last, now, sizeof(last));
	}
	cf_measured(now[0].raw);
	cf_close_group(group);
}

static void count_3_what_was_seen_in_part_is_scaled(void **state)
{
	portprof_group *group = open_crowd();
	portprof_count counts[CROWD];
	unsigned scaled = 0;

	(void)state;
	for (unsigned round = 0; round < 20; round++)
		read_crowd(group, counts, false);
	for (unsigned i = 0; i < CROWD; i++) {
		check_worth(&counts[i]);
		cf_measured(counts[i].raw);
		scaled += counts[i].status == PORTPROF_COUNT_SCALED;
	}
	assert_true(scaled > 0);
	cf_close_group(group);
}

static void count_4_stop_start_reset(void **state)
{
	portprof_count held, more;
	portprof_group *group;
	uint64_t used;

	(void)state;
	group = open_group("task-clock", NULL);
	cf_burn(0, 0, 10 * CF_MS);
	assert_int_equal(portprof_group_stop(group), PORTPROF_OK);
	held = cf_read(group);
	cf_burn(0, 0, 20 * CF_MS);
	more = cf_read(group);
	assert_int_equal(more.raw, held.raw);
	assert_int_equal(portprof_group_reset(group), PORTPROF_OK);
	more = cf_read(group);
	assert_int_equal(more.raw, 0);
	assert_int_equal(more.enabled_ns, 0);
	assert_int_equal(more.running_ns, 0);
	assert_int_equal(portprof_group_start(group), PORTPROF_OK);
	used = cf_burn(0, 0, 20 * CF_MS);
	more = cf_read(group);
	assert_true(more.raw + cf_slack(used) >= used);
	assert_true(more.raw <= used + cf_slack(used));
	cf_close_group(group);
}

/* One reads through the group that a library would map for user-space reads,
 * the other around it. */
static void count_5_two_readings_agree(void **state)
{
	portprof_group *outer, *inner;
	uint64_t outer_value, inner_value, used;

	(void)state;
	outer = open_group("task-clock", NULL);
	inner = open_group("task-clock", NULL);
	outer_value = cf_read(outer).scaled;
	inner_value = cf_read(inner).scaled;
	used = cf_burn(0, 0, 50 * CF_MS);
	inner_value = cf_read(inner).scaled - inner_value;
	outer_value = cf_read(outer).scaled - outer_value;
	assert_true(outer_value + cf_slack(used) >= inner_value);
	assert_true(outer_value <= inner_value + cf_slack(used));
	cf_close_group(outer);
	cf_close_group(inner);
}

/* One counter after the other, of a thread's own and of the process: what
 * was read between two readings of the group is between them. */
static void count_5_one_counter_agrees_with_its_group(void **state)
{
	(void)state;
	for (unsigned by_thread = 0; by_thread < 2; by_thread++) {
		portprof_config *config = cf_config();
		portprof_count before, one, after;
		portprof_group *group;

		if (by_thread && !cf_has(PORTPROF_CAP_THREAD))
			continue;
		assert_int_equal(portprof_config_add_event(config,
		                                           "task-clock"),
		                 PORTPROF_OK);
		if (by_thread)
			assert_int_equal(
				portprof_config_set_target(
					config, PORTPROF_TARGET_THREAD, 0),
				PORTPROF_OK);
		group = cf_group(config);
		assert_non_null(portprof_group_event_how(group, 0));
		for (unsigned i = 0; i < 20; i++) {
			if (i == 10)
				portprof_group_reset(group);
			cf_burn(0, 0, CF_MS);
			before = cf_read(group);
			assert_int_equal(
				portprof_group_event_read(group, 0, &one),
				PORTPROF_OK);
			after = cf_read(group);
			assert_in_range(one.raw, before.raw, after.raw);
			assert_in_range(one.scaled, before.scaled,
			                after.scaled);
			assert_int_equal(one.status, PORTPROF_COUNT_OK);
		}
		cf_close_group(group);
	}
}

static void count_6_refused_whole_or_said(void **state)
{
	portprof_config *config = cf_config();
	portprof_group *group = NULL;
	portprof_count counts[2];
	portprof_status status;

	(void)state;
	assert_int_equal(portprof_config_add_event(config, "task-clock"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, "no-such-event"),
	                 PORTPROF_OK);
	status = portprof_group_open_config(config, &group);
	assert_int_equal(status, PORTPROF_E_NOTFOUND);
	cf_diag(status);
	assert_null(group);
	assert_int_equal(fixture.held(), 0);

	assert_int_equal(portprof_config_set_number(config, "partial", 1), PORTPROF_OK);
	if (!cf_has(PORTPROF_CAP_GROUP)) {
		/* not the name: several events are more than it reads at once */
		status = portprof_group_open_config(config, &group);
		assert_int_equal(status, PORTPROF_E_UNSUPPORTED);
		cf_diag(status);
		group = open_group("task-clock", NULL);
		cf_burn(0, 0, 5 * CF_MS);
		cf_measured(cf_read(group).raw);
		cf_close_group(group);
		return;
	}
	group = cf_group(config);
	cf_burn(0, 0, 5 * CF_MS);
	assert_int_equal(portprof_group_read(group, counts, 2), PORTPROF_OK);
	cf_measured(counts[0].raw);
	assert_int_equal(counts[0].status, PORTPROF_COUNT_OK);
	assert_int_equal(counts[1].status, PORTPROF_COUNT_REFUSED);
	assert_int_equal(portprof_group_event_diag(group, 0)->status,
	                 PORTPROF_OK);
	assert_int_equal(portprof_group_event_diag(group, 1)->status,
	                 PORTPROF_E_NOTFOUND);
	assert_true(portprof_group_event_diag(group, 1)->words[0] != '\0');
	cf_close_group(group);
}

static int use_inert_group(void *context)
{
	portprof_group *group = context;
	portprof_count count;

	if (portprof_group_read(group, &count, 1) != PORTPROF_E_FORKED)
		return 1;
	if (portprof_group_event_read(group, 0, &count) != PORTPROF_E_FORKED)
		return 5;
	if (portprof_group_stop(group) != PORTPROF_E_FORKED)
		return 2;
	if (portprof_group_start(group) != PORTPROF_E_FORKED)
		return 3;
	if (portprof_group_reset(group) != PORTPROF_E_FORKED)
		return 4;
	portprof_group_close(group);
	return 0;
}

static void count_7_inert_in_a_forked_child(void **state)
{
	portprof_group *group;
	uint64_t used, before, value;

	(void)state;
	group = open_group("task-clock", NULL);
	before = cf_read(group).scaled;
	used = cf_burn(0, 0, 20 * CF_MS);
	cf_in_child(use_inert_group, group);
	used += cf_burn(0, 0, 20 * CF_MS);
	value = cf_read(group).scaled - before;
	assert_true(value + cf_slack(used) >= used);
	cf_close_group(group);
}

static void count_8_more_than_there_are_is_refused(void **state)
{
	portprof_count counts[3];
	portprof_group *group;

	(void)state;
	group = open_group("task-clock", NULL);
	memset(counts, 0x5a, sizeof(counts));
	assert_int_equal(portprof_group_read(group, counts, 2),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	assert_int_equal(portprof_group_event_read(group, 1, counts),
			 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	assert_int_equal(portprof_group_event_read(group, 0, NULL),
			 PORTPROF_E_INVALID);
	assert_int_equal(portprof_group_event_read(NULL, 0, counts),
			 PORTPROF_E_INVALID);
	assert_null(portprof_group_event_how(group, 1));
	for (size_t i = 0; i < sizeof(counts); i++)
		assert_int_equal(((unsigned char *)counts)[i], 0x5a);
	cf_close_group(group);
}

/* Fifty groups of four in one list: each has one time, and all count the same
 * work. */
static void count_2_two_hundred_counters(void **state)
{
	enum { GROUPS = 50, EVENTS = 4 };
	static const char four[] =
		"{task-clock,page-faults,context-switches,cpu-migrations}";
	portprof_count *counts = cf_memory(GROUPS * EVENTS * sizeof(*counts));
	char *list = cf_memory(GROUPS * sizeof(four));
	portprof_config *config = cf_config();
	portprof_status status;
	portprof_group *group;
	uint64_t used;

	(void)state;
	cf_needs(PORTPROF_CAP_GROUP);
	for (unsigned i = 0; i < GROUPS; i++) {
		strcat(list, i ? "," : "");
		strcat(list, four);
	}
	assert_int_equal(portprof_config_add_event(config, list), PORTPROF_OK);
	status = portprof_group_open_config(config, &group);
	if (status == PORTPROF_E_UNSUPPORTED || status == PORTPROF_E_LIMIT)
		cf_skip("%s", portprof_last_diag()->words);
	assert_int_equal(status, PORTPROF_OK);
	assert_int_equal(portprof_group_event_count(group), GROUPS * EVENTS);
	used = cf_burn(0, 0, 50 * CF_MS);
	assert_int_equal(portprof_group_stop(group), PORTPROF_OK);
	assert_int_equal(portprof_group_read(group, counts, GROUPS * EVENTS),
	                 PORTPROF_OK);
	for (unsigned i = 0; i < GROUPS; i++) {
		const portprof_count *of = &counts[(size_t)i * EVENTS];

		assert_true(of->raw + cf_slack(used) >= used);
		cf_measured(of->raw);
		for (unsigned j = 1; j < EVENTS; j++)
			assert_int_equal(of[j].enabled_ns, of->enabled_ns);
	}
	portprof_group_close(group);
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Between what the clock says before and after; a reset changes no time. */
static void count_10_a_reading_says_when_it_was_taken(void **state)
{
	portprof_group *group = open_group("task-clock", NULL);
	uint64_t last = monotonic_ns();
	portprof_count count;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		if (i == 100)
			assert_int_equal(portprof_group_reset(group),
			                 PORTPROF_OK);
		if (i % 50 == 0)
			cf_burn(0, 0, 2 * CF_MS);
		count = cf_read(group);
		assert_true(count.taken_ns >= last);
		last = monotonic_ns();
		assert_true(count.taken_ns <= last);
	}
	memset(&count, 0x5a, sizeof(count));
	assert_int_equal(portprof_group_event_read(group, 0, &count),
	                 PORTPROF_OK);
	assert_int_equal(count.taken_ns, 0);
	cf_close_group(group);
}

/* One time for all, also of groups that are read one after the other. */
static void count_10_all_have_one_time(void **state)
{
	portprof_count counts[2];
	portprof_group *group;

	(void)state;
	cf_needs(PORTPROF_CAP_GROUP);
	group = open_group("task-clock", "page-faults");
	cf_burn(0, 0, 2 * CF_MS);
	assert_int_equal(portprof_group_read(group, counts, 2), PORTPROF_OK);
	cf_measured(counts[0].raw);
	assert_true(counts[0].taken_ns > 0);
	assert_int_equal(counts[0].taken_ns, counts[1].taken_ns);
	cf_close_group(group);
}

/* ---- threads by hand ---- */

static portprof_group *open_thread_group(void)
{
	portprof_config *config = cf_config();

	assert_int_equal(portprof_config_set_target(
				 config, PORTPROF_TARGET_THREAD, 0),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, "task-clock"),
	                 PORTPROF_OK);
	return cf_group(config);
}

static portprof_status choose(portprof_group *group, const char *how,
                              unsigned thread)
{
	return portprof_group_set_number(group, how,
	                                 (uint64_t)fixture.thread_tid(thread));
}

/* Go on only where another thread than the caller can be counted. */
static void needs_other_threads(portprof_group *group)
{
	portprof_status status = choose(group, "add-thread", 1);

	if (status == PORTPROF_OK)
		return;
	assert_int_equal(status, PORTPROF_E_UNSUPPORTED);
	cf_diag(status);
	assert_int_equal(choose(group, "remove-thread", 1),
	                 PORTPROF_E_NOTFOUND);
	cf_burn(0, 0, 5 * CF_MS);
	cf_measured(cf_read(group).raw);
	fixture.thread_end(1);
	fixture.thread_end(2);
	cf_close_group(group);
	cf_skip("it counts the thread that calls, and no other");
}

/* All three work at the same time; what those in the group used is in it. */
static void check_counted(portprof_group *group, const bool in_group[3])
{
	struct cf_program program = { .count = 0 };
	uint64_t before = cf_read(group).raw, used = 0, value;

	for (unsigned t = 0; t < 3; t++)
		cf_work(&program, t, t, (20 + 10 * t) * CF_MS);
	cf_run(&program);
	value = cf_read(group).raw - before;
	for (unsigned t = 0; t < 3; t++)
		used += in_group[t] ? cf_used_by(&program, t) : 0;
	assert_true(value + cf_slack(used) >= used);
	assert_true(value <= used + cf_slack(cf_used(&program)));
	cf_measured(value);
}

static void count_12_threads_are_chosen_by_hand(void **state)
{
	portprof_group *group;
	portprof_count before, after;
	uint64_t ended;

	(void)state;
	cf_needs(PORTPROF_CAP_THREAD);
	fixture.thread_start(1);
	fixture.thread_start(2);
	group = open_thread_group();
	needs_other_threads(group);
	check_counted(group, (bool[]){ true, true, false });
	assert_int_equal(choose(group, "add-thread", 1), PORTPROF_OK);
	check_counted(group, (bool[]){ true, true, false });
	assert_int_equal(choose(group, "add-thread", 2), PORTPROF_OK);
	check_counted(group, (bool[]){ true, true, true });
	assert_int_equal(choose(group, "remove-thread", 0), PORTPROF_OK);
	check_counted(group, (bool[]){ false, true, true });

	/* what was counted stays, also of a thread that has ended */
	before = cf_read(group);
	assert_int_equal(choose(group, "remove-thread", 1), PORTPROF_OK);
	ended = (uint64_t)fixture.thread_tid(2);
	fixture.thread_end(2);
	assert_int_equal(portprof_group_set_number(group, "remove-thread",
	                                           ended), PORTPROF_OK);
	after = cf_read(group);
	assert_true(after.raw >= before.raw);
	assert_int_equal(after.raw, cf_read(group).raw);
	assert_int_equal(choose(group, "remove-thread", 1),
	                 PORTPROF_E_NOTFOUND);
	cf_diag(PORTPROF_E_NOTFOUND);

	fixture.thread_start(2);
	assert_int_equal(choose(group, "add-thread", 0), PORTPROF_OK);
	assert_int_equal(choose(group, "add-thread", 1), PORTPROF_OK);
	check_counted(group, (bool[]){ true, true, false });
	fixture.thread_end(1);
	fixture.thread_end(2);
	cf_close_group(group);
}

static void count_12_added_threads_start_and_stop_with_the_group(void **state)
{
	portprof_group *group;
	portprof_count count;
	uint64_t used;

	(void)state;
	cf_needs(PORTPROF_CAP_THREAD);
	fixture.thread_start(1);
	fixture.thread_start(2);
	group = open_thread_group();
	needs_other_threads(group);
	used = cf_burn(1, 1, 10 * CF_MS);
	assert_int_equal(portprof_group_event_read(group, 0, &count),
	                 PORTPROF_OK);
	assert_true(count.raw + cf_slack(used) >= used);
	assert_int_equal(portprof_group_stop(group), PORTPROF_OK);
	assert_int_equal(choose(group, "add-thread", 2), PORTPROF_OK);
	count = cf_read(group);
	cf_burn(1, 1, 10 * CF_MS);
	cf_burn(2, 2, 10 * CF_MS);
	assert_int_equal(cf_read(group).raw, count.raw);
	assert_int_equal(portprof_group_reset(group), PORTPROF_OK);
	assert_int_equal(cf_read(group).raw, 0);
	assert_int_equal(portprof_group_start(group), PORTPROF_OK);
	check_counted(group, (bool[]){ true, true, true });
	fixture.thread_end(1);
	fixture.thread_end(2);
	cf_close_group(group);
}

static void count_12_bad_choices_are_refused(void **state)
{
	portprof_group *group;

	(void)state;
	group = open_group("task-clock", NULL);
	assert_int_equal(portprof_group_set_number(group, "add-tread", 1),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words, "add-thread"));
	assert_int_equal(portprof_group_set_number(group, "add-thread", 0),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	/* it has the thread already, with all others */
	assert_int_equal(choose(group, "add-thread", 0),
	                 PORTPROF_E_UNSUPPORTED);
	cf_diag(PORTPROF_E_UNSUPPORTED);
	cf_close_group(group);
}

static const struct cf_case cases[] = {
	CF_COUNTS(count_1_counts_from_open_on),
	CF_COUNTS(count_1_values_never_go_back),
	CF_COUNTS(count_1_estimates_never_go_back),
	CF_CASE(count_1_needs_the_capability),
	CF_COUNTS(count_1_whole_process),
	CF_COUNTS(count_2_one_group_has_one_time),
	CF_COUNTS(count_2_two_hundred_counters),
	CF_COUNTS(count_3_values_say_what_they_are_worth),
	CF_COUNTS(count_3_what_was_seen_in_part_is_scaled),
	CF_COUNTS(count_4_stop_start_reset),
	CF_COUNTS(count_5_two_readings_agree),
	CF_COUNTS(count_5_one_counter_agrees_with_its_group),
	CF_COUNTS(count_6_refused_whole_or_said),
	CF_COUNTS(count_7_inert_in_a_forked_child),
	CF_GROUPS(count_8_more_than_there_are_is_refused),
	CF_COUNTS(count_10_a_reading_says_when_it_was_taken),
	CF_COUNTS(count_10_all_have_one_time),
	CF_COUNTS(count_12_threads_are_chosen_by_hand),
	CF_COUNTS(count_12_added_threads_start_and_stop_with_the_group),
	CF_GROUPS(count_12_bad_choices_are_refused),
};

CF_FAMILY(count);
