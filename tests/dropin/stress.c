/* SPDX-License-Identifier: MIT */
/*
 * Everything at once, on the kernel that runs here: busy threads, buffers that
 * come and go under them, forks, execs, libraries that are loaded and closed.
 * Nobody dies, nothing is written to what was given back, and the ticks of all
 * buffers sum to the threads' CPU time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compat/drop-in/engine.h"
#include "tests/fixtures/spent.h"

#define PORTPROF_COMPAT_OWN_NAMES
#include "compat/drop-in/portprof/compat/bsd.h"
#include "compat/drop-in/portprof/compat/glibc.h"
#include "compat/drop-in/portprof/compat/solaris.h"

enum { BUSY = 4, RUN_MS = 1500, BINS = 256, PERIOD_MS = 10 };

static atomic_bool is_over;
static atomic_uint ticks;
static uint64_t used_ns[BUSY];

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline, aligned(4096))) static void hot(unsigned turns)
{
	for (volatile unsigned left = turns; left > 0; left--)
		;
}

static void *be_busy(void *number)
{
	struct spent spent = { 0 };
	uint64_t begun = spent_thread_ns(&spent);

	while (!is_over)
		hot(20000);
	used_ns[(uintptr_t)number] = spent_thread_ns(&spent) - begun;
	return NULL;
}

/* A buffer is read and freed as soon as the next one has taken its place. */
static void give_back(uint16_t *bins)
{
	for (size_t i = 0; bins && i < BINS; i++)
		ticks += bins[i];
	free(bins);
}

static void sleep_ms(unsigned ms)
{
	struct timespec time = { 0, (long)ms * 1000000 };

	nanosleep(&time, NULL);
}

static void *replace_buffers(void *unused)
{
	uint16_t *old = NULL;

	while (!is_over) {
		uint16_t *bins = calloc(BINS, sizeof(*bins));

		if (!bins || portprof_glibc_profil(bins, BINS * 2,
		                                   (size_t)hot, 65536))
			abort();
		give_back(old);
		old = bins;
		sleep_ms(3);
	}
	sleep_ms(20);
	if (portprof_glibc_profil(NULL, 0, 0, 0))
		abort();
	give_back(old);
	return unused;
}

/* Another dialect's, which is on and off all the time. */
static void *churn(void *unused)
{
	while (!is_over) {
		char *bins = malloc(BINS * 2);
		uintptr_t *pcs = malloc(BINS * sizeof(*pcs));

		if (!bins || !pcs)
			abort();
		memset(bins, 0, BINS * 2);
		portprof_bsd_profil(bins, BINS * 2, (unsigned long)hot, 65536);
		portprof_solaris_pcsample(pcs, BINS);
		sleep_ms(2);
		portprof_bsd_profil(NULL, 0, 0, 0);
		portprof_solaris_pcsample(NULL, 0);
		free(bins);
		free(pcs);
		sleep_ms(1);
	}
	return unused;
}

static void *load_libraries(void *unused)
{
	while (!is_over) {
		void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);

		sleep_ms(1);
		if (library)
			dlclose(library);
	}
	return unused;
}

static int failures;

static void fork_one(bool execs)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0 && execs)
		execl("/bin/true", "true", (char *)NULL);
	if (child == 0)
		_exit(0);
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
		failures++;
}

static void everything_at_once(void **state)
{
	void *(*const others[])(void *) = { replace_buffers, churn,
		                            load_libraries };
	pthread_t busy[BUSY], other[3];
	uint64_t until = now_ns(CLOCK_MONOTONIC) + RUN_MS * 1000000u;
	uint64_t used = 0, seen;

	(void)state;
	pthread_create(&other[0], NULL, others[0], NULL);
	sleep_ms(50); /* it is on before there is anything to count */
	for (uintptr_t i = 0; i < BUSY; i++)
		pthread_create(&busy[i], NULL, be_busy, (void *)i);
	for (unsigned i = 1; i < 3; i++)
		pthread_create(&other[i], NULL, others[i], NULL);
	for (unsigned i = 0; now_ns(CLOCK_MONOTONIC) < until; i++) {
		fork_one(i % 2);
		sleep_ms(5);
	}
	is_over = true;
	for (unsigned i = 0; i < BUSY; i++)
		pthread_join(busy[i], NULL);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(other[i], NULL);
	for (unsigned i = 0; i < BUSY; i++)
		used += used_ns[i] / 1000000u;
	seen = (uint64_t)ticks * PERIOD_MS;
	print_message("# %llu ms used, %llu ms in ticks\n",
	              (unsigned long long)used, (unsigned long long)seen);
	assert_int_equal(failures, 0);
	/* clock_gettime is outside, and so are the ends of threads */
	assert_in_range(seen, used * 8 / 10 - BUSY * PERIOD_MS,
	                used * 11 / 10 + BUSY * PERIOD_MS);
}

static int forget(void **state)
{
	(void)state;
	ppi_engine_forget();
	return 0;
}

int main(void)
{
	static uint16_t bins[BINS];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(everything_at_once, forget),
	};

	if (portprof_glibc_profil(bins, sizeof(bins), (size_t)hot, 65536)) {
		print_message("skip: nothing can be profiled here\n");
		return 77;
	}
	portprof_glibc_profil(NULL, 0, 0, 0);
	return cmocka_run_group_tests_name("stress", tests, NULL, NULL);
}
