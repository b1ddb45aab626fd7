/* SPDX-License-Identifier: MIT */
/* Conformance cases of fork, children, exec, and threads that crash. */
#include "tests/conform/conform.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <portprof/tool.h>

/* What a forked child finds wrong; 0 is nothing. It must not assert: it
 * would go on running the suite. */
#define CHILD_MUST(condition)                  \
	do {                                   \
		if (!(condition))              \
			return __LINE__ % 199 + 1; \
	} while (0)

static int use_inert_session(void *context)
{
	portprof_session *session = context;
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_sink_stats sink = { .size = sizeof(sink) };

	CHILD_MUST(portprof_session_start(session) == PORTPROF_E_FORKED);
	CHILD_MUST(portprof_last_diag()->status == PORTPROF_E_FORKED);
	CHILD_MUST(portprof_session_stop(session) == PORTPROF_E_FORKED);
	CHILD_MUST(portprof_session_flush(session) == PORTPROF_E_FORKED);
	CHILD_MUST(portprof_session_reset(session) == PORTPROF_E_FORKED);
	CHILD_MUST(portprof_session_stats(session, 0, &stats) ==
	           PORTPROF_E_FORKED);
	CHILD_MUST(portprof_session_sink_stats(session, 0, &sink) ==
	           PORTPROF_E_FORKED);
	CHILD_MUST(portprof_session_close(session) == PORTPROF_OK);
	return 0;
}

/* Forks, and tells the CPU time that doing so cost the parent: no work of the
 * program, but charged to it. Much of it in a process with large tables of
 * pages, as a sanitizer's. */
static uint64_t fork_for(int (*child)(void *context), void *context)
{
	uint64_t before = cf_process_time();

	cf_in_child(child, context);
	return cf_process_time() - before;
}

/* The parent's measurement continues over the fork as if nothing had been. */
static void fork_in_the_middle(int (*child)(void *context))
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *session;
	struct cf_watch watch;
	struct expect expect;
	portprof_stats stats;
	uint64_t forking;

	cf_watch(config, &watch);
	session = cf_open(config);
	cf_start(session);
	cf_work(&program, 0, 0, 40 * CF_MS);
	cf_run(&program);
	forking = fork_for(child, session);
	cf_work(&program, 0, 0, 40 * CF_MS);
	cf_run(&program);
	forking += fork_for(child, session);
	cf_work(&program, 0, 0, 40 * CF_MS);
	cf_run(&program);
	cf_stop(session);
	expect = cf_expect(&program, CF_PERIOD_NS);
	/* where a kernel's time falls on the next user pc, it is the work's */
	expect.sampled.high += forking;
	expect.function[0].high += forking;
	stats = cf_stats(session, 0);
	cf_in_range(stats.kept_weight + stats.outside_weight, expect.sampled,
	            "weight over a fork");
	cf_check_functions(&watch, &expect);
	if (fixture.is_exact)
		assert_int_equal(stats.total_weight, cf_used(&program));
	cf_close(session);
}

static void life_8_child_session_is_inert(void **state)
{
	(void)state;
	fork_in_the_middle(use_inert_session);
}

static int do_nothing(void *context)
{
	(void)context;
	return 0;
}

static void life_8_child_may_ignore_the_session(void **state)
{
	(void)state;
	fork_in_the_middle(do_nothing);
}

static void life_8_stopped_session_is_inert_too(void **state)
{
	portprof_session *session = cf_open(cf_config());

	(void)state;
	cf_in_child(use_inert_session, session); /* never started */
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	cf_stop(session);
	cf_in_child(use_inert_session, session);
	cf_start(session);
	cf_burn(0, 0, 10 * CF_MS);
	cf_stop(session);
	cf_stats(session, 0);
	cf_close(session);
}

