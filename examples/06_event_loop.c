/* SPDX-License-Identifier: MIT */
/*
 * A program with an event loop takes its own samples in it: the loop waits for the
 * session's descriptor beside what else it waits for, and its own thread, no other,
 * runs the callback. Here it is over poll(2).
 *
 * usage: 06_event_loop [EVENT]     such as: 06_event_loop page-faults@16
 */
#include <portprof.h>

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WAKEUP_SAMPLES = 8, MEGABYTES = 16 };

struct seen {
	uint64_t samples, weight;
	pthread_t loop;
	unsigned elsewhere; /* batches that came in another thread */
};

static int ends[2]; /* the worker says that it has ended */

static void die(const char *doing)
{
	fprintf(stderr, "06_event_loop: %s: %s\n", doing,
	        portprof_last_diag()->words);
	exit(1);
}

/* Touch fresh memory, a byte a page, and compute a while. */
static void *work(void *unused)
{
	size_t bytes = (size_t)MEGABYTES << 20;
	volatile char *memory = (volatile char *)malloc(bytes);

	(void)unused;
	for (size_t i = 0; memory && i < bytes; i += 4096)
		for (unsigned turn = 0; turn < 200000; turn++)
			memory[i] = (char)turn;
	free((void *)memory);
	if (write(ends[1], "", 1) != 1)
		exit(1);
	return NULL;
}

static void take(const portprof_batch *batch, void *context)
{
	struct seen *seen = (struct seen *)context;

	seen->elsewhere += !pthread_equal(pthread_self(), seen->loop);
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		seen->samples += record->samples;
		seen->weight += record->weight;
	}
}

/* Until the worker has ended. How often there were samples. */
static unsigned loop(portprof_session *session, int samples)
{
	struct pollfd wanted[2] = { { ends[0], POLLIN, 0 },
		                    { samples, POLLIN, 0 } };
	unsigned turns = 0;

	while (poll(wanted, 2, -1) > 0 && !wanted[0].revents) {
		if (portprof_session_flush(session))
			die("flushing");
		turns++;
	}
	return turns;
}

int main(int argc, char **argv)
{
	portprof_config *config = portprof_config_new();
	struct seen seen = { 0, 0, pthread_self(), 0 };
	portprof_session *session;
	unsigned turns;
	pthread_t worker;
	int samples;

	if (pipe(ends) != 0)
		return 1;
	if (!config ||
	    (argc > 1 && portprof_config_add_event(config, argv[1])) ||
	    portprof_config_add_callback(config, take, &seen))
		die("configuring");
	if (portprof_session_open(config, &session))
		die("opening");
	portprof_config_free(config);
	if (portprof_session_fd(session, &samples) ||
	    portprof_session_set_number(session, 0, "wakeup-samples",
	                                WAKEUP_SAMPLES) ||
	    portprof_session_start(session))
		die("starting");
	if (pthread_create(&worker, NULL, work, NULL) != 0)
		return 1;
	turns = loop(session, samples);
	pthread_join(worker, NULL);
	if (portprof_session_stop(session))
		die("stopping");
	printf("%" PRIu64 " samples of %" PRIu64 " in %u turns by %s, %u batches "
	       "elsewhere\n", seen.samples, seen.weight, turns,
	       portprof_session_backend(session), seen.elsewhere);
	if (portprof_session_close(session))
		die("closing");
	return 0;
}
