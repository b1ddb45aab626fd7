/* SPDX-License-Identifier: MIT */
/* The sockets of a system, by their inodes: who is at the other end, and whether a
 * server is there. Its lists are read when one is asked for that is not known. */
#include "backends/waits/waits.h"

#include "base/clock_ns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATH_ROOM = 96 };

/* "0100007F:1F90", or 32 digits before the colon: words in the machine's order. */
static void say_address(const char *text, char *out, size_t bytes)
{
	unsigned words[4] = { 0 }, port = 0;
	size_t digits = strcspn(text, ":");
	char part[9] = "";

	for (size_t i = 0; i < digits / 8 && i < 4; i++) {
		memcpy(part, text + 8 * i, 8);
		words[i] = (unsigned)strtoul(part, NULL, 16);
	}
	if (text[digits] == ':')
		port = (unsigned)strtoul(text + digits + 1, NULL, 16);
	if (digits == 32 && (words[0] || words[1] ||
	                     words[2] != 0xffff0000)) {
		const unsigned char *b = (const unsigned char *)words;

		snprintf(out, bytes,
		         "[%x:%x:%x:%x:%x:%x:%x:%x]:%u", b[0] << 8 | b[1],
		         b[2] << 8 | b[3], b[4] << 8 | b[5], b[6] << 8 | b[7],
		         b[8] << 8 | b[9], b[10] << 8 | b[11],
		         b[12] << 8 | b[13], b[14] << 8 | b[15], port);
	} else {
		const unsigned char *b =
			(const unsigned char *)&words[digits == 32 ? 3 : 0];

		snprintf(out, bytes, "%u.%u.%u.%u:%u", b[0], b[1], b[2], b[3],
		         port);
	}
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

/* Of an address as above: 0 without one. */
static unsigned port_of(const char *address)
{
	const char *colon = strrchr(address, ':');

	return colon ? (unsigned)strtoul(colon + 1, NULL, 16) & 0xffff : 0;
}

/* "  0: LOCAL REMOTE STATE TX:RX TR:TM RETR UID TIMEOUT INODE": proc_net_tcp. */
static void take_tcp(struct waits_watch *watch, char *line, const char *what)
{
	char local[80], remote[80], here[64], there[64];
	uint8_t *listening = watch->sockets.listening;
	struct waits_socket *socket;
	unsigned state, port;
	uint64_t inode;

	if (sscanf(line,
	           "%*s %79s %79s %x %*s %*s %*s %*s %*s %" SCNu64, local,
	           remote, &state, &inode) != 4 || !inode)
		return;
	port = port_of(local);
	/* who listens stands before all others in a list */
	if (state == 0x0a) /* TCP_LISTEN */
		listening[port / 8] |= (uint8_t)(1u << port % 8);
	socket = enter_socket(watch, inode);
	if (!socket || socket->is_settled)
		return;
	socket->asks = state == 0x01 && /* TCP_ESTABLISHED */
	               !(listening[port / 8] & 1u << port % 8);
	say_address(local, here, sizeof(here));
	say_address(remote, there, sizeof(there));
	socket->listens = state == 0x0a;
	/* 2, TCP_SYN_SENT, and 7, TCP_CLOSE: it may be connected yet */
	socket->is_settled = what[0] == 'u' || (state != 0x02 && state != 0x07);
	if (socket->listens || strstr(there, ":0") == there + strlen(there) - 2)
		snprintf(socket->peer, sizeof(socket->peer), "%s %s%s", what,
		         socket->listens ? "listen " : "", here);
	else
		snprintf(socket->peer, sizeof(socket->peer), "%s %s", what,
		         there);
}

/* "ADDRESS: REFS PROTOCOL FLAGS TYPE STATE INODE [PATH]": proc_net_unix. */
static void take_unix(struct waits_watch *watch, char *line, const char *what)
{
	struct waits_socket *socket;
	unsigned flags;
	uint64_t inode;
	int at = 0;

	if (sscanf(line, "%*s %*s %*s %x %*s %*s %" SCNu64 "%n", &flags, &inode,
	           &at) != 2)
		return;
	socket = enter_socket(watch, inode);
	if (!socket || socket->is_settled)
		return;
	socket->is_settled = true;
	socket->listens = flags & 0x10000; /* __SO_ACCEPTCON */
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

/* The lists are long: they are read not often, and for a twentieth of the time at
 * most. */
#define SOCKETS_EVERY_NS UINT64_C(200000000)
#define SOCKETS_LAST_NS  UINT64_C(16000000000)

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
	                         20 * (ended - begun);
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
		                                    : SOCKETS_EVERY_NS;
		if (socket->pause_ns > SOCKETS_LAST_NS)
			socket->pause_ns = SOCKETS_LAST_NS;
		socket->next_ns = watch->now_ns + socket->pause_ns;
	}
	return socket;
}

void ppi_waits_forget_sockets(struct waits_watch *watch)
{
	struct waits_socket *socket, *next;

	HASH_ITER(hh, watch->sockets.by_inode, socket, next) {
		HASH_DELETE(hh, watch->sockets.by_inode, socket);
		free(socket);
	}
}
