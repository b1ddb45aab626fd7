/* SPDX-License-Identifier: MIT */
/*
 * For what a thread waits, by the call that it is in: over a simulated /proc with
 * descriptors of all kinds, and a memory in which lists, sets and paths lie. Each case
 * has what the kernel shows of the thread, and the kind and the name that follow.
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

#include "backends/waits/waits.h"
#include "tests/unit/waits_run.h"

enum { PID = 100, OTHER = 101, PAGE = 4096 };

/* ---- the world ---- */

/* Descriptors from 0 on. */
static const char *const links[] = {
	"/dev/pts/1",            /* 0 */
	"pipe:[11]",             /* 1 */
	"pipe:[12]",             /* 2 */
	"socket:[13]",           /* 3: a connection to a server */
	"socket:[14]",           /* 4: listens */
	"anon_inode:[eventfd]",  /* 5 */
	"anon_inode:[signalfd]", /* 6 */
	"anon_inode:inotify",    /* 7 */
	"anon_inode:[pidfd]",    /* 8 */
	"/tmp/fifo",             /* 9 */
	"/data/table",           /* 10 */
	"socket:[15]",           /* 11: another connection to the same server */
	"anon_inode:[eventpoll]", /* 12 */
	"/queue",                /* 13 */
	"/dev/ptmx",             /* 14 */
	"socket:[16]",           /* 15: one of a pair */
	"pipe:[17]",             /* 16 */
	"pipe:[18]",             /* 17 */
	"socket:[20]",           /* 18: both */
	"socket:[21]",           /* 19 */
	"socket:[22]",           /* 20: in no list */
	"socket:[23]",           /* 21: accepted */
	"socket:[24]",           /* 22: accepted, of this machine */
	"socket:[25]",           /* 23: is being connected */
};

static const char lists[] =
	"  sl  local_address rem_address   st tx rx tr tm when retr uid inode\n"
	"   0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 0 0 14\n"
	"   1: 0100007F:9000 0200000A:0050 01 0:0 0:0 0 0 0 13\n"
	"   2: 0100007F:9001 0200000A:0050 01 0:0 0:0 0 0 0 15\n"
	"   3: 0100007F:1F90 0300000A:9002 01 0:0 0:0 0 0 0 23\n"
	"   4: 0100007F:9003 0400000A:0050 02 0:0 0:0 0 0 0 25\n";

static const char pairs[] =
	"Num RefCount Protocol Flags Type St Inode Path\n"
	"0000: 00000003 00000000 00000000 0001 03 16\n"
	"0000: 00000003 00000000 00000000 0001 03 20\n"
	"0000: 00000003 00000000 00000000 0001 03 21\n"
	"0000: 00000003 00000000 00000000 0001 03 24 /run/front\n";

/* What /proc has of the thread, and two pages of its memory, of which the second one
 * may be missing. */
static struct {
	char syscall[200];
	const char *function, *watched;
	unsigned char memory[2 * PAGE];
	size_t pages;
	unsigned links_left; /* that can be read; 0: all */
	unsigned lists_read;
	struct waits_exchange exchanges[32]; /* by inode */
	bool is_closed; /* nobody says what was exchanged */
} world;

#define MEMORY UINT64_C(0x10000)

static int sim_read(void *self, const char *path, char *text, size_t room)
{
	const char *name = strrchr(path, '/') + 1;

	(void)self;
	if (strcmp(name, "syscall") == 0)
		return waits_run_put(text, room, "%s", world.syscall);
	if (strcmp(name, "wchan") == 0)
		return waits_run_put(text, room, "%s", world.function);
	world.lists_read += strcmp(name, "tcp") == 0;
	if (strcmp(name, "tcp") == 0)
		return waits_run_put(text, room, "%s", lists);
	if (strcmp(name, "unix") == 0)
		return waits_run_put(text, room, "%s", pairs);
	if (strstr(path, "/fdinfo/"))
		return waits_run_put(text, room, "%s", world.watched);
	return -ENOENT;
}

static int sim_link(void *self, const char *path, char *text, size_t room)
{
	unsigned long fd = strtoul(strrchr(path, '/') + 1, NULL, 10);

	(void)self;
	if (fd >= sizeof(links) / sizeof(links[0]) || world.links_left == 1)
		return -ENOENT;
	world.links_left -= world.links_left > 0;
	return waits_run_put(text, room, "%s", links[fd]);
}

