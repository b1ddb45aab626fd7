/* SPDX-License-Identifier: MIT */
/* Groups in braces, from the text of a configuration file to the counters:
 * exact on a simulated PMU. */
#include "api/core/event.h"
#include "api/core/helper.h"
#include "tests/unit/perf_run.h"

#include <portprof.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static portprof_group *group;

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.counters = 2;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	group = NULL;
	return 0;
}

static int nothing_is_held(void **state)
{
	(void)state;
	portprof_group_close(group);
	ppi_backend_set_kernel("perf", NULL);
	ppi_helper_set_manual(false);
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_abuses(), 0);
	return 0;
}

static portprof_status open_text(const char *text)
{
	portprof_config *config = portprof_config_new();
	portprof_status status;

	assert_int_equal(portprof_config_load_text(config, "test", text, NULL),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	status = portprof_group_open_config(config, &group);
	portprof_config_free(config);
	return status;
}

static void check_member(const char *text, size_t index, const char *member)
{
	char out[64];

	assert_int_equal(portprof_event_list_get(text, index, out, sizeof(out),
						 NULL), PORTPROF_OK);
	assert_string_equal(out, member);
}

static void members_get_what_is_behind_the_brace(void **state)
{
	char out[64];

	(void)state;
	assert_int_equal(ppi_event_members("cycles:u"), 1);
	assert_int_equal(ppi_event_members("{a}"), 1);
	assert_int_equal(ppi_event_members("x,{a,b}:u,y"), 4);
	assert_int_equal(ppi_event_members("{a,b,c}:u"), 3);
	check_member("cycles:u", 0, "cycles:u");
	check_member("{a,b:k,c}:u", 0, "a:u");
	check_member("{a,b:k,c}:u", 1, "b:k:u");
	check_member("{a,b:k,c}:u", 2, "c:u");
	check_member("{a}", 0, "a");
	assert_int_equal(portprof_event_list_get("{a,b}", 2, out, sizeof(out),
						 NULL), PORTPROF_END);
	assert_int_equal(portprof_event_list_get("a", 1, out, sizeof(out),
						 NULL), PORTPROF_END);
	check_member("x,{a,b}:u,y", 2, "b:u");
	check_member("x,{a,b}:u,y", 3, "y");
	assert_int_equal(portprof_event_list_get("{abcdef,b}", 0, out, 4, NULL),
			 PORTPROF_E_LIMIT);
}

/* Three do not fit into two counters at once, two and one in turn do. */
static void groups_of_a_file_have_the_pmu_in_turn(void **state)
{
	portprof_count counts[3];
	portprof_event_info info = { .size = sizeof(info) };

	(void)state;
	assert_int_equal(open_text("event = cycles\nevent = instructions\n"
	                           "event = cycles:u\n"),
	                 PORTPROF_E_UNSUPPORTED);
	assert_int_equal(open_text("event = {cycles,instructions}\n"
	                           "event = {cycles}:u\n"), PORTPROF_OK);
	assert_int_equal(portprof_group_event_count(group), 3);
	assert_int_equal(portprof_group_event(group, 2, &info), PORTPROF_OK);
	assert_string_equal(info.canonical, "cycles:u");
	run_work(perf_sim_main_tid(), 0x1000, 600 * MS, 0);
	assert_int_equal(portprof_group_read(group, counts, 3), PORTPROF_OK);
	assert_int_equal(counts[0].enabled_ns, 600 * MS);
	assert_int_equal(counts[0].running_ns, 300 * MS);
	assert_int_equal(counts[1].running_ns, counts[0].running_ns);
	assert_int_equal(counts[1].raw, 2 * counts[0].raw);
	assert_int_equal(counts[2].running_ns, 300 * MS);
	assert_int_equal(counts[0].scaled, 600 * MS);
	assert_int_equal(counts[2].scaled, 600 * MS);
}

/* All that an event string can say of a counter, without a line of code. */
static void a_file_says_all_of_a_counter(void **state)
{
	portprof_event_info info = { .size = sizeof(info) };
	portprof_count counts[4];

	(void)state;
	perf_sim_machine.counters = 4;
	assert_int_equal(open_text("event = {cycles:u:pinned,instructions}\n"
	                           "event = task-clock\nevent = {cycles:k}\n"),
	                 PORTPROF_OK);
	run_work(perf_sim_main_tid(), 0x1000, 97 * MS, 0);
	assert_int_equal(portprof_group_read(group, counts, 4), PORTPROF_OK);
	assert_int_equal(counts[0].raw, 97 * MS);
	assert_int_equal(counts[1].raw, 194 * MS);
	assert_int_equal(counts[2].raw, 97 * MS);
	assert_int_equal(counts[3].raw, 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(counts[i].status, PORTPROF_COUNT_OK);
	assert_int_equal(portprof_group_event(group, 0, &info), PORTPROF_OK);
	assert_non_null(strstr(info.encoding, "pinned"));
	assert_int_equal(portprof_group_event(group, 1, &info), PORTPROF_OK);
	assert_null(strstr(info.encoding, "pinned"));
}

/* The kernel has it of the leader alone: of another it would be a claim. */
static void what_is_a_groups_is_for_its_first(void **state)
{
	static const struct {
		const char *list, *column, *word;
	} cases[] = {
		{ "{cycles,instructions:pinned}", "column 14", "pinned" },
		{ "{cycles,instructions:u:excl}", "column 16", "excl" },
		{ "cycles,instructions:pinned", "column 14", "pinned" },
	};
	portprof_event_info info = { .size = sizeof(info) };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(portprof_group_open(cases[i].list, &group),
		                 PORTPROF_E_INVALID);
		assert_non_null(strstr(portprof_last_diag()->words,
		                       cases[i].column));
		assert_non_null(strstr(portprof_last_diag()->words,
		                       cases[i].word));
	}
	assert_int_equal(portprof_group_open("{cycles,instructions}:pinned:u",
	                                     &group), PORTPROF_OK);
	assert_int_equal(portprof_group_event(group, 0, &info), PORTPROF_OK);
	assert_non_null(strstr(info.encoding, "pinned"));
	assert_int_equal(portprof_group_event(group, 1, &info), PORTPROF_OK);
	assert_null(strstr(info.encoding, "pinned"));
	assert_string_equal(info.canonical, "instructions:u");
}

static void lists_are_read_alike_everywhere(void **state)
{
	static const char list[] = "cycles,{instructions@7,cs:k}:u:excl,branches";
	static const struct {
		const char *event;
		size_t group;
	} events[] = { { "cycles", 0 }, { "instructions:u:excl@7", 1 },
		       { "cs:k:u", 1 }, { "branches", 2 } };
	portprof_config *config = portprof_config_new();
	char event[64];
	size_t group_of;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(portprof_event_list_get(list, i, event,
		                                         sizeof(event),
		                                         &group_of),
		                 PORTPROF_OK);
		assert_string_equal(event, events[i].event);
		assert_int_equal(group_of, events[i].group);
	}
	assert_int_equal(portprof_event_list_get(list, 4, event, sizeof(event),
	                                         &group_of),
	                 PORTPROF_END);
	assert_int_equal(portprof_event_list_get(list, 1, event, 8, NULL),
	                 PORTPROF_E_LIMIT);
	assert_string_equal(event, "branches");
	assert_int_equal(portprof_config_set(config, "event", list),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_event_count(config), 3);
	assert_string_equal(portprof_config_event(config, 1),
	                    "{instructions@7,cs:k}:u:excl");
	portprof_config_free(config);
}

