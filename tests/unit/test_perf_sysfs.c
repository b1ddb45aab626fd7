/* SPDX-License-Identifier: MIT */
/* Events that the system names itself: sysfs and tracefs of a fake machine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <portprof.h>

#include "api/core/event.h"
#include "backends/perf/events/perf_sysfs.h"
#include "tests/sim/perf_sim.h"

#define PMUS "/sys/bus/event_source/devices/"

/* ---- formats ---- */

static void formats_are_read(void **state)
{
	static const struct {
		const char *text;
		unsigned config;
		size_t parts;
		uint64_t most;
	} good[] = {
		{ "config:0-7\n", 0, 1, 0xff },
		{ "config:0-7,32-35\n", 0, 2, 0xfff },
		{ "config1:0-63", 1, 1, UINT64_MAX },
		{ "config2:5", 2, 1, 1 },
		{ "config:0-7,21,63", 0, 3, 0x3ff },
	};
	static const char *const bad[] = {
		"", "config", "config:", "config:a", "config3:0-7", "conf:0",
		"config:7-0", "config:0-64", "config:0-7;", "config:0,",
		"config:-1",
	};
	struct perf_field field;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(ppi_perf_format_parse(good[i].text, &field));
		assert_int_equal(field.config, good[i].config);
		assert_int_equal(field.count, good[i].parts);
		assert_int_equal(ppi_perf_format_most(&field), good[i].most);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (ppi_perf_format_parse(bad[i], &field))
			fail_msg("'%s' is no format", bad[i]);
}

static void values_go_where_the_format_says(void **state)
{
	uint64_t config[3] = { 0 };
	struct perf_field field;

	(void)state;
	/* AMD's event select: eight bits, and four of them far away */
	assert_true(ppi_perf_format_parse("config:0-7,32-35", &field));
	assert_true(ppi_perf_format_put(&field, 0xabc, config));
	assert_int_equal(config[0], 0xa000000bcu);
	assert_false(ppi_perf_format_put(&field, 0x1000, config));
	assert_int_equal(config[0], 0xa000000bcu);
	/* what stood there before is replaced */
	assert_true(ppi_perf_format_put(&field, 1, config));
	assert_int_equal(config[0], 1);
	assert_true(ppi_perf_format_parse("config1:0-63", &field));
	assert_true(ppi_perf_format_put(&field, UINT64_MAX, config));
	assert_int_equal(config[1], UINT64_MAX);
	assert_true(ppi_perf_format_parse("config2:63,0", &field));
	assert_true(ppi_perf_format_put(&field, 1, config));
	assert_int_equal(config[2], UINT64_C(1) << 63);
}

static void terms_are_read(void **state)
{
	const char *text = "event=0x3c,inv,cmask=16\n";
	uint64_t value;
	char name[16];

	(void)state;
	assert_true(ppi_perf_format_next(&text, name, sizeof(name), &value));
	assert_string_equal(name, "event");
	assert_int_equal(value, 0x3c);
	assert_true(ppi_perf_format_next(&text, name, sizeof(name), &value));
	assert_string_equal(name, "inv");
	assert_int_equal(value, 1);
	assert_true(ppi_perf_format_next(&text, name, sizeof(name), &value));
	assert_string_equal(name, "cmask");
	assert_int_equal(value, 16);
	assert_false(ppi_perf_format_next(&text, name, sizeof(name), &value));
	assert_string_equal(text, "");
	for (size_t i = 0; i < 4; i++) {
		static const char *const bad[] = { "=1", "a=", "a=x",
			                           "a=-1" };

		text = bad[i];
		assert_false(ppi_perf_format_next(&text, name, sizeof(name),
		                                  &value));
		assert_true(*text != '\0');
	}
}

/* ---- a machine ---- */

