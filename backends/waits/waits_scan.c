/* SPDX-License-Identifier: MIT */
/* Who is watched: processes, their threads, and those that they create. */
#include "backends/waits/waits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define SCAN_ALL_NS (1000 * MS)
#define HEARD_WITHIN_NS (5000 * MS)

/* Of many threads so many are asked for children at a time. */
enum { CHILDREN_OF = 256, LISTED_OF = 1024, PATH_ROOM = 96 };

/* ---- threads and processes ---- */

struct waits_thread *ppi_waits_thread(const struct waits_watch *watch,
                                      int64_t tid)
{
	struct waits_thread *thread;

	HASH_FIND(hh, watch->by_id, &tid, sizeof(tid), thread);
	return thread;
}

struct waits_process *ppi_waits_process(const struct waits_watch *watch,
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

	if (pid)
		snprintf(path, sizeof(path), "/proc/%" PRId64 "/%s", pid, name);
	else
		snprintf(path, sizeof(path), "/proc/self/%s", name);
	return watch->kernel->read(watch->kernel->self, path, text, room);
}

/* Where the loader and its random bytes lie is another place after each exec. 0:
 * not to be read. */
uint64_t ppi_waits_program(const struct waits_watch *watch, int64_t pid)
{
	char text[1024];
	int got = read_path(watch, pid, "auxv", text, sizeof(text));
	uint64_t sum = 5381;

	for (int i = 0; i < got; i++)
		sum = sum * 33 + (unsigned char)text[i];
	return got > 0 ? sum : 0;
}

/* Byte 4 of its file: 1 is ELFCLASS32. */
bool ppi_waits_is_foreign(const struct waits_watch *watch, int64_t pid)
{
	char head[8];

	return sizeof(long) == 8 &&
	       read_path(watch, pid, "exe", head, sizeof(head)) >= 5 &&
	       memcmp(head, "\177ELF\1", 5) == 0;
}

