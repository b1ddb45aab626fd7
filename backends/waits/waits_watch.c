/* SPDX-License-Identifier: MIT */
/*
 * Whose threads are watched, and what became of each one's time. The scheduler
 * charges a thread what it ran and what it was ready (schedstat of
 * Documentation/scheduler/sched-stats.rst, third number: its turns on a CPU), so
 * that the rest of its life is what it was blocked. Where it was blocked is what
 * was seen at the looks before and after; a thread whose sums are what they were
 * is where it was.
 */
#include "backends/waits/waits.h"

#include "base/clock_ns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

/* A look at every thread, when it is cheap; and if not, so that all looks take
 * one in so many parts of a CPU. */
#define PASS_LEAST_NS (10 * MS)
#define PASS_MOST_NS  (1000 * MS)
#define PASS_IDLE_NS  (50 * MS)
enum { PASS_SHARE = 10, PASS_MEMORY = 8 };

/* A thread that does not change is looked at again after such a part of the time
 * for which it has not, at last as often as this. */
enum { PATIENCE = 32, MANY_THREADS = 256 };
#define LOOK_MOST_NS (1000 * MS)
#define TELL_EVERY_NS (1000 * MS)
#define SCAN_ALL_NS   (1000 * MS)

enum { HELD_MOST = 200, PATH_ROOM = 96 };

/* ---- threads and processes ---- */

struct waits_thread *ppi_waits_thread(const struct waits_watch *watch,
                                      int64_t tid)
{
	struct waits_thread *thread;

	HASH_FIND(hh, watch->by_id, &tid, sizeof(tid), thread);
	return thread;
}

static struct waits_process *find_process(const struct waits_watch *watch,
                                          int64_t pid)
{
	struct waits_process *process;

	HASH_FIND(hh, watch->processes, &pid, sizeof(pid), process);
	return process;
}

static int read_path(const struct waits_watch *watch, int64_t pid,
                     const char *name, char *text, size_t room)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/%s", pid, name);
	return watch->kernel->read(watch->kernel->self, path, text, room);
}

/* Where the loader and its random bytes lie is another place after each exec. 0:
 * not to be read. */
static uint64_t program_of(const struct waits_watch *watch, int64_t pid)
{
	char text[1024];
	int got = read_path(watch, pid, "auxv", text, sizeof(text));
	uint64_t sum = 5381;

	for (int i = 0; i < got; i++)
		sum = sum * 33 + (unsigned char)text[i];
	return got > 0 ? sum : 0;
}

/* Byte 4 of its file: 1 is ELFCLASS32. */
static bool is_foreign(const struct waits_watch *watch, int64_t pid)
{
	char head[8];

	return sizeof(long) == 8 &&
	       read_path(watch, pid, "exe", head, sizeof(head)) >= 5 &&
	       memcmp(head, "\177ELF\1", 5) == 0;
}

static struct waits_process *enter_process(struct waits_watch *watch,
                                           int64_t pid)
{
	struct waits_process *process = find_process(watch, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->is_foreign = is_foreign(watch, pid);
	HASH_ADD(hh, watch->processes, pid, sizeof(pid), process);
	return process;
}

static void forget_process(struct waits_watch *watch,
                           struct waits_process *process)
{
	HASH_DELETE(hh, watch->processes, process);
	ppi_vector_free(&process->code);
	free(process);
}

/* ---- sums ---- */

static int parse_sums(const char *text, struct waits_sums *sums)
{
	return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64,
	              &sums->running_ns, &sums->ready_ns, &sums->turns) == 3
	       ? 0 : -EINVAL;
}

static int read_sums(struct waits_watch *watch, struct waits_thread *thread,
                     struct waits_sums *sums)
{
	const struct waits_kernel *kernel = watch->kernel;
	char path[PATH_ROOM], text[96];
	int got;

	snprintf(path, sizeof(path),
	         "/proc/%" PRId64 "/task/%" PRId64 "/schedstat",
	         thread->process->pid, thread->tid);
	if (thread->held == -1 && watch->held_count < HELD_MOST) {
		thread->held = kernel->hold(kernel->self, path);
		if (thread->held < 0)
			thread->held = -2;
		else
			watch->held_count++;
	}
	got = thread->held >= 0
		? kernel->read_held(kernel->self, thread->held, text,
	                            sizeof(text))
		: kernel->read(kernel->self, path, text, sizeof(text));
	if (got == 0)
		return -ESRCH;
	return got < 0 ? got : parse_sums(text, sums);
}

