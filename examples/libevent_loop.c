/* SPDX-License-Identifier: MIT */
/*
 * The samples of a program with a libevent loop, taken in that loop: a timer stands
 * for what the program does, and an event for the session's descriptor.
 *
 *     cc libevent_loop.c $(pkg-config --cflags --libs portprof libevent_core)
 */
#include <portprof.h>

#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 40, WAKEUP_SAMPLES = 8 };

struct program {
	struct event_base *base;
	portprof_session *session;
	unsigned turns, wakeups;
	uint64_t samples, weight;
};

static void die(const char *doing)
{
	fprintf(stderr, "libevent_loop: %s: %s\n", doing,
	        portprof_last_diag()->words);
	exit(1);
}

static void take(const portprof_batch *batch, void *context)
{
	struct program *program = context;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		program->samples += record->samples;
		program->weight += record->weight;
	}
}

/* What the program is there for. */
static void on_time(evutil_socket_t unused, short what, void *context)
{
	struct program *program = context;

	(void)unused, (void)what;
	for (volatile unsigned i = 0; i < 10000000; i++)
		;
	if (++program->turns == TURNS)
		event_base_loopbreak(program->base);
}

static void on_samples(evutil_socket_t unused, short what, void *context)
{
	struct program *program = context;

	(void)unused, (void)what;
	program->wakeups++;
	if (portprof_session_flush(program->session))
		die("flushing");
}

static portprof_session *open_session(struct program *program, int *fd)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session;

	if (!config || portprof_config_set_frequency(config, 500) ||
	    portprof_config_add_callback(config, take, program))
		die("configuring");
	if (portprof_session_open(config, &session) ||
	    portprof_session_fd(session, fd) ||
	    portprof_session_set_number(session, 0, "wakeup-samples",
	                                WAKEUP_SAMPLES))
		die("opening");
	portprof_config_free(config);
	return session;
}

int main(void)
{
	struct program program = { .base = event_base_new() };
	struct timeval pause = { 0, 1000 };
	struct event *timer, *samples;
	int fd;

	program.session = open_session(&program, &fd);
	timer = event_new(program.base, -1, EV_PERSIST, on_time, &program);
	samples = event_new(program.base, fd, EV_READ | EV_PERSIST, on_samples,
	                    &program);
	event_add(timer, &pause);
	event_add(samples, NULL);
	if (portprof_session_start(program.session))
		die("starting");
	event_base_dispatch(program.base);
	if (portprof_session_stop(program.session))
		die("stopping");
	printf("%" PRIu64 " samples of %" PRIu64 " in %u wakeups by %s\n",
	       program.samples, program.weight, program.wakeups,
	       portprof_session_backend(program.session));
	event_free(samples);
	event_free(timer);
	event_base_free(program.base);
	if (portprof_session_close(program.session))
		die("closing");
	return 0;
}
