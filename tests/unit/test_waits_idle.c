/* SPDX-License-Identifier: MIT */
/*
 * What it costs to watch thousands of threads that sleep on: not in time, which a busy
 * machine changes, but in calls of the system, of which a simulated kernel counts each.
 * The bounds are calls for each thread and virtual minute; a look at every thread at
 * every tick would make a thousand of them.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "backends/backend.h"
#include "backends/waits/waits_kernel.h"
#include "tests/unit/waits_run.h"

#define MS UINT64_C(1000000)
#define S  (1000 * MS)

enum { HELPER = 70, PID = 100, THREADS = 5000 };

static struct {
	uint64_t now_ns;
	bool runs;      /* the first thread does, all of the time */
	bool is_crowded; /* others begin processes all of the time */
	bool is_hasty; /* who looks goes before others */
	uint64_t reads; /* of anything, and names that were listed */
	uint64_t listed;
	uint64_t process_reads; /* of the CPU time of all threads */
} world;

static uint64_t sim_now_ns(void *self)
{
	(void)self;
	return world.now_ns;
}

static int sim_cpu(void *self)
{
	(void)self;
	return 0;
}

static uint64_t sim_process_cpu_ns(void *self, int64_t pid)
{
	(void)self;
	(void)pid;
	world.process_reads++;
	return S + (world.runs ? world.now_ns : 0);
}

static int put_file(int tid, const char *name, char *text, size_t room)
{
	bool runs = world.runs && tid == PID;

	if (strcmp(name, "schedstat") == 0)
		return waits_run_put(text, room, "%" PRIu64 " 0 %" PRIu64 "\n",
		                     runs ? world.now_ns : 1000,
		                     runs ? world.now_ns / MS : 1);
	if (strcmp(name, "syscall") == 0)
		return waits_run_put(text, room, runs ? "running" :
		                     "1 0x0 0x0 0x0 0x0 0x0 0x0 0x7000 0x1000");
	if (strcmp(name, "wchan") == 0)
		return waits_run_put(text, room, "0");
	if (strcmp(name, "comm") == 0)
		return waits_run_put(text, room, "pool\n");
	if (strcmp(name, "status") == 0)
		return waits_run_put(text, room, "\nvoluntary_ctxt_switches:\t1\n");
	return -ENOENT;
}

static int sim_read(void *self, const char *path, char *text, size_t room)
{
	int pid, tid, at = 0;

	(void)self;
	world.reads++;
	if (strcmp(path, "/proc/self/schedstat") == 0)
		return waits_run_put(text, room, "1 2 3\n");
	if (strcmp(path, "/proc/loadavg") == 0)
		return waits_run_put(text, room, "0.00 0.00 0.00 1/2 %" PRIu64 "\n",
		                     world.is_crowded ? world.now_ns / MS : 7);
	if (sscanf(path, "/proc/%d/task/%d/%n", &pid, &tid, &at) != 2 || !at)
		return -ENOENT;
	return put_file(tid, path + at, text, room);
}

static int sim_hold(void *self, const char *path)
{
	int pid, tid;

	(void)self;
	return sscanf(path, "/proc/%d/task/%d/", &pid, &tid) == 2 ? tid
	                                                          : -ENOENT;
}

static int sim_read_held(void *self, int held, char *text, size_t room)
{
	(void)self;
	world.reads++;
	return put_file(held, "schedstat", text, room);
}

static void sim_release(void *self, int held)
{
	(void)self;
	(void)held;
}

static int sim_link(void *self, const char *path, char *text, size_t room)
{
	(void)self;
	(void)path;
	(void)text;
	(void)room;
	world.reads++;
	return -ENOENT;
}

static int sim_list(void *self, const char *path,
                    bool (*take)(void *context, int64_t number), void *context)
{
	(void)self;
	(void)path;
	for (int i = 0; i < THREADS; i++)
		take(context, PID + i);
	world.listed += THREADS;
	return THREADS;
}

