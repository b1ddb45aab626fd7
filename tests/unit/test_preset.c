/* SPDX-License-Identifier: MIT */
/* Presets: read in every list, and computed of what a simulated PMU counts. */
#include "api/core/helper.h"
#include "api/core/open.h"
#include "api/core/event.h"
#include "tests/unit/perf_run.h"

#include <portprof.h>
#include <portprof/tool.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define CPU "/sys/bus/event_source/devices/cpu/"

enum { EVENTS = 12 };

/* ---- lists ---- */

static void check_list(const char *list, const char *const *events,
                       const size_t *groups)
{
	char event[256];
	size_t group, i;

	for (i = 0; events[i]; i++) {
		assert_int_equal(portprof_event_list_get(list, i, event,
		                                         sizeof(event), &group),
		                 PORTPROF_OK);
		assert_string_equal(event, events[i]);
		assert_int_equal(group, groups[i]);
	}
	assert_int_equal(portprof_event_list_get(list, i, event, sizeof(event),
	                                         &group), PORTPROF_END);
}

static void a_preset_is_its_events(void **state)
{
	(void)state;
	check_list("IPC", (const char *const[]){ "instructions", "cycles",
	                                         NULL },
	           (const size_t[]){ 0, 0 });
	check_list("ipc:u@1000,page-faults",
	           (const char *const[]){ "instructions:u@1000",
	                                  "cycles:u@1000", "page-faults", NULL },
	           (const size_t[]){ 0, 0, 1 });
	check_list("cs,{page-faults,branch-miss-rate}:u:pinned,CPI",
	           (const char *const[]){ "cs", "page-faults:u:pinned",
	                                  "branch-misses:u", "branches:u",
	                                  "cycles", "instructions", NULL },
	           (const size_t[]){ 0, 1, 1, 1, 2, 2 });
	/* the first of a group is the preset's first, and that alone */
	check_list("{CPI,cs}:pinned",
	           (const char *const[]){ "cycles:pinned", "instructions", "cs",
	                                  NULL },
	           (const size_t[]){ 0, 0, 0 });
	check_list("pmu::IPC,r1a8",
	           (const char *const[]){ "pmu::IPC", "r1a8", NULL },
	           (const size_t[]){ 0, 1 });
}

static void lists_say_where_a_preset_begins(void **state)
{
	const char *list = "cs,{IPC,page-faults}:u,CPI";

	(void)state;
	assert_null(portprof_event_list_preset(list, 0));
	assert_string_equal(portprof_event_list_preset(list, 1)->name, "IPC");
	assert_null(portprof_event_list_preset(list, 2));
	assert_null(portprof_event_list_preset(list, 3));
	assert_string_equal(portprof_event_list_preset(list, 4)->name, "CPI");
	assert_null(portprof_event_list_preset(list, 6));
	assert_null(portprof_event_list_preset(NULL, 0));
}

