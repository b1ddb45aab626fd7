/* SPDX-License-Identifier: MIT */
/*
 * Labels for programs that are not to be linked with the library: it is used where the
 * process has it anyway (portprof record loads it into what it samples by timers), and
 * else nothing happens. Includes nothing but <portprof/label.h>; needs a compiler and a
 * linker that know weak symbols.
 */
#ifndef PORTPROF_LABEL_ONLY_H
#define PORTPROF_LABEL_ONLY_H

#include <portprof/label.h>

#pragma weak portprof_label_set_new
#pragma weak portprof_label_enter
#pragma weak portprof_label_leave

#ifdef __cplusplus
extern "C" {
#endif

/*
 * As portprof_label_set_new, _enter and _leave; where the library is not there the
 * first returns NULL, as if there were no memory, and the others do nothing. A set of
 * NULL is the empty one, so no result needs to be looked at. Since 0.1.
 */
static inline const portprof_label_set *
portprof_label_only_set(const portprof_label *labels, size_t count)
{
	return portprof_label_set_new ? portprof_label_set_new(labels, count)
	                              : NULL;
}

static inline const portprof_label_set *
portprof_label_only_enter(const portprof_label_set *set)
{
	return portprof_label_enter ? portprof_label_enter(set) : NULL;
}

static inline void portprof_label_only_leave(const portprof_label_set *before)
{
	if (portprof_label_leave)
		portprof_label_leave(before);
}

#ifdef __cplusplus
}
#endif
#endif
