/* SPDX-License-Identifier: MIT */
/* Merges profiles, and adds to them what their files do not say. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/file_kit.h"

static struct file_kit kit;

/* A session of one process with its program at `base`. */
static portprof_profile *session(uint32_t pid, uint64_t base, uint64_t weight,
                                 size_t events)
{
	portprof_profile *profile;

	kit_begin(&kit, events);
	kit.stats[0].cpu_time_ns = weight;
	kit.stats[0].achieved_hz = 500;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	kit_module(&kit, pid, base, 0x1000, 0x2000, "/bin/app", "\x17");
	kit_module(&kit, pid, 0x90000, 0x1000, 0, "//anon", "");
	kit_thread(&kit, pid, pid, "app", false);
	kit_sample(&kit, 0, pid, pid, base + 0x10, 1, weight);
	kit_sample(&kit, 0, pid, pid, 0x90010, 1, 1);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	profile = kit_read(&kit);
	kit_end(&kit);
	return profile;
}

static void one_program_at_two_places_is_one_mapping(void **state)
{
	portprof_profile *a = session(100, 0x10000, 5, 1);
	portprof_profile *b = session(100, 0x70000, 7, 1);
	size_t program;

	(void)state;
	assert_int_equal(portprof_profile_merge(a, b), PORTPROF_OK);
	program = kit_find_mapping(a, "/bin/app");
	assert_int_equal(portprof_profile_mapping_count(a), 2);
	assert_int_equal(portprof_profile_location_count(a), 2);
	assert_int_equal(portprof_profile_sample_count(a), 2);
	assert_int_equal(portprof_profile_mapping_get(a, program)->start,
	                 0x10000);
	assert_int_equal(portprof_profile_sample_get(a, 0)->weights[0], 12);
	assert_int_equal(portprof_profile_sample_get(a, 0)->samples[0], 2);
	/* the other is as it was */
	assert_int_equal(portprof_profile_sample_get(b, 0)->weights[0], 7);
	portprof_profile_free(a);
	portprof_profile_free(b);
}

static void accounts_are_added_up(void **state)
{
	portprof_profile *a, *b;
	const portprof_stats *stats;

	(void)state;
	a = session(100, 0x10000, 1000, 1);
	b = session(200, 0x10000, 3000, 1);
	assert_int_equal(portprof_profile_merge(a, b), PORTPROF_OK);
	stats = &portprof_profile_event_get(a, 0)->stats;
	assert_int_equal(stats->delivered_samples, 4);
	assert_int_equal(stats->kept_weight, 4002);
	assert_int_equal(stats->total_weight, 4002);
	assert_int_equal(stats->cpu_time_ns, 4000);
	assert_true(stats->achieved_hz == 500);
	assert_true(stats->requested_hz == 1000);
	assert_int_equal(stats->lost_certainty, PORTPROF_EXACT);
	assert_string_equal(portprof_profile_origin_get(a)->backend, "paper");
	assert_int_equal(portprof_profile_origin_get(a)->note_count, 1);
	assert_int_equal(portprof_profile_origin_get(a)->passed_over_count, 1);
	assert_int_equal(portprof_profile_thread_count(a), 2);
	portprof_profile_free(a);
	portprof_profile_free(b);
}

static void what_is_not_the_same_is_refused(void **state)
{
	portprof_profile *a = session(100, 0x10000, 5, 1);
	portprof_profile *b = session(100, 0x10000, 5, 2);
	char *before = kit_text(a), *after;

	(void)state;
	assert_int_equal(portprof_profile_merge(a, b), PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words, "same events"));
	assert_int_equal(portprof_profile_merge(a, a), PORTPROF_E_INVALID);
	assert_int_equal(portprof_profile_merge(NULL, a), PORTPROF_E_INVALID);
	assert_int_equal(portprof_profile_merge(a, NULL), PORTPROF_E_INVALID);
	after = kit_text(a);
	assert_string_equal(before, after);
	free(before);
	free(after);
	portprof_profile_free(a);
	portprof_profile_free(b);
}

