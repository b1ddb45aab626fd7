/* SPDX-License-Identifier: MIT */
/* CPU time: what is read of it, on this system and on simulated ones, and
 * clocks that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/common/cpu_time.h"
#include "base/thread.h"
#include "tests/unit/profil_kit.h"

/* ---- this system ---- */

/* More work than any CPU does without its clocks noticing. */
enum { ROUNDS = 20000, TURNS = 100000 };

static void turn(void)
{
	for (volatile unsigned i = 0; i < TURNS; i++)
		;
}

static void clocks_here_advance_with_work(void **state)
{
	uint64_t process, thread, process_now, thread_now;

	(void)state;
	assert_int_equal(ppi_cpu_process_ns(&process), 0);
	assert_int_equal(ppi_cpu_thread_ns(PPI_CPU_CALLER, &thread), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		turn();
		assert_int_equal(ppi_cpu_process_ns(&process_now), 0);
		assert_int_equal(ppi_cpu_thread_ns(PPI_CPU_CALLER,
		                                   &thread_now), 0);
		if (process_now > process && thread_now > thread)
			return;
	}
	fail_msg("no CPU time passed in %u rounds of work", ROUNDS);
}

static void a_thread_that_is_not_there_has_none(void **state)
{
	uint64_t ns;

	(void)state;
	errno = 0;
	assert_int_equal(ppi_cpu_thread_ns(0x3ffffff0, &ns), -1);
	assert_true(errno == ESRCH || errno == ENOSYS);
	assert_int_equal(ppi_cpu_read(PPI_CPU_NONE, PPI_CPU_PROCESS, &ns), -1);
	assert_int_equal(errno, ENOSYS);
}

/* A system that tells a thread's time to that thread alone. */
static const struct ppi_cpu_clock own_alone = { .source = PPI_CPU_CLOCK };

static void *be_helper(void *tid)
{
	turn();
	ppi_cpu_helper_begin(ppi_thread_id());
	ppi_cpu_helper_mark();
	*(int64_t *)tid = ppi_thread_id();
	return NULL;
}

static void the_helpers_time_is_known_from_its_record(void **state)
{
	uint64_t ns = 1, again = 1;
	pthread_t thread;
	int64_t tid = 0;

	(void)state;
	assert_int_equal(ppi_cpu_thread_by(&own_alone, PPI_CPU_HELPER, &ns), 0);
	assert_int_equal(ns, 0); /* there is none */
	assert_int_equal(pthread_create(&thread, NULL, be_helper, &tid), 0);
	pthread_join(thread, NULL);
	assert_int_equal(ppi_cpu_thread_by(&own_alone, PPI_CPU_HELPER, &ns), 0);
	assert_true(ns > 0);
	assert_int_equal(ppi_cpu_thread_by(&own_alone, tid, &again), 0);
	assert_int_equal(again, ns);
	assert_int_equal(ppi_cpu_thread_by(&own_alone, tid + 1, &ns), -1);
	assert_int_equal(errno, ENOSYS);
	ppi_cpu_helper_end();
	assert_int_equal(ppi_cpu_thread_by(&own_alone, PPI_CPU_HELPER, &ns), 0);
	assert_int_equal(ns, 0);
}

/* ---- clocks that are wrong ---- */

struct looks {
	int line;
	uint64_t step_ms, back_ms, late_ms;
	unsigned cpus;
	struct { uint64_t cpu_ms, real_ms; } at[4];
	enum ppi_cpu_fault fault;
	uint64_t seen_ms; /* in the end */
};

static const struct looks all_looks[] = {
	/* one CPU, all of it used; then none */
	{ __LINE__, 0, 0, 0, 1, { { 100, 100 }, { 200, 200 }, { 200, 900 } },
	  PPI_CPU_RIGHT, 200 },
	/* four CPUs, and a fifth that there is not */
	{ __LINE__, 0, 0, 0, 4, { { 400, 100 }, { 800, 200 } },
	  PPI_CPU_RIGHT, 800 },
	{ __LINE__, 0, 0, 0, 4, { { 500, 100 } }, PPI_CPU_RAN_AHEAD, 500 },
	/* the clock of a tick: one each CPU at once */
	{ __LINE__, 10, 0, 0, 2, { { 20, 1 }, { 20, 9 } }, PPI_CPU_RIGHT, 20 },
	{ __LINE__, 0, 0, 0, 2, { { 20, 1 } }, PPI_CPU_RAN_AHEAD, 20 },
	/* time of before that is told late */
	{ __LINE__, 0, 0, 100, 1, { { 100, 1 }, { 101, 2 } }, PPI_CPU_RIGHT,
	  101 },
	/* slowly, but for long */
	{ __LINE__, 0, 0, 0, 1, { { 1100, 1000 }, { 2200, 2000 } },
	  PPI_CPU_RAN_AHEAD, 2200 },
	/* real time was adjusted */
	{ __LINE__, 0, 0, 0, 1, { { 100050, 100000 } }, PPI_CPU_RIGHT, 100050 },
	/* back, as far as is known of it and further; it is never seen */
	{ __LINE__, 0, 10, 0, 1, { { 100, 100 }, { 95, 110 } }, PPI_CPU_RIGHT,
	  100 },
	{ __LINE__, 0, 10, 0, 1, { { 100, 100 }, { 50, 110 }, { 120, 160 } },
	  PPI_CPU_WENT_BACK, 120 },
};

