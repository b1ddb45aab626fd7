/* SPDX-License-Identifier: MIT */
/*
 * What a sample costs: CPU time that a fixed work uses more when it is
 * sampled, helper thread included, for each sample. Beside it an event that
 * is enabled and that nobody reads, and `perf record` at the same rate. All
 * of one round run one after the other; medians of the rounds' differences.
 *
 * usage: drain [rounds [ms of work]]
 */
#include "config.h"

#include "bench/spent.h"

#include <portprof.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS_MAX = 99, RATE_LOW = 1 };

static uint64_t turns;

/* ---- each returns the CPU time of the work in ns ---- */

static uint64_t run_bare(void)
{
	uint64_t before = bench_own_ns();
	volatile uint64_t sink = bench_work(turns);

	(void)sink;
	return bench_own_ns() - before;
}

/* As the library's own event is, in a ring large enough for all. */
static int open_unread(unsigned hz)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = 1000000000u / hz;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
	                   PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	                   PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	attr.disabled = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = 1u << 30;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static uint64_t run_unread(unsigned hz, uint64_t *samples)
{
	const size_t bytes = (1 + 256) * 4096;
	struct perf_event_mmap_page *page;
	int fd = open_unread(hz);
	uint64_t used;

	page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || page == MAP_FAILED) {
		perror("perf_event_open");
		exit(1);
	}
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	used = run_bare();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	*samples = page->data_head / (8 * 7);
	munmap(page, bytes);
	close(fd);
	return used;
}

static uint64_t run_portprof(unsigned hz, uint64_t *samples)
{
	static uint64_t bins[4096];
	portprof_range range = { .offset = (uintptr_t)bench_work & ~0xfffull,
		                   .scale = 65536, .bin_bits = 64,
		                   .bins = bins, .bin_count = 4096 };
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_config *config = portprof_config_new();
	portprof_session *session;
	uint64_t before, used;

	portprof_config_set_backend(config, "perf");
	portprof_config_set_frequency(config, hz);
	portprof_config_add_histogram(config, 0, &range, 1,
	                              PORTPROF_BINS_TICKS);
	if (portprof_session_open(config, &session) != PORTPROF_OK)
		bench_die("open");
	before = bench_own_ns();
	if (portprof_session_start(session) != PORTPROF_OK)
		bench_die("start");
	run_bare();
	portprof_session_stop(session);
	used = bench_own_ns() - before;
	portprof_session_stats(session, 0, &stats);
	*samples = stats.delivered_samples;
	portprof_session_close(session);
	portprof_config_free(config);
	return used;
}

/* perf, its writing and the work together. */
static uint64_t run_perf(const char *self, unsigned hz)
{
	char rate[16], work[24];
	uint64_t before = bench_children_ns();
	pid_t pid;
	int status;

	snprintf(rate, sizeof(rate), "%u", hz);
	snprintf(work, sizeof(work), "%llu", (unsigned long long)turns);
	pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		execlp("perf", "perf", "record", "-q", "-N", "-B", "-e",
		       "task-clock", "-F", rate, "-o", "/dev/null", "--",
		       self, "--work", work, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status == 0 ? bench_children_ns() - before : 0;
}

/* ---- rounds ---- */

static void measure(const char *self, unsigned hz, size_t rounds)
{
	double unread[ROUNDS_MAX], ours[ROUNDS_MAX], ratio[ROUNDS_MAX];
	double low[ROUNDS_MAX], high[ROUNDS_MAX];
	uint64_t samples = 0;

	for (size_t i = 0; i < rounds; i++) {
		double bare = (double)run_bare();
		double used = (double)run_unread(hz, &samples);

		unread[i] = (used - bare) / (double)samples;
		used = (double)run_portprof(hz, &samples);
		ours[i] = (used - bare) / (double)samples;
		ratio[i] = ours[i] / unread[i];
		low[i] = (double)run_perf(self, RATE_LOW);
		high[i] = (double)run_perf(self, hz);
	}
	printf("%6u Hz %7llu samples  unread %6.2f us  portprof %6.2f us "
	       "(ratio %.2f)", hz, (unsigned long long)samples,
	       bench_median(unread, rounds) / 1e3,
	       bench_median(ours, rounds) / 1e3,
	       bench_median(ratio, rounds));
	/* Its start is in both; the samples are not told, but it is the same
	 * work at the same rate. */
	if (bench_median(low, rounds) > 0)
		printf("  perf record %6.2f us",
		       (bench_median(high, rounds) - bench_median(low, rounds)) /
		       (double)samples / 1e3);
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const unsigned rates[] = { 1000, 4000, 10000 };
	char self[4096] = "";
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 11;
	unsigned ms = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 300;

	bench_pin();
	if (argc > 2 && strcmp(argv[1], "--work") == 0) {
		turns = strtoull(argv[2], NULL, 10);
		run_bare();
		return 0;
	}
	if (rounds == 0 || rounds > ROUNDS_MAX)
		rounds = ROUNDS_MAX;
	/* /proc/self would be perf's, when it looks. */
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	turns = bench_turns_for(ms);
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		measure(self, rates[i], rounds);
	return 0;
}