/* Closure holds: total = kept + outside + unattributed. */
static void assert_closed(const portprof_stats *stats)
{
	assert_int_equal(stats->total_weight,
	                 stats->kept_weight + stats->outside_weight +
	                         stats->unattributed_weight);
}

static void cpu_time_told_afterwards_is_accounted_for(void **state)
{
	portprof_profile *profile = session(100, 0x10000, 1000, 2);
	const portprof_stats *cpu, *cycles;

	(void)state;
	cpu = &portprof_profile_event_get(profile, 0)->stats;
	cycles = &portprof_profile_event_get(profile, 1)->stats;
	assert_int_equal(portprof_profile_set_times(profile, 1501, 0),
			 PORTPROF_OK);
	assert_int_equal(cpu->cpu_time_ns, 1501);
	assert_int_equal(cpu->total_weight, 1501);
	assert_int_equal(cpu->unattributed_weight, 500);
	assert_int_equal(cpu->not_attached_weight, 500);
	assert_closed(cpu);
	/* an event that counts something else has no part in it */
	assert_int_equal(cycles->cpu_time_ns, 1501);
	assert_int_equal(cycles->total_weight, 0);
	assert_true(portprof_profile_origin_get(profile)->is_complete);
	/* told again, it is the last that counts; samples stand for more */
	assert_int_equal(portprof_profile_set_times(profile, 900, 0),
			 PORTPROF_OK);
	assert_int_equal(cpu->kept_weight, 1001);
	assert_closed(cpu);
	assert_int_equal(portprof_profile_set_times(NULL, 1, 0),
			 PORTPROF_E_INVALID);
	assert_int_equal(portprof_profile_set_times(profile, 0, 777),
			 PORTPROF_OK);
	assert_int_equal(portprof_profile_origin_get(profile)->duration_ns,
	                 777);
	assert_int_equal(portprof_profile_set_times(NULL, 0, 1),
			 PORTPROF_E_INVALID);
	portprof_profile_free(profile);
}

/* One is named, the other not: both keep their weight, and a third one that is
 * named alike falls together with the first. */
static void names_are_given_merged_and_written(void **state)
{
	const portprof_profile_line lines[] = { { "in", "a.c", 7 },
		                                { "out", "b.c", 9 } };
	portprof_profile *a = session(100, 0x10000, 5, 1);
	portprof_profile *b = session(100, 0x70000, 7, 1), *again;
	portprof_profile *c = session(100, 0x50000, 1, 1);
	uint64_t sum = 0;

	(void)state;
	assert_int_equal(portprof_profile_name_location(a, 9, lines, 2),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_profile_name_location(a, 0, lines, 0),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_profile_name_location(a, 0, NULL, 1),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_profile_name_location(NULL, 0, lines, 1),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_profile_line_count(a, 0), 0);
	assert_int_equal(portprof_profile_name_location(a, 0, lines, 2),
	                 PORTPROF_OK);
	assert_int_equal(portprof_profile_name_location(c, 0, lines, 2),
	                 PORTPROF_OK);
	assert_int_equal(portprof_profile_merge(a, c), PORTPROF_OK);
	assert_int_equal(portprof_profile_location_count(a), 2);
	assert_int_equal(portprof_profile_merge(a, b), PORTPROF_OK);
	assert_int_equal(portprof_profile_location_count(a), 3);
	kit_begin(&kit, 1);
	assert_int_equal(portprof_profile_write(a, kit.path), PORTPROF_OK);
	again = kit_read(&kit);
	kit_end(&kit);
	assert_int_equal(portprof_profile_line_count(again, 0), 2);
	assert_string_equal(
		portprof_profile_line_get(again, 0, 0)->function, "in");
	assert_string_equal(
		portprof_profile_line_get(again, 0, 1)->source_file, "b.c");
	assert_int_equal(portprof_profile_line_get(again, 0, 1)->line, 9);
	for (size_t i = 0; i < portprof_profile_sample_count(again); i++)
		sum += portprof_profile_sample_get(again, i)->weights[0];
	assert_int_equal(sum, 5 + 7 + 1 + 3);
	portprof_profile_free(a);
	portprof_profile_free(b);
	portprof_profile_free(c);
	portprof_profile_free(again);
}