/* A child that wants to measure itself opens a session of its own. */
static int measure_myself(void *context)
{
	portprof_config *config = context;
	portprof_session *session = NULL;
	portprof_stats stats = { .size = sizeof(stats) };
	uint64_t used;

	CHILD_MUST(portprof_session_open(config, &session) == PORTPROF_OK);
	CHILD_MUST(portprof_session_start(session) == PORTPROF_OK);
	used = cf_burn(0, 0, 60 * CF_MS);
	CHILD_MUST(portprof_session_stop(session) == PORTPROF_OK);
	CHILD_MUST(portprof_session_stats(session, 0, &stats) == PORTPROF_OK);
	CHILD_MUST(stats.total_weight >= used - used / 20);
	CHILD_MUST(portprof_session_close(session) == PORTPROF_OK);
	return 0;
}

static void life_8_child_may_open_its_own(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;

	(void)state;
	cf_needs_real(); /* a simulated kernel knows one process */
	cf_needs_threads_after_fork();
	cf_in_child(measure_myself, config);
	session = cf_open(cf_config());
	cf_start(session); /* and while the parent measures */
	cf_in_child(measure_myself, config);
	cf_burn(0, 0, 20 * CF_MS);
	cf_stop(session);
	cf_stats(session, 0);
	cf_close(session);
}

static int burn_in_child(void *context)
{
	(void)context;
	return cf_burn(0, 1, 100 * CF_MS) > 0 ? 0 : 1;
}

static uint64_t total_with_child(int follow)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	uint64_t total;

	assert_int_equal(portprof_config_set_number(config, "children", follow),
			 PORTPROF_OK);
	session = cf_open(config);
	cf_start(session);
	cf_burn(0, 0, 20 * CF_MS);
	cf_in_child(burn_in_child, NULL);
	cf_stop(session);
	total = cf_stats(session, 0).total_weight;
	cf_close(session);
	return total;
}

static void life_9_children_are_not_measured_unasked(void **state)
{
	(void)state;
	cf_needs_real();
	/* forking costs the parent something, but not what the child burns */
	assert_true(total_with_child(0) < 80 * CF_MS);
}

static void life_9_children_are_measured_when_asked(void **state)
{
	(void)state;
	cf_needs(PORTPROF_CAP_CHILDREN);
	cf_needs_real();
	assert_true(total_with_child(1) > 110 * CF_MS);
}

/* Until the session knows of so many that go on; false when it never does. */
static bool sees_children(portprof_session *session, uint64_t count)
{
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
		if (portprof_session_children(session) == count)
			return true;
		fixture.idle(20 * CF_MS);
	}
	return false;
}

static void life_9_children_that_go_on_are_known(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	bool is_seen, is_gone;
	pid_t pid;

	(void)state;
	cf_needs(PORTPROF_CAP_CHILDREN);
	cf_needs_real();
	assert_int_equal(portprof_config_set_number(config, "children", 1),
			 PORTPROF_OK);
	cf_log(config);
	session = cf_open(config);
	cf_start(session);
	assert_int_equal(portprof_session_children(session), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pause();
		_exit(0);
	}
	is_seen = sees_children(session, 1);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0)
		assert_int_equal(errno, EINTR);
	is_gone = sees_children(session, 0);
	cf_stop(session);
	cf_close(session);
	assert_true(is_seen && is_gone);
}

static void life_9_needs_the_capability(void **state)
{
	portprof_config *config = cf_config();

	(void)state;
	assert_int_equal(portprof_config_set_number(config, "children", 1),
			 PORTPROF_OK);
	if (cf_has(PORTPROF_CAP_CHILDREN)) {
		assert_int_equal(cf_try_any(config), PORTPROF_OK);
		return;
	}
	assert_int_equal(cf_try_any(config), PORTPROF_E_UNSUPPORTED);
	cf_diag(PORTPROF_E_UNSUPPORTED);
}

/* ---- exec ---- */

static portprof_session *measure_in_child(const portprof_config *config)
{
	portprof_session *session = NULL;

	if (portprof_session_open(config, &session) != PORTPROF_OK ||
	    portprof_session_start(session) != PORTPROF_OK)
		return NULL;
	cf_burn(0, 0, 60 * CF_MS);
	return session;
}

