/* SPDX-License-Identifier: MIT */
/* The file sink: what is in the file after each portion and at the end. */
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <portprof/tool.h>

#include "base/thread.h"
#include "tests/unit/file_kit.h"

static struct file_kit kit;

static int set_up(void **state)
{
	(void)state;
	kit_begin(&kit, 1);
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kit_end(&kit);
	return 0;
}

/* The weight of all samples of which frame `frame` lies in path+offset. */
static uint64_t weight_at(const portprof_profile *profile, size_t frame,
                          const char *path, uint64_t offset)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++) {
		const portprof_profile_sample *sample =
			portprof_profile_sample_get(profile, i);
		const portprof_profile_location *location;
		const portprof_profile_mapping *mapping;

		if (frame >= sample->depth)
			continue;
		location = portprof_profile_location_get(
			profile, sample->locations[frame]);
		mapping = portprof_profile_mapping_get(profile,
		                                       location->mapping);
		if (!mapping && !path[0] && location->address == offset)
			sum += sample->weights[0];
		else if (mapping && strcmp(mapping->path, path) == 0 &&
		         location->address - mapping->start +
		                         mapping->file_offset ==
		                 offset)
			sum += sample->weights[0];
	}
	return sum;
}

static uint64_t leaf_weight(const portprof_profile *profile, const char *path,
                            uint64_t offset)
{
	return weight_at(profile, 0, path, offset);
}

/* Close, and read what is left. */
static portprof_profile *finish(void)
{
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	return kit_read(&kit);
}

static void equal_samples_are_one(void **state)
{
	portprof_profile *profile;

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x1000, 0x2000, "/bin/app", "\xab");
	for (unsigned i = 0; i < 10; i++) {
		kit_sample(&kit, 0, 100, 101, 0x10040, 1, 1000);
		kit_sample(&kit, 0, 100, 102, 0x10040, 2, 300);
	}
	profile = finish();
	assert_int_equal(portprof_profile_sample_count(profile), 2);
	assert_int_equal(portprof_profile_location_count(profile), 1);
	assert_int_equal(leaf_weight(profile, "/bin/app", 0x2040), 13000);
	assert_string_equal(
		portprof_profile_mapping_get(profile, 0)->build_id, "ab");
	assert_int_equal(
		portprof_profile_sample_get(profile, 1)->samples[0], 20);
	assert_int_equal(kit.sink.stats.kept_samples, 30);
	assert_int_equal(kit.sink.stats.kept_weight, 13000);
	portprof_profile_free(profile);
}

/* Before it is put together and after, the file says the same. */
static void portions_say_what_the_end_says(void **state)
{
	const uint64_t chain[3] = { 0x10040, 0x10101, 0x50001 };
	portprof_profile *portions, *whole;

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/bin/app", "");
	kit_module(&kit, 100, 0x50000, 0x1000, 0, "/lib/one.so", "\1");
	for (unsigned second = 0; second < 5; second++) {
		kit_thread(&kit, 100, 100 + second, "worker", false);
		kit_chain(&kit, 0, 100, 100 + second, chain, 3, 1, 7);
		kit_chain(&kit, 0, 100, 100, chain, 3, 1, 7);
		kit_sample(&kit, 0, 100, 100, 0x10000 + second, 1, 11);
		assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	}
	portions = kit_read(&kit);
	assert_null(portprof_profile_origin_get(portions)->damage);
	assert_false(portprof_profile_origin_get(portions)->is_complete);
	whole = finish();
	assert_true(portprof_profile_origin_get(whole)->is_complete);
	kit_assert_same(portions, whole);
	portprof_profile_free(portions);
	portprof_profile_free(whole);
}

static portprof_profile *follow_more(portprof_follow *follow, bool is_anew)
{
	portprof_profile *profile;
	bool was_anew;

	assert_int_equal(portprof_follow_read(follow, &profile, &was_anew),
	                 PORTPROF_OK);
	assert_int_equal(was_anew, is_anew);
	return profile;
}

/* Whoever follows a file reads each portion once: what the pieces have is
 * together what the file has, even if its beginning cannot be read any more. */
