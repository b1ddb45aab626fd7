/* SPDX-License-Identifier: MIT */
/* The sockets of a system, by their inodes: who is at the other end, whether a server is
 * there, and whether it owes an answer. Its lists are read when one is asked for that is not known. */
#include "backends/waits/waits.h"

#include "base/clock_ns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATH_ROOM = 96 };

/* "0100007F:1F90", or 32 digits before the colon: words in the machine's order, each
 * of which has bytes as they are sent. */
static unsigned read_address(const char *text, uint8_t bytes[16], uint16_t *port)
{
	unsigned digits = (unsigned)strcspn(text, ":");
	char part[9] = "";

	memset(bytes, 0, 16);
	for (unsigned i = 0; i < digits / 8 && i < 4; i++) {
		uint32_t word;

		memcpy(part, text + 8 * i, 8);
		word = (uint32_t)strtoul(part, NULL, 16);
		memcpy(bytes + 4 * i, &word, sizeof(word));
	}
	*port = text[digits] == ':'
		? (uint16_t)strtoul(text + digits + 1, NULL, 16) : 0;
	return digits / 2;
}

/* An address of IPv4 may be written as one of IPv6. */
static void say_address(const uint8_t b[16], unsigned count, unsigned port,
                        char *out, size_t bytes)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (count == 16 && memcmp(b, mapped, sizeof(mapped)) != 0)
		snprintf(out, bytes,
		         "[%x:%x:%x:%x:%x:%x:%x:%x]:%u", b[0] << 8 | b[1],
		         b[2] << 8 | b[3], b[4] << 8 | b[5], b[6] << 8 | b[7],
		         b[8] << 8 | b[9], b[10] << 8 | b[11],
		         b[12] << 8 | b[13], b[14] << 8 | b[15], port);
	else
		snprintf(out, bytes, "%u.%u.%u.%u:%u", b[count - 4],
		         b[count - 3], b[count - 2], b[count - 1], port);
}

static struct waits_socket *find_socket(const struct waits_watch *watch,
                                        uint64_t inode)
{
	struct waits_socket *socket;

	HASH_FIND(hh, watch->sockets.by_inode, &inode, sizeof(inode), socket);
	return socket;
}

static struct waits_socket *enter_socket(struct waits_watch *watch,
                                         uint64_t inode)
{
	struct waits_socket *socket = find_socket(watch, inode);

	if (socket)
		return socket;
	socket = calloc(1, sizeof(*socket));
	if (!socket)
		return NULL;
	socket->inode = inode;
	HASH_ADD(hh, watch->sockets.by_inode, inode, sizeof(inode), socket);
	return socket;
}

enum { ESTABLISHED = 0x01, SYN_SENT = 0x02, CLOSED = 0x07, LISTENS = 0x0a };

/* "  0: LOCAL REMOTE STATE TX:RX TR:TM RETR UID TIMEOUT INODE": proc_net_tcp. */
static void take_tcp(struct waits_watch *watch, char *line, const char *what)
{
	char local[80], remote[80], here[64], there[64];
	uint8_t *listening = watch->sockets.listening;
	struct waits_connection ends = { 0 };
	struct waits_socket *socket;
	unsigned state, bytes;
	bool is_known;
	uint64_t inode;

	if (sscanf(line,
	           "%*s %79s %79s %x %*s %*s %*s %*s %*s %" SCNu64, local,
	           remote, &state, &inode) != 4 || !inode)
		return;
	bytes = read_address(local, ends.here, &ends.port);
	if ((bytes != 4 && bytes != 16) ||
	    read_address(remote, ends.there, &ends.peer_port) != bytes)
		return;
	/* who listens stands before all others in a list */
	if (state == LISTENS)
		listening[ends.port / 8] |= (uint8_t)(1u << ends.port % 8);
	socket = enter_socket(watch, inode);
	if (!socket || socket->is_settled)
		return;
	is_known = listening[ends.port / 8] & 1u << ends.port % 8;
	socket->asks = what[0] == 't' && !is_known &&
	               (state == ESTABLISHED || state == SYN_SENT);
	socket->serves = what[0] == 't' && is_known && state != LISTENS;
	if (socket->asks || socket->serves)
		ends.bytes = (uint8_t)bytes;
	socket->ends = ends;
	say_address(ends.here, bytes, ends.port, here, sizeof(here));
	say_address(ends.there, bytes, ends.peer_port, there, sizeof(there));
	socket->listens = state == LISTENS;
	/* these may be connected yet */
	socket->is_settled = what[0] == 'u' ||
	                     (state != SYN_SENT && state != CLOSED);
	snprintf(socket->peer, sizeof(socket->peer), "%s %s%s", what,
	         socket->listens ? "listen " : "",
	         socket->listens || !ends.peer_port ? here : there);
}

