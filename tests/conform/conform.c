/* SPDX-License-Identifier: MIT */
/* Sessions, configs and memory of a case, given back whatever happens. */
#include "tests/conform/conform.h"
#include "tests/memory/alloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRACKED = 256 };

static portprof_session *sessions[TRACKED];
static portprof_config *configs[TRACKED];
static portprof_group *groups[TRACKED];
static void *blocks[TRACKED];
static char paths[8][64];
static size_t config_count, block_count, path_count;
static uint64_t measured;

const char *cf_program_path;

/* ---- around each case ---- */

/* That a hypervisor kept for others, until the case began. */
static uint64_t stolen_before;

uint64_t cf_slack(uint64_t used_ns)
{
	if (fixture.is_exact)
		return 0;
	return used_ns / 20 + 10 * CF_MS +
	       (fixture.stolen_ns ? fixture.stolen_ns() - stolen_before : 0);
}

void cf_begin(void)
{
	const char *reason = fixture.setup();

	if (reason)
		fail_msg("set-up: %s", reason);
	stolen_before = fixture.stolen_ns ? fixture.stolen_ns() : 0;
}

void cf_finish(void)
{
	for (size_t i = 0; i < TRACKED; i++) {
		if (sessions[i])
			cf_close(sessions[i]);
		if (groups[i])
			cf_close_group(groups[i]);
	}
	assert_int_equal(fixture.held(), 0);
}

static void remove_path(const char *path)
{
	char old[80];

	unlink(path);
	snprintf(old, sizeof(old), "%s.old", path);
	unlink(old);
}

void cf_clean_up(void)
{
	alloc_reset();
	fx_set_room(0);
	for (size_t i = 0; i < TRACKED; i++) {
		portprof_session_close(sessions[i]);
		portprof_group_close(groups[i]);
		sessions[i] = NULL;
		groups[i] = NULL;
	}
	while (config_count)
		portprof_config_free(configs[--config_count]);
	fx_put_back();
	fixture.teardown();
	cf_free_logs();
	while (block_count)
		free(blocks[--block_count]);
	while (path_count)
		remove_path(paths[--path_count]);
}

void cf_skip(const char *words, ...)
{
	va_list values;

	va_start(values, words);
	fputs("skip: ", stdout);
	vfprintf(stdout, words, values);
	fputs("\n", stdout);
	fflush(stdout);
	va_end(values);
	skip();
}

void *cf_memory(size_t bytes)
{
	size_t whole = (bytes + 63) / 64 * 64;
	void *block = aligned_alloc(64, whole ? whole : 64);

	assert_non_null(block);
	assert_true(block_count < TRACKED);
	memset(block, 0, whole);
	blocks[block_count++] = block;
	return block;
}

const char *cf_path(void)
{
	const char *folder = getenv("TMPDIR");

	assert_true(path_count < sizeof(paths) / sizeof(paths[0]));
	snprintf(paths[path_count], sizeof(paths[0]), "%.24s/conform.%ld.%zu",
	         folder && strlen(folder) <= 24 ? folder : "/tmp",
	         (long)getpid(), path_count);
	remove_path(paths[path_count]);
	return paths[path_count++];
}

static void must(portprof_status status, const char *what)
{
	if (status != PORTPROF_OK)
		fail_msg("%s: %s: %s", what, portprof_status_name(status),
		         portprof_last_diag()->words);
}

/* ---- what a case asks for ---- */

void cf_ask(enum cf_profile profile)
{
	measured = 0;
	if (profile == CF_FOR_LIVES || profile == CF_FOR_SAMPLES)
		cf_needs(PORTPROF_CAP_SAMPLE);
	if (profile == CF_FOR_GROUPS || profile == CF_FOR_COUNTS)
		cf_needs(PORTPROF_CAP_COUNT);
	if ((profile == CF_FOR_SAMPLES || profile == CF_FOR_COUNTS) &&
	    cf_burn(0, 0, CF_MS) == 0)
		cf_skip("measures nothing: no time passes on this kernel");
}

void cf_measured(uint64_t value)
{
	measured |= value;
}

void cf_judge(enum cf_profile profile)
{
	if (!measured &&
	    (profile == CF_FOR_SAMPLES || profile == CF_FOR_COUNTS))
		fail_msg("the case measured nothing, and so proves nothing");
}

/* ---- what can be asked here ---- */

uint64_t cf_caps(void)
{
	portprof_backend_info info = { .size = sizeof(info) };

	for (size_t i = 0; i < portprof_backend_count(); i++) {
		assert_int_equal(portprof_backend_info_get(i, &info),
		                 PORTPROF_OK);
		if (strcmp(info.name, fixture.backend) == 0)
			return info.caps;
	}
	fail_msg("this build has no backend %s", fixture.backend);
	return 0;
}

bool cf_has(uint64_t cap)
{
	return (cf_caps() & cap) == cap;
}

void cf_refuses(uint64_t cap)
{
	portprof_config *config = cf_config();
	portprof_status status;

	assert_int_equal(portprof_config_require(config, cap), PORTPROF_OK);
	status = cf_try_any(config);
	if (status != PORTPROF_E_DENIED)
		assert_int_equal(status, PORTPROF_E_UNSUPPORTED);
	cf_diag(status);
	assert_non_null(strstr(portprof_last_diag()->words,
	                       portprof_cap_name(cap)));
	assert_int_equal(fixture.held(), 0);
}

void cf_needs(uint64_t cap)
{
	if (cf_has(cap))
		return;
	cf_refuses(cap);
	cf_skip("lacks %s, and refuses it", portprof_cap_name(cap));
}