static void a_file_that_grows_is_read_by_pieces(void **state)
{
	portprof_profile *all = NULL, *more, *whole;
	portprof_follow *follow;
	uint64_t chain[2] = { 0x10020, 0x10031 };

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/bin/app", "");
	assert_int_equal(portprof_follow_open(kit.path, 0, &follow),
	                 PORTPROF_OK);
	for (uint32_t second = 0; second < 6; second++) {
		kit_chain(&kit, 0, 100, 100, chain, 2, 1, 7);
		kit_sample(&kit, 0, 100, 100 + second, 0x10000 + second, 1, 11);
		assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
		whole = kit_read(&kit);
		more = follow_more(follow, second == 0);
		assert_int_equal(portprof_profile_sample_count(more), 2);
		/* its account is that of all */
		assert_int_equal(portprof_profile_event_get(more, 0)
		                         ->stats.kept_samples,
		                 2 * (second + 1));
		if (all) {
			assert_int_equal(portprof_profile_merge(all, more),
			                 PORTPROF_OK);
			portprof_profile_free(more);
		} else {
			all = more;
		}
		assert_int_equal(portprof_profile_sample_count(all),
		                 portprof_profile_sample_count(whole));
		assert_int_equal(leaf_weight(all, "/bin/app", 0x20),
		                 leaf_weight(whole, "/bin/app", 0x20));
		assert_int_equal(leaf_weight(all, "/bin/app", second), 11);
		portprof_profile_free(whole);
	}
	more = follow_more(follow, false);
	assert_int_equal(portprof_profile_sample_count(more), 0);
	portprof_profile_free(more);
	/* what was read is not read again */
	{
		FILE *file = fopen(kit.path, "r+");

		fputs("no gzip", file);
		fseek(file, 0, SEEK_END);
		fputs("\x1f\x8b", file); /* a portion in the making */
		fclose(file);
	}
	more = follow_more(follow, false);
	assert_int_equal(portprof_profile_sample_count(more), 0);
	assert_null(portprof_profile_origin_get(more)->damage);
	portprof_profile_free(more);
	portprof_profile_free(all);
	portprof_follow_close(follow);
}

static void a_file_that_is_replaced_is_read_anew(void **state)
{
	portprof_profile *more, *whole;
	portprof_follow *follow;

	(void)state;
	assert_int_equal(portprof_follow_open(kit.path, 0, &follow),
	                 PORTPROF_OK);
	kit_sample(&kit, 0, 100, 100, 0x10000, 1, 11);
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	portprof_profile_free(follow_more(follow, true));
	kit_sample(&kit, 0, 100, 100, 0x10001, 1, 11);
	whole = finish();
	more = follow_more(follow, true);
	kit_assert_same(more, whole);
	portprof_profile_free(whole);
	portprof_profile_free(more);
	unlink(kit.path);
	assert_int_equal(portprof_follow_read(follow, &more, &(bool){ false }),
	                 PORTPROF_E_NOTFOUND);
	portprof_follow_close(follow);
	portprof_follow_close(NULL);
}

static void callers_are_looked_up_in_their_call(void **state)
{
	/* the second frame returns to the first byte behind its module */
	const uint64_t chain[2] = { 0x10000, 0x11000 };
	portprof_profile *profile;

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/bin/app", "");
	kit_module(&kit, 100, 0x11000, 0x1000, 0, "/lib/next.so", "");
	kit_chain(&kit, 0, 100, 100, chain, 2, 1, 5);
	profile = finish();
	assert_int_equal(leaf_weight(profile, "/bin/app", 0), 5);
	assert_int_equal(weight_at(profile, 1, "/bin/app", 0xfff), 5);
	assert_int_equal(kit_find_mapping(profile, "/lib/next.so"), SIZE_MAX);
	portprof_profile_free(profile);
}

static void chains_end_where_nothing_is_mapped(void **state)
{
	const uint64_t chain[3] = { 0x10040, 0x77000, 0x10101 };
	const uint64_t late[2] = { 0x10080, 0x50001 };
	portprof_profile *profile;

	(void)state;
	/* nothing is known of this process: nothing speaks against it */
	kit_chain(&kit, 0, 200, 200, chain, 3, 1, 1);
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/bin/app", "");
	kit_chain(&kit, 0, 100, 100, chain, 3, 1, 5);
	/* the module's record comes behind the first sample in it */
	kit_chain(&kit, 0, 100, 100, late, 2, 1, 7);
	kit_module(&kit, 100, 0x50000, 0x1000, 0, "/lib/one.so", "");
	profile = finish();
	assert_int_equal(leaf_weight(profile, "/bin/app", 0x40), 5);
	assert_int_equal(weight_at(profile, 1, "/bin/app", 0x100), 0);
	assert_int_equal(weight_at(profile, 2, "/bin/app", 0x100), 0);
	assert_int_equal(weight_at(profile, 1, "", 0x76fff), 1);
	assert_int_equal(weight_at(profile, 1, "/lib/one.so", 0), 7);
	portprof_profile_free(profile);
}

