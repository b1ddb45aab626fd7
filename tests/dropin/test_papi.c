/* SPDX-License-Identifier: MIT */
/* PAPI's functions on a simulated PMU: one cycle a nanosecond, two instructions a
 * cycle, four counters. */
#include "api/core/helper.h"
#include "compat/papi/papi.h"
#include "tests/unit/perf_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000LL
#define PC UINT64_C(0x1000)

static int set = PAPI_NULL;
static long long values[8];

static int fresh(void **state)
{
	(void)state;
	perf_sim_reset();
	perf_sim_machine.counters = 4;
	ppi_helper_set_manual(true);
	ppi_backend_set_kernel("perf", &perf_sim_kernel);
	assert_int_equal(PAPI_library_init(PAPI_VER_CURRENT), PAPI_VER_CURRENT);
	assert_int_equal(PAPI_set_domain(PAPI_DOM_USER), PAPI_OK);
	assert_int_equal(PAPI_create_eventset(&set), PAPI_OK);
	return 0;
}

static int nothing_is_held(void **state)
{
	(void)state;
	PAPI_shutdown();
	set = PAPI_NULL;
	ppi_backend_set_kernel("perf", NULL);
	ppi_helper_set_manual(false);
	assert_int_equal(perf_sim_open_fds(), 0);
	assert_int_equal(perf_sim_mapped(), 0);
	assert_int_equal(perf_sim_abuses(), 0);
	return 0;
}

static void work(uint64_t pc, long long ns, long long kernel_ns)
{
	run_work(perf_sim_main_tid(), pc, (uint64_t)ns, (uint64_t)kernel_ns);
}

static void good(int result)
{
	assert_int_equal(result, PAPI_OK);
}

static void add(const char *event)
{
	good(PAPI_add_named_event(set, event));
}

/* ---- counts ---- */

static void counts_are_exact(void **state)
{
	(void)state;
	good(PAPI_add_event(set, PAPI_TOT_CYC));
	good(PAPI_add_event(set, PAPI_TOT_INS));
	work(PC, 5 * MS, 0);
	good(PAPI_start(set));
	work(PC, 10 * MS, 0);
	good(PAPI_read(set, values));
	assert_int_equal(values[0], 10 * MS);
	assert_int_equal(values[1], 20 * MS);
	values[0] = -100;
	values[1] = 7;
	good(PAPI_accum(set, values));
	assert_int_equal(values[0], 10 * MS - 100);
	assert_int_equal(values[1], 20 * MS + 7);
	work(PC, 3 * MS, 0);
	good(PAPI_read(set, values));
	assert_int_equal(values[0], 3 * MS);
	good(PAPI_reset(set));
	work(PC, 2 * MS, 0);
	good(PAPI_stop(set, values));
	assert_int_equal(values[0], 2 * MS);
	work(PC, 7 * MS, 0);
	good(PAPI_read(set, values));
	assert_int_equal(values[0], 2 * MS);
	/* a stopped set adds what it has, and forgets it */
	good(PAPI_accum(set, values));
	assert_int_equal(values[0], 4 * MS);
	good(PAPI_read(set, values));
	assert_int_equal(values[0], 0);
	good(PAPI_start(set));
	work(PC, MS, 0);
	good(PAPI_stop(set, NULL));
	good(PAPI_read(set, values));
	assert_int_equal(values[0], MS);
}

static void a_domain_says_which_modes(void **state)
{
	PAPI_option_t option = { .domain = { 0, set, PAPI_DOM_KERNEL } };

	(void)state;
	good(PAPI_add_event(set, PAPI_TOT_CYC));
	add("cycles:u:k");
	add("task-clock");
	good(PAPI_start(set));
	work(PC, 10 * MS, 4 * MS);
	good(PAPI_stop(set, values));
	/* PAPI's default: user; the two modes take turns */
	assert_in_range(values[0], 6 * MS - MS / 100, 6 * MS + MS / 100);
	assert_int_equal(values[1], 10 * MS);
	assert_int_equal(values[2], 10 * MS);
	perf_sim_machine.is_privileged = true;
	good(PAPI_set_opt(PAPI_DOMAIN, &option));
	good(PAPI_start(set));
	work(PC, 10 * MS, 4 * MS);
	good(PAPI_stop(set, values));
	assert_in_range(values[0], 4 * MS - MS / 100, 4 * MS + MS / 100);
	assert_int_equal(values[1], 10 * MS);
	option.domain.domain = PAPI_DOM_ALL;
	good(PAPI_set_opt(PAPI_DOMAIN, &option));
	add("page-faults"); /* in which no hypervisor has a part */
	option.domain.domain = 0x40;
	assert_int_equal(PAPI_set_opt(PAPI_DOMAIN, &option), PAPI_EINVAL_DOM);
}

