/* SPDX-License-Identifier: MIT */
/* Conformance cases in which each allocation fails once, and then for good. */
#include "tests/conform/conform.h"
#include "tests/memory/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { ALLOCATIONS_MAX = 2000 };

/* A life in which the nth allocation fails. Configs are made outside: their
 * own failures are a case apart. True when there were so many. */
static bool live_with_failure(const portprof_config *config, unsigned nth,
                              bool for_good)
{
	portprof_session *session = NULL;
	portprof_status status;
	bool happened;

	alloc_fail(nth, for_good);
	status = portprof_session_open(config, &session);
	if (status == PORTPROF_OK) {
		status = portprof_session_start(session);
		if (status == PORTPROF_OK) {
			cf_burn(0, 0, 2 * CF_MS);
			portprof_session_flush(session);
			portprof_session_stop(session);
		}
		portprof_session_close(session);
	}
	happened = alloc_reset();
	if (happened && !session) {
		if (status != PORTPROF_E_NOMEM)
			fail_msg("allocation %u: %s: %s: %s", nth,
			         portprof_status_name(status),
			         portprof_last_diag()->step,
			         portprof_last_diag()->words);
		assert_int_equal(status, PORTPROF_E_NOMEM);
		cf_diag(PORTPROF_E_NOMEM);
	}
	assert_int_equal(fixture.held(), 0);
	return happened;
}

static portprof_config *some_config(void)
{
	portprof_config *config = cf_config();
	struct cf_watch *watch = cf_memory(sizeof(*watch));

	cf_watch(config, watch);
	assert_int_equal(portprof_config_add_event(config,
	                                           "cpu-clock:freq=1000"),
	                 PORTPROF_OK);
	return config;
}

static void err_6_any_allocation_may_fail(void **state)
{
	portprof_config *config;
	unsigned nth = 1;

	(void)state;
	if (!alloc_can_fail())
		cf_skip("malloc cannot be wrapped here, or not without libc's own calls");
	config = some_config();
	while (nth < ALLOCATIONS_MAX && live_with_failure(config, nth, false))
		nth++;
	assert_in_range(nth, 2, ALLOCATIONS_MAX - 1);
	print_message("%u allocations failed one by one\n", nth - 1);
	nth = 1;
	while (nth < ALLOCATIONS_MAX && live_with_failure(config, nth, true))
		nth++;
	assert_in_range(nth, 2, ALLOCATIONS_MAX - 1);
}

/* Making and filling a config; what it held before the failure it holds. */
static bool configure_with_failure(unsigned nth)
{
	portprof_range region = { .offset = 0x400000, .scale = 65536,
		                   .bin_bits = 64, .bin_count = 4 };
	uint64_t bins[4] = { 0 };
	portprof_config *config;
	portprof_status status = PORTPROF_OK;

	region.bins = bins;
	alloc_fail(nth, false);
	config = portprof_config_new();
	if (config)
		status = portprof_config_add_event(config, "cpu-clock");
	if (config && status == PORTPROF_OK)
		status = portprof_config_add_event(config, "task-clock@100");
	if (config && status == PORTPROF_OK)
		status = portprof_config_add_histogram(config, 0, &region, 1,
		                                       PORTPROF_BINS_TICKS);
	if (!alloc_reset()) {
		portprof_config_free(config);
		return false;
	}
	if (config)
		assert_int_equal(status, PORTPROF_E_NOMEM);
	portprof_config_free(config);
	return true;
}

static void err_6_configs_survive_a_failure(void **state)
{
	unsigned nth = 1;

	(void)state;
	if (!alloc_can_fail())
		cf_skip("malloc cannot be wrapped here, or not without libc's own calls");
	while (nth < ALLOCATIONS_MAX && configure_with_failure(nth))
		nth++;
	assert_in_range(nth, 2, ALLOCATIONS_MAX - 1);
}

static const struct cf_case cases[] = {
	CF_LIFE(err_6_any_allocation_may_fail),
	CF_CASE(err_6_configs_survive_a_failure),
};

CF_FAMILY(memory);