static void wrong_clocks_are_noticed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(all_looks) / sizeof(*all_looks); i++) {
		const struct looks *looks = &all_looks[i];
		const struct ppi_cpu_clock clock = {
			.step_ns = looks->step_ms * MS,
			.back_ns = looks->back_ms * MS,
			.late_ns = looks->late_ms * MS,
		};
		struct ppi_cpu_watch watch;
		uint64_t seen = 0;

		ppi_cpu_watch_init(&watch, &clock, looks->cpus);
		ppi_cpu_watch_begin(&watch, true, 5000 * MS, 7000 * MS);
		for (size_t k = 0; k < 4 && looks->at[k].real_ms; k++)
			seen = ppi_cpu_watch_see(
				&watch, true, (5000 + looks->at[k].cpu_ms) * MS,
				(7000 + looks->at[k].real_ms) * MS);
		if (watch.fault != looks->fault ||
		    seen != (5000 + looks->seen_ms) * MS)
			fail_msg("line %d: fault %d at %llu", looks->line,
			         (int)watch.fault, (unsigned long long)seen);
	}
}

static void a_clock_that_cannot_be_read_stands_still(void **state)
{
	static const struct ppi_cpu_clock clock = { .step_ns = 1 };
	struct ppi_cpu_watch watch;
	char words[256];

	(void)state;
	ppi_cpu_watch_init(&watch, &clock, 1);
	ppi_cpu_watch_begin(&watch, true, 10 * MS, 0);
	assert_int_equal(ppi_cpu_watch_see(&watch, false, 99, 5 * MS), 10 * MS);
	assert_int_equal(watch.fault, PPI_CPU_UNREADABLE);
	ppi_cpu_fault_words(&watch, "process", "Plan 9", words, sizeof(words));
	assert_non_null(strstr(words, "Plan 9"));
}

/* As seen on Linux 6.18 just after ITIMER_PROF was set. */
static void linux_may_be_a_little_behind(void **state)
{
	struct ppi_cpu_watch watch;

	(void)state;
	ppi_cpu_watch_init(&watch, &ppi_cpu_linux.process, 1);
	ppi_cpu_watch_begin(&watch, true, 2512914, 0);
	assert_int_equal(ppi_cpu_watch_see(&watch, true, 2505983, 52453),
	                 2512914);
	assert_int_equal(watch.fault, PPI_CPU_RIGHT);
	ppi_cpu_watch_init(&watch, &ppi_cpu_linux.thread, 1);
	ppi_cpu_watch_begin(&watch, true, 2512914, 0);
	ppi_cpu_watch_see(&watch, true, 2505983, 52453);
	assert_int_equal(watch.fault, PPI_CPU_WENT_BACK);
}

/* ---- sessions ---- */

static struct { uint64_t offset_ns, times; } wrong;

/* The clock of the process, changed. */
static int read_wrongly(void *self, enum ppi_cpu_source source, int64_t whose,
                        uint64_t *ns)
{
	(void)source;
	*ns = ((struct pseam *)self)->run.helper_cpu_ns;
	if (whose == PPI_CPU_PROCESS)
		*ns = ((struct pseam *)self)->sim.process_cpu_ns * wrong.times +
		      wrong.offset_ns;
	return 0;
}

static void check_wrong(const char *words)
{
	struct measured m;

	wrong.offset_ns = 0;
	kit_begin(&kit_freebsd);
	seam.kernel.cpu = read_wrongly;
	seam.cpu_count = 1;
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_start(&m);
	kit_run(0, PSEAM_FUNCTION, 100 * MS, 0);
	portprof_session_flush(m.session);
	if (wrong.times == 1) {
		assert_int_equal(kit_stats(&m).unattributed_certainty,
		                 PORTPROF_EXACT);
		wrong.offset_ns = -(uint64_t)(90 * MS);
	}
	kit_run(0, PSEAM_FUNCTION, 10 * MS, 0);
	portprof_session_stop(m.session);
	assert_int_equal(kit_stats(&m).unattributed_certainty,
	                 PORTPROF_UNKNOWN);
	assert_true(kit_has_note(&m, words));
	kit_finish(&m);
}

