/* SPDX-License-Identifier: MIT */
/* Profile files when memory is out: every allocation fails once, and from
 * every one on. What is in the file, and what is counted, stays true. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/memory/alloc.h"
#include "tests/unit/file_kit.h"

static struct file_kit kit;

/* All kinds of records, some things for the first time in each portion. */
static void add_records(unsigned part)
{
	uint64_t chain[20];

	for (size_t i = 0; i < 20; i++)
		chain[i] = 0x10000 + 0x10 * i * (part + 1);
	kit_module(&kit, 100, 0x10000 + part * 0x4000, 0x2000, 0,
	           part ? "/lib/x.so" : "/bin/app", "\1\2");
	kit_fork(&kit, 200 + part, 200 + part, 100);
	kit_module(&kit, 200 + part, 0x30000, 0x1000, 0, "/lib/y.so", "");
	kit_thread(&kit, 100, 101 + part, "worker", false);
	for (unsigned i = 0; i < 40; i++) {
		kit_sample(&kit, 0, 100, 101, 0x10000 + 8 * i, 1, 3);
		kit_chain(&kit, 1, 200 + part, 200 + part, chain, 1 + i % 20,
		          2, 5);
	}
	kit_exit(&kit, 200 + part, 200 + part);
}

static uint64_t total_weight(const portprof_profile *profile)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++)
		for (size_t e = 0;
		     e < portprof_profile_event_count(profile); e++)
			sum += portprof_profile_sample_get(profile, i)
				       ->weights[e];
	return sum;
}

/* The file says what the sink says that it kept; nothing went unseen. */
static void assert_true_account(uint64_t delivered, bool is_complete)
{
	portprof_profile *profile;

	assert_int_equal(kit.sink.stats.kept_weight +
	                         kit.sink.stats.lost_weight,
	                 delivered);
	profile = kit_read(&kit);
	assert_null(portprof_profile_origin_get(profile)->damage);
	assert_int_equal(total_weight(profile), kit.sink.stats.kept_weight);
	assert_int_equal(portprof_profile_origin_get(profile)->is_complete,
	                 is_complete);
	portprof_profile_free(profile);
}

/* A session with the nth allocation failing. False when there were fewer. */
static bool write_session(unsigned nth, bool for_good)
{
	const uint64_t delivered = 3 * 40 * (3 + 5);
	struct ppi_diag why = { 0 };
	portprof_status status;
	bool failed;

	kit_begin(&kit, 2);
	alloc_fail(nth, for_good);
	status = kit_open(&kit, &why);
	if (status != PORTPROF_OK) {
		assert_true(alloc_reset());
		assert_int_equal(status, PORTPROF_E_NOMEM);
		assert_int_equal(why.status, PORTPROF_E_NOMEM);
		kit_end(&kit); /* fails when a file is left */
		return true;
	}
	for (unsigned part = 0; part < 3; part++) {
		add_records(part);
		kit_flush(&kit, &why);
	}
	status = kit_close(&kit, &why);
	failed = alloc_reset();
	assert_true(failed || status == PORTPROF_OK);
	if (status == PORTPROF_OK)
		assert_int_equal(kit.sink.stats.lost_samples, 0);
	else
		assert_int_equal(why.status, status);
	assert_true_account(delivered, status == PORTPROF_OK);
	kit_end(&kit);
	return failed;
}

static void a_session_survives_any_allocation(void **state)
{
	unsigned nth = 1;

	(void)state;
	while (write_session(nth, false))
		nth++;
	print_message("%u allocations failed one by one\n", nth - 1);
	assert_true(nth > 50);
	for (nth = 1; write_session(nth, true); nth += 3)
		;
}

static void store_session(void)
{
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	for (unsigned part = 0; part < 3; part++) {
		add_records(part);
		assert_int_equal(kit_flush(&kit, NULL), PORTPROF_OK);
	}
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
}

static void reading_survives_any_allocation(void **state)
{
	unsigned nth = 0;
	bool failed = true;

	(void)state;
	kit_begin(&kit, 2);
	store_session();
	while (failed) {
		portprof_profile *profile = NULL;
		portprof_status status;

		alloc_fail(++nth, false);
		status = portprof_profile_read(kit.path, 0, &profile);
		failed = alloc_reset();
		/* a table that cannot grow has room for what is in it */
		if (!failed || status != PORTPROF_OK)
			assert_int_equal(status, failed ? PORTPROF_E_NOMEM
			                                : PORTPROF_OK);
		assert_int_equal(profile != NULL, status == PORTPROF_OK);
		portprof_profile_free(profile);
	}
	assert_true(nth > 50);
	kit_end(&kit);
}

/* A merge that runs out of memory leaves a part, and a part that can be
 * walked and freed. */
static void merging_survives_any_allocation(void **state)
{
	portprof_profile *from;
	unsigned nth = 0;
	bool failed = true;

	(void)state;
	kit_begin(&kit, 2);
	store_session();
	from = kit_read(&kit);
	kit_end(&kit);
	/* another program: nothing of the first is there already */
	kit_begin(&kit, 2);
	assert_int_equal(kit_open(&kit, NULL), PORTPROF_OK);
	kit_sample(&kit, 0, 7, 7, 0x10, 1, 1);
	assert_int_equal(kit_close(&kit, NULL), PORTPROF_OK);
	while (failed) {
		portprof_profile *into = kit_read(&kit);
		portprof_status status;

		alloc_fail(++nth, false);
		status = portprof_profile_merge(into, from);
		failed = alloc_reset();
		/* a table that cannot grow has room for what is in it */
		if (!failed || status != PORTPROF_OK)
			assert_int_equal(status, failed ? PORTPROF_E_NOMEM
			                                : PORTPROF_OK);
		free(kit_text(into));
		assert_true(total_weight(into) <= 1 + total_weight(from));
		/* once there is memory, the same profile takes all of it */
		if (status != PORTPROF_OK)
			assert_int_equal(portprof_profile_merge(into, from),
			                 PORTPROF_OK);
		else
			assert_int_equal(total_weight(into),
			                 1 + total_weight(from));
		portprof_profile_free(into);
	}
	assert_true(nth > 20);
	portprof_profile_free(from);
	kit_end(&kit);
}

static void writing_survives_any_allocation(void **state)
{
	portprof_profile *profile;
	unsigned nth = 0;
	bool failed = true;

	(void)state;
	kit_begin(&kit, 2);
	store_session();
	profile = kit_read(&kit);
	kit_store(kit.path, "before", 6);
	while (failed) {
		portprof_status status;

		alloc_fail(++nth, false);
		status = portprof_profile_write(profile, kit.path);
		failed = alloc_reset();
		assert_int_equal(status, failed ? PORTPROF_E_NOMEM
		                                : PORTPROF_OK);
		if (failed) {
			size_t bytes;
			unsigned char *all = kit_load(kit.path, &bytes);

			assert_int_equal(bytes, 6);
			free(all);
		}
	}
	assert_true(nth > 8);
	portprof_profile_free(profile);
	portprof_profile_free(kit_read(&kit));
	kit_end(&kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_survives_any_allocation),
		cmocka_unit_test(reading_survives_any_allocation),
		cmocka_unit_test(merging_survives_any_allocation),
		cmocka_unit_test(writing_survives_any_allocation),
	};

	if (!alloc_can_fail()) {
		puts("skip: this linker cannot put a test before malloc");
		return 77;
	}
	return cmocka_run_group_tests_name("file_memory", tests, NULL, NULL);
}
