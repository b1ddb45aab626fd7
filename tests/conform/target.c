/* SPDX-License-Identifier: MIT */
/* Targets other than the whole process, and call chains. */
#include "config.h"

#include "tests/conform/conform.h"

#include <errno.h>
#ifdef __linux__
#include <sched.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void sample_10_one_thread_alone(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	struct cf_program own = { .count = 0 };
	portprof_session *session;
	struct expect expect;
	portprof_stats stats;

	(void)state;
	cf_needs(PORTPROF_CAP_THREAD);
	assert_int_equal(
		portprof_config_set_target(config, PORTPROF_TARGET_THREAD, 0),
		PORTPROF_OK);
	session = cf_open(config);
	fixture.thread_start(1);
	cf_start(session);
	cf_work(&program, 0, 0, 50 * CF_MS);
	cf_work(&program, 1, 1, 100 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	own.works[0] = program.works[0];
	own.used_ns[0] = program.used_ns[0];
	own.count = own.done = 1;
	expect = cf_expect(&own, CF_PERIOD_NS);
	stats = cf_stats(session, 0);
	cf_in_range(stats.kept_weight, expect.sampled, "weight");
	cf_in_range(stats.total_weight,
	            (struct expect_range){ own.used_ns[0] -
	                                           own.used_ns[0] / 20,
	                                   expect.sampled.high },
	            "total");
	fixture.thread_end(1);
	cf_close(session);
}

static void sample_10_another_thread_by_its_id(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	uint64_t mine, its;

	(void)state;
	cf_needs(PORTPROF_CAP_THREAD);
	fixture.thread_start(1);
	assert_int_equal(portprof_config_set_target(config, PORTPROF_TARGET_TID,
						    fixture.thread_tid(1)),
			 PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	cf_work(&program, 0, 0, 150 * CF_MS);
	cf_work(&program, 1, 1, 50 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	mine = cf_used_by(&program, 0);
	its = cf_used_by(&program, 1);
	assert_true(cf_stats(session, 0).total_weight >= its - its / 20);
	assert_true(cf_stats(session, 0).total_weight < its + mine / 2 + 1);
	fixture.thread_end(1);
	cf_close(session);
}

static void sample_10_no_such_thread_is_refused(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_status status;

	(void)state;
	assert_int_equal(portprof_config_set_target(config, PORTPROF_TARGET_TID,
						    0x3ffffff0),
			 PORTPROF_OK);
	status = cf_try_open(config, &session);
	assert_true(status == PORTPROF_E_NOTFOUND ||
	            status == PORTPROF_E_UNSUPPORTED ||
	            status == PORTPROF_E_DENIED);
	cf_diag(status);
	assert_null(session);
}

/* A child that burns CPU time until it is told to end. */
static pid_t start_burner(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	for (unsigned i = 0; i < 1000; i++)
		cf_burn(0, 0, 10 * CF_MS);
	_exit(0);
}

static void end_burner(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
}

static void sample_11_another_process(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_status status;
	pid_t pid;

	(void)state;
	cf_needs(PORTPROF_CAP_ATTACH);
	cf_needs_real();
	pid = start_burner();
	assert_int_equal(
		portprof_config_set_target(config, PORTPROF_TARGET_PID, pid),
		PORTPROF_OK);
	status = cf_try_open(config, &session);
	if (status) {
		end_burner(pid);
		fail_msg("%s", portprof_last_diag()->words);
	}
	cf_start(session);
	/* it runs when the machine lets it: wait until it was seen */
	for (unsigned i = 0; i < 200; i++) {
		fixture.idle(50 * CF_MS);
		portprof_session_flush(session);
		if (cf_stats(session, 0).kept_weight > 20 * CF_MS)
			break;
	}
	assert_int_equal(kill(pid, 0), 0);
	cf_stop(session);
	end_burner(pid);
	assert_true(cf_stats(session, 0).kept_weight > 20 * CF_MS);
	cf_close(session);
}

/* What each kind of process had in samples. */
struct seen {
	int64_t own, other;      /* process ids */
	int64_t cpu;             /* the only one expected; -1: any */
	/* the helper adds while the case looks */
	_Atomic uint64_t own_ns, other_ns, idle_ns, stray_ns;
};

static void note_system(const portprof_batch *batch, void *context)
{
	struct seen *seen = context;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		if (record->pid == 0)
			seen->idle_ns += record->weight;
		if (record->pid == seen->own)
			seen->own_ns += record->weight;
		if (record->pid == seen->other)
			seen->other_ns += record->weight;
		if (seen->cpu >= 0 && record->cpu != seen->cpu)
			seen->stray_ns += record->weight;
	}
}

/* Until both were seen; on some CPUs, until we were. */
static void watch_system(const char *cpus, struct seen *seen)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	portprof_stats stats;

	assert_int_equal(portprof_config_set_target_system(config, NULL, cpus),
			 PORTPROF_OK);
	assert_int_equal(portprof_config_add_callback(config, note_system,
	                                              seen), PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	for (unsigned i = 0; i < 200; i++) {
		cf_burn(0, 0, 10 * CF_MS);
		fixture.idle(10 * CF_MS);
		portprof_session_flush(session);
		if (cpus ? seen->own_ns > 0
		         : seen->own_ns > 20 * CF_MS &&
		           seen->other_ns > 20 * CF_MS)
			break;
	}
	cf_stop(session);
	/* A CPU that nobody used has its tail and next to nothing else. */
	stats = cf_stats(session, 0);
	if (portprof_session_caps(session) & PORTPROF_CAP_LOST_EXACT &&
	    stats.total_weight >= 200 * CF_MS)
		assert_true(stats.unattributed_weight <=
		            stats.total_weight / 2);
	cf_close(session);
}

static void sample_16_all_that_run_anywhere(void **state)
{
	struct seen seen = { .own = getpid(), .cpu = -1 };

	(void)state;
	cf_needs(PORTPROF_CAP_SYSTEM);
	cf_needs_real();
	seen.other = start_burner();
	watch_system(NULL, &seen);
	end_burner((pid_t)seen.other);
	assert_true(seen.own_ns > 20 * CF_MS);
	assert_true(seen.other_ns > 20 * CF_MS);
	assert_int_equal(seen.idle_ns, 0);
}

/* Where nobody runs there are no samples, as on most CPUs of an idle machine: the case
 * looks where it runs itself. Only Linux samples CPUs. */
static void sample_16_one_cpu_alone(void **state)
{
	(void)state;
	cf_needs(PORTPROF_CAP_SYSTEM);
	cf_needs(PORTPROF_CAP_CPU);
	cf_needs_real();
#ifdef __linux__
	struct seen seen = { .own = getpid(), .cpu = sched_getcpu() };
	cpu_set_t before, here;
	char cpus[16];

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&here);
	CPU_SET((size_t)seen.cpu, &here);
	assert_int_equal(sched_setaffinity(0, sizeof(here), &here), 0);
	snprintf(cpus, sizeof(cpus), "%d", (int)seen.cpu);
	watch_system(cpus, &seen);
	sched_setaffinity(0, sizeof(before), &before);
	assert_true(seen.own_ns > 0);
	assert_int_equal(seen.stray_ns, 0);
	assert_int_equal(seen.idle_ns, 0);
#endif
}

