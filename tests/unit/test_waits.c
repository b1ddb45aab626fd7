/* SPDX-License-Identifier: MIT */
/*
 * Waits over a simulated /proc: threads that follow a script on a virtual clock.
 * What is told must be what the script says, computed here a second time; then
 * each read fails in turn, and lifetimes must add up all the same.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend.h"
#include "backends/waits/waits.h"
#include "backends/waits/waits_kernel.h"
#include "base/label_look.h"
#include "tests/unit/waits_run.h"

#define MS UINT64_C(1000000)

/* ---- the script ---- */

enum doing { RUNS, READY, SLEEPS, LOCKS, READS, FAULTS };

struct step {
	enum doing doing;
	uint64_t ms;
};

enum { STEPS = 10 };

/* Repeated until the thread ends. */
struct life {
	int64_t tid;
	uint64_t born_ms, dies_ms; /* 0: before, after everything */
	struct step steps[STEPS];
};

#define BEHIND_NS (7 * MS) /* of the CPU's clock */

enum { PID = 100, WRITER = 101, SHORT = 102, CYCLE_MS = 403 /* of PID */ };

/* A thread that does everything; one that has the lock; one that is short. */
static const struct life lives[] = {
	{ PID, 0, 0, { { RUNS, 25 }, { SLEEPS, 120 }, { READY, 5 },
	               { RUNS, 30 }, { LOCKS, 80 }, { RUNS, 20 },
	               { READS, 100 }, { RUNS, 3 }, { FAULTS, 20 } } },
	{ WRITER, 0, 0, { { RUNS, 10 }, { SLEEPS, 990 } } },
	{ SHORT, 700, 760, { { RUNS, 20 }, { SLEEPS, 100 } } },
};

enum { LIVES = sizeof(lives) / sizeof(lives[0]) };

static struct {
	uint64_t now_ns;
	unsigned calls, fails_at; /* 0: none */
	bool is_denied;           /* places are nobody's to see */
	bool has_clocks;          /* when a thread last ran is told */
	bool owner_changes;       /* nobody known in every other cycle */
	uint64_t named_ns;        /* then each thread names itself */
	unsigned stops_every;     /* the watch has no CPU for 50 ms; 0 never */
	bool has_wakings;         /* it is told who wakes PID, */
	unsigned loses_every;     /* but for each so manieth; 0 none */
	bool woken_late;          /* at a look that asks for it */
	uint64_t woken_ns;        /* up to when it was told */
	bool has_late_labels;     /* not known of what begins just now */
	int held[8];
} world;

/* What a thread did from its birth to now, or to `to_ns`. */
struct done {
	uint64_t ns[FAULTS + 1];
	uint64_t turns, waits;
	enum doing now;
	uint64_t since_ns; /* that it does that */
};

static bool is_blocked(enum doing doing)
{
	return doing >= SLEEPS;
}

static struct done done_by(const struct life *life, uint64_t to_ns)
{
	struct done done = { .turns = 1 };
	uint64_t at = life->born_ms * MS;
	enum doing before = RUNS;

	for (size_t i = 0; at < to_ns; i = (i + 1) % STEPS) {
		const struct step *step = &life->steps[i];
		uint64_t ns = step->ms * MS;

		if (!ns)
			continue;
		if (step->doing == RUNS && before != RUNS)
			done.turns++;
		done.waits += is_blocked(step->doing) && !is_blocked(before);
		done.now = before = step->doing;
		done.since_ns = at;
		done.ns[step->doing] += ns < to_ns - at ? ns : to_ns - at;
		at += ns;
	}
	return done;
}

static enum doing next_wait(const struct life *life, size_t step)
{
	do
		step = (step + 1) % STEPS;
	while (!is_blocked(life->steps[step].doing));
	return life->steps[step].doing;
}

/* In the middle of each run it enters the set of the wait that comes next, whose number
 * says which. */
enum { SET_OF = 10 };

static struct ppi_label_state labels_by(const struct life *life, uint64_t to_ns)
{
	struct ppi_label_state state = { .store = 1 };
	uint64_t at = life->born_ms * MS;

	for (size_t i = 0; at < to_ns; i = (i + 1) % STEPS) {
		const struct step *step = &life->steps[i];

		if (step->ms && step->doing == RUNS &&
		    at + step->ms * MS / 2 <= to_ns) {
			state.changes++;
			state.set = SET_OF + next_wait(life, i);
		}
		at += step->ms * MS;
	}
	return state;
}