/* As far as there is any. */
static int64_t sim_memory(void *self, int64_t pid, uint64_t address, void *bytes,
                          size_t count)
{
	(void)self;
	assert_int_equal(pid, PID);
	if (address < MEMORY || address - MEMORY >= world.pages * PAGE)
		return -EFAULT;
	if (count > world.pages * PAGE - (address - MEMORY))
		count = world.pages * PAGE - (size_t)(address - MEMORY);
	memcpy(bytes, world.memory + (address - MEMORY), count);
	return (int64_t)count;
}

/* The number of a call is its enum waits_call. */
static enum waits_call sim_call_of(void *self, int64_t number)
{
	(void)self;
	return (enum waits_call)number;
}

static int sim_exchanged(void *self, const struct waits_connection *of,
                         uint64_t inode, struct waits_exchange *out)
{
	static const uint8_t here[4] = { 127, 0, 0, 1 };

	(void)self;
	assert_in_range(inode, 13, 25);
	assert_int_equal(of->bytes, 4);
	assert_memory_equal(of->here, here, 4);
	assert_int_equal(of->there[0], 10);
	assert_int_equal(of->port, inode == 13 ? 0x9000 : inode == 15
	                 ? 0x9001 : inode == 23 ? 0x1f90 : 0x9003);
	assert_int_equal(of->peer_port, inode == 23 ? 0x9002 : 80);
	if (world.is_closed)
		return -EPERM;
	*out = world.exchanges[inode];
	return 0;
}

static uint64_t sim_now_ns(void *self)
{
	(void)self;
	return UINT64_C(1000000000000);
}

static uint64_t sim_real_ns(void *self)
{
	(void)self;
	return UINT64_C(5000000000000);
}

static const struct waits_kernel sim = {
	.now_ns = sim_now_ns, .real_ns = sim_real_ns,
	.read = sim_read, .link = sim_link, .memory = sim_memory,
	.call_of = sim_call_of, .exchanged = sim_exchanged,
};

static struct ppi_plan plan;
static struct ppi_backend_session session = { .plan = &plan };
static struct waits_process process;
static struct waits_thread thread;
static struct waits_watch watch;
static struct waits_place place;

static int fresh(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	world.function = "do_wait";
	world.watched = "";
	world.pages = 2;
	process = (struct waits_process){ .pid = PID };
	thread = (struct waits_thread){ .tid = PID, .process = &process };
	plan = (struct ppi_plan){ .event_count = 0 };
	watch = (struct waits_watch){ .kernel = &sim, .bs = &session };
	return 0;
}

static int tidy(void **state)
{
	(void)state;
	ppi_waits_forget_sockets(&watch);
	HASH_CLEAR(hh, watch.by_id);
	ppi_vector_free(&watch.threads);
	return 0;
}

/* It is in this call, in this function of the kernel. */
static void wait_in(enum waits_call call, const char *function, uint64_t a,
                    uint64_t b, uint64_t c, uint64_t d)
{
	snprintf(world.syscall, sizeof(world.syscall),
	         "%d 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64
	         " 0x0 0x0 0x7000 0x1000\n", (int)call, a, b, c, d);
	world.function = function;
	assert_int_equal(ppi_waits_place(&watch, &thread, &place), 0);
	ppi_waits_name(&watch, &thread, &place);
}

static void is_for(enum waits_kind kind, const char *on)
{
	assert_string_equal(ppi_waits_kinds[place.kind], ppi_waits_kinds[kind]);
	assert_string_equal(place.on, on);
}

/* ---- cases ---- */