static void a_mistake_in_a_list_has_its_column(void **state)
{
	static const struct {
		const char *list;
		size_t column;
	} cases[] = {
		{ "", 1 },
		{ "cycles,", 8 },
		{ ",cycles", 1 },
		{ "a,,b", 3 },
		{ "{}", 2 },
		{ "{a,}", 4 },
		{ "{a,b", 1 },
		{ "a,{b,{c}}", 6 },
		{ "a{b}", 2 },
		{ "a}", 2 },
		{ "{a}b", 4 },
		{ "{a}:u}", 6 },
		{ "{a,b}:freq=-5", 12 },
		{ "cs,{a,b:freq=-5}:u", 14 },
		{ "cs ,a", 3 },
		{ "cs, a:freq=-5", 12 },
		{ "{cs,\t a, b:freq=-5}:u", 17 },
		{ "cs, ", 5 },
		{ "{ cs}", 2 },
	};
	portprof_config *config = portprof_config_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ppi_diag why;
		char said[32];

		assert_int_equal(ppi_event_list_read(cases[i].list, NULL, NULL,
		                                     &why),
		                 PORTPROF_E_INVALID);
		assert_int_equal(why.column, cases[i].column);
		snprintf(said, sizeof(said), "column %u", why.column);
		if (!strstr(why.words, said))
			fail_msg("not %s: %s", said, why.words);
		assert_int_equal(portprof_config_add_event(config,
		                                           cases[i].list),
		                 PORTPROF_E_INVALID);
	}
	assert_int_equal(portprof_config_event_count(config), 0);
	portprof_config_free(config);
}