enum { UNIX_DATAGRAM = 2 }; /* SOCK_DGRAM; of MIPS it is a stream's */

/* "ADDRESS: REFS PROTOCOL FLAGS TYPE STATE INODE [PATH]": proc_net_unix. */
static void take_unix(struct waits_watch *watch, char *line, const char *what)
{
	struct waits_socket *socket;
	unsigned flags, type;
	uint64_t inode;
	int at = 0;

	if (sscanf(line, "%*s %*s %*s %x %x %*s %" SCNu64 "%n", &flags, &type,
	           &inode, &at) != 3)
		return;
	socket = enter_socket(watch, inode);
	if (!socket || socket->is_settled)
		return;
	socket->is_settled = true;
	socket->listens = flags & 0x10000; /* __SO_ACCEPTCON */
	/* it has the name of the one that listens */
	socket->serves = !socket->listens && line[at] == ' ' &&
	                 type != UNIX_DATAGRAM;
	snprintf(socket->peer, sizeof(socket->peer), "%s:%.80s", what,
	         line[at] == ' ' ? line + at + 1 : "");
}

static void read_sockets(struct waits_watch *watch, int64_t pid,
                         const char *name, const char *what,
                         void (*take)(struct waits_watch *watch, char *line,
                                      const char *what))
{
	char path[PATH_ROOM], *text, *next;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/net/%s", pid, name);
	text = ppi_waits_read_list(watch, path);
	for (char *line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		take(watch, line, what);
	}
	free(text);
}

/* The lists may be long: they are read for a fortieth of the time at most. Connections that
 * last for one question and its answer are in none before. */
#define SOCKETS_EVERY_NS UINT64_C(25000000)
#define SOCKETS_FIRST_NS UINT64_C(200000000) /* again for one that is in none */
#define SOCKETS_LAST_NS  UINT64_C(16000000000)
enum { SOCKETS_SHARE = 40 };

static void read_all_sockets(struct waits_watch *watch, int64_t pid)
{
	uint64_t begun = 0, ended = 0;

	ppi_clock_ns(CLOCK_THREAD_CPUTIME_ID, &begun);
	if (HASH_COUNT(watch->sockets.by_inode) > 20000)
		ppi_waits_forget_sockets(watch);
	memset(watch->sockets.listening, 0, sizeof(watch->sockets.listening));
	read_sockets(watch, pid, "tcp", "tcp", take_tcp);
	read_sockets(watch, pid, "tcp6", "tcp", take_tcp);
	read_sockets(watch, pid, "udp", "udp", take_tcp);
	read_sockets(watch, pid, "udp6", "udp", take_tcp);
	read_sockets(watch, pid, "unix", "unix", take_unix);
	ppi_clock_ns(CLOCK_THREAD_CPUTIME_ID, &ended);
	watch->sockets.next_ns = watch->now_ns + SOCKETS_EVERY_NS +
	                         SOCKETS_SHARE * (ended - begun);
}

const struct waits_socket *ppi_waits_known_socket(const struct waits_watch *watch,
                                                  uint64_t inode)
{
	const struct waits_socket *socket = find_socket(watch, inode);

	return socket && socket->is_settled ? socket : NULL;
}

/* Some are in no list, as those of netlink, or not yet: less and less often. */
const struct waits_socket *ppi_waits_socket(struct waits_watch *watch, int64_t pid,
                                            uint64_t inode)
{
	struct waits_socket *socket = find_socket(watch, inode);

	if ((socket && (socket->is_settled || watch->now_ns < socket->next_ns)) ||
	    watch->now_ns < watch->sockets.next_ns)
		return socket;
	read_all_sockets(watch, pid);
	socket = enter_socket(watch, inode);
	if (socket && !socket->is_settled) {
		socket->pause_ns = socket->pause_ns ? 2 * socket->pause_ns
		                                    : SOCKETS_FIRST_NS;
		if (socket->pause_ns > SOCKETS_LAST_NS)
			socket->pause_ns = SOCKETS_LAST_NS;
		socket->next_ns = watch->now_ns + socket->pause_ns;
	}
	return socket;
}

