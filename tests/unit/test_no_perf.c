/* SPDX-License-Identifier: MIT */
/*
 * What a user meets on a BSD, where there is neither perf nor a timer a thread:
 * which backend auto takes, and what is said of events that there are not.
 * Simulated kernels of the BSDs; perf, timer and solaris are not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "api/core/helper.h"
#include "backends/backend.h"
#include "tests/sim/itimer_sim.h"
#include "tests/unit/profil_kit.h"

static const char *const absent[] = { "perf", "timer", "solaris" };

static const struct kit_system *const systems[] = {
	&kit_freebsd, &kit_netbsd, &kit_openbsd, &kit_openbsd78, &kit_dragonfly,
};

enum { SYSTEMS_HERE = sizeof(systems) / sizeof(systems[0]) };

static void begin(const struct kit_system *system)
{
	kit_begin(system);
	itimer_sim_reset(ppi_helper_run_tasks);
	itimer_sim_be_netbsd();
	ppi_backend_set_kernel("itimer", &itimer_sim_kernel);
	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		ppi_backend_set_kernel(absent[i], ppi_no_kernel);
}

static void end(void)
{
	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		ppi_backend_set_kernel(absent[i], NULL);
	ppi_backend_set_kernel("itimer", NULL);
	ppi_backend_set_kernel("profil", NULL);
	psim_free(&seam.sim);
}

/* A word of its own: "itimer" is not "timer". */
static bool has_word(const char *text, const char *word)
{
	const char *at = text;

	while ((at = strstr(at, word))) {
		if (at == text || at[-1] == ' ' || at[-1] == '\'')
			return true;
		at++;
	}
	return false;
}

/* Whatever is refused, what other systems have is of no use here. */
static void check_words(const char *part)
{
	const char *words = portprof_last_diag()->words;

	if (part && !strstr(words, part))
		fail_msg("no '%s' in: %s", part, words);
	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		if (has_word(words, absent[i]))
			fail_msg("'%s' in: %s", absent[i], words);
}

static portprof_status open_event(const char *event,
                                  portprof_session **session)
{
	static uint64_t bins[64];
	const portprof_range region = { PSEAM_FUNCTION, 65536, 64, bins, 64 };
	portprof_config *config = portprof_config_new();
	portprof_status status;

	assert_int_equal(portprof_config_add_event(config, event), 0);
	assert_int_equal(portprof_config_add_histogram(
				 config, 0, &region, 1, PORTPROF_BINS_WEIGHT),
	                 0);
	status = portprof_session_open(config, session);
	portprof_config_free(config);
	return status;
}

static void a_name_that_there_is_not_gets_the_nearest(void **state)
{
	(void)state;
	for (size_t i = 0; i < SYSTEMS_HERE; i++) {
		portprof_session *session = NULL;

		begin(systems[i]);
		assert_int_equal(open_event("cpu-clokc", &session),
		                 PORTPROF_E_NOTFOUND);
		check_words("cpu-clock");
		assert_null(session);
		end();
	}
}

static void an_event_of_the_hardware_is_refused_as_such(void **state)
{
	(void)state;
	for (size_t i = 0; i < SYSTEMS_HERE; i++) {
		portprof_session *session = NULL;

		begin(systems[i]);
		assert_int_equal(open_event("cycles", &session),
		                 PORTPROF_E_UNSUPPORTED);
		/* the best that OpenBSD 7.8 has is not for this program */
		check_words(systems[i] == &kit_openbsd78 ? NULL : "cycles");
		assert_null(session);
		end();
	}
}

/* The kernel's profil() knows of no thread that it would favour; the timer
 * does. From OpenBSD 7.8 on there is the timer alone. */