void cf_needs_real(void)
{
	if (!fixture.is_real)
		cf_skip("needs a real kernel");
}

#if defined(__SANITIZE_THREAD__)
#define HAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_TSAN 1
#endif
#endif

void cf_needs_threads_after_fork(void)
{
#ifdef HAS_TSAN
	cf_skip("ThreadSanitizer loses track of threads after a fork");
#endif
}

void cf_needs_files(void)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_status status;

	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	status = portprof_config_write_to(config, cf_path());
	if (status == PORTPROF_OK)
		status = cf_try_open(config, &session);
	if (status == PORTPROF_E_UNSUPPORTED)
		cf_skip("profile files were left out of this build");
	must(status, "open with a file");
	cf_close(session);
}

/* ---- sessions ---- */

portprof_config *cf_config(void)
{
	portprof_config *config = portprof_config_new();

	assert_non_null(config);
	assert_true(config_count < TRACKED);
	configs[config_count++] = config;
	assert_int_equal(portprof_config_set_backend(config, fixture.backend),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_set_frequency(config, CF_HZ),
	                 PORTPROF_OK);
	return config;
}

portprof_status cf_try_open(const portprof_config *config,
                            portprof_session **session)
{
	portprof_status status = portprof_session_open(config, session);
	size_t i = 0;

	if (status)
		return status;
	assert_string_equal(portprof_session_backend(*session),
	                    fixture.backend);
	while (i < TRACKED && sessions[i])
		i++;
	assert_true(i < TRACKED);
	sessions[i] = *session;
	return status;
}

portprof_session *cf_open(const portprof_config *config)
{
	portprof_session *session = NULL;

	must(cf_try_open(config, &session), "open");
	return session;
}

void cf_start(portprof_session *session)
{
	must(portprof_session_start(session), "start");
}

void cf_stop(portprof_session *session)
{
	must(portprof_session_stop(session), "stop");
}

void cf_forget(portprof_session *session)
{
	for (size_t i = 0; i < TRACKED; i++)
		if (sessions[i] == session)
			sessions[i] = NULL;
}

void cf_close(portprof_session *session)
{
	cf_forget(session);
	must(portprof_session_close(session), "close");
}

portprof_status cf_try_group(const portprof_config *config,
                             portprof_group **group)
{
	portprof_status status = portprof_group_open_config(config, group);
	size_t i = 0;

	if (status)
		return status;
	assert_string_equal(portprof_group_backend(*group), fixture.backend);
	while (i < TRACKED && groups[i])
		i++;
	assert_true(i < TRACKED);
	groups[i] = *group;
	return status;
}

portprof_group *cf_group(const portprof_config *config)
{
	portprof_group *group = NULL;

	must(cf_try_group(config, &group), "open group");
	return group;
}

portprof_status cf_try_any(const portprof_config *config)
{
	portprof_session *session = NULL;
	portprof_group *group = NULL;
	portprof_status status;

	status = cf_has(PORTPROF_CAP_SAMPLE) ? cf_try_open(config, &session)
	                                     : cf_try_group(config, &group);
	if (session)
		cf_close(session);
	if (group)
		cf_close_group(group);
	return status;
}

portprof_count cf_read(portprof_group *group)
{
	portprof_count count;

	must(portprof_group_read(group, &count, 1), "read group");
	cf_measured(count.raw);
	return count;
}

void cf_close_group(portprof_group *group)
{
	for (size_t i = 0; i < TRACKED; i++)
		if (groups[i] == group)
			groups[i] = NULL;
	portprof_group_close(group);
}

portprof_stats cf_stats(portprof_session *session, size_t event)
{
	portprof_stats s = { .size = sizeof(s) };

	must(portprof_session_stats(session, event, &s), "stats");
	assert_int_equal(s.size, sizeof(s));
	assert_int_equal(s.delivered_samples,
	                 s.kept_samples + s.outside_samples + s.lost_samples);
	assert_int_equal(s.total_weight + s.excess_weight,
	                 s.kept_weight + s.outside_weight +
	                         s.unattributed_weight);
	assert_true(s.not_attached_weight <= s.unattributed_weight);
	cf_measured(s.total_weight);
	return s;
}

portprof_sink_stats cf_sink(portprof_session *session, size_t sink)
{
	portprof_sink_stats s = { .size = sizeof(s) };

	must(portprof_session_sink_stats(session, sink, &s), "sink stats");
	return s;
}

void cf_diag(portprof_status status)
{
	const portprof_diag *diag = portprof_last_diag();

	assert_non_null(diag);
	assert_int_equal(diag->status, status);
	assert_true(diag->step[0] != '\0');
	assert_true(strlen(diag->words) > 8);
	assert_non_null(memchr(diag->words, '\0', sizeof(diag->words)));
}

/* ---- what is charged to the process, but is no work of its program ---- */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t cf_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t cf_process_time(void)
{
	struct rusage usage;

	if (fixture.is_exact || getrusage(RUSAGE_SELF, &usage) != 0)
		return 0;
	return ((uint64_t)usage.ru_utime.tv_sec +
	        (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)usage.ru_utime.tv_usec +
	        (uint64_t)usage.ru_stime.tv_usec) * 1000u;
}

/* ---- a child ---- */

void cf_in_child(int (*child)(void *context), void *context)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	fflush(stderr);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child(context));
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	if (WIFSIGNALED(status))
		fail_msg("the child died of signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		fail_msg("the child failed with %d", WEXITSTATUS(status));
}