static const struct life *life_of(int64_t tid)
{
	for (size_t i = 0; i < LIVES; i++)
		if (lives[i].tid == tid &&
		    lives[i].born_ms * MS <= world.now_ns &&
		    (!lives[i].dies_ms ||
		     world.now_ns < lives[i].dies_ms * MS))
			return &lives[i];
	return NULL;
}

/* ---- its /proc ---- */

static bool fails(void)
{
	world.calls++;
	if (world.stops_every && world.calls % world.stops_every == 0)
		world.now_ns += 50 * MS;
	return world.calls == world.fails_at;
}

static uint64_t sim_now_ns(void *self)
{
	(void)self;
	return world.now_ns;
}

static int sim_cpu(void *self)
{
	(void)self;
	return 3;
}

/* System calls have the numbers of what is done; a lock's owner is the writer. */
static int put_place(const struct done *done, char *text, size_t room)
{
	if (world.is_denied)
		return -EACCES;
	switch (done->now) {
	case SLEEPS:
		return waits_run_put(text, room, "%d 0x0 0x0 0x0 0x0 0x0 0x0 0x7000 "
		           "0x1000", SLEEPS);
	case LOCKS:
		return waits_run_put(text, room, "%d 0x9000 0x80 0x2 0x0 0x0 0x0 0x7100 "
		           "0x1100", LOCKS);
	case READS:
		return waits_run_put(text, room, "%d 0x3 0x0 0x1 0x0 0x0 0x0 0x7200 "
		           "0x1200", READS);
	case FAULTS:
		return waits_run_put(text, room, "-1 0x7300 0x1300");
	default:
		return waits_run_put(text, room, "running");
	}
}

static int put_file(const struct life *life, const char *name, char *text,
                    size_t room)
{
	struct done done = done_by(life, world.now_ns);

	if (strcmp(name, "schedstat") == 0)
		return waits_run_put(text, room, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		           done.ns[RUNS], done.ns[READY], done.turns);
	if (strcmp(name, "syscall") == 0)
		return put_place(&done, text, room);
	if (strcmp(name, "wchan") == 0)
		return waits_run_put(text, room, "0");
	if (strcmp(name, "comm") == 0)
		return waits_run_put(text, room, world.now_ns < world.named_ns
		                       ? "app\n" : "thread%d\n",
		           (int)life->tid);
	if (strcmp(name, "sched") == 0 && world.has_clocks)
		return waits_run_put(text, room,
		           "se.exec_start : %" PRIu64 ".%06u\n"
		           "nr_voluntary_switches : %" PRIu64 "\n",
		           (done.since_ns - BEHIND_NS) / 1000000,
		           (unsigned)(done.since_ns % 1000000), done.waits);
	if (strcmp(name, "status") == 0)
		return waits_run_put(text, room,
		           "Name:\tx\nvoluntary_ctxt_switches:\t%" PRIu64 "\n",
		           done.waits);
	if (strcmp(name, "stat") == 0)
		return waits_run_put(text, room,
		           "%d (a) b) %c 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 "
		           "16 17 18 %" PRIu64 " 20 21 22 23 24 25 26 27 28 "
		           "29 30 31 32 33 34 35 3 40\n", (int)life->tid,
		           is_blocked(done.now) ? 'S' : 'R',
		           life->born_ms / 10);
	return -ENOENT;
}

static int sim_read(void *self, const char *path, char *text, size_t room)
{
	const struct life *life;
	int pid, tid, at = 0;
	size_t born = 0;

	(void)self;
	if (fails())
		return -EIO;
	if (strcmp(path, "/proc/self/schedstat") == 0)
		return waits_run_put(text, room, "1 2 3\n");
	for (size_t i = 0; i < LIVES; i++)
		born += lives[i].born_ms * MS <= world.now_ns;
	if (strcmp(path, "/proc/thread-self/sched") == 0)
		return world.has_clocks
		       ? waits_run_put(text, room, "se.exec_start : %" PRIu64 ".%06u\n",
		             (world.now_ns - BEHIND_NS) / 1000000,
		             (unsigned)(world.now_ns % 1000000)) : -ENOENT;
	if (strcmp(path, "/proc/loadavg") == 0)
		return waits_run_put(text, room, "0.00 0.00 0.00 1/2 %zu\n", born);
	if (sscanf(path, "/proc/%d/task/%d/%n", &pid, &tid, &at) != 2 || !at)
		return -ENOENT;
	life = life_of(tid);
	return life ? put_file(life, path + at, text, room) : -ESRCH;
}