/* ---- whether somebody owes an answer ---- */

void ppi_waits_join_crowd(struct waits_crowd *crowd,
                          const struct waits_socket *socket)
{
	if (socket && socket->asks && crowd->server_count < WAITS_CROWD)
		crowd->servers[crowd->server_count++] = socket->inode;
	else if (socket && socket->serves && crowd->client_count < WAITS_CROWD)
		crowd->clients[crowd->client_count++] = socket->inode;
}

static bool has_exchanged(const struct waits_watch *watch,
                          const struct waits_socket *socket,
                          struct waits_exchange *out)
{
	const struct waits_kernel *kernel = watch->kernel;

	memset(out, 0, sizeof(*out));
	return socket && socket->ends.bytes && kernel->exchanged &&
	       !watch->bs->plan->target.is_self &&
	       kernel->exchanged(kernel->self, &socket->ends, socket->inode,
	                         out) == 0;
}

/* Where we asked and were answered in one tick, which was last shows in what came since: an
 * answer acknowledges the question, and a question without an answer is acknowledged
 * alone, up to half a second later (include/net/tcp.h, TCP_DELACK_MAX). */
static bool is_acknowledged_alone(const struct waits_exchange *last)
{
	enum { MOST_MS = 500 };

	return last->is_unacknowledged ||
	       (last->heard_ms < last->received_ms &&
	        last->received_ms - last->heard_ms <= MOST_MS);
}

/* We have sent after we received: what is next is its answer. */
static bool owes_answer(const struct waits_watch *watch,
                        const struct waits_socket *server)
{
	struct waits_exchange last;

	if (!has_exchanged(watch, server, &last))
		return false;
	if (last.is_connecting || !last.has_sent || !last.has_received)
		return last.is_connecting || last.has_sent;
	return last.sent_ms == last.received_ms
		? is_acknowledged_alone(&last)
		: last.sent_ms < last.received_ms;
}

/* The other way round; who has asked in the tick in which it was answered may have asked
 * again. Of sockets of this machine no times are known. */
static bool is_owed_answer(const struct waits_watch *watch,
                           const struct waits_socket *client)
{
	struct waits_exchange last;

	if (!client || !client->ends.bytes)
		return client != NULL;
	return has_exchanged(watch, client, &last) && last.has_received &&
	       (!last.has_sent || last.received_ms <= last.sent_ms);
}

/* Whether it is one of those that are there, between ", ". */
static bool has_name(const char *list, const char *one)
{
	size_t bytes = strlen(one);
	const char *at = strstr(list, one);

	while (at && at[bytes] != '\0' && at[bytes] != ',')
		at = strstr(at + 1, one);
	return at != NULL;
}

/*
 * A server that has asked another one waits for it in the call in which it also waits for
 * connections and for what its clients may ask next. Connections that are kept open
 * are there when nothing is asked, too: what tells is who has sent last on them.
 */
bool ppi_waits_is_unanswered(struct waits_watch *watch,
                             const struct waits_crowd *crowd, char *on,
                             size_t bytes)
{
	size_t used = 0, client = 0;

	on[0] = '\0';
	for (size_t i = 0; i < crowd->server_count; i++) {
		const struct waits_socket *server =
			find_socket(watch, crowd->servers[i]);

		if (!owes_answer(watch, server) || has_name(on, server->peer))
			continue;
		if (used + strlen(server->peer) + sizeof(", ") > bytes)
			break;
		used += (size_t)snprintf(on + used, bytes - used, "%s%s",
		                         used ? ", " : "", server->peer);
	}
	while (used && client < crowd->client_count &&
	       !is_owed_answer(watch, find_socket(watch,
	                                          crowd->clients[client])))
		client++;
	return used && client < crowd->client_count;
}

void ppi_waits_forget_sockets(struct waits_watch *watch)
{
	struct waits_socket *socket, *next;

	HASH_ITER(hh, watch->sockets.by_inode, socket, next) {
		HASH_DELETE(hh, watch->sockets.by_inode, socket);
		free(socket);
	}
}