static void totals_by_a_wrong_clock_are_not_exact(void **state)
{
	(void)state;
	wrong.times = 1;
	check_wrong("back");
	wrong.times = 2;
	check_wrong("faster");
}

/* ---- NetBSD ---- */

/* What run_threads makes a process use. */
enum { SLEEPERS = 2, STRETCHES = 4 };

static uint64_t used_by(unsigned threads)
{
	return STRETCHES * (threads * 400 * MS + SLEEPERS * 2 * MS);
}

/* Threads that work the same, in stretches with sleep between them. Beside them
 * are some that do a little at the beginning of each and sleep until it is over:
 * their clocks of NetBSD go on meanwhile. */
static void run_threads(unsigned threads)
{
	struct prun_work works[8 + SLEEPERS];

	for (unsigned i = 0; i < threads + SLEEPERS; i++)
		works[i] = (struct prun_work){
			.thread = i,
			.cpu_ns = i < threads ? 400 * MS : 2 * MS,
			.kernel_ns = i < threads ? 40 * MS : 0,
			.start = PSEAM_FUNCTION, .end = PSEAM_FUNCTION + 512,
		};
	for (unsigned i = 0; i < STRETCHES; i++) {
		prun_works(&seam.run, works, threads + SLEEPERS);
		prun_idle(&seam.run, 300 * MS);
	}
}

static bool is_near(uint64_t got, uint64_t used_ns)
{
	return got >= used_ns - used_ns / 100 && got <= used_ns + used_ns / 100;
}

/* Account and histogram of a session that is stopped. */
static bool sums_hold(const struct measured *m, uint64_t used_ns)
{
	portprof_stats stats = kit_stats(m);
	uint64_t sum = 0;

	for (size_t i = 0; i < 256; i++)
		sum += m->bins[i];
	return stats.unattributed_certainty == PORTPROF_EXACT &&
	       is_near(stats.total_weight, used_ns) && is_near(sum, used_ns);
}

static struct measured begin_netbsd(void)
{
	struct measured m;

	kit_begin(&kit_netbsd);
	seam.sim.hz = 64; /* not what the statistics clock has */
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_run_helper(50 * MS);
	return m;
}

static void netbsd_sums_to_the_cpu_time(void **state)
{
	static const unsigned counts[] = { 1, 2, 8 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct measured m = begin_netbsd();

		kit_start(&m);
		run_threads(counts[i]);
		portprof_session_stop(m.session);
		assert_true(sums_hold(&m, used_by(counts[i])));
		kit_finish(&m);
	}
}

/* What the child of a measured process sees: profil(2) continues in it, its CPU
 * time begins at 0. It closes what it inherited and measures itself. */
static bool child_sums_hold(struct measured *inherited)
{
	struct measured m;
	bool holds;

	seam.sim.process_cpu_ns = seam.run.helper_cpu_ns = 0;
	if (portprof_session_close(inherited->session) || seam.sim.is_on)
		return false;
	m = kit_measure(PSEAM_FUNCTION, 65536, 256);
	kit_start(&m);
	run_threads(2);
	portprof_session_stop(m.session);
	holds = sums_hold(&m, used_by(2));
	portprof_session_close(m.session);
	free(m.bins);
	return holds;
}

static void netbsd_sums_to_the_cpu_time_after_fork(void **state)
{
	struct measured m = begin_netbsd();
	int status;
	pid_t pid;

	(void)state;
	kit_start(&m);
	run_threads(2);
	pid = fork();
	if (pid == 0)
		_exit(child_sums_hold(&m) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	run_threads(2);
	portprof_session_stop(m.session);
	assert_true(sums_hold(&m, 2 * used_by(2)));
	kit_finish(&m);
}

/* usage: PROGRAM [CASE]    cases that this pattern matches alone */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_here_advance_with_work),
		cmocka_unit_test(a_thread_that_is_not_there_has_none),
		cmocka_unit_test(the_helpers_time_is_known_from_its_record),
		cmocka_unit_test(wrong_clocks_are_noticed),
		cmocka_unit_test(a_clock_that_cannot_be_read_stands_still),
		cmocka_unit_test(linux_may_be_a_little_behind),
		cmocka_unit_test(totals_by_a_wrong_clock_are_not_exact),
		cmocka_unit_test(netbsd_sums_to_the_cpu_time),
		cmocka_unit_test(netbsd_sums_to_the_cpu_time_after_fork),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