/* How often it has given up its CPU, to wait; 0 unknown. */
static uint64_t read_waits(const struct waits_watch *watch,
                           const struct waits_thread *thread)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char path[PATH_ROOM], text[4096];
	const char *at = NULL;

	snprintf(path, sizeof(path),
	         "/proc/%" PRId64 "/task/%" PRId64 "/status",
	         thread->process->pid, thread->tid);
	if (watch->kernel->read(watch->kernel->self, path, text,
	                        sizeof(text)) > 0)
		at = strstr(text, key);
	return at ? strtoull(at + sizeof(key) - 1, NULL, 10) : 0;
}

/* When it began, CLOCK_MONOTONIC; 0 unknown. Field 22 of stat. */
static uint64_t began_ns(const struct waits_watch *watch,
                         const struct waits_thread *thread)
{
	const struct waits_kernel *kernel = watch->kernel;
	char path[PATH_ROOM], text[640];
	uint64_t now = kernel->now_ns(kernel->self);
	uint64_t ticks, ahead = kernel->boot_ns(kernel->self) - now;
	const char *at;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%" PRId64 "/stat",
	         thread->process->pid, thread->tid);
	if (kernel->read(kernel->self, path, text, sizeof(text)) <= 0)
		return 0;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++) {
		at = strchr(at + 1, ' ');
	}
	if (!at)
		return 0;
	ticks = strtoull(at, NULL, 10);
	ticks *= 1000000000u / kernel->ticks_per_s;
	return ticks > ahead ? ticks - ahead : 0;
}

/* ---- who is there ---- */

/*
 * A thread that was there when the watch began counts from then on, with what it
 * had been charged by then; one that began later counts from its beginning.
 * Of one that was there and is found only now, what it did between is hidden.
 */
static void meet(struct waits_watch *watch, struct waits_thread *thread,
                 bool is_first_scan)
{
	uint64_t now = watch->now_ns, began;
	struct waits_sums sums = { 0 };

	if (read_sums(watch, thread, &sums)) {
		thread->has_ended = true;
		return;
	}
	thread->is_met = true;
	thread->since_ns = thread->looked_ns = thread->changed_ns = now;
	thread->first = thread->last = sums;
	if (is_first_scan)
		thread->waits = read_waits(watch, thread);
	if (is_first_scan || thread->process->is_awaited)
		return;
	began = began_ns(watch, thread);
	if (began + 2 * 1000000000u / watch->kernel->ticks_per_s <
	    watch->times.started_ns) {
		thread->since_ns = watch->times.started_ns;
		return;
	}
	/* known to a tick, and not before somebody looked for it */
	if (began < watch->times.scanned_ns)
		began = watch->times.scanned_ns;
	if (began + sums.running_ns + sums.ready_ns > now)
		began = now - (sums.running_ns + sums.ready_ns);
	thread->since_ns = thread->looked_ns = began;
	memset(&thread->first, 0, sizeof(thread->first));
	thread->last = (struct waits_sums){ .turns = UINT64_MAX };
}

struct scan {
	struct waits_watch *watch;
	struct waits_process *process;
	bool is_first, is_failed;
	int64_t own_helper;
};

static struct waits_thread *add_thread(struct waits_watch *watch,
                                       struct waits_process *process,
                                       int64_t tid)
{
	struct waits_thread *thread = calloc(1, sizeof(*thread));

	if (!thread ||
	    !ppi_vector_add(&watch->threads, sizeof(thread), &thread, 1)) {
		free(thread);
		return NULL;
	}
	thread->tid = tid;
	thread->held = -1;
	thread->process = process;
	process->threads++;
	HASH_ADD(hh, watch->by_id, tid, sizeof(tid), thread);
	return thread;
}

static bool take_thread(void *context, int64_t tid)
{
	struct scan *scan = context;
	struct waits_watch *watch = scan->watch;
	const struct ppi_target *target = &watch->bs->plan->target;
	struct waits_thread *thread = ppi_waits_thread(watch, tid);

	if (thread && thread->process == scan->process)
		return true;
	if (thread || tid == scan->own_helper ||
	    (target->kind == PPI_TARGET_TID && tid != target->tid))
		return true;
	thread = add_thread(watch, scan->process, tid);
	scan->is_failed |= !thread;
	if (!thread)
		return false;
	meet(watch, thread, scan->is_first);
	return true;
}