static void a_descriptor_is_what_its_link_says(void **state)
{
	static const struct {
		unsigned fd;
		enum waits_kind kind;
		const char *function, *on;
	} rows[] = {
		{ 0, WAITS_TERMINAL, "n_tty_read", "/dev/pts/1" },
		{ 14, WAITS_TERMINAL, "n_tty_read", "/dev/ptmx" },
		{ 1, WAITS_PIPE, "anon_pipe_read", "pipe:[11]" },
		{ 3, WAITS_NETWORK, "sk_wait_data", "tcp 10.0.0.2:80" },
		{ 4, WAITS_IDLE, "inet_csk_accept", "tcp listen 127.0.0.1:8080" },
		{ 5, WAITS_CONDITION, "eventfd_read", "anon_inode:[eventfd]" },
		{ 6, WAITS_IDLE, "signalfd_read", "anon_inode:[signalfd]" },
		{ 7, WAITS_IDLE, "inotify_read", "anon_inode:inotify" },
		{ 9, WAITS_PIPE, "pipe_read", "/tmp/fifo" },
		{ 9, WAITS_PIPE, "anon_pipe_write", "/tmp/fifo" },
		{ 10, WAITS_DISK, "folio_wait_bit", "/data/table" },
		{ 13, WAITS_PIPE, "wq_sleep", "/queue" },
		{ 99, WAITS_OTHER, "do_wait", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		wait_in(WAITS_CALL_IO, rows[i].function, rows[i].fd, 0, 0, 0);
		is_for(rows[i].kind, rows[i].on);
	}
}

/* Opening a pipe with a name waits for who opens the other side. */
static void paths_have_names(void **state)
{
	(void)state;
	memcpy(world.memory + 16, "/data/table", 12);
	wait_in(WAITS_CALL_PATH, "lookup_slow", MEMORY + 16, 0, 0, 0);
	is_for(WAITS_DISK, "/data/table");
	wait_in(WAITS_CALL_PATH_AT, "lookup_slow", 3, MEMORY + 16, 0, 0);
	is_for(WAITS_DISK, "/data/table");
	wait_in(WAITS_CALL_PATH_AT, "wait_for_partner", 3, MEMORY + 16, 0, 0);
	is_for(WAITS_PIPE, "/data/table");
	/* one that ends in the next page, and one after which there is none */
	memcpy(world.memory + PAGE - 5, "/data/table", 12);
	wait_in(WAITS_CALL_PATH, "lookup_slow", MEMORY + PAGE - 5, 0, 0, 0);
	is_for(WAITS_DISK, "/data/table");
	world.pages = 1;
	memcpy(world.memory + PAGE - 6, "/data", 6);
	wait_in(WAITS_CALL_PATH, "lookup_slow", MEMORY + PAGE - 6, 0, 0, 0);
	is_for(WAITS_DISK, "/data");
	/* no longer than there is room, and none where there is no memory */
	world.pages = 2;
	memset(world.memory, 'x', sizeof(world.memory));
	wait_in(WAITS_CALL_PATH, "lookup_slow", MEMORY, 0, 0, 0);
	assert_int_equal(strlen(place.on), sizeof(place.on) - 1);
	wait_in(WAITS_CALL_PATH, "lookup_slow", 0, 0, 0, 0);
	is_for(WAITS_DISK, "");
	wait_in(WAITS_CALL_FILE, "sync_inodes_sb", MEMORY, 0, 0, 0);
	is_for(WAITS_DISK, "");
}

struct polled {
	int fd;
	short events, revents;
};

static void poll_for(size_t count, const struct polled *list)
{
	memcpy(world.memory, list, count * sizeof(*list));
	wait_in(WAITS_CALL_POLL, "poll_schedule_timeout", MEMORY, count, 0, 0);
}

#define POLL(...)                                                              \
	poll_for(sizeof((struct polled[]){ __VA_ARGS__ }) / sizeof(struct polled), \
	         (struct polled[]){ __VA_ARGS__ })

static void several_are_of_one_kind_or_poll(void **state)
{
	(void)state;
	POLL({ 3, 1, 0 });
	is_for(WAITS_NETWORK, "tcp 10.0.0.2:80");
	POLL({ 5, 1, 0 });
	is_for(WAITS_CONDITION, "anon_inode:[eventfd]");
	POLL({ 3, 1, 0 }, { 11, 1, 0 });
	is_for(WAITS_NETWORK, "tcp 10.0.0.2:80");
	POLL({ 1, 1, 0 }, { 2, 1, 0 });
	is_for(WAITS_PIPE, "pipe:[11], pipe:[12]");
	POLL({ 1, 1, 0 }, { 2, 1, 0 }, { 16, 1, 0 }, { 17, 1, 0 }, { 5, 1, 0 });
	is_for(WAITS_PIPE, "pipe:[11], pipe:[12], pipe:[17] and 1 more");
	POLL({ 9, 1, 0 });
	is_for(WAITS_PIPE, "/tmp/fifo");
	POLL({ 3, 1, 0 }, { 1, 1, 0 });
	is_for(WAITS_POLL, "tcp 10.0.0.2:80, pipe:[11]");
	POLL({ 1, 1, 0 }, { 3, 1, 0 }, { 2, 1, 0 });
	assert_int_equal(place.kind, WAITS_POLL);
	POLL({ 3, 1, 0 }, { 4, 1, 0 }, { 1, 1, 0 });
	assert_int_equal(place.kind, WAITS_IDLE);
	POLL({ 8, 1, 0 });
	is_for(WAITS_CHILD, "anon_inode:[pidfd]");
}

/* What wakes the program itself, and what nothing is asked of. */
static void own_wakeups_are_not_what_is_waited_for(void **state)
{
	(void)state;
	POLL({ 5, 1, 0 }, { 3, 1, 0 });
	is_for(WAITS_NETWORK, "tcp 10.0.0.2:80");
	POLL({ 3, 1, 0 }, { 6, 1, 0 });
	is_for(WAITS_NETWORK, "tcp 10.0.0.2:80");
	POLL({ 0, 1, 0 }, { 14, 1, 0 }, { 6, 1, 0 });
	is_for(WAITS_TERMINAL, "/dev/pts/1, /dev/ptmx");
	POLL({ 7, 1, 0 }, { 1, 0, 0 });
	is_for(WAITS_IDLE, "anon_inode:inotify");
	POLL({ 7, 1, 0 }, { 1, 1, 0 });
	assert_int_equal(place.kind, WAITS_POLL);
	POLL({ 5, 1, 0 }, { 6, 1, 0 });
	is_for(WAITS_POLL, "2 descriptors");
	POLL({ 18, 1, 0 }, { 1, 1, 0 });
	is_for(WAITS_PIPE, "pipe:[11]");
	POLL({ 1, 1, 0 }, { 19, 1, 0 });
	is_for(WAITS_PIPE, "pipe:[11]");
	world.watched = "tfd: 18 events: 19 data: 4 pos:0 ino:14 sdev:8\n";
	wait_in(WAITS_CALL_EVENTS, "ep_poll", 12, MEMORY, 1, 0);
	is_for(WAITS_POLL, "epoll");
	/* the other end of this one is another program's */
	POLL({ 15, 1, 0 }, { 1, 1, 0 });
	is_for(WAITS_POLL, "unix:, pipe:[11]");
	world.watched = "tfd: 15 events: 19 data: 4 pos:0 ino:10 sdev:8\n";
	wait_in(WAITS_CALL_EVENTS, "ep_poll", 12, MEMORY, 1, 0);
	is_for(WAITS_NETWORK, "unix:");
}

/* A socket that is in no list yet may be looked up again, but not where the process closes
 * what it has. */
static void who_is_named_again_has_the_same_name(void **state)
{
	(void)state;
	POLL({ 1, 1, 0 }, { 20, 1, 0 });
	is_for(WAITS_POLL, "pipe:[11], socket:[22]");
	assert_true(place.is_vague);
	thread.at = place;
	for (int is_closing = 0; is_closing < 2; is_closing++) {
		world.links_left = is_closing ? 2 : 0;
		ppi_waits_name_again(&watch, &thread);
		place = thread.at;
		is_for(WAITS_POLL, "pipe:[11], socket:[22]");
	}
}

/* Nobody looks for a socket that is in no list for ever. */
static void lists_are_read_less_and_less_often(void **state)
{
	enum { MS = 1000000, LOOKS_MS = 100000 };

	(void)state;
	wait_in(WAITS_CALL_IO, "netlink_recvmsg", 20, 0, 0, 0);
	is_for(WAITS_NETWORK, "socket:[22]");
	thread.at = place;
	for (unsigned ms = 0; ms < LOOKS_MS; ms += 10) {
		watch.now_ns = (uint64_t)ms * MS;
		ppi_waits_name_again(&watch, &thread);
	}
	assert_in_range(world.lists_read, 5, 12);
}

static void of_no_descriptor_it_is_time(void **state)
{
	struct polled many[40];
	unsigned long sets[2] = { 0 };

	(void)state;
	for (size_t i = 0; i < 40; i++)
		many[i] = (struct polled){ .events = 1 };
	wait_in(WAITS_CALL_POLL, "poll_schedule_timeout", 0, 0, 20, 0);
	is_for(WAITS_SLEEP, "");
	POLL({ -1, 1, 0 }, { -1, 1, 0 });
	is_for(WAITS_SLEEP, "");
	wait_in(WAITS_CALL_SELECT, "poll_schedule_timeout", 0, 0, 0, 0);
	is_for(WAITS_SLEEP, "");
	memcpy(world.memory, sets, sizeof(sets));
	wait_in(WAITS_CALL_SELECT, "poll_schedule_timeout", 20, MEMORY, 0, 0);
	is_for(WAITS_SLEEP, "");
	/* nobody can look at them */
	wait_in(WAITS_CALL_POLL, "poll_schedule_timeout", 8, 3, 0, 0);
	is_for(WAITS_POLL, "3 descriptors");
	wait_in(WAITS_CALL_SELECT, "poll_schedule_timeout", 20, 8, 0, 0);
	is_for(WAITS_POLL, "1 descriptor");
	/* or there are too many */
	poll_for(40, many);
	is_for(WAITS_TERMINAL, "/dev/pts/1 and 16 more");
}

static void sets_are_read(void **state)
{
	unsigned long reads[1] = { 1ul << 3 | 1ul << 5 };
	unsigned long writes[1] = { 1ul << 11 };

	(void)state;
	memcpy(world.memory, reads, sizeof(reads));
	memcpy(world.memory + 128, writes, sizeof(writes));
	wait_in(WAITS_CALL_SELECT, "poll_schedule_timeout", 12, MEMORY,
	        MEMORY + 128, 0);
	is_for(WAITS_NETWORK, "tcp 10.0.0.2:80");
	wait_in(WAITS_CALL_SELECT, "poll_schedule_timeout", 5, MEMORY, 0, 0);
	is_for(WAITS_NETWORK, "tcp 10.0.0.2:80");
}

/* Of an epoll instance sockets say most; a file that signals events is no
 * connection that may come. */
static void instances_say_what_they_watch(void **state)
{
	(void)state;
	world.watched = "pos: 0\ntfd: 5 events: 19 data: 5 pos:0 ino:99 sdev:e\n"
		"tfd: 3 events: 19 data: 3 pos:0 ino:d sdev:8\n";
	wait_in(WAITS_CALL_EVENTS, "ep_poll", 12, MEMORY, 1, 0);
	is_for(WAITS_NETWORK, "tcp 10.0.0.2:80");
	world.watched = "tfd: 4 events: 19 data: 4 pos:0 ino:e sdev:8\n"
		"tfd: 3 events: 19 data: 3 pos:0 ino:d sdev:8\n";
	wait_in(WAITS_CALL_EVENTS, "ep_poll", 12, MEMORY, 1, 0);
	is_for(WAITS_IDLE, "tcp listen 127.0.0.1:8080, tcp 10.0.0.2:80");
	world.watched = "tfd: 6 events: 19 data: 4 pos:0 ino:99 sdev:8\n"
		"tfd: 7 events: 19 data: 4 pos:0 ino:99 sdev:8\n";
	wait_in(WAITS_CALL_EVENTS, "ep_poll", 12, MEMORY, 1, 0);
	is_for(WAITS_POLL, "epoll");
}

/* What is exchanged on the connections to two servers, 13 and 15, and to a client, 23. */
#define SENT(ms, received) { .has_sent = true, .has_received = true,         \
	.sent_ms = (ms), .received_ms = (received), .heard_ms = (received) }
