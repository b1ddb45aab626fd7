/* SPDX-License-Identifier: MIT */
/*
 * A program whose callback is left in ways that C does not know.
 *
 * usage: leaves BACKEND HOW
 *
 * HOW: "throw", an exception in the thread that flushes; "exit", pthread_exit
 * in such a thread, which is one of many; "helper", pthread_exit in the
 * library's own thread. Each must leave a session that flushes, stops, starts
 * again and closes, with an account that adds up; and another one opens then.
 * Prints "good", or the line of what was not.
 */
#include <portprof.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <unistd.h>

#define MUST(claim)                                           \
	do {                                                  \
		if (!(claim)) {                               \
			printf("line %d: %s: %s\n", __LINE__, \
			       #claim,                        \
			       portprof_last_diag()->words);  \
			_exit(1);                             \
		}                                             \
	} while (0)

static std::atomic<bool> is_armed, was_left;
static bool is_of_helper, is_by_exit;
static pthread_t flusher;

static void take(const portprof_batch *batch, void *)
{
	bool is_flusher = pthread_equal(pthread_self(), flusher);

	if (!is_armed || was_left || is_flusher == is_of_helper ||
	    batch->count == 0)
		return;
	was_left = true;
	if (is_by_exit)
		pthread_exit(nullptr);
	throw 42;
}

static void burn()
{
	std::clock_t end = std::clock() + CLOCKS_PER_SEC / 50;
	volatile double x = 1;

	while (std::clock() < end)
		for (int i = 0; i < 1000; i++)
			x = x * 1.00001;
}

static portprof_session *open_session(const char *backend)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session = nullptr;

	MUST(portprof_config_set_backend(config, backend) == PORTPROF_OK);
	MUST(portprof_config_set_frequency(config, 1000) == PORTPROF_OK);
	MUST(portprof_config_add_callback(config, take, nullptr) ==
	     PORTPROF_OK);
	portprof_status status = portprof_session_open(config, &session);
	if (status != PORTPROF_OK) {
		printf("cannot be used: %s\n", portprof_last_diag()->words);
		_exit(77);
	}
	portprof_config_free(config);
	return session;
}

static void *flush_until_left(void *context)
{
	auto session = static_cast<portprof_session *>(context);

	flusher = pthread_self();
	is_armed = true;
	while (!was_left) {
		burn();
		try {
			MUST(portprof_session_flush(session) == PORTPROF_OK);
		} catch (int) {
			MUST(!is_by_exit);
		}
	}
	return nullptr;
}

static void leave_in_flusher(portprof_session *session)
{
	pthread_t thread;

	if (!is_by_exit) {
		flush_until_left(session);
		return;
	}
	MUST(pthread_create(&thread, nullptr, flush_until_left, session) == 0);
	pthread_join(thread, nullptr);
}

static void leave_in_helper()
{
	is_armed = true;
	while (!was_left)
		burn();
}

static void check_account(portprof_session *session)
{
	portprof_stats stats;

	std::memset(&stats, 0, sizeof(stats));
	stats.size = sizeof(stats);
	MUST(portprof_session_stats(session, 0, &stats) == PORTPROF_OK);
	MUST(stats.delivered_samples == stats.kept_samples +
	     stats.outside_samples + stats.lost_samples);
	MUST(stats.lost_samples > 0);
	MUST(stats.kept_samples > 0);
	MUST(stats.total_weight == stats.kept_weight + stats.outside_weight +
	     stats.unattributed_weight);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	portprof_session *session = open_session(argv[1]);
	is_of_helper = std::strcmp(argv[2], "helper") == 0;
	is_by_exit = is_of_helper || std::strcmp(argv[2], "exit") == 0;
	flusher = pthread_self();
	MUST(portprof_session_start(session) == PORTPROF_OK);
	burn();
	MUST(portprof_session_flush(session) == PORTPROF_OK);
	if (is_of_helper)
		leave_in_helper();
	else
		leave_in_flusher(session);
	burn();
	MUST(portprof_session_flush(session) == PORTPROF_OK);
	MUST(portprof_session_stop(session) == PORTPROF_OK);
	check_account(session);
	MUST(portprof_session_start(session) == PORTPROF_OK);
	burn();
	MUST(portprof_session_stop(session) == PORTPROF_OK);
	MUST(portprof_session_close(session) == PORTPROF_OK);
	session = open_session(argv[1]);
	MUST(portprof_session_start(session) == PORTPROF_OK);
	burn();
	MUST(portprof_session_close(session) == PORTPROF_OK);
	puts("good");
	return 0;
}
