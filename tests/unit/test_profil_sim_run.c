/* SPDX-License-Identifier: MIT */
/* Simulated profil(2) and pcsample(2) treat ticks as the real ones do: of a
 * process that waits, in the kernel, at limits and faults, at fork and exec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "tests/sim/profil_run.h"
#include "tests/unit/profil_sim_kit.h"

/* ---- pending ticks ---- */

static void nothing_is_written_before_the_return_to_user(void **state)
{
	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		simkit_begin(psim_all_os[i]);
		simkit_on(64, 65536);
		sim.process_cpu_ns = sim.timer_at_ns;
		psim_tick(&sim, 0, PSIM_USER, OFFSET + 2, 1);
		psim_stat_tick(&sim, 0, PSIM_USER, OFFSET + 2, 1);
		assert_int_equal(simkit_the_bin(), -1);
		psim_return_to_user(&sim, 0, OFFSET + 2);
		assert_int_equal(simkit_the_bin(), 1);
	}
}

static void freebsd_loses_a_pending_tick_to_the_next(void **state)
{
	(void)state;
	simkit_begin(&psim_freebsd);
	simkit_on(64, 65536);
	psim_tick(&sim, 0, PSIM_USER, OFFSET + 2, 1);
	psim_tick(&sim, 0, PSIM_USER, OFFSET + 4, 1);
	psim_tick(&sim, 1, PSIM_USER, OFFSET + 8, 1); /* its own slot */
	psim_return_to_user(&sim, 0, OFFSET);
	psim_return_to_user(&sim, 1, OFFSET);
	assert_int_equal(bins[1], 0);
	assert_int_equal(bins[2], 1);
	assert_int_equal(bins[4], 1);
	assert_int_equal(sim.lost_ticks, 1);
}

static void netbsd_mixes_the_threads_of_a_process(void **state)
{
	(void)state;
	simkit_begin(&psim_netbsd);
	simkit_on(64, 65536);
	psim_tick(&sim, 0, PSIM_USER, OFFSET + 2, 1);
	psim_tick(&sim, 1, PSIM_USER, OFFSET + 8, 1);
	psim_return_to_user(&sim, 0, OFFSET + 2);
	assert_int_equal(bins[1], 0);
	assert_int_equal(bins[4], 2);
}

static void openbsd_adds_up_at_the_last_address(void **state)
{
	(void)state;
	simkit_begin(&psim_openbsd);
	simkit_on(64, 65536);
	psim_tick(&sim, 0, PSIM_USER, OFFSET + 2, 3);
	psim_tick(&sim, 0, PSIM_USER, OFFSET + 8, 1);
	psim_return_to_user(&sim, 0, OFFSET);
	assert_int_equal(bins[4], 4);
}

/* Both are written, both where the later one was: nothing is lost. */
static void dragonfly_misplaces_across_threads(void **state)
{
	(void)state;
	simkit_begin(&psim_dragonfly);
	simkit_on(64, 65536);
	psim_stat_tick(&sim, 0, PSIM_USER, OFFSET + 2, 1);
	psim_stat_tick(&sim, 1, PSIM_USER, OFFSET + 8, 1);
	psim_return_to_user(&sim, 0, OFFSET + 2);
	psim_return_to_user(&sim, 1, OFFSET + 8);
	assert_int_equal(bins[1], 0);
	assert_int_equal(bins[4], 2);
	assert_int_equal(sim.lost_ticks, 0);
	/* one CPU has one flag: its second tick replaces the first */
	psim_stat_tick(&sim, 0, PSIM_USER, OFFSET + 2, 1);
	psim_stat_tick(&sim, 0, PSIM_USER, OFFSET + 6, 1);
	psim_return_to_user(&sim, 0, OFFSET + 6);
	psim_return_to_user(&sim, 0, OFFSET + 6);
	assert_int_equal(bins[1], 0);
	assert_int_equal(bins[3], 1);
	assert_int_equal(sim.lost_ticks, 1);
}

