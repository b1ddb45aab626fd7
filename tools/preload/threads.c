/* SPDX-License-Identifier: MIT */
/* pthread_create: a forked child that is measured by its parent's session gets
 * one of its own before it has a second thread. */
#include "config.h"

#include "tools/preload/preload.h"
#include "tools/preload/signals.h"

#include <errno.h>
#include <pthread.h>

static int (*real_create)(pthread_t *, const pthread_attr_t *,
                          void *(*)(void *), void *);

__attribute__((constructor(101))) static void look_around(void)
{
	ppi_next_function("pthread_create", &real_create);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                   void *(*start)(void *), void *context)
{
	if (!real_create)
		look_around();
	if (!real_create)
		return EAGAIN;
	if (!PPI_IS_OWN_CALL())
		ppi_preload_grow();
	return real_create(thread, attr, start, context);
}