/* Rarely where another backend has records of births. */
static uint64_t scan_all_ns(const struct waits_watch *watch)
{
	return SCAN_ALL_NS * (watch->hears_births ? 10 : 1);
}

static void scan_threads(struct scan *scan, struct waits_process *process)
{
	char path[PATH_ROOM];
	int folders;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task", process->pid);
	folders = scan->watch->kernel->folders(scan->watch->kernel->self, path);
	/* one may have gone and another come: now and then all are listed */
	if (folders < 0 ||
	    ((size_t)folders == process->threads && !scan->is_first &&
	     scan->watch->now_ns < scan->watch->times.all_scanned_ns +
	                                   scan_all_ns(scan->watch)))
		return;
	scan->process = process;
	scan->watch->kernel->list(scan->watch->kernel->self, path, take_thread,
	                          scan);
}

static void scan_process(struct scan *scan, int64_t pid)
{
	struct waits_process *process = enter_process(scan->watch, pid);

	scan->is_failed |= !process;
	if (!process)
		return;
	scan_threads(scan, process);
	/* it has ended since */
	if (!process->threads && !process->is_awaited)
		forget_process(scan->watch, process);
}

/* Its children of each of its threads, where somebody asks for all. */
static void scan_children(struct scan *scan, int64_t pid, int64_t tid)
{
	char path[PATH_ROOM], text[4096], *at = text, *end;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%" PRId64
	         "/children", pid, tid);
	if (scan->watch->kernel->read(scan->watch->kernel->self, path, text,
	                              sizeof(text)) <= 0)
		return;
	for (;;) {
		int64_t child = strtoll(at, &end, 10);

		if (end == at)
			return;
		at = end;
		if (!find_process(scan->watch, child))
			scan_process(scan, child);
	}
}

static bool take_process(void *context, int64_t pid)
{
	struct scan *scan = context;
	char text[32];

	/* threads of the kernel have no program */
	if (find_process(scan->watch, pid) ||
	    read_path(scan->watch, pid, "cmdline", text, sizeof(text)) > 0)
		scan_process(scan, pid);
	return !scan->is_failed;
}

/* Its name is a path, or one below where groups are mounted. */
static void scan_cgroup(struct scan *scan, const char *cgroup)
{
	static const char *const mounts[] = {
		"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/",
		"/sys/fs/cgroup/perf_event/"
	};
	enum { ROOM = 1 << 16 };
	const struct waits_kernel *kernel = scan->watch->kernel;
	char path[4200], *text = malloc(ROOM), *at = text, *end;
	int got = -1;

	for (size_t i = cgroup[0] != '/'; text && got < 0 && i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s/cgroup.procs", mounts[i],
		         cgroup);
		got = kernel->read(kernel->self, path, text, ROOM);
	}
	for (; got > 0; at = end) {
		int64_t pid = strtoll(at, &end, 10);

		if (end == at)
			break;
		take_process(scan, pid);
	}
	free(text);
}

static void scan_family(struct scan *scan, bool is_full)
{
	struct waits_watch *watch = scan->watch;
	size_t first, end;

	/* of many threads some each time */
	if (watch->times.child_scan >= watch->threads.count || scan->is_first)
		watch->times.child_scan = 0;
	first = watch->times.child_scan;
	end = scan->is_first ? SIZE_MAX : first + MANY_THREADS;
	if (is_full)
		watch->times.child_scan = end;
	/* threads that are found are behind those that were there */
	for (size_t i = 0; i < watch->threads.count; i++) {
		struct waits_thread *thread =
			PPI_AT(&watch->threads, struct waits_thread *)[i];
		struct waits_process *process = thread->process;

		if (thread->tid == process->pid && !thread->has_ended)
			scan_threads(scan, process);
		if (watch->bs->plan->follow_children && !thread->has_ended &&
		    !process->is_awaited &&
		    ((is_full && i >= first && i < end) ||
		     thread->tid == process->pid))
			scan_children(scan, process->pid, thread->tid);
	}
}

/* The last number that was given to a process or thread: while it is the same
 * nothing has begun. The fifth word of loadavg (proc_loadavg(5)). */
static uint64_t births(const struct waits_watch *watch)
{
	char text[128];
	int got = watch->kernel->read(watch->kernel->self, "/proc/loadavg",
	                              text, sizeof(text));
	const char *last = got > 0 ? strrchr(text, ' ') : NULL;

	return last ? strtoull(last, NULL, 10) : 0;
}