static void a_tick_owed_at_a_stop_is_dropped_except_on_freebsd10(void **state)
{
	static const struct psim_os *const systems[] = { &psim_freebsd,
		                                         &psim_freebsd10 };
	static uint16_t other[32];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		simkit_begin(systems[i]);
		memset(other, 0, sizeof(other));
		simkit_on(64, 65536);
		psim_tick(&sim, 0, PSIM_USER, OFFSET + 2, 1);
		psim_profil(&sim, NULL, 0, 0, 0);
		psim_return_to_user(&sim, 0, OFFSET + 2);
		psim_profil(&sim, other, sizeof(other), OFFSET, 65536);
		psim_return_to_user(&sim, 0, OFFSET + 20); /* any AST */
		assert_int_equal(simkit_the_bin(), -1);
		assert_int_equal(other[1], systems[i] == &psim_freebsd10);
	}
}

/* pr_scale is 0: a system call's return does not look at what is owed, a
 * trap's drops it. */
static void illumos_keeps_what_is_owed_over_a_stop(void **state)
{
	(void)state;
	for (unsigned by_trap = 0; by_trap < 2; by_trap++) {
		simkit_begin(&psim_solaris);
		simkit_on(64, 65536);
		psim_tick(&sim, 0, PSIM_KERNEL, OFFSET, 3);
		psim_profil(&sim, NULL, 0, 0, 0);
		if (by_trap)
			psim_return_to_user(&sim, 0, OFFSET + 2);
		else
			psim_return_from_call(&sim, 0, OFFSET + 2);
		assert_int_equal(simkit_the_bin(), -1);
		simkit_on(64, 65536);
		psim_return_from_call(&sim, 0, OFFSET + 8);
		assert_int_equal(bins[4], by_trap ? 0 : 3);
	}
}

/* need_resched() is the calling CPU's. */
static void openbsd78_ticks_other_cpus_from_their_next_switch_on(void **state)
{
	(void)state;
	simkit_begin(&psim_openbsd78);
	simkit_on(64, 65536);
	simkit_hit(1, OFFSET + 2);
	assert_int_equal(simkit_the_bin(), -1);
	simkit_hit(0, OFFSET + 4);
	assert_int_equal(bins[2], 1);
	psim_switch(&sim, 1);
	simkit_hit(1, OFFSET + 2);
	assert_int_equal(bins[1], 1);
	psim_profil(&sim, NULL, 0, 0, 0);
	psim_switch(&sim, 1);
	simkit_on(64, 65536); /* from the next switch, again */
	simkit_hit(1, OFFSET + 2);
	assert_int_equal(bins[1], 1);
}

static void glibc_has_one_pending_signal(void **state)
{
	(void)state;
	simkit_begin(&psim_glibc);
	simkit_on(64, 65536);
	sim.process_cpu_ns = sim.timer_at_ns + 2 * sim.timer_every_ns;
	psim_stat_tick(&sim, 0, PSIM_USER, OFFSET, 1);
	psim_stat_tick(&sim, 1, PSIM_USER, OFFSET, 1);
	psim_return_to_user(&sim, 1, OFFSET + 6);
	psim_return_to_user(&sim, 0, OFFSET + 2);
	assert_int_equal(simkit_the_bin(), 3);
	assert_int_equal(bins[3], 1);
	assert_int_equal(sim.lost_ticks, 1);
}

static void parameters_of_the_return_decide(void **state)
{
	static uint16_t other[32];

	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		simkit_begin(psim_all_os[i]);
		if (sim.os->needs_gmon_note || sim.os->null_stops)
			continue; /* one buffer for good; no kernel */
		memset(other, 0, sizeof(other));
		simkit_on(64, 65536);
		psim_tick(&sim, 0, PSIM_USER, OFFSET + 2, 1);
		psim_stat_tick(&sim, 0, PSIM_USER, OFFSET + 2, 1);
		psim_profil(&sim, other, sizeof(other), OFFSET - 2, 65536);
		psim_return_to_user(&sim, 0, OFFSET + 2);
		assert_int_equal(simkit_the_bin(), -1);
		assert_int_equal(other[2], 1);
	}
}

