/* SPDX-License-Identifier: MIT */
/*
 * What labels cost a server: requests over TCP to a thread that parses each, works a
 * little and answers, without labels, with a set that is entered for each request, and with
 * three labels that are pushed. The three take turns, a few hundred requests each; CPU time of
 * the serving thread for a request, the median of all turns, and of the differences in pairs.
 *
 * usage: server [rounds [turns of work]]
 */
#include "config.h"

#include "bench/spent.h"

#include <portprof.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REQUESTS = 400, ROUNDS_MAX = 2000, WAYS = 3 };
enum way { PLAIN, ENTERED, PUSHED };

static const char *const names[WAYS] = { "no labels", "a set entered",
	                                 "three pushed" };
static const char request[] = "GET /checkout?tenant=acme HTTP/1.1\r\n"
			      "Host: localhost\r\nUser-Agent: bench\r\n\r\n";
static const portprof_label_set *set;
static uint64_t turns_of_work = 2000;
static int ends[2]; /* the client's, the server's */

/* ---- the server ---- */

static void answer(const char *text)
{
	char reply[256];
	uint64_t sum = bench_work(turns_of_work);
	int length = snprintf(reply, sizeof(reply),
	                      "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"
	                      "%020llu", (unsigned long long)sum);

	if (!strstr(text, "/checkout") ||
	    write(ends[1], reply, (size_t)length) != length)
		bench_die("answer");
}

static void push(const char *key, const char *value)
{
	if (portprof_label_push(key, value) != PORTPROF_OK)
		bench_die("push");
}

static void serve(enum way way)
{
	char text[1024];
	ssize_t got = read(ends[1], text, sizeof(text) - 1);
	const portprof_label_set *before;

	if (got <= 0)
		bench_die("read");
	text[got] = '\0';
	if (way == PLAIN) {
		answer(text);
	} else if (way == ENTERED) {
		before = portprof_label_enter(set);
		answer(text);
		portprof_label_leave(before);
	} else {
		push("endpoint", "/checkout");
		push("tenant", "acme");
		push("plan", "free");
		answer(text);
		for (unsigned i = 0; i < 3; i++)
			portprof_label_pop();
	}
}

/* CPU time of this thread for a request. */
static double turn_ns(enum way way)
{
	struct timespec before, after;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
	for (unsigned i = 0; i < REQUESTS; i++)
		serve(way);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
	return ((double)(after.tv_sec - before.tv_sec) * 1e9 +
	        (double)(after.tv_nsec - before.tv_nsec)) / REQUESTS;
}

/* ---- the client ---- */

static void *ask(void *unused)
{
	char reply[1024];

	(void)unused;
	while (write(ends[0], request, sizeof(request) - 1) > 0 &&
	       read(ends[0], reply, sizeof(reply)) > 0)
		;
	return NULL;
}

static void be_connected(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(name);
	int on = 1, door = socket(AF_INET, SOCK_STREAM, 0);

	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (door < 0 || ends[0] < 0 ||
	    bind(door, (struct sockaddr *)&name, bytes) != 0 ||
	    listen(door, 1) != 0 ||
	    getsockname(door, (struct sockaddr *)&name, &bytes) != 0 ||
	    connect(ends[0], (struct sockaddr *)&name, bytes) != 0 ||
	    (ends[1] = accept(door, NULL, NULL)) < 0)
		bench_die("connect");
	setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(ends[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	close(door);
}

/* ---- the comparison ---- */

static void measure(const char *what, unsigned rounds)
{
	static double ns[WAYS][ROUNDS_MAX], more[ROUNDS_MAX];
	double median;

	for (unsigned i = 0; i < rounds; i++)
		for (unsigned k = 0; k < WAYS; k++) {
			unsigned way = (k + i) % WAYS; /* each is first */

			ns[way][i] = turn_ns((enum way)way);
		}
	for (unsigned way = ENTERED; way < WAYS; way++) {
		for (unsigned i = 0; i < rounds; i++)
			more[i] = 100 * (ns[way][i] / ns[PLAIN][i] - 1);
		median = bench_median(more, rounds);
		printf("%-7s  %-13s  %+6.2f %% in pairs (quartiles %+5.2f to %+5.2f)\n",
		       what, names[way], median, more[rounds / 4],
		       more[rounds * 3 / 4]);
	}
	printf("%-7s  %-13s  %6.0f ns a request\n", what, names[PLAIN],
	       bench_median(ns[PLAIN], rounds));
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 200;
	const portprof_label labels[] = { { "endpoint", "/checkout" },
		                          { "tenant", "acme" } };
	pthread_t client;

	if (argc > 2)
		turns_of_work = strtoull(argv[2], NULL, 10);
	if (rounds < 4 || rounds > ROUNDS_MAX)
		return 2;
	set = portprof_label_set_new(labels, 2);
	if (!set)
		bench_die("make a set");
	be_connected();
	if (pthread_create(&client, NULL, ask, NULL) != 0)
		bench_die("begin the client");
	measure("nobody", rounds);
	bench_with("timer", measure, rounds);
	bench_with("perf", measure, rounds);
	shutdown(ends[1], SHUT_RDWR);
	pthread_join(client, NULL);
	return 0;
}