static void scan_now(struct waits_watch *watch, bool is_first)
{
	const struct ppi_target *target = &watch->bs->plan->target;
	uint64_t count = births(watch);
	bool is_full = is_first || !count ||
	               (count != watch->times.all_births &&
	                watch->now_ns >= watch->times.all_scanned_ns +
	                                         scan_all_ns(watch));
	struct scan scan = { .watch = watch, .is_first = is_first,
		             .own_helper = watch->bs->helper_tid };

	if (!is_full && count && count == watch->times.births)
		return;
	if (target->kind == PPI_TARGET_SYSTEM && target->cgroup)
		scan_cgroup(&scan, target->cgroup);
	else if (target->kind == PPI_TARGET_SYSTEM)
		watch->kernel->list(watch->kernel->self, "/proc", take_process,
		                    &scan);
	else if (is_first)
		scan_process(&scan, target->pid);
	if (is_first)
		for (size_t i = 0; i < target->other_count; i++)
			scan_process(&scan, target->others[i]);
	if (target->kind != PPI_TARGET_SYSTEM)
		scan_family(&scan, is_full);
	if (is_full) {
		watch->times.all_scanned_ns = watch->now_ns;
		watch->times.all_births = count;
	}
	watch->times.scanned_ns = watch->now_ns;
	watch->times.births = count;
}

/* ---- lives ---- */

static void add_life(const struct waits_thread *thread, uint64_t end_ns,
                     portprof_life *sum)
{
	uint64_t running = thread->last.running_ns - thread->first.running_ns +
	                   thread->excess_ns;
	uint64_t ready = thread->last.ready_ns - thread->first.ready_ns;
	uint64_t known = running + ready + thread->told_ns;
	uint64_t lifetime = end_ns > thread->since_ns
	                            ? end_ns - thread->since_ns : 0;

	/* clocks of the scheduler and ours differ by microseconds */
	if (lifetime < known)
		lifetime = known;
	sum->threads++;
	sum->lifetime_ns += lifetime;
	sum->running_ns += running;
	sum->ready_ns += ready;
	sum->blocked_ns += thread->told_ns;
	sum->unknown_ns += lifetime - known;
}

static void sum_up(struct waits_watch *watch)
{
	portprof_life sum = watch->ended;

	for (size_t i = 0; i < watch->threads.count; i++) {
		const struct waits_thread *thread =
			PPI_AT(&watch->threads, struct waits_thread *)[i];

		if (thread->is_met && !thread->process->is_awaited)
			add_life(thread, thread->looked_ns, &sum);
	}
	watch->bs->life = sum;
}

static void drop_thread(struct waits_watch *watch, struct waits_thread *thread)
{
	if (thread->held >= 0) {
		watch->kernel->release(watch->kernel->self, thread->held);
		watch->held_count--;
	}
	if (--thread->process->threads == 0)
		forget_process(watch, thread->process);
	HASH_DELETE(hh, watch->by_id, thread);
	free(thread);
}

/* Its last moments, from the last look on, nobody knows. */
static void bury(struct waits_watch *watch, struct waits_thread *thread)
{
	uint64_t died = !thread->has_ended ? thread->looked_ns :
	                thread->died_ns > thread->looked_ns
	                        ? thread->died_ns : watch->now_ns;

	if (thread->is_met && !thread->process->is_awaited)
		add_life(thread, died, &watch->ended);
	drop_thread(watch, thread);
}

/* ---- a look ---- */

static bool is_same_place(const struct waits_place *a,
                          const struct waits_place *b)
{
	return a->is_known == b->is_known && a->number == b->number &&
	       a->pc == b->pc && a->sp == b->sp && a->callers == b->callers &&
	       a->arguments[0] == b->arguments[0] && a->phase == b->phase;
}

static uint64_t take_pending(struct waits_thread *thread)
{
	uint64_t taken = thread->pending_ns > 0
	                         ? (uint64_t)thread->pending_ns : 0;

	if (taken)
		thread->pending_ns = 0;
	thread->owed_ns = 0;
	return taken;
}

static void tell_blocked(struct waits_watch *watch,
                         struct waits_thread *thread, enum waits_part part,
                         bool is_estimate, uint64_t ns)
{
	thread->told_ns += ns;
	ppi_waits_tell(watch, thread, part, false, is_estimate, ns);
}