static void what_does_not_fit_is_multiplexed(void **state)
{
	static const char *const events[] = {
		"PAPI_TOT_CYC", "PAPI_TOT_INS", "PAPI_BR_INS", "PAPI_BR_MSP",
		"PAPI_L1_DCM",
	};

	(void)state;
	assert_int_equal(PAPI_num_hwctrs(), 4);
	for (int i = 0; i < 4; i++)
		add(events[i]);
	assert_int_equal(PAPI_add_named_event(set, events[4]), PAPI_ECNFLCT);
	assert_int_equal(PAPI_num_events(set), 4);
	good(PAPI_start(set));
	work(PC, 10 * MS, 0);
	good(PAPI_stop(set, values)); /* as it was */
	assert_int_equal(values[1], 20 * MS);
	assert_int_equal(PAPI_get_multiplex(set), 0);
	good(PAPI_set_multiplex(set));
	assert_int_equal(PAPI_get_multiplex(set), 1);
	add(events[4]);
	good(PAPI_start(set));
	work(PC, 400 * MS, 0);
	good(PAPI_stop(set, values));
	/* an estimate for the whole time */
	assert_in_range(values[0], 300 * MS, 500 * MS);
	assert_in_range(values[1], 600 * MS, 1000 * MS);
}

static void a_machine_without_a_pmu_has_none(void **state)
{
	PAPI_event_info_t info;

	(void)state;
	perf_sim_machine.counters = 0;
	assert_int_equal(PAPI_num_hwctrs(), 0);
	assert_int_equal(PAPI_query_event(PAPI_TOT_CYC), PAPI_ENOEVNT);
	assert_int_equal(PAPI_add_event(set, PAPI_TOT_CYC), PAPI_ENOEVNT);
	good(PAPI_get_event_info(PAPI_TOT_CYC, &info));
	assert_int_equal(info.count, 0);
	add("perf::TASK-CLOCK");
}

static void presets_are_described(void **state)
{
	PAPI_event_info_t info;
	char name[PAPI_MAX_STR_LEN];
	int code;

	(void)state;
	good(PAPI_get_event_info(PAPI_TOT_CYC, &info));
	assert_int_equal(info.event_code, (unsigned)PAPI_TOT_CYC);
	assert_string_equal(info.symbol, "PAPI_TOT_CYC");
	assert_int_equal(info.count, 1);
	assert_string_equal(info.derived, "NOT_DERIVED");
	assert_true(strlen(info.long_descr) > 3);
	good(PAPI_event_name_to_code("PAPI_REF_CYC", &code));
	assert_int_equal(code, PAPI_REF_CYC);
	good(PAPI_event_code_to_name(code, name));
	assert_string_equal(name, "PAPI_REF_CYC");
	assert_int_equal(PAPI_event_name_to_code("PAPI_", &code), PAPI_ENOEVNT);
	assert_int_equal(PAPI_event_name_to_code("PAPI_END", &code),
	                 PAPI_ENOEVNT);
	assert_int_equal(PAPI_event_code_to_name(PAPI_PRESET(108), name),
	                 PAPI_ENOEVNT);
	assert_int_equal(PAPI_query_event(PAPI_FP_OPS), PAPI_ENOEVNT);
	assert_int_equal(PAPI_query_event(PAPI_BR_PRC), PAPI_ENOEVNT);
	assert_int_equal(PAPI_library_init(0x05070000), PAPI_EINVAL);
	/* whose structures nobody compared */
	assert_int_equal(PAPI_library_init(0x07010000), 0x07010000);
	assert_int_equal(PAPI_get_event_info(PAPI_TOT_CYC, &info),
	                 PAPI_ENOEVNT);
	assert_null(PAPI_get_hardware_info());
	assert_null(PAPI_get_executable_info());
}

