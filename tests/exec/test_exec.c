/* SPDX-License-Identifier: MIT */
/*
 * exec, fork, vfork and posix_spawn of programs that are being profiled by the
 * timer backends: the new program lives, is not profiled, and finds no timer,
 * handler or blocked signal of ours; a failed exec continues sampling.
 *
 * Linked with the shared library, because the wrappers are only there. Each
 * case runs in a forked child, which replaces itself by this same program.
 */
#include "config.h"

#include "tests/fixtures/spent.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <portprof.h>

extern char **environ;

static const char self[] = "/proc/self/exe";

/* What the new program answers, and what the profiled one does. */
enum { SURVIVED = 0, HAS_TIMER = 10, HAS_ACTION = 11, NOT_SAMPLED = 20,
       WRONG_ERRNO = 21, CANNOT_START = 22, DID_NOT_EXEC = 23, SKIPPED = 77 };

static void burn(unsigned ms)
{
	struct spent spent = { 0 };
	uint64_t until = spent_thread_ns(&spent) + (uint64_t)ms * 1000000u;

	while (spent_thread_ns(&spent) < until)
		;
}

/* ---- the new program ---- */

/* Sanitizers put handlers there before main; a profiler never does. */
static int is_of_a_crash(int signo)
{
	return signo == SIGSEGV || signo == SIGBUS || signo == SIGFPE ||
	       signo == SIGILL || signo == SIGABRT || signo == SIGTRAP;
}

static int has_default_actions(void)
{
	for (int signo = 1; signo < NSIG; signo++) {
		struct sigaction action;

		if (!is_of_a_crash(signo) &&
		    sigaction(signo, NULL, &action) == 0 &&
		    action.sa_handler != SIG_DFL &&
		    action.sa_handler != SIG_IGN)
			return 0;
	}
	return 1;
}

/* Long enough that a timer that came along would have gone off. */
static int survive(void)
{
	struct itimerval timer;

	getitimer(ITIMER_PROF, &timer);
	if (timer.it_value.tv_sec || timer.it_value.tv_usec ||
	    timer.it_interval.tv_sec || timer.it_interval.tv_usec)
		return HAS_TIMER;
	if (!has_default_actions())
		return HAS_ACTION;
	burn(50);
	return SURVIVED;
}

/* ---- the profiled program ---- */

static portprof_session *session;

static uint64_t samples_so_far(void)
{
	portprof_stats stats = { .size = sizeof(stats) };

	portprof_session_stats(session, 0, &stats);
	return stats.delivered_samples;
}

static uint64_t flushed_samples(void)
{
	portprof_session_flush(session);
	return samples_so_far();
}

/* Work until there are more samples than that: how soon a tick comes depends
 * on who else wants the machine, that it comes does not. */
static int is_sampled_on(uint64_t before)
{
	for (int i = 0; i < 500; i++) {
		burn(20);
		if (flushed_samples() > before)
			return 1;
	}
	return 0;
}

/* A session that samples: at once, or the case proves nothing. */
static int start(const char *backend)
{
	portprof_config *config = portprof_config_new();
	int result = CANNOT_START;

	portprof_config_set_backend(config, backend);
	portprof_config_set_frequency(config, 1000);
	if (portprof_session_open(config, &session) == PORTPROF_OK &&
	    portprof_session_start(session) == PORTPROF_OK) {
		result = is_sampled_on(0) ? 0 : NOT_SAMPLED;
	} else {
		fprintf(stderr, "%s\n", portprof_last_diag()->words);
	}
	portprof_config_free(config);
	return result;
}

static char *arguments[] = { (char *)"survivor", (char *)"--survive", NULL };

#if defined(HAVE_FEXECVE) || defined(HAVE_EXECVEAT)
static int open_self(void)
{
	return open(self, O_RDONLY | O_CLOEXEC);
}
#endif

/* One of each kind; returns only when it failed. */
static void exec_as(const char *how)
{
	if (strcmp(how, "execve") == 0)
		execve(self, arguments, environ);
	else if (strcmp(how, "execv") == 0)
		execv(self, arguments);
	else if (strcmp(how, "execvp") == 0)
		execvp(self, arguments);
	else if (strcmp(how, "execl") == 0)
		execl(self, "survivor", "--survive", (char *)NULL);
	else if (strcmp(how, "execlp") == 0)
		execlp(self, "survivor", "--survive", (char *)NULL);
	else if (strcmp(how, "execle") == 0)
		execle(self, "survivor", "--survive", (char *)NULL, environ);
#ifdef HAVE_EXECVPE
	else if (strcmp(how, "execvpe") == 0)
		execvpe(self, arguments, environ);
#endif
#ifdef HAVE_FEXECVE
	else if (strcmp(how, "fexecve") == 0)
		fexecve(open_self(), arguments, environ);
#endif
#ifdef HAVE_EXECVEAT
	else if (strcmp(how, "execveat") == 0)
		execveat(open_self(), "", arguments, environ, 0x1000);
#endif
	else
		_exit(SKIPPED);
}

static int exec_now(const char *how)
{
	exec_as(how);
	return DID_NOT_EXEC;
}

static void *exec_in_thread(void *how)
{
	exec_as(how);
	return NULL;
}

