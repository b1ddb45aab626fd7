/* SPDX-License-Identifier: MIT */
/*
 * Where a thread is at this moment, by what /proc says of it, and for what it
 * waits there: a lock and who holds it, a file, a socket.
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

enum { PATH_ROOM = 96 };

static bool begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

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

	if (begins_with(text, "running")) {
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
	place->callers = callers_of(watch, thread->process->pid, place);
	return 0;
}

/* ---- for what: descriptors ---- */

/* What kind of file a link of /proc/PID/fd leads to. */
static enum waits_kind kind_of_link(const char *link)
{
	if (begins_with(link, "pipe:"))
		return WAITS_PIPE;
	if (begins_with(link, "/dev/pts/") || begins_with(link, "/dev/tty") ||
	    begins_with(link, "/dev/console") || begins_with(link, "/dev/ptmx"))
		return WAITS_TERMINAL;
	if (begins_with(link, "anon_inode:[eventfd"))
		return WAITS_CONDITION;
	if (begins_with(link, "anon_inode:[timerfd"))
		return WAITS_SLEEP;
	if (begins_with(link, "anon_inode:"))
		return WAITS_POLL;
	if (begins_with(link, "/dev/") && !begins_with(link, "/dev/shm/") &&
	    !begins_with(link, "/dev/sd") && !begins_with(link, "/dev/nvme") &&
	    !begins_with(link, "/dev/vd") && !begins_with(link, "/dev/dm-"))
		return WAITS_OTHER;
	return link[0] == '/' ? WAITS_DISK : WAITS_OTHER;
}

/* Whether it listens, too: who waits there has nothing to do. */
static enum waits_kind kind_of_socket(const struct waits_socket *socket,
                                      struct waits_place *place)
{
	if (!socket)
		return WAITS_NETWORK;
	if (socket->peer[0])
		snprintf(place->on, sizeof(place->on), "%s", socket->peer);
	return socket->listens ? WAITS_IDLE : WAITS_NETWORK;
}

/* *asks: it is a connection to a server. */
static enum waits_kind kind_of_descriptor(struct waits_watch *watch,
                                          const struct waits_thread *thread,
                                          uint64_t fd,
                                          struct waits_place *place,
                                          bool *asks)
{
	char path[PATH_ROOM], link[sizeof(place->on)];
	const struct waits_socket *socket;

	*asks = false;
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/fd/%d",
	         thread->process->pid, (int)fd);
	if (watch->kernel->link(watch->kernel->self, path, link,
	                        sizeof(link)) <= 0)
		return WAITS_OTHER;
	memcpy(place->on, link, sizeof(link));
	if (!begins_with(link, "socket:["))
		return kind_of_link(link);
	socket = ppi_waits_socket(watch, thread->process->pid,
	                          strtoull(link + 8, NULL, 10));
	*asks = socket && socket->asks;
	place->is_vague |= !socket || !socket->is_settled;
	return kind_of_socket(socket, place);
}

static enum waits_kind kind_of_file(struct waits_watch *watch,
                                    const struct waits_thread *thread,
                                    uint64_t fd, struct waits_place *place)
{
	bool asks;

	return kind_of_descriptor(watch, thread, fd, place, &asks);
}

/* One descriptor is what it waits for; of several nobody knows which. */
static enum waits_kind kind_of_poll(struct waits_watch *watch,
                                    const struct waits_thread *thread,
                                    struct waits_place *place)
{
	struct {
		int fd;
		short events, revents;
	} first;

	if (place->arguments[1] == 0)
		return WAITS_SLEEP;
	snprintf(place->on, sizeof(place->on), "%u descriptors",
	         (unsigned)place->arguments[1]);
	if (place->arguments[1] > 1 ||
	    watch->kernel->memory(watch->kernel->self, thread->process->pid,
	                          place->arguments[0], &first,
	                          sizeof(first)) != sizeof(first) ||
	    first.fd < 0)
		return WAITS_POLL;
	return kind_of_file(watch, thread, (uint64_t)first.fd, place);
}