static int sim_folders(void *self, const char *path)
{
	(void)self;
	(void)path;
	world.reads++;
	return THREADS;
}

static int64_t sim_memory(void *self, int64_t pid, uint64_t address,
                          void *bytes, size_t count)
{
	(void)self;
	(void)pid;
	(void)address;
	world.reads++;
	memset(bytes, 0, count);
	return (int64_t)count;
}

static void sim_each_code(void *self, int64_t pid,
                          void (*take)(void *context, uint64_t start,
                                       uint64_t limit, uint64_t offset,
                                       const char *path),
                          void *context)
{
	world.reads++;
	waits_run_each_code(self, pid, take, context);
}

static enum waits_call sim_call_of(void *self, int64_t number)
{
	(void)self;
	return number == 1 ? WAITS_CALL_SLEEP : WAITS_CALL_OTHER;
}

static bool sim_hasten(void *self, int64_t tid, bool is_wanted)
{
	(void)self;
	assert_int_equal(tid, HELPER);
	assert_true(world.is_hasty != is_wanted);
	world.is_hasty = is_wanted;
	return is_wanted;
}

static const struct waits_kernel kernel = {
	.now_ns = sim_now_ns, .boot_ns = sim_now_ns, .read = sim_read,
	.cpu = sim_cpu, .process_cpu_ns = sim_process_cpu_ns,
	.hold = sim_hold, .read_held = sim_read_held,
	.release = sim_release, .link = sim_link, .list = sim_list,
	.folders = sim_folders, .memory = sim_memory,
	.each_code = sim_each_code,
	.each_symbol = waits_run_no_symbol,
	.call_of = sim_call_of, .hasten = sim_hasten,
	.sp = 7, .pc = 16, .ticks_per_s = 100, .tick_ns = 4 * MS,
};

/* ---- a session ---- */

static uint64_t told_ns;

static void take(const portprof_batch *batch, const portprof_record *record)
{
	(void)batch;
	if (record->kind == PORTPROF_RECORD_SAMPLE && record->event == RUN_BLOCKED)
		told_ns += record->weight;
}

/* As the helper does: whenever somebody is due. */
static void watch_until(uint64_t end_ns)
{
	while (world.now_ns < end_ns) {
		waits_run_drain(16, take);
		world.now_ns += run.bs.drain_every_ms * MS;
	}
}

/* Ten seconds, in which all are met, and a minute that is counted. */
static void measure(bool runs, bool is_crowded)
{
	const struct ppi_plan plan = {
		.target = { .kind = PPI_TARGET_PID, .pid = PID },
		.want_modules = true, .follow_children = true,
	};

	memset(&world, 0, sizeof(world));
	world.now_ns = S;
	world.runs = runs;
	world.is_crowded = is_crowded;
	told_ns = 0;
	ppi_waits_set_kernel(&kernel);
	assert_int_equal(waits_run_open(&kernel, &plan, HELPER), PORTPROF_OK);
	assert_int_equal(ppi_backend_waits.start(&run.bs, NULL), PORTPROF_OK);
	assert_true(world.is_hasty);
	watch_until(11 * S);
	world.reads = world.listed = world.process_reads = 0;
	watch_until(71 * S);
	print_message("in a minute, for each of %d threads: %.2f reads, %.2f names; "
	              "in all %" PRIu64 " readings of all threads\n", THREADS,
	              (double)world.reads / THREADS,
	              (double)world.listed / THREADS, world.process_reads);
}

static void end(void)
{
	portprof_life life;

	assert_int_equal(ppi_backend_waits.stop(&run.bs, NULL), PORTPROF_OK);
	waits_run_drain(16, take);
	life = run.bs.life;
	waits_run_close();
	assert_false(world.is_hasty);
	ppi_waits_set_kernel(NULL);
	/* nothing of it is missing for all that */
	assert_int_equal(life.threads, THREADS);
	assert_int_equal(life.blocked_ns, told_ns);
	assert_true(told_ns >= (THREADS - 1) * (70 * S));
	assert_int_equal(life.unknown_ns, 0);
}

