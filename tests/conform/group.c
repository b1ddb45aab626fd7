/* SPDX-License-Identifier: MIT */
/* Life of a group of counters: what it holds, and what of it may fail. */
#include "tests/conform/conform.h"
#include "tests/memory/alloc.h"

enum { NTH_MAX = 40, ALLOCATIONS_MAX = 2000 };

static portprof_config *one_event(void)
{
	portprof_config *config = cf_config();

	assert_int_equal(portprof_config_add_event(config, "task-clock"),
	                 PORTPROF_OK);
	return config;
}

/* Two where the backend counts two at once. */
static portprof_config *some_events(void)
{
	portprof_config *config = one_event();

	if (cf_has(PORTPROF_CAP_GROUP))
		assert_int_equal(portprof_config_add_event(config,
		                                           "page-faults"),
		                 PORTPROF_OK);
	return config;
}

static void life_7_closing_a_group_gives_back_everything(void **state)
{
	portprof_config *config = some_events();
	portprof_group *group;

	(void)state;
	cf_close_group(cf_group(config)); /* running */
	assert_int_equal(fixture.held(), 0);
	group = cf_group(config);
	cf_burn(0, 0, CF_MS);
	assert_int_equal(portprof_group_stop(group), PORTPROF_OK);
	cf_close_group(group); /* stopped */
	assert_int_equal(fixture.held(), 0);
	portprof_group_close(NULL);
}

static void life_4_a_group_starts_and_stops_twice(void **state)
{
	portprof_group *group = cf_group(one_event());
	portprof_count once, twice;
	uint64_t used;

	(void)state;
	assert_int_equal(portprof_group_start(group), PORTPROF_OK);
	used = cf_burn(0, 0, 50 * CF_MS);
	assert_int_equal(portprof_group_stop(group), PORTPROF_OK);
	once = cf_read(group);
	assert_true(once.raw + cf_slack(used) >= used);
	cf_burn(0, 0, 20 * CF_MS);
	assert_int_equal(portprof_group_stop(group), PORTPROF_OK);
	twice = cf_read(group);
	assert_int_equal(twice.raw, once.raw);
	assert_int_equal(twice.enabled_ns, once.enabled_ns);
	cf_close_group(group);
}

static void life_21_a_thousand_groups(void **state)
{
	portprof_config *config = some_events();

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		cf_close_group(cf_group(config));
	assert_int_equal(fixture.held(), 0);
}

static void life_21_a_group_starts_a_thousand_times(void **state)
{
	portprof_group *group = cf_group(some_events());
	size_t held = fixture.held();

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(portprof_group_stop(group), PORTPROF_OK);
		assert_int_equal(portprof_group_start(group), PORTPROF_OK);
	}
	assert_int_equal(fixture.held(), held);
	cf_close_group(group);
}

/* ---- calls of the kernel fail ---- */

/* A failure has a whole explanation. */
static void check(portprof_status status)
{
	if (status == PORTPROF_OK)
		return;
	assert_in_range(-status, -PORTPROF_E_INVALID, -PORTPROF_E_FORMAT);
	assert_int_not_equal(status, PORTPROF_E_FORKED);
	cf_diag(status);
}

/* A value of CPU time never goes back, has all that was spent while counting
 * was on, and nothing that was not spent. */
struct bounds {
	uint64_t last, owed, spent;
};

static void work(struct bounds *bounds, unsigned thread, bool is_on)
{
	uint64_t used = cf_burn(thread, 0, 5 * CF_MS);

	bounds->spent += used;
	bounds->owed += is_on ? used : 0;
}

static void see(struct bounds *bounds, portprof_status status,
                const portprof_count *count)
{
	check(status);
	if (status)
		return;
	assert_true(count->raw >= bounds->last);
	assert_true(count->raw + cf_slack(bounds->spent) >= bounds->owed);
	assert_true(count->raw <= bounds->spent + cf_slack(bounds->spent));
	bounds->last = count->raw;
}

/* A whole life. A value is read or refused. */
static portprof_status live(const portprof_config *config, bool by_thread)
{
	portprof_group *group = NULL;
	portprof_count count;
	portprof_status status;
	struct bounds bounds = { .last = 0 };
	bool is_on = true;

	cf_burn(0, 0, 3 * CF_MS); /* no clock is at 0 when counting begins */
	status = cf_try_group(config, &group);
	check(status);
	if (status) {
		assert_null(group);
		assert_int_equal(fixture.held(), 0);
		return status;
	}
	fixture.thread_start(1);
	for (unsigned i = 0; i < 3; i++) {
		unsigned thread = by_thread ? 0 : i % 2;

		work(&bounds, thread, is_on);
		see(&bounds, portprof_group_read(group, &count, 1), &count);
		see(&bounds, portprof_group_event_read(group, 0, &count),
		    &count);
		work(&bounds, thread, is_on); /* which stop has to see */
		check(portprof_group_stop(group));
		status = portprof_group_start(group);
		check(status);
		is_on = status == PORTPROF_OK;
	}
	if (portprof_group_reset(group) == PORTPROF_OK)
		bounds = (struct bounds){ .last = 0 };
	see(&bounds, portprof_group_read(group, &count, 1), &count);
	fixture.thread_end(1);
	cf_close_group(group);
	assert_int_equal(fixture.held(), 0);
	return PORTPROF_OK;
}