static void one_file_is_one_mapping(void **state)
{
	portprof_profile *profile;

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/lib/one.so", "\7");
	kit_module(&kit, 200, 0x70000, 0x1000, 0, "/lib/one.so", "\7");
	kit_module(&kit, 300, 0x30000, 0x1000, 0, "/lib/one.so", "\x8");
	kit_sample(&kit, 0, 100, 100, 0x10010, 1, 1);
	kit_sample(&kit, 0, 200, 200, 0x70010, 1, 2);
	kit_sample(&kit, 0, 300, 300, 0x30010, 1, 4);
	profile = finish();
	assert_int_equal(portprof_profile_mapping_count(profile), 2);
	assert_int_equal(portprof_profile_location_count(profile), 2);
	assert_int_equal(portprof_profile_mapping_get(profile, 0)->start,
	                 0x10000);
	assert_int_equal(leaf_weight(profile, "/lib/one.so", 0x10), 7);
	portprof_profile_free(profile);
}

/* What a just-in-time compiler makes is not the same in two processes. */
static void memory_without_a_file_is_not_shared(void **state)
{
	portprof_profile *profile;

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "//anon", "");
	kit_module(&kit, 200, 0x70000, 0x1000, 0, "//anon", "");
	kit_sample(&kit, 0, 100, 100, 0x10010, 1, 1);
	kit_sample(&kit, 0, 200, 200, 0x70010, 1, 2);
	profile = finish();
	assert_int_equal(portprof_profile_mapping_count(profile), 2);
	portprof_profile_free(profile);
}

static void a_new_module_retires_the_old(void **state)
{
	portprof_profile *profile;

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x4000, 0, "/lib/old.so", "");
	kit_sample(&kit, 0, 100, 100, 0x11010, 1, 1);
	kit_module(&kit, 100, 0x11000, 0x1000, 0, "/lib/new.so", "");
	kit_sample(&kit, 0, 100, 100, 0x11010, 1, 2);
	kit_sample(&kit, 0, 100, 100, 0x10010, 1, 4);
	kit_sample(&kit, 0, 100, 100, 0x12010, 1, 8);
	profile = finish();
	assert_int_equal(leaf_weight(profile, "/lib/old.so", 0x1010), 1);
	assert_int_equal(leaf_weight(profile, "/lib/new.so", 0x10), 2);
	assert_int_equal(leaf_weight(profile, "/lib/old.so", 0x10), 4);
	assert_int_equal(leaf_weight(profile, "/lib/old.so", 0x2010), 8);
	portprof_profile_free(profile);
}

static void told_twice_is_told_once(void **state)
{
	portprof_profile *profile;

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/lib/a.so", "\5");
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/lib/a.so", "");
	kit_sample(&kit, 0, 100, 100, 0x10010, 1, 1);
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/usr/lib/a.so", "\5");
	kit_sample(&kit, 0, 100, 100, 0x10010, 1, 1);
	profile = finish();
	assert_int_equal(portprof_profile_mapping_count(profile), 1);
	assert_int_equal(portprof_profile_sample_count(profile), 1);
	portprof_profile_free(profile);
}

static void a_child_begins_as_a_copy(void **state)
{
	portprof_profile *profile;

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/bin/app", "");
	kit_thread(&kit, 100, 100, "app", false);
	kit_fork(&kit, 200, 200, 100);
	kit_sample(&kit, 0, 200, 200, 0x10010, 1, 1);
	/* what the child maps is not the parent's */
	kit_module(&kit, 200, 0x20000, 0x1000, 0, "/lib/own.so", "");
	kit_sample(&kit, 0, 200, 200, 0x20010, 1, 2);
	kit_sample(&kit, 0, 100, 100, 0x20010, 1, 4);
	/* nor does the copy outlive an exec, though nothing lies over it */
	kit_thread(&kit, 200, 200, "other", true);
	kit_module(&kit, 200, 0x40000, 0x1000, 0, "/bin/other", "");
	kit_sample(&kit, 0, 200, 200, 0x10010, 1, 8);
	kit_sample(&kit, 0, 200, 200, 0x40010, 1, 16);
	profile = finish();
	assert_int_equal(leaf_weight(profile, "/bin/app", 0x10), 1);
	assert_int_equal(leaf_weight(profile, "/lib/own.so", 0x10), 2);
	assert_int_equal(leaf_weight(profile, "", 0x20010), 4);
	assert_int_equal(leaf_weight(profile, "", 0x10010), 8);
	assert_int_equal(leaf_weight(profile, "/bin/other", 0x10), 16);
	portprof_profile_free(profile);
}