/* All of it is of one process. Who ends has to run for it. */
static uint64_t sim_process_cpu_ns(void *self, int64_t pid)
{
	uint64_t sum = 0;

	(void)self;
	if (fails() || pid != PID)
		return 0;
	for (size_t i = 0; i < LIVES; i++) {
		uint64_t end = lives[i].dies_ms ? lives[i].dies_ms * MS
		                                : UINT64_MAX;

		sum += done_by(&lives[i], world.now_ns < end ? world.now_ns
		                                             : end).ns[RUNS];
		sum += world.now_ns >= end;
	}
	return sum;
}

/* Held files are numbered as the threads are. */
static int sim_hold(void *self, const char *path)
{
	int pid, tid;

	(void)self;
	if (fails() || sscanf(path, "/proc/%d/task/%d/", &pid, &tid) != 2 ||
	    !life_of(tid))
		return -ENOENT;
	world.held[tid - PID]++;
	return tid;
}

static int sim_read_held(void *self, int held, char *text, size_t room)
{
	const struct life *life = life_of(held);

	(void)self;
	if (fails())
		return -EIO;
	return life ? put_file(life, "schedstat", text, room) : -ESRCH;
}

static void sim_release(void *self, int held)
{
	(void)self;
	world.held[held - PID]--;
}

static int sim_link(void *self, const char *path, char *text, size_t room)
{
	(void)self;
	if (fails() || strcmp(path, "/proc/100/fd/3") != 0)
		return -ENOENT;
	return waits_run_put(text, room, "pipe:[77]");
}

static int sim_list(void *self, const char *path,
                    bool (*take)(void *context, int64_t number), void *context)
{
	(void)self;
	if (fails() || strcmp(path, "/proc/100/task") != 0)
		return -ENOENT;
	for (size_t i = 0; i < LIVES; i++)
		if (life_of(lives[i].tid))
			take(context, lives[i].tid);
	return LIVES;
}

static int sim_folders(void *self, const char *path)
{
	int count = 0;

	(void)self;
	if (fails() || strcmp(path, "/proc/100/task") != 0)
		return -ENOENT;
	for (size_t i = 0; i < LIVES; i++)
		count += life_of(lives[i].tid) != NULL;
	return count;
}

/* The owner lies two words behind the lock. */
static int64_t sim_memory(void *self, int64_t pid, uint64_t address,
                          void *bytes, size_t count)
{
	bool is_other = world.owner_changes &&
	                world.now_ns / (CYCLE_MS * MS) % 2;
	const uint32_t lock[3] = { 2, 0, is_other ? 0 : WRITER };

	(void)self;
	(void)pid;
	if (fails())
		return -EFAULT;
	memset(bytes, 0, count);
	if (address == 0x9000)
		memcpy(bytes, lock, count < sizeof(lock) ? count
		                                         : sizeof(lock));
	return (int64_t)count;
}

static enum waits_call sim_call_of(void *self, int64_t number)
{
	(void)self;
	return number == SLEEPS ? WAITS_CALL_SLEEP :
	       number == LOCKS  ? WAITS_CALL_LOCK :
	       number == READS  ? WAITS_CALL_IO :
	                          WAITS_CALL_NONE;
}

static const struct waits_kernel kernel = {
	.now_ns = sim_now_ns, .boot_ns = sim_now_ns, .read = sim_read,
	.cpu = sim_cpu, .process_cpu_ns = sim_process_cpu_ns,
	.hold = sim_hold, .read_held = sim_read_held,
	.release = sim_release, .link = sim_link, .list = sim_list,
	.folders = sim_folders, .memory = sim_memory,
	.each_code = waits_run_each_code,
	.each_symbol = waits_run_no_symbol,
	.call_of = sim_call_of,
	.sp = 7, .pc = 16, .ticks_per_s = 100, .tick_ns = 4 * MS,
};

static void sim_labels(void *self, int64_t pid, int64_t tid, bool is_proof,
                       struct ppi_label_state *out)
{
	const struct life *life = life_of(tid);

	(void)self;
	(void)is_proof;
	assert_int_equal(pid, PID);
	*out = (struct ppi_label_state){ .set = PPI_LABELS_UNKNOWN };
	if (!fails() && life &&
	    !(world.has_late_labels &&
	      world.now_ns - done_by(life, world.now_ns).since_ns < 4 * MS))
		*out = labels_by(life, world.now_ns);
}

static const struct ppi_label_reader labels = { sim_labels, NULL };

/* ---- who wakes ---- */

/* The writer wakes PID when it gives it the lock; an interrupt that comes while the
 * writer runs does when it has slept, and one in the idle task when it has read. */
static portprof_record waking_of(enum doing doing, uint64_t time_ns)
{
	return (portprof_record){
		.kind = PORTPROF_RECORD_SAMPLE, .time_ns = time_ns,
		.pid = doing == READS ? 0 : PID,
		.tid = doing == READS ? 0 : WRITER,
	};
}

