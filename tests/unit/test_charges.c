/* SPDX-License-Identifier: MIT */
/*
 * Waits where a system only charges its threads: a simulated Solaris, which charges
 * every state, and a simulated BSD, which charges CPU time and says what a thread
 * does now. What is told must be what the script says, computed here apart; then
 * each read fails in turn, and lifetimes must add up all the same.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend.h"
#include "backends/waits/waits_charges_kernel.h"
#include "tests/unit/waits_run.h"

#define MS UINT64_C(1000000)

/* ---- the script ---- */

enum doing { RUNS, READY, LOCKS, FAULTS, STOPPED, SLEEPS, DOINGS };

struct step {
	enum doing doing;
	uint64_t ms;
};

enum { STEPS = 8, PID = 50, FIRST = 1, SECOND = 2, LATE = 3, HELPER = 9 };

/* Repeated until the thread ends; 0: before, after everything. */
static const struct life {
	int64_t tid;
	uint64_t born_ms, dies_ms;
	struct step steps[STEPS];
} lives[] = {
	{ FIRST, 0, 0, { { RUNS, 30 }, { READY, 10 }, { LOCKS, 200 },
	                 { FAULTS, 20 }, { RUNS, 40 }, { SLEEPS, 300 },
	                 { STOPPED, 50 } } },
	{ SECOND, 0, 900, { { SLEEPS, 500 }, { RUNS, 5 } } },
	{ LATE, 1003, 0, { { RUNS, 10 }, { LOCKS, 150 } } },
};

enum { LIVES = sizeof(lives) / sizeof(lives[0]) };

static struct {
	uint64_t now_ns;
	unsigned calls, fails_at; /* 0: none */
} world;

/* By state, from the thread's birth to `at_ns`; and what it does then. */
static enum doing done_by(const struct life *life, uint64_t at_ns,
                          uint64_t ns[DOINGS])
{
	uint64_t at = life->born_ms * MS;
	enum doing now = RUNS;

	memset(ns, 0, DOINGS * sizeof(*ns));
	for (size_t i = 0; at < at_ns; i = (i + 1) % STEPS) {
		uint64_t step = life->steps[i].ms * MS;

		if (!step)
			continue;
		now = life->steps[i].doing;
		ns[now] += step < at_ns - at ? step : at_ns - at;
		at += step;
	}
	return now;
}

static bool is_alive(const struct life *life, uint64_t at_ns)
{
	return life->born_ms * MS <= at_ns &&
	       (!life->dies_ms || at_ns < life->dies_ms * MS);
}

/* ---- two systems ---- */

static uint64_t sim_now_ns(void *self)
{
	(void)self;
	return world.now_ns;
}

static struct waits_charge states_of(const struct life *life)
{
	uint64_t ns[DOINGS];

	done_by(life, world.now_ns, ns);
	return (struct waits_charge){
		.tid = life->tid, .running_ns = ns[RUNS],
		.ready_ns = ns[READY], .lock_ns = ns[LOCKS],
		.fault_ns = ns[FAULTS], .stopped_ns = ns[STOPPED],
		.other_ns = ns[SLEEPS],
	};
}

static struct waits_charge moment_of(const struct life *life)
{
	static const char *const channels[DOINGS] = {
		[LOCKS] = "umtxn", [FAULTS] = "pfault", [STOPPED] = "unknwn",
		[SLEEPS] = "nanslp"
	};
	uint64_t ns[DOINGS];
	enum doing now = done_by(life, world.now_ns, ns);
	struct waits_charge charge = { .tid = life->tid,
		                       .running_ns = ns[RUNS],
		                       .is_ready = now <= READY };

	if (channels[now])
		snprintf(charge.channel, sizeof(charge.channel), "%s",
		         channels[now]);
	return charge;
}

static int list(int64_t pid,
                bool (*take)(void *context, const struct waits_charge *charge),
                void *context,
                struct waits_charge (*charge_of)(const struct life *life))
{
	const struct waits_charge helper = { .tid = HELPER, .other_ns = 1 };

	if (++world.calls == world.fails_at)
		return -EIO;
	if (pid != PID)
		return -ESRCH;
	for (size_t i = 0; i < LIVES; i++) {
		struct waits_charge charge = charge_of(&lives[i]);

		if (is_alive(&lives[i], world.now_ns) &&
		    !take(context, &charge))
			return 0;
	}
	take(context, &helper);
	return 0;
}

static int list_states(void *self, int64_t pid,
                       bool (*take)(void *context,
                                    const struct waits_charge *charge),
                       void *context)
{
	(void)self;
	return list(pid, take, context, states_of);
}

static int list_moments(void *self, int64_t pid,
                        bool (*take)(void *context,
                                     const struct waits_charge *charge),
                        void *context)
{
	(void)self;
	return list(pid, take, context, moment_of);
}