/* The column is that of the list, where the event's own is not there. */
static void mistakes_have_their_column(void **state)
{
	portprof_config *config = portprof_config_new();
	static const struct {
		const char *line, *place;
	} cases[] = {
		{ "event = IPC:u:period=x", ":1:22:" },
		{ "event = cs,{IPC:period=0}", ":1:24:" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(portprof_config_load_text(
			config, "text", cases[i].line, NULL), PORTPROF_E_INVALID);
		if (!strstr(portprof_last_diag()->words, cases[i].place))
			fail_msg("no '%s' in: %s", cases[i].place,
			         portprof_last_diag()->words);
	}
	portprof_config_free(config);
}

/* What a config was given is what it shows. */
static void a_config_keeps_the_word(void **state)
{
	portprof_config *config = portprof_config_new();

	(void)state;
	assert_int_equal(portprof_config_load_text(
		config, "text", "event = {IPC,CPI}:u\nevent = miss-rate\n",
		NULL), PORTPROF_OK);
	assert_int_equal(portprof_config_event_count(config), 2);
	assert_string_equal(portprof_config_event(config, 0), "{IPC,CPI}:u");
	assert_string_equal(portprof_config_event(config, 1), "miss-rate");
	portprof_config_free(config);
}

static void one_event_is_no_preset(void **state)
{
	portprof_event_info info = { .size = sizeof(info) };

	(void)state;
	assert_int_equal(portprof_event_look_up("IPC:u", "auto", &info),
	                 PORTPROF_E_INVALID);
	assert_non_null(strstr(portprof_last_diag()->words, "preset"));
}

/* ---- the table ---- */

static void formulas_are_of_the_presets_events(void **state)
{
	const portprof_preset *preset;

	(void)state;
	for (size_t i = 0; (preset = portprof_preset_at(i)); i++) {
		size_t count = 0;

		while (count < PORTPROF_PRESET_EVENTS_MAX &&
		       preset->events[count])
			count++;
		assert_in_range(count, 2, PORTPROF_PRESET_EVENTS_MAX);
		assert_in_range(preset->formula_count, 1,
		                PORTPROF_PRESET_FORMULAS_MAX);
		for (size_t f = 0; f < preset->formula_count; f++) {
			const portprof_formula *formula = &preset->formulas[f];
			double values[PORTPROF_PRESET_EVENTS_MAX];
			bool is_used = false;

			assert_true(formula->event < count);
			assert_true(formula->factor > 0);
			for (size_t e = 0; e < PORTPROF_PRESET_EVENTS_MAX; e++) {
				values[e] = 1;
				is_used |= formula->of[e] != 0;
				if (e >= count)
					assert_true(!formula->of[e] &&
					            !formula->by[e]);
			}
			assert_true(is_used);
			assert_false(isnan(portprof_preset_value(preset, f,
			                                         values)));
			/* each part is needed, and only these */
			for (size_t e = 0; e < count; e++) {
				bool is_part = formula->of[e] || formula->by[e];

				values[e] = NAN;
				assert_int_equal(
					isnan(portprof_preset_value(preset, f,
				                                    values)),
					is_part);
				values[e] = 1;
			}
		}
		assert_true(isnan(portprof_preset_value(
			preset, preset->formula_count, NULL)));
	}
}

/* Of each instruction as many operations as it has numbers. */
static void operations_are_weighted(void **state)
{
	const portprof_preset *preset;
	unsigned found = 0;

	(void)state;
	for (size_t i = 0; (preset = portprof_preset_at(i)); i++) {
		/* half a second */
		const double values[] = { 5e8, 1, 1000, 1e6, 1e9, 1e12 };
		double flops, expected;

		if (strcmp(preset->name, "FLOPS") != 0)
			continue;
		flops = portprof_preset_value(preset, 0, values);
		if (!preset->events[2])
			expected = 2;
		else if (!preset->events[3])
			expected = 2 * 1001; /* Arm: operations themselves */
		else if (!preset->events[5])
			expected = 2 * 8004002001.0;
		else
			expected = 2 * 16008004002001.0;
		assert_true(fabs(flops - expected) < expected * 1e-12);
		found++;
	}
	assert_true(found > 2);
}

static void nothing_is_divided_by_nothing(void **state)
{
	const double values[] = { 7, 0 };

	(void)state;
	assert_true(isnan(portprof_preset_value(
		portprof_event_list_preset("IPC", 0), 0, values)));
}

/* ---- on the simulated kernel ---- */

static portprof_group *group;
static portprof_count counts[EVENTS];

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.counters = 8;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	return 0;
}

static int nothing_is_held(void **state)
{
	(void)state;
	portprof_group_close(group);
	group = NULL;
	portprof_regions_close(NULL);
	ppi_backend_set_kernel("perf", NULL);
	ppi_helper_set_manual(false);
	assert_int_equal(perf_sim_open_fds(), 0);
	return 0;
}

static portprof_config *config_of(const char *events)
{
	portprof_config *config = portprof_config_new();

	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_set_target(
		config, PORTPROF_TARGET_THREAD, 0), PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, events),
	                 PORTPROF_OK);
	return config;
}

static portprof_status open_group(const char *events, int partial)
{
	portprof_config *config = config_of(events);
	portprof_status status;

	portprof_config_set_number(config, "partial", partial);
	status = portprof_group_open_config(config, &group);
	portprof_config_free(config);
	return status;
}

static void work(uint64_t ns)
{
	run_work(perf_sim_main_tid(), 0x1000, ns, 0);
	assert_int_equal(portprof_group_read(
		group, counts, portprof_group_event_count(group)), PORTPROF_OK);
}

static portprof_metric metric_at(size_t index)
{
	portprof_metric metric = { .size = sizeof(metric) };

	assert_int_equal(portprof_group_metric(group, counts, index, &metric),
	                 PORTPROF_OK);
	return metric;
}

/* What is written into tables computes the same, of counts as they are told. */
static void check_factors(void)
{
	size_t count, metrics = 0;
	const struct ppi_event *events = ppi_group_events(group, &count);
	double of[64], by[64];

	for (; ppi_metric_factors(events, count, metrics, of, by); metrics++) {
		double sum = 0, divisor = 0;
		bool has_by = false;

		for (size_t i = 0; i < count; i++) {
			sum += of[i] * (double)counts[i].scaled;
			divisor += by[i] * (double)counts[i].scaled;
			has_by |= by[i] != 0;
		}
		assert_true(fabs(sum / (has_by ? divisor : 1) -
		                 metric_at(metrics).value) < 1e-9);
	}
	assert_true(metrics > 0);
}