/* Those up to now that were not told yet. */
static void tell_wakings(struct waits_watch *watch)
{
	const struct life *life = &lives[0];
	uint64_t at = life->born_ms * MS;
	unsigned count = 0;

	for (size_t i = 0; at <= world.now_ns; i = (i + 1) % STEPS) {
		const struct step *step = &life->steps[i];
		portprof_record record;

		at += step->ms * MS;
		if (!is_blocked(step->doing) || at > world.now_ns)
			continue;
		count++;
		if (at <= world.woken_ns || step->doing == FAULTS ||
		    (world.loses_every && count % world.loses_every == 0))
			continue;
		record = waking_of(step->doing, at);
		ppi_waits_take_waking(watch, &record, PID,
		                      step->doing == SLEEPS);
		/* nobody knows these threads, and what comes later ended no
		 * wait that was seen */
		ppi_waits_take_waking(watch, &record, 4711, false);
		record.time_ns++;
		record.tid = SHORT;
		ppi_waits_take_waking(watch, &record, PID, false);
	}
	world.woken_ns = world.now_ns;
}

/* ---- a session of it ---- */

/* What was told. */
static struct {
	uint64_t weight[2];
	uint64_t by_kind[8]; /* of the thread PID, by enum doing */
	uint64_t unseen, estimated;
	uint64_t sure[8];    /* of by_kind, what is no estimate */
	uint64_t in_sets[2], in_unknown[2]; /* by event */
	uint64_t by_set[8]; /* blocked, of the thread PID, by enum doing */
	bool names_holder, names_pipe;
	uint64_t held;             /* by a thread that is known */
	uint64_t woken[8], unwoken[8]; /* of PID, by enum doing: by whom is said */
	unsigned places_of_holder; /* in which it slept, or ran */
	unsigned names;            /* of all threads, and PID's last one */
	char name[16];
	portprof_life life;
} told;

/* A wait has its own set, and what it is ready after it, or it is unknown. */
static void take_set(const portprof_record *record, const char *kind,
                     const char *own)
{
	if (!(record->valid & PORTPROF_FIELD_LABELS)) /* it was in none yet */
		return;
	if (record->label_set == PPI_LABELS_UNKNOWN) {
		told.in_unknown[record->event] += record->weight;
		return;
	}
	told.in_sets[record->event] += record->weight;
	if (record->event && record->tid == PID)
		told.by_set[record->label_set - SET_OF] += record->weight;
	if (record->event == 0) /* who is ready has slept */
		assert_int_equal(record->label_set, SET_OF + SLEEPS);
	else if (kind[0] && strcmp(kind, "other") != 0)
		assert_string_equal(kind, own);
}

static const char *const kinds[] = {
	[SLEEPS] = "sleep", [LOCKS] = "lock", [READS] = "pipe",
	[FAULTS] = "page-fault"
};

/* Each wait has the waker of its own end, or none. */
static void take_waker(const portprof_batch *batch,
                       const portprof_record *record, const char *kind)
{
	static const char *const wakers[] = {
		[SLEEPS] = "(interrupt)", [LOCKS] = "thread thread101 (101)",
		[READS] = "(interrupt)", [FAULTS] = ""
	};
	const char *waker = waits_run_label(batch, record, 6);

	for (int i = SLEEPS; i <= FAULTS; i++) {
		if (record->tid != PID || strcmp(kind, kinds[i]) != 0)
			continue;
		*(waker[0] ? &told.woken[i] : &told.unwoken[i]) +=
			record->weight;
		if (waker[0])
			assert_string_equal(waker, wakers[i]);
	}
	if (record->tid != PID || record->event == 0)
		assert_string_equal(waker, "");
}