/* False when the call is not made nth times in a life. */
static bool sweep_one(size_t call, unsigned nth, unsigned variant,
                      bool by_thread, bool *is_variant)
{
	portprof_config *config;
	bool happened;

	*is_variant = (fixture.fail)(call, nth, variant);
	if (!*is_variant)
		return false;
	config = some_events();
	if (by_thread)
		assert_int_equal(portprof_config_set_target(
					 config, PORTPROF_TARGET_THREAD, 0),
				 PORTPROF_OK);
	live(config, by_thread);
	happened = fixture.fault_errno() != 0;
	cf_clean_up();
	cf_begin();
	return happened;
}

static size_t sweep(bool by_thread)
{
	size_t faults = 0;

	for (size_t call = 0; call < fixture.call_count(); call++) {
		for (unsigned nth = 1; nth <= NTH_MAX; nth++) {
			bool is_variant = true, happened = false;

			for (unsigned v = 0; is_variant; v++)
				happened |= sweep_one(call, nth, v, by_thread,
				                      &is_variant);
			faults += happened;
			if (!happened)
				break;
		}
	}
	return faults;
}

static void err_5_any_system_call_of_counting_may_fail(void **state)
{
	size_t faults;

	(void)state;
	if (!fixture.fail)
		cf_skip("needs a kernel whose calls can be made to fail");
	faults = sweep(false);
	if (cf_has(PORTPROF_CAP_THREAD))
		faults += sweep(true);
	assert_true(faults > 0);
	print_message("%zu kinds of faults happened\n", faults);
}

/* After a fault the next group of the same process counts. */
static void err_5_next_group_works(void **state)
{
	(void)state;
	if (!fixture.fail)
		cf_skip("needs a kernel whose calls can be made to fail");
	for (size_t call = 0; call < fixture.call_count(); call++) {
		portprof_group *group;
		uint64_t used, before;

		if (!(fixture.fail)(call, 1, 0))
			continue;
		live(some_events(), false);
		cf_clean_up();
		cf_begin();
		group = cf_group(one_event());
		before = cf_read(group).raw;
		used = cf_burn(0, 0, 50 * CF_MS);
		assert_true(cf_read(group).raw - before + cf_slack(used) >= used);
		cf_close_group(group);
	}
}

/* The errno that the kernel gave is told, at open as at each reading. */
static void err_5_errno_of_counting_is_told(void **state)
{
	size_t told = 0;

	(void)state;
	if (!fixture.fail)
		cf_skip("needs a kernel whose calls can be made to fail");
	for (size_t call = 0; call < fixture.call_count(); call++) {
		for (unsigned v = 0; (fixture.fail)(call, 1, v); v++) {
			portprof_status status = live(some_events(), false);

			if (status && fixture.fault_errno()) {
				told++;
				assert_int_equal(portprof_last_diag()->os_errno,
				                 fixture.fault_errno());
			}
			cf_clean_up();
			cf_begin();
		}
	}
	print_message("%zu refusals told an errno\n", told);
	assert_true(told > 0);
}

/* ---- allocations fail ---- */

static bool live_with_failure(const portprof_config *config, unsigned nth,
                              bool for_good)
{
	portprof_group *group = NULL;
	portprof_status status;
	portprof_count count;
	bool happened;

	alloc_fail(nth, for_good);
	status = portprof_group_open_config(config, &group);
	if (status == PORTPROF_OK) {
		portprof_group_read(group, &count, 1);
		portprof_group_reset(group);
		portprof_group_close(group);
	}
	happened = alloc_reset();
	if (happened && !group) {
		assert_int_equal(status, PORTPROF_E_NOMEM);
		cf_diag(PORTPROF_E_NOMEM);
	}
	assert_int_equal(fixture.held(), 0);
	return happened;
}

static void err_6_any_allocation_of_counting_may_fail(void **state)
{
	portprof_config *config;

	(void)state;
	if (!alloc_can_fail())
		cf_skip("malloc cannot be wrapped here, or not without libc's own calls");
	config = some_events();
	for (unsigned for_good = 0; for_good < 2; for_good++) {
		unsigned nth = 1;

		while (nth < ALLOCATIONS_MAX &&
		       live_with_failure(config, nth, for_good))
			nth++;
		assert_in_range(nth, 2, ALLOCATIONS_MAX - 1);
	}
}

static const struct cf_case cases[] = {
	CF_COUNTS(life_4_a_group_starts_and_stops_twice),
	CF_GROUPS(life_7_closing_a_group_gives_back_everything),
	CF_GROUPS(life_21_a_thousand_groups),
	CF_GROUPS(life_21_a_group_starts_a_thousand_times),
	CF_GROUPS(err_5_any_system_call_of_counting_may_fail),
	CF_COUNTS(err_5_next_group_works),
	CF_GROUPS(err_5_errno_of_counting_is_told),
	CF_GROUPS(err_6_any_allocation_of_counting_may_fail),
};

CF_FAMILY(group);