/* Become another program. */
static int exec_other(void)
{
	execl("/proc/self/exe", "conform", CF_AFTER_EXEC, (char *)NULL);
	execl(cf_program_path, "conform", CF_AFTER_EXEC, (char *)NULL);
	return 1;
}

/* Announced, as libportprof-exec does. */
static int measure_and_exec(void *context)
{
	CHILD_MUST(measure_in_child(context));
	portprof_exec_begin();
	return exec_other();
}

static uint64_t weight_in_file(const char *path, bool is_complete);

static const char *path_of_child;

/* By the system call, or through no wrapper: nobody knows. What is older than a
 * second is in the file; a busy machine gets more time. */
static int measure_and_exec_later(void *context)
{
	CHILD_MUST(measure_in_child(context));
	for (int i = 0; i < 100 && (i < 6 || weight_in_file(path_of_child,
	                                                    false) == 0); i++)
		fixture.idle(200 * CF_MS);
	return exec_other();
}

static int measure_and_exit(void *context)
{
	CHILD_MUST(measure_in_child(context));
	exit(CF_AFTER_EXEC_STATUS);
}

static pid_t start_child(int (*child)(void *context), void *context)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child(context));
	return pid;
}

static int end_of(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return status;
}

static void life_10_new_image_does_not_die_of_us(void **state)
{
	portprof_config *config = cf_config();
	int status;

	(void)state;
	cf_needs(PORTPROF_CAP_EXEC_SAFE);
	cf_needs_real();
	status = end_of(start_child(measure_and_exec, config));
	if (WIFSIGNALED(status))
		fail_msg("the new image died of signal %d",
		         WTERMSIG(status));
	assert_int_equal(WEXITSTATUS(status), CF_AFTER_EXEC_STATUS);
}

/* Its samples add up to its account. */
static uint64_t weight_in_file(const char *path, bool is_complete)
{
	portprof_profile *profile = NULL;
	uint64_t weight = 0;

	if (portprof_profile_read(path, 0, &profile) != PORTPROF_OK)
		fail_msg("%s", portprof_last_diag()->words);
	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++)
		weight += portprof_profile_sample_get(profile, i)->weights[0];
	if (is_complete) {
		const portprof_stats *stats =
			&portprof_profile_event_get(profile, 0)->stats;

		assert_true(portprof_profile_origin_get(profile)->is_complete);
		assert_int_equal(stats->kept_weight, weight);
		assert_int_equal(stats->delivered_samples,
		                 stats->kept_samples + stats->outside_samples +
		                         stats->lost_samples);
	}
	portprof_profile_free(profile);
	cf_measured(weight);
	return weight;
}

static void check_file_after(int (*child)(void *context), bool is_complete)
{
	const char *path = cf_path();
	portprof_config *config = cf_config();
	uint64_t weight;
	int status;

	cf_needs_files();
	cf_needs_real();
	cf_needs_threads_after_fork();
	path_of_child = path;
	assert_int_equal(portprof_config_write_to(config, path), PORTPROF_OK);
	status = end_of(start_child(child, config));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), CF_AFTER_EXEC_STATUS);
	weight = weight_in_file(path, is_complete);
	assert_true(weight > 30 * CF_MS);
	/* nor was the new image measured */
	assert_true(weight < 150 * CF_MS);
}

static void life_10_announced_exec_loses_nothing(void **state)
{
	(void)state;
	cf_needs(PORTPROF_CAP_EXEC_SAFE);
	check_file_after(measure_and_exec, false);
}

static void life_10_other_exec_loses_a_second(void **state)
{
	(void)state;
	cf_needs(PORTPROF_CAP_EXEC_SAFE);
	check_file_after(measure_and_exec_later, false);
}

static void life_28_exit_completes_files(void **state)
{
	(void)state;
	check_file_after(measure_and_exit, true);
}

/* ---- a crash ---- */

