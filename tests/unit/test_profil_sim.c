/* SPDX-License-Identifier: MIT */
/* Simulated profil(2) and pcsample(2): bins and errors are those of the real
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "tests/unit/profil_sim_kit.h"

/* ---- the table of os-semantics: bin, or what stands for none ---- */

enum { NONE = -1, OFF = -2, REFUSED = -3, FAR = -4 };

struct vector {
	int line;
	uint64_t d;
	unsigned scale;
	long bsd, solaris, glibc; /* FAR: a bin no buffer here has */
};

static const struct vector vectors[] = {
	{ __LINE__, 2, 0x10000, 1, 1, 1 },
	{ __LINE__, 3, 0xC000, 1, 1, 0 },
	{ __LINE__, 7, 0xFFFF, 3, 3, 2 },
	{ __LINE__, 0x65, 0x8000, 25, 25, 25 },
	{ __LINE__, 0x12347, 0x5555, 12427, 12427, 12427 },
	{ __LINE__, 0x1FFFE, 2, 1, 0, 1 },
	{ __LINE__, 0x20000, 1, 1, OFF, 1 },
	{ __LINE__, 100, 0, OFF, OFF, 0 },
	{ __LINE__, 5, 0x20000, REFUSED, 5, 4 },
	{ __LINE__, 0x100000008, 0x10000, 4, FAR, FAR },
	{ __LINE__, (uint64_t)-1, 0x10000, NONE, NONE, NONE },
};

static void check_vector(const struct psim_os *os, const struct vector *v,
                         long expected)
{
	int status;
	long got;

	simkit_begin(os);
	status = simkit_on(BINS * 2, v->scale);
	if (expected == REFUSED) {
		assert_int_equal(status, -1);
		assert_int_equal(errno, EINVAL);
		return;
	}
	assert_int_equal(status, 0);
	assert_int_equal(sim.is_on, expected != OFF);
	if (sim.is_on)
		simkit_hit(0, OFFSET + v->d);
	got = simkit_the_bin();
	if (got != (expected >= 0 ? expected : -1))
		fail_msg("line %d, %s: bin %ld, not %ld", v->line, os->name,
		         got, expected);
}

static void indices_are_those_of_the_sources(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		const struct vector *v = &vectors[i];

		check_vector(&psim_freebsd, v, v->bsd);
		check_vector(&psim_freebsd10, v, v->bsd);
		check_vector(&psim_netbsd, v, v->bsd);
		check_vector(&psim_openbsd, v, v->bsd);
		check_vector(&psim_openbsd78, v, v->bsd);
		check_vector(&psim_dragonfly, v, v->bsd);
		check_vector(&psim_solaris, v, v->solaris);
		check_vector(&psim_glibc, v, v->glibc);
	}
}

static void safe_arguments_mean_the_same_everywhere(void **state)
{
	(void)state;
	for (unsigned scale = 4; scale <= 65536; scale *= 2) {
		for (uint64_t d = 0; d < 70000; d += 131) {
			for (size_t i = 0; i < SYSTEMS; i++) {
				simkit_begin(psim_all_os[i]);
				simkit_on(BINS * 2, scale);
				simkit_hit(0, OFFSET + d);
				assert_int_equal(simkit_the_bin(),
				                 (long)(d * scale >> 17));
			}
		}
		scale *= 2; /* every other one is enough */
	}
}

static void below_the_offset_nothing_is_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		simkit_begin(psim_all_os[i]);
		simkit_on(BINS * 2, 65536);
		simkit_hit(0, OFFSET - 1);
		simkit_hit(0, OFFSET + BINS * 2);
		assert_int_equal(simkit_the_bin(), -1);
	}
}

static void glibc_on_32_bits_wraps_below_the_offset(void **state)
{
	(void)state;
	simkit_begin(&psim_glibc);
	sim.pointer_bits = 32;
	simkit_on(BINS * 2, 1);
	simkit_hit(0, OFFSET - 2); /* bin 32767 of a buffer that has it */
	assert_int_equal(simkit_the_bin(), 32767);
}

static void odd_sizes_overrun_except_in_glibc(void **state)
{
	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		simkit_begin(psim_all_os[i]);
		simkit_on(3, 65536);
		simkit_hit(0, OFFSET + 2);
		assert_int_equal(simkit_the_bin(),
		                 psim_all_os[i] == &psim_glibc ? -1 : 1);
	}
}

static void scale_2_of_illumos_forgets_the_size(void **state)
{
	(void)state;
	simkit_begin(&psim_solaris);
	simkit_on(0, 2);
	simkit_hit(0, OFFSET + 0x7000000000);
	assert_int_equal(bins[0], 1);
}

static void glibc_with_scale_0_counts_all_in_bin_0(void **state)
{
	(void)state;
	simkit_begin(&psim_glibc);
	simkit_on(BINS * 2, 0);
	simkit_hit(0, OFFSET + 500);
	simkit_hit(0, OFFSET - 500);
	assert_int_equal(bins[0], 2);
}

/* ---- errors ---- */