static void a_copyout_begun_lands_after_a_replace(void **state)
{
	static uint16_t other[32];

	(void)state;
	simkit_begin(&psim_netbsd);
	simkit_on(64, 65536);
	psim_update_begin(&sim, 0, OFFSET + 2, 1);
	psim_profil(&sim, other, sizeof(other), OFFSET, 65536);
	assert_int_equal(bins[1], 0);
	psim_update_finish(&sim, 0);
	assert_int_equal(bins[1], 1);
}

/* ---- kernel mode ---- */

static void kernel_time_is_charged_as_each_system_does(void **state)
{
	static const long expected[] = { 64, 2, 2, 2, 10000, 2, 1, 64 };

	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		simkit_begin(psim_all_os[i]);
		sim.prof_hz = sim.os->kernel_tick == PSIM_STAT_LUMP ? 6400 :
		                                                      100;
		simkit_on(64, 65536);
		sim.process_cpu_ns = sim.timer_at_ns;
		psim_tick(&sim, 0, PSIM_KERNEL, OFFSET + 2, 2);
		psim_stat_tick(&sim, 0, PSIM_KERNEL, OFFSET + 2, 1);
		assert_int_equal(simkit_the_bin(), -1);
		psim_return_to_user(&sim, 0, OFFSET + 2);
		assert_int_equal(bins[1], expected[i]);
	}
}

static void illumos_bills_all_that_is_owed_at_one_pc(void **state)
{
	uint64_t samples[8] = { 0 };

	(void)state;
	simkit_begin(&psim_solaris);
	assert_int_equal(psim_pcsample(&sim, samples, 8), 0);
	psim_tick(&sim, 0, PSIM_KERNEL, 0x111, 3);
	psim_return_to_user(&sim, 0, 0x222);
	assert_int_equal(samples[0], 0x222);
	assert_int_equal(samples[2], 0x222);
	assert_int_equal(samples[3], 0);
	assert_int_equal(psim_pcsample(&sim, samples, 0), 3);
}

/* ---- limits ---- */

static void bins_wrap_or_stop(void **state)
{
	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		simkit_begin(psim_all_os[i]);
		simkit_on(64, 65536);
		bins[1] = sim.os->stops_at_32767 ? 32766 : 65535;
		simkit_hit(0, OFFSET + 2);
		assert_int_equal(bins[1],
		                 sim.os->stops_at_32767 ? 32767 : 0);
		simkit_hit(0, OFFSET + 2);
		assert_int_equal(bins[1],
		                 sim.os->stops_at_32767 ? 32767 : 1);
		simkit_hit(0, OFFSET + 4); /* the whole process has stopped */
		assert_int_equal(bins[2], !sim.os->stops_at_32767);
	}
}

static void illumos_wraps_a_bin_preset_to_65535(void **state)
{
	(void)state;
	simkit_begin(&psim_solaris);
	simkit_on(64, 65536);
	bins[1] = 65535;
	simkit_hit(0, OFFSET + 2);
	assert_int_equal(bins[1], 0);
	assert_true(sim.is_on);
}

static void a_full_array_stops_on_the_next_tick(void **state)
{
	uint64_t samples[2] = { 0 };

	(void)state;
	simkit_begin(&psim_solaris);
	psim_pcsample(&sim, samples, 2);
	simkit_hit(0, 0x10);
	simkit_hit(0, 0x20);
	assert_true(sim.is_on);
	simkit_hit(0, 0x30);
	assert_false(sim.is_on);
	assert_int_equal(psim_pcsample(&sim, samples, 2), 2);
	assert_true(sim.is_on);
}

/* ---- faults ---- */

static void a_bad_buffer_stops_silently(void **state)
{
	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		simkit_begin(psim_all_os[i]);
		psim_protect(&sim, bins, 64);
		assert_int_equal(simkit_on(64, 65536), 0);
		assert_true(sim.is_on);
		simkit_hit(0, OFFSET + 2);
		assert_false(sim.is_on);
		assert_int_equal(simkit_the_bin(), -1);
		assert_int_equal(sim.is_dead, sim.os->fault_kills);
	}
}