/* What it waited for a CPU: after the wait that was seen, or else it was taken
 * from it. */
static void tell_ready(struct waits_watch *watch,
                       struct waits_thread *thread, uint64_t ns)
{
	if (ns)
		ppi_waits_tell(watch, thread,
		               thread->was_blocked ? WAITS_STILL : WAITS_RAN,
		               true, !thread->was_blocked && watch->has_samples,
		               ns);
}

/*
 * It is blocked, after so many waits since the last look. If it was blocked then,
 * too, the first half of what nobody saw is that wait's and the rest this one's.
 * Where there were others between, these two stand for them.
 */
static void settle_blocked(struct waits_watch *watch,
                           struct waits_thread *thread,
                           struct waits_place *place, uint64_t waits,
                           uint64_t sure)
{
	bool is_estimate = waits > 1;
	bool is_same = is_same_place(&thread->at, place) && thread->at.pc;
	uint64_t owed = thread->owed_ns, all = take_pending(thread);

	if (thread->was_blocked)
		owed = all > sure ? sure + (all - sure) / 2 : all;
	if (owed > all)
		owed = all;
	if (is_same) {
		tell_blocked(watch, thread, WAITS_STILL, is_estimate, all);
		return;
	}
	if (owed)
		tell_blocked(watch, thread, WAITS_STILL,
		             is_estimate && owed > sure, owed);
	ppi_waits_name(watch, thread, place);
	thread->at = *place;
	thread->has_chain = false;
	tell_blocked(watch, thread,
	             place->is_known ? WAITS_HERE : WAITS_UNSEEN, is_estimate,
	             all - owed);
}

/*
 * It is on a CPU or waits for one. CPU time of this turn is charged at the tick,
 * and what it waits for a CPU when it has one: what is pending now is at most the
 * wait's that is over, and each look from now on may find less.
 */
static void settle_runnable(struct waits_thread *thread)
{
	uint64_t owed = thread->pending_ns > 0
	                        ? (uint64_t)thread->pending_ns : 0;

	if (thread->was_blocked || owed < thread->owed_ns)
		thread->owed_ns = owed;
}

/* The measurement ends while it runs. */
static void settle_last(struct waits_watch *watch,
                        struct waits_thread *thread)
{
	uint64_t owed = thread->owed_ns, all = take_pending(thread);

	if (owed > all)
		owed = all;
	if (owed)
		tell_blocked(watch, thread, WAITS_STILL, false, owed);
	if (!thread->has_ended && all - owed <= 2 * watch->kernel->tick_ns)
		thread->excess_ns += all - owed;
}

/* It is gone. Until the last look it waited where it was seen. */
static void end_unseen(struct waits_watch *watch, struct waits_thread *thread)
{
	uint64_t owed = thread->owed_ns, all = take_pending(thread);

	if (thread->was_blocked || owed > all)
		owed = all;
	if (owed)
		tell_blocked(watch, thread, WAITS_STILL, false, owed);
	thread->has_ended = true;
}

static void schedule(const struct waits_watch *watch,
                     struct waits_thread *thread)
{
	uint64_t since = watch->now_ns - thread->changed_ns;
	uint64_t nap = since / PATIENCE *
	               (1 + watch->threads.count / MANY_THREADS);
	uint64_t most = LOOK_MOST_NS *
	                (1 + watch->threads.count / (2 * MANY_THREADS));

	thread->next_ns = watch->now_ns + (nap < most ? nap : most);
}

/* False while a command has not begun: nothing of before counts. */
static bool has_begun(struct waits_watch *watch, struct waits_thread *thread,
                      const struct waits_sums *sums)
{
	struct waits_process *process = thread->process;

	if (!process->is_awaited)
		return true;
	if (program_of(watch, process->pid) != process->program) {
		process->is_awaited = false;
		process->is_foreign = is_foreign(watch, process->pid);
		return true;
	}
	thread->first = thread->last = *sums;
	thread->since_ns = thread->looked_ns = watch->now_ns;
	thread->next_ns = 0;
	return false;
}

static void take_sums(struct waits_watch *watch, struct waits_thread *thread,
                      const struct waits_sums *sums)
{
	const struct waits_sums *last = &thread->last;

	thread->pending_ns += (int64_t)(watch->now_ns - thread->looked_ns) -
	                      (int64_t)(sums->running_ns - last->running_ns) -
	                      (int64_t)(sums->ready_ns - last->ready_ns);
	thread->looked_ns = watch->now_ns;
	thread->last = *sums;
}