#define LISTENS "tfd: 4 events: 19 data: 4 pos:0 ino:e sdev:8\n"
#define ONE     "tfd: 3 events: 19 data: 3 pos:0 ino:d sdev:8\n"
#define ANOTHER "tfd: 11 events: 19 data: 3 pos:0 ino:f sdev:8\n"
#define CLIENT  "tfd: 21 events: 19 data: 3 pos:0 ino:17 sdev:8\n"
#define OF_HERE "tfd: 22 events: 19 data: 3 pos:0 ino:18 sdev:8\n"
#define BEGUN   "tfd: 23 events: 19 data: 3 pos:0 ino:19 sdev:8\n"
#define IDLES "tcp listen 127.0.0.1:8080, tcp 10.0.0.2:80"

static void exchange(struct waits_exchange client, struct waits_exchange one)
{
	world.exchanges[23] = client;
	world.exchanges[13] = one;
}

static void watches(const char *members, enum waits_kind kind, const char *on)
{
	world.watched = members;
	wait_in(WAITS_CALL_EVENTS, "ep_poll", 12, MEMORY, 1, 0);
	is_for(kind, on);
}

/* Connections are kept open, and who was asked last shows whether an answer is awaited. */
static void who_owes_an_answer_is_waited_for(void **state)
{
	static const char all[] = LISTENS ONE CLIENT;

	(void)state;
	exchange((struct waits_exchange)SENT(90, 50),
	         (struct waits_exchange)SENT(50, 90));
	watches(all, WAITS_NETWORK, "tcp 10.0.0.2:80");
	/* it has answered, and so have we */
	exchange((struct waits_exchange)SENT(40, 50),
	         (struct waits_exchange)SENT(50, 40));
	watches(all, WAITS_IDLE, IDLES);
	/* nobody waits for what it owes */
	exchange((struct waits_exchange)SENT(40, 50),
	         (struct waits_exchange)SENT(50, 90));
	watches(all, WAITS_IDLE, IDLES);
	watches(LISTENS ONE, WAITS_IDLE, IDLES);
	/* somebody waits for us */
	exchange((struct waits_exchange)SENT(90, 50),
	         (struct waits_exchange)SENT(50, 40));
	watches(all, WAITS_IDLE, IDLES);
	/* who does not say when is waited for as long as he is there */
	exchange((struct waits_exchange)SENT(40, 50),
	         (struct waits_exchange)SENT(50, 90));
	watches(LISTENS ONE OF_HERE, WAITS_NETWORK, "tcp 10.0.0.2:80");
	/* without one who listens it is for whatever comes first, as ever */
	watches(ONE CLIENT, WAITS_NETWORK,
	        "tcp 10.0.0.3:36866, tcp 10.0.0.2:80");
}

