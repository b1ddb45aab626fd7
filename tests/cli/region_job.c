/* SPDX-License-Identifier: MIT */
/*
 * A program with regions that opens none: one process of a job.
 *
 * usage: region_job TURNS THREADS [label | fork | exit | kill | close | late]...
 *   label  the threads work in a set of labels: of their number, odd or even
 *   fork   a forked child has a turn, too, while the parent's is open
 *   exit   the program ends inside the region "whole"
 *   kill   ... by SIGKILL
 *   close  it closes regions that it did not open
 *   late   it opens regions after it has begun some: its status is printed
 */
#include <portprof.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_MAX = 16 };

static unsigned turns;

/* So many steps a turn, so that there is something to count. */
static void turn(void)
{
	static _Thread_local volatile unsigned sum;

	portprof_region_begin(NULL, "turn");
	for (unsigned i = 0; i < 100000; i++)
		sum += i;
	(void)sum;
	portprof_region_begin(NULL, "a \"name\"\n of two lines");
	portprof_region_end(NULL, "a \"name\"\n of two lines");
	portprof_region_end(NULL, "turn");
}

static bool has_labels;

static void *work(void *number)
{
	const portprof_label label = {
		"kind", (uintptr_t)number % 2 ? "\"odd\"\n" : "even"
	};

	if (has_labels)
		portprof_label_enter(portprof_label_set_new(&label, 1));
	for (unsigned i = 0; i < turns; i++)
		turn();
	return NULL;
}

static bool asks_for(int argc, char **argv, const char *word)
{
	for (int i = 3; i < argc; i++)
		if (strcmp(argv[i], word) == 0)
			return true;
	return false;
}

static int fork_one(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		turn();
		exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child &&
	       WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	unsigned count;

	if (argc < 3)
		return 2;
	turns = (unsigned)atoi(argv[1]);
	has_labels = asks_for(argc, argv, "label");
	count = (unsigned)atoi(argv[2]);
	portprof_region_begin(NULL, "whole");
	for (unsigned i = 0; i < count && i < THREADS_MAX; i++)
		if (pthread_create(&threads[i], NULL, work,
		                   (void *)(uintptr_t)i))
			return 1;
	for (unsigned i = 0; i < count && i < THREADS_MAX; i++)
		pthread_join(threads[i], NULL);
	if (asks_for(argc, argv, "fork") && fork_one())
		return 1;
	if (asks_for(argc, argv, "late"))
		printf("%d\n", portprof_regions_open(NULL, NULL));
	if (asks_for(argc, argv, "kill"))
		raise(SIGKILL);
	if (asks_for(argc, argv, "exit"))
		exit(0);
	portprof_region_end(NULL, "whole");
	if (asks_for(argc, argv, "close"))
		portprof_regions_close(NULL);
	return 0;
}