/* Other threads are busy, so ticks are pending and on their way. */
static void *burn_for_ever(void *unused)
{
	for (;;)
		burn(1000);
	return unused;
}

static int exec_from_thread(const char *how)
{
	pthread_t busy[3], thread;

	for (int i = 0; i < 3; i++)
		pthread_create(&busy[i], NULL, burn_for_ever, NULL);
	burn(20);
	pthread_create(&thread, NULL, exec_in_thread, (void *)(uintptr_t)how);
	pthread_join(thread, NULL);
	return DID_NOT_EXEC;
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The child lives, and the parent's measurement continues. */
static int children_of(pid_t child)
{
	uint64_t before = flushed_samples();
	int result = child < 0 ? DID_NOT_EXEC : wait_for(child);

	if (result != SURVIVED)
		return result;
	return is_sampled_on(before) ? 0 : NOT_SAMPLED;
}

static int fork_and_exec(const char *how)
{
	pid_t child = fork();

	if (child == 0) {
		burn(30);
		exec_as(how);
		_exit(DID_NOT_EXEC);
	}
	return children_of(child);
}

static int vfork_and_exec(const char *how)
{
	pid_t child = vfork();

	(void)how;
	if (child == 0) {
		execve(self, arguments, environ);
		_exit(DID_NOT_EXEC);
	}
	return children_of(child);
}

/* The child's failed exec must not touch the parent's sessions. */
static int vfork_and_fail(const char *how)
{
	pid_t child = vfork();

	(void)how;
	if (child == 0) {
		execve("/nonexistent/program", arguments, environ);
		_exit(errno == ENOENT ? 0 : WRONG_ERRNO);
	}
	return children_of(child);
}

static int spawn(const char *how)
{
	pid_t child = -1;

	(void)how;
	if (posix_spawn(&child, self, NULL, NULL, arguments, environ) != 0)
		return DID_NOT_EXEC;
	return children_of(child);
}

static int fail_and_go_on(const char *how)
{
	uint64_t before;

	(void)how;
	errno = 0;
	if (execlp("/nonexistent/program", "x", (char *)NULL) != -1 ||
	    errno != ENOENT)
		return WRONG_ERRNO;
	before = flushed_samples();
	if (!is_sampled_on(before))
		return NOT_SAMPLED;
	return exec_now("execve");
}

/* ---- the cases ---- */

static int run(const char *backend, int (*what)(const char *),
               const char *how)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		int result = start(backend);

		_exit(result ? result : what(how));
	}
	return wait_for(child);
}

static void need(const char *backend)
{
	portprof_backend_info info = { .size = sizeof(info) };

	for (size_t i = 0; i < portprof_backend_count(); i++)
		if (portprof_backend_info_get(i, &info) == PORTPROF_OK &&
		    strcmp(info.name, backend) == 0 && info.is_usable)
			return;
	print_message("skip: the backend %s is not usable here\n", backend);
	skip();
}

static void check(const char *backend, int (*what)(const char *),
                  const char *how)
{
	int result;

	need(backend);
	result = run(backend, what, how);

	if (result == SKIPPED) {
		print_message("skip: this C library has no %s\n", how);
		skip();
	}
	if (result != SURVIVED)
		print_message("%s, %s: status %d\n", backend, how, result);
	assert_int_equal(result, SURVIVED);
}

#define CASE(backend, name, what, how)                                       \
	static void backend##_##name(void **state)                           \
	{                                                                    \
		(void)state;                                                 \
		check(#backend, what, how);                                  \
	}
#define BOTH(name, what, how)                                                \
	CASE(itimer, name, what, how)                                        \
	CASE(timer, name, what, how)

BOTH(survives_execve, exec_now, "execve")
BOTH(survives_execv, exec_now, "execv")
BOTH(survives_execvp, exec_now, "execvp")
BOTH(survives_execvpe, exec_now, "execvpe")
BOTH(survives_execl, exec_now, "execl")
BOTH(survives_execlp, exec_now, "execlp")
BOTH(survives_execle, exec_now, "execle")
BOTH(survives_fexecve, exec_now, "fexecve")
BOTH(survives_execveat, exec_now, "execveat")
BOTH(survives_exec_among_busy_threads, exec_from_thread, "execv")
BOTH(goes_on_after_a_failed_exec, fail_and_go_on, "execlp")
BOTH(forks_and_execs, fork_and_exec, "execvp")
BOTH(vforks_and_execs, vfork_and_exec, "execve")
BOTH(vforks_and_fails, vfork_and_fail, "execve")
BOTH(spawns, spawn, "posix_spawn")

int main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test(itimer_##name), \
		   cmocka_unit_test(timer_##name)
		TEST(survives_execve),
		TEST(survives_execv),
		TEST(survives_execvp),
		TEST(survives_execvpe),
		TEST(survives_execl),
		TEST(survives_execlp),
		TEST(survives_execle),
		TEST(survives_fexecve),
		TEST(survives_execveat),
		TEST(survives_exec_among_busy_threads),
		TEST(goes_on_after_a_failed_exec),
		TEST(forks_and_execs),
		TEST(vforks_and_execs),
		TEST(vforks_and_fails),
		TEST(spawns),
	};

	if (count > 1 && strcmp(words[1], "--survive") == 0)
		return survive();
	return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
