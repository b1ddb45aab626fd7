/* SPDX-License-Identifier: MIT */
/*
 * Waits in known ways, and prints for how long.
 *
 * usage: waits known ROUNDS    sleeps, waits for a lock that the thread "writer"
 *                              has, reads an empty pipe, computes; prints
 *                              "sleep S", "lock S", "pipe S", "compute S", "all S"
 *        waits threads COUNT   so many threads, one after another
 *        waits processes COUNT so many children
 *        waits calls ROUNDS    waits in twelve kinds of calls; prints "eintr N"
 *        waits kinds MS        a thread for each kind, which is its name
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/prctl.h>
#endif

/* Functions that reports are to name. */
#define NOINLINE __attribute__((noinline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_over;
static int ask[2], answer[2], order[2], taken[2];
static volatile unsigned long computed;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void nap(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static void send_byte(int fd)
{
	if (write(fd, "x", 1) != 1)
		abort();
}

static bool get_byte(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

static void name_thread(const char *name)
{
#ifdef __linux__
	prctl(PR_SET_NAME, name);
#else
	(void)name;
#endif
}

/* Has the lock for a while whenever it is told. */
static void *write_log(void *unused)
{
	name_thread("writer");
	while (get_byte(order[0]) && !is_over) {
		pthread_mutex_lock(&lock);
		send_byte(taken[1]);
		nap(80);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

/* Answers after a while. */
static void *feed(void *unused)
{
	name_thread("feeder");
	while (get_byte(ask[0]) && !is_over) {
		nap(100);
		send_byte(answer[1]);
	}
	return unused;
}

NOINLINE static double wait_sleep(void)
{
	double begun = seconds();

	nap(120);
	return seconds() - begun;
}

NOINLINE static double wait_lock(void)
{
	double begun;

	send_byte(order[1]);
	get_byte(taken[0]);
	begun = seconds();
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return seconds() - begun;
}

NOINLINE static double wait_pipe(void)
{
	double begun = seconds();

	send_byte(ask[1]);
	get_byte(answer[0]);
	return seconds() - begun;
}

NOINLINE static double compute(void)
{
	double begun = seconds();

	while (seconds() < begun + 0.1)
		for (int i = 0; i < 1000; i++)
			computed += (unsigned long)i;
	return seconds() - begun;
}

static void wait_in_known_ways(int rounds)
{
	double times[4] = { 0 }, begun = seconds();
	pthread_t writer, feeder;

	if (pipe(ask) || pipe(answer) || pipe(order) || pipe(taken))
		abort();
	pthread_create(&writer, NULL, write_log, NULL);
	pthread_create(&feeder, NULL, feed, NULL);
	for (int i = 0; i < rounds; i++) {
		times[0] += wait_sleep();
		times[1] += wait_lock();
		times[2] += wait_pipe();
		times[3] += compute();
	}
	printf("sleep %.6f\nlock %.6f\npipe %.6f\ncompute %.6f\nall %.6f\n",
	       times[0], times[1], times[2], times[3], seconds() - begun);
	is_over = true;
	send_byte(order[1]);
	send_byte(ask[1]);
	pthread_join(writer, NULL);
	pthread_join(feeder, NULL);
}

static void *live_shortly(void *unused)
{
	nap(1);
	return unused;
}

static void make_threads(int count)
{
	pthread_t thread;

	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, live_shortly, NULL) == 0)
			pthread_join(thread, NULL);
}

static void make_processes(int count)
{
	for (int i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

/* ---- calls that a signal would break off ---- */

static int interrupted;

static void see(long result)
{
	interrupted += result < 0 && errno == EINTR;
}

static void wait_once(const int *ends)
{
	struct timespec moment = { 0, 20000000 };
	struct timeval short_time = { 0, 20000 };
	struct pollfd poll_one = { .fd = ends[0], .events = POLLIN };
	pthread_cond_t nothing = PTHREAD_COND_INITIALIZER;
	struct timespec until;
	sigset_t signals;
	fd_set set;
	char byte;
	pid_t child;

	see(nanosleep(&moment, NULL));
	see(clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL) ? -1 : 0);
	see(poll(&poll_one, 1, 20));
	see(poll(NULL, 0, 20));
	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	see(select(ends[0] + 1, &set, NULL, NULL, &short_time));
	see(pselect(0, NULL, NULL, NULL, &moment, NULL));
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR2);
	see(sigtimedwait(&signals, NULL, &moment));
	see(recv(ends[0], &byte, 1, 0)); /* has a time limit */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 20000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	pthread_cond_timedwait(&nothing, &lock, &until);
	pthread_mutex_unlock(&lock);
	child = fork();
	if (child == 0) {
		nap(20);
		send_byte(ends[1]);
		_exit(0);
	}
	see(read(ends[0], &byte, 1));
	see(waitpid(child, NULL, 0));
#ifdef __linux__
	{
		struct epoll_event event;
		int epoll = epoll_create1(0);

		see(epoll_wait(epoll, &event, 1, 20));
		close(epoll);
	}
#endif
}

static void wait_in_all_ways(int rounds)
{
	struct timeval limit = { 0, 30000 };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit,
	               sizeof(limit)))
		abort();
	for (int i = 0; i < rounds; i++)
		wait_once(ends);
	printf("eintr %d\n", interrupted);
}

