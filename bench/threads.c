/* SPDX-License-Identifier: MIT */
/*
 * What it costs to create threads while sampling: 1,000 that live at the same
 * time and 1,000 one after the other, in CPU time, beside the same without a
 * session; and the descriptors and rings that sampling takes.
 *
 * usage: threads [rounds]
 */
#include "config.h"

#include "bench/spent.h"

#include <portprof.h>

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 1000, ROUNDS_MAX = 99 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_at_gate(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return NULL;
}

static void *do_nothing(void *unused)
{
	return unused;
}

static void create(pthread_t *thread, void *(*run)(void *))
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	if (pthread_create(thread, &attr, run, NULL) != 0) {
		perror("pthread_create");
		exit(1);
	}
	pthread_attr_destroy(&attr);
}

static size_t open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* KiB of this process's mappings of kernel rings. */
static long ring_kib(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long start, end, bytes = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "[perf_event]") &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2)
			bytes += end - start;
	if (file)
		fclose(file);
	return (long)(bytes / 1024);
}

/* Objects of the kernel's perf_event slab in use; -1 when it does not tell. */
static long kernel_events(void)
{
	FILE *file = fopen("/proc/slabinfo", "r");
	char line[256];
	long count = -1;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "perf_event %ld", &count);
	if (file)
		fclose(file);
	return count;
}

struct seen {
	size_t descriptors;
	long ring_kib, events;
};

/* CPU ns for each thread. */
static double together(struct seen *seen)
{
	static pthread_t threads[THREADS];
	uint64_t before = bench_own_ns();

	pthread_mutex_lock(&gate);
	for (size_t i = 0; i < THREADS; i++)
		create(&threads[i], wait_at_gate);
	seen->descriptors = open_descriptors();
	seen->ring_kib = ring_kib();
	seen->events = kernel_events();
	pthread_mutex_unlock(&gate);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return (double)(bench_own_ns() - before) / THREADS;
}

static double in_a_row(void)
{
	uint64_t before = bench_own_ns();
	pthread_t thread;

	for (size_t i = 0; i < THREADS; i++) {
		create(&thread, do_nothing);
		pthread_join(thread, NULL);
	}
	return (double)(bench_own_ns() - before) / THREADS;
}

static portprof_session *begin(void)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session;

	portprof_config_set_backend(config, "perf");
	portprof_config_set_frequency(config, 1000);
	if (portprof_session_open(config, &session) != PORTPROF_OK)
		bench_die("open");
	if (portprof_session_start(session) != PORTPROF_OK)
		bench_die("start");
	portprof_config_free(config);
	return session;
}

int main(int argc, char **argv)
{
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 11;
	double bare[2][ROUNDS_MAX], with[2][ROUNDS_MAX], ratio[2][ROUNDS_MAX];
	static const char *const names[] = { "alive together", "in a row" };
	struct seen before, during;

	if (rounds == 0 || rounds > ROUNDS_MAX)
		rounds = ROUNDS_MAX;
	for (size_t i = 0; i < rounds; i++) {
		portprof_session *session;

		bare[0][i] = together(&before);
		bare[1][i] = in_a_row();
		session = begin();
		with[0][i] = together(&during);
		with[1][i] = in_a_row();
		portprof_session_stop(session);
		portprof_session_close(session);
		for (size_t k = 0; k < 2; k++)
			ratio[k][i] = with[k][i] / bare[k][i];
	}
	for (size_t k = 0; k < 2; k++)
		printf("%d threads %-14s bare %6.2f us  sampled %6.2f us "
		       "each (ratio %.2f)\n", THREADS, names[k],
		       bench_median(bare[k], rounds) / 1e3,
		       bench_median(with[k], rounds) / 1e3,
		       bench_median(ratio[k], rounds));
	printf("with %d threads alive: %zu descriptors, %ld KiB of rings, "
	       "%ld kernel events more\n", THREADS,
	       during.descriptors - before.descriptors,
	       during.ring_kib - before.ring_kib,
	       during.events - before.events);
	return 0;
}
