/* SPDX-License-Identifier: MIT */
/* Finds and runs the conformance programs, and reads their output. */
#include "tools/selftest/selftest.h"

#include "tools/clock.h"
#include "tools/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A program that hangs must not hang the user. */
enum { LIMIT_S = 300, TURN_MS = 200 };

/* ".../conform_perf_real" tests the backend perf. */
static bool fill(struct ppi_selftest *test, const char *path)
{
	const char *name = strrchr(path, '/');

	memset(test, 0, sizeof(*test));
	test->fd = -1;
	if (sscanf(name ? name + 1 : path, "conform_%31[a-z]_real",
	           test->backend) != 1 || access(path, X_OK) != 0)
		return false;
	test->path = strdup(path);
	return test->path != NULL;
}

bool ppi_selftest_find(const char *folder, const char *backend,
                       struct ppi_selftest *tests, size_t *count)
{
	char pattern[4096];
	glob_t found;

	*count = 0;
	snprintf(pattern, sizeof(pattern), "%s/conform_%s_real", folder,
	         backend ? backend : "*");
	if (glob(pattern, 0, NULL, &found) != 0)
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (*count < PPI_SELFTESTS_MAX &&
		    fill(&tests[*count], found.gl_pathv[i]))
			++*count;
	globfree(&found);
	return *count > 0;
}

static void become(const struct ppi_selftest *test, int out)
{
	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execl(test->path, test->path, (char *)NULL);
	_exit(PPI_EXIT_CANNOT_RUN);
}

static bool start(struct ppi_selftest *test)
{
	int ends[2];

	if (pipe(ends) != 0)
		return false;
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	test->pid = fork();
	if (test->pid == 0)
		become(test, ends[1]);
	close(ends[1]);
	if (test->pid < 0) {
		close(ends[0]);
		return false;
	}
	test->fd = ends[0];
	test->start_ns = ppi_now_ns();
	return true;
}

static void end(struct ppi_selftest *test)
{
	close(test->fd);
	test->fd = -1;
	while (waitpid(test->pid, &test->status, 0) < 0 && errno == EINTR)
		;
	test->took_ns = ppi_now_ns() - test->start_ns;
}

static void take_bytes(struct ppi_selftest *test, const char *bytes,
                       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bytes[i] != '\n') {
			if (test->line_bytes < sizeof(test->line) - 1)
				test->line[test->line_bytes++] = bytes[i];
			continue;
		}
		test->line[test->line_bytes] = '\0';
		ppi_tap_line(&test->tap, test->line);
		test->line_bytes = 0;
	}
}

/* What has come; ends the test at its end. */
static void read_some(struct ppi_selftest *test)
{
	char bytes[4096];
	ssize_t got = read(test->fd, bytes, sizeof(bytes));

	if (got > 0)
		take_bytes(test, bytes, (size_t)got);
	else if (got == 0 || (errno != EINTR && errno != EAGAIN))
		end(test);
}

static void show_progress(const struct ppi_selftest *tests, size_t count)
{
	fputc('\r', stderr);
	for (size_t i = 0; i < count; i++)
		if (tests[i].pid)
			fprintf(stderr, "%s %u/%u  ", tests[i].backend,
			        tests[i].tap.ran, tests[i].tap.planned);
}

/* Wait for output of those that run; the number of them. */
static size_t turn(struct ppi_selftest *tests, size_t count)
{
	struct pollfd polled[PPI_SELFTESTS_MAX];
	size_t at[PPI_SELFTESTS_MAX], running = 0;

	for (size_t i = 0; i < count; i++) {
		if (tests[i].fd < 0)
			continue;
		if (ppi_now_ns() - tests[i].start_ns > LIMIT_S * 1000000000ull)
			kill(tests[i].pid, SIGKILL);
		polled[running] = (struct pollfd){ tests[i].fd, POLLIN, 0 };
		at[running++] = i;
	}
	if (running && poll(polled, running, TURN_MS) > 0)
		for (size_t i = 0; i < running; i++)
			if (polled[i].revents)
				read_some(&tests[at[i]]);
	return running;
}

bool ppi_selftest_run(struct ppi_selftest *tests, size_t count,
                      bool progress)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t at_once = cpus > 0 ? (size_t)cpus : 1, next = 0, running = 0;

	while (next < count || running > 0) {
		while (next < count && running < at_once) {
			if (!start(&tests[next]))
				return false;
			next++;
			running++;
		}
		turn(tests, count);
		running = 0;
		for (size_t i = 0; i < next; i++)
			running += tests[i].fd >= 0;
		if (progress)
			show_progress(tests, count);
	}
	if (progress)
		fprintf(stderr, "\r%60s\r", "");
	return true;
}

bool ppi_selftest_was_skipped(const struct ppi_selftest *test)
{
	return WIFEXITED(test->status) && WEXITSTATUS(test->status) == 77;
}

bool ppi_selftest_passed(const struct ppi_selftest *test)
{
	return test->tap.failed == 0 && test->tap.ran > 0 &&
	       test->tap.ran == test->tap.planned &&
	       WIFEXITED(test->status) && WEXITSTATUS(test->status) == 0;
}
