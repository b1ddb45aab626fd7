/* SPDX-License-Identifier: MIT */
/*
 * Where a thread is at this moment, by what /proc says of it, and for what it
 * waits there: a lock and who holds it; files, sockets and paths are in
 * waits_files.c.
 */
#include "backends/waits/waits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ppi_waits_kinds[WAITS_KINDS] = {
	[WAITS_OTHER] = "other",       [WAITS_LOCK] = "lock",
	[WAITS_CONDITION] = "condition", [WAITS_SLEEP] = "sleep",
	[WAITS_DISK] = "disk",         [WAITS_NETWORK] = "network",
	[WAITS_PIPE] = "pipe",         [WAITS_TERMINAL] = "terminal",
	[WAITS_CHILD] = "child",       [WAITS_POLL] = "poll",
	[WAITS_PAGE_FAULT] = "page-fault", [WAITS_MEMORY] = "memory",
	[WAITS_STOPPED] = "stopped",   [WAITS_IDLE] = "idle",
};

/* ---- where ---- */

/* Whoever may not see the place sees the state. The name may have blanks and
 * parentheses. */
static int take_state(const struct waits_watch *watch,
                      const struct waits_thread *thread,
                      struct waits_place *place)
{
	char text[512];
	int got = ppi_waits_read(watch, thread, "stat", text, sizeof(text));
	const char *behind = got > 0 ? strrchr(text, ')') : NULL;

	if (got < 0)
		return got;
	if (!behind || !behind[1])
		return -ESRCH;
	switch (behind[2]) {
	case 'R':
		place->phase = WAITS_RUNNABLE;
		break;
	case 'Z':
	case 'X':
	case 'x':
		place->phase = WAITS_OVER;
		break;
	default:
		place->phase = WAITS_BLOCKED;
		if (behind[2] == 'T' || behind[2] == 't')
			place->kind = WAITS_STOPPED;
		break;
	}
	return 0;
}

/* "running", "-1 SP PC" or "NUMBER A0 A1 A2 A3 A4 A5 SP PC" (proc(5)). */
static void parse(char *text, struct waits_place *place)
{
	uint64_t words[8];
	size_t count = 0;
	char *at;

	if (ppi_waits_begins(text, "running")) {
		place->phase = WAITS_RUNNABLE;
		return;
	}
	place->phase = WAITS_BLOCKED;
	place->number = strtoll(text, &at, 10);
	while (count < 8 && *at == ' ')
		words[count++] = strtoull(at, &at, 16);
	if (count < 2)
		return;
	place->sp = words[count - 2];
	place->pc = words[count - 1];
	place->is_known = place->pc != 0;
	for (size_t i = 0; i + 2 < count; i++)
		place->arguments[i] = words[i];
}

/*
 * What looks like addresses of code on the stack, added up: two waits with the
 * same stack pointer and the same sum have the same callers. Libraries lie within
 * 2 GiB of one another; a program's own code begins near where `base` is.
 */
static uint64_t callers_of(const struct waits_watch *watch, int64_t pid,
                           const struct waits_place *place)
{
	uint64_t words[128], sum = 0;
	int64_t got = watch->kernel->memory(watch->kernel->self, pid, place->sp,
	                                    words, sizeof(words));

	for (int64_t i = 0; i < got / 8; i++) {
		uint64_t far = words[i] - place->pc + (UINT64_C(1) << 31);

		if (far >> 32 == 0 || words[i] >> 40 == 0x55 ||
		    words[i] >> 40 == 0x56 ||
		    (words[i] >= 0x400000 && words[i] < 0x10000000))
			sum = sum * 31 + words[i];
	}
	return sum;
}

/* A call that is resumed after the thread was stopped has its arguments, but its number is
 * that of restart_syscall(2), and the function in the kernel is the one of the call;
 * of sleeps there is none (kernel/time/hrtimer.c, hrtimer_nanosleep_restart). */
