/* SPDX-License-Identifier: MIT */
/* A program that closes all it did not open itself, with a group of counters in it:
 * what it opens later in their places is not read, switched or closed. */
#include "tests/unit/perf_run.h"

#include <portprof.h>
#include <portprof/tool.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/perf_event.h>

enum { OWN = 48, ROOM = 256 };

static const char words[] = "what nobody but its owner may read";

struct numbers {
	int fds[ROOM];
	size_t count;
};

static struct numbers numbers_now(void)
{
	struct numbers now = { .count = 0 };
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' && now.count < ROOM &&
		    atoi(entry->d_name) != dirfd(dir))
			now.fds[now.count++] = atoi(entry->d_name);
	if (dir)
		closedir(dir);
	return now;
}

static bool has(const struct numbers *numbers, int fd)
{
	for (size_t i = 0; i < numbers->count; i++)
		if (numbers->fds[i] == fd)
			return true;
	return false;
}

/* Skips where there is no perf. */
static portprof_group *open_group(const char *events)
{
	portprof_config *config = portprof_config_new();
	portprof_group *group = NULL;

	assert_int_equal(portprof_config_set_backend(config, "perf"),
	                 PORTPROF_OK);
	assert_int_equal(portprof_config_add_event(config, events),
	                 PORTPROF_OK);
	if (portprof_group_open_config(config, &group) != PORTPROF_OK) {
		portprof_config_free(config);
		skip();
	}
	portprof_config_free(config);
	return group;
}

/* In a process of its own; cmocka's has descriptors, too. */
static void in_child(int (*does)(const char *events), const char *events)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		alarm(60); /* a pipe that is empty is waited for */
		_exit(does(events));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static portprof_group *open_or_leave(const char *events)
{
	portprof_config *config = portprof_config_new();
	portprof_group *group = NULL;

	if (portprof_config_set_backend(config, "perf") ||
	    portprof_config_add_event(config, events) ||
	    portprof_group_open_config(config, &group))
		_exit(77);
	portprof_config_free(config);
	return group;
}

#define MUST(what)                                                         \
	do {                                                               \
		if (!(what)) {                                             \
			fprintf(stderr, "%d: %s\n", __LINE__, #what);      \
			_exit(1);                                          \
		}                                                          \
	} while (0)

static int close_and_open_own(const char *events)
{
	portprof_group *group = open_or_leave(events);
	struct numbers all = numbers_now();
	portprof_count counts[2];
	int pipes[OWN][2], empty[2];
	char held[sizeof(words)];

	MUST(portprof_group_read(group, counts, 2) == PORTPROF_OK);
	for (size_t i = 0; i < all.count; i++)
		if (all.fds[i] > 2)
			close(all.fds[i]);
	for (int i = 0; i < OWN; i++) {
		MUST(pipe(pipes[i]) == 0);
		MUST(write(pipes[i][1], words, sizeof(words)) ==
		     (ssize_t)sizeof(words));
	}
	MUST(pipe(empty) == 0);
	MUST(portprof_group_read(group, counts, 2) == PORTPROF_E_SYSTEM);
	MUST(strstr(portprof_last_diag()->words, "closed the descriptors"));
	MUST(portprof_last_diag()->os_errno == EBADF);
	MUST(strstr(portprof_last_diag()->words, "open another"));
	MUST(portprof_group_event_read(group, 1, counts) ==
	     PORTPROF_E_SYSTEM);
	MUST(portprof_group_stop(group) != PORTPROF_OK);
	MUST(portprof_group_start(group) != PORTPROF_OK);
	portprof_group_close(group);
	for (int i = 0; i < OWN; i++)
		MUST(read(pipes[i][0], held, sizeof(held)) ==
		             (ssize_t)sizeof(held) &&
		     memcmp(held, words, sizeof(held)) == 0);
	MUST(fcntl(empty[0], F_GETFD) >= 0 && fcntl(empty[1], F_GETFD) >= 0);
	return 0;
}

static void pipes_are_not_read(void **state)
{
	(void)state;
	in_child(close_and_open_own, "task-clock,page-faults");
}

static void nor_by_several_groups(void **state)
{
	(void)state;
	in_child(close_and_open_own, "{task-clock},{page-faults}");
}

/* The program's own event, at the very number. */
static int put_own_event_there(const char *events)
{
	struct numbers before = numbers_now(), all;
	portprof_group *group = open_or_leave(events);
	portprof_count count;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS, .exclude_kernel = 1,
		.exclude_hv = 1, .disabled = 1,
	};
	int own = ppi_perf_kernel_real.open_event(NULL, &attr, 0, -1, -1, 0);
	uint64_t first, then;

	all = numbers_now();
	MUST(own >= 0 && all.count > before.count + 1);
	for (size_t i = 0; i < all.count; i++)
		if (!has(&before, all.fds[i]) && all.fds[i] != own)
			MUST(dup2(own, all.fds[i]) >= 0);
	/* the answer of one event is shorter than that of a group */
	MUST(portprof_group_read(group, &count, 1) == PORTPROF_E_SYSTEM);
	portprof_group_start(group);
	MUST(read(own, &first, 8) == 8);
	free(memset(malloc(1 << 20), 1, 1 << 20));
	MUST(read(own, &then, 8) == 8);
	MUST(then == first); /* it is off still */
	MUST(ioctl(own, PERF_EVENT_IOC_ENABLE, 0) == 0);
	portprof_group_stop(group);
	MUST(read(own, &first, 8) == 8);
	free(memset(malloc(1 << 20), 1, 1 << 20));
	MUST(read(own, &then, 8) == 8);
	MUST(then > first); /* and on */
	portprof_group_close(group);
	for (size_t i = 0; i < all.count; i++)
		MUST(fcntl(all.fds[i], F_GETFD) >= 0);
	return 0;
}

