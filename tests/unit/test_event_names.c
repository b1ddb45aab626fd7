/* SPDX-License-Identifier: MIT */
/*
 * Event names resolved on Linux, by tables. Built twice: with libpfm4, and
 * with PPI_WITHOUT_LIBPFM4 to see that the generic names do without.
 */

#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <pthread.h>

#include <cmocka.h>

#if defined HAVE_LIBPFM4 && !defined PPI_WITHOUT_LIBPFM4
#include <perfmon/pfmlib.h>
#endif

#include "api/core/event.h"
#include "backends/perf/events/perf_request.h"
#include "backends/perf/events/perf_tables.h"
#include <errno.h>

#include "table.h"

static portprof_status resolve(const char *string, enum ppi_mode mode,
                               struct ppi_event *event, struct ppi_diag *why)
{
	struct ppi_event_request request;
	struct perf_request asked;
	portprof_status status = ppi_event_parse(string, &request, why);

	if (status == PORTPROF_OK)
		status = ppi_perf_request_read(&request, &asked, why);
	return status ? status : ppi_perf_resolve(&asked, mode, event, why);
}

/* Must be the first case: nothing has asked libpfm4 for anything yet. */
static void cpu_time_does_not_wake_libpfm4(void **state)
{
	struct ppi_event event;
	struct ppi_diag why;

	(void)state;
	assert_int_equal(resolve("task-clock:u:freq=100", PPI_SAMPLE, &event,
	                         &why), PORTPROF_OK);
#if defined HAVE_LIBPFM4 && !defined PPI_WITHOUT_LIBPFM4
	assert_int_equal(pfm_find_event("perf::cycles"), PFM_ERR_NOINIT);
#endif
}

static void *resolve_many(void *failures)
{
	static const char *const strings[] = {
		"cycles:u", "perf_raw::r1a8:hw_smpl", "instructons", "cs",
		"L1-dcache-loads:k", "no::SUCH", "cycles:uk",
	};
	struct ppi_event event;
	struct ppi_diag why;

	for (unsigned i = 0; i < 140; i++) {
		const char *string = strings[i % 7];
		bool is_right = i % 7 != 2 && i % 7 < 5;
		portprof_status status = resolve(string, PPI_COUNT, &event,
		                                 &why);

		/* a raw code's modifier is libpfm4's affair */
		if (i % 7 != 1 && (status == PORTPROF_OK) != is_right)
			++*(int *)failures;
	}
	return NULL;
}

static void threads_may_resolve_at_once(void **state)
{
	pthread_t threads[4];
	int failures[4] = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
		                                resolve_many, &failures[i]),
		                 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(failures[i], 0);
	}
}

static void generic_names_resolve_everywhere(void **state)
{
	struct ppi_event event, again;
	struct ppi_diag why;
	struct table table;

	(void)state;
	assert_int_equal(table_open(&table, "events-known.txt"), 0);
	while (table_next(&table)) {
		uint64_t config = strtoull(table.field[2], NULL, 16);
		uint32_t type = (uint32_t)strtoul(table.field[1], NULL, 10);
		bool is_time = type == 1 && config < 2;

		table_check(&table, resolve(table.field[0], PPI_SAMPLE, &event,
		                            &why) == PORTPROF_OK,
		            "%s", why.words);
		table_check(&table, perf_own(&event)->type == type &&
		            perf_own(&event)->config[0] == config &&
		            perf_own(&event)->config[1] == 0,
		            "it is type %u, config 0x%llx",
		            perf_own(&event)->type,
		            (unsigned long long)perf_own(&event)->config[0]);
		table_check(&table, event.is_cpu_time == is_time &&
		            (event.unit == PORTPROF_UNIT_NANOSECONDS) ==
		            is_time, "its unit is %d", (int)event.unit);
		table_check(&table,
		            strcmp(event.canonical, table.field[3]) == 0,
		            "its canonical form is %s", event.canonical);
		table_check(&table, resolve(event.canonical, PPI_SAMPLE,
		                            &again, &why) == PORTPROF_OK &&
		            perf_own(&again)->type == type &&
		            perf_own(&again)->config[0] == config &&
		            again.counts_user == event.counts_user &&
		            again.counts_kernel == event.counts_kernel,
		            "its canonical form means something else");
	}
}