static void a_first_question_is_one(void **state)
{
	static const char all[] = LISTENS ONE CLIENT;
	const struct waits_exchange asked = { .has_received = true };

	(void)state;
	exchange(asked, (struct waits_exchange){ .has_sent = true });
	watches(all, WAITS_NETWORK, "tcp 10.0.0.2:80");
	/* it was connected for later */
	exchange(asked, (struct waits_exchange){ .has_sent = false });
	watches(all, WAITS_IDLE, IDLES);
	/* of one that is being connected the list says so, and the kernel later */
	world.exchanges[25].is_connecting = true;
	watches(LISTENS BEGUN CLIENT, WAITS_NETWORK, "tcp 10.0.0.4:80");
	world.exchanges[25].is_connecting = false;
	watches(LISTENS BEGUN CLIENT, WAITS_IDLE,
	        "tcp listen 127.0.0.1:8080, tcp 10.0.0.4:80");
}

/* Which of both was first in one tick. */
static void a_tick_may_have_both(void **state)
{
	static const char all[] = LISTENS ONE CLIENT;
	struct waits_exchange both = SENT(50, 50);

	(void)state;
	exchange(both, both);
	watches(all, WAITS_IDLE, IDLES);
	both.is_unacknowledged = true;
	exchange(both, both);
	watches(all, WAITS_NETWORK, "tcp 10.0.0.2:80");
	both.is_unacknowledged = false;
	both.heard_ms = 10;
	exchange(both, both);
	watches(all, WAITS_NETWORK, "tcp 10.0.0.2:80");
	/* a keep-alive long after */
	both = (struct waits_exchange)SENT(5000, 5000);
	both.heard_ms = 10;
	exchange(both, both);
	watches(all, WAITS_IDLE, IDLES);
}

