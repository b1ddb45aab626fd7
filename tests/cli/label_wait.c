/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait in sets of labels; each set has functions of its own, so that the chain
 * of a wait proves its label.
 *   label_wait THREADS MILLISECONDS SHORT_US LONG_MS [COMMAND ...]
 * Each thread sleeps, waits for an empty pipe and waits for a condition, in turn, most of the
 * times as long as SHORT_US, every eighth time LONG_MS; it runs a little between. Prints, for
 * each phase, the seconds of its long waits: "phase alpha 1.234". Then it executes a command, in
 * a set whose label is "executed".
 */
#include <portprof.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum { PHASES = 4, KINDS = 3, LONG_ONE_OF = 8 };
static const char *const names[PHASES] = { "alpha", "beta", "gamma", "(none)" };

static const portprof_label_set *sets[PHASES];
static uint64_t short_ns, long_ns, until_ns;
static volatile unsigned long computed;
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static double long_s[PHASES];

struct worker {
	pthread_t id;
	unsigned seed;
	int pipe[2];
	pthread_mutex_t lock;
	pthread_cond_t never;
	double long_s[PHASES];
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000u),
		                  (long)(ns % 1000000000u) };
}

static void wait_in(struct worker *worker, unsigned kind, uint64_t ns)
{
	struct timespec time = time_of(ns);
	fd_set in;

	switch (kind) {
	case 0:
		nanosleep(&time, NULL);
		break;
	case 1:
		FD_ZERO(&in);
		FD_SET(worker->pipe[0], &in);
		pselect(worker->pipe[0] + 1, &in, NULL, NULL, &time, NULL);
		break;
	default:
		time = time_of(now_ns(CLOCK_REALTIME) + ns);
		pthread_mutex_lock(&worker->lock);
		pthread_cond_timedwait(&worker->never, &worker->lock, &time);
		pthread_mutex_unlock(&worker->lock);
	}
}

/* No call is the last thing that they do, so that they are in every chain. */
#define WAITS(name, factor)                                              \
	NOINLINE void name(struct worker *worker, unsigned kind,         \
	                   uint64_t ns);                                 \
	NOINLINE void name(struct worker *worker, unsigned kind,         \
	                   uint64_t ns)                                  \
	{                                                                \
		wait_in(worker, kind, ns);                               \
		for (unsigned i = 0; i < 200 * factor; i++)              \
			computed += i;                                   \
	}

WAITS(wait_alpha, 1)
WAITS(wait_beta, 2)
WAITS(wait_gamma, 3)
WAITS(wait_none, 4)

/* Its high bits: the low ones repeat soon. */
static unsigned roll(struct worker *worker)
{
	worker->seed = worker->seed * 1664525u + 1013904223u;
	return worker->seed >> 12;
}

static void wait_for(struct worker *worker, unsigned phase)
{
	static void (*const waits[PHASES])(struct worker *worker, unsigned kind,
	                                   uint64_t ns) = {
		wait_alpha, wait_beta, wait_gamma, wait_none
	};
	unsigned dice = roll(worker);
	bool is_long = dice % LONG_ONE_OF == 0;
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	PORTPROF_LABEL_SCOPE(sets[phase]);

	waits[phase](worker, dice / LONG_ONE_OF % KINDS,
	             is_long ? long_ns : short_ns);
	if (is_long)
		worker->long_s[phase] +=
			(double)(now_ns(CLOCK_MONOTONIC) - began) / 1e9;
}

static void *work(void *context)
{
	struct worker *worker = context;

	while (now_ns(CLOCK_MONOTONIC) < until_ns)
		wait_for(worker, roll(worker) % PHASES);
	pthread_mutex_lock(&sum_lock);
	for (unsigned i = 0; i < PHASES; i++)
		long_s[i] += worker->long_s[i];
	pthread_mutex_unlock(&sum_lock);
	return NULL;
}

static void begin(struct worker *worker, unsigned number)
{
	worker->seed = number;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->never, NULL);
	if (pipe(worker->pipe) != 0)
		exit(1);
}

static int execute(char **command)
{
	if (portprof_label_push("phase", "executed") == PORTPROF_OK)
		execvp(command[0], command);
	return 1;
}

int main(int argc, char **argv)
{
	static struct worker workers[64];
	unsigned count;

	if (argc < 5 || (count = (unsigned)atoi(argv[1])) < 1 || count > 64)
		return 2;
	for (unsigned i = 0; i + 1 < PHASES; i++) {
		const portprof_label label = { "phase", names[i] };

		sets[i] = portprof_label_set_new(&label, 1);
		if (!sets[i])
			return 1;
	}
	short_ns = (uint64_t)atoi(argv[3]) * 1000u;
	long_ns = (uint64_t)atoi(argv[4]) * 1000000u;
	until_ns = now_ns(CLOCK_MONOTONIC) + (uint64_t)atoi(argv[2]) * 1000000u;
	for (unsigned i = 0; i < count; i++)
		begin(&workers[i], i + 1);
	for (unsigned i = 1; i < count; i++)
		if (pthread_create(&workers[i].id, NULL, work, &workers[i]))
			return 1;
	work(&workers[0]);
	for (unsigned i = 1; i < count; i++)
		pthread_join(workers[i].id, NULL);
	for (unsigned i = 0; i < PHASES; i++)
		printf("phase %s %.3f\n", names[i], long_s[i]);
	fflush(stdout);
	return argc > 5 ? execute(argv + 5) : 0;
}