/* An event of a list is named with its column there; one alone with its own. */
static void a_mistake_says_what_its_column_is_of(void **state)
{
	portprof_config *config = portprof_config_new();

	(void)state;
	assert_int_equal(portprof_config_add_event(config, "cs,{a,b:freq=-5}"),
	                 PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "'b:freq=-5', column 14 of the list:"));
	assert_int_equal(portprof_config_add_event(config, "b:freq=-5"),
	                 PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "'b:freq=-5', column 8:"));
	portprof_config_free(config);
}

static void blanks_may_follow_commas(void **state)
{
	portprof_config *config = portprof_config_new();
	const char *list = "x,  {a, \tb}:u, y";

	(void)state;
	check_member(list, 0, "x");
	check_member(list, 1, "a:u");
	check_member(list, 2, "b:u");
	check_member(list, 3, "y");
	assert_int_equal(ppi_event_members(list), 4);
	assert_int_equal(portprof_config_add_event(config, list), PORTPROF_OK);
	assert_int_equal(portprof_config_event_count(config), 3);
	assert_string_equal(portprof_config_event(config, 0), "x");
	assert_string_equal(portprof_config_event(config, 1), "{a, \tb}:u");
	assert_string_equal(portprof_config_event(config, 2), "y");
	portprof_config_free(config);
}

static void lists_have_groups_too(void **state)
{
	portprof_count counts[3];
	portprof_status status;

	(void)state;
	status = portprof_group_open("{cycles,instructions}:u,task-clock",
	                             &group);
	assert_int_equal(status, PORTPROF_OK);
	assert_int_equal(portprof_group_event_count(group), 3);
	run_work(perf_sim_main_tid(), 0x1000, MS, 0);
	assert_int_equal(portprof_group_read(group, counts, 3), PORTPROF_OK);
	assert_int_equal(counts[1].raw, 2 * MS);
	assert_int_equal(counts[2].raw, MS);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(members_get_what_is_behind_the_brace),
		CASE(groups_of_a_file_have_the_pmu_in_turn),
		CASE(a_file_says_all_of_a_counter),
		CASE(lists_have_groups_too),
		CASE(lists_are_read_alike_everywhere),
		CASE(a_mistake_in_a_list_has_its_column),
		CASE(a_mistake_says_what_its_column_is_of),
		CASE(blanks_may_follow_commas),
		CASE(what_is_a_groups_is_for_its_first),
	};

	return cmocka_run_group_tests_name("event_group", tests, NULL, NULL);
}
