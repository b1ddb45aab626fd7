/* SPDX-License-Identifier: MIT */
/*
 * A program that loads a plugin, lets it measure and unloads it, three times.
 *
 * usage: host PLUGIN BACKEND HOW
 *
 * HOW: "closed", the plugin has closed all when it is unloaded, but the threads
 * it was used in are still to end, and children are forked; or "running", a
 * session runs on. Prints how often the measuring began, and "alive" at the
 * end.
 */
#include "config.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *plugin, *backend;
static bool is_to_close;
static int begun;

static void burn(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 5;
	volatile double x = 1;

	while (clock() < end)
		for (int i = 0; i < 10000; i++)
			x *= 1.00001;
	(void)x;
}

static void *use_plugin(void *unused)
{
	void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL), *found;
	int (*measure)(const char *, bool);

	(void)unused;
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	found = dlsym(handle, "plugin_measure");
	memcpy(&measure, &found, sizeof(measure));
	begun += measure(backend, is_to_close) == 0;
	dlclose(handle);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	plugin = argv[1];
	backend = argv[2];
	is_to_close = strcmp(argv[3], "closed") == 0;
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		pid_t child;

		pthread_create(&thread, NULL, use_plugin, NULL);
		pthread_join(thread, NULL);
		burn();
		child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	printf("begun %d\nalive\n", begun);
	return 0;
}
