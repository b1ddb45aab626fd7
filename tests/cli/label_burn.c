/* SPDX-License-Identifier: MIT */
/*
 * Threads that change sets of labels fast; each set runs a function of its own, so
 * that a sample's function proves its label.
 *   label_burn THREADS MILLISECONDS LOOPS [fork | vfork | span | plugin FILE]
 * MILLISECONDS: of CPU time, of all threads together, so that there are samples on a busy
 * machine, too. LOOPS: of each function, in each of its sets. With fork a child does the same
 * afterwards, which is born in a set; with vfork one works in the memory of its parent, which waits
 * for it. With span some work is of a span of a trace. With a plugin
 * it works afterwards in a set that the plugin has entered, which is unloaded by then.
 */
#include "../fixtures/spent.h"

#include <portprof.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned loops;
static uint64_t until_ns;
static volatile uint64_t result;

/* Not alike, so that no compiler makes one of them. */
#define WORK(name, factor)                                              \
	__attribute__((noinline)) void name(void);                      \
	__attribute__((noinline)) void name(void)                       \
	{                                                               \
		uint64_t x = factor;                                    \
		for (unsigned i = 0; i < loops; i++) {                  \
			x = x * factor + i;                             \
			__asm__ volatile("" : "+r"(x));                 \
		}                                                       \
		result = x;                                             \
	}

WORK(work_search, 3)
WORK(work_checkout, 5)
WORK(work_cart, 7)
WORK(work_nobody, 11)

static const portprof_label_set *set_of(const char *endpoint)
{
	portprof_label labels[] = { { "endpoint", endpoint },
		                    { "tenant", "acme" } };
	const portprof_label_set *set = portprof_label_set_new(labels, 2);

	if (!set)
		exit(1);
	return set;
}

/* A request that a trace knows: as W3C writes its identifiers. */
static const portprof_label_set *span;

static void work_in_span(void)
{
	PORTPROF_LABEL_SCOPE(span);
	work_search();
}

static const portprof_label_set *span_set(void)
{
	const portprof_label labels[] = {
		{ "endpoint", "/search" }, { "tenant", "acme" },
		{ "trace_id", "0af7651916cd43dd8448eb211c80319c" },
		{ "span_id", "b7ad6b7169203331" },
	};

	return portprof_label_set_new(labels, 4);
}

static void *serve(void *context)
{
	const portprof_label_set *const *sets = context;

	for (unsigned turn = 0; turn % 64 || spent_process_ns() < until_ns; turn++) {
		{
			PORTPROF_LABEL_SCOPE(sets[0]);
			work_search();
			{
				PORTPROF_LABEL_SCOPE(sets[1]);
				work_checkout();
			}
			work_search();
		}
		work_nobody();
		if (span)
			work_in_span();
		if (portprof_label_push("endpoint", "/cart") != PORTPROF_OK)
			exit(1);
		work_cart();
		portprof_label_pop();
	}
	return NULL;
}

static void serve_all(unsigned threads, unsigned ms)
{
	const portprof_label_set *sets[2] = { set_of("/search"),
		                              set_of("/checkout") };
	pthread_t ids[64];

	until_ns = spent_process_ns() + ms * UINT64_C(1000000);
	for (unsigned i = 1; i < threads; i++)
		if (pthread_create(&ids[i], NULL, serve, sets) != 0)
			exit(1);
	serve(sets);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
}

static int work_after(const char *plugin, unsigned ms)
{
	void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL), *found;
	int (*enter)(void);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	found = dlsym(handle, "plugin_enter");
	memcpy(&enter, &found, sizeof(enter));
	if (!enter())
		return 1;
	dlclose(handle);
	until_ns = spent_process_ns() + ms * UINT64_C(1000000);
	while (spent_process_ns() < until_ns)
		work_checkout();
	portprof_label_pop();
	until_ns = spent_process_ns() + ms * UINT64_C(1000000);
	while (spent_process_ns() < until_ns)
		work_checkout();
	return 0; /* in the set: threads may end there */
}

/* The child of a vfork, in whose sets its parent is not. */
static void burn_in_memory(unsigned turns)
{
	PORTPROF_LABEL_SCOPE(set_of("/checkout"));
	for (unsigned i = 0; i < turns; i++)
		work_checkout();
}

static void work_beside(unsigned ms)
{
	PORTPROF_LABEL_SCOPE(set_of("/search"));
	uint64_t began_ns = spent_process_ns(), until = began_ns;
	unsigned turns = 0;
	pid_t child;

	for (; until < began_ns + 100000000; turns++) {
		work_search();
		until = spent_process_ns();
	}
	turns = (unsigned)((uint64_t)turns * ms / 100);
	child = vfork();
	if (child == 0) {
		burn_in_memory(turns);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	unsigned threads, ms;
	int status = 0;

	if (argc < 4)
		return 2;
	threads = (unsigned)atoi(argv[1]);
	ms = (unsigned)atoi(argv[2]);
	loops = (unsigned)atoi(argv[3]);
	if (threads < 1 || threads > 64)
		return 2;
	if (argc > 4 && strcmp(argv[4], "span") == 0)
		span = span_set();
	serve_all(threads, ms);
	if (argc > 5 && strcmp(argv[4], "plugin") == 0)
		return work_after(argv[5], ms);
	if (argc > 4 && strcmp(argv[4], "vfork") == 0)
		work_beside(ms);
	if (argc > 4 && strcmp(argv[4], "fork") == 0) {
		PORTPROF_LABEL_SCOPE(set_of("/checkout"));
		pid_t child = fork();

		if (child == 0) {
			until_ns = spent_process_ns() +
			           ms * UINT64_C(1000000);
			while (spent_process_ns() < until_ns)
				work_checkout();
			portprof_label_leave(NULL);
			serve_all(threads, ms);
			exit(0);
		}
		waitpid(child, &status, 0);
	}
	return status != 0;
}