/* It has not moved: what it waits is the same wait. */
static void go_on_waiting(struct waits_watch *watch,
                          struct waits_thread *thread)
{
	uint64_t least = TELL_EVERY_NS *
	                 (1 + watch->threads.count / MANY_THREADS);

	if (watch->is_last || thread->pending_ns > (int64_t)least)
		tell_blocked(watch, thread, WAITS_STILL, false,
		             take_pending(thread));
	schedule(watch, thread);
}

/* Who samples from inside has a thread of this name there, which is nobody's. */
static bool is_samplers(const struct waits_watch *watch,
                        const struct waits_thread *thread)
{
	char path[PATH_ROOM], name[32] = "";

	if (!watch->has_samplers)
		return false;
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%" PRId64 "/comm",
	         thread->process->pid, thread->tid);
	return watch->kernel->read(watch->kernel->self, path, name,
	                           sizeof(name)) > 0 &&
	       strcmp(name, "portprof\n") == 0;
}

/* False: there is no room, and nothing has changed. */
static bool look(struct waits_watch *watch, struct waits_thread *thread)
{
	struct waits_sums sums, before = thread->last;
	struct waits_place place;
	uint64_t sure = thread->pending_ns > 0
	                        ? (uint64_t)thread->pending_ns : 0;
	uint64_t waits;
	bool is_new;

	if (!ppi_waits_has_room(watch))
		return false;
	if (thread->has_ended || read_sums(watch, thread, &sums)) {
		end_unseen(watch, thread);
		return true;
	}
	if (!has_begun(watch, thread, &sums))
		return true;
	is_new = before.turns != sums.turns ||
	         before.running_ns != sums.running_ns;
	if (!is_new && thread->was_blocked) {
		take_sums(watch, thread, &sums);
		go_on_waiting(watch, thread);
		return true;
	}
	if (is_samplers(watch, thread)) {
		thread->is_met = false;
		thread->next_ns = UINT64_MAX;
		return true;
	}
	if (ppi_waits_place(watch, thread, &place)) {
		end_unseen(watch, thread);
		return true;
	}
	if (!ppi_waits_tell_code(watch, thread, place.is_known))
		return false;
	if (place.phase == WAITS_BLOCKED && !place.is_known)
		watch->is_denied = true;
	waits = read_waits(watch, thread);
	take_sums(watch, thread, &sums);
	tell_ready(watch, thread, sums.ready_ns - before.ready_ns);
	if (is_new)
		thread->changed_ns = watch->now_ns;
	if (place.phase == WAITS_BLOCKED)
		settle_blocked(watch, thread, &place, waits - thread->waits,
		               sure);
	else if (place.phase == WAITS_RUNNABLE)
		settle_runnable(thread);
	else if (thread->was_blocked) /* until the last look it was */
		thread->owed_ns = sure;
	thread->waits = waits;
	thread->was_blocked = place.phase == WAITS_BLOCKED;
	if (place.phase == WAITS_OVER)
		thread->has_ended = true;
	if (watch->is_last || thread->has_ended)
		settle_last(watch, thread);
	schedule(watch, thread);
	return true;
}

/* ---- passes ---- */

static uint64_t own_cpu_ns(void)
{
	uint64_t ns = 0;

	ppi_clock_ns(CLOCK_THREAD_CPUTIME_ID, &ns);
	return ns;
}

/* The next one, so that looking stays cheap; not at even times, at which programs
 * do what they do again and again. */
static void plan_pass(struct waits_watch *watch)
{
	uint64_t cpu = own_cpu_ns(), every = 0, idle;

	/* what the session did with the records of the last one, too, where the
	 * same thread looks again */
	if (pthread_equal(watch->times.thread, pthread_self()) &&
	    cpu > watch->times.thread_cpu_ns)
		every = (cpu - watch->times.thread_cpu_ns) * PASS_SHARE;
	watch->times.thread = pthread_self();
	watch->times.thread_cpu_ns = cpu;
	every = ((PASS_MEMORY - 1) * watch->times.every_ns + every) /
	        PASS_MEMORY;
	if (every < PASS_LEAST_NS)
		every = PASS_LEAST_NS;
	if (every > PASS_MOST_NS)
		every = PASS_MOST_NS;
	watch->times.every_ns = every;
	watch->times.dice = watch->times.dice * 1664525u + 1013904223u;
	every = every * 3 / 4 + every / 2 * (watch->times.dice >> 16) / 65536;
	watch->times.next_ns = watch->now_ns + every;
	/* nobody is due until then; but somebody may begin */
	idle = watch->times.earliest_ns < watch->now_ns + PASS_IDLE_NS
	               ? watch->times.earliest_ns : watch->now_ns + PASS_IDLE_NS;
	if (watch->times.next_ns < idle)
		watch->times.next_ns = idle;
}