static void events_leave_a_set(void **state)
{
	(void)state;
	add("PAPI_TOT_CYC");
	add("PAPI_TOT_INS");
	add("task-clock");
	good(PAPI_remove_event(set, PAPI_TOT_CYC));
	assert_int_equal(PAPI_remove_event(set, PAPI_TOT_CYC), PAPI_EINVAL);
	good(PAPI_start(set));
	work(PC, MS, 0);
	good(PAPI_stop(set, values));
	assert_int_equal(values[0], 2 * MS);
	assert_int_equal(values[1], MS);
}

/* ---- samples ---- */

static struct {
	unsigned calls, set;
	uint64_t pc;
	long long vector;
} seen;

static void handle(int from, void *address, long long vector, void *context)
{
	assert_null(context);
	seen.calls++;
	seen.set = (unsigned)from;
	seen.pc = (uintptr_t)address;
	seen.vector = vector;
}

static void a_handler_is_called_for_each_threshold(void **state)
{
	int indexes[4] = { 9, 9, 9, 9 }, number = 4, flags = 0;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	add("task-clock");
	add("PAPI_TOT_CYC");
	assert_int_equal(PAPI_overflow(set, PAPI_TOT_INS, 1000, 0, handle),
	                 PAPI_ENOEVNT);
	assert_int_equal(PAPI_overflow(set, PAPI_TOT_CYC, 1000, 0, NULL),
	                 PAPI_EINVAL);
	good(PAPI_overflow(set, PAPI_TOT_CYC, 100000, 0, handle));
	good(PAPI_state(set, &flags));
	assert_int_equal(flags, PAPI_STOPPED | PAPI_OVERFLOWING);
	good(PAPI_start(set));
	work(PC, 10 * MS, 0);
	good(PAPI_stop(set, values));
	assert_int_equal(values[1], 10 * MS);
	assert_int_equal(seen.calls, 100);
	assert_int_equal(seen.set, set);
	assert_int_equal(seen.pc, PC);
	assert_int_equal(seen.vector, 2);
	good(PAPI_get_overflow_event_index(set, seen.vector, indexes, &number));
	assert_int_equal(number, 1);
	assert_int_equal(indexes[0], 1);
	/* it stays with its event */
	good(PAPI_remove_named_event(set, "task-clock"));
	good(PAPI_start(set));
	work(PC, 5 * MS, 0);
	good(PAPI_stop(set, values));
	assert_int_equal(seen.calls, 150);
	assert_int_equal(seen.vector, 1);
	good(PAPI_overflow(set, PAPI_TOT_CYC, 0, 0, handle));
	good(PAPI_start(set));
	work(PC, 5 * MS, 0);
	good(PAPI_stop(set, values));
	assert_int_equal(seen.calls, 150);
}

