/* SPDX-License-Identifier: MIT */
/*
 * gperftools' CPU profiler over the public interface: one session with a file,
 * which ProfilerStart opens and ProfilerStop closes; and its variables, by which a
 * program that calls neither is profiled:
 *
 *   CPUPROFILE            the file; profile from now to the end
 *   CPUPROFILE_USE_PID    set by the first process: others append _PID
 *   CPUPROFILE_FREQUENCY  samples per second of CPU time
 *   CPUPROFILESIGNAL      each signal of this number starts (FILE.0, FILE.1 ...) or
 *                         stops
 *
 * The facts are those of gperftools' profiler.h, profiler.cc and sysinfo.cc
 * (GetUniquePathFromEnv), 2.17.
 */
#include "config.h"

#include "compat/gperftools/gperftools/profiler.h"

#include "base/environment.h"

#include <portprof.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { RATE = 100, RATE_MAX = 4000, DEPTH = 127 };

/* `lock` guards it. A forked child holds the lock of no other thread. */
static struct {
	pthread_mutex_t lock;
	portprof_session *session;
	pid_t owner; /* whose session it is */
	time_t started;
	char path[PATH_MAX];
} profiler = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void tell(const char *doing, const char *path, const char *why)
{
	fprintf(stderr, "portprof: %s '%s': %s\n", doing, path, why);
}

/* ---- the session ---- */

static bool is_running(void)
{
	return profiler.session && profiler.owner == getpid();
}

static uint64_t choose_rate(void)
{
	const char *text = ppi_environment("CPUPROFILE_FREQUENCY");
	long rate = text ? strtol(text, NULL, 10) : 0;

	return rate < 1 ? RATE : rate > RATE_MAX ? RATE_MAX : (uint64_t)rate;
}

static portprof_status open_and_start(const char *path,
                                      portprof_session **session)
{
	portprof_config *config = portprof_config_new();
	portprof_status status = PORTPROF_E_NOMEM;

	if (config && !(status = portprof_config_set_frequency(config,
	                                                       choose_rate())) &&
	    !(status = portprof_config_set_number(config, "callchain", DEPTH)) &&
	    !(status = portprof_config_write_to(config, path)))
		status = portprof_session_open(config, session);
	portprof_config_free(config);
	if (status == PORTPROF_OK) {
		status = portprof_session_start(*session);
		if (status != PORTPROF_OK) {
			portprof_session_close(*session);
			*session = NULL;
		}
	}
	return status;
}

/* With the lock. */
static bool start(const char *path)
{
	if (is_running())
		return false;
	/* a parent's copy, which only gives memory back */
	portprof_session_close(profiler.session);
	profiler.session = NULL;
	if (strlen(path) >= sizeof(profiler.path)) {
		tell("cannot profile into", path, "the name is too long");
		return false;
	}
	if (open_and_start(path, &profiler.session) != PORTPROF_OK) {
		tell("cannot profile into", path, portprof_last_diag()->words);
		return false;
	}
	profiler.owner = getpid();
	profiler.started = time(NULL);
	strcpy(profiler.path, path);
	return true;
}

/* With the lock. */
static void stop(void)
{
	if (!is_running())
		return;
	if (portprof_session_close(profiler.session) != PORTPROF_OK)
		tell("cannot complete", profiler.path,
		     portprof_last_diag()->words);
	profiler.session = NULL;
}

/* ---- gperftools' functions ---- */

int ProfilerStartWithOptions(const char *fname,
                             const struct ProfilerOptions *options)
{
	bool is_started;

	if (!fname)
		return 0;
	if (options && options->filter_in_thread) {
		tell("cannot profile into", fname,
		     "a filter_in_thread is not supported: samples are not taken "
		     "by the thread that they are of; filter the report, as with "
		     "portprof report --thread NAME");
		return 0;
	}
	pthread_mutex_lock(&profiler.lock);
	is_started = start(fname);
	pthread_mutex_unlock(&profiler.lock);
	return is_started;
}

int ProfilerStart(const char *fname)
{
	return ProfilerStartWithOptions(fname, NULL);
}

void ProfilerStop(void)
{
	pthread_mutex_lock(&profiler.lock);
	stop();
	pthread_mutex_unlock(&profiler.lock);
}

