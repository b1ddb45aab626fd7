/* SPDX-License-Identifier: MIT */
/*
 * Waits in known ways, and prints for how long.
 *
 * usage: waits known ROUNDS [THREADS]
 *                              "worker1" and so on sleep, wait for a lock that
 *                              "writer1" has in flush_log, read an empty pipe and
 *                              compute: 30, 20, 25 and 25 parts in a hundred of
 *                              their time, where they get a CPU at once. Prints
 *                              "worker1 sleep S", lock, pipe, running, ready and
 *                              all, as the kernel has charged them
 *        waits threads COUNT   so many threads, one after another; prints "inside S"
 *                              and "outside S", between which their lives are
 *        waits processes COUNT so many children
 *        waits calls ROUNDS    waits in twelve kinds of calls; prints "eintr N"
 *        waits kinds MS        a thread for each kind, which is its name
 *        waits peers COUNT MS  so many connections to one server, for the data of each
 *                              a thread waits; prints "port P" of the server
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
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

/* ---- known shares ---- */

enum phase { SLEEPS, LOCKS, READS, SPINS, PHASES };

/* One that waits, and the one that it waits for. */
struct worker {
	int number, rounds;
	pthread_mutex_t lock;
	int order[2], answer[2];
	int sums; /* its schedstat */
	double blocked[PHASES], running, ready, all;
	pthread_t thread, writer;
};

/* What the kernel has charged a thread. */
struct charged {
	double now, running, ready;
};

/* All at one moment, unless the CPU is taken between. The clock first: by it the
 * kernel charges what runs. */
static struct charged read_sums(const struct worker *worker)
{
	unsigned long long running = 0, ready = 0;
	struct timespec cpu;
	struct charged sums;
	char text[96];
	ssize_t got;

	for (int tries = 0; tries < 20; tries++) {
		sums.now = seconds();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
		got = pread(worker->sums, text, sizeof(text) - 1, 0);
		if (got <= 0)
			abort();
		text[got] = '\0';
		if (seconds() < sums.now + 0.00005)
			break;
	}
	if (sscanf(text, "%llu %llu", &running, &ready) != 2)
		abort();
	sums.running = (double)running / 1e9;
	sums.ready = (double)ready / 1e9;
	return sums;
}

/* Has the lock while the worker waits for it. */
NOINLINE static void flush_log(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	send_byte(worker->answer[1]);
	nap(80);
	pthread_mutex_unlock(&worker->lock);
}

static void *write_log(void *own)
{
	struct worker *worker = own;
	char name[16], what;

	snprintf(name, sizeof(name), "writer%d", worker->number);
	name_thread(name);
	while (read(worker->order[0], &what, 1) == 1 && what != 'e') {
		if (what == 'l') {
			flush_log(worker);
		} else {
			nap(100);
			send_byte(worker->answer[1]);
		}
	}
	return NULL;
}

static void ask_for(const struct worker *worker, char what)
{
	if (write(worker->order[1], &what, 1) != 1)
		abort();
}

NOINLINE static void wait_sleep(void)
{
	nap(120);
}

NOINLINE static void wait_lock(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	pthread_mutex_unlock(&worker->lock);
}

NOINLINE static void wait_pipe(int fd)
{
	if (!get_byte(fd))
		abort();
}

/* A tenth of a second of CPU time, however long that takes. */
NOINLINE static void compute(void)
{
	struct timespec begun, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
	do {
		for (int i = 0; i < 1000; i++)
			computed += (unsigned long)i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec -
	                 begun.tv_nsec < 100000000);
}

/* What it was blocked since `from` is what it neither ran nor was ready. */
static void charge(struct worker *worker, enum phase phase,
                   struct charged *from)
{
	struct charged to = read_sums(worker);

	worker->blocked[phase] += to.now - from->now -
	                          (to.running - from->running) -
	                          (to.ready - from->ready);
	*from = to;
}

static void *wait_in_known_ways(void *own)
{
	struct worker *worker = own;
	struct charged begun, from;
	char name[16];

	snprintf(name, sizeof(name), "worker%d", worker->number);
	name_thread(name);
	worker->sums = open("/proc/thread-self/schedstat", O_RDONLY);
	begun = from = read_sums(worker);
	for (int i = 0; i < worker->rounds; i++) {
		wait_sleep();
		charge(worker, SLEEPS, &from);
		ask_for(worker, 'l');
		wait_pipe(worker->answer[0]); /* until it has the lock */
		charge(worker, READS, &from);
		wait_lock(worker);
		charge(worker, LOCKS, &from);
		ask_for(worker, 'p');
		wait_pipe(worker->answer[0]);
		charge(worker, READS, &from);
		compute();
		charge(worker, SPINS, &from);
	}
	/* since it was created: until it had a CPU it was ready */
	worker->all = from.now - begun.now + begun.running + begun.ready;
	worker->running = from.running;
	worker->ready = from.ready;
	ask_for(worker, 'e');
	return NULL;
}