static const struct waits_charges_kernel solaris = {
	.now_ns = sim_now_ns, .list = list_states, .has_states = true,
};
static const struct waits_charges_kernel bsd = {
	.now_ns = sim_now_ns, .list = list_moments,
};

/* ---- a session of it ---- */

static const char *const kinds[DOINGS] = {
	[LOCKS] = "lock", [FAULTS] = "page-fault", [STOPPED] = "stopped",
	[SLEEPS] = "other"
};

static struct {
	uint64_t weight[2]; /* of events */
	uint64_t by_kind[DOINGS], estimated;
	portprof_life life;
} told;

static void take_record(const portprof_batch *batch,
                        const portprof_record *record)
{
	const char *kind = waits_run_label(batch, record, 1);

	assert_true(record->valid & PORTPROF_FIELD_NOT_SEEN);
	assert_int_equal(record->pid, PID);
	assert_int_not_equal(record->tid, HELPER);
	assert_string_equal(waits_run_label(batch, record, 0),
	                    record->event ? "blocked" : "ready");
	told.weight[record->event] += record->weight;
	if (waits_run_label(batch, record, 4)[0])
		told.estimated += record->weight;
	if (strcmp(kind, "sleep") == 0) /* only a channel tells */
		assert_string_equal(waits_run_label(batch, record, 2), "channel nanslp");
	for (int i = LOCKS; i < DOINGS; i++)
		if (strcmp(kind, kinds[i]) == 0 ||
		    (i == SLEEPS && strcmp(kind, "sleep") == 0))
			told.by_kind[i] += record->weight;
}

static portprof_status open_session(int64_t pid)
{
	const struct ppi_plan plan = {
		.target = { .kind = PPI_TARGET_PROCESS, .pid = pid,
		            .is_self = true },
	};

	return waits_run_open(ppi_waits_kernel_here(), &plan, HELPER);
}

static void watch_for(uint64_t ms, uint64_t step_us, size_t records)
{
	uint64_t end_ns = world.now_ns + ms * MS;

	assert_int_equal(ppi_backend_waits.start(&run.bs, NULL), PORTPROF_OK);
	for (; world.now_ns < end_ns; world.now_ns += step_us * 1000)
		waits_run_drain(records, take_record);
	world.now_ns = end_ns;
	assert_int_equal(ppi_backend_waits.stop(&run.bs, NULL), PORTPROF_OK);
	waits_run_drain(records, take_record);
	told.life = run.bs.life;
}

static void begin(const struct waits_charges_kernel *kernel, uint64_t from_ms)
{
	memset(&told, 0, sizeof(told));
	world.calls = 0;
	world.now_ns = from_ms * MS;
	ppi_waits_set_charges(kernel);
}

static void end(void)
{
	waits_run_close();
	ppi_waits_set_charges(NULL);
}

static void measure(const struct waits_charges_kernel *kernel,
                    uint64_t from_ms, uint64_t ms, uint64_t step_us,
                    size_t records)
{
	begin(kernel, from_ms);
	if (open_session(PID) == PORTPROF_OK) {
		watch_for(ms, step_us, records);
		end();
	}
	ppi_waits_set_charges(NULL);
}

static void assert_closed(void)
{
	uint64_t sum = 0;

	assert_int_equal(told.life.lifetime_ns,
	                 told.life.running_ns + told.life.ready_ns +
	                         told.life.blocked_ns + told.life.unknown_ns);
	assert_int_equal(told.weight[0], told.life.ready_ns);
	assert_int_equal(told.weight[1], told.life.blocked_ns);
	for (int i = LOCKS; i < DOINGS; i++)
		sum += told.by_kind[i];
	assert_int_equal(sum, told.weight[1]);
}

/* ---- cases ---- */

/* All threads in [from, to), each while it lives. */
static void model(uint64_t from_ms, uint64_t to_ms, uint64_t sum[DOINGS])
{
	memset(sum, 0, DOINGS * sizeof(*sum));
	for (size_t i = 0; i < LIVES; i++) {
		const struct life *life = &lives[i];
		uint64_t first[DOINGS], last[DOINGS];
		uint64_t to = life->dies_ms && life->dies_ms < to_ms
		                      ? life->dies_ms : to_ms;

		if (to <= from_ms)
			continue;
		done_by(life, from_ms * MS, first);
		done_by(life, to * MS, last);
		for (int k = 0; k < DOINGS; k++)
			sum[k] += last[k] - first[k];
	}
}

static void assert_near(uint64_t got, uint64_t wanted, uint64_t most_ms)
{
	uint64_t gap = got > wanted ? got - wanted : wanted - got;

	if (gap > most_ms * MS)
		fail_msg("%llu, not %llu", (unsigned long long)got,
		         (unsigned long long)wanted);
}

/* To the nanosecond, but for what a thread did between the last look and its end;
 * however rarely somebody looks. */
