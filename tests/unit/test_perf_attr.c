/* SPDX-License-Identifier: MIT */
/* Attrs: what is asked of the kernel, and how it is found out what it knows. */
#include "backends/perf/kernel/perf_attr.h"

#include "tests/sim/perf_sim.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* Every feature, the last included. */
enum { ALL = PERF_HAS_USER_IP * 2 - 1 };

static struct ppi_event task_clock = {
	.unit = PORTPROF_UNIT_NANOSECONDS, .is_cpu_time = true,
	.counts_user = true, .counts_kernel = true, .period = 1000000,
};

static int set_own(void **state)
{
	(void)state;
	perf_own_of(&task_clock)->type = PERF_TYPE_SOFTWARE;
	perf_own_of(&task_clock)->config[0] = PERF_COUNT_SW_TASK_CLOCK;
	return 0;
}

static struct perf_session_kind all_of_it(void)
{
	struct perf_session_kind kind = {
		.features = ~0u,
		.shape = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		                          PERF_SAMPLE_READ },
		.inherits = true,
		.removes_on_exec = true,
	};

	return kind;
}

static bool has_flag(const struct perf_event_attr *attr, unsigned bit)
{
	struct perf_event_attr other = *attr;

	ppi_perf_attr_set_flag(&other, bit);
	return memcmp(&other, attr, sizeof(other)) == 0;
}

/* Our numbers for new bits are those of the header, where it has them. */
static void flag_bits_are_the_headers(void **state)
{
	struct perf_event_attr ours, header;

	(void)state;
	memset(&ours, 0, sizeof(ours));
	memset(&header, 0, sizeof(header));
	ppi_perf_attr_set_flag(&ours, 0);
	ppi_perf_attr_set_flag(&ours, 17);
	ppi_perf_attr_set_flag(&ours, 33);
	header.disabled = 1;
	header.mmap_data = 1;
	header.text_poke = 1;
	assert_memory_equal(&ours, &header, sizeof(ours));
#ifdef PERF_ATTR_SIZE_VER7
	memset(&ours, 0, sizeof(ours));
	memset(&header, 0, sizeof(header));
	ppi_perf_attr_set_flag(&ours, PERF_FLAG_INHERIT_THREAD);
	ppi_perf_attr_set_flag(&ours, PERF_FLAG_REMOVE_ON_EXEC);
	header.inherit_thread = 1;
	header.remove_on_exec = 1;
	assert_memory_equal(&ours, &header, sizeof(ours));
#endif
}

static void a_carrier_and_another(void **state)
{
	struct perf_session_kind kind = all_of_it();
	struct perf_event_attr attr;

	(void)state;
	ppi_perf_attr_sample(&kind, &task_clock, true, &attr);
	assert_int_equal(attr.sample_period, 1000000);
	assert_true(attr.disabled && attr.inherit && attr.sample_id_all);
	assert_true(attr.task && attr.mmap && attr.mmap2 && attr.comm);
	/* build_id: other tools' readers abort of it */
	assert_false(has_flag(&attr, 34));
	assert_true(has_flag(&attr, PERF_FLAG_INHERIT_THREAD));
	assert_true(has_flag(&attr, PERF_FLAG_REMOVE_ON_EXEC));
	assert_true(attr.use_clockid && attr.clockid == CLOCK_MONOTONIC);
	assert_true(attr.exclude_hv && !attr.exclude_kernel);
	ppi_perf_attr_sample(&kind, &task_clock, false, &attr);
	assert_false(attr.task || attr.mmap || attr.mmap2 || attr.comm);
}

/* What the kernel does not know is not asked for. */
static void an_old_kernel_is_spared(void **state)
{
	struct perf_session_kind kind = all_of_it();
	struct perf_event_attr attr;

	(void)state;
	kind.features = 0;
	ppi_perf_attr_sample(&kind, &task_clock, true, &attr);
	for (unsigned bit = 34; bit < 64; bit++)
		assert_false(has_flag(&attr, bit));
	assert_false(attr.use_clockid);
	assert_true(attr.inherit);
}

static void children_and_exec(void **state)
{
	struct perf_session_kind kind = all_of_it();
	struct perf_event_attr attr;

	(void)state;
	kind.follows_children = true;
	ppi_perf_attr_sample(&kind, &task_clock, true, &attr);
	assert_false(has_flag(&attr, PERF_FLAG_INHERIT_THREAD));
	kind = all_of_it();
	kind.enables_on_exec = true;
	ppi_perf_attr_sample(&kind, &task_clock, true, &attr);
	/* EINVAL together. */
	assert_true(attr.enable_on_exec);
	assert_false(has_flag(&attr, PERF_FLAG_REMOVE_ON_EXEC));
}

static void rates_modes_and_members(void **state)
{
	struct perf_session_kind kind = all_of_it();
	struct ppi_event event = task_clock;
	struct perf_event_attr attr;

	(void)state;
	event.rate_hz = 250;
	event.counts_kernel = false;
	perf_own_of(&event)->asked.pinned = true;
	ppi_perf_attr_sample(&kind, &event, true, &attr);
	assert_true(attr.freq && attr.sample_freq == 250);
	assert_true(attr.exclude_kernel && attr.exclude_callchain_kernel);
	ppi_perf_attr_count(&kind, &event, true, &attr);
	assert_true(attr.disabled && attr.pinned && attr.sample_period == 0);
	ppi_perf_attr_count(&kind, &event, false, &attr);
	assert_false(attr.disabled || attr.pinned || attr.enable_on_exec);
}