static enum waits_call call_again(const struct waits_place *place)
{
	static const char *const polls[] = {
		"do_poll", "do_sys_poll", "poll_schedule", NULL
	};

	if (ppi_waits_begins(place->function, "futex_"))
		return WAITS_CALL_LOCK;
	return ppi_waits_begins_one(place->function, polls) ? WAITS_CALL_POLL
	                                                    : WAITS_CALL_SLEEP;
}

int ppi_waits_place(struct waits_watch *watch, struct waits_thread *thread,
                    struct waits_place *place)
{
	char text[256];
	int got = ppi_waits_read(watch, thread, "syscall", text, sizeof(text));

	memset(place, 0, sizeof(*place));
	place->number = -1;
	if (got == -EACCES || got == -EPERM || got == -ENOSYS || got == -ENOENT)
		return take_state(watch, thread, place);
	if (got < 0)
		return got;
	parse(text, place);
	if (place->phase == WAITS_RUNNABLE)
		return 0;
	/* who has ended has no stack any more */
	if (!place->is_known)
		return take_state(watch, thread, place);
	if (ppi_waits_read(watch, thread, "wchan", place->function,
	            sizeof(place->function)) <= 0 ||
	    strcmp(place->function, "0") == 0)
		place->function[0] = '\0';
	place->call = place->number < 0 || thread->process->is_foreign
		? WAITS_CALL_NONE
		: watch->kernel->call_of(watch->kernel->self, place->number);
	if (place->call == WAITS_CALL_AGAIN)
		place->call = call_again(place);
	place->callers = callers_of(watch, thread->process->pid, place);
	return 0;
}

/* ---- for what: futexes ---- */

/* Of futex(2). */
enum { FUTEX_WAITS = 0, FUTEX_LOCKS_PI = 6, FUTEX_WAITS_BITSET = 9,
       FUTEX_REQUEUES_PI = 11, FUTEX_LOCKS_PI2 = 13,
       FUTEX_BY_REAL_TIME = 256 };
#define SOON_NS UINT64_C(200000000)

static bool hold_by(struct waits_watch *watch,
                    const struct waits_thread *thread, uint32_t tid,
                    struct waits_place *place)
{
	const struct waits_thread *holder = ppi_waits_thread(watch, tid);
	char name[32] = "";

	if (!holder || holder->process != thread->process || holder == thread)
		return false;
	if (ppi_waits_read(watch, holder, "comm", name, sizeof(name)) > 0)
		name[strcspn(name, "\n")] = '\0';
	snprintf(place->holder, sizeof(place->holder), "thread %s (%u)", name,
	         tid);
	place->held_by = tid;
	return true;
}

static bool is_thread(const struct waits_watch *watch,
                      const struct waits_thread *thread, uint64_t tid)
{
	const struct waits_thread *other =
		ppi_waits_thread(watch, (int64_t)tid);

	return other && other != thread && other->process == thread->process;
}

/*
 * glibc's mutex has the owner's thread 8 bytes behind its futex word, in which 2
 * says that somebody waits (nptl/bits/struct_mutex.h, lowlevellock.h). musl waits
 * for the word to change from the owner's thread and the uppermost bit
 * (pthread_mutex_timedlock.c); one that inherits priorities has it there on
 * every system (futex(2)).
 */
static bool is_mutex(struct waits_watch *watch,
                     const struct waits_thread *thread,
                     struct waits_place *place)
{
	const struct waits_kernel *kernel = watch->kernel;
	uint32_t word[3] = { 0 };
	uint64_t address = place->arguments[0];
	uint64_t value = place->arguments[2] & UINT32_MAX;
	unsigned operation = (unsigned)place->arguments[1] & 0x7f;