/* "tfd: FD events: MASK data: WORD pos:N ino:INODE sdev:DEVICE": a socket that is
 * known is found by its inode, and its descriptor is not looked at. */
static enum waits_kind kind_of_watched(struct waits_watch *watch,
                                       const struct waits_thread *thread,
                                       const char *line,
                                       struct waits_place *place, bool *asks,
                                       int *looks_left)
{
	const char *behind = strstr(line, "ino:");
	const struct waits_socket *socket = behind ?
		ppi_waits_known_socket(watch, strtoull(behind + 4, NULL, 16)) :
		NULL;

	*asks = false;
	if (socket) {
		*asks = socket->asks;
		return kind_of_socket(socket, place);
	}
	if (--*looks_left < 0)
		return WAITS_POLL;
	return kind_of_descriptor(watch, thread, strtoull(line, NULL, 10),
	                          place, asks);
}

/*
 * What an epoll instance watches (proc_pid_fdinfo(5)): who waits for connections
 * too has nothing to do, though a server that it asked may have something to answer;
 * of several descriptors a socket says most.
 */
static enum waits_kind kind_of_events(struct waits_watch *watch,
                                      const struct waits_thread *thread,
                                      struct waits_place *place)
{
	enum { ROOM = 1 << 15 }; /* for some 400 descriptors */
	int looks_left = 24;
	char path[PATH_ROOM], *text = malloc(ROOM), *next;
	char socket[sizeof(place->on)] = "", asked[sizeof(place->on)] = "";
	enum waits_kind kind = WAITS_POLL;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/fdinfo/%d",
	         thread->process->pid, (int)place->arguments[0]);
	if (!text || watch->kernel->read(watch->kernel->self, path, text,
	                                 ROOM) <= 0) {
		free(text);
		return WAITS_POLL;
	}
	for (char *line = strstr(text, "tfd:"); line; line = next) {
		enum waits_kind one;
		bool asks;

		next = strstr(line + 4, "tfd:");
		if (next)
			next[-1] = '\0';
		one = kind_of_watched(watch, thread, line + 4, place, &asks,
		                      &looks_left);
		if (asks)
			memcpy(asked, place->on, sizeof(asked));
		else if (one == WAITS_IDLE ||
		         (one == WAITS_NETWORK && kind != WAITS_IDLE))
			memcpy(socket, place->on, sizeof(socket));
		if (one == WAITS_IDLE ||
		    (one == WAITS_NETWORK && kind != WAITS_IDLE))
			kind = one;
	}
	free(text);
	snprintf(place->on, sizeof(place->on), "%.*s%s%s",
	         (int)(sizeof(place->on) / 2), socket,
	         socket[0] && asked[0] ? ", " : "",
	         kind == WAITS_POLL ? "epoll" : asked);
	return kind;
}

/* ---- for what: futexes ---- */

/* Of futex(2). */
enum { FUTEX_WAITS = 0, FUTEX_LOCKS_PI = 6, FUTEX_WAITS_BITSET = 9,
       FUTEX_REQUEUES_PI = 11, FUTEX_LOCKS_PI2 = 13 };

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

/* Workers that wait for work wait for the same. */
static bool is_pool(const struct waits_watch *watch,
                    const struct waits_thread *thread,
                    const struct waits_place *place)
{
	const struct waits_thread *const *all = watch->threads.data;

	if (thread->tid == thread->process->pid)
		return false;
	for (size_t i = 0; i < watch->threads.count; i++)
		if (all[i] != thread && all[i]->process == thread->process &&
		    all[i]->at.call == WAITS_CALL_LOCK &&
		    all[i]->tid != all[i]->process->pid &&
		    (all[i]->at.kind == WAITS_CONDITION ||
		     all[i]->at.kind == WAITS_IDLE) &&
		    all[i]->at.pc == place->pc &&
		    (all[i]->at.arguments[0] >> 4 ==
		             place->arguments[0] >> 4))
			return true;
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

static bool is_one_of(const char *function, const char *const *begins)
{
	for (; *begins; begins++)
		if (begins_with(function, *begins))
			return true;
	return false;
}

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

	if (is_one_of(place->function, stops))
		place->kind = WAITS_STOPPED;
	else if (is_one_of(place->function, memory))
		place->kind = WAITS_MEMORY;
	else
		return false;
	return true;
}

