/* SPDX-License-Identifier: MIT */
/*
 * A runtime that owns its threads knows which of them works for whom: a session is
 * bound to the first thread, and the worker is in it while it does this customer's
 * work, and no longer.
 *
 * usage: 07_adopt_thread
 */
#include <portprof.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WORK_MS = 100 };

struct job {
	portprof_session *session;
	uint64_t tid, weight; /* of the worker's samples */
	double mine_ms, other_ms;
};

static void die(const char *doing)
{
	fprintf(stderr, "07_adopt_thread: %s: %s\n", doing,
	        portprof_last_diag()->words);
	exit(1);
}

/* By the id that records and the kernel have. */
static uint64_t own_tid(void)
{
#ifdef SYS_gettid
	return (uint64_t)syscall(SYS_gettid);
#else
	return 0;
#endif
}

static double cpu_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static double compute(void)
{
	double began = cpu_ms();

	while (cpu_ms() < began + WORK_MS)
		;
	return cpu_ms() - began;
}

static void *work(void *context)
{
	struct job *job = (struct job *)context;

	job->tid = own_tid();
	if (portprof_session_set_number(job->session, 0, "add-thread",
	                                job->tid))
		die("adopting");
	job->mine_ms = compute();
	if (portprof_session_set_number(job->session, 0, "remove-thread",
	                                job->tid))
		die("releasing");
	job->other_ms = compute();
	return NULL;
}

/* In the library's thread, or in the worker when it is released. */
static void take(const portprof_batch *batch, void *context)
{
	struct job *job = (struct job *)context;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE &&
		    record->tid == job->tid)
			job->weight += record->weight;
	}
}

int main(void)
{
	portprof_config *config = portprof_config_new();
	struct job job = { NULL, 0, 0, 0, 0 };
	pthread_t worker;

	if (!config ||
	    portprof_config_set_target(config, PORTPROF_TARGET_THREAD, 0) ||
	    portprof_config_set_number(config, "frequency", 1000) ||
	    portprof_config_add_callback(config, take, &job))
		die("configuring");
	if (portprof_session_open(config, &job.session))
		die("opening");
	portprof_config_free(config);
	if (portprof_session_start(job.session))
		die("starting");
	if (pthread_create(&worker, NULL, work, &job) != 0)
		return 1;
	pthread_join(worker, NULL);
	if (portprof_session_stop(job.session))
		die("stopping");
	printf("adopted for %.1f ms, %.1f ms in its samples; %.1f ms after it\n",
	       job.mine_ms, (double)job.weight / 1e6, job.other_ms);
	if (portprof_session_close(job.session))
		die("closing");
	return 0;
}
