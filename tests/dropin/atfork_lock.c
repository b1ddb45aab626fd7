/* SPDX-License-Identifier: MIT */
/*
 * fork() as on NetBSD, for programs on glibc: it holds a lock while the handlers
 * of pthread_atfork run, and pthread_create and pthread_atfork need that lock
 * (lib/libc/gen/pthread_atfork.c). A library that starts a thread in a handler
 * waits for ever.
 *
 * A shared object before the C library, or linked with --wrap of the three
 * names and -DATFORK_LOCK_LINKED.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

typedef void *start(void *);
typedef void handler(void);

#ifdef ATFORK_LOCK_LINKED
#define FORK __wrap___fork
#define CREATE __wrap_pthread_create
#define REGISTER __wrap___register_atfork
#define LOOK_UP(name) (next_##name = __real_##name)
extern pid_t __real_fork(void) __asm__("__real___fork");
extern int __real_pthread_create(pthread_t *, const pthread_attr_t *, start *,
                                 void *);
extern int __real___register_atfork(handler *, handler *, handler *, void *);
#else
#define FORK fork
#define CREATE pthread_create
#define REGISTER __register_atfork
#define LOOK_UP(name) look_up(#name, &next_##name)
static void look_up(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}
#endif

pid_t FORK(void);
int CREATE(pthread_t *thread, const pthread_attr_t *attr, start *run,
           void *argument);
int REGISTER(handler *before, handler *parent, handler *child, void *object);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t (*next_fork)(void);
static int (*next_pthread_create)(pthread_t *, const pthread_attr_t *, start *,
                                  void *);
static int (*next___register_atfork)(handler *, handler *, handler *, void *);

static void pass(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

pid_t FORK(void)
{
	pid_t child;

	LOOK_UP(fork);
	pthread_mutex_lock(&lock);
	child = next_fork();
	if (child == 0)
		pthread_mutex_init(&lock, NULL);
	else
		pthread_mutex_unlock(&lock);
	return child;
}

int CREATE(pthread_t *thread, const pthread_attr_t *attr, start *run,
           void *argument)
{
	LOOK_UP(pthread_create);
	pass();
	return next_pthread_create(thread, attr, run, argument);
}

int REGISTER(handler *before, handler *parent, handler *child, void *object)
{
	LOOK_UP(__register_atfork);
	pass();
	return next___register_atfork(before, parent, child, object);
}