/* ---- fork, exec, pcsample's count ---- */

static void a_child_goes_on_in_its_own_copy(void **state)
{
	struct psim child, parent;

	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		simkit_begin(psim_all_os[i]);
		simkit_on(64, 65536);
		simkit_hit(0, OFFSET + 2);
		psim_fork(&sim, &child);
		parent = sim;
		sim = child;
		if (sim.os->child_inherits)
			simkit_hit(0, OFFSET + 2);
		else
			assert_int_equal(sim.timer_every_ns, 0);
		child = sim;
		sim = parent;
		assert_int_equal(bins[1], 1);
		assert_int_equal(psim_child_bin(&child, &bins[1]),
		                 child.os->child_inherits ? 2 : 1);
		psim_free(&child);
	}
}

/* Also where it chooses another buffer than the parent's, and to the last byte
 * that the kernel writes of a buffer of odd size. */
static void all_memory_of_a_child_is_its_own(void **state)
{
	static uint16_t other[32];
	struct psim child, parent;

	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		simkit_begin(psim_all_os[i]);
		memset(other, 0, sizeof(other));
		if (!sim.os->child_inherits)
			continue;
		simkit_on(3, 65536);
		simkit_hit(0, OFFSET + 2); /* two bytes from the third on */
		psim_fork(&sim, &child);
		simkit_hit(0, OFFSET + 2); /* the parent's alone */
		parent = sim;
		sim = child;
		simkit_hit(0, OFFSET + 2);
		simkit_hit(0, OFFSET + 2);
		if (!sim.os->needs_gmon_note) {
			psim_profil(&sim, other, sizeof(other), OFFSET, 65536);
			simkit_hit(0, OFFSET + 6);
			assert_int_equal(psim_child_bin(&sim, &other[3]), 1);
		}
		child = sim;
		sim = parent;
		assert_int_equal(bins[1], 2);
		assert_int_equal(psim_child_bin(&child, &bins[1]), 3);
		assert_int_equal(other[3], 0);
		psim_free(&child);
	}
}

static void pcsample_counts_of_earlier_calls(void **state)
{
	uint64_t samples[8];
	struct psim child;

	(void)state;
	simkit_begin(&psim_solaris);
	psim_pcsample(&sim, samples, 8);
	simkit_hit(0, 0x10);
	simkit_hit(0, 0x10);
	psim_fork(&sim, &child);
	/* a child's first call tells the parent's count */
	assert_int_equal(psim_pcsample(&child, samples, 8), 2);
	psim_free(&child);
	simkit_on(64, 65536);
	assert_int_equal(psim_pcsample(&sim, samples, 8), 0);
	simkit_hit(0, 0x10);
	assert_int_equal(psim_pcsample(&sim, samples, -1), -1);
	assert_int_equal(errno, EINVAL);
	simkit_hit(0, 0x10); /* a refused call changes nothing */
	psim_exec(&sim);
	assert_int_equal(psim_pcsample(&sim, samples, 8), 0);
}

static void pcsample_of_32_bits_is_limited(void **state)
{
	uint32_t samples[4] = { 0 };

	(void)state;
	simkit_begin(&psim_solaris);
	sim.pointer_bits = 32;
	if (sizeof(long) > 4) { /* else nobody can ask for more */
		long too_many = (long)((uint64_t)INT32_MAX + 1);

		assert_int_equal(psim_pcsample(&sim, samples, too_many), -1);
		assert_int_equal(errno, EINVAL);
	}
	assert_int_equal(psim_pcsample(&sim, samples, 4), 0);
	simkit_hit(0, 0x1234);
	simkit_hit(0, 0x5678);
	assert_int_equal(samples[1], 0x5678);
}

static void exec_ends_it_but_for_glibcs_timer(void **state)
{
	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		simkit_begin(psim_all_os[i]);
		simkit_on(64, 65536);
		psim_exec(&sim);
		simkit_hit(0, OFFSET + 2);
		assert_int_equal(simkit_the_bin(), -1);
		assert_int_equal(sim.is_dead, sim.os == &psim_glibc);
	}
}

