/* SPDX-License-Identifier: MIT */
/*
 * For what this program waits: a sleep, and a lock that another thread has. Each
 * sample of blocked-time says the kind of wait in its field "wait", which is the
 * second of the event's: state, wait, on, holder, estimate.
 *
 * usage: 09_waits
 */
#include <portprof.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAIT = 1, ON = 2, HOLDER = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *doing)
{
	fprintf(stderr, "09_waits: %s: %s\n", doing,
	        portprof_last_diag()->words);
	exit(1);
}

static void nap(long ms)
{
	const struct timespec time = { 0, ms * 1000000 };

	nanosleep(&time, NULL);
}

static void take(const portprof_batch *batch, void *context)
{
	(void)context;
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);
		const portprof_event_field *field = NULL;
		const char *texts[HOLDER + 1] = { "", "", "", "" };

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		while ((field = portprof_batch_event_field(batch, record,
		                                           field)))
			if (field->index <= HOLDER)
				texts[field->index] = (const char *)(field + 1);
		printf("%6.1f ms: %s %s %s\n", (double)record->weight / 1e6,
		       texts[WAIT], texts[ON], texts[HOLDER]);
	}
}

static void *hold_the_lock(void *unused)
{
	pthread_mutex_lock(&lock);
	nap(200);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session;
	pthread_t thread;

	if (!config || portprof_config_add_event(config, "blocked-time") ||
	    portprof_config_add_callback(config, take, NULL))
		die("configure");
	if (portprof_session_open(config, &session)) {
		if (portprof_last_diag()->status == PORTPROF_E_UNSUPPORTED)
			return 77; /* nobody here can see waits */
		die("open");
	}
	if (portprof_session_start(session))
		die("start");
	pthread_create(&thread, NULL, hold_the_lock, NULL);
	nap(100);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	if (portprof_session_close(session))
		die("close");
	portprof_config_free(config);
	return 0;
}
