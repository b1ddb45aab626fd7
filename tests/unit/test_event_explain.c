/* SPDX-License-Identifier: MIT */
/* Event strings checked and explained through the public interface. */

#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <portprof.h>

static void check_tells_the_form_only(void **state)
{
	(void)state;
	assert_int_equal(
		portprof_event_look_up("no-such-event:u:freq=10", NULL, NULL),
		PORTPROF_OK);
	assert_int_equal(
		portprof_event_look_up("cpu-clock:u:freq=-5", NULL, NULL),
		PORTPROF_E_INVALID);
	assert_string_equal(portprof_last_diag()->words,
	                    "event 'cpu-clock:u:freq=-5', column 18: the value "
	                    "'-5' of freq is negative; give a number from 1 to "
	                    "1000000");
	assert_int_equal(portprof_last_diag()->status, PORTPROF_E_INVALID);
	assert_int_equal(portprof_event_look_up(NULL, NULL, NULL),
			 PORTPROF_E_INVALID);
}

static void explain_fills_what_the_caller_knows(void **state)
{
	struct {
		portprof_event_info info;
		unsigned char guard[16];
	} room;
	portprof_event_info full = { .size = sizeof(full) };
	char canonical[256];
	size_t half = offsetof(portprof_event_info, description);

	(void)state;
	assert_int_equal(portprof_event_try("cpu-clock@5000", "null", &full),
			 PORTPROF_OK);
	assert_int_equal(full.size, sizeof(full));
	assert_int_equal(full.unit, PORTPROF_UNIT_NANOSECONDS);
	assert_int_equal(full.period, 5000);
	assert_true(full.description[0] != '\0');
	snprintf(canonical, sizeof(canonical), "%s", full.canonical);
	memset(&room, 0x5a, sizeof(room));
	room.info.size = half;
	assert_int_equal(
		portprof_event_try("cpu-clock@5000", "null", &room.info),
		PORTPROF_OK);
	assert_int_equal(room.info.size, half);
	assert_string_equal(room.info.canonical, canonical);
	for (size_t i = half; i < sizeof(room); i++)
		assert_int_equal(((unsigned char *)&room)[i], 0x5a);
}

/* A string that names no rate is not described by one. */
static void rates_are_described_as_given(void **state)
{
	static const struct {
		const char *string, *end;
	} cases[] = {
		{ "task-clock", ", at the session's rate" },
		{ "task-clock:freq=99", ", 99 times a second" },
		{ "task-clock@5000", ", every 5000 ns" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		portprof_event_info info = { .size = sizeof(info) };
		const char *end;

		assert_int_equal(
			portprof_event_try(cases[i].string, "null", &info),
			PORTPROF_OK);
		end = strrchr(info.description, ',');
		assert_non_null(end);
		assert_string_equal(end, cases[i].end);
	}
}

static void explain_refuses_without_touching(void **state)
{
	portprof_event_info info, before;

	(void)state;
	memset(&before, 0x5a, sizeof(before));
	before.size = sizeof(before);
	info = before;
	assert_int_equal(portprof_event_try("cpu-clock:", "null", &info),
			 PORTPROF_E_INVALID);
	assert_int_equal(portprof_event_try("cpu-clok", "null", &info),
			 PORTPROF_E_NOTFOUND);
	assert_non_null(strstr(portprof_last_diag()->words, "cpu-clock"));
	assert_int_equal(portprof_event_try("page-faults", "null", &info),
			 PORTPROF_E_UNSUPPORTED);
	assert_int_equal(portprof_event_try("cpu-clok", "auto", &info),
			 portprof_backend_count() > 1 ? PORTPROF_E_NOTFOUND
						      : PORTPROF_E_UNSUPPORTED);
	assert_int_equal(portprof_event_try("cpu-clock", "nul", &info),
			 PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "'nul'; did you mean null"));
	assert_int_equal(portprof_event_try("cpu-clock", NULL, &info),
			 PORTPROF_E_INVALID);
	assert_memory_equal(&info, &before, sizeof(info));
	info.size = 3;
	assert_int_equal(portprof_event_try("cpu-clock", "null", &info),
			 PORTPROF_E_INVALID);
	assert_int_equal(portprof_event_try("cpu-clock", "null", NULL),
			 PORTPROF_E_INVALID);
}