static enum waits_kind kind_of(struct waits_watch *watch,
                               const struct waits_thread *thread,
                               struct waits_place *place)
{
	switch (place->call) {
	case WAITS_CALL_NONE:
		return thread->process->is_foreign && place->number >= 0
		               ? WAITS_OTHER : WAITS_PAGE_FAULT;
	case WAITS_CALL_LOCK:
		return kind_of_futex(watch, thread, place);
	case WAITS_CALL_SLEEP:
		return WAITS_SLEEP;
	case WAITS_CALL_IO:
		return kind_of_file(watch, thread, place->arguments[0], place);
	case WAITS_CALL_ACCEPT:
		kind_of_file(watch, thread, place->arguments[0], place);
		return WAITS_IDLE;
	case WAITS_CALL_FILE:
		return WAITS_DISK;
	case WAITS_CALL_POLL:
		return kind_of_poll(watch, thread, place);
	case WAITS_CALL_SELECT:
		return place->arguments[0] ? WAITS_POLL : WAITS_SLEEP;
	case WAITS_CALL_EVENTS:
		return kind_of_events(watch, thread, place);
	case WAITS_CALL_CHILD:
		return WAITS_CHILD;
	case WAITS_CALL_SIGNAL:
		snprintf(place->on, sizeof(place->on), "a signal");
		return WAITS_IDLE;
	case WAITS_CALL_FILE_LOCK:
		kind_of_file(watch, thread, place->arguments[0], place);
		return WAITS_LOCK;
	case WAITS_CALL_SEMAPHORE:
		snprintf(place->on, sizeof(place->on), "semaphores %d",
		         (int)place->arguments[0]);
		return WAITS_LOCK;
	case WAITS_CALL_MEMORY:
		return WAITS_MEMORY;
	case WAITS_CALL_OTHER:
		break;
	}
	return WAITS_OTHER;
}

void ppi_waits_name(struct waits_watch *watch, struct waits_thread *thread,
                    struct waits_place *place)
{
	if (place->kind == WAITS_OTHER && place->is_known &&
	    !kind_by_function(place))
		place->kind = kind_of(watch, thread, place);
}

void ppi_waits_name_again(struct waits_watch *watch, struct waits_thread *thread)
{
	struct waits_place *place = &thread->at;

	if (!place->is_vague)
		return;
	place->is_vague = false;
	place->kind = WAITS_OTHER;
	place->on[0] = '\0';
	ppi_waits_name(watch, thread, place);
}

static bool is_same_place(const struct waits_place *a,
                          const struct waits_place *b)
{
	return a->is_known == b->is_known && a->number == b->number &&
	       a->pc == b->pc && a->sp == b->sp && a->callers == b->callers &&
	       a->arguments[0] == b->arguments[0] && a->phase == b->phase &&
	       strcmp(a->function, b->function) == 0;
}

bool ppi_waits_is_same(struct waits_watch *watch, struct waits_thread *thread,
                       struct waits_place *place, bool has_moved)
{
	if (!is_same_place(&thread->at, place) || !thread->at.pc)
		return false;
	/* another one may be the holder, or elsewhere, each time */
	if (!has_moved || thread->at.kind == WAITS_LOCK)
		return !has_moved;
	/* descriptors come and go */
	if (place->call == WAITS_CALL_EVENTS)
		ppi_waits_name(watch, thread, place);
	return place->call != WAITS_CALL_EVENTS ||
	       (place->kind == thread->at.kind &&
	        strcmp(place->on, thread->at.on) == 0);
}