static int measure_and_crash(void *context)
{
	portprof_config *config = context;
	portprof_session *session = NULL;
	sigset_t one;

	CHILD_MUST(portprof_session_open(config, &session) == PORTPROF_OK);
	CHILD_MUST(portprof_session_start(session) == PORTPROF_OK);
	cf_burn(0, 0, 60 * CF_MS);
	CHILD_MUST(portprof_session_flush(session) == PORTPROF_OK);
	signal(SIGSEGV, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, SIGSEGV);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(SIGSEGV);
	return 1;
}

static void life_17_crash_ends_as_without_us(void **state)
{
	const char *path = cf_path();
	portprof_config *config = cf_config();
	int status;

	(void)state;
	cf_needs_files();
	cf_needs_real();
	assert_int_equal(portprof_config_write_to(config, path), PORTPROF_OK);
	status = end_of(start_child(measure_and_crash, config));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
	assert_true(weight_in_file(path, false) > 30 * CF_MS);
}

/* ---- descriptors that the program closes ---- */

enum { OWN_FILES = 12, DESCRIPTORS = 256 };

struct own_file {
	int fd;
	struct stat at;
};

static bool open_own(struct own_file *file)
{
	char path[] = "/tmp/portprof-own-XXXXXX";

	file->fd = mkstemp(path);
	return file->fd >= 0 && unlink(path) == 0 &&
	       write(file->fd, "mine", 4) == 4 &&
	       fstat(file->fd, &file->at) == 0;
}

static bool is_intact(const struct own_file *file)
{
	struct stat now;
	char held[8];

	return fstat(file->fd, &now) == 0 && now.st_ino == file->at.st_ino &&
	       pread(file->fd, held, sizeof(held), 0) == 4 &&
	       memcmp(held, "mine", 4) == 0;
}

/* As daemons do, while a session runs that has written to its file. */
static int close_all_and_go_on(void *context)
{
	struct own_file files[OWN_FILES];
	portprof_session *session = NULL;

	CHILD_MUST(portprof_session_open(context, &session) == PORTPROF_OK);
	CHILD_MUST(portprof_session_start(session) == PORTPROF_OK);
	cf_burn(0, 0, 30 * CF_MS);
	CHILD_MUST(portprof_session_flush(session) == PORTPROF_OK);
	for (int fd = 3; fd < DESCRIPTORS; fd++)
		close(fd);
	for (int i = 0; i < OWN_FILES; i++)
		CHILD_MUST(open_own(&files[i]));
	cf_burn(0, 0, 60 * CF_MS);
	portprof_session_flush(session);
	portprof_session_stop(session);
	portprof_session_close(session);
	for (int i = 0; i < OWN_FILES; i++)
		CHILD_MUST(is_intact(&files[i]));
	return 0;
}

static void life_24_closed_descriptors_are_left_alone(void **state)
{
	const char *path = cf_path();
	portprof_config *config = cf_config();
	int status;

	(void)state;
	cf_needs_files();
	cf_needs_real();
	cf_needs_threads_after_fork();
	assert_int_equal(portprof_config_write_to(config, path), PORTPROF_OK);
	status = end_of(start_child(close_all_and_go_on, config));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	/* what was measured before is there; an event that is a descriptor,
	 * as perf's are, has ended with it */
	assert_true(weight_in_file(path, false) > 20 * CF_MS);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(life_24_closed_descriptors_are_left_alone),
	CF_SAMPLES(life_8_child_session_is_inert),
	CF_SAMPLES(life_8_child_may_ignore_the_session),
	CF_LIFE(life_8_stopped_session_is_inert_too),
	CF_LIFE(life_8_child_may_open_its_own),
	CF_SAMPLES(life_9_children_are_not_measured_unasked),
	CF_SAMPLES(life_9_children_are_measured_when_asked),
	CF_LIFE(life_9_children_that_go_on_are_known),
	CF_CASE(life_9_needs_the_capability),
	CF_LIFE(life_10_new_image_does_not_die_of_us),
	CF_SAMPLES(life_10_announced_exec_loses_nothing),
	CF_SAMPLES(life_10_other_exec_loses_a_second),
	CF_SAMPLES(life_28_exit_completes_files),
	CF_SAMPLES(life_17_crash_ends_as_without_us),
};

CF_FAMILY(fork);