/* The kernel takes what we make, in each layout and mode. */
static void the_kernel_takes_it(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 16; bits++) {
		struct perf_session_kind kind = all_of_it();
		struct perf_event_attr attr;
		int fd;

		kind.inherits = bits & 1;
		kind.follows_children = bits & 2;
		kind.removes_on_exec = bits & 4;
		kind.enables_on_exec = bits & 8;
		perf_sim_reset();
		ppi_perf_attr_sample(&kind, &task_clock, true, &attr);
		fd = ppi_perf_open_attr(&perf_sim_kernel, &attr, 0, 1, -1);
		assert_true(fd >= 0);
		assert_int_equal(attr.size, PERF_ATTR_BYTES);
		perf_sim_kernel.close_event(NULL, fd, PERF_FRESH);
		ppi_perf_attr_ring_owner(&kind, &attr);
		fd = ppi_perf_open_attr(&perf_sim_kernel, &attr, 0, 1, -1);
		assert_true(fd >= 0);
		perf_sim_kernel.close_event(NULL, fd, PERF_FRESH);
	}
}

/* ---- what the kernel knows ---- */

static void all_features_of_a_new_kernel(void **state)
{
	(void)state;
	perf_sim_reset();
	assert_int_equal(ppi_perf_features(&perf_sim_kernel),
	                 PERF_FEATURES_KNOWN | ALL);
	assert_int_equal(perf_sim_open_fds(), 0);
}

static void each_missing_feature_is_found(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 7; bit++) {
		perf_sim_reset();
		perf_sim_machine.missing = 1u << bit;
		assert_int_equal(ppi_perf_features(&perf_sim_kernel),
		                 PERF_FEATURES_KNOWN | (ALL ^ 1u << bit));
	}
	perf_sim_reset();
	perf_sim_machine.lacks_features = true;
	assert_int_equal(ppi_perf_features(&perf_sim_kernel),
	                 PERF_FEATURES_KNOWN);
}

static void answers_are_remembered(void **state)
{
	(void)state;
	perf_sim_reset();
	ppi_perf_features(&perf_sim_kernel);
	perf_sim_machine.lacks_features = true;
	assert_int_equal(ppi_perf_features(&perf_sim_kernel),
	                 PERF_FEATURES_KNOWN | ALL);
}

/* EMFILE in the middle says nothing of the kernel. */
static void a_limit_is_not_remembered(void **state)
{
	(void)state;
	for (unsigned nth = 1; nth < 9; nth++) {
		perf_sim_reset();
		perf_sim_fail(0, nth, 0);
		assert_false(ppi_perf_features(&perf_sim_kernel) &
		             PERF_FEATURES_KNOWN);
		assert_int_equal(ppi_perf_features(&perf_sim_kernel),
		                 PERF_FEATURES_KNOWN | ALL);
		assert_int_equal(perf_sim_open_fds(), 0);
	}
}

/* ---- kernels that know a shorter attr ---- */

static uint32_t known_bytes;
static unsigned opens;

static int short_open(void *self, struct perf_event_attr *attr, int64_t pid,
                      int cpu, int group_fd, unsigned long flags)
{
	(void)self;
	(void)pid;
	(void)cpu;
	(void)group_fd;
	(void)flags;
	opens++;
	if (attr->size <= known_bytes)
		return 5;
	attr->size = known_bytes;
	return -E2BIG;
}

static void a_short_attr_is_tried_if_that_is_enough(void **state)
{
	struct perf_kernel kernel = perf_sim_kernel;
	struct perf_event_attr attr;

	(void)state;
	kernel.open_event = short_open;
	known_bytes = PERF_ATTR_SIZE_VER3;
	memset(&attr, 0, sizeof(attr));
	assert_int_equal(ppi_perf_open_attr(&kernel, &attr, 0, -1, -1), 5);
	assert_int_equal(opens, 2);
	attr.sample_max_stack = 5; /* past what this kernel knows */
	assert_int_equal(ppi_perf_open_attr(&kernel, &attr, 0, -1, -1), -E2BIG);
	assert_int_equal(opens, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flag_bits_are_the_headers),
		cmocka_unit_test(a_carrier_and_another),
		cmocka_unit_test(an_old_kernel_is_spared),
		cmocka_unit_test(children_and_exec),
		cmocka_unit_test(rates_modes_and_members),
		cmocka_unit_test(the_kernel_takes_it),
		cmocka_unit_test(all_features_of_a_new_kernel),
		cmocka_unit_test(each_missing_feature_is_found),
		cmocka_unit_test(answers_are_remembered),
		cmocka_unit_test(a_limit_is_not_remembered),
		cmocka_unit_test(a_short_attr_is_tried_if_that_is_enough),
	};

	return cmocka_run_group_tests_name("perf_attr", tests, set_own, NULL);
}
