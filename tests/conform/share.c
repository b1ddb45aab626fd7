/* SPDX-License-Identifier: MIT */
/* Samples left in memory for a session of another process. */
#include "tests/conform/conform.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <portprof/tool.h>

/* A session shares only samples of the whole address space. */
static portprof_config *sharing_config(const char *name)
{
	portprof_config *config = cf_config();

	assert_int_equal(portprof_config_share_with(config, name), PORTPROF_OK);
	return config;
}

/* Who leaves its samples to another has had ticks all the same. */
static void has_no_silence(portprof_session *session)
{
	const char *words;

	for (size_t i = 0; (words = portprof_session_note(session, i)); i++)
		if (strncmp(words, "no tick came", 12) == 0)
			fail_msg("%s", words);
}

/* Two sessions of one process: what one leaves, the other collects. */
static void life_23_what_is_shared_is_collected(void **state)
{
	portprof_config *config = cf_config();
	struct cf_program program = { .count = 0 };
	portprof_session *collector, *session;
	struct cf_watch watch;
	struct expect expect;
	portprof_stats stats;
	const char *name;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	cf_watch(config, &watch);
	assert_int_equal(portprof_config_collect(config, &name), PORTPROF_OK);
	collector = cf_open(config);
	cf_start(collector);
	session = cf_open(sharing_config(name));
	cf_start(session);
	for (int i = 0; i < 3; i++) {
		cf_work(&program, 0, 0, 30 * CF_MS);
		cf_work(&program, 0, 1, 20 * CF_MS);
		cf_run(&program);
		assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
		assert_int_equal(portprof_session_flush(collector),
		                 PORTPROF_OK);
	}
	cf_stop(session);
	/* a busy machine may hold ticks back for so long */
	if (fixture.is_exact)
		has_no_silence(session);
	cf_close(session);
	cf_stop(collector);
	expect = cf_expect(&program, CF_PERIOD_NS);
	stats = cf_stats(collector, 0);
	/* where ends are estimated the first sample weighs all of the period that
	 * it ends */
	if (stats.standard_error) {
		expect.sampled.high += 2 * stats.granted_period;
		for (unsigned f = 0; f < 2; f++)
			expect.function[f].high += 2 * stats.granted_period;
	}
	cf_check_functions(&watch, &expect);
	cf_in_range(stats.kept_weight + stats.outside_weight, expect.sampled,
	            "weight that was collected");
	if (fixture.is_exact)
		assert_int_equal(stats.total_weight, cf_used(&program));
	cf_close(collector);
}

/* In a forked child nothing may be asserted. */
static int leave_and_be_killed(const char *name)
{
	portprof_config *config = portprof_config_new();
	portprof_session *session = NULL;

	if (!config || portprof_config_set_backend(config, fixture.backend) ||
	    portprof_config_set_frequency(config, CF_HZ) ||
	    portprof_config_share_with(config, name) ||
	    portprof_session_open(config, &session) ||
	    portprof_session_start(session))
		return 1;
	cf_burn(0, 0, 60 * CF_MS);
	if (portprof_session_flush(session))
		return 2;
	raise(SIGKILL);
	return 3;
}

static int end_of(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return status;
}

static void life_23_what_a_killed_process_left_is_collected(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *collector;
	struct cf_watch watch;
	const char *name;
	int status;
	pid_t pid;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	cf_needs_real();
	cf_needs_threads_after_fork();
	cf_watch(config, &watch);
	assert_int_equal(portprof_config_collect(config, &name), PORTPROF_OK);
	collector = cf_open(config);
	cf_start(collector);
	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(leave_and_be_killed(name));
	status = end_of(pid);
	if (WIFEXITED(status))
		fail_msg("the child failed at %d", WEXITSTATUS(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	cf_stop(collector);
	assert_true(cf_watched(&watch, 0) > 30 * CF_MS);
	cf_stats(collector, 0);
	cf_close(collector);
}

static void life_23_who_collects_nothing_says_so(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *collector, *session;
	const char *name;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	assert_int_equal(portprof_config_collect(config, &name), PORTPROF_OK);
	collector = cf_open(config);
	cf_start(collector);
	assert_int_equal(portprof_session_stop(collector), PORTPROF_E_NOTFOUND);
	cf_diag(PORTPROF_E_NOTFOUND);
	cf_close(collector);
	/* a number that cannot be memory, and what is no number */
	assert_int_equal(cf_try_open(sharing_config("2147483647"), &session),
	                 PORTPROF_E_NOTFOUND);
	cf_diag(PORTPROF_E_NOTFOUND);
	assert_int_equal(cf_try_open(sharing_config("none"), &session),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
}

static void life_23_shared_samples_go_nowhere_else(void **state)
{
	portprof_config *config = cf_config();
	uint64_t *pcs = cf_memory(64);

	(void)state;
	assert_int_equal(portprof_config_share_with(config, "1"), PORTPROF_OK);
	assert_int_equal(portprof_config_add_array(config, pcs, 8),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	config = cf_config();
	assert_int_equal(portprof_config_add_array(config, pcs, 8),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_share_with(config, "1"),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(life_23_what_is_shared_is_collected),
	CF_SAMPLES(life_23_what_a_killed_process_left_is_collected),
	CF_LIFE(life_23_who_collects_nothing_says_so),
	CF_CASE(life_23_shared_samples_go_nowhere_else),
};

CF_FAMILY(share);