	kernel->memory(kernel->self, thread->process->pid, address, word,
	               sizeof(word));
	if (operation == FUTEX_LOCKS_PI || operation == FUTEX_LOCKS_PI2) {
		hold_by(watch, thread, word[0] & 0x3fffffff, place);
		return true;
	}
	if (value >> 31 &&
	    hold_by(watch, thread, (uint32_t)value & 0x3fffffff, place))
		return true;
	if (value != 2)
		return false;
	if (hold_by(watch, thread, word[2], place))
		return true;
	/* musl's condition variables wait for 2, too, on the own stack */
	return operation == FUTEX_WAITS &&
	       address - place->sp > 1024;
}

/* Whether a futex is waited for so long at most that nobody waits for work like that:
 * who looks again soon waits for what another thread does, as those of Python for their
 * lock. A worker whose time is nearly over had more of it when it was met. */
static bool looks_again_soon(const struct waits_watch *watch,
                             const struct waits_thread *thread,
                             const struct waits_place *place)
{
	const struct waits_kernel *kernel = watch->kernel;
	unsigned operation = (unsigned)place->arguments[1];
	uint64_t now = 0;
	long limit[2];

	if (!place->arguments[3] ||
	    (thread->at.kind == WAITS_IDLE && thread->at.pc == place->pc &&
	     thread->at.arguments[0] == place->arguments[0]))
		return false;
	if (kernel->memory(kernel->self, thread->process->pid,
	                   place->arguments[3], limit,
	                   sizeof(limit)) != sizeof(limit))
		return true;
	if ((operation & 0x7f) != FUTEX_WAITS)
		now = operation & FUTEX_BY_REAL_TIME
			? kernel->real_ns(kernel->self)
			: kernel->now_ns(kernel->self);
	return (uint64_t)limit[0] * 1000000000u + (uint64_t)limit[1] <
	       now + SOON_NS;
}

/* Workers that wait for work wait for the same. */
static bool is_pool(const struct waits_watch *watch,
                    const struct waits_thread *thread,
                    const struct waits_place *place)
{
	if (thread->tid == thread->process->pid ||
	    looks_again_soon(watch, thread, place))
		return false;
	for (size_t i = 0; i < watch->threads.count; i++) {
		const struct waits_thread *other =
			ppi_waits_seat(watch, i)->thread;

		if (other != thread && other->process == thread->process &&
		    other->at.call == WAITS_CALL_LOCK &&
		    other->tid != other->process->pid &&
		    (other->at.kind == WAITS_CONDITION ||
		     other->at.kind == WAITS_IDLE) &&
		    other->at.pc == place->pc &&
		    (other->at.arguments[0] >> 4 ==
		             place->arguments[0] >> 4))
			return true;
	}
	return false;
}

static enum waits_kind kind_of_futex(struct waits_watch *watch,
                                     const struct waits_thread *thread,
                                     struct waits_place *place)
{
	snprintf(place->on, sizeof(place->on), "futex 0x%" PRIx64,
	         place->arguments[0]);
	if (is_mutex(watch, thread, place))
		return WAITS_LOCK;
	/* pthread_join waits for the word of the thread to become 0 */
	if (is_thread(watch, thread, place->arguments[2])) {
		snprintf(place->on, sizeof(place->on), "thread %u",
		         (unsigned)place->arguments[2]);
		return WAITS_CHILD;
	}
	return is_pool(watch, thread, place) ? WAITS_IDLE : WAITS_CONDITION;
}

/* ---- for what: by the call, and by the kernel's function ---- */

/* What the kernel does is more than which call asked for it: a read may wait for
 * memory. Names of Linux 5.4 to 6.18. */
