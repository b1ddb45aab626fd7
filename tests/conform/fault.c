/* SPDX-License-Identifier: MIT */
/*
 * Every call of the kernel seam fails once, at its first, second, ... use,
 * with each errno that it can give, at every moment of a session's life.
 */
#include "tests/conform/conform.h"

#include <string.h>

enum { NTH_MAX = 40 };

/* A status that a failure may have, and its whole explanation. */
static void check_failure(portprof_status status)
{
	assert_in_range(-status, -PORTPROF_E_INVALID, -PORTPROF_E_FORMAT);
	assert_int_not_equal(status, PORTPROF_E_FORKED);
	cf_diag(status);
}

/*
 * A whole life. What fails is explained; what succeeded must add up. The
 * weights of a life that was cut short are not checked: its sums are.
 */
static void live(portprof_session **session)
{
	portprof_config *config = cf_config();
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_status status;
	struct cf_watch watch;

	cf_watch(config, &watch);
	status = cf_try_open(config, session);
	if (status) {
		check_failure(status);
		assert_null(*session);
		assert_int_equal(fixture.held(), 0);
		return;
	}
	fixture.thread_start(1);
	for (unsigned i = 0; i < 2; i++) {
		status = portprof_session_start(*session);
		if (status)
			check_failure(status);
		cf_burn(0, 0, 5 * CF_MS);
		fixture.thread_start(2);
		cf_burn(1, 1, 5 * CF_MS);
		cf_burn(2, 2, 5 * CF_MS);
		status = portprof_session_flush(*session);
		if (status)
			check_failure(status);
		fixture.thread_end(2);
		status = portprof_session_stop(*session);
		if (status)
			check_failure(status);
		status = portprof_session_stats(*session, 0, &stats);
		assert_int_equal(status, PORTPROF_OK);
		cf_stats(*session, 0);
	}
	fixture.thread_end(1);
}

static void give_up(portprof_session *session)
{
	if (!session)
		return;
	cf_forget(session);
	portprof_session_close(session); /* tells the first failure: any */
	assert_int_equal(fixture.held(), 0);
}

/* False when the call is not made nth times in a life. */
static bool sweep_one(size_t call, unsigned nth, unsigned variant,
                      bool *is_variant)
{
	portprof_session *session = NULL;
	bool happened;

	*is_variant = (fixture.fail)(call, nth, variant);
	if (!*is_variant)
		return false;
	live(&session);
	give_up(session);
	happened = fixture.fault_errno() != 0;
	cf_clean_up();
	cf_begin();
	return happened;
}

static void err_5_any_system_call_may_fail(void **state)
{
	size_t faults = 0;

	(void)state;
	if (!fixture.fail)
		cf_skip("needs a kernel whose calls can be made to fail");
	for (size_t call = 0; call < fixture.call_count(); call++) {
		for (unsigned nth = 1; nth <= NTH_MAX; nth++) {
			bool is_variant = true, happened = false;

			for (unsigned v = 0; is_variant; v++)
				happened |= sweep_one(call, nth, v,
				                      &is_variant);
			faults += happened;
			if (!happened)
				break;
		}
	}
	assert_true(faults > 0);
	print_message("%zu kinds of faults happened\n", faults);
}

/* After a fault in open, the next session of the same process works. */
static void err_5_next_session_works(void **state)
{
	(void)state;
	if (!fixture.fail)
		cf_skip("needs a kernel whose calls can be made to fail");
	for (size_t call = 0; call < fixture.call_count(); call++) {
		struct cf_program program = { .count = 0 };
		portprof_session *session = NULL;
		struct expect expect;

		if (!(fixture.fail)(call, 1, 0))
			continue;
		if (cf_try_open(cf_config(), &session) == PORTPROF_OK) {
			portprof_session_start(session);
			cf_burn(0, 0, 5 * CF_MS);
		}
		give_up(session);
		cf_clean_up();
		cf_begin();
		session = cf_open(cf_config());
		cf_start(session);
		cf_work(&program, 0, 0, 30 * CF_MS);
		cf_run(&program);
		cf_stop(session);
		expect = cf_expect(&program, CF_PERIOD_NS);
		cf_in_range(cf_stats(session, 0).kept_weight, expect.sampled,
		            "weight after a fault");
		cf_close(session);
	}
}

static portprof_status open_and_start(portprof_session **session)
{
	portprof_status status = cf_try_open(cf_config(), session);

	return status ? status : portprof_session_start(*session);
}

/* The errno that the kernel gave is told, not another. */
static void err_5_errno_is_told(void **state)
{
	size_t told = 0;

	(void)state;
	if (!fixture.fail)
		cf_skip("needs a kernel whose calls can be made to fail");
	for (size_t call = 0; call < fixture.call_count(); call++) {
		for (unsigned v = 0; (fixture.fail)(call, 1, v); v++) {
			portprof_session *session = NULL;
			portprof_status status = open_and_start(&session);

			if (status && fixture.fault_errno()) {
				told++;
				assert_int_equal(portprof_last_diag()->os_errno,
				                 fixture.fault_errno());
			}
			give_up(session);
			cf_clean_up();
			cf_begin();
		}
	}
	print_message("%zu refusals told an errno\n", told);
	assert_true(told > 0);
}

static const struct cf_case cases[] = {
	CF_LIFE(err_5_any_system_call_may_fail),
	CF_SAMPLES(err_5_next_session_works),
	CF_LIFE(err_5_errno_is_told),
};

CF_FAMILY(fault);