/* The backends without a PMU behind them say which modifiers they lack. */
static void cpu_time_has_few_modifiers(void **state)
{
	static const char *const refused[] = {
		"cpu-clock:u", "cpu-clock:k", "cpu-clock:u:k:h",
		"cpu-clock:mg", "cpu-clock:mg:mh", "cpu-clock:precise=1",
		"cpu-clock:pinned", "cpu-clock:excl", "cpu-clock:cpu=0",
		"cpu-clock:hw_smpl", "cpu-clock:c=1",
	};
	portprof_event_info info = { .size = sizeof(info) };

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(portprof_event_try(refused[i], "null", &info),
				 PORTPROF_E_UNSUPPORTED);
	assert_int_equal(
		portprof_event_try("PERF::CPU_CLOCK:k=1:u@0x10", "null", &info),
		PORTPROF_OK);
	assert_string_equal(info.canonical, "cpu-clock:u:k:period=16");
}

/* The best backend that knows it, not the best that there is. */
static void auto_finds_one_that_knows(void **state)
{
	portprof_event_info info = { .size = sizeof(info) };

	(void)state;
	if (portprof_backend_count() < 2) {
		puts("skip: only the null backend is in this build");
		skip();
	}
	assert_int_equal(
		portprof_event_try("task-clock:freq=99", "auto", &info),
		PORTPROF_OK);
	assert_string_equal(info.canonical, "task-clock:freq=99");
	assert_int_equal(info.rate_hz, 99);
}

/* Whoever forks meanwhile has a child that can look events up (LIFE-27). */
static void *look_up_another(void *ignored)
{
	portprof_event_info info = { .size = sizeof(info) };

	(void)ignored;
	return portprof_event_look_up("task-clock:freq=99", "null", &info)
		       ? ignored : NULL;
}

/* The strings are the thread's own: no refusal, no form that is looked at, no
 * backend and no other thread takes them away. */
static void strings_last_until_the_next_event(void **state)
{
	portprof_event_info info = { .size = sizeof(info) };
	portprof_backend_info backend = { .size = sizeof(backend) };
	char before[256];
	pthread_t thread;
	void *answer;

	(void)state;
	assert_int_equal(portprof_event_look_up("cpu-clock@5000", "null",
						&info), PORTPROF_OK);
	snprintf(before, sizeof(before), "%s", info.canonical);
	assert_int_not_equal(portprof_event_try("no-such", "null", &info),
			     PORTPROF_OK);
	assert_int_equal(portprof_event_look_up("cs", NULL, NULL),
			 PORTPROF_OK);
	for (size_t i = 0; portprof_backend_info_get(i, &backend) ==
	                   PORTPROF_OK; i++)
		assert_non_null(backend.reason);
	assert_int_equal(pthread_create(&thread, NULL, look_up_another, before),
	                 0);
	pthread_join(thread, &answer);
	assert_null(answer);
	assert_string_equal(info.canonical, before);
	assert_true(info.description[0] && info.pmu && info.encoding);
	assert_int_equal(portprof_event_look_up(info.canonical, "null", &info),
	                 PORTPROF_OK);
	assert_string_equal(info.canonical, before);
}

static void *explain_always(void *is_over)
{
	portprof_event_info info = { .size = sizeof(info) };

	while (!atomic_load((atomic_bool *)is_over))
		portprof_event_try("no-such-event-at-all", "auto", &info);
	return NULL;
}

static void children_need_no_other_thread(void **state)
{
	portprof_event_info info = { .size = sizeof(info) };
	atomic_bool is_over = false;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, explain_always,
	                                &is_over), 0);
	for (int i = 0; i < 50; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			alarm(60); /* a hang */
			portprof_event_try("no-such-event", "auto", &info);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_tells_the_form_only),
		cmocka_unit_test(explain_fills_what_the_caller_knows),
		cmocka_unit_test(rates_are_described_as_given),
		cmocka_unit_test(strings_last_until_the_next_event),
		cmocka_unit_test(explain_refuses_without_touching),
		cmocka_unit_test(cpu_time_has_few_modifiers),
		cmocka_unit_test(auto_finds_one_that_knows),
		cmocka_unit_test(children_need_no_other_thread),
	};

	return cmocka_run_group_tests_name("event_explain", tests, NULL, NULL);
}