static void bins_are_papis(void **state)
{
	uint16_t narrow[16] = { 0 };
	uint32_t wide[16] = { 0 };
	uint64_t widest[16] = { 0 };

	(void)state;
	add("PAPI_TOT_CYC");
	narrow[3] = UINT16_MAX - 5;
	/* a bin for 4 bytes */
	good(PAPI_profil(narrow, sizeof(narrow), (vptr_t)PC, 0x8000, set,
	                 PAPI_TOT_CYC, 100000, PAPI_PROFIL_POSIX));
	good(PAPI_start(set));
	work(PC + 4, MS, 0);
	work(PC + 7, MS, 0);
	work(PC + 12, MS, 0);
	work(PC - 1, MS, 0);       /* outside */
	work(PC + 16 * 4, MS, 0);  /* outside */
	good(PAPI_stop(set, values));
	assert_int_equal(narrow[1], 20);
	assert_int_equal(narrow[3], UINT16_MAX);
	assert_int_equal(narrow[0] + narrow[2] + narrow[4] + narrow[15], 0);
	good(PAPI_profil(wide, sizeof(wide), (vptr_t)PC, 0x10000, set,
	                 PAPI_TOT_CYC, 100000, PAPI_PROFIL_BUCKET_32));
	good(PAPI_start(set));
	work(PC + 4, MS, 0);
	good(PAPI_stop(set, values));
	assert_int_equal(wide[2], 10);
	good(PAPI_profil(widest, sizeof(widest), (vptr_t)PC, 0x20000, set,
	                 PAPI_TOT_CYC, 100000, PAPI_PROFIL_BUCKET_64));
	good(PAPI_start(set));
	work(PC + 4, MS, 0);
	good(PAPI_stop(set, values));
	assert_int_equal(widest[4], 10);
	assert_int_equal(narrow[1], 20); /* the last alone gets them */
	assert_int_equal(PAPI_profil(wide, sizeof(wide), (vptr_t)PC, 0x10000,
	                             set, PAPI_TOT_CYC, 100000,
	                             PAPI_PROFIL_RANDOM), PAPI_ENOSUPP);
	assert_int_equal(PAPI_profil(wide, sizeof(wide), (vptr_t)PC, 1, set,
	                             PAPI_TOT_CYC, 100000, 0), PAPI_EINVAL);
}

static void of_ranges_the_last_before_has_it(void **state)
{
	uint16_t first[8] = { 0 }, second[8] = { 0 }, rest[1] = { 0 };
	PAPI_sprofil_t ranges[] = {
		{ second, sizeof(second), (vptr_t)(PC + 4), 0x20000 },
		{ first, sizeof(first), (vptr_t)PC, 0x20000 },
		{ rest, sizeof(rest), 0, 2 },
	};

	(void)state;
	add("PAPI_TOT_CYC");
	good(PAPI_sprofil(ranges, 3, set, PAPI_TOT_CYC, 100000,
	                  PAPI_PROFIL_POSIX));
	good(PAPI_start(set));
	work(PC + 3, MS, 0);
	work(PC + 6, 2 * MS, 0);
	work(PC - 2, 3 * MS, 0);
	good(PAPI_stop(set, values));
	assert_int_equal(first[3], 10);
	assert_int_equal(first[6], 0);
	assert_int_equal(second[2], 20);
	assert_int_equal(rest[0], 30);
}

/* ---- the end ---- */

/* The first failure would end this program. */
static void a_set_that_has_stopped_is_no_failure_of_shutdown(void **state)
{
	(void)state;
	add("PAPI_TOT_CYC");
	good(PAPI_start(set));
	good(PAPI_stop(set, values));
	good(PAPI_set_debug(PAPI_VERB_ESTOP));
	PAPI_shutdown();
	good(PAPI_set_debug(PAPI_QUIET));
	assert_int_equal(PAPI_is_initialized(), PAPI_NOT_INITED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counts_are_exact, fresh,
		                                nothing_is_held),
		cmocka_unit_test_setup_teardown(a_domain_says_which_modes, fresh,
		                                nothing_is_held),
		cmocka_unit_test_setup_teardown(what_does_not_fit_is_multiplexed,
		                                fresh, nothing_is_held),
		cmocka_unit_test_setup_teardown(a_machine_without_a_pmu_has_none,
		                                fresh, nothing_is_held),
		cmocka_unit_test_setup_teardown(presets_are_described, fresh,
		                                nothing_is_held),
		cmocka_unit_test_setup_teardown(events_leave_a_set, fresh,
		                                nothing_is_held),
		cmocka_unit_test_setup_teardown(
			a_handler_is_called_for_each_threshold, fresh,
			nothing_is_held),
		cmocka_unit_test_setup_teardown(bins_are_papis, fresh,
		                                nothing_is_held),
		cmocka_unit_test_setup_teardown(of_ranges_the_last_before_has_it,
		                                fresh, nothing_is_held),
		cmocka_unit_test_setup_teardown(
			a_set_that_has_stopped_is_no_failure_of_shutdown, fresh,
			nothing_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
