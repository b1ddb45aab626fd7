/* SPDX-License-Identifier: MIT */
/* What is used of <pthread.h> of POSIX.1-2008. */
#ifndef OS_PTHREAD_H
#define OS_PTHREAD_H

#include <sys/types.h>
#include <time.h>

typedef struct { void *os; } pthread_attr_t, pthread_cond_t,
	pthread_condattr_t, pthread_mutex_t, pthread_mutexattr_t,
	pthread_once_t;
typedef unsigned pthread_key_t;

#define PTHREAD_COND_INITIALIZER { 0 }
#define PTHREAD_MUTEX_INITIALIZER { 0 }
#define PTHREAD_MUTEX_RECURSIVE 2
#define PTHREAD_ONCE_INIT { 0 }

pthread_t pthread_self(void);
int pthread_equal(pthread_t one, pthread_t other);
int pthread_create(pthread_t *restrict thread,
                   const pthread_attr_t *restrict attributes,
                   void *(*run)(void *), void *restrict context);
int pthread_join(pthread_t thread, void **result);
int pthread_attr_init(pthread_attr_t *attributes);
int pthread_attr_destroy(pthread_attr_t *attributes);
int pthread_attr_getstacksize(const pthread_attr_t *restrict attributes,
                              size_t *restrict bytes);
int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t bytes);
int pthread_atfork(void (*before)(void), void (*parent)(void),
                   void (*child)(void));

int pthread_cond_init(pthread_cond_t *restrict cond,
                      const pthread_condattr_t *restrict attributes);
int pthread_cond_destroy(pthread_cond_t *cond);
int pthread_cond_broadcast(pthread_cond_t *cond);
int pthread_cond_signal(pthread_cond_t *cond);
int pthread_cond_wait(pthread_cond_t *restrict cond,
                      pthread_mutex_t *restrict mutex);
int pthread_cond_timedwait(pthread_cond_t *restrict cond,
                           pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until);
int pthread_condattr_init(pthread_condattr_t *attributes);
int pthread_condattr_destroy(pthread_condattr_t *attributes);
int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock);

int pthread_mutex_init(pthread_mutex_t *restrict mutex,
                       const pthread_mutexattr_t *restrict attributes);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
                            const struct timespec *restrict until);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_mutexattr_init(pthread_mutexattr_t *attributes);
int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes);
int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int type);

/* Macros in pairs, by POSIX; most systems keep what is between in a block. */
void os_cleanup_push(void (*run)(void *), void *context);
void os_cleanup_pop(int execute);
#define pthread_cleanup_push(run, context) \
	do {                               \
		os_cleanup_push(run, context)
#define pthread_cleanup_pop(execute)      \
		os_cleanup_pop(execute);  \
	} while (0)

int pthread_once(pthread_once_t *once, void (*run)(void));
int pthread_key_create(pthread_key_t *key, void (*at_exit)(void *));
void *pthread_getspecific(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *value);
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_CANCEL_ASYNCHRONOUS 2

_Noreturn void pthread_exit(void *result);
int pthread_detach(pthread_t thread);
int pthread_cancel(pthread_t thread);
void pthread_testcancel(void);
int pthread_setcanceltype(int type, int *before);
int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state);

typedef struct { void *os; } pthread_barrier_t, pthread_barrierattr_t;

#define PTHREAD_BARRIER_SERIAL_THREAD (-1)

int pthread_barrier_init(pthread_barrier_t *restrict barrier,
                         const pthread_barrierattr_t *restrict attributes,
                         unsigned count);
int pthread_barrier_wait(pthread_barrier_t *barrier);
int pthread_barrier_destroy(pthread_barrier_t *barrier);
int pthread_attr_setstack(pthread_attr_t *attributes, void *at, size_t bytes);

#endif