static const char *const machine[] = {
	PMUS "fake/type", "42\n",
	PMUS "fake/events/hits", "event=0x12,umask=0x3\n",
	PMUS "fake/events/energy", "event=0x2\n",
	PMUS "fake/events/energy.scale", "2.5e-10\n",
	PMUS "fake/events/energy.unit", "Joules\n",
	PMUS "fake/events/odd", "event=0x1,strange=1\n",
	PMUS "fake/format/event", "config:0-7\n",
	PMUS "fake/format/umask", "config:8-15\n",
	PMUS "fake/format/edge", "config1:3\n",
	PMUS "fake/format/broken", "config9:3\n",
	PMUS "core_big/type", "10\n",
	PMUS "core_big/cpus", "4-7\n",
	PMUS "uncore/type", "77\n",
	PMUS "uncore/cpumask", "0,16\n",
	PMUS "uncore/events/reads", "event=0x1\n",
	PMUS "uncore/format/event", "config:0-7\n",
	PMUS "uprobe/type", "7\n",
	PMUS "uprobe/format/ref_ctr_offset", "config:32-63\n",
	PMUS "breakpoint/type", "5\n",
	"/sys/kernel/tracing/available_events",
	"sched:sched_switch\nsched:sched_wakeup\nirq:softirq_entry\n",
	"/sys/kernel/tracing/events/sched/enable", "0\n",
	"/sys/kernel/tracing/events/sched/sched_switch/id", "315\n",
	"/sys/kernel/tracing/events/sched/sched_switch/format",
	"name: sched_switch\nID: 315\nformat:\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] reason;\toffset:28;\tsize:4;\tsigned:0;\n",
	NULL, NULL,
};

static const char *const locked_machine[] = {
	"/sys/kernel/tracing/available_events", NULL,
	NULL, NULL,
};

static struct ppi_event event;
static struct ppi_diag why;
static bool is_there;

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.files = machine;
	memset(&event, 0, sizeof(event));
	memset(&why, 0, sizeof(why));
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	return 0;
}

static int back(void **state)
{
	(void)state;
	ppi_backend_set_kernel("perf", NULL);
	return 0;
}

static portprof_status resolve(const char *text)
{
	struct ppi_event_request request;
	struct perf_request asked;
	portprof_status status = ppi_event_parse(text, &request, &why);

	if (status == PORTPROF_OK)
		status = ppi_perf_request_read(&request, &asked, &why);
	return status ? status
	              : ppi_perf_sysfs_resolve(&perf_sim_kernel, &asked,
	                                       PPI_COUNT, &event, &is_there,
	                                       &why);
}

static void expect(const char *text, uint64_t config, uint64_t config1)
{
	if (resolve(text))
		fail_msg("%s: %s", text, why.words);
	assert_true(is_there);
	assert_int_equal(perf_own(&event)->type, 42);
	assert_int_equal(perf_own(&event)->config[0], config);
	assert_int_equal(perf_own(&event)->config[1], config1);
	assert_string_equal(event.pmu, "fake");
	assert_string_equal(event.canonical, text);
}

static void events_of_a_pmu(void **state)
{
	(void)state;
	expect("fake::hits", 0x312, 0);
	expect("fake::hits:edge", 0x312, 8);
	expect("fake::hits:umask=0x10", 0x1012, 0);
	expect("fake::raw:event=0x7:umask=2:edge=1", 0x207, 8);
	expect("fake::raw:config=0xdeadbeef", 0xdeadbeef, 0);
	expect("fake::hits:config1=0x55", 0x312, 0x55);
	expect("fake::hits:u", 0x312, 0);
	assert_true(event.counts_user && !event.counts_kernel);
	expect("fake::energy", 2, 0);
	assert_non_null(strstr(event.description,
	                       "in units of 2.5e-10 Joules"));
	if (resolve("uncore::reads") != PORTPROF_OK)
		fail_msg("%s", why.words);
	assert_int_equal(perf_own(&event)->type, 77);
	assert_non_null(strstr(event.description,
	                       "for whole packages, on CPUs 0,16"));
	assert_true(event.counts_user && event.counts_kernel &&
	            event.counts_hypervisor);
}

static void refuse(const char *text, portprof_status status, const char *words)
{
	struct ppi_event before = event;

	assert_int_equal(resolve(text), status);
	assert_true(is_there);
	if (!strstr(why.words, words))
		fail_msg("%s: '%s' is not in: %s", text, words, why.words);
	assert_memory_equal(&before, &event, sizeof(event));
}

static void what_a_pmu_does_not_have(void **state)
{
	(void)state;
	refuse("fake::hitz", PORTPROF_E_NOTFOUND,
	       "column 7: 'hitz' is neither an event nor a term of PMU fake; "
	       "did you mean hits?");
	refuse("fake::hits:umsk=1", PORTPROF_E_NOTFOUND, "did you mean umask");
	refuse("fake::zzzzzzzz", PORTPROF_E_NOTFOUND, "energy, ");
	refuse("fake::hits:umask=0x100", PORTPROF_E_INVALID, "up to 0xff");
	refuse("fake::hits:broken", PORTPROF_E_UNSUPPORTED, "'broken' ");
	refuse("fake::odd", PORTPROF_E_NOTFOUND, "'strange'");
	refuse("uncore::reads:u", PORTPROF_E_UNSUPPORTED, "drop the levels");
	/* what else they take is no number */
	refuse("uprobe::raw:config1=4096", PORTPROF_E_UNSUPPORTED,
	       "uprobe:FILE:SYMBOL");
	refuse("breakpoint::raw", PORTPROF_E_UNSUPPORTED, "mem:");
}