static void modifiers_of_perf(void **state)
{
	struct ppi_event_request request;
	struct perf_request asked, again;
	struct ppi_diag why;
	struct table table;
	char text[256];

	(void)state;
	assert_int_equal(table_open(&table, "events-perf-good.txt"), 0);
	while (table_next(&table)) {
		const char *string = table.field[0];

		assert_int_equal(ppi_event_parse(string, &request, &why),
		                 PORTPROF_OK);
		table_check(&table,
		            ppi_perf_request_read(&request, &asked, &why) ==
		            PORTPROF_OK, "%s", why.words);
		table_check(&table,
		            strcmp(asked.core.name, table.field[2]) == 0,
		            "its name is '%s'", asked.core.name);
		table_check(&table,
		            ppi_perf_request_format(&asked.core, &asked.asked,
		                                    asked.core.name, text,
		                                    sizeof(text)) &&
		            strcmp(text, table.field[1]) == 0,
		            "its canonical form is '%s'", text);
		assert_int_equal(ppi_event_parse(text, &request, &why),
		                 PORTPROF_OK);
		table_check(&table,
		            ppi_perf_request_read(&request, &again, &why) ==
		            PORTPROF_OK, "%s", why.words);
		table_check(&table, strcmp(asked.core.name, again.core.name) ==
		            0 && asked.asked.precise == again.asked.precise &&
		            asked.asked.pinned == again.asked.pinned &&
		            asked.asked.exclusive == again.asked.exclusive &&
		            asked.asked.cpu == again.asked.cpu &&
		            asked.asked.exclude_guest ==
		            again.asked.exclude_guest &&
		            asked.asked.exclude_host ==
		            again.asked.exclude_host,
		            "'%s' means something else", text);
	}
	assert_int_equal(table_open(&table, "events-perf-bad.txt"), 0);
	while (table_next(&table)) {
		char column[32];

		assert_int_equal(ppi_event_parse(table.field[2], &request,
		                                 &why), PORTPROF_OK);
		snprintf(column, sizeof(column), "column %s: ", table.field[0]);
		table_check(&table,
		            ppi_perf_request_read(&request, &asked, &why) ==
		            PORTPROF_E_INVALID, "it is not refused");
		table_check(&table, strstr(why.words, column) &&
		            strstr(why.words, table.field[1]),
		            "the words are: %s", why.words);
	}
}

static portprof_status status_named(const char *name)
{
	static const portprof_status all[] = {
		PORTPROF_E_INVALID, PORTPROF_E_UNSUPPORTED,
		PORTPROF_E_NOTFOUND,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(portprof_status_name(all[i]) + 9, name) == 0)
			return all[i];
	fail_msg("%s is no status of this table", name);
	return PORTPROF_OK;
}

/* Whether libpfm4's tables have the PMU that a line is about: the one it is to
 * suggest, or that of its string. LIBPFM_FORCE_PMU leaves one of all. */
static bool is_in_tables(const char *words, const char *string)
{
	const char *suggested = strstr(words, "did you mean perf");
	const char *name = suggested ? suggested + 13 : string;
	const char *colons = strstr(string, "::");
	struct ppi_table_pmu pmu;
	size_t length;
	int id = 0;

	if (!colons || strstr(words, "there is no PMU"))
		return true;
	length = suggested ? strlen(name) : (size_t)(colons - string);
	while (ppi_table_next_pmu(&id, &pmu))
		if (strlen(pmu.name) == length &&
		    strncmp(pmu.name, name, length) == 0)
			return true;
	return false;
}

static void check_refusals(const char *file, bool needs_tables)
{
	struct ppi_event event, before;
	struct ppi_diag why;
	struct table table;

	memset(&before, 0x5a, sizeof(before));
	assert_int_equal(table_open(&table, file), 0);
	while (table_next(&table)) {
		portprof_status status;
		char column[32];

		if (needs_tables &&
		    !is_in_tables(table.field[2], table.field[3]))
			continue;
		event = before;
		status = resolve(table.field[3], PPI_SAMPLE, &event, &why);
		table_check(&table, status == status_named(table.field[0]),
		            "status is %s: %s", portprof_status_name(status),
		            why.words);
		snprintf(column, sizeof(column), "column %s: ",
		         table.field[1]);
		table_check(&table, strstr(why.words, column) &&
		            strstr(why.words, table.field[2]),
		            "the words are: %s", why.words);
		table_check(&table, why.status == status && why.step[0],
		            "the diagnostic is not filled in");
		table_check(&table,
		            memcmp(&event, &before, sizeof(event)) == 0,
		            "the event was touched");
	}
}