static void take(const portprof_batch *batch, const portprof_record *record)
{
	const char *kind = waits_run_label(batch, record, 1);

	if (record->kind == PORTPROF_RECORD_THREAD) {
		told.names++;
		if (record->tid == PID)
			snprintf(told.name, sizeof(told.name), "%s",
			         portprof_batch_name(batch, record));
	}
	if (record->kind != PORTPROF_RECORD_SAMPLE)
		return;
	assert_true(record->valid & PPI_FIELD_LABELLED);
	take_waker(batch, record, kind);
	take_set(record, kind,
	         record->label_set < SET_OF + SLEEPS ||
	                         record->label_set > SET_OF + FAULTS
	                 ? "" : kinds[record->label_set - SET_OF]);
	told.weight[record->event] += record->weight;
	if (waits_run_label(batch, record, 3)[0])
		told.held += record->weight;
	if (waits_run_label(batch, record, 5)[0]) {
		assert_string_equal(waits_run_label(batch, record, 5), "futex 0x9000");
		assert_int_equal(record->tid, WRITER);
		assert_int_equal(record->weight, 0);
		assert_int_equal(record->samples, 0);
		/* it sleeps, or it runs and nobody samples it */
		assert_true(record->valid & PORTPROF_FIELD_NOT_SEEN
		                    ? record->address == 0
		                    : record->address == 0x1000);
		told.places_of_holder++;
	}
	if (record->valid & PORTPROF_FIELD_NOT_SEEN)
		told.unseen += record->weight;
	if (waits_run_label(batch, record, 4)[0])
		told.estimated += record->weight;
	for (int i = SLEEPS; i <= FAULTS; i++)
		if (record->tid == PID && strcmp(kind, kinds[i]) == 0) {
			told.by_kind[i] += record->weight;
			told.sure[i] += waits_run_label(batch, record, 4)[0]
				? 0 : record->weight;
		}
	told.names_holder |= strcmp(waits_run_label(batch, record, 3),
	                            "thread thread101 (101)") == 0;
	told.names_pipe |= strcmp(waits_run_label(batch, record, 2), "pipe:[77]") == 0;
	assert_string_equal(waits_run_label(batch, record, 0),
	                    record->event ? "blocked" : "ready");
}

static bool open_session(void)
{
	const struct ppi_plan plan = {
		.target = { .kind = PPI_TARGET_PID, .pid = PID },
		.want_modules = true,
	};

	ppi_waits_set_kernel(&kernel);
	return waits_run_open(&kernel, &plan, 0) == PORTPROF_OK;
}

/* From `from_ms` on for so long, with a look every `step_ms`. */
static void measure(uint64_t from_ms, uint64_t ms, uint64_t step_us,
                    size_t records)
{
	struct waits_watch *watch;

	memset(&told, 0, sizeof(told));
	memset(&world.held, 0, sizeof(world.held));
	world.calls = 0;
	world.now_ns = from_ms * MS;
	if (!open_session())
		return;
	run.bs.labels = &labels;
	watch = (struct waits_watch *)run.bs.state; /* its first member */
	if (world.has_wakings)
		watch->wakers.read = tell_wakings;
	world.woken_ns = world.now_ns;
	assert_int_equal(ppi_backend_waits.start(&run.bs, NULL), PORTPROF_OK);
	while (world.now_ns < (from_ms + ms) * MS) {
		if (world.has_wakings && !world.woken_late)
			tell_wakings(watch);
		waits_run_drain(records, take);
		world.now_ns += step_us * 1000;
	}
	assert_int_equal(ppi_backend_waits.stop(&run.bs, NULL), PORTPROF_OK);
	waits_run_drain(records, take);
	told.life = run.bs.life;
	waits_run_close();
	ppi_waits_set_kernel(NULL);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(world.held[i], 0);
}

static void assert_closed(void)
{
	assert_int_equal(told.life.lifetime_ns,
	                 told.life.running_ns + told.life.ready_ns +
	                         told.life.blocked_ns + told.life.unknown_ns);
	assert_int_equal(told.weight[1], told.life.blocked_ns);
	assert_true(told.weight[0] <= told.life.ready_ns);
}

/* ---- cases ---- */

static uint64_t between(int64_t tid, enum doing doing, uint64_t from_ms,
                        uint64_t ms)
{
	const struct life *life = &lives[tid - PID];

	return done_by(life, (from_ms + ms) * MS).ns[doing] -
	       done_by(life, from_ms * MS).ns[doing];
}

/* Sums are the scheduler's, to the nanosecond. */
static void sums_are_exact(void **state)
{
	const uint64_t from = 40, ms = 4000;
	uint64_t running = 0, ready = 0;

	(void)state;
	measure(from, ms, 997, 16);
	assert_closed();
	assert_int_equal(told.life.threads, 3);
	running = between(PID, RUNS, from, ms) + between(WRITER, RUNS, from, ms);
	ready = between(PID, READY, from, ms);
	assert_int_equal(told.life.ready_ns, ready);
	/* the short one ran 20 ms, and ended unseen */
	assert_in_range(told.life.running_ns, running + 19 * MS,
	                running + 21 * MS);
	assert_in_range(told.life.lifetime_ns, (2 * ms + 60) * MS,
	                (2 * ms + 90) * MS);
	assert_true(told.life.unknown_ns < 40 * MS);
}

