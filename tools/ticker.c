/* SPDX-License-Identifier: MIT */
/* Progress of what takes long, on a terminal. */
#include "config.h"

#include "tools/ticker.h"

#include "tools/terminal.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum { STEP_MS = 200 };

/* The line's owner fills them; only the thread steps. */
atomic_uint_fast64_t ppi_ticker_done, ppi_ticker_all;

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t over;
	const char *unit;
	bool is_over;
} ticker = { .lock = PTHREAD_MUTEX_INITIALIZER,
	     .over = PTHREAD_COND_INITIALIZER };

/* False when it is over. */
static bool wait_a_step(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += STEP_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	while (!ticker.is_over)
		if (pthread_cond_timedwait(&ticker.over, &ticker.lock,
		                           &until) == ETIMEDOUT)
			return true;
	return false;
}

static void *tick(void *unused)
{
	pthread_mutex_lock(&ticker.lock);
	while (wait_a_step())
		ppi_progress_step(atomic_load(&ppi_ticker_done),
		                  atomic_load(&ppi_ticker_all), ticker.unit);
	ppi_progress_end();
	pthread_mutex_unlock(&ticker.lock);
	return unused;
}

bool ppi_ticker_begin(const char *doing, const char *unit)
{
	if (!ppi_progress_begin(doing))
		return false;
	atomic_store(&ppi_ticker_done, 0);
	atomic_store(&ppi_ticker_all, 0);
	ticker.unit = unit;
	ticker.is_over = false;
	if (pthread_create(&ticker.thread, NULL, tick, NULL) == 0)
		return true;
	ppi_progress_end();
	return false;
}

void ppi_ticker_end(bool is_begun)
{
	if (!is_begun)
		return;
	pthread_mutex_lock(&ticker.lock);
	ticker.is_over = true;
	pthread_cond_signal(&ticker.over);
	pthread_mutex_unlock(&ticker.lock);
	pthread_join(ticker.thread, NULL);
}