static void wait_in_threads(int rounds, int count)
{
	struct worker *workers = calloc((size_t)count, sizeof(*workers));

	for (int i = 0; workers && i < count; i++) {
		struct worker *worker = &workers[i];

		worker->number = i + 1;
		worker->rounds = rounds;
		pthread_mutex_init(&worker->lock, NULL);
		if (pipe(worker->order) || pipe(worker->answer) ||
		    pthread_create(&worker->writer, NULL, write_log, worker) ||
		    pthread_create(&worker->thread, NULL, wait_in_known_ways,
		                   worker))
			abort();
	}
	for (int i = 0; workers && i < count; i++) {
		const struct worker *worker = &workers[i];

		pthread_join(worker->thread, NULL);
		pthread_join(worker->writer, NULL);
		printf("worker%d all %.6f\n", worker->number, worker->all);
		printf("worker%d sleep %.6f\n", worker->number,
		       worker->blocked[SLEEPS]);
		printf("worker%d lock %.6f\n", worker->number,
		       worker->blocked[LOCKS]);
		printf("worker%d pipe %.6f\n", worker->number,
		       worker->blocked[READS]);
		printf("worker%d running %.6f\n", worker->number,
		       worker->running);
		printf("worker%d ready %.6f\n", worker->number,
		       worker->ready);
	}
	free(workers);
}

/* ---- short lives ---- */

static void *live_shortly(void *seconds_of_it)
{
	double begun = seconds();

	nap(1);
	*(double *)seconds_of_it = seconds() - begun;
	return NULL;
}

/* All lives together are at least what each saw of its own and this one of all, and
 * at most what this one saw of each and all that it is. */
static void print_lives(double inside, double outside)
{
	printf("inside %.6f\noutside %.6f\n", inside, outside);
}

static void make_threads(int count)
{
	double first = seconds(), inside = 0, outside = 0;
	pthread_t thread;

	for (int i = 0; i < count; i++) {
		double begun = seconds(), own = 0;

		if (pthread_create(&thread, NULL, live_shortly, &own) == 0)
			pthread_join(thread, NULL);
		inside += own;
		outside += seconds() - begun;
	}
	print_lives(seconds() - first + inside, outside);
}

static void make_processes(int count)
{
	double first = seconds(), outside = 0;

	for (int i = 0; i < count; i++) {
		double begun = seconds();
		pid_t child = fork();

		if (child == 0) {
			nap(1);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		outside += seconds() - begun;
	}
	print_lives(seconds() - first + count * 0.001, outside);
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

static int pair[2], nobody[2], nobody_else[2], listener;
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
#ifdef __linux__
		prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
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
	struct pollfd two[2] = { { .fd = nobody[0], .events = POLLIN },
		                 { .events = POLLIN } };

	two[1].fd = socket(AF_INET, SOCK_DGRAM, 0);

	poll(two, 2, -1);
}

static void wait_for_poll_of_one(void)
{
	struct pollfd one = { .fd = nobody[0], .events = POLLIN };

	poll(&one, 1, -1);
}

static void wait_for_poll_of_alike(void)
{
	struct pollfd two[2] = { { .fd = nobody[0], .events = POLLIN },
		                 { .fd = nobody_else[0], .events = POLLIN } };

	poll(two, 2, -1);
}

static void wait_for_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(nobody[0], &set);
	select(nobody[0] + 1, &set, NULL, NULL, NULL);
}

/* A pipe with a name. */
static void wait_for_named(void)
{
	struct pollfd one = { .events = POLLIN };
	char name[48];

	snprintf(name, sizeof(name), "waits.%ld", (long)getpid());
	one.fd = mkfifo(name, 0600) ? nobody[0] : open(name, O_RDWR);
	unlink(name);
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
	{ "pipe", wait_for_poll_of_alike },
	{ "pipe", wait_for_select },
	{ "pipe", wait_for_named },
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
	    pipe(nobody_else) || listen(listener, 1))
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

/* ---- peers ---- */

static void *wait_for_data(void *fd)
{
	char byte;

	name_thread("peer");
	return read(*(const int *)fd, &byte, 1) == 1 ? fd : NULL;
}

static void wait_for_peers(size_t count, int ms)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(at);
	int *fds = calloc(count, sizeof(*fds));
	pthread_t thread;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (!fds || bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(listener, 8) ||
	    getsockname(listener, (struct sockaddr *)&at, &bytes))
		abort();
	printf("port %u\n", ntohs(at.sin_port));
	for (size_t i = 0; i < count; i++) {
		/* these begin when the lists of the others were just read */
		if (i == count / 2)
			nap(100);
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fds[i], (struct sockaddr *)&at, sizeof(at)) ||
		    accept(listener, NULL, NULL) < 0 ||
		    pthread_create(&thread, NULL, wait_for_data, &fds[i]) != 0)
			abort();
	}
	nap(ms);
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "known") == 0)
		wait_in_threads(count, argc > 3 ? atoi(argv[3]) : 1);
	else if (strcmp(what, "threads") == 0)
		make_threads(count);
	else if (strcmp(what, "processes") == 0)
		make_processes(count);
	else if (strcmp(what, "calls") == 0)
		wait_in_all_ways(count);
	else if (strcmp(what, "kinds") == 0)
		wait_for_all_kinds(count);
	else if (strcmp(what, "peers") == 0 && argc > 3)
		wait_for_peers((size_t)count, atoi(argv[3]));
	else
		return 2;
	return 0;
}
