/* SPDX-License-Identifier: MIT */
/*
 * What it costs to create threads while sampling: 1,000 that live at the same
 * time and 1,000 one after the other, in CPU time, beside the same without a
 * session, and beside what the kernel alone takes for events that nobody
 * reads; and the descriptors and rings that sampling takes.
 *
 * usage: threads [rounds [backend]]
 */
#include "config.h"

#include "bench/spent.h"

#include <portprof.h>

#include <dirent.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static portprof_session *begin(const char *backend)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session;

	portprof_config_set_backend(config, backend);
	portprof_config_set_frequency(config, 1000);
	if (portprof_session_open(config, &session) != PORTPROF_OK)
		bench_die("open");
	if (portprof_session_start(session) != PORTPROF_OK)
		bench_die("start");
	portprof_config_free(config);
	return session;
}

/* ---- the kernel alone: a clock on each CPU, inherited, read by nobody ---- */

enum { CPUS_MAX = 64 };

static size_t open_clocks(int fds[CPUS_MAX], uint64_t sample_type)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t count = 0;

	for (int cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++) {
		struct perf_event_attr attr = {
			.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_TASK_CLOCK,
			.sample_period = 1000000,
			.sample_type = PERF_SAMPLE_IDENTIFIER |
			               PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			               PERF_SAMPLE_TIME | sample_type,
			.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			               PERF_FORMAT_ID,
			.inherit = 1, .exclude_hv = 1, .exclude_guest = 1,
		};
		long fd = syscall(SYS_perf_event_open, &attr, 0, cpu, -1,
		                  PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			fds[count++] = (int)fd;
	}
	return count;
}

/* What the kernel knows of what a session asks for. */
static void time_kernel(double ns[2])
{
	int fds[CPUS_MAX];
	size_t count = open_clocks(fds, PERF_SAMPLE_READ);
	struct seen unused;

	if (count == 0)
		count = open_clocks(fds, 0);
	ns[0] = together(&unused);
	ns[1] = in_a_row();
	while (count > 0)
		close(fds[--count]);
}

int main(int argc, char **argv)
{
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 11;
	double bare[2][ROUNDS_MAX], with[2][ROUNDS_MAX], ratio[2][ROUNDS_MAX];
	double alone[2][ROUNDS_MAX], share[2][ROUNDS_MAX];
	static const char *const names[] = { "alive together", "in a row" };
	struct seen before, during;

	if (rounds == 0 || rounds > ROUNDS_MAX)
		rounds = ROUNDS_MAX;
	for (size_t i = 0; i < rounds; i++) {
		portprof_session *session;
		double kernel[2];

		bare[0][i] = together(&before);
		bare[1][i] = in_a_row();
		time_kernel(kernel);
		session = begin(argc > 2 ? argv[2] : "perf");
		with[0][i] = together(&during);
		with[1][i] = in_a_row();
		portprof_session_stop(session);
		portprof_session_close(session);
		for (size_t k = 0; k < 2; k++) {
			alone[k][i] = kernel[k];
			share[k][i] = kernel[k] / bare[k][i];
			ratio[k][i] = with[k][i] / bare[k][i];
		}
	}
	for (size_t k = 0; k < 2; k++)
		printf("%d threads %-14s bare %6.2f us  kernel alone %6.2f us "
		       "(ratio %.2f)  sampled %6.2f us each (ratio %.2f)\n",
		       THREADS, names[k], bench_median(bare[k], rounds) / 1e3,
		       bench_median(alone[k], rounds) / 1e3,
		       bench_median(share[k], rounds),
		       bench_median(with[k], rounds) / 1e3,
		       bench_median(ratio[k], rounds));
	printf("with %d threads alive: %zu descriptors, %ld KiB of rings, "
	       "%ld kernel events more\n", THREADS,
	       during.descriptors - before.descriptors,
	       during.ring_kib - before.ring_kib,
	       during.events - before.events);
	return 0;
}
