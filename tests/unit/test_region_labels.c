/* SPDX-License-Identifier: MIT */
/* Regions by labels: exact on a simulated PMU, and in several threads on the real
 * kernel. */
#include "tests/unit/perf_run.h"
#include "tests/unit/region_case.h"

#include <portprof.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* "name{endpoint=/a,...} CALLS COUNT of THREADS" each. */
static char said[4096];

static int say(const portprof_region_info *info, void *has_count)
{
	size_t used = strlen(said);

	used += (size_t)snprintf(said + used, sizeof(said) - used, "%s{",
	                         info->name);
	for (size_t i = 0; i < info->label_count; i++)
		used += (size_t)snprintf(said + used, sizeof(said) - used,
		                         "%s%s=%s", i ? "," : "",
		                         info->labels[i].key,
		                         info->labels[i].value);
	used += (size_t)snprintf(said + used, sizeof(said) - used, "} %u",
	                         (unsigned)info->calls);
	if (has_count)
		used += (size_t)snprintf(
			said + used, sizeof(said) - used, " %u",
			(unsigned)(info->counts[0].raw / MS));
	snprintf(said + used, sizeof(said) - used, " of %u\n",
	         (unsigned)info->threads);
	return 0;
}

static void check_rows(int by, bool has_count, const char *expected)
{
	said[0] = '\0';
	assert_int_equal(portprof_regions_read(NULL, by, say,
	                                       has_count ? said : NULL),
	                 PORTPROF_OK);
	assert_string_equal(said, expected);
}

static const portprof_label_set *set_of(const char *endpoint)
{
	const portprof_label label = { "endpoint", endpoint };
	const portprof_label_set *set = portprof_label_set_new(&label, 1);

	assert_non_null(set);
	return set;
}

/* ---- on the simulated kernel ---- */

static int fresh(void **state)
{
	portprof_config *config = portprof_config_new();

	fresh_kernel(state);
	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, "cycles"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_regions_open(config, NULL), PORTPROF_OK);
	portprof_config_free(config);
	return 0;
}

static int nobody_is_in_a_set(void **state)
{
	portprof_label_leave(NULL);
	return nothing_is_held(state);
}

/* That one is entered later, or left, inside a call moves nothing. */
static void a_call_belongs_to_the_set_that_it_began_in(void **state)
{
	const portprof_label_set *cart = set_of("/cart");
	const portprof_label_set *search = set_of("/search");

	(void)state;
	begin("load");
	work(MS);
	end("load");
	portprof_label_enter(search);
	begin("load");
	portprof_label_enter(cart);
	work(2 * MS);
	end("load");
	begin("load");
	work(4 * MS);
	portprof_label_leave(NULL);
	end("load");
	portprof_label_enter(cart);
	begin("load");
	work(8 * MS);
	end("load");
	check_rows(PORTPROF_REGIONS_BY_LABELS, true,
	           "load{} 1 1 of 1\n"
	           "load{endpoint=/cart} 2 12 of 1\n"
	           "load{endpoint=/search} 1 2 of 1\n");
	check_rows(0, true, "load{} 4 15 of 1\n");
	check_rows(PORTPROF_REGIONS_BY_THREAD, true, "load{} 4 15 of 1\n");
	assert_int_equal(portprof_regions_read(NULL, 4, say, NULL),
	                 PORTPROF_E_INVALID);
}

/* Each call is one of its set, its events are the outermost's. */
static void recursion_counts_events_once(void **state)
{
	(void)state;
	portprof_label_enter(set_of("/cart"));
	begin("f");
	work(MS);
	portprof_label_enter(set_of("/search"));
	begin("f");
	work(2 * MS);
	end("f");
	end("f");
	check_rows(PORTPROF_REGIONS_BY_LABELS, true,
	           "f{endpoint=/cart} 1 3 of 1\n"
	           "f{endpoint=/search} 1 0 of 1\n");
}

/* However a thread came into a set, its labels are what counts. */
static void pushed_and_entered_are_one(void **state)
{
	(void)state;
	portprof_label_enter(set_of("/cart"));
	begin("f");
	work(MS);
	end("f");
	portprof_label_leave(NULL);
	assert_int_equal(portprof_label_push("endpoint", "/cart"), PORTPROF_OK);
	begin("f");
	work(2 * MS);
	end("f");
	assert_int_equal(portprof_label_push("tenant", "acme"), PORTPROF_OK);
	begin("f");
	work(4 * MS);
	end("f");
	portprof_label_pop();
	portprof_label_pop();
	check_rows(PORTPROF_REGIONS_BY_LABELS, true,
	           "f{endpoint=/cart} 2 3 of 1\n"
	           "f{endpoint=/cart,tenant=acme} 1 4 of 1\n");
}

static void many_sets_add_up(void **state)
{
	enum { SETS = 3000, TURNS = 2 };
	char name[16], *at = said;
	unsigned count = 0;

	(void)state;
	for (unsigned i = 0; i < TURNS * SETS; i++) {
		snprintf(name, sizeof(name), "/%u", i % SETS);
		portprof_label_enter(set_of(name));
		begin("f");
		end("f");
	}
	work(MS);
	check_rows(0, false, "f{} 6000 of 1\n");
	said[0] = '\0';
	assert_int_equal(portprof_regions_read(
		NULL, PORTPROF_REGIONS_BY_LABELS, say, NULL), PORTPROF_OK);
	for (; (at = strstr(at, "} 2 of 1\n")) != NULL; at++)
		count++;
	/* as many as there is room for here */
	assert_true(count > 100);
	assert_null(strstr(said, "(other)"));
}

/* ---- on the real one ---- */

enum { THREADS = 4, CALLS = 50 };

static void *serve(void *endpoint)
{
	const portprof_label_set *set = set_of(*(const char **)endpoint);

	for (unsigned i = 0; i < CALLS; i++) {
		PORTPROF_LABEL_SCOPE(set);
		begin("serve");
		end("serve");
	}
	return NULL;
}

static void threads_of_one_set_add_up(void **state)
{
	static const char *endpoints[] = { "/b", "/a", "/b", "/a" };
	pthread_t threads[THREADS];

	(void)state;
	/* so that it is the first */
	set_of("/a");
	if (portprof_regions_open(NULL, NULL) != PORTPROF_OK) {
		print_message("skip: %s\n", portprof_last_diag()->words);
		skip();
	}
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, serve,
		                                &endpoints[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	check_rows(PORTPROF_REGIONS_BY_LABELS, false,
	           "serve{endpoint=/a} 100 of 2\n"
	           "serve{endpoint=/b} 100 of 2\n");
	check_rows(0, false, "serve{} 200 of 4\n");
	said[0] = '\0';
	assert_int_equal(portprof_regions_read(
		NULL, PORTPROF_REGIONS_BY_LABELS | PORTPROF_REGIONS_BY_THREAD,
		say, NULL), PORTPROF_OK);
	assert_int_equal(strlen(said), 4 * strlen("serve{endpoint=/a} 50 of 1\n"));
	portprof_regions_close(NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, nobody_is_in_a_set)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_call_belongs_to_the_set_that_it_began_in),
		CASE(recursion_counts_events_once),
		CASE(pushed_and_entered_are_one),
		CASE(many_sets_add_up),
		cmocka_unit_test(threads_of_one_set_add_up),
	};

	return cmocka_run_group_tests_name("region_labels", tests, NULL, NULL);
}