/* Two instructions a cycle. */
static void a_group_has_its_ratios(void **state)
{
	portprof_metric metric = { .size = sizeof(metric) };

	(void)state;
	assert_int_equal(open_group("task-clock,IPC:u,CPI,PAPI_BR_PRC", 0),
	                 PORTPROF_OK);
	assert_int_equal(portprof_group_event_count(group), 7);
	work(10 * MS);
	assert_int_equal(counts[1].raw, 20 * MS);
	assert_int_equal(counts[2].raw, 10 * MS);
	metric = metric_at(0);
	assert_string_equal(metric.name, "IPC:u");
	assert_string_equal(metric.unit, "instructions per cycle");
	assert_int_equal(metric.event, 1);
	assert_true(metric.value == 2);
	assert_int_equal(metric.is_estimate, 0);
	assert_string_equal(metric_at(1).name, "CPI");
	assert_true(metric_at(1).value == 0.5);
	assert_true(metric_at(2).value == 0);
	check_factors();
	assert_int_equal(portprof_group_metric(group, counts, 3, &metric),
	                 PORTPROF_END);
	assert_int_equal(portprof_group_metric(NULL, counts, 0, &metric),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_group_metric(group, NULL, 0, &metric),
	                 PORTPROF_E_INVALID);
}

static void what_was_not_counted_stays_unknown(void **state)
{
	(void)state;
	assert_int_equal(open_group("IPC", 0), PORTPROF_OK);
	work(MS);
	assert_true(metric_at(0).value == 2);
	counts[1].status = PORTPROF_COUNT_NEVER_RAN;
	assert_true(isnan(metric_at(0).value));
	counts[1].status = PORTPROF_COUNT_SCALED;
	assert_true(metric_at(0).value == 2 && metric_at(0).is_estimate);
	counts[0].status = PORTPROF_COUNT_REFUSED;
	assert_true(isnan(metric_at(0).value));
}

/* Slots that the kernel's own events count: 1, 2, 3 and 4 of 10. */
static void the_kernels_topdown_events(void **state)
{
	static const char *const files[] = {
		CPU "type", "4\n",
		CPU "format/event", "config:0-7\n",
		CPU "format/umask", "config:8-15\n",
		CPU "events/slots", "event=0x00,umask=0x4\n",
		CPU "events/topdown-retiring", "event=0x00,umask=0x80\n",
		CPU "events/topdown-bad-spec", "event=0x00,umask=0x81\n",
		CPU "events/topdown-fe-bound", "event=0x00,umask=0x82\n",
		CPU "events/topdown-be-bound", "event=0x00,umask=0x83\n",
		NULL,
	};
	static const char *const names[] = {
		"topdown-retiring", "topdown-bad-speculation",
		"topdown-frontend-bound", "topdown-backend-bound",
	};

	(void)state;
	perf_sim_machine.files = files;
	assert_int_equal(open_group("topdown,IPC", 0), PORTPROF_OK);
	assert_int_equal(portprof_group_event_count(group), 7);
	work(5 * MS);
	assert_int_equal(counts[0].raw, 50 * MS);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(metric_at(i).name, names[i]);
		assert_int_equal(metric_at(i).event, i + 1);
		assert_true(fabs(metric_at(i).value - 10.0 * (double)(i + 1)) <
		            1e-9);
	}
	assert_true(metric_at(4).value == 2);
	check_factors();
}

/* Those of older CPUs: slots are cycles times 4, by the kernel's scale. */
static void the_kernels_older_topdown_events(void **state)
{
	static const char *const files[] = {
		CPU "type", "4\n",
		CPU "format/event", "config:0-7\n",
		CPU "format/umask", "config:8-15\n",
		CPU "events/topdown-total-slots", "event=0x3c\n",
		CPU "events/topdown-total-slots.scale", "4\n",
		CPU "events/topdown-slots-issued", "event=0x0e,umask=0x1\n",
		CPU "events/topdown-slots-retired", "event=0xc2,umask=0x2\n",
		CPU "events/topdown-fetch-bubbles", "event=0x9c,umask=0x1\n",
		CPU "events/topdown-recovery-bubbles", "event=0x0d,umask=0x3\n",
		CPU "events/topdown-recovery-bubbles.scale", "4\n",
		NULL,
	};
	double sum = 0;

	(void)state;
	perf_sim_machine.files = files;
	assert_int_equal(open_group("topdown", 0), PORTPROF_OK);
	work(5 * MS);
	assert_true(metric_at(0).value == 25);  /* retired 1 of 4 */
	assert_true(metric_at(1).value == 100); /* (1 - 1 + 4) of 4 */
	assert_true(metric_at(2).value == 25);
	for (size_t i = 0; i < 4; i++)
		sum += metric_at(i).value;
	assert_true(fabs(sum - 100) < 1e-9);
}