static void calls_check_only_what_the_kernels_check(void **state)
{
	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		simkit_begin(psim_all_os[i]);
		assert_int_equal(psim_profil(&sim, bins + 1, 7, 1, 4), 0);
		if (sim.os->null_stops)
			continue;
		assert_int_equal(psim_profil(&sim, NULL, 2, 0, 0), 0);
		assert_false(sim.is_on);
	}
	simkit_begin(&psim_freebsd); /* its int scale of -1 */
	assert_int_equal(psim_profil(&sim, bins, 2, 0, (unsigned)-1), -1);
	assert_int_equal(errno, EINVAL);
}

static void openbsd78_refuses_ordinary_programs(void **state)
{
	(void)state;
	simkit_begin(&psim_openbsd78);
	sim.has_gmon_note = false;
	assert_int_equal(simkit_on(64, 65537), -1);
	assert_int_equal(errno, EPERM); /* before the scale is looked at */
	assert_int_equal(simkit_on(64, 0), -1);
	assert_int_equal(errno, EPERM);
}

static int gmon(uint16_t *buffer, size_t bytes, unsigned scale, int directory)
{
	int status = psim_profil_gmon(&sim, buffer, bytes, 32, OFFSET, scale,
	                              directory);

	return status ? errno : 0;
}

static void openbsd78_checks_in_its_order(void **state)
{
	(void)state;
	simkit_begin(&psim_openbsd78);
	sim.has_gmon_note = false;
	assert_int_equal(gmon(bins, 64, 65537, EBADF), EPERM);
	sim.has_gmon_note = true;
	assert_int_equal(gmon(bins, 64, 65537, EBADF), EINVAL);
	assert_int_equal(gmon(bins, 64, 0, EBADF), 0);
	assert_int_equal(gmon(bins, 64, 65536, EBADF), EBADF);
	assert_int_equal(gmon(bins, 64, 65536, ENOTDIR), ENOTDIR);
	assert_int_equal(gmon(bins, 64, 65536, 0), 0);
	/* the first buffer, of its first length, for good */
	assert_int_equal(gmon(bins + 64, 64, 65536, 0), EALREADY);
	assert_int_equal(gmon(bins, 128, 65536, 0), EALREADY);
	assert_int_equal(gmon(bins, 64, 32768, EBADF), 0);
	assert_int_equal(gmon(NULL, 0, 0, 0), 0);
	assert_int_equal(gmon(bins + 64, 64, 65536, 0), EALREADY);
	psim_exec(&sim);
	sim.has_gmon_note = true;
	assert_int_equal(gmon(bins + 64, 128, 65536, 0), 0);
}

/* The buffer begins with the header of the file that the kernel will write. */
static void openbsd78_counts_behind_the_header(void **state)
{
	(void)state;
	simkit_begin(&psim_openbsd78);
	sim.has_gmon_note = true;
	assert_int_equal(gmon(bins, 72, 65536, 0), 0);
	simkit_hit(0, OFFSET + 6);
	assert_int_equal(simkit_the_bin(), 40 / 2 + 3);
	psim_exec(&sim);
	sim.has_gmon_note = true;
	sim.pointer_bits = 32;
	bins[40 / 2 + 3] = 0;
	assert_int_equal(gmon(bins, 64, 65536, 0), 0);
	simkit_hit(0, OFFSET + 6);
	assert_int_equal(simkit_the_bin(), 32 / 2 + 3);
}

/* A signed int, widened and compared: 2^31 bytes on is out of range, however
 * large the buffer is said to be. Who compares without sign owes the tick. */
static void sizes_of_2_gib_and_more(void **state)
{
	static const struct { const struct psim_os *os; bool owes; } rows[] = {
		{ &psim_freebsd, false }, { &psim_openbsd, false },
		{ &psim_openbsd78, false }, { &psim_netbsd, true },
		{ &psim_freebsd10, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct psim_owed *owed;

		simkit_begin(rows[i].os);
		assert_int_equal(simkit_on(SIZE_MAX, 65536), 0);
		psim_tick(&sim, 0, PSIM_USER, OFFSET + 0x80000000u, 1);
		owed = sim.os->pending == PSIM_PROCESS_SUMMED ?
		               &sim.process_owed : &sim.threads[0].owed;
		assert_int_equal(owed->is_set, rows[i].owes);
		psim_tick(&sim, 0, PSIM_USER, OFFSET + 0x7ffffffeu, 1);
		assert_true(owed->is_set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indices_are_those_of_the_sources),
		cmocka_unit_test(safe_arguments_mean_the_same_everywhere),
		cmocka_unit_test(below_the_offset_nothing_is_counted),
		cmocka_unit_test(glibc_on_32_bits_wraps_below_the_offset),
		cmocka_unit_test(odd_sizes_overrun_except_in_glibc),
		cmocka_unit_test(scale_2_of_illumos_forgets_the_size),
		cmocka_unit_test(glibc_with_scale_0_counts_all_in_bin_0),
		cmocka_unit_test(calls_check_only_what_the_kernels_check),
		cmocka_unit_test(openbsd78_refuses_ordinary_programs),
		cmocka_unit_test(openbsd78_checks_in_its_order),
		cmocka_unit_test(openbsd78_counts_behind_the_header),
		cmocka_unit_test(sizes_of_2_gib_and_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