/* The kernel that loads it may have a sample before. */
static void the_program_is_the_first_file(void **state)
{
	const uint64_t kernel = UINT64_C(0xffffffff81000000);
	portprof_profile *profile;

	(void)state;
	kit_module(&kit, 100, kernel, 0x100000, 0, "[kernel]", "");
	kit_sample(&kit, 0, 100, 100, kernel + 16, 1, 1);
	kit_thread(&kit, 100, 100, "app", true);
	kit_sample(&kit, 0, 100, 100, kernel + 32, 1, 1);
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/bin/app", "");
	kit_module(&kit, 100, 0x50000, 0x1000, 0, "/lib/one.so", "");
	kit_sample(&kit, 0, 100, 100, 0x50010, 1, 2);
	profile = finish();
	assert_string_equal(portprof_profile_mapping_get(profile, 0)->path,
	                    "/bin/app");
	assert_int_equal(leaf_weight(profile, "/lib/one.so", 0x10), 2);
	portprof_profile_free(profile);
}

/* Code is told of about once a second, so a sample in it may come first. */
static void a_module_may_come_after_its_samples(void **state)
{
	portprof_profile *profile;

	(void)state;
	kit_sample(&kit, 0, 100, 100, 0x10010, 1, 1);
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/lib/late.so", "");
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	kit_sample(&kit, 0, 100, 100, 0x90010, 1, 2);
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	profile = finish();
	assert_int_equal(leaf_weight(profile, "/lib/late.so", 0x10), 1);
	assert_int_equal(leaf_weight(profile, "", 0x90010), 2);
	portprof_profile_free(profile);
}

static void the_kernel_has_a_mapping(void **state)
{
	const uint64_t chain[3] = { 0xffffffff81000100, 0xffffffffc0001000,
		                    0x10011 };
	portprof_profile *profile;

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/bin/app", "");
	kit_module(&kit, UINT32_MAX, 0xffffffffc0000000, 0x4000, 0, "[net]",
	           "");
	kit_chain(&kit, 0, 100, 100, chain, 3, 1, 1);
	profile = finish();
	assert_true(kit_find_mapping(profile, "[kernel.kallsyms]") != SIZE_MAX);
	assert_int_equal(weight_at(profile, 1, "[net]", 0xfff), 1);
	assert_int_equal(weight_at(profile, 2, "/bin/app", 0x10), 1);
	portprof_profile_free(profile);
}

/* One row, be it of the program's process or with an address beside it. */
static void guests_are_one_location(void **state)
{
	portprof_record record = {
		.kind = PORTPROF_RECORD_SAMPLE,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID |
		         PORTPROF_FIELD_GUEST,
		.pid = 100, .tid = 100, .span = 1, .samples = 1, .weight = 5,
	};
	portprof_profile *profile;

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/bin/app", "");
	kit_add(&kit, &record);
	record.tid = 101;
	kit_add(&kit, &record);
	record.valid &= ~(uint32_t)PORTPROF_FIELD_GUEST;
	record.weight = 3;
	kit_add(&kit, &record);
	profile = finish();
	assert_int_equal(weight_at(profile, 0, "[guest]", 0), 10);
	assert_int_equal(portprof_profile_location_count(profile), 2);
	portprof_profile_free(profile);
}

static void the_program_is_the_first_mapping(void **state)
{
	portprof_profile *profile;

	(void)state;
	kit_module(&kit, 100, 0x70000, 0x1000, 0, "[vdso]", "");
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/bin/app", "");
	kit_module(&kit, 100, 0x20000, 0x1000, 0, "/lib/libc.so", "");
	kit_sample(&kit, 0, 100, 100, 0x20010, 1, 1);
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	profile = kit_read(&kit);
	assert_int_equal(kit_find_mapping(profile, "/bin/app"), 0);
	portprof_profile_free(profile);
	profile = finish();
	assert_int_equal(kit_find_mapping(profile, "/bin/app"), 0);
	assert_string_equal(portprof_profile_origin_get(profile)->command,
	                    "/bin/app");
	portprof_profile_free(profile);
}