static void what_nobody_says_is_idle(void **state)
{
	static const char all[] = LISTENS ONE CLIENT;

	(void)state;
	exchange((struct waits_exchange)SENT(90, 50),
	         (struct waits_exchange)SENT(50, 90));
	world.is_closed = true;
	watches(all, WAITS_IDLE, IDLES);
	world.is_closed = false;
	/* of itself a program may have a filter for */
	plan.target.is_self = true;
	watches(all, WAITS_IDLE, IDLES);
	plan.target.is_self = false;
	watches(all, WAITS_NETWORK, "tcp 10.0.0.2:80");
}

/* Each server once, in all calls that wait for several. */
static void all_calls_have_the_same_rule(void **state)
{
	(void)state;
	exchange((struct waits_exchange)SENT(90, 50),
	         (struct waits_exchange)SENT(50, 90));
	world.exchanges[15] = (struct waits_exchange)SENT(50, 90);
	world.exchanges[25].is_connecting = true;
	watches(LISTENS ONE ANOTHER BEGUN CLIENT, WAITS_NETWORK,
	        "tcp 10.0.0.2:80, tcp 10.0.0.4:80");
	POLL({ 4, 1, 0 }, { 3, 1, 0 }, { 21, 1, 0 });
	is_for(WAITS_NETWORK, "tcp 10.0.0.2:80");
	world.exchanges[13] = (struct waits_exchange)SENT(50, 40);
	POLL({ 4, 1, 0 }, { 3, 1, 0 }, { 21, 1, 0 });
	assert_int_equal(place.kind, WAITS_IDLE);
	world.exchanges[13] = (struct waits_exchange)SENT(50, 90);
	memset(world.memory, 0, sizeof(world.memory));
	world.memory[0] = 1 << 3 | 1 << 4;
	world.memory[2] = 1 << 5;
	wait_in(WAITS_CALL_SELECT, "poll_schedule_timeout", 22, MEMORY, 0, 0);
	is_for(WAITS_NETWORK, "tcp 10.0.0.2:80");
}

