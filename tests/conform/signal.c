/* SPDX-License-Identifier: MIT */
/* Conformance cases of the application's system calls, handlers and masks. */
#include "tests/conform/conform.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A thread that waits in read() for one byte. */
struct reader {
	int fd;
	ssize_t result;
	int error;
};

static void *read_one(void *context)
{
	struct reader *reader = context;
	char byte;

	reader->result = read(reader->fd, &byte, 1);
	reader->error = errno;
	return NULL;
}

static void life_15_no_eintr_for_the_application(void **state)
{
	portprof_session *session = cf_open(cf_config());
	struct reader reader = { .result = -2 };
	pthread_t thread;
	int ends[2];

	(void)state;
	cf_needs_real();
	assert_int_equal(pipe(ends), 0);
	reader.fd = ends[0];
	assert_int_equal(pthread_create(&thread, NULL, read_one, &reader), 0);
	fixture.thread_start(1);
	cf_start(session);
	cf_burn(0, 0, 60 * CF_MS);
	cf_burn(1, 1, 60 * CF_MS);
	assert_int_equal(write(ends[1], "x", 1), 1);
	pthread_join(thread, NULL);
	cf_stop(session);
	cf_stats(session, 0);
	fixture.thread_end(1);
	cf_close(session);
	close(ends[0]);
	close(ends[1]);
	if (reader.result < 0)
		fail_msg("read: %s", strerror(reader.error));
	assert_int_equal(reader.result, 1);
}

static void life_16_mask_is_as_before(void **state)
{
	sigset_t before, after;
	portprof_session *session;

	(void)state;
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
	session = cf_open(cf_config());
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	cf_stop(session);
	cf_close(session);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
	for (int signal = 1; signal < 32; signal++)
		assert_int_equal(sigismember(&before, signal),
		                 sigismember(&after, signal));
}

static volatile sig_atomic_t seen;

static void note_signal(int number)
{
	seen = number;
}

/* A handler of the application's works while we measure, and after. */
static void life_16_handlers_go_on_working(void **state)
{
	struct sigaction ours = { .sa_handler = note_signal }, before, now;
	portprof_session *session;

	(void)state;
	sigemptyset(&ours.sa_mask);
	assert_int_equal(sigaction(SIGUSR1, &ours, &before), 0);
	session = cf_open(cf_config());
	cf_start(session);
	seen = 0;
	raise(SIGUSR1);
	assert_int_equal(seen, SIGUSR1);
	cf_burn(0, 0, 10 * CF_MS);
	cf_stop(session);
	cf_close(session);
	sigaction(SIGUSR1, &before, &now);
	assert_true(now.sa_handler == note_signal);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(life_15_no_eintr_for_the_application),
	CF_LIFE(life_16_mask_is_as_before),
	CF_LIFE(life_16_handlers_go_on_working),
};

CF_FAMILY(signal);