static void sample_16_cpus_must_be_there(void **state)
{
	static const char *const bad[] = { "", "x", "1,", "3-1", "0-", "-1",
		                           "0 1", "9999999" };
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_status status;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(
			portprof_config_set_target_system(config, NULL, bad[i]),
			PORTPROF_E_INVALID);
		cf_diag(PORTPROF_E_INVALID);
	}
	assert_int_equal(
		portprof_config_set_target_system(config, NULL, "0,99999"),
		PORTPROF_OK);
	status = cf_try_open(config, &session);
	assert_true(status == PORTPROF_E_INVALID ||
	            (!cf_has(PORTPROF_CAP_SYSTEM) &&
	             (status == PORTPROF_E_UNSUPPORTED ||
	              status == PORTPROF_E_DENIED)));
	cf_diag(status);
	assert_null(session);
}

static void sample_12_chains_begin_at_the_leaf(void **state)
{
	enum { DEPTH = 8 };
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_log *log;

	(void)state;
	cf_needs(PORTPROF_CAP_CHAIN);
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	assert_int_equal(portprof_config_set_number(config, "callchain", DEPTH),
			 PORTPROF_OK);
	log = cf_log(config);
	session = cf_open(config);
	cf_start(session);
	cf_work(&program, 0, 0, 60 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	if (cf_used(&program) > 0)
		assert_true(log->count > 0);
	for (size_t i = 0; i < log->count; i++) {
		assert_true(log->records[i].valid & PORTPROF_FIELD_CHAIN);
		assert_in_range(log->chains[i][0], 1, DEPTH);
		assert_int_equal(log->chains[i][1], log->records[i].address);
	}
	cf_close(session);
}

/* Three functions that call each other, and where each call returns to. */
static void *volatile returns[3];
static volatile uint64_t burnt;

static __attribute__((noinline)) void called_0(void)
{
	returns[0] = __builtin_return_address(0);
	burnt += cf_burn(0, 0, 100 * CF_MS);
}

static __attribute__((noinline)) void called_1(void)
{
	returns[1] = __builtin_return_address(0);
	called_0();
	burnt++; /* after the call, which is no jump then */
}

static __attribute__((noinline)) void called_2(void)
{
	returns[2] = __builtin_return_address(0);
	called_1();
	burnt++;
}

static bool has_callers_in_order(const uint64_t chain[1 + CF_DEPTH])
{
	size_t depth = chain[0] < CF_DEPTH ? chain[0] : CF_DEPTH, next = 0;

	if (fixture.caller) {
		for (unsigned i = 0; i < depth; i++)
			if (chain[1 + i] != fixture.caller(chain[1], i))
				return false;
		return depth > 2;
	}
	for (size_t i = 1; i <= depth && next < 3; i++)
		if (chain[i] == (uintptr_t)returns[next])
			next++;
		else if (next > 0)
			return false;
	return next == 3;
}

/* Who was called last comes first, its caller next, and so on. A simulated
 * kernel says what its program's callers are. */
static void sample_12_callers_come_in_order(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	uint64_t in_order = 0;
	struct cf_log *log;

	(void)state;
	cf_needs(PORTPROF_CAP_CHAIN);
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	if (!fixture.caller) {
		cf_needs(PORTPROF_CAP_UNWIND);
		cf_needs_real();
	}
	portprof_config_set_number(config, "callchain", CF_DEPTH);
	portprof_config_set_number(config, "unwind", fixture.caller ?
	                           PORTPROF_UNWIND_FP :
	                           PORTPROF_UNWIND_DWARF);
	log = cf_log(config);
	if (cf_try_open(config, &session) != PORTPROF_OK) {
		cf_diag(PORTPROF_E_UNSUPPORTED);
		cf_skip("%s", portprof_last_diag()->words);
	}
	cf_start(session);
	called_2();
	cf_stop(session);
	for (size_t i = 0; i < log->count; i++)
		if (has_callers_in_order(log->chains[i]))
			in_order += log->records[i].weight;
	assert_true(in_order > 0);
	assert_true(in_order >= cf_stats(session, 0).kept_weight / 20 * 17);
	cf_close(session);
}

/* Weight of chains that are whole; each says whether it is. */
static uint64_t whole_weight(const struct cf_log *log, uint64_t most)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < log->count; i++) {
		const portprof_record *record = &log->records[i];

		assert_true(record->valid & PORTPROF_FIELD_CHAIN);
		assert_in_range(log->chains[i][0], 1, most);
		assert_int_equal(log->chains[i][1], record->address);
		assert_in_range(record->chain_end, PORTPROF_CHAIN_WHOLE,
		                PORTPROF_CHAIN_DEPTH);
		if (record->chain_end == PORTPROF_CHAIN_WHOLE)
			weight += record->weight;
	}
	return weight;
}

