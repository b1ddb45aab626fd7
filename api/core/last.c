/* SPDX-License-Identifier: MIT */
/*
 * What the last calls of a thread have left for it: some KiB, which only threads need
 * that ask or fail. In thread-local memory they would be part of what the loader sets
 * aside at once, for the few words of it that signal handlers use (base/thread.h), and
 * a program that loads the library later has not so much left (glibc,
 * rtld.optional_static_tls: 512 bytes).
 */
#include "config.h"

#include "api/core/last.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_key_t key;
static bool has_key;

static void make_key(void)
{
	has_key = pthread_key_create(&key, free) == 0;
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
	last = calloc(1, sizeof(*last));
	if (last && pthread_setspecific(key, last) == 0)
		return last;
	free(last);
	return &shared;
}
