/* SPDX-License-Identifier: MIT */
/*
 * Programs that switch threads all the time, each for so many seconds:
 *
 *	switches pipe|socket|futex|mutex|pool|mmap|threads|forks|processes SECONDS
 *	         [THREADS]
 *
 * Prints how many rounds it made. mutex, pool and mmap have so many threads, 4
 * without a number. A partner works a little between, so that there
 * is something to sample.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds;
static atomic_bool is_over;

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void work(unsigned turns)
{
	volatile unsigned sum = 0;

	for (unsigned i = 0; i < turns; i++)
		sum += i;
}

enum { A_LITTLE = 3000 };

/* ---- two processes and a byte ---- */

static void answer(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1) {
		work(A_LITTLE);
		if (write(out, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static long bounce(int to[2], int from[2])
{
	double end = now() + seconds;
	pid_t child = fork();
	long rounds = 0;
	char byte = 0;

	if (child == 0) {
		close(to[1]);
		answer(to[0], from[1]);
	}
	for (; child > 0 && now() < end; rounds++) {
		if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
			break;
		work(A_LITTLE);
	}
	close(to[1]);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return rounds;
}

static long by_pipe(void)
{
	int to[2], from[2];

	return pipe(to) || pipe(from) ? -1 : bounce(to, from);
}

static long by_socket(void)
{
	int ends[2], back[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
	       socketpair(AF_UNIX, SOCK_STREAM, 0, back)
		? -1 : bounce(ends, back);
}

/* ---- two threads and a word ---- */

static _Atomic int turn;

static void pass(int mine, int other)
{
	int seen;

	while ((seen = atomic_load(&turn)) != mine && !atomic_load(&is_over))
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL,
		        0);
	work(A_LITTLE);
	atomic_store(&turn, other);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *pass_back(void *unused)
{
	while (!atomic_load(&is_over))
		pass(1, 0);
	return unused;
}

static long by_futex(void)
{
	double end = now() + seconds;
	pthread_t partner;
	long rounds = 0;

	if (pthread_create(&partner, NULL, pass_back, NULL))
		return -1;
	for (; now() < end; rounds++)
		pass(0, 1);
	atomic_store(&is_over, true);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_join(partner, NULL);
	return rounds;
}

/* ---- several threads ---- */

enum { THREADS_MAX = 256 };
static int thread_count = 4;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER;
static long done, waiting;

static void *contend(void *unused)
{
	while (!atomic_load(&is_over)) {
		pthread_mutex_lock(&lock);
		work(A_LITTLE);
		done++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void *serve(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!atomic_load(&is_over)) {
		if (waiting == 0) {
			pthread_cond_wait(&has_work, &lock);
			continue;
		}
		waiting--;
		pthread_mutex_unlock(&lock);
		work(A_LITTLE);
		pthread_mutex_lock(&lock);
		done++;
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *map_and_unmap(void *unused)
{
	const size_t bytes = 64 << 10;

	while (!atomic_load(&is_over)) {
		char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED)
			break;
		memset(at, 1, bytes);
		munmap(at, bytes);
		__atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
	}
	return unused;
}

static void feed(double end)
{
	while (now() < end) {
		pthread_mutex_lock(&lock);
		waiting += waiting < thread_count;
		pthread_cond_signal(&has_work);
		pthread_mutex_unlock(&lock);
		work(A_LITTLE);
	}
}

static long by_threads_of(void *(*run)(void *))
{
	double end = now() + seconds;
	pthread_t threads[THREADS_MAX];

	for (int i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return -1;
	if (run == serve)
		feed(end);
	while (now() < end)
		usleep(1000);
	atomic_store(&is_over, true);
	pthread_cond_broadcast(&has_work);
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	return done;
}

static long by_mutex(void)
{
	return by_threads_of(contend);
}

static long by_pool(void)
{
	return by_threads_of(serve);
}

static long by_mmap(void)
{
	return by_threads_of(map_and_unmap);
}

/* ---- threads and processes that live for moments ---- */

static void *live(void *unused)
{
	work(A_LITTLE);
	return unused;
}

static long by_threads(void)
{
	double end = now() + seconds;
	pthread_t thread;
	long rounds = 0;

	for (; now() < end; rounds++) {
		if (pthread_create(&thread, NULL, live, NULL))
			return -1;
		pthread_join(thread, NULL);
	}
	return rounds;
}

static long by_children(const char *program)
{
	double end = now() + seconds;
	long rounds = 0;

	for (; now() < end; rounds++) {
		pid_t child = fork();

		if (child == 0) {
			work(A_LITTLE);
			if (program)
				execl(program, program, (char *)NULL);
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return -1;
	}
	return rounds;
}

static long by_forks(void)
{
	return by_children(NULL);
}

static long by_processes(void)
{
	return by_children("/bin/true");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		long (*run)(void);
	} ways[] = {
		{ "pipe", by_pipe }, { "socket", by_socket },
		{ "futex", by_futex }, { "mutex", by_mutex },
		{ "pool", by_pool }, { "mmap", by_mmap },
		{ "threads", by_threads }, { "forks", by_forks },
		{ "processes", by_processes },
	};

	if (argc == 4)
		thread_count = atoi(argv[3]);
	if (argc < 3 || argc > 4 || thread_count < 1 ||
	    thread_count > THREADS_MAX) {
		fputs("usage: switches WAY SECONDS [THREADS]\n", stderr);
		return 2;
	}
	seconds = atof(argv[2]);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0) {
			printf("%ld rounds\n", ways[i].run());
			return 0;
		}
	fprintf(stderr, "switches: no way '%s'\n", argv[1]);
	return 2;
}