static void begin_pass(struct waits_watch *watch)
{
	watch->is_passing = true;
	watch->cursor = 0;
	watch->times.earliest_ns = UINT64_MAX;
	scan_now(watch, false);
}

static double percent(uint64_t part, uint64_t all)
{
	return 100.0 * (double)part / (double)all;
}

/* How much of it was seen, and why not more. */
static void say_seen(struct waits_watch *watch)
{
	const struct waits_told *told = &watch->told;
	uint64_t all = told->ready + told->blocked;

	if (!all)
		return;
	ppi_note(watch->bs, "waits: where was seen for %.1f %% of the time, "
	         "%.1f %% of it is divided between waits that were seen",
	         percent(all - told->unseen, all),
	         percent(told->estimated, all));
	if (watch->is_denied)
		ppi_note(watch->bs, PORTPROF_NOTE_MISSED "where threads of "
		         "others wait: only the administrator may see their "
		         "/proc/PID/syscall and stacks");
}

static void end_pass(struct waits_watch *watch)
{
	struct waits_thread **all = watch->threads.data;
	size_t kept = 0;

	for (size_t i = 0; i < watch->threads.count; i++)
		if (all[i]->has_ended || watch->is_last)
			bury(watch, all[i]);
		else
			all[kept++] = all[i];
	watch->threads.count = kept;
	sum_up(watch);
	watch->is_passing = false;
	if (watch->is_last) {
		watch->is_running = watch->is_last = false;
		say_seen(watch);
	} else {
		plan_pass(watch);
	}
}

static void restart(struct waits_watch *watch)
{
	watch->resets = watch->bs->resets;
	memset(&watch->ended, 0, sizeof(watch->ended));
	for (size_t i = 0; i < watch->threads.count; i++) {
		struct waits_thread *thread =
			PPI_AT(&watch->threads, struct waits_thread *)[i];

		thread->first = thread->last;
		thread->since_ns = thread->looked_ns;
		thread->told_ns = thread->excess_ns = 0;
		thread->pending_ns = 0;
		thread->owed_ns = 0;
	}
}

static bool is_due(const struct waits_watch *watch,
                   const struct waits_thread *thread)
{
	return thread->next_ns <= watch->now_ns ||
	       (watch->is_last && thread->next_ns != UINT64_MAX);
}

bool ppi_waits_watch_drain(struct waits_watch *watch, struct ppi_room *room)
{
	const struct waits_kernel *kernel = watch->kernel;

	if (!watch->is_running)
		return true;
	if (watch->resets != watch->bs->resets)
		restart(watch);
	if (!watch->is_passing) {
		uint64_t now = kernel->now_ns(kernel->self);

		if (now < watch->times.next_ns && !watch->is_last)
			return true;
		if (!watch->is_last)
			watch->now_ns = now;
		begin_pass(watch);
	}
	while (ppi_waits_pass_on(watch, room)) {
		struct waits_thread *thread;

		if (watch->cursor == watch->threads.count) {
			end_pass(watch);
			return true;
		}
		thread = PPI_AT(&watch->threads,
		                struct waits_thread *)[watch->cursor];
		if (is_due(watch, thread) && !look(watch, thread))
			continue;
		watch->cursor++;
		if (thread->next_ns < watch->times.earliest_ns)
			watch->times.earliest_ns = thread->next_ns;
	}
	return false;
}

/* A thread began: it counts from then on, also if it is gone before anybody
 * looks. */
static void take_birth(struct waits_watch *watch,
                       const portprof_record *record)
{
	struct waits_process *process = find_process(watch, record->pid);
	struct waits_thread *thread;

	if (!process && record->kind == PORTPROF_RECORD_FORK &&
	    find_process(watch, (int64_t)record->address))
		process = enter_process(watch, record->pid);
	if (!process || record->tid == (uint64_t)watch->bs->helper_tid)
		return;
	thread = add_thread(watch, process, record->tid);
	if (!thread)
		return;
	thread->is_met = true;
	thread->since_ns = thread->looked_ns = thread->changed_ns =
		record->time_ns;
	thread->last.turns = UINT64_MAX; /* so that it is looked at */
}