/* The file of a run in parts: written, read, and the account is there. */
static void a_merged_account_survives_a_file(void **state)
{
	portprof_profile *a = session(100, 0x10000, 1000, 1);
	portprof_profile *b = session(200, 0x10000, 3000, 1), *again;
	const portprof_stats *stats;
	char path[sizeof(kit.path)];

	(void)state;
	assert_int_equal(portprof_profile_merge(a, b), PORTPROF_OK);
	portprof_profile_set_times(a, 5000, 0);
	kit_begin(&kit, 1);
	snprintf(path, sizeof(path), "%s", kit.path);
	assert_int_equal(portprof_profile_write(a, path), PORTPROF_OK);
	again = kit_read(&kit);
	kit_assert_same(a, again);
	stats = &portprof_profile_event_get(again, 0)->stats;
	assert_memory_equal(stats, &portprof_profile_event_get(a, 0)->stats,
	                    sizeof(*stats));
	/* and it can be told the CPU time once more */
	portprof_profile_set_times(again, 6002, 0);
	assert_int_equal(stats->unattributed_weight, 2000);
	kit_end(&kit);
	portprof_profile_free(a);
	portprof_profile_free(b);
	portprof_profile_free(again);
}

/* What became of the threads' time: in a file, read, added up, written. */
static void lives_are_added_up(void **state)
{
	const portprof_life life = { .threads = 3, .lifetime_ns = 1000,
		                     .running_ns = 100, .ready_ns = 20,
		                     .blocked_ns = 800, .unknown_ns = 80 };
	portprof_profile *a, *again, *none = session(7, 0x10000, 5, 1);
	const portprof_life *sum;

	(void)state;
	kit_begin(&kit, 1);
	kit.run.life = life;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	kit_sample(&kit, 0, 7, 7, 0x10010, 1, 5);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	a = kit_read(&kit);
	again = kit_read(&kit);
	sum = &portprof_profile_origin_get(a)->life;
	assert_memory_equal(sum, &life, sizeof(life));
	assert_int_equal(portprof_profile_merge(a, again), PORTPROF_OK);
	/* where nobody looked there is nothing to add */
	assert_int_equal(portprof_profile_origin_get(none)->life.threads, 0);
	assert_int_equal(portprof_profile_merge(a, none), PORTPROF_OK);
	portprof_profile_free(again);
	assert_int_equal(portprof_profile_write(a, kit.path), PORTPROF_OK);
	again = kit_read(&kit);
	sum = &portprof_profile_origin_get(again)->life;
	assert_int_equal(sum->threads, 6);
	assert_int_equal(sum->lifetime_ns, 2000);
	assert_int_equal(sum->running_ns, 200);
	assert_int_equal(sum->ready_ns, 40);
	assert_int_equal(sum->blocked_ns, 1600);
	assert_int_equal(sum->unknown_ns, 160);
	kit_end(&kit);
	portprof_profile_free(a);
	portprof_profile_free(again);
	portprof_profile_free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_program_at_two_places_is_one_mapping),
		cmocka_unit_test(accounts_are_added_up),
		cmocka_unit_test(what_is_not_the_same_is_refused),
		cmocka_unit_test(cpu_time_told_afterwards_is_accounted_for),
		cmocka_unit_test(names_are_given_merged_and_written),
		cmocka_unit_test(a_merged_account_survives_a_file),
		cmocka_unit_test(lives_are_added_up),
	};

	return cmocka_run_group_tests_name("file_merge", tests, NULL, NULL);
}