static void no_pmu_of_that_name(void **state)
{
	(void)state;
	assert_int_equal(resolve("other::hits"), PORTPROF_E_NOTFOUND);
	assert_false(is_there);
}

static void tracepoints(void **state)
{
	(void)state;
	assert_int_equal(resolve("sched:sched_switch"), PORTPROF_OK);
	assert_int_equal(perf_own(&event)->type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(perf_own(&event)->config[0], 315);
	assert_string_equal(event.pmu, "tracepoint");
	assert_non_null(strstr(event.description, ": a tracepoint, fields "
	                       "prev_comm (text), prev_pid, reason (text)"));
	assert_int_equal(resolve("sched:sched_switch:mh"), PORTPROF_OK);
	refuse("sched:sched_switch:mg", PORTPROF_E_UNSUPPORTED,
	       "column 20: drop 'mg'");
	refuse("sched:sched_swich", PORTPROF_E_NOTFOUND,
	       "portprof list 'sched:*'");
	assert_int_equal(resolve("nogroup:x"), PORTPROF_E_NOTFOUND);
	assert_false(is_there);
	assert_int_equal(perf_own(&event)->filter_bytes, 0);
	perf_sim_machine.files = locked_machine;
	refuse("sched:sched_switch", PORTPROF_E_DENIED,
	       "remount,mode=755,gid=");
	/* a unit mask that is wrong is no tracepoint that may not be seen */
	assert_int_equal(resolve("cycles:uu"), PORTPROF_E_NOTFOUND);
	assert_false(is_there);
	/* nothing is mounted: what could be an event's name is one */
	perf_sim_machine.files = NULL;
	refuse("sched:sched_switch", PORTPROF_E_UNSUPPORTED,
	       "mount -t tracefs");
	assert_int_equal(resolve("page-fautls:u1"), PORTPROF_E_NOTFOUND);
	assert_false(is_there);
}

/* ---- filters ---- */

static void a_filter_is_kept_as_it_was_written(void **state)
{
	static const char text[] = "sched:sched_switch/prev_comm==\"a,b:u@1\" "
	                           "&& prev_pid!=0/:period=2";
	const struct perf_own *own = perf_own(&event);

	(void)state;
	assert_int_equal(resolve(text), PORTPROF_OK);
	assert_int_equal(own->type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(own->config[0], 315);
	assert_memory_equal(event.request.text + own->filter_at,
	                    "prev_comm==\"a,b:u@1\" && prev_pid!=0",
	                    own->filter_bytes);
	assert_int_equal(own->filter_bytes, 35);
	assert_string_equal(event.canonical, text);
	refuse("sched:sched_switch//", PORTPROF_E_INVALID, "filter is empty");
	refuse("sched:sched_swich/a==1/", PORTPROF_E_NOTFOUND,
	       "portprof list 'sched:*'");
}

static portprof_status open_filter(const char *text)
{
	portprof_group *group = NULL;
	portprof_config *config = portprof_config_new();
	portprof_status status;

	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, text), PORTPROF_OK);
	assert_int_equal(portprof_config_set_target(
				 config, PORTPROF_TARGET_THREAD, 0),
	                 PORTPROF_OK);
	status = portprof_group_open_config(config, &group);
	portprof_group_close(group);
	portprof_config_free(config);
	assert_int_equal(perf_sim_open_fds(), 0);
	return status;
}

/* To every event that is opened for it, and to no other. */
static void the_kernel_is_given_the_filter(void **state)
{
	(void)state;
	perf_sim_machine.is_privileged = true;
	assert_int_equal(open_filter("sched:sched_switch"), PORTPROF_OK);
	assert_int_equal(perf_sim_filters(), 0);
	assert_int_equal(open_filter("sched:sched_switch/prev_pid==7/"),
	                 PORTPROF_OK);
	assert_string_equal(perf_sim_last_filter(), "prev_pid==7");
	/* a trial when it is resolved, and the event itself */
	assert_int_equal(perf_sim_filters(), 2);
	assert_int_equal(open_filter("sched:sched_switch/pid==7/"),
	                 PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "column 20: the kernel refuses the filter "
	                       "'pid==7'"));
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "fields: prev_comm (text), prev_pid, "
	                       "reason (text)"));
}