void ProfilerFlush(void)
{
	pthread_mutex_lock(&profiler.lock);
	if (is_running() &&
	    portprof_session_flush(profiler.session) != PORTPROF_OK)
		tell("cannot write", profiler.path, portprof_last_diag()->words);
	pthread_mutex_unlock(&profiler.lock);
}

void ProfilerEnable(void)
{
}

void ProfilerDisable(void)
{
}

void ProfilerRegisterThread(void)
{
}

int ProfilingIsEnabledForAllThreads(void)
{
	bool is;

	pthread_mutex_lock(&profiler.lock);
	is = is_running();
	pthread_mutex_unlock(&profiler.lock);
	return is;
}

void ProfilerGetCurrentState(struct ProfilerState *state)
{
	portprof_stats stats = { .size = sizeof(stats) };

	memset(state, 0, sizeof(*state));
	pthread_mutex_lock(&profiler.lock);
	if (is_running()) {
		state->enabled = 1;
		state->start_time = profiler.started;
		snprintf(state->profile_name, sizeof(state->profile_name),
		         "%.*s", (int)sizeof(state->profile_name) - 1,
		         profiler.path);
		/* what waits in rings is counted, too */
		portprof_session_flush(profiler.session);
		if (portprof_session_stats(profiler.session, 0, &stats) ==
		    PORTPROF_OK)
			state->samples_gathered =
				stats.delivered_samples > INT_MAX ?
					INT_MAX :
					(int)stats.delivered_samples;
	}
	pthread_mutex_unlock(&profiler.lock);
}

/* ---- its variables ---- */

/* Signals that came, for the thread that turns the profiler on and off: a handler
 * may do neither. */
static sem_t signals;
static char base[PATH_MAX - 16];

static void count_signal(int number)
{
	int error = errno;

	(void)number;
	sem_post(&signals);
	errno = error;
}

static void *turn_on_and_off(void *unused)
{
	unsigned files = 0;

	for (;;) {
		char path[PATH_MAX];

		while (sem_wait(&signals) != 0)
			;
		pthread_mutex_lock(&profiler.lock);
		if (is_running()) {
			stop();
		} else {
			snprintf(path, sizeof(path), "%s.%u", base, files++);
			start(path);
		}
		pthread_mutex_unlock(&profiler.lock);
	}
	return unused;
}

static void wait_for_signal(const char *text)
{
	struct sigaction ours = { .sa_flags = SA_RESTART }, theirs;
	long number = strtol(text, NULL, 10);
	sigset_t all, before;
	pthread_t thread;
	int error;

	ours.sa_handler = count_signal;
	sem_init(&signals, 0, 0);
	if (number < 1 || number > 64 ||
	    sigaction((int)number, NULL, &theirs) != 0 ||
	    (theirs.sa_flags & SA_SIGINFO) || theirs.sa_handler != SIG_DFL ||
	    sigaction((int)number, &ours, NULL) != 0) {
		tell("cannot wait for CPUPROFILESIGNAL", text,
		     "not the number of a signal that nobody uses; 12 is SIGUSR2 "
		     "on most systems (kill -l)");
		return;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&thread, NULL, turn_on_and_off, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		sigaction((int)number, &theirs, NULL);
		tell("cannot wait for CPUPROFILESIGNAL", text, strerror(error));
		return;
	}
	pthread_detach(thread);
}

static bool is_yes(const char *value)
{
	return value && strchr("tTyY1", value[0]);
}

static void lock(void)
{
	pthread_mutex_lock(&profiler.lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&profiler.lock);
}

__attribute__((constructor)) static void obey_variables(void)
{
	const char *file = ppi_environment("CPUPROFILE");
	const char *number = ppi_environment("CPUPROFILESIGNAL");
	bool is_other = is_yes(ppi_environment("CPUPROFILE_USE_PID"));
	int length;

	pthread_atfork(lock, unlock, unlock);
	if (!file)
		return;
	length = is_other ? snprintf(base, sizeof(base), "%s_%ld", file,
	                             (long)getpid()) :
	                    snprintf(base, sizeof(base), "%s", file);
	if (length < 0 || (size_t)length >= sizeof(base)) {
		tell("cannot profile into CPUPROFILE", file,
		     "the name is too long");
		return;
	}
	setenv("CPUPROFILE_USE_PID", "1", 1);
	if (number)
		wait_for_signal(number);
	else
		ProfilerStart(base);
}
