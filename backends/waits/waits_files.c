/* SPDX-License-Identifier: MIT */
/*
 * For which files a thread waits: descriptors, by the links of /proc/PID/fd and what
 * is known of sockets, one or several of them; and paths.
 */
#include "backends/waits/waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of more descriptors of one call nobody asks what they are, and of more no names are
 * told. */
enum { PATH_ROOM = 96, LOOKED_AT = 24, NAMED = 3 };

bool ppi_waits_begins(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

bool ppi_waits_begins_one(const char *text, const char *const *begins)
{
	for (; *begins; begins++)
		if (ppi_waits_begins(text, *begins))
			return true;
	return false;
}

/* ---- one ---- */

/* A pipe with a name is a path as any other file; the kernel's function tells, also
 * of who opens one and waits for the other side (fs/pipe.c, ipc/mqueue.c). */
static bool is_in_pipe(const struct waits_place *place)
{
	static const char *const functions[] = {
		"pipe_", "anon_pipe_", "fifo_", "wait_for_partner", "wq_sleep",
		NULL
	};

	return ppi_waits_begins_one(place->function, functions);
}

/* What kind of file a link of /proc/PID/fd leads to. */
static enum waits_kind kind_of_link(const char *link)
{
	static const struct {
		const char *begin;
		enum waits_kind kind;
	} begins[] = {
		{ "pipe:", WAITS_PIPE },
		{ "/dev/pts/", WAITS_TERMINAL }, { "/dev/tty", WAITS_TERMINAL },
		{ "/dev/console", WAITS_TERMINAL },
		{ "/dev/ptmx", WAITS_TERMINAL },
		{ "/dev/shm/", WAITS_DISK }, { "/dev/sd", WAITS_DISK },
		{ "/dev/nvme", WAITS_DISK }, { "/dev/vd", WAITS_DISK },
		{ "/dev/dm-", WAITS_DISK },
		{ "/dev/", WAITS_OTHER },
		{ "/", WAITS_DISK },
		{ "anon_inode:[eventfd", WAITS_CONDITION },
		{ "anon_inode:[timerfd", WAITS_SLEEP },
		{ "anon_inode:[signalfd", WAITS_IDLE },
		{ "anon_inode:inotify", WAITS_IDLE },
		{ "anon_inode:[pidfd", WAITS_CHILD },
		{ "anon_inode:", WAITS_POLL },
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (ppi_waits_begins(link, begins[i].begin))
			return begins[i].kind;
	return WAITS_OTHER;
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

/* Where a descriptor's link leads; false: nobody may see it, or it is closed. */
static bool read_link(const struct waits_watch *watch,
                      const struct waits_thread *thread, int fd, char *link,
                      size_t bytes)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/fd/%d",
	         thread->process->pid, fd);
	return watch->kernel->link(watch->kernel->self, path, link, bytes) > 0;
}

/* *socket: what is known of it, or NULL. */
static enum waits_kind kind_of_descriptor(struct waits_watch *watch,
                                          const struct waits_thread *thread,
                                          uint64_t fd,
                                          struct waits_place *place,
                                          const struct waits_socket **socket)
{
	char link[sizeof(place->on)];

	*socket = NULL;
	place->on[0] = '\0';
	if (!read_link(watch, thread, (int)fd, link, sizeof(link))) {
		place->is_closed = true;
		return WAITS_OTHER;
	}
	memcpy(place->on, link, sizeof(link));
	if (!ppi_waits_begins(link, "socket:["))
		return is_in_pipe(place) ? WAITS_PIPE : kind_of_link(link);
	*socket = ppi_waits_socket(watch, thread->process->pid,
	                           strtoull(link + 8, NULL, 10));
	place->is_vague |= !*socket || !(*socket)->is_settled;
	return kind_of_socket(*socket, place);
}

/* 0: it is no socket. */
static uint64_t socket_at(const struct waits_watch *watch,
                          const struct waits_thread *thread, int fd)
{
	char link[64];

	if (fd < 0 || !read_link(watch, thread, fd, link, sizeof(link)) ||
	    !ppi_waits_begins(link, "socket:["))
		return 0;
	return strtoull(link + 8, NULL, 10);
}

/* By an eventfd, a pair of sockets and their like threads and signal handlers wake the
 * program itself. Both of a pair are made at once: they have numbers that follow each
 * other, as descriptors and as files. */
static bool wakes_itself(const struct waits_watch *watch,
                         const struct waits_thread *thread, int fd,
                         const struct waits_place *place)
{
	uint64_t inode;

	if (ppi_waits_begins(place->on, "anon_inode:[eventfd") ||
	    ppi_waits_begins(place->on, "anon_inode:[signalfd"))
		return true;
	if (strcmp(place->on, "unix:") != 0)
		return false;
	inode = socket_at(watch, thread, fd);
	return inode && (socket_at(watch, thread, fd + 1) == inode + 1 ||
	                 socket_at(watch, thread, fd - 1) == inode - 1);
}

enum waits_kind ppi_waits_kind_of_file(struct waits_watch *watch,
                                       const struct waits_thread *thread,
                                       struct waits_place *place)
{
	const struct waits_socket *socket;

	return kind_of_descriptor(watch, thread, place->arguments[0], place,
	                          &socket);
}

/* ---- a path ---- */

enum waits_kind ppi_waits_kind_of_path(struct waits_watch *watch,
                                       const struct waits_thread *thread,
                                       struct waits_place *place)
{
	const struct waits_kernel *kernel = watch->kernel;
	bool is_at = place->call == WAITS_CALL_PATH_AT;
	int64_t got = 0;

	if (place->call != WAITS_CALL_FILE)
		got = kernel->memory(kernel->self, thread->process->pid,
		                     place->arguments[is_at], place->on,
		                     sizeof(place->on) - 1);
	place->on[got > 0 ? got : 0] = '\0';
	return is_in_pipe(place) ? WAITS_PIPE : WAITS_DISK;
}

/* ---- several ---- */

/* Of all descriptors that one call waits for. */
struct several {
	enum waits_kind kind; /* WAITS_POLL: there are several kinds */
	unsigned count, named, own;
	bool is_of_others; /* some are not only there to wake the program itself */
	bool listens;
	struct waits_crowd crowd;
	char names[sizeof(((struct waits_place *)0)->on)];
};

static void add_name(struct several *all, const char *name)
{
	enum { BEHIND = sizeof(" and 4294967295 more") };
	size_t used = strlen(all->names), length = strlen(name);

	if (strstr(all->names, name)) {
		all->named++;
	} else if (all->named < NAMED &&
	           used + length + BEHIND + 2 < sizeof(all->names)) {
		snprintf(all->names + used, sizeof(all->names) - used, "%s%s",
		         used ? ", " : "", name);
		all->named++;
	}
}

/* Who waits for connections too has nothing to do. */
static bool is_listening(enum waits_kind kind, const struct waits_place *place)
{
	return kind == WAITS_IDLE && !ppi_waits_begins(place->on, "anon_inode:");
}

static void add_kind(struct several *all, enum waits_kind kind,
                     const struct waits_place *place, bool is_own)
{
	if (is_own && all->is_of_others)
		return;
	if (is_listening(kind, place) || all->count == 1 ||
	    (!is_own && !all->is_of_others))
		all->kind = kind;
	else if (all->kind != kind && !all->listens)
		all->kind = WAITS_POLL;
	all->listens |= is_listening(kind, place);
	all->is_of_others |= !is_own;
}

/* Of who asks for no event of a descriptor only its end is one: it waits for the rest, as
 * it does where others wake itself. */
static void add_descriptor(struct waits_watch *watch,
                           const struct waits_thread *thread, int fd,
                           bool is_asked, struct waits_place *place,
                           struct several *all)
{
	const struct waits_socket *socket;
	enum waits_kind kind;
	bool is_own;

	if (fd < 0 || all->count++ >= LOOKED_AT)
		return;
	kind = kind_of_descriptor(watch, thread, (uint64_t)fd, place, &socket);
	/* files are always ready: it is a pipe with a name */
	if (kind == WAITS_DISK)
		kind = WAITS_PIPE;
	is_own = !is_asked || wakes_itself(watch, thread, fd, place);
	add_kind(all, kind, place, is_own);
	ppi_waits_join_crowd(&all->crowd, socket);
	if (place->on[0] && !is_own)
		add_name(all, place->on);
	all->own += is_own;
}

/* Of none it is the time that it waits for. */
static enum waits_kind say_all(struct waits_watch *watch,
                               const struct several *all,
                               struct waits_place *place)
{
	size_t used = strlen(all->names);

	if (!all->count)
		return WAITS_SLEEP;
	if (all->listens && ppi_waits_is_unanswered(watch, &all->crowd, place->on,
	                                            sizeof(place->on)))
		return WAITS_NETWORK;
	if (used)
		memcpy(place->on, all->names, sizeof(place->on));
	else if (all->count > 1 || !place->on[0])
		snprintf(place->on, sizeof(place->on), "%u descriptor%s",
		         all->count, all->count == 1 ? "" : "s");
	if (used && all->count > all->named + all->own)
		snprintf(place->on + used, sizeof(place->on) - used,
		         " and %u more", all->count - all->named - all->own);
	return all->kind;
}

enum waits_kind ppi_waits_kind_of_poll(struct waits_watch *watch,
                                       const struct waits_thread *thread,
                                       struct waits_place *place)
{
	struct {
		int fd;
		short events, revents;
	} list[LOOKED_AT];
	uint64_t count = place->arguments[1];
	size_t looked = count < LOOKED_AT ? (size_t)count : LOOKED_AT;
	struct several all = { .kind = WAITS_POLL };
	int64_t got = 0;

	if (count)
		got = watch->kernel->memory(
			watch->kernel->self, thread->process->pid,
			place->arguments[0], list, looked * sizeof(list[0]));
	looked = got > 0 ? (size_t)got / sizeof(list[0]) : 0;
	for (size_t i = 0; i < looked; i++)
		add_descriptor(watch, thread, list[i].fd, list[i].events != 0,
		               place, &all);
	all.count += (unsigned)(count - looked);
	return say_all(watch, &all, place);
}

enum waits_kind ppi_waits_kind_of_select(struct waits_watch *watch,
                                         const struct waits_thread *thread,
                                         struct waits_place *place)
{
	enum { MOST = 1024, BITS = 8 * sizeof(unsigned long) };
	const struct waits_kernel *kernel = watch->kernel;
	unsigned long all_sets[MOST / BITS] = { 0 };
	uint64_t most = place->arguments[0] < MOST ? place->arguments[0] : MOST;
	struct several all = { .kind = WAITS_POLL };

	for (int set = 1; set <= 3 && most; set++) {
		unsigned long bits[MOST / BITS] = { 0 };
		size_t bytes = (size_t)(most + BITS - 1) / BITS * sizeof(bits[0]);

		if (place->arguments[set] &&
		    kernel->memory(kernel->self, thread->process->pid,
		                   place->arguments[set], bits, bytes) <= 0)
			all.count++; /* there may be one */
		for (size_t i = 0; i < MOST / BITS; i++)
			all_sets[i] |= bits[i];
	}
	for (uint64_t fd = 0; fd < most; fd++)
		if (all_sets[fd / BITS] >> fd % BITS & 1)
			add_descriptor(watch, thread, (int)fd, true, place,
			               &all);
	return say_all(watch, &all, place);
}

/* "tfd: FD events: MASK data: WORD pos:N ino:INODE sdev:DEVICE": a socket that is
 * known is found by its inode, and its descriptor is not looked at. */
static enum waits_kind kind_of_watched(struct waits_watch *watch,
                                       const struct waits_thread *thread,
                                       const char *line,
                                       struct waits_place *place,
                                       const struct waits_socket **socket,
                                       int *looks_left)
{
	const char *behind = strstr(line, "ino:");

	*socket = behind ? ppi_waits_known_socket(
		watch, strtoull(behind + 4, NULL, 16)) : NULL;
	place->on[0] = '\0';
	if (*socket)
		return kind_of_socket(*socket, place);
	if (--*looks_left < 0)
		return WAITS_POLL;
	return kind_of_descriptor(watch, thread, strtoull(line, NULL, 10),
	                          place, socket);
}

/*
 * What an epoll instance watches (proc_pid_fdinfo(5)): who waits for connections
 * too has nothing to do, unless a server that it asked for a client has not answered;
 * of several descriptors a socket says most.
 */
enum waits_kind ppi_waits_kind_of_events(struct waits_watch *watch,
                                         const struct waits_thread *thread,
                                         struct waits_place *place)
{
	enum { ROOM = 1 << 15 }; /* for some 400 descriptors */
	int looks_left = LOOKED_AT;
	char path[PATH_ROOM], *text = malloc(ROOM), *next;
	char socket[sizeof(place->on)] = "", asked[sizeof(place->on)] = "";
	enum waits_kind kind = WAITS_POLL;
	struct waits_crowd crowd = { .server_count = 0 };

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/fdinfo/%d",
	         thread->process->pid, (int)place->arguments[0]);
	if (!text || watch->kernel->read(watch->kernel->self, path, text,
	                                 ROOM) <= 0) {
		free(text);
		return WAITS_POLL;
	}
	for (char *line = strstr(text, "tfd:"); line; line = next) {
		const struct waits_socket *member;
		enum waits_kind one;

		next = strstr(line + 4, "tfd:");
		if (next)
			next[-1] = '\0';
		one = kind_of_watched(watch, thread, line + 4, place, &member,
		                      &looks_left);
		ppi_waits_join_crowd(&crowd, member);
		if ((one == WAITS_IDLE && !is_listening(one, place)) ||
		    wakes_itself(watch, thread, atoi(line + 4), place))
			one = WAITS_POLL;
		if (member && member->asks)
			memcpy(asked, place->on, sizeof(asked));
		else if (one == WAITS_IDLE ||
		         (one == WAITS_NETWORK && kind != WAITS_IDLE))
			memcpy(socket, place->on, sizeof(socket));
		if (one == WAITS_IDLE ||
		    (one == WAITS_NETWORK && kind != WAITS_IDLE))
			kind = one;
	}
	free(text);
	if (kind == WAITS_IDLE &&
	    ppi_waits_is_unanswered(watch, &crowd, place->on,
	                            sizeof(place->on)))
		return WAITS_NETWORK;
	snprintf(place->on, sizeof(place->on), "%.*s%s%s",
	         (int)(sizeof(place->on) / 2), socket,
	         socket[0] && asked[0] ? ", " : "",
	         kind == WAITS_POLL ? "epoll" : asked);
	return kind;
}