/* ---- the catalogue ---- */

struct seen {
	size_t events, tracepoints, stop_after;
	char names[1 << 14];
	char last_name[256];
	portprof_catalogue_pmu fake, big;
	char fake_terms[1024], big_cpus[128]; /* their strings end with the call */
};

static int see_event(const portprof_catalogue_event *found, void *context)
{
	struct seen *seen = context;
	size_t used = strlen(seen->names);

	assert_int_equal(found->size, sizeof(*found));
	assert_true(found->name[0] != '\0');
	if (found->source != PORTPROF_SOURCE_TABLE)
		snprintf(seen->names + used, sizeof(seen->names) - used,
		         "%s\n", found->name);
	seen->tracepoints += found->source == PORTPROF_SOURCE_TRACEPOINT;
	snprintf(seen->last_name, sizeof(seen->last_name), "%s", found->name);
	return ++seen->events == seen->stop_after;
}

static int see_pmu(const portprof_catalogue_pmu *found, void *context)
{
	struct seen *seen = context;

	if (strcmp(found->name, "fake") == 0) {
		seen->fake = *found;
		snprintf(seen->fake_terms, sizeof(seen->fake_terms), "%s",
		         found->terms);
	}
	if (strcmp(found->name, "core_big") == 0) {
		seen->big = *found;
		snprintf(seen->big_cpus, sizeof(seen->big_cpus), "%s",
		         found->cpus);
	}
	return 0;
}

static void the_catalogue_has_them_all(void **state)
{
	static struct seen seen;
	static const char *const wanted[] = {
		"task-clock\n", "cycles\n", "L1-dcache-load-misses\n",
		"fake::hits\n", "fake::energy\n", "uncore::reads\n",
		"mem:ADDRESS/BYTES:rw\n", "uretprobe:FILE:SYMBOL\n",
		"sched:sched_switch\n", "irq:softirq_entry\n",
	};

	(void)state;
	assert_int_equal(portprof_catalogue_events("perf", see_event, &seen),
	                 PORTPROF_OK);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!strstr(seen.names, wanted[i]))
			fail_msg("%s is not in:\n%s", wanted[i], seen.names);
	assert_null(strstr(seen.names, "energy.unit"));
	/* another name of page-faults is no event of its own */
	assert_null(strstr(seen.names, "\nfaults\n"));
	assert_int_equal(seen.tracepoints, 3);
	assert_string_equal(seen.last_name, "irq:softirq_entry");
}

static void a_walk_ends_when_told(void **state)
{
	static struct seen seen;

	(void)state;
	for (size_t i = 1; i < 120; i++) {
		memset(&seen, 0, sizeof(seen));
		seen.stop_after = i;
		assert_int_equal(portprof_catalogue_events("perf", see_event,
		                                           &seen),
		                 PORTPROF_OK);
		assert_true(seen.events <= i);
	}
}

static void pmus_tell_what_they_take(void **state)
{
	static struct seen seen;

	(void)state;
	assert_int_equal(portprof_catalogue_pmus("perf", see_pmu, &seen),
	                 PORTPROF_OK);
	assert_int_equal(seen.fake.type, 42);
	assert_int_equal(seen.fake.event_count, 3);
	assert_string_equal(seen.fake_terms,
	                    "broken=config9:3 edge=config1:3 event=config:0-7 "
	                    "umask=config:8-15");
	assert_false(seen.fake.is_core);
	assert_true(seen.big.is_core);
	assert_string_equal(seen.big_cpus, "4-7");
	assert_int_equal(portprof_catalogue_pmus("prf", see_pmu, &seen),
	                 PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       "did you mean perf"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, back)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_read),
		cmocka_unit_test(values_go_where_the_format_says),
		cmocka_unit_test(terms_are_read),
		CASE(events_of_a_pmu),
		CASE(what_a_pmu_does_not_have),
		CASE(no_pmu_of_that_name),
		CASE(tracepoints),
		CASE(a_filter_is_kept_as_it_was_written),
		CASE(the_kernel_is_given_the_filter),
		CASE(the_catalogue_has_them_all),
		CASE(a_walk_ends_when_told),
		CASE(pmus_tell_what_they_take),
	};

	return cmocka_run_group_tests_name("perf_sysfs", tests, NULL, NULL);
}