static void states_are_exact(void **state)
{
	uint64_t sum[DOINGS];

	(void)state;
	for (uint64_t step_us = 997; step_us < 400000; step_us *= 7) {
		/* SECOND sleeps when it ends */
		uint64_t unseen_ms = 20 + step_us / 1000 + 1;

		measure(&solaris, 40, 3000, step_us, 16);
		assert_closed();
		model(40, 3040, sum);
		assert_int_equal(told.life.threads, 3);
		assert_int_equal(told.life.running_ns, sum[RUNS]);
		assert_int_equal(told.weight[0], sum[READY]);
		for (int i = LOCKS; i < SLEEPS; i++)
			assert_int_equal(told.by_kind[i], sum[i]);
		assert_near(told.by_kind[SLEEPS], sum[SLEEPS], unseen_ms);
		assert_int_equal(told.estimated, 0);
	}
}

/* Each look's time is the state's of that moment. */
static void moments_are_estimates(void **state)
{
	uint64_t sum[DOINGS];

	(void)state;
	measure(&bsd, 40, 3000, 997, 16);
	assert_closed();
	model(40, 3040, sum);
	assert_int_equal(told.life.running_ns, sum[RUNS]);
	/* a look is 20 ms, and a cycle of 650 ms has two ends of each */
	assert_near(told.weight[0], sum[READY], 5 * 2 * 21);
	for (int i = LOCKS; i < DOINGS; i++)
		assert_near(told.by_kind[i], sum[i], 2 * 5 * 2 * 21);
	/* a wait that is longer than two looks is mostly sure */
	assert_true(told.estimated > 0);
	assert_true(told.estimated < told.weight[1] / 4);
}

/* However little room there is. */
static void nothing_is_lost(void **state)
{
	uint64_t blocked;

	(void)state;
	measure(&solaris, 40, 2000, 997, 16);
	blocked = told.weight[1];
	measure(&solaris, 40, 2000, 997, 1);
	assert_closed();
	assert_int_equal(told.weight[1], blocked);
}

/* What passes while the session is stopped is none of it. */
static void a_stop_is_a_stop(void **state)
{
	uint64_t first[DOINGS], second[DOINGS];

	(void)state;
	begin(&solaris, 40);
	assert_int_equal(open_session(PID), PORTPROF_OK);
	watch_for(400, 997, 16);
	world.now_ns += 300 * MS;
	watch_for(100, 997, 16);
	end();
	assert_closed();
	model(40, 440, first);
	model(740, 840, second);
	assert_int_equal(told.life.running_ns, first[RUNS] + second[RUNS]);
	assert_int_equal(told.by_kind[LOCKS], first[LOCKS] + second[LOCKS]);
	assert_int_equal(told.by_kind[SLEEPS], first[SLEEPS] + second[SLEEPS]);
}

/* Whatever read fails, once, the next one has its time, too; what is before the first
 * that succeeds is in no sum. */
static void any_read_may_fail(void **state)
{
	const struct waits_charges_kernel *kernels[] = { &solaris, &bsd };
	uint64_t blocked;
	unsigned calls;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		measure(kernels[i], 340, 1500, 3331, 16);
		calls = world.calls;
		blocked = told.weight[1];
		assert_true(calls > 40);
		for (unsigned k = 1; k <= calls; k++) {
			world.fails_at = k;
			measure(kernels[i], 340, 1500, 3331, 16);
			assert_closed();
			if (k > 1) /* else it is not opened */
				assert_near(told.weight[1], blocked, 3 * 25);
		}
		world.fails_at = 0;
	}
}

static void what_is_not_there_is_refused(void **state)
{
	struct ppi_event_request request = { .text = "blocked-time",
		                             .name = "blocked-time" };
	struct ppi_probe probe = { 0 };
	struct ppi_event event;
	struct ppi_diag why;

	(void)state;
	begin(&solaris, 40);
	assert_int_equal(open_session(PID + 1), PORTPROF_E_INVALID);
	ppi_backend_waits.probe(ppi_waits_kernel_here(), &probe);
	assert_true(probe.caps & PORTPROF_CAP_WAITS);
	assert_false(probe.caps & (PORTPROF_CAP_CHAIN | PORTPROF_CAP_CHILDREN |
	                           PORTPROF_CAP_SYSTEM));
	ppi_waits_set_charges(NULL);
	ppi_waits_set_kernel(ppi_no_kernel);
	assert_null(ppi_waits_kernel_here());
	assert_int_equal(ppi_backend_waits.resolve(ppi_waits_kernel_here(),
	                                           &request, PPI_SAMPLE,
	                                           &event, &why),
	                 PORTPROF_E_UNSUPPORTED);
	ppi_waits_set_kernel(NULL);
}

/* usage: PROGRAM [CASE]    cases that this pattern matches alone */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_are_exact),
		cmocka_unit_test(moments_are_estimates),
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(a_stop_is_a_stop),
		cmocka_unit_test(any_read_may_fail),
		cmocka_unit_test(what_is_not_there_is_refused),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("charges", tests, NULL, NULL);
}