static bool kind_by_function(struct waits_place *place)
{
	static const char *const stops[] = {
		"do_signal_stop", "ptrace_stop", "do_jobctl", "__refrigerator",
		"cgroup_enter_frozen", NULL
	};
	static const char *const memory[] = {
		"throttle_direct_reclaim", "reclaim_throttle", "mem_cgroup_",
		"congestion_wait", "shrink_", "try_to_free", "wait_iff_cong",
		"__alloc_pages", "kswapd", NULL
	};

	if (ppi_waits_begins_one(place->function, stops))
		place->kind = WAITS_STOPPED;
	else if (ppi_waits_begins_one(place->function, memory))
		place->kind = WAITS_MEMORY;
	else
		return false;
	return true;
}

/* Of calls that have other numbers, or are none of those that are known. */
static enum waits_kind kind_without_call(const struct waits_place *place)
{
	static const struct {
		const char *begin;
		enum waits_kind kind;
	} functions[] = {
		{ "do_wait", WAITS_CHILD }, { "kernel_wait", WAITS_CHILD },
		{ "hrtimer_nanosleep", WAITS_SLEEP },
		{ "common_nsleep", WAITS_SLEEP },
		{ "futex_", WAITS_CONDITION },
		{ "anon_pipe_", WAITS_PIPE }, { "pipe_", WAITS_PIPE },
		{ "fifo_", WAITS_PIPE }, { "wait_for_partner", WAITS_PIPE },
		{ "wq_sleep", WAITS_PIPE },
		{ "do_poll", WAITS_POLL }, { "do_sys_poll", WAITS_POLL },
		{ "do_select", WAITS_POLL }, { "poll_schedule", WAITS_POLL },
		{ "ep_poll", WAITS_POLL }, { "do_epoll_wait", WAITS_POLL },
		{ "n_tty_", WAITS_TERMINAL },
		{ "inet_csk_accept", WAITS_IDLE },
		{ "do_sigtimedwait", WAITS_IDLE }, { "sigsuspend", WAITS_IDLE },
		{ "sk_", WAITS_NETWORK }, { "inet_", WAITS_NETWORK },
		{ "tcp_", WAITS_NETWORK }, { "unix_", WAITS_NETWORK },
		{ "__skb_wait", WAITS_NETWORK },
		{ "folio_wait", WAITS_DISK }, { "__folio_lock", WAITS_DISK },
		{ "wait_on_page", WAITS_DISK }, { "io_schedule", WAITS_DISK },
		{ "submit_bio_wait", WAITS_DISK }, { "blk_", WAITS_DISK },
		{ "rq_qos_wait", WAITS_DISK }, { "jbd2_", WAITS_DISK },
		{ "locks_lock", WAITS_LOCK }, { "flock_lock", WAITS_LOCK },
		{ "fcntl_setlk", WAITS_LOCK }, { "do_semtimedop", WAITS_LOCK },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (ppi_waits_begins(place->function, functions[i].begin))
			return functions[i].kind;
	return WAITS_OTHER;
}

/* Calls of memory, and what is touched, change and read one map of the process, which
 * one of its threads may have (Documentation/mm/process_addrs.rst, mmap lock). */
static enum waits_kind lock_of_map(struct waits_place *place)
{
	snprintf(place->on, sizeof(place->on), "memory map");
	return WAITS_LOCK;
}

static enum waits_kind kind_of_fault(const struct waits_thread *thread,
                                     struct waits_place *place)
{
	static const char *const locks[] = {
		"lock_mm_and_find_vma", "do_user_addr_fault", "mmap_read_lock",
		NULL
	};

