/* SPDX-License-Identifier: MIT */
/* Ends of a process that has a session with a file, and did not close it. */
#include "config.h"

#include <portprof.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { ENDED = 42, SKIPPED = 77 };

static char path[64];
static portprof_session *session;
static pthread_t ending; /* the thread that ends the process */
static bool has_ended;

static void burn(uint64_t ns)
{
	struct timespec now;
	uint64_t until = 0, at;

	do {
		for (volatile int i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		at = (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
		until = until ? until : at + ns;
	} while (at < until);
}

static void take(const portprof_batch *batch, void *context)
{
	(void)batch;
	(void)context;
	if (has_ended && pthread_equal(pthread_self(), ending))
		_exit(1);
}

static void exit_there(const portprof_batch *batch, void *context)
{
	(void)batch;
	(void)context;
	exit(ENDED);
}

/* In the child; it runs when this returns. */
static void begin(const char *backend, portprof_batch_fn callback)
{
	portprof_config *config = portprof_config_new();

	portprof_config_set_backend(config, backend);
	portprof_config_set_frequency(config, 997);
	if (callback)
		portprof_config_add_callback(config, callback, NULL);
	if (portprof_config_write_to(config, path) != PORTPROF_OK ||
	    portprof_session_open(config, &session) != PORTPROF_OK ||
	    portprof_session_start(session) != PORTPROF_OK)
		_exit(SKIPPED);
	portprof_config_free(config);
}

/* What the file has: the weight of its samples. */
struct found {
	uint64_t weight, total;
	bool is_complete, is_closed; /* the account */
};

static struct found read_file(void)
{
	struct found found = { .weight = 0 };
	portprof_profile *profile = NULL;
	const portprof_stats *stats;

	if (portprof_profile_read(path, 0, &profile) != PORTPROF_OK)
		return found;
	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++)
		found.weight +=
			portprof_profile_sample_get(profile, i)->weights[0];
	found.is_complete = portprof_profile_origin_get(profile)->is_complete;
	stats = &portprof_profile_event_get(profile, 0)->stats;
	found.total = stats->total_weight;
	found.is_closed = stats->kept_weight == found.weight &&
	                  stats->delivered_samples ==
		                  stats->kept_samples + stats->outside_samples +
			                  stats->lost_samples;
	portprof_profile_free(profile);
	return found;
}

/* The child ends as `life` makes it end; what is in its file then. */
static struct found after(void (*life)(const char *backend),
                          const char *backend, int ends_with)
{
	struct found found;
	int status = 0;
	pid_t child;

	snprintf(path, sizeof(path), "exit-%ld.pb.gz", (long)getpid());
	fflush(stdout);
	child = fork();
	if (child == 0) {
		alarm(120);
		life(backend);
		_exit(99);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ends_with);
	found = read_file();
	unlink(path);
	return found;
}

/* By itimer chance decides on a busy machine when the last tick comes: what is behind it
 * is in no sample, and accounted for. */
static void assert_whole(struct found found, const char *backend,
                         uint64_t least_ms)
{
	bool is_by_tick = strcmp(backend, "itimer") == 0;

	assert_true(found.is_complete);
	assert_true(found.is_closed);
	assert_true(found.weight > 0);
	assert_true((is_by_tick ? found.total : found.weight) >=
	            least_ms * MS);
}

/* ---- exit handlers, which run before ---- */

static void work_on(void)
{
	burn(150 * MS);
}

static void close_session(void)
{
	if (portprof_session_close(session) != PORTPROF_OK)
		_exit(1);
}

static void leave_main(void)
{
	ending = pthread_self();
	has_ended = true;
}

static void by_exit(const char *backend)
{
	atexit(work_on);
	begin(backend, take);
	atexit(leave_main);
	burn(150 * MS);
	exit(ENDED);
}

static void by_own_close(const char *backend)
{
	atexit(close_session);
	begin(backend, NULL);
	burn(150 * MS);
	exit(ENDED);
}

/* ---- other threads ---- */

static void *exit_here(void *unused)
{
	burn(150 * MS);
	exit(ENDED);
	return unused;
}

static void by_another_thread(const char *backend)
{
	pthread_t thread;

	begin(backend, NULL);
	if (pthread_create(&thread, NULL, exit_here, NULL) == 0)
		pthread_join(thread, NULL);
}

/* The helper, which is the last thread, ends the process with status 0. */
static void by_end_of_threads(const char *backend)
{
	begin(backend, NULL);
	burn(150 * MS);
	pthread_exit(NULL);
}

static void in_a_callback(const char *backend)
{
	begin(backend, exit_there);
	burn(30000 * MS);
}

/* ---- children, and no exit ---- */

static void by_a_childs_exit(const char *backend)
{
	pid_t child;
	int status;

	begin(backend, NULL);
	burn(150 * MS);
	child = fork();
	if (child == 0)
		exit(0);
	if (waitpid(child, &status, 0) != child || status != 0)
		_exit(1);
	burn(150 * MS);
	exit(ENDED);
}

static void without_exit(const char *backend)
{
	begin(backend, NULL);
	burn(450 * MS);
	portprof_session_flush(session);
	burn(150 * MS);
	_exit(ENDED);
}

/* ---- on each backend ---- */

/* Of 150 ms, of twice as much, or of three times, which nothing comes after: a machine
 * that stands still, or a tick that waits for its process, may take the rest. */
enum { LEAST_MS = 60 };

static void check_ends(const char *backend)
{
	struct found found;

	assert_whole(after(by_exit, backend, ENDED), backend, 2 * LEAST_MS);
	assert_whole(after(by_own_close, backend, ENDED), backend, LEAST_MS);
	assert_whole(after(by_another_thread, backend, ENDED), backend, LEAST_MS);
	assert_whole(after(by_end_of_threads, backend, 0), backend, LEAST_MS);
	assert_whole(after(by_a_childs_exit, backend, ENDED), backend, 2 * LEAST_MS);
	after(in_a_callback, backend, ENDED);
	found = after(without_exit, backend, ENDED);
	assert_false(found.is_complete);
	assert_true(found.is_closed);
	assert_true(found.weight >= LEAST_MS * MS);
}

static void ends_with_perf(void **state)
{
	(void)state;
	check_ends("perf");
}

static void ends_with_timer(void **state)
{
	(void)state;
	check_ends("timer");
}

static void ends_with_itimer(void **state)
{
	(void)state;
	check_ends("itimer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_with_perf),
		cmocka_unit_test(ends_with_timer),
		cmocka_unit_test(ends_with_itimer),
	};

	return cmocka_run_group_tests_name("exit", tests, NULL, NULL);
}