/* ---- one thread a kind ---- */

static int pair[2], nobody[2], listener;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static pthread_t sleeper;

static void wait_for_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void wait_for_condition(void)
{
	pthread_mutex_lock(&other);
	pthread_cond_wait(&never, &other);
	pthread_mutex_unlock(&other);
}

static void wait_for_sleep(void)
{
	nap(600000);
}

static void wait_for_network(void)
{
	char byte;

	recv(pair[0], &byte, 1, 0);
}

static void wait_for_pipe(void)
{
	get_byte(nobody[0]);
}

static void wait_for_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		name_thread("signal");
		pause();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void wait_for_thread(void)
{
	pthread_join(sleeper, NULL);
}

static void wait_for_poll(void)
{
	struct pollfd two[2] = { { .fd = pair[0], .events = POLLIN },
		                 { .fd = nobody[0], .events = POLLIN } };

	poll(two, 2, -1);
}

static void wait_for_poll_of_one(void)
{
	struct pollfd one = { .fd = nobody[0], .events = POLLIN };

	poll(&one, 1, -1);
}

static void wait_for_idle(void)
{
	accept(listener, NULL, NULL);
}

static const struct {
	const char *name;
	void (*wait)(void);
} kinds[] = {
	{ "sleep", wait_for_sleep }, /* first: others wait for it */
	{ "lock", wait_for_lock },
	{ "condition", wait_for_condition },
	{ "network", wait_for_network },
	{ "pipe", wait_for_pipe },
	{ "child", wait_for_child },
	{ "child", wait_for_thread },
	{ "poll", wait_for_poll },
	{ "pipe", wait_for_poll_of_one },
	{ "idle", wait_for_idle },
};

static void *wait_for_kind(void *number)
{
	size_t i = *(const size_t *)number;

	name_thread(kinds[i].name);
	kinds[i].wait();
	return NULL;
}

static void wait_for_all_kinds(int ms)
{
	static size_t numbers[sizeof(kinds) / sizeof(kinds[0])];
	pthread_t thread;

	signal(SIGTERM, SIG_DFL);
	setpgid(0, 0);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(nobody) ||
	    listen(listener, 1))
		abort();
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		numbers[i] = i;
		pthread_create(i ? &thread : &sleeper, NULL, wait_for_kind,
		               &numbers[i]);
	}
	nap(ms);
	kill(0, SIGTERM); /* the child's, too */
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "known") == 0)
		wait_in_known_ways(count);
	else if (strcmp(what, "threads") == 0)
		make_threads(count);
	else if (strcmp(what, "processes") == 0)
		make_processes(count);
	else if (strcmp(what, "calls") == 0)
		wait_in_all_ways(count);
	else if (strcmp(what, "kinds") == 0)
		wait_for_all_kinds(count);
	else
		return 2;
	return 0;
}