	if (thread->process->is_foreign && place->number >= 0)
		return kind_without_call(place);
	return ppi_waits_begins_one(place->function, locks)
		? lock_of_map(place) : WAITS_PAGE_FAULT;
}

static enum waits_kind kind_of(struct waits_watch *watch,
                               const struct waits_thread *thread,
                               struct waits_place *place)
{
	switch (place->call) {
	case WAITS_CALL_NONE:
		return kind_of_fault(thread, place);
	case WAITS_CALL_LOCK:
		return kind_of_futex(watch, thread, place);
	case WAITS_CALL_SLEEP:
		return WAITS_SLEEP;
	case WAITS_CALL_IO:
		return ppi_waits_kind_of_file(watch, thread, place);
	case WAITS_CALL_ACCEPT:
		ppi_waits_kind_of_file(watch, thread, place);
		return WAITS_IDLE;
	case WAITS_CALL_PATH:
	case WAITS_CALL_PATH_AT:
	case WAITS_CALL_FILE:
		return ppi_waits_kind_of_path(watch, thread, place);
	case WAITS_CALL_POLL:
		return ppi_waits_kind_of_poll(watch, thread, place);
	case WAITS_CALL_SELECT:
		return ppi_waits_kind_of_select(watch, thread, place);
	case WAITS_CALL_EVENTS:
		return ppi_waits_kind_of_events(watch, thread, place);
	case WAITS_CALL_QUEUE:
		snprintf(place->on, sizeof(place->on), "message queue %d",
		         (int)place->arguments[0]);
		return WAITS_PIPE;
	case WAITS_CALL_CHILD:
	case WAITS_CALL_FORK:
		return WAITS_CHILD;
	case WAITS_CALL_SIGNAL:
		snprintf(place->on, sizeof(place->on), "a signal");
		return WAITS_IDLE;
	case WAITS_CALL_FILE_LOCK:
		ppi_waits_kind_of_file(watch, thread, place);
		return WAITS_LOCK;
	case WAITS_CALL_SEMAPHORE:
		snprintf(place->on, sizeof(place->on), "semaphores %d",
		         (int)place->arguments[0]);
		return WAITS_LOCK;
	case WAITS_CALL_MEMORY:
		return lock_of_map(place);
	case WAITS_CALL_AGAIN:
	case WAITS_CALL_OTHER:
		break;
	}
	return kind_without_call(place);
}

void ppi_waits_name(struct waits_watch *watch, struct waits_thread *thread,
                    struct waits_place *place)
{
	if (place->kind == WAITS_OTHER && place->is_known &&
	    !kind_by_function(place))
		place->kind = kind_of(watch, thread, place);
}

/* Of a process that ends less can be read than before. */
void ppi_waits_name_again(struct waits_watch *watch, struct waits_thread *thread)
{
	struct waits_place place = thread->at;

	if (!place.is_vague)
		return;
	place.is_vague = place.is_closed = false;
	place.kind = WAITS_OTHER;
	place.on[0] = '\0';
	ppi_waits_name(watch, thread, &place);
	if (!place.is_closed || thread->at.is_closed)
		thread->at = place;
}

static bool is_same_place(const struct waits_place *a,
                          const struct waits_place *b)
{
	return a->is_known == b->is_known && a->number == b->number &&
	       a->pc == b->pc && a->sp == b->sp && a->callers == b->callers &&
	       a->arguments[0] == b->arguments[0] && a->phase == b->phase &&
	       strcmp(a->function, b->function) == 0;
}

/* What it waits for is not in the arguments, but where they lead to: descriptors come
 * and go, and a path or a list may be another one at the same address. */
static bool is_named_elsewhere(enum waits_call call)
{
	return call == WAITS_CALL_EVENTS || call == WAITS_CALL_POLL ||
	       call == WAITS_CALL_SELECT || call == WAITS_CALL_PATH ||
	       call == WAITS_CALL_PATH_AT;
}

bool ppi_waits_is_same(struct waits_watch *watch, struct waits_thread *thread,
                       struct waits_place *place, bool has_moved)
{
	if (!is_same_place(&thread->at, place) || !thread->at.pc)
		return false;
	/* another one may be the holder, or elsewhere, each time */
	if (!has_moved || thread->at.kind == WAITS_LOCK)
		return !has_moved;
	if (!is_named_elsewhere(place->call))
		return true;
	ppi_waits_name(watch, thread, place);
	return place->kind == thread->at.kind &&
	       strcmp(place->on, thread->at.on) == 0;
}
