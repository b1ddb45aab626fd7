/* SPDX-License-Identifier: MIT */
/* Threads that come and go, code that comes and goes, calls from many. */
#include "tests/conform/conform.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static void life_13_threads_come_and_go(void **state)
{
	portprof_session *session = cf_open(cf_config());
	uint64_t used = 0;
	portprof_stats stats;

	(void)state;
	fixture.thread_start(1);
	cf_start(session);
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned t = 2; t < 8; t++)
			fixture.thread_start(t);
		for (unsigned t = 1; t < 8; t++)
			used += cf_burn(t, t % FX_FUNCTIONS, 2 * CF_MS);
		for (unsigned t = 2; t < 8; t++)
			fixture.thread_end(t);
		if (round % 3 == 0)
			assert_int_equal(portprof_session_flush(session),
			                 PORTPROF_OK);
	}
	cf_stop(session);
	stats = cf_stats(session, 0);
	assert_true(stats.total_weight >= used - used / 20);
	if (fixture.is_exact)
		assert_int_equal(stats.total_weight, used);
	fixture.thread_end(1);
	cf_close(session);
}

static void life_13_all_threads_at_once(void **state)
{
	portprof_session *session = cf_open(cf_config());
	struct cf_program program = { .count = 0 };
	struct expect expect;
	uint64_t starting;

	(void)state;
	cf_start(session);
	starting = cf_process_time();
	for (unsigned t = 1; t < FX_THREADS; t++)
		fixture.thread_start(t);
	starting = cf_process_time() - starting;
	for (unsigned t = 1; t < FX_THREADS; t++)
		cf_work(&program, t, t % FX_FUNCTIONS, 4 * CF_MS);
	cf_run(&program);
	for (unsigned t = 1; t < FX_THREADS; t++)
		fixture.thread_end(t);
	cf_stop(session);
	expect = cf_expect(&program, CF_PERIOD_NS);
	expect.sampled.high += 2 * starting; /* and ending */
	assert_true(cf_stats(session, 0).total_weight >=
	            expect.total - expect.total / 20);
	cf_in_range(cf_stats(session, 0).kept_weight, expect.sampled,
	            "weight");
	cf_close(session);
}

/* Present on most systems, needed by nothing here. */
static void *open_some_library(void)
{
	static const char *const names[] = { "libz.so.1", "libm.so.6",
		                             "libresolv.so.2", "libutil.so.1",
		                             "libz.so", "libm.so" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);

		if (library)
			return library;
	}
	return NULL;
}

static void *load_and_unload(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 200; i++) {
		void *library = open_some_library();

		if (library)
			dlclose(library);
	}
	return NULL;
}

static void count_modules(const portprof_batch *batch, void *count)
{
	for (size_t i = 0; i < batch->count; i++)
		*(size_t *)count += portprof_batch_record(batch, i)->kind ==
		                    PORTPROF_RECORD_MODULE;
}

static void life_14_code_comes_and_goes(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	size_t modules = 0;
	pthread_t loader;

	(void)state;
	if (cf_has(PORTPROF_CAP_WHOLE_SPACE))
		assert_int_equal(portprof_config_add_callback(config,
			count_modules, &modules), PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	assert_int_equal(pthread_create(&loader, NULL, load_and_unload, NULL),
	                 0);
	for (unsigned i = 0; i < 20; i++) {
		cf_burn(0, i % FX_FUNCTIONS, 2 * CF_MS);
		assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	}
	pthread_join(loader, NULL);
	cf_stop(session);
	if (cf_has(PORTPROF_CAP_WHOLE_SPACE))
		assert_true(modules > 0);
	cf_stats(session, 0);
	cf_close(session);
}

/* ---- many callers ---- */

enum { CALLERS = 4, CALLS = 100 };

struct caller {
	portprof_session *session;
	unsigned seed;
	portprof_status bad; /* the first status that is not to be had */
};

static portprof_status call_something(portprof_session *session,
                                      unsigned which)
{
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_status status;

	switch (which % 5) {
	case 0:
		return portprof_session_start(session);
	case 1:
		return portprof_session_stop(session);
	case 2:
		return portprof_session_flush(session);
	case 3:
		status = portprof_session_reset(session);
		return status == PORTPROF_E_STATE ? PORTPROF_OK : status;
	default:
		status = portprof_session_stats(session, 0, &stats);
		if (stats.delivered_samples !=
		    stats.kept_samples + stats.outside_samples +
		            stats.lost_samples)
			return PORTPROF_E_FORMAT;
		return status;
	}
}

static void *call_around(void *context)
{
	struct caller *caller = context;

	for (unsigned i = 0; i < CALLS; i++) {
		portprof_status status;

		caller->seed = caller->seed * 1103515245u + 12345u;
		status = call_something(caller->session, caller->seed >> 16);
		if (status && caller->bad == PORTPROF_OK)
			caller->bad = status;
	}
	return NULL;
}

static void life_20_calls_from_many_threads(void **state)
{
	struct caller callers[CALLERS];
	portprof_session *session = cf_open(cf_config());
	pthread_t threads[CALLERS];

	(void)state;
	for (unsigned i = 0; i < CALLERS; i++) {
		callers[i] = (struct caller){ session, i + 1, PORTPROF_OK };
		assert_int_equal(pthread_create(&threads[i], NULL,
		                                call_around, &callers[i]), 0);
	}
	for (unsigned i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < CALLERS; i++)
		if (callers[i].bad)
			fail_msg("%s", portprof_status_name(callers[i].bad));
	cf_stop(session);
	cf_stats(session, 0);
	cf_close(session);
}

static void *open_start_burn_close(void *context)
{
	struct caller *caller = context;
	portprof_config *config = portprof_config_new();
	portprof_session *session = NULL;

	portprof_config_set_backend(config, fixture.backend);
	for (unsigned i = 0; i < 20 && caller->bad == PORTPROF_OK; i++) {
		caller->bad = portprof_session_open(config, &session);
		if (caller->bad)
			break;
		caller->bad = portprof_session_start(session);
		portprof_session_close(session);
	}
	portprof_config_free(config);
	return NULL;
}

/* Sessions of their own: where only one can be, the others get BUSY. */
static void life_20_sessions_of_many_threads(void **state)
{
	struct caller callers[CALLERS];
	pthread_t threads[CALLERS];
	bool is_exclusive = cf_has(PORTPROF_CAP_EXCLUSIVE);

	(void)state;
	/* a simulated kernel is entered by one thread at a time */
	cf_needs_real();
	for (unsigned i = 0; i < CALLERS; i++) {
		callers[i] = (struct caller){ NULL, i + 1, PORTPROF_OK };
		assert_int_equal(pthread_create(&threads[i], NULL,
		                                open_start_burn_close,
		                                &callers[i]), 0);
	}
	for (unsigned i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < CALLERS; i++)
		if (callers[i].bad &&
		    !(is_exclusive && callers[i].bad == PORTPROF_E_BUSY))
			fail_msg("%s", portprof_status_name(callers[i].bad));
}

static const struct cf_case cases[] = {
	CF_SAMPLES(life_13_threads_come_and_go),
	CF_SAMPLES(life_13_all_threads_at_once),
	CF_LIFE(life_14_code_comes_and_goes),
	CF_LIFE(life_20_calls_from_many_threads),
	CF_LIFE(life_20_sessions_of_many_threads),
};

CF_FAMILY(thread);