static void unknown_names_get_the_nearest_known(void **state)
{
	(void)state;
	check_refusals("events-unknown.txt", false);
}

static void wrong_parts_are_named(void **state)
{
	(void)state;
	if (!ppi_table_is_there()) {
		puts("skip: built without libpfm4");
		skip();
	}
	check_refusals("events-unknown-libpfm4.txt", true);
}

static void missing_libpfm4_is_told(void **state)
{
	struct ppi_event event;
	struct ppi_diag why;

	(void)state;
	if (ppi_table_is_there()) {
		puts("skip: libpfm4 is there");
		skip();
	}
	assert_int_equal(resolve("icl::INST_RETIRED:ANY_P", PPI_SAMPLE, &event,
	                         &why), PORTPROF_E_NOTFOUND);
	assert_non_null(strstr(why.words, "without libpfm4"));
}

static void description_says_what_is_measured(void **state)
{
	static const struct {
		const char *string, *words;
		enum ppi_mode mode;
	} cases[] = {
		{ "task-clock:u:freq=1000", "task-clock in user mode, 1000 "
		  "times a second: CPU time", PPI_SAMPLE },
		{ "cpu-clock@5000", "cpu-clock in user and kernel mode, every "
		  "5000 ns: CPU time", PPI_SAMPLE },
		{ "cycles:k:precise=2@77", "cycles in kernel mode, every 77 "
		  "events, precise level 2: CPU cycles", PPI_SAMPLE },
		{ "instructions:u", "instructions in user mode, counted: "
		  "instructions retired", PPI_COUNT },
		{ "cycles:u:mg", "cycles in user mode of guests, at the "
		  "session's rate", PPI_SAMPLE },
		{ "cycles:u:mg:mh", "of host and guests", PPI_SAMPLE },
	};
	struct ppi_event event;
	struct ppi_diag why;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(resolve(cases[i].string, cases[i].mode,
		                         &event, &why), PORTPROF_OK);
		if (!strstr(event.description, cases[i].words))
			fail_msg("%s: %s", cases[i].string,
			         event.description);
	}
}

/* Raw codes; libpfm4 spells their PMU, we may do without. */
static void raw_codes_are_taken_as_they_are(void **state)
{
	struct ppi_event event;
	struct ppi_diag why;

	(void)state;
	assert_int_equal(resolve("r1a8:u@100", PPI_SAMPLE, &event, &why),
	                 PORTPROF_OK);
	assert_int_equal(perf_own(&event)->type, 4);
	assert_int_equal(perf_own(&event)->config[0], 0x1a8);
	assert_true(event.counts_user && !event.counts_kernel);
	assert_int_equal(resolve("perf_raw::r1A8", PPI_COUNT, &event, &why),
	                 PORTPROF_OK);
	assert_int_equal(perf_own(&event)->config[0], 0x1a8);
	assert_int_equal(resolve(event.canonical, PPI_COUNT, &event, &why),
	                 PORTPROF_OK);
	assert_int_equal(perf_own(&event)->config[0], 0x1a8);
}

/* libpfm4 4.13 looks at errno when it reads a raw code. */
static void stale_errno_does_no_harm(void **state)
{
	struct ppi_event event;
	struct ppi_diag why;

	(void)state;
	if (!ppi_table_is_there()) {
		puts("skip: built without libpfm4");
		skip();
	}
	errno = ERANGE;
	assert_int_equal(resolve("perf_raw::r1a8:hw_smpl", PPI_COUNT, &event,
	                         &why), PORTPROF_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_time_does_not_wake_libpfm4),
		cmocka_unit_test(threads_may_resolve_at_once),
		cmocka_unit_test(generic_names_resolve_everywhere),
		cmocka_unit_test(modifiers_of_perf),
		cmocka_unit_test(unknown_names_get_the_nearest_known),
		cmocka_unit_test(wrong_parts_are_named),
		cmocka_unit_test(missing_libpfm4_is_told),
		cmocka_unit_test(description_says_what_is_measured),
		cmocka_unit_test(raw_codes_are_taken_as_they_are),
		cmocka_unit_test(stale_errno_does_no_harm),
	};

	/* tables of other machines' PMUs encode too */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return cmocka_run_group_tests_name("event_names", tests, NULL, NULL);
}
