/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait in sets of labels; each set has functions of its own, so that the chain
 * of a wait proves its label.
 *   label_wait [-c CHANGES] [-s FILE] THREADS MILLISECONDS SHORT_US LONG_MS [COMMAND ...]
 * Each thread sleeps, waits for an empty pipe and waits for a condition, in turn, most of the
 * times as long as SHORT_US, every eighth time LONG_MS; between, it runs a little, and changes
 * sets so many times, about every microsecond, each time to one with work of its own. Prints, for
 * each phase, the seconds of its long waits: "phase alpha 1.234". Then it executes a command, in
 * a set whose label is "executed". With -s it measures itself, as that file says.
 * With BY_HAND the labels are those of a tracing library, and with NO_LIBRARY nothing of
 * portprof is in the program.
 */
#ifdef BY_HAND
#include "../fixtures/otel_hand.h"
#endif
#ifndef NO_LIBRARY
#include <portprof.h>
#endif

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

static uint64_t short_ns, long_ns, until_ns;
static unsigned changes;
static volatile unsigned long computed;
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static double long_s[PHASES];

/* ---- sets ---- */

#ifdef BY_HAND
__attribute__((visibility("default"))) _Thread_local const void *volatile otel_thread_ctx_v1;
static _Alignas(8) unsigned char records[PHASES + 1][640];
typedef const void *set_in;

static bool make_sets(void)
{
	otel_publish_process("phase", "tenant");
	for (unsigned i = 0; i + 1 < PHASES; i++)
		otel_make_record(records[i], names[i]);
	otel_make_record(records[PHASES], "executed");
	return true;
}

static set_in enter(unsigned phase)
{
	const void *before = otel_thread_ctx_v1;

	otel_thread_ctx_v1 = phase == PHASES - 1 ? NULL : records[phase];
	return before;
}

static void leave(const set_in *before)
{
	otel_thread_ctx_v1 = *before;
}
#else
static const portprof_label_set *sets[PHASES + 1];
typedef const portprof_label_set *set_in;

static bool make_sets(void)
{
	portprof_label label = { "phase", "executed" };

	sets[PHASES] = portprof_label_set_new(&label, 1);
	for (unsigned i = 0; i + 1 < PHASES; i++) {
		label.value = names[i];
		sets[i] = portprof_label_set_new(&label, 1);
		if (!sets[i])
			return false;
	}
	return sets[PHASES];
}

static set_in enter(unsigned phase)
{
	return portprof_label_enter(sets[phase]);
}

static void leave(const set_in *before)
{
	portprof_label_leave(*before);
}
#endif

#define SCOPE(phase) \
	const set_in before __attribute__((cleanup(leave), unused)) = enter(phase)

/* ---- waits and work ---- */

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

#define BURNS(name, factor)                                              \
	NOINLINE void name(void);                                        \
	NOINLINE void name(void)                                         \
	{                                                                \
		for (unsigned i = 0; i < 300 + factor; i++)              \
			computed += i * factor;                          \
	}

BURNS(burn_alpha, 3)
BURNS(burn_beta, 5)
BURNS(burn_gamma, 7)
BURNS(burn_none, 11)

/* Its high bits: the low ones repeat soon. */
static unsigned roll(struct worker *worker)
{
	worker->seed = worker->seed * 1664525u + 1013904223u;
	return worker->seed >> 12;
}

static void change(struct worker *worker)
{
	static void (*const burns[PHASES])(void) = { burn_alpha, burn_beta,
		                                     burn_gamma, burn_none };

	for (unsigned i = 0; i < changes; i++) {
		unsigned phase = roll(worker) % PHASES;
		SCOPE(phase);

		burns[phase]();
	}
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
	SCOPE(phase);

	waits[phase](worker, dice / LONG_ONE_OF % KINDS,
	             is_long ? long_ns : short_ns);
	if (is_long)
		worker->long_s[phase] +=
			(double)(now_ns(CLOCK_MONOTONIC) - began) / 1e9;
}

static void *work(void *context)
{
	struct worker *worker = context;

	while (now_ns(CLOCK_MONOTONIC) < until_ns) {
		wait_for(worker, roll(worker) % PHASES);
		change(worker);
	}
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
	enter(PHASES);
	execvp(command[0], command);
	return 1;
}

#ifndef NO_LIBRARY
static portprof_session *measure(const char *path)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session = NULL;

	if (portprof_config_load(config, path, NULL) != PORTPROF_OK ||
	    portprof_session_open(config, &session) != PORTPROF_OK ||
	    portprof_session_start(session) != PORTPROF_OK) {
		fprintf(stderr, "%s\n", portprof_last_diag()->words);
		exit(125);
	}
	portprof_config_free(config);
	return session;
}
#endif

static void work_all(unsigned count)
{
	static struct worker workers[64];

	for (unsigned i = 0; i < count; i++)
		begin(&workers[i], i + 1);
	for (unsigned i = 1; i < count; i++)
		if (pthread_create(&workers[i].id, NULL, work, &workers[i]))
			exit(1);
	work(&workers[0]);
	for (unsigned i = 1; i < count; i++)
		pthread_join(workers[i].id, NULL);
}

int main(int argc, char **argv)
{
	const char *configuration = NULL;
	unsigned count;
	int option;

	while ((option = getopt(argc, argv, "+c:s:")) != -1)
		if (option == 'c')
			changes = (unsigned)atoi(optarg);
		else
			configuration = optarg;
	argv += optind;
	argc -= optind;
	if (argc < 4 || (count = (unsigned)atoi(argv[0])) < 1 || count > 64)
		return 2;
	if (!make_sets())
		return 1;
	short_ns = (uint64_t)atoi(argv[2]) * 1000u;
	long_ns = (uint64_t)atoi(argv[3]) * 1000000u;
#ifdef NO_LIBRARY
	(void)configuration;
#else
	portprof_session *session = configuration ? measure(configuration) : NULL;
#endif
	until_ns = now_ns(CLOCK_MONOTONIC) + (uint64_t)atoi(argv[1]) * 1000000u;
	work_all(count);
#ifndef NO_LIBRARY
	if (session)
		portprof_session_close(session);
#endif
	for (unsigned i = 0; i < PHASES; i++)
		printf("phase %s %.3f\n", names[i], long_s[i]);
	fflush(stdout);
	return argc > 4 ? execute(argv + 4) : 0;
}