static bool has_note(const char *word)
{
	for (size_t i = 0; i < run.bs.note_count; i++)
		if (strstr(run.notes[i], word))
			return true;
	return false;
}

/* Of who ended between two looks the rest is in no sum, and a note says why, where that is
 * more than a hundredth. */
static void what_is_unknown_has_a_reason(void **state)
{
	(void)state;
	measure(690, 100, 40003, 16);
	assert_closed();
	assert_true(told.life.unknown_ns >= told.life.lifetime_ns / 100);
	assert_true(has_note("unknown"));
	measure(40, 4000, 997, 16);
	assert_true(told.life.unknown_ns < told.life.lifetime_ns / 100);
	assert_false(has_note("unknown"));
}

/* Kinds, who had the lock, and how long each wait was: to a look at its begin
 * and its end. */
static void waits_are_what_they_were(void **state)
{
	const uint64_t from = 40, ms = 4000, cycles = 10;

	(void)state;
	measure(from, ms, 997, 16);
	for (int i = SLEEPS; i <= FAULTS; i++) {
		uint64_t own = between(PID, i, from, ms);
		uint64_t got = told.by_kind[i];
		uint64_t gap = own > got ? own - got : got - own;

		if (gap >= cycles * 4 * MS)
			fail_msg("%d: %" PRIu64 " of %" PRIu64, i, got, own);
	}
	assert_true(told.names_holder);
	assert_true(told.names_pipe);
	assert_true(told.unseen == 0);
	assert_true(told.estimated < told.weight[1] / 10);
}

/* Each wait for the same lock has its own holder, and where that one was. */
static void holders_are_of_their_wait(void **state)
{
	(void)state;
	/* each look finds the thread in another wait for the lock */
	world.owner_changes = true;
	measure(200, 20 * CYCLE_MS, CYCLE_MS * 1000, 16);
	world.owner_changes = false;
	assert_closed();
	assert_in_range(told.held, told.by_kind[LOCKS] * 4 / 10,
	                told.by_kind[LOCKS] * 6 / 10);
	assert_in_range(told.places_of_holder, 9, 11);
}

/* Where it is told when a thread last ran, each is as long as it was: looks that are
 * rare miss only waits that are short. */
static void begins_may_be_known(void **state)
{
	const uint64_t from = 40, ms = 4000;

	(void)state;
	world.has_clocks = true;
	measure(from, ms, 12345, 16);
	world.has_clocks = false;
	assert_closed();
	for (int i = SLEEPS; i <= READS; i++) {
		uint64_t own = between(PID, i, from, ms);
		uint64_t got = told.by_kind[i];
		uint64_t gap = own > got ? own - got : got - own;

		/* the last one is measured to its end, and no further */
		if (gap > 25 * MS)
			fail_msg("%d: %" PRIu64 " of %" PRIu64, i, got, own);
	}
}

/* On a busy machine the watch itself loses its CPU, between any two reads: what it
 * then puts together is of one moment. */
static void looks_may_be_interrupted(void **state)
{
	const uint64_t from = 40, ms = 4000;

	(void)state;
	world.has_clocks = true;
	for (unsigned every = 17; every < 60; every++) {
		world.stops_every = every;
		measure(from, ms, 1997, 16);
		assert_closed();
		for (int i = SLEEPS; i <= READS; i++) {
			uint64_t own = between(PID, i, from, ms);
			uint64_t got = told.by_kind[i];
			uint64_t gap = own > got ? own - got : got - own;

			if (gap > told.estimated + 150 * MS)
				fail_msg("%u: %d: %" PRIu64 " of %" PRIu64
				         ", %" PRIu64 " estimated", every, i,
				         got, own, told.estimated);
		}
	}
	world.has_clocks = false;
	world.stops_every = 0;
}

/* However rarely somebody looks, and whether the thread waits then or runs: what is
 * laid on a wait without having been seen there is called an estimate. */
static void what_was_not_seen_is_an_estimate(void **state)
{
	const uint64_t from = 40, ms = 20 * CYCLE_MS;

	(void)state;
	world.has_clocks = true;
	for (uint64_t us = 5003; us < 400000; us += us / 7) {
		measure(from, ms, us, 16);
		assert_closed();
		for (int i = SLEEPS; i <= FAULTS; i++) {
			uint64_t own = between(PID, i, from, ms + us / 1000);

			if (told.by_kind[i] > own + told.estimated + 30 * MS)
				fail_msg("looks each %" PRIu64 " us: %d: %" PRIu64
				         " of %" PRIu64 ", %" PRIu64
				         " estimated", us, i, told.by_kind[i],
				         own, told.estimated);
		}
	}
	world.has_clocks = false;
}

