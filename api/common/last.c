/* SPDX-License-Identifier: MIT */
/*
 * What the last calls of a thread have left for it: some KiB, which only threads need
 * that ask or fail. In thread-local memory they would be part of what the loader sets
 * aside at once, for the few words of it that signal handlers use (base/thread.h), and
 * a program that loads the library later has not so much left (glibc,
 * rtld.optional_static_tls: 512 bytes).
 */
#include "config.h"

#include "api/common/last.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static pthread_key_t key;
static bool has_key;

/* Most programs ask in one thread: its own needs no allocation, and is left to
 * another when it ends. */
static struct ppi_last first;
static _Atomic bool is_taken;

static void give_back(void *memory)
{
	if (memory != &first) {
		free(memory);
		return;
	}
	memset(&first, 0, sizeof(first));
	atomic_store(&is_taken, false);
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, give_back) == 0;
}

struct ppi_last *ppi_last(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static struct ppi_last shared;
	struct ppi_last *last;

	pthread_once(&once, make_key);
	last = has_key ? pthread_getspecific(key) : NULL;
	if (last || !has_key)
		return last ? last : &shared;
	last = atomic_exchange(&is_taken, true) ? calloc(1, sizeof(*last))
	                                        : &first;
	if (last && pthread_setspecific(key, last) == 0)
		return last;
	if (last)
		give_back(last);
	return &shared;
}