static void glibc_stop_kills_when_a_signal_is_pending(void **state)
{
	(void)state;
	simkit_begin(&psim_glibc);
	simkit_on(64, 65536);
	sim.process_cpu_ns = sim.timer_at_ns;
	psim_stat_tick(&sim, 0, PSIM_USER, OFFSET, 1);
	psim_profil(&sim, NULL, 0, 0, 0);
	assert_true(sim.is_dead);

	simkit_begin(&psim_glibc);
	psim_set_action(&sim, PSIM_IGNORED);
	simkit_on(64, 65536);
	sim.process_cpu_ns = sim.timer_at_ns;
	psim_stat_tick(&sim, 0, PSIM_USER, OFFSET, 1);
	psim_profil(&sim, NULL, 0, 0, 0);
	assert_false(sim.is_dead);
}

/* ---- programs ---- */

static void a_program_gets_its_ticks(void **state)
{
	/* DragonFly: microseconds beside user ticks */
	static const uint64_t low[] = { 890, 999, 999, 999, 500, 999, 99,
		                        890 };
	struct prun run;

	(void)state;
	for (size_t i = 0; i < SYSTEMS; i++) {
		struct prun_work works[] = {
			{ 0, OFFSET, OFFSET + 64, 600000000, 200000000 },
			{ 1, OFFSET + 64, OFFSET + 128, 400000000, 0 },
		};
		uint64_t sum = 0;

		simkit_begin(psim_all_os[i]);
		sim.stat_hz = sim.os->pending == PSIM_SIGNAL ? 250 : 1000;
		sim.prof_hz = sim.os->pending == PSIM_SIGNAL ? 100 : 1000;
		prun_init(&run, &sim, 1);
		simkit_on(BINS * 2, 65536);
		prun_works(&run, works, 2);
		for (size_t b = 0; b < 64; b++)
			sum += bins[b];
		assert_int_equal(sim.process_cpu_ns, 1000000000);
		assert_true(sum >= low[i]);
		if (sim.os->kernel_tick != PSIM_MICROSECONDS)
			assert_true(sum <= 1001);
	}
	psim_free(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_written_before_the_return_to_user),
		cmocka_unit_test(freebsd_loses_a_pending_tick_to_the_next),
		cmocka_unit_test(netbsd_mixes_the_threads_of_a_process),
		cmocka_unit_test(openbsd_adds_up_at_the_last_address),
		cmocka_unit_test(dragonfly_misplaces_across_threads),
		cmocka_unit_test(
			a_tick_owed_at_a_stop_is_dropped_except_on_freebsd10),
		cmocka_unit_test(illumos_keeps_what_is_owed_over_a_stop),
		cmocka_unit_test(
			openbsd78_ticks_other_cpus_from_their_next_switch_on),
		cmocka_unit_test(glibc_has_one_pending_signal),
		cmocka_unit_test(parameters_of_the_return_decide),
		cmocka_unit_test(a_copyout_begun_lands_after_a_replace),
		cmocka_unit_test(kernel_time_is_charged_as_each_system_does),
		cmocka_unit_test(illumos_bills_all_that_is_owed_at_one_pc),
		cmocka_unit_test(bins_wrap_or_stop),
		cmocka_unit_test(illumos_wraps_a_bin_preset_to_65535),
		cmocka_unit_test(a_full_array_stops_on_the_next_tick),
		cmocka_unit_test(a_bad_buffer_stops_silently),
		cmocka_unit_test(a_child_goes_on_in_its_own_copy),
		cmocka_unit_test(all_memory_of_a_child_is_its_own),
		cmocka_unit_test(pcsample_counts_of_earlier_calls),
		cmocka_unit_test(pcsample_of_32_bits_is_limited),
		cmocka_unit_test(exec_ends_it_but_for_glibcs_timer),
		cmocka_unit_test(glibc_stop_kills_when_a_signal_is_pending),
		cmocka_unit_test(a_program_gets_its_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