/* How long a wait that was met had lasted at the last look that found it is no estimate,
 * nor since when the one lasts that was met next, whatever lies between them. */
static void what_was_surely_waited_is_no_estimate(void **state)
{
	const uint64_t from = 40, ms = 20 * CYCLE_MS;

	(void)state;
	world.has_clocks = true;
	for (uint64_t us = 5003; us < 400000; us += us / 7) {
		uint64_t own = 0, sure = 0;

		measure(from, ms, us, 16);
		for (int i = SLEEPS; i <= READS; i++) {
			uint64_t most = between(PID, i, from, ms + us / 1000);

			own += most;
			sure += told.sure[i];
			if (told.sure[i] > most + 30 * MS)
				fail_msg("looks each %" PRIu64 " us: %d: %" PRIu64
				         " of %" PRIu64, us, i, told.sure[i],
				         most);
		}
		/* looks that miss no wait that is long */
		if (us < 70000)
			assert_true(sure > own / 100 * 93);
	}
	world.has_clocks = false;
}

/* A thread names itself when it runs, be that after the first look at it. */
static void names_are_those_of_now(void **state)
{
	(void)state;
	measure(40, 2000, 997, 16);
	assert_string_equal(told.name, "thread100");
	assert_int_equal(told.names, LIVES);
	world.named_ns = 60 * MS;
	measure(40, 2000, 997, 16);
	world.named_ns = 0;
	assert_string_equal(told.name, "thread100");
	assert_in_range(told.names, LIVES + 1, 2 * LIVES);
}

/* Where begins are known each set has at most what was waited in it. */
static void assert_no_more_than_waited(uint64_t from, uint64_t ms)
{
	for (int i = SLEEPS; i <= FAULTS; i++)
		if (told.by_set[i] > between(PID, i, from, ms) + 2 * MS)
			fail_msg("%d: %" PRIu64 " of %" PRIu64, i,
			         told.by_set[i], between(PID, i, from, ms));
}

/* Each wait has the set of its time, at whatever pace somebody looks, and where the
 * thread moves in the middle of a look: never that of another wait. */
static void waits_have_their_own_sets(void **state)
{
	const uint64_t from = 40, ms = 4000;

	(void)state;
	for (int has_clocks = 0; has_clocks < 2; has_clocks++) {
		world.has_clocks = has_clocks;
		measure(from, ms, 997, 16);
		assert_in_range(told.in_unknown[1], 0, told.in_sets[1] / 50);
		assert_true(told.in_sets[0] > told.in_unknown[0]);
		for (uint64_t us = 5003; us < 400000; us += us / 3) {
			measure(from, ms, us, 16);
			if (has_clocks)
				assert_no_more_than_waited(from, ms + us / 1000);
		}
		for (unsigned every = 17; every < 60; every++) {
			world.stops_every = every;
			measure(from, ms, 1997, 16);
			assert_true(told.in_sets[1] > 0);
		}
		world.stops_every = 0;
	}
	world.has_clocks = false;
}

/* A look may come before it is known what the thread works for. */
static void sets_may_be_known_late(void **state)
{
	const uint64_t from = 40, ms = 4000;

	(void)state;
	world.has_late_labels = true;
	measure(from, ms, 997, 16);
	world.has_late_labels = false;
	assert_closed();
	assert_in_range(told.in_unknown[1], 0, told.in_sets[1] / 20);
}

/* What other waits are a part of has the set of this one as far as it is known to be. */
static void this_wait_has_its_own_time(void **state)
{
	struct waits_arrival by = { .here_ns = UINT64_MAX, .here = 5,
		                    .between = PPI_LABELS_UNKNOWN };
	struct waits_share shares[2];

	(void)state;
	ppi_waits_share_rest(&by, 100, shares);
	assert_true(shares[0].set == 5 && shares[0].ns == 100);
	assert_int_equal(shares[1].ns, 0);
	by.has_others = true;
	ppi_waits_share_rest(&by, 100, shares);
	assert_true(shares[0].set == PPI_LABELS_UNKNOWN && shares[0].ns == 100);
	assert_int_equal(shares[1].ns, 0);
	by.here_ns = 30;
	ppi_waits_share_rest(&by, 100, shares);
	assert_true(shares[0].set == 5 && shares[0].ns == 30);
	assert_true(shares[1].set == PPI_LABELS_UNKNOWN && shares[1].ns == 70);
	by.between = 5; /* all the time */
	ppi_waits_share_rest(&by, 100, shares);
	assert_true(shares[0].set == 5 && shares[0].ns == 100);
	assert_int_equal(shares[1].ns, 0);
}