static void records_without_a_process_are_the_targets(void **state)
{
	portprof_record record = { .kind = PORTPROF_RECORD_SAMPLE,
		                   .address = 0x10010, .span = 64,
		                   .samples = 3, .weight = 9 };
	portprof_profile *profile;
	const portprof_profile_sample *sample;

	(void)state;
	kit_module(&kit, 100, 0x10000, 0x1000, 0, "/bin/app", "");
	kit_add(&kit, &record);
	profile = finish();
	assert_int_equal(leaf_weight(profile, "/bin/app", 0x10), 9);
	sample = portprof_profile_sample_get(profile, 0);
	assert_int_equal(sample->pid, 100);
	assert_int_equal(sample->tid, 0);
	portprof_profile_free(profile);
}

static const char *name_of(const portprof_profile *profile, uint32_t tid)
{
	for (size_t i = 0; i < portprof_profile_thread_count(profile); i++) {
		const portprof_profile_thread *thread =
			portprof_profile_thread_get(profile, i);

		if (thread->tid == tid)
			return thread->name;
	}
	return NULL;
}

static void a_thread_goes_by_its_last_name(void **state)
{
	portprof_profile *profile;

	(void)state;
	kit_thread(&kit, 100, 100, "app", false);
	kit_fork(&kit, 100, 101, 100);
	kit_sample(&kit, 0, 100, 101, 0x10010, 1, 1);
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	kit_thread(&kit, 100, 101, "worker \xff", false);
	kit_sample(&kit, 0, 100, 101, 0x10010, 1, 1);
	kit_sample(&kit, 0, 100, 102, 0x10010, 1, 1);
	profile = finish();
	assert_string_equal(name_of(profile, 100), "app");
	assert_string_equal(name_of(profile, 101), "worker ?");
	assert_string_equal(name_of(profile, 102), "");
	portprof_profile_free(profile);
}

static uint64_t weight_of_name(const portprof_profile *profile,
                               const char *name)
{
	const portprof_profile_sample *sample;
	uint64_t weight = 0;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++)
		if (strcmp(sample->thread_name, name) == 0)
			weight += sample->weights[0];
	return weight;
}

/* A shell forks and executes; the idle task has a name and no number. */
static void a_sample_has_the_name_that_its_thread_had(void **state)
{
	portprof_profile *profile, *again;
	char path[160];

	(void)state;
	kit_thread(&kit, 0, 0, "swapper", false);
	kit_thread(&kit, 100, 100, "sh", false);
	kit_sample(&kit, 0, 100, 100, 0x10010, 1, 10);
	kit_sample(&kit, 0, 0, 0, 0x10010, 1, 10000);
	kit_fork(&kit, 101, 101, 100);
	kit_thread(&kit, 101, 101, "sh", false);
	kit_sample(&kit, 0, 101, 101, 0x10010, 1, 1);
	kit_thread(&kit, 101, 101, "cc", true);
	kit_sample(&kit, 0, 101, 101, 0x10010, 1, 40);
	kit_sample(&kit, 0, 102, 102, 0x10010, 1, 100000);
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	kit_sample(&kit, 0, 101, 101, 0x10010, 1, 60);
	kit_thread(&kit, 101, 101, "cc1", true);
	kit_sample(&kit, 0, 101, 101, 0x10010, 1, 1000);
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	profile = kit_read(&kit);
	assert_int_equal(weight_of_name(profile, "cc"), 100);
	portprof_profile_free(profile);
	profile = finish();
	assert_int_equal(portprof_profile_sample_count(profile), 6);
	assert_string_equal(name_of(profile, 101), "cc1");
	assert_int_equal(weight_of_name(profile, "sh"), 11);
	assert_int_equal(weight_of_name(profile, "cc"), 100);
	assert_int_equal(weight_of_name(profile, "cc1"), 1000);
	assert_int_equal(weight_of_name(profile, "swapper"), 10000);
	assert_int_equal(weight_of_name(profile, ""), 100000);
	/* written anew and merged */
	snprintf(path, sizeof(path), "%s/again", kit.folder);
	assert_int_equal(portprof_profile_write(profile, path), PORTPROF_OK);
	assert_int_equal(portprof_profile_read(path, 0, &again), PORTPROF_OK);
	kit_assert_same(profile, again);
	assert_int_equal(portprof_profile_merge(again, profile), PORTPROF_OK);
	assert_int_equal(portprof_profile_sample_count(again), 6);
	assert_int_equal(weight_of_name(again, "cc"), 200);
	assert_int_equal(weight_of_name(again, "swapper"), 20000);
	portprof_profile_free(profile);
	portprof_profile_free(again);
}