/* A call that is resumed after the thread was stopped. */
static void who_was_stopped_waits_for_the_same(void **state)
{
	(void)state;
	wait_in(WAITS_CALL_AGAIN, "hrtimer_nanosleep", 0, 0, 0, 0);
	is_for(WAITS_SLEEP, "");
	memcpy(world.memory, &(struct polled){ 3, 1, 0 }, sizeof(struct polled));
	wait_in(WAITS_CALL_AGAIN, "do_poll", MEMORY, 1, 0, 0);
	is_for(WAITS_NETWORK, "tcp 10.0.0.2:80");
	wait_in(WAITS_CALL_AGAIN, "futex_do_wait", MEMORY, 0, 7, 0);
	assert_int_equal(place.kind, WAITS_CONDITION);
	wait_in(WAITS_CALL_AGAIN, "do_syscall_64", 0, 0, 0, 0);
	is_for(WAITS_SLEEP, "");
}

/* At the same place, and not for the same. */
static void another_list_is_another_wait(void **state)
{
	(void)state;
	POLL({ 3, 1, 0 });
	thread.at = place;
	POLL({ 3, 1, 0 });
	assert_true(ppi_waits_is_same(&watch, &thread, &place, true));
	POLL({ 1, 1, 0 });
	place.kind = WAITS_OTHER; /* as it is met */
	place.on[0] = '\0';
	assert_false(ppi_waits_is_same(&watch, &thread, &place, true));
	is_for(WAITS_PIPE, "pipe:[11]");
}