static void auto_prefers_the_kernels_profil(void **state)
{
	(void)state;
	if (!ppi_backend_find("itimer"))
		skip();
	for (size_t i = 0; i < SYSTEMS_HERE; i++) {
		bool is_78 = systems[i] == &kit_openbsd78;
		portprof_session *session = NULL;

		begin(systems[i]);
		if (open_event("cpu-clock", &session))
			fail_msg("open: %s", portprof_last_diag()->words);
		assert_string_equal(portprof_session_backend(session),
		                    is_78 ? "itimer" : "profil");
		assert_int_equal((portprof_session_caps(session) &
		                  PORTPROF_CAP_FAIR) != 0, !is_78);
		assert_int_equal(portprof_session_close(session), 0);
		end();
	}
}

/* Where bins do not do, auto falls back to the timer and says why. */
static void auto_takes_the_timer_for_streams(void **state)
{
	(void)state;
	if (!ppi_backend_find("itimer"))
		skip();
	for (size_t i = 0; i < SYSTEMS_HERE; i++) {
		portprof_config *config = portprof_config_new();
		portprof_session *session = NULL;
		const char *name, *reason, *why = NULL;
		uint64_t pcs[16];

		begin(systems[i]);
		portprof_config_add_array(config, pcs, 16);
		if (portprof_session_open(config, &session))
			fail_msg("open: %s", portprof_last_diag()->words);
		portprof_config_free(config);
		assert_string_equal(portprof_session_backend(session),
		                    "itimer");
		for (size_t k = 0; portprof_session_passed_over(
					   session, k, &name, &reason) == 0;
		     k++)
			if (strcmp(name, "profil") == 0)
				why = reason;
		assert_non_null(why);
		assert_true(why[0] != '\0');
		assert_int_equal(portprof_session_close(session), 0);
		end();
	}
}

/* For lists and for doctor: what can be used, and why the rest cannot. */
static void backends_are_listed_with_their_reasons(void **state)
{
	(void)state;
	for (size_t i = 0; i < SYSTEMS_HERE; i++) {
		bool is_78 = systems[i] == &kit_openbsd78;

		begin(systems[i]);
		for (size_t k = 0; k < portprof_backend_count(); k++) {
			portprof_backend_info info = { .size = sizeof(info) };

			assert_int_equal(portprof_backend_info_get(k, &info),
			                 0);
			if (strcmp(info.name, "profil") == 0)
				assert_int_equal(info.is_usable, !is_78);
			for (size_t a = 0; a < 3; a++)
				if (strcmp(info.name, absent[a]) == 0)
					assert_false(info.is_usable);
			assert_true(info.is_usable || info.reason[0]);
		}
		end();
	}
}

static portprof_status open_partial(const char *first, const char *second)
{
	portprof_config *config = portprof_config_new();
	portprof_group *group = NULL;
	portprof_status status;

	assert_int_equal(portprof_config_set_backend(config, "rusage"), 0);
	assert_int_equal(portprof_config_add_event(config, first), 0);
	assert_int_equal(portprof_config_add_event(config, second), 0);
	assert_int_equal(portprof_config_set_number(config, "partial", 1), 0);
	/* what no counter can do */
	assert_int_equal(portprof_config_require(config, PORTPROF_CAP_CHAIN), 0);
	status = portprof_group_open_config(config, &group);
	portprof_config_free(config);
	assert_null(group);
	return status;
}

/* COUNT-6: a name that may be left out is not why the rest is refused. */
static void a_name_that_may_be_left_out_is_no_reason(void **state)
{
	(void)state;
	if (!ppi_backend_find("rusage"))
		skip();
	assert_int_equal(open_partial("task-clock", "no-such-event"),
	                 PORTPROF_E_UNSUPPORTED);
	assert_int_equal(open_partial("no-such-event", "task-clock"),
	                 PORTPROF_E_UNSUPPORTED);
	assert_int_equal(open_partial("no-such-event", "neither-this"),
	                 PORTPROF_E_NOTFOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_that_there_is_not_gets_the_nearest),
		cmocka_unit_test(an_event_of_the_hardware_is_refused_as_such),
		cmocka_unit_test(auto_prefers_the_kernels_profil),
		cmocka_unit_test(auto_takes_the_timer_for_streams),
		cmocka_unit_test(backends_are_listed_with_their_reasons),
		cmocka_unit_test(a_name_that_may_be_left_out_is_no_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