/* ---- cases ---- */

static void who_sleeps_on_is_not_read(void **state)
{
	(void)state;
	measure(false, false);
	assert_true(world.reads < 4 * THREADS);
	assert_int_equal(world.listed, 0);
	/* the kernel goes through all threads for each */
	assert_true(world.process_reads <= 2 * 60 + 2);
	end();
}

/* That of who runs is no look at the others but now and then. */
static void who_runs_wakes_no_other(void **state)
{
	(void)state;
	measure(true, false);
	assert_true(world.reads < 20 * THREADS);
	assert_int_equal(world.listed, 0);
	assert_true(world.process_reads <= 2 * 60 + 2);
	end();
}

/* Nor are births elsewhere a reason to list all of these. */
static void births_elsewhere_are_cheap(void **state)
{
	(void)state;
	measure(false, true);
	assert_true(world.reads < 8 * THREADS);
	assert_true(world.listed <= 15 * THREADS);
	end();
}

/* ---- two sessions with one helper ---- */

#ifdef __linux__
static int nice_of(int64_t tid)
{
	errno = 0;
	return getpriority(PRIO_PROCESS, (id_t)tid);
}

/* This thread's. */
static void the_last_session_gives_the_nice_value_back(void **state)
{
	const struct waits_kernel *real = ppi_waits_kernel_real;
	const int64_t tid = syscall(SYS_gettid);
	const int was = nice_of(tid);

	(void)state;
	if (setpriority(PRIO_PROCESS, (id_t)tid, -10))
		skip(); /* it may not */
	/* what a user has chosen stays */
	assert_false(real->hasten(real->self, tid, true));
	real->hasten(real->self, tid, false);
	assert_int_equal(nice_of(tid), -10);
	setpriority(PRIO_PROCESS, (id_t)tid, 0);
	for (int again = 0; again < 2; again++) {
		assert_true(real->hasten(real->self, tid, true));
		assert_true(real->hasten(real->self, tid, true));
		assert_false(real->hasten(real->self, tid, false));
		assert_int_equal(nice_of(tid), -10);
		assert_true(real->hasten(real->self, tid, true));
		real->hasten(real->self, tid, false);
		real->hasten(real->self, tid, false);
		assert_int_equal(nice_of(tid), 0);
	}
	/* and what one has chosen meanwhile */
	assert_true(real->hasten(real->self, tid, true));
	setpriority(PRIO_PROCESS, (id_t)tid, -5);
	real->hasten(real->self, tid, false);
	assert_int_equal(nice_of(tid), -5);
	setpriority(PRIO_PROCESS, (id_t)tid, was);
}

/* It has sessions of its parent, whose helper is not its own. */
static void a_forked_child_changes_no_helper_of_its_parent(void **state)
{
	const struct waits_kernel *real = ppi_waits_kernel_real;
	const int64_t tid = syscall(SYS_gettid);
	const int was = nice_of(tid);
	pid_t child;

	(void)state;
	if (setpriority(PRIO_PROCESS, (id_t)tid, 0) ||
	    !real->hasten(real->self, tid, true))
		skip(); /* it may not */
	child = fork();
	if (child == 0) {
		real->hasten(real->self, tid, false);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(nice_of(tid), -10);
	real->hasten(real->self, tid, false);
	assert_int_equal(nice_of(tid), 0);
	setpriority(PRIO_PROCESS, (id_t)tid, was);
}
#endif

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
#ifdef __linux__
		cmocka_unit_test(the_last_session_gives_the_nice_value_back),
		cmocka_unit_test(
			a_forked_child_changes_no_helper_of_its_parent),
#endif
		cmocka_unit_test(who_sleeps_on_is_not_read),
		cmocka_unit_test(who_runs_wakes_no_other),
		cmocka_unit_test(births_elsewhere_are_cheap),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("waits_idle", tests, NULL, NULL);
}