/* Whoever ended a wait is said of all of it, and of none whose end was not seen; the
 * last one is not over. */
static void waits_have_their_own_wakers(void **state)
{
	const uint64_t from = 40, ms = 4000;

	(void)state;
	world.has_clocks = world.has_wakings = true;
	for (int is_late = 0; is_late < 2; is_late++) {
		world.woken_late = is_late;
		measure(from, ms, 997, 16);
		assert_closed();
		for (int i = SLEEPS; i <= READS; i++)
			assert_in_range(told.unwoken[i], 0,
			                told.by_kind[i] / 10);
		assert_int_equal(told.woken[FAULTS], 0);
	}
	world.woken_late = false;
	/* a third of them is not seen */
	world.loses_every = 3;
	measure(from, ms, 997, 16);
	for (int i = SLEEPS; i <= READS; i++)
		assert_in_range(told.woken[i], told.by_kind[i] * 5 / 10,
		                told.by_kind[i] * 8 / 10);
	world.loses_every = 0;
	/* at whatever pace somebody looks no wait has another one's */
	for (uint64_t us = 5003; us < 400000; us += us / 3)
		measure(from, ms, us, 16);
	for (unsigned every = 17; every < 60; every++) {
		world.stops_every = every;
		measure(from, ms, 1997, 16);
		assert_true(told.woken[LOCKS] > 0);
	}
	world.stops_every = 0;
	world.has_clocks = world.has_wakings = false;
}

/* However little room there is, and however rarely somebody looks. */
static void nothing_is_lost(void **state)
{
	uint64_t blocked;

	(void)state;
	measure(40, 2000, 997, 16);
	blocked = told.weight[1];
	measure(40, 2000, 997, 1);
	assert_closed();
	assert_int_equal(told.weight[1], blocked);
	measure(40, 2000, 333000, 16);
	assert_closed();
	assert_true(told.weight[1] > 0);
	/* waits between two looks stand for one another, and it is said */
	assert_true(told.estimated > 0);
}

/* Who may not see places sees the sums. */
static void places_may_be_hidden(void **state)
{
	(void)state;
	world.is_denied = true;
	measure(40, 2000, 997, 16);
	world.is_denied = false;
	assert_closed();
	assert_true(told.weight[1] > 0);
	assert_int_equal(told.unseen, told.weight[0] + told.weight[1]);
}

/* Whatever read fails, once. */
static void any_read_may_fail(void **state)
{
	unsigned calls;

	(void)state;
	measure(40, 600, 3331, 16);
	calls = world.calls;
	assert_true(calls > 100);
	for (unsigned i = 1; i <= calls; i++) {
		world.fails_at = i;
		measure(40, 600, 3331, 16);
		assert_closed();
	}
	world.fails_at = 0;
}

static void what_has_no_meaning_is_refused(void **state)
{
	struct ppi_event_request request = { .text = "ready-time",
		                             .name = "ready-time" };
	struct ppi_event event;
	struct ppi_diag why;

	(void)state;
	assert_int_equal(ppi_backend_waits.resolve(&kernel, &request, PPI_COUNT,
	                                           &event, &why),
	                 PORTPROF_E_UNSUPPORTED);
	assert_int_equal(ppi_backend_waits.resolve(NULL, &request, PPI_SAMPLE,
	                                           &event, &why),
	                 PORTPROF_E_UNSUPPORTED);
	assert_non_null(strstr(why.words, "system"));
	request.is_rate_own = true;
	assert_int_equal(ppi_backend_waits.resolve(&kernel, &request,
	                                           PPI_SAMPLE, &event, &why),
	                 PORTPROF_E_UNSUPPORTED);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_exact),
		cmocka_unit_test(waits_are_what_they_were),
		cmocka_unit_test(holders_are_of_their_wait),
		cmocka_unit_test(begins_may_be_known),
		cmocka_unit_test(looks_may_be_interrupted),
		cmocka_unit_test(what_was_not_seen_is_an_estimate),
		cmocka_unit_test(what_is_unknown_has_a_reason),
		cmocka_unit_test(what_was_surely_waited_is_no_estimate),
		cmocka_unit_test(names_are_those_of_now),
		cmocka_unit_test(waits_have_their_own_sets),
		cmocka_unit_test(sets_may_be_known_late),
		cmocka_unit_test(this_wait_has_its_own_time),
		cmocka_unit_test(waits_have_their_own_wakers),
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(places_may_be_hidden),
		cmocka_unit_test(any_read_may_fail),
		cmocka_unit_test(what_has_no_meaning_is_refused),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