/* A program may name its thread after each request. */
static void names_of_requests_are_bounded(void **state)
{
	portprof_profile *profile;
	const portprof_profile_origin *origin;
	uint64_t others, kept = 0;
	bool is_told = false;
	char name[32];

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "request-%u", i);
		kit_thread(&kit, 100, 100, name, false);
		kit_sample(&kit, 0, 100, 100, 0x10010, 1, 1);
		kit_thread(&kit, 100, 100, "idle", false);
		kit_sample(&kit, 0, 100, 100, 0x10010, 1, 1);
	}
	kit_thread(&kit, 100, 101, "quiet", false);
	kit_sample(&kit, 0, 100, 101, 0x10010, 1, 7);
	profile = finish();
	others = weight_of_name(profile, "(other names)");
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "request-%u", i);
		kept += weight_of_name(profile, name);
	}
	assert_in_range(kept, 1, 64);
	assert_int_equal(kept + others, 1000);
	assert_int_equal(weight_of_name(profile, "idle"), 1000);
	assert_int_equal(weight_of_name(profile, "quiet"), 7);
	assert_true(portprof_profile_sample_count(profile) <= 67);
	assert_string_equal(name_of(profile, 100), "idle");
	snprintf(name, sizeof(name), "%u samples", (unsigned)others);
	origin = portprof_profile_origin_get(profile);
	for (size_t i = 0; i < origin->note_count; i++)
		is_told |= strncmp(origin->notes[i], name, strlen(name)) == 0;
	assert_true(is_told);
	portprof_profile_free(profile);
}

/* Backends within a process send no records of threads. */
static void a_thread_without_records_is_asked_for(void **state)
{
	const uint32_t pid = (uint32_t)getpid();
	portprof_profile *profile;
	const portprof_profile_thread *thread;
	char name[16] = "";

	(void)state;
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	kit_end(&kit);
	kit_begin(&kit, 1);
	kit.plan.target.is_self = true;
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	ppi_thread_set_name("nobody else");
	kit_sample(&kit, 0, pid, pid, 0x10, 1, 7);
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	/* and it may change its name */
	ppi_thread_set_name("another");
	kit_sample(&kit, 0, pid, pid, 0x20, 1, 7);
	profile = finish();
	assert_int_equal(portprof_profile_thread_count(profile), 1);
	thread = portprof_profile_thread_get(profile, 0);
	assert_int_equal(thread->pid, pid);
	assert_int_equal(thread->tid, pid);
	assert_int_equal(thread->owner, geteuid());
	if (ppi_thread_name(pid, pid, name, sizeof(name))) {
		assert_string_equal(name, "another");
		assert_string_equal(thread->name, "another");
		assert_true(thread->began_ns > 0);
		assert_true(thread->began_ns / 1000000000u <=
		            (uint64_t)time(NULL) + 1);
	}
	portprof_profile_free(profile);
}

/* Of the processes of a system most have no sample, and many have ended. */
static void who_has_samples_has_an_owner(void **state)
{
	const uint32_t pid = (uint32_t)getpid(), other = (uint32_t)getppid();
	const portprof_profile_thread *thread;
	portprof_profile *profile;
	char name[16] = "";

	(void)state;
	if (!ppi_thread_name(pid, pid, name, sizeof(name)))
		skip();
	kit_thread(&kit, pid, pid, "sampled", false);
	kit_thread(&kit, other, other, "idle", false);
	kit_fork(&kit, other, other, pid);
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	/* another thread's, and it is the process's all the same */
	kit_thread(&kit, pid, pid + 1, "worker", false);
	kit_sample(&kit, 0, pid, pid + 1, 0x10, 1, 7);
	profile = finish();
	for (size_t i = 0;
	     (thread = portprof_profile_thread_get(profile, i)) != NULL; i++) {
		bool is_known = thread->pid == pid && thread->tid == pid;

		assert_int_equal(thread->owner, is_known ? (int)geteuid() : -1);
		assert_int_equal(thread->began_ns > 0, is_known);
	}
	portprof_profile_free(profile);
}