#define ARM(core, name) "/sys/bus/event_source/devices/arm_" core "/" name
#define ARM_FILES(core)                                                        \
	ARM(core, "type"), "4\n",                                              \
	ARM(core, "format/event"), "config:0-15\n",                            \
	ARM(core, "events/FP_FIXED_OPS_SPEC"), "event=0x80c1\n",               \
	ARM(core, "events/FP_SCALE_OPS_SPEC"), "event=0x80c0\n"

static void arm_counts_operations(void **state)
{
	static const char *const files[] = { ARM_FILES("n2"), NULL };

	(void)state;
	perf_sim_machine.files = files;
	assert_int_equal(open_group("FLOPS", 0), PORTPROF_OK);
	assert_int_equal(portprof_group_event_count(group), 3);
	work(5 * MS);
	assert_true(counts[1].raw > 0 && counts[2].raw > 0);
	assert_true(fabs(metric_at(0).value -
	                 1e9 * (double)(counts[1].raw + counts[2].raw) /
	                 (double)counts[0].raw) < 1);
	check_factors();
}

static void arm_counts_units_of_vectors(void **state)
{
	static const char *const files[] = { ARM_FILES("v1"), NULL };

	(void)state;
	perf_sim_machine.files = files;
	assert_int_equal(open_group("FLOPS", 0), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words, "preset FLOPS"));
	assert_non_null(strstr(portprof_last_diag()->words, "vector length"));
	assert_null(group);
}

/* By its own name, and not by a name that the user never wrote alone. */
static void what_the_machine_has_not_is_refused_by_name(void **state)
{
	(void)state;
	assert_int_equal(open_group("topdown", 0), PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(portprof_last_diag()->words, "preset topdown"));
	assert_non_null(strstr(portprof_last_diag()->words, "slots"));
	assert_null(group);
	assert_int_equal(open_group("topdown,cycles", 1), PORTPROF_OK);
	work(MS);
	for (size_t i = 0; i < 4; i++)
		assert_true(isnan(metric_at(i).value));
	assert_int_equal(counts[5].raw, MS);
	assert_non_null(strstr(portprof_group_event_diag(group, 0)->words,
	                       "preset topdown"));
}

static int take_region(const portprof_region_info *region, void *context)
{
	portprof_metric metric = { .size = sizeof(metric) };

	assert_int_equal(region->count, 3);
	assert_int_equal(portprof_regions_metric(NULL, region->counts, 0,
	                                         &metric), PORTPROF_OK);
	assert_string_equal(metric.name, "IPC");
	*(double *)context = metric.value;
	assert_int_equal(portprof_regions_metric(NULL, region->counts, 1,
	                                         &metric), PORTPROF_END);
	return 0;
}

static void a_region_has_its_ratios(void **state)
{
	portprof_config *config = config_of("task-clock,IPC");
	portprof_metric metric = { .size = sizeof(metric) };
	double value = 0;

	(void)state;
	assert_int_equal(portprof_regions_metric(NULL, counts, 0, &metric),
	                 PORTPROF_E_STATE);
	assert_int_equal(portprof_regions_open(config, NULL), PORTPROF_OK);
	portprof_config_free(config);
	assert_int_equal(portprof_region_begin(NULL, "r"), PORTPROF_OK);
	run_work(perf_sim_main_tid(), 0x1000, MS, 0);
	assert_int_equal(portprof_region_end(NULL, "r"), PORTPROF_OK);
	assert_int_equal(portprof_regions_read(NULL, 0, take_region, &value),
	                 PORTPROF_OK);
	assert_true(value == 2);
}

#define SIM(name) cmocka_unit_test_setup_teardown(name, fresh, nothing_is_held)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_preset_is_its_events),
		cmocka_unit_test(lists_say_where_a_preset_begins),
		cmocka_unit_test(mistakes_have_their_column),
		cmocka_unit_test(a_config_keeps_the_word),
		cmocka_unit_test(one_event_is_no_preset),
		cmocka_unit_test(formulas_are_of_the_presets_events),
		cmocka_unit_test(operations_are_weighted),
		cmocka_unit_test(nothing_is_divided_by_nothing),
		SIM(a_group_has_its_ratios),
		SIM(what_was_not_counted_stays_unknown),
		SIM(the_kernels_topdown_events),
		SIM(the_kernels_older_topdown_events),
		SIM(arm_counts_operations),
		SIM(arm_counts_units_of_vectors),
		SIM(what_the_machine_has_not_is_refused_by_name),
		SIM(a_region_has_its_ratios),
	};

	/* A CPU of which libpfm4 knows no such events, whatever this is. */
	setenv("LIBPFM_FORCE_PMU", "intel_p5", 1);
	return cmocka_run_group_tests_name("preset", tests, NULL, NULL);
}