/* The command begins: what was charged before is none of its. */
static void take_exec(struct waits_process *process,
                      struct waits_thread *thread, uint64_t time_ns)
{
	if (!process->is_awaited || thread->looked_ns > time_ns)
		return;
	process->is_awaited = false;
	thread->since_ns = thread->looked_ns = time_ns;
}

void ppi_waits_watch_see(struct waits_watch *watch,
                         const portprof_record *record)
{
	struct waits_thread *thread;

	if (!watch->is_running || !(record->valid & PORTPROF_FIELD_TIME) ||
	    record->time_ns < watch->times.started_ns)
		return;
	thread = ppi_waits_thread(watch, record->tid);
	if (record->kind == PORTPROF_RECORD_EXIT && thread)
		thread->died_ns = record->time_ns;
	else if (record->kind == PORTPROF_RECORD_THREAD && thread &&
	         record->valid & PORTPROF_FIELD_EXEC)
		take_exec(thread->process, thread, record->time_ns);
	else if ((record->kind == PORTPROF_RECORD_THREAD ||
	          record->kind == PORTPROF_RECORD_FORK) && !thread)
		take_birth(watch, record);
}

/* ---- its life ---- */

unsigned ppi_waits_watch_nap_ms(const struct waits_watch *watch)
{
	uint64_t now = watch->kernel->now_ns(watch->kernel->self);

	if (!watch->is_running || watch->times.next_ns <= now)
		return 1;
	return (unsigned)((watch->times.next_ns - now) / MS) + 1;
}

portprof_status ppi_waits_watch_open(struct waits_watch *watch,
                                     struct ppi_diag *why)
{
	const struct waits_kernel *kernel = watch->kernel;
	const struct ppi_target *target = &watch->bs->plan->target;
	struct waits_sums sums;
	char text[96];
	int got;

	if (target->kind == PPI_TARGET_SYSTEM && target->cpus)
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open waits",
		                "who waits is on no CPU: leave the list of "
		                "CPUs out");
	got = kernel->read(kernel->self, "/proc/self/schedstat", text,
	                   sizeof(text));
	if (got <= 0 || parse_sums(text, &sums))
		return ppi_fail(why, PORTPROF_E_UNSUPPORTED, got < 0 ? -got : 0,
		                "open waits", "the kernel does not tell how "
		                "long threads ran and waited "
		                "(/proc/PID/schedstat): mount /proc, or use a "
		                "kernel with CONFIG_SCHED_INFO");
	watch->times.dice = (uint32_t)kernel->now_ns(kernel->self);
	watch->times.every_ns = PASS_LEAST_NS;
	return ppi_waits_queue_open(watch, why);
}

void ppi_waits_watch_start(struct waits_watch *watch)
{
	const struct ppi_target *target = &watch->bs->plan->target;
	struct waits_process *process;

	watch->now_ns = watch->kernel->now_ns(watch->kernel->self);
	watch->times.started_ns = watch->times.scanned_ns = watch->now_ns;
	watch->times.next_ns = watch->now_ns;
	watch->is_running = true;
	watch->is_last = watch->is_passing = false;
	watch->times.thread_cpu_ns = UINT64_MAX;
	if (target->kind == PPI_TARGET_COMMAND) {
		process = enter_process(watch, target->pid);
		if (process) {
			process->is_awaited = true;
			process->program = program_of(watch, target->pid);
		}
	}
	scan_now(watch, true);
}

void ppi_waits_watch_stop(struct waits_watch *watch)
{
	if (!watch->is_running || watch->is_last)
		return;
	watch->now_ns = watch->kernel->now_ns(watch->kernel->self);
	watch->is_last = true;
	watch->is_passing = false;
}

void ppi_waits_watch_close(struct waits_watch *watch)
{
	struct waits_process *process, *next;

	for (size_t i = 0; i < watch->threads.count; i++)
		drop_thread(watch, PPI_AT(&watch->threads,
		                          struct waits_thread *)[i]);
	ppi_vector_free(&watch->threads);
	HASH_ITER(hh, watch->processes, process, next)
		forget_process(watch, process);
	ppi_waits_forget_sockets(watch);
	ppi_waits_queue_close(watch);
}