static void an_event_of_the_programs_own_is_not_switched(void **state)
{
	(void)state;
	in_child(put_own_event_there, "task-clock,page-faults");
}

/* Another group, which has as many events, at the first one's numbers: far from
 * the program's own descriptors they are the next. */
static int open_another_group_there(const char *events)
{
	struct numbers before = numbers_now(), first, then;
	portprof_group *group = open_or_leave(events), *another;
	portprof_count count;

	first = numbers_now();
	for (size_t i = 0; i < first.count; i++)
		if (first.fds[i] > 2)
			close(first.fds[i]);
	another = open_or_leave(events);
	then = numbers_now();
	for (size_t i = 0; i < first.count; i++)
		if (!has(&before, first.fds[i]))
			MUST(has(&then, first.fds[i]));
	MUST(portprof_group_read(another, &count, 1) == PORTPROF_OK);
	MUST(portprof_group_event_read(group, 0, &count) == PORTPROF_E_SYSTEM);
	MUST(strstr(portprof_last_diag()->words, "closed the descriptors"));
	MUST(portprof_last_diag()->os_errno == EBADF);
	MUST(strstr(portprof_last_diag()->words, "open another"));
	MUST(portprof_group_read(group, &count, 1) == PORTPROF_E_SYSTEM);
	MUST(portprof_group_stop(group) != PORTPROF_OK);
	portprof_group_close(group);
	MUST(portprof_group_read(another, &count, 1) == PORTPROF_OK);
	portprof_group_close(another);
	return 0;
}

static void another_groups_counts_are_not_its_own(void **state)
{
	(void)state;
	in_child(open_another_group_there, "task-clock");
	in_child(open_another_group_there, "task-clock,page-faults");
	in_child(open_another_group_there, "{task-clock},{page-faults}");
}

/* What a program opens next has a number that ours cannot have had. */
static void ours_are_out_of_the_way(void **state)
{
	struct numbers before = numbers_now(), all;
	portprof_group *group = open_group("task-clock,page-faults");
	int next = open("/dev/null", O_RDONLY);

	(void)state;
	all = numbers_now();
	for (size_t i = 0; i < all.count; i++)
		if (!has(&before, all.fds[i]) && all.fds[i] != next)
			assert_true(all.fds[i] > next + 64);
	close(next);
	portprof_group_close(group);
	all = numbers_now();
	assert_int_equal(all.count, before.count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipes_are_not_read),
		cmocka_unit_test(nor_by_several_groups),
		cmocka_unit_test(an_event_of_the_programs_own_is_not_switched),
		cmocka_unit_test(another_groups_counts_are_not_its_own),
		cmocka_unit_test(ours_are_out_of_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
