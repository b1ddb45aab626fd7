/* SPDX-License-Identifier: MIT */
/*
 * Threads of a program with a tracing library of its own (otel_hand.h): each record's
 * function proves the record.
 *   otel_burn THREADS MILLISECONDS [LIE [PLUGIN]]
 * MILLISECONDS: of CPU time, of all threads together. LIE: a number of what a hostile program's
 * thread shows beside; 0: nothing. PLUGIN: the tracing library is loaded late (otel_plugin.c).
 */
#include "../fixtures/otel_hand.h"
#include "../fixtures/spent.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/* A signal handler of the thread reads it. */
__attribute__((visibility("default"))) _Thread_local const void *volatile otel_thread_ctx_v1;

static void enter_own(const void *record)
{
	otel_thread_ctx_v1 = record;
}

/* Or that of a library that is loaded late. */
static void (*enter)(const void *record) = enter_own;

static uint64_t until_ns;
static volatile uint64_t result;
static int lie;

#define WORK(name, factor)                                              \
	__attribute__((noinline)) void name(void);                      \
	__attribute__((noinline)) void name(void)                       \
	{                                                               \
		uint64_t x = factor;                                    \
		for (unsigned i = 0; i < 3000; i++) {                   \
			x = x * factor + i;                             \
			__asm__ volatile("" : "+r"(x));                 \
		}                                                       \
		result = x;                                             \
	}

WORK(work_search, 3)
WORK(work_checkout, 5)
WORK(work_nobody, 11)
WORK(work_hostile, 13)

static _Alignas(8) unsigned char search[640], checkout[640];

static void *serve(void *unused)
{
	for (unsigned turn = 0; turn % 64 || spent_process_ns() < until_ns; turn++) {
		enter(search);
		work_search();
		enter(checkout);
		work_checkout();
		enter(NULL);
		work_nobody();
		if (!lie)
			continue;
		enter(otel_lie(lie));
		work_hostile();
		enter(NULL);
	}
	return unused;
}

static void load(const char *plugin)
{
	void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL), *found;

	found = handle ? dlsym(handle, "otel_plugin_enter") : NULL;
	if (!found)
		exit(3);
	memcpy(&enter, &found, sizeof(enter));
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count = argc > 2 ? atoi(argv[1]) : 0;

	if (count < 1 || count > 64)
		return 2;
	lie = argc > 3 ? atoi(argv[3]) : 0;
	if (argc > 4)
		load(argv[4]);
	otel_publish_process("endpoint", "tenant");
	otel_make_record(search, "/search");
	otel_make_record(checkout, "/checkout");
	until_ns = spent_process_ns() + (uint64_t)atoi(argv[2]) * 1000000u;
	for (int i = 1; i < count; i++)
		if (pthread_create(&threads[i], NULL, serve, NULL) != 0)
			return 1;
	serve(NULL);
	for (int i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