/* Of the fixture's own program, however it was compiled, nearly all; what a
 * simulated kernel copies need not be a stack. */
static void check_whole_chains(bool waits)
{
	enum { DEPTH = 127 };
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	portprof_stats stats;
	struct cf_log *log;
	int fd;

	cf_needs(PORTPROF_CAP_UNWIND);
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	portprof_config_set_number(config, "callchain", DEPTH);
	portprof_config_set_number(config, "unwind", PORTPROF_UNWIND_DWARF);
	portprof_config_set_number(config, "stack", 32768);
	log = cf_log(config);
	if (cf_try_open(config, &session) != PORTPROF_OK) {
		cf_diag(PORTPROF_E_UNSUPPORTED);
		cf_skip("%s", portprof_last_diag()->words);
	}
	if (waits)
		assert_int_equal(portprof_session_fd(session, &fd),
		                 PORTPROF_OK);
	fixture.thread_start(1);
	cf_start(session);
	cf_work(&program, 0, 0, 100 * CF_MS);
	cf_work(&program, 1, 1, 100 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	fixture.thread_end(1);
	stats = cf_stats(session, 0);
	if (fixture.is_real)
		assert_true(whole_weight(log, DEPTH) >=
		            stats.kept_weight / 20 * 19);
	else
		whole_weight(log, DEPTH);
	cf_close(session);
}

static void sample_12_tables_make_chains_whole(void **state)
{
	(void)state;
	check_whole_chains(false);
}

static void sample_12_waiting_changes_no_chain(void **state)
{
	(void)state;
	check_whole_chains(true);
}

static void sample_12_depth_needs_the_capability(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_status status;

	(void)state;
	assert_int_equal(portprof_config_set_number(config, "callchain", 4),
			 PORTPROF_OK);
	status = cf_try_open(config, &session);
	if (cf_has(PORTPROF_CAP_CHAIN)) {
		assert_int_equal(status, PORTPROF_OK);
		cf_close(session);
		return;
	}
	assert_true(status == PORTPROF_E_UNSUPPORTED ||
	            status == PORTPROF_E_DENIED);
	cf_diag(status);
	assert_null(session);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(sample_10_one_thread_alone),
	CF_SAMPLES(sample_10_another_thread_by_its_id),
	CF_CASE(sample_10_no_such_thread_is_refused),
	CF_SAMPLES(sample_11_another_process),
	CF_SAMPLES(sample_12_chains_begin_at_the_leaf),
	CF_SAMPLES(sample_12_callers_come_in_order),
	CF_SAMPLES(sample_12_tables_make_chains_whole),
	CF_SAMPLES(sample_12_waiting_changes_no_chain),
	CF_CASE(sample_12_depth_needs_the_capability),
	CF_SAMPLES(sample_16_all_that_run_anywhere),
	CF_SAMPLES(sample_16_one_cpu_alone),
	CF_CASE(sample_16_cpus_must_be_there),
};

CF_FAMILY(target);