/* In programs whose calls have other numbers, and in calls that nobody knows. */
static void without_a_call_the_function_tells(void **state)
{
	static const struct {
		const char *function;
		enum waits_kind kind;
	} rows[] = {
		{ "do_wait", WAITS_CHILD }, { "futex_do_wait", WAITS_CONDITION },
		{ "anon_pipe_read", WAITS_PIPE },
		{ "hrtimer_nanosleep", WAITS_SLEEP },
		{ "n_tty_read", WAITS_TERMINAL }, { "ep_poll", WAITS_POLL },
		{ "folio_wait_bit_common", WAITS_DISK },
		{ "sk_wait_data", WAITS_NETWORK }, { "unknown", WAITS_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int is_foreign = 0; is_foreign < 2; is_foreign++) {
			process.is_foreign = is_foreign;
			wait_in(is_foreign ? WAITS_CALL_SLEEP : WAITS_CALL_OTHER,
			        rows[i].function, 0, 0, 0, 0);
			is_for(rows[i].kind, "");
		}
}

/* Calls of memory have to have the map, and faults, too; where there is no memory, that
 * is what they wait for. */
static void the_map_of_memory_is_a_lock(void **state)
{
	(void)state;
	wait_in(WAITS_CALL_MEMORY, "__vm_munmap", 0, 0, 0, 0);
	is_for(WAITS_LOCK, "memory map");
	wait_in(WAITS_CALL_MEMORY, "mem_cgroup_handle_over_high", 0, 0, 0, 0);
	is_for(WAITS_MEMORY, "");
	snprintf(world.syscall, sizeof(world.syscall), "-1 0x7000 0x1000\n");
	for (int is_lock = 0; is_lock < 2; is_lock++) {
		world.function = is_lock ? "lock_mm_and_find_vma"
		                         : "folio_wait_bit_common";
		assert_int_equal(ppi_waits_place(&watch, &thread, &place), 0);
		ppi_waits_name(&watch, &thread, &place);
		is_for(is_lock ? WAITS_LOCK : WAITS_PAGE_FAULT,
		       is_lock ? "memory map" : "");
	}
}

/* Workers that wait for work are idle, also those that wait for seconds at a time; who
 * looks again soon is not, and has something to do. */
static void who_looks_again_soon_is_not_idle(void **state)
{
	enum { WAITS = 0, WAITS_BITSET = 9, BY_REAL_TIME = 256 };
	static const struct {
		uint64_t operation;
		long s, ns; /* 0: without a limit */
		enum waits_kind kind;
	} rows[] = {
		{ WAITS, 0, 0, WAITS_IDLE },
		{ WAITS, 0, 5000000, WAITS_CONDITION },
		{ WAITS, 5, 0, WAITS_IDLE },
		{ WAITS_BITSET, 1000, 5000000, WAITS_CONDITION },
		{ WAITS_BITSET, 1010, 0, WAITS_IDLE },
		{ WAITS_BITSET | BY_REAL_TIME, 5000, 5000000, WAITS_CONDITION },
		{ WAITS_BITSET | BY_REAL_TIME, 5010, 0, WAITS_IDLE },
	};
	struct waits_thread one = { .tid = OTHER, .process = &process };
	struct waits_thread two = { .tid = OTHER + 1, .process = &process };
	const struct waits_seat list[] = { { .thread = &one },
		                           { .thread = &two } };
	long limit[2];

	(void)state;
	assert_true(ppi_vector_add(&watch.threads, sizeof(list[0]), list, 2));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t at = rows[i].s || rows[i].ns ? MEMORY + 64 : 0;

		limit[0] = rows[i].s;
		limit[1] = rows[i].ns;
		memcpy(world.memory + 64, limit, sizeof(limit));
		memset(&one.at, 0, sizeof(one.at));
		thread = one;
		wait_in(WAITS_CALL_LOCK, "futex_do_wait", MEMORY,
		        rows[i].operation, 7, at);
		one.at = place;
		assert_int_equal(place.kind, WAITS_CONDITION);
		thread = two;
		wait_in(WAITS_CALL_LOCK, "futex_do_wait", MEMORY,
		        rows[i].operation, 7, at);
		assert_int_equal(place.kind, rows[i].kind);
		/* its time is nearly over */
		thread.at = place;
		limit[0] = limit[1] = 0;
		memcpy(world.memory + 64, limit, sizeof(limit));
		wait_in(WAITS_CALL_LOCK, "futex_do_wait", MEMORY,
		        rows[i].operation, 7, at);
		assert_int_equal(place.kind, rows[i].kind);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, tidy)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_descriptor_is_what_its_link_says),
		CASE(paths_have_names),
		CASE(several_are_of_one_kind_or_poll),
		CASE(own_wakeups_are_not_what_is_waited_for),
		CASE(who_is_named_again_has_the_same_name),
		CASE(lists_are_read_less_and_less_often),
		CASE(of_no_descriptor_it_is_time),
		CASE(sets_are_read),
		CASE(instances_say_what_they_watch),
		CASE(who_owes_an_answer_is_waited_for),
		CASE(a_first_question_is_one),
		CASE(a_tick_may_have_both),
		CASE(what_nobody_says_is_idle),
		CASE(all_calls_have_the_same_rule),
		CASE(who_was_stopped_waits_for_the_same),
		CASE(another_list_is_another_wait),
		CASE(without_a_call_the_function_tells),
		CASE(the_map_of_memory_is_a_lock),
		CASE(who_looks_again_soon_is_not_idle),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("waits_files", tests, NULL, NULL);
}