/* More distinct samples than memory is kept for: the sink writes by itself,
 * and forgets locations that the file has. */
static void memory_is_bounded_and_nothing_lost(void **state)
{
	const uint64_t count = 280000;
	portprof_profile *profile;
	struct stat at;
	uint64_t sum = 0;

	(void)state;
	kit_module(&kit, 100, 0x1000000, 0x10000000, 0, "/bin/app", "");
	for (uint64_t i = 0; i < count; i++)
		kit_sample(&kit, 0, 100, 100, 0x1000000 + i, 1, i);
	kit_deliver(&kit);
	assert_int_equal(stat(kit.path, &at), 0);
	assert_true(at.st_size > 100000);
	assert_int_equal(kit.sink.stats.kept_samples, count);
	profile = finish();
	assert_int_equal(portprof_profile_sample_count(profile), count);
	for (size_t i = 0; i < count; i++)
		sum += portprof_profile_sample_get(profile, i)->weights[0];
	assert_int_equal(sum, count * (count - 1) / 2);
	portprof_profile_free(profile);
}

/* A sleeping program does not fill the disk. */
static void nothing_new_writes_nothing(void **state)
{
	struct stat before, after;

	(void)state;
	kit_sample(&kit, 0, 100, 100, 0x10010, 1, 1);
	assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	assert_int_equal(stat(kit.path, &before), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	assert_int_equal(stat(kit.path, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	portprof_profile_free(finish());
}

static void the_account_comes_back(void **state)
{
	portprof_profile *profile;
	const portprof_profile_event *event;
	const portprof_profile_origin *origin;

	(void)state;
	kit.stats[0].lost_samples = 3;
	kit.stats[0].unattributed_weight = 17;
	kit.stats[0].granted_hz = 997.5;
	kit_sample(&kit, 0, 100, 100, 0x10010, 1, 1000);
	profile = finish();
	event = portprof_profile_event_get(profile, 0);
	assert_string_equal(event->name, "task-clock");
	assert_string_equal(event->asked, "asked-task-clock");
	assert_string_equal(event->description, "what task-clock measures");
	assert_int_equal(event->unit, PORTPROF_UNIT_NANOSECONDS);
	assert_true(event->has_stats);
	assert_memory_equal(&event->stats, &kit.stats[0],
	                    sizeof(event->stats));
	origin = portprof_profile_origin_get(profile);
	assert_string_equal(origin->backend, "paper");
	assert_int_equal(origin->passed_over_count, 1);
	assert_string_equal(origin->passed_over_names[0], "perf");
	assert_string_equal(origin->passed_over_reasons[0],
	                    "not permitted here");
	assert_int_equal(origin->note_count, 1);
	assert_string_equal(origin->notes[0], "a note");
	assert_int_equal(origin->start_ns, 1700000000123456789u);
	assert_int_equal(origin->duration_ns, kit.run.duration_ns);
	portprof_profile_free(profile);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(equal_samples_are_one),
		CASE(portions_say_what_the_end_says),
		CASE(a_file_that_grows_is_read_by_pieces),
		CASE(a_file_that_is_replaced_is_read_anew),
		CASE(callers_are_looked_up_in_their_call),
		CASE(chains_end_where_nothing_is_mapped),
		CASE(one_file_is_one_mapping),
		CASE(memory_without_a_file_is_not_shared),
		CASE(a_new_module_retires_the_old),
		CASE(told_twice_is_told_once),
		CASE(a_child_begins_as_a_copy),
		CASE(the_program_is_the_first_file),
		CASE(a_module_may_come_after_its_samples),
		CASE(the_kernel_has_a_mapping),
		CASE(guests_are_one_location),
		CASE(the_program_is_the_first_mapping),
		CASE(records_without_a_process_are_the_targets),
		CASE(a_thread_goes_by_its_last_name),
		CASE(a_sample_has_the_name_that_its_thread_had),
		CASE(names_of_requests_are_bounded),
		CASE(a_thread_without_records_is_asked_for),
		CASE(who_has_samples_has_an_owner),
		CASE(memory_is_bounded_and_nothing_lost),
		CASE(nothing_new_writes_nothing),
		CASE(the_account_comes_back),
	};

	return cmocka_run_group_tests_name("file_writer", tests, NULL, NULL);
}
