/* SPDX-License-Identifier: MIT */
/*
 * What portprof itself adds to a sample: the CPU time of its helper thread, by
 * that thread's clock, which no noise of interrupts blurs. Beside it what
 * opening, starting and stopping a session with a file cost once.
 *
 * usage: own [seconds of work]
 */
#include "config.h"

#include "bench/spent.h"

#include <portprof.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static double ms_since(uint64_t before)
{
	return (double)(bench_own_ns() - before) / 1e6;
}

static void measure(unsigned hz, unsigned seconds, const char *path)
{
	portprof_config *config = portprof_config_new();
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_session *session;
	uint64_t turns = bench_turns_for(1000) * seconds, before;
	double open_ms, start_ms, stop_ms;
	volatile uint64_t sink;

	if (!config || portprof_config_set_frequency(config, hz) ||
	    portprof_config_write_to(config, path))
		bench_die("configure");
	before = bench_own_ns();
	if (portprof_session_open(config, &session))
		bench_die("open");
	open_ms = ms_since(before);
	before = bench_own_ns();
	if (portprof_session_start(session))
		bench_die("start");
	start_ms = ms_since(before);
	sink = bench_work(turns);
	(void)sink;
	if (portprof_session_stats(session, 0, &stats))
		bench_die("ask");
	before = bench_own_ns();
	if (portprof_session_stop(session))
		bench_die("stop");
	stop_ms = ms_since(before);
	printf("%5u Hz  %6llu samples  helper %6.2f ms, %5.2f us a sample  "
	       "open %.2f ms  start %.2f ms  stop %.2f ms\n", hz,
	       (unsigned long long)stats.delivered_samples,
	       (double)stats.own_cost_ns / 1e6,
	       (double)stats.own_cost_ns / 1e3 /
	               (double)(stats.delivered_samples + 1),
	       open_ms, start_ms, stop_ms);
	portprof_session_close(session);
	portprof_config_free(config);
	unlink(path); /* or it is kept as .old by the next */
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	char path[] = "/tmp/portprof-own.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || seconds == 0)
		return 1;
	close(fd);
	unlink(path); /* only the name is wanted */
	measure(100, seconds, path);
	measure(1000, seconds, path);
	measure(4000, seconds, path);
	measure(10000, seconds, path);
	return 0;
}