struct waits_process *ppi_waits_enter_process(struct waits_watch *watch,
                                           int64_t pid)
{
	struct waits_process *process = ppi_waits_process(watch, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->is_foreign = ppi_waits_is_foreign(watch, pid);
	HASH_ADD(hh, watch->processes, pid, sizeof(pid), process);
	return process;
}

void ppi_waits_forget_process(struct waits_watch *watch,
                           struct waits_process *process)
{
	HASH_DELETE(hh, watch->processes, process);
	ppi_vector_free(&process->code);
	free(process);
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
	uint64_t now, began;
	struct waits_sums sums = { 0 };

	if (is_first_scan)
		ppi_waits_read_labels(watch, thread, false,
		                      &thread->labels.looked);
	thread->labels.since = thread->labels.looked;
	now = watch->now_ns = watch->kernel->now_ns(watch->kernel->self);
	if (ppi_waits_read_sums(watch, thread, &sums)) {
		thread->has_ended = true;
		return;
	}
	thread->is_met = true;
	thread->since_ns = thread->looked_ns = thread->changed_ns = now;
	thread->first = thread->last = sums;
	if (is_first_scan) {
		struct waits_switches switches;

		ppi_waits_read_switches(watch, thread, &switches);
		thread->waits = switches.waits;
	}
	if (is_first_scan || thread->process->is_awaited)
		return;
	began = ppi_waits_began_ns(watch, thread);
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

struct waits_thread *ppi_waits_add_thread(struct waits_watch *watch,
                                          struct waits_process *process,
                                          int64_t tid)
{
	struct waits_thread *thread = calloc(1, sizeof(*thread));
	const struct waits_seat seat = { .thread = thread };

	if (!thread ||
	    !ppi_vector_add(&watch->threads, sizeof(seat), &seat, 1)) {
		free(thread);
		return NULL;
	}
	thread->tid = tid;
	watch->times.earliest_ns = 0;
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
	thread = ppi_waits_add_thread(watch, scan->process, tid);
	scan->is_failed |= !thread;
	if (!thread)
		return false;
	meet(watch, thread, scan->is_first);
	return true;
}

/* Rarely where another backend reports births. */
static uint64_t scan_all_ns(const struct waits_watch *watch)
{
	return SCAN_ALL_NS * (watch->hears_births ? 10 : 1);
}

/* One thread may have gone and another come, so that there are as many as before: now
 * and then all are listed, of many more rarely, as that costs a microsecond each. */
static bool is_list_due(const struct waits_watch *watch,
                        const struct waits_process *process)
{
	return watch->now_ns >= process->listed_ns +
	                        scan_all_ns(watch) *
	                                (1 + process->threads / LISTED_OF);
}

static void scan_threads(struct scan *scan, struct waits_process *process)
{
	char path[PATH_ROOM];
	int folders;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task", process->pid);
	folders = scan->watch->kernel->folders(scan->watch->kernel->self, path);
	if (folders < 0 ||
	    ((size_t)folders == process->threads && !scan->is_first &&
	     !is_list_due(scan->watch, process)))
		return;
	process->listed_ns = scan->watch->now_ns;
	scan->process = process;
	scan->watch->kernel->list(scan->watch->kernel->self, path, take_thread,
	                          scan);
}

static void scan_process(struct scan *scan, int64_t pid)
{
	struct waits_process *process = ppi_waits_enter_process(scan->watch, pid);

	scan->is_failed |= !process;
	if (!process)
		return;
	scan_threads(scan, process);
	/* it has ended since */
	if (!process->threads && !process->is_awaited)
		ppi_waits_forget_process(scan->watch, process);
}

/* Its children of each of its threads, where somebody asks for all. */
static void scan_children(struct scan *scan, int64_t pid, int64_t tid)
{
	char path[PATH_ROOM], *text, *end;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%" PRId64
	         "/children", pid, tid);
	text = ppi_waits_read_list(scan->watch, path);
	for (char *at = text; at; at = end) {
		int64_t child = strtoll(at, &end, 10);

		if (end == at)
			break;
		if (!ppi_waits_process(scan->watch, child))
			scan_process(scan, child);
	}
	free(text);
}

static bool take_process(void *context, int64_t pid)
{
	struct scan *scan = context;
	char text[32];

	/* threads of the kernel have no program */
	if (ppi_waits_process(scan->watch, pid) ||
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
	char path[4200], *text = NULL, *end;

	for (size_t i = cgroup[0] != '/'; !text && i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s/cgroup.procs", mounts[i],
		         cgroup);
		text = ppi_waits_read_list(scan->watch, path);
	}
	for (char *at = text; at; at = end) {
		int64_t pid = strtoll(at, &end, 10);

		if (end == at)
			break;
		take_process(scan, pid);
	}
	free(text);
}

/* Of its first thread all that began in its process, of each the children. */
static void scan_one(struct scan *scan, struct waits_process *process,
                     int64_t tid)
{
	const struct waits_watch *watch = scan->watch;
	const struct waits_thread *thread = ppi_waits_thread(watch, tid);

	if (!thread || thread->process != process || thread->has_ended)
		return;
	if (tid == process->pid)
		scan_threads(scan, process);
	if (watch->bs->plan->follow_children && !process->is_awaited)
		scan_children(scan, process->pid, tid);
}

/* Processes are few where threads are many, so that not all of those are gone through
 * each time. */
static void scan_family(struct scan *scan, bool is_full)
{
	struct waits_watch *watch = scan->watch;
	size_t first, end;

	/* of many threads some each time */
	if (watch->times.child_scan >= watch->threads.count || scan->is_first)
		watch->times.child_scan = 0;
	first = watch->times.child_scan;
	end = scan->is_first ? SIZE_MAX : first + CHILDREN_OF;
	if (is_full)
		watch->times.child_scan = end;
	/* who is found is behind those that were there */
	for (struct waits_process *process = watch->processes; process;
	     process = process->hh.next)
		scan_one(scan, process, process->pid);
	for (size_t i = first; is_full && i < end && i < watch->threads.count;
	     i++) {
		const struct waits_thread *thread =
			ppi_waits_seat(watch, i)->thread;

		if (thread->tid != thread->process->pid)
			scan_one(scan, thread->process, thread->tid);
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

void ppi_waits_scan(struct waits_watch *watch, bool is_first)
{
	const struct ppi_target *target = &watch->bs->plan->target;
	uint64_t count = births(watch), begun = watch->now_ns;
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
		watch->times.all_scanned_ns = begun;
		watch->times.all_births = count;
	}
	watch->times.scanned_ns = begun;
	watch->times.births = count;
}

/* ---- births and executions, as another backend tells them ---- */

/*
 * A record may be read later than the thread that it is about is found, and even
 * than it has ended: then it is of no other thread with the same number.
 */
void ppi_waits_remember_gone(struct waits_watch *watch,
                             const struct waits_thread *thread, uint64_t died_ns)
{
	struct waits_gone *gone;

	if (!watch->hears_births)
		return;
	HASH_FIND(hh, watch->gone, &thread->tid, sizeof(thread->tid), gone);
	if (gone)
		HASH_DELETE(hh, watch->gone, gone);
	else
		gone = calloc(1, sizeof(*gone));
	if (!gone)
		return;
	gone->tid = thread->tid;
	gone->died_ns = died_ns;
	gone->looked_ns = thread->looked_ns;
	HASH_ADD(hh, watch->gone, tid, sizeof(gone->tid), gone);
}

/* The oldest stand first. */
void ppi_waits_forget_gone(struct waits_watch *watch, uint64_t now_ns)
{
	struct waits_gone *gone, *next;

	HASH_ITER(hh, watch->gone, gone, next) {
		/* a record may say that it ended later than the pass is */
		if (gone->died_ns + HEARD_WITHIN_NS > now_ns)
			return;
		HASH_DELETE(hh, watch->gone, gone);
		free(gone);
	}
}

static struct waits_gone *find_gone(const struct waits_watch *watch,
                                    const portprof_record *record)
{
	int64_t tid = record->tid;
	struct waits_gone *gone;

	HASH_FIND(hh, watch->gone, &tid, sizeof(tid), gone);
	return gone && record->time_ns <= gone->died_ns ? gone : NULL;
}

/* A thread counts to the moment when its end was found. A record that is read
 * later says when it was: nobody has looked at it since. */
static void correct_end(struct waits_watch *watch, const portprof_record *record)
{
	struct waits_gone *gone = find_gone(watch, record);
	uint64_t ended = record->time_ns, more;

	if (!gone)
		return;
	if (ended < gone->looked_ns)
		ended = gone->looked_ns;
	more = gone->died_ns > ended ? gone->died_ns - ended : 0;
	if (more > watch->ended.unknown_ns)
		more = watch->ended.unknown_ns;
	watch->ended.unknown_ns -= more;
	watch->ended.lifetime_ns -= more;
	gone->died_ns = ended;
}

/* A thread began: it counts from then on, also if it is gone before anybody
 * looks. */
static void take_birth(struct waits_watch *watch,
                       const portprof_record *record)
{
	struct waits_process *process = ppi_waits_process(watch, record->pid);
	struct waits_thread *thread;

	if (!process && record->kind == PORTPROF_RECORD_FORK &&
	    ppi_waits_process(watch, (int64_t)record->address))
		process = ppi_waits_enter_process(watch, record->pid);
	if (!process || record->tid == (uint64_t)watch->bs->helper_tid ||
	    find_gone(watch, record))
		return;
	thread = ppi_waits_add_thread(watch, process, record->tid);
	if (!thread)
		return;
	thread->is_met = true;
	thread->since_ns = thread->looked_ns = thread->changed_ns =
		record->time_ns;
	thread->last.turns = UINT64_MAX; /* so that it is looked at */
}

/* The command begins: what was charged before is none of its. */
static void take_exec(struct waits_watch *watch,
                      struct waits_thread *thread, uint64_t time_ns)
{
	struct waits_process *process = thread->process;

	ppi_waits_forget_sets(watch, process);
	process->is_foreign = ppi_waits_is_foreign(watch, process->pid);
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
	if (record->kind == PORTPROF_RECORD_EXIT && thread &&
	    !ppi_waits_is_laid_out(thread))
		thread->died_ns = record->time_ns;
	else if (record->kind == PORTPROF_RECORD_EXIT)
		correct_end(watch, record);
	else if (record->kind == PORTPROF_RECORD_THREAD && thread &&
	         record->valid & PORTPROF_FIELD_EXEC)
		take_exec(watch, thread, record->time_ns);
	else if ((record->kind == PORTPROF_RECORD_THREAD ||
	          record->kind == PORTPROF_RECORD_FORK) && !thread)
		take_birth(watch, record);
}
