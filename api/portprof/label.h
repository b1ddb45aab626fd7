/* SPDX-License-Identifier: MIT */
/* Labels: whose work a thread does, so that samples say it. */
#ifndef PORTPROF_LABEL_H
#define PORTPROF_LABEL_H

#include <stddef.h>

#include <portprof/export.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of a set: labels, and bytes of its keys and values. */
#define PORTPROF_LABELS_MAX 32
#define PORTPROF_LABEL_BYTES_MAX 4000

/* A label: "endpoint" and "/checkout". */
typedef struct portprof_label {
	const char *key;
	const char *value;
} portprof_label;

/*
 * A set of labels that threads enter and leave. Sets are made once, entered often
 * and never freed: equal ones are one. They belong to the process, also in forked
 * children; texts are copied. NULL is the empty set. Since 0.1.
 */
typedef struct portprof_label_set portprof_label_set;

/*
 * The set of these labels. Of one key the last value counts. Of a process with very
 * many sets the later ones are one, whose values are "(other)". NULL, and a
 * diagnostic (portprof_last_diag):
 *   E_INVALID  NULL, an empty key, more than PORTPROF_LABELS_MAX labels, or more
 *              bytes than PORTPROF_LABEL_BYTES_MAX
 *   E_NOMEM    out of memory
 * Works without a session. Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API const portprof_label_set *
portprof_label_set_new(const portprof_label *labels, size_t count);

/*
 * The calling thread works for `set` from now on, and for nobody else: the set that
 * it was in is returned, for portprof_label_leave. Takes some nanoseconds, with and
 * without a session. Any thread; async-signal-safe. Since 0.1.
 */
PORTPROF_API PORTPROF_NO_STUB const portprof_label_set *
portprof_label_enter(const portprof_label_set *set);

/* Back to what portprof_label_enter returned. Any thread; async-signal-safe. Since
 * 0.1. */
PORTPROF_API PORTPROF_NO_STUB void
portprof_label_leave(const portprof_label_set *before);

/* The set that the calling thread is in: a thread that works for it enters it,
 * too. Any thread; async-signal-safe. Since 0.1. */
PORTPROF_API const portprof_label_set *portprof_label_current(void);

/*
 * Add a label to those that the calling thread has, and take it away again: the
 * set is looked up by its text, which takes longer than portprof_label_enter. Without
 * a push that is still in force pop does nothing.
 *   E_INVALID  as portprof_label_set_new
 *   E_LIMIT    out of memory, or too many sets were pushed
 * Nothing has changed then, and there is nothing to pop.
 * Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_label_push(const char *key,
                                                 const char *value);
PORTPROF_API void portprof_label_pop(void);

/*
 * A set to the end of the block, however that is left:
 *   PORTPROF_LABEL_SCOPE(set);
 * With compilers that know __attribute__((cleanup)). C++ has portprof::label_scope.
 */
static inline void
portprof_label_scope_end(const portprof_label_set *const *before)
{
	portprof_label_leave(*before);
}

#define PORTPROF_LABEL_SCOPE(set) \
	PORTPROF_LABEL_SCOPE_AT(set, __LINE__)
#define PORTPROF_LABEL_SCOPE_AT(set, line) \
	PORTPROF_LABEL_SCOPE_NAMED(set, line)
#define PORTPROF_LABEL_SCOPE_NAMED(set, line) \
	const portprof_label_set *const portprof_label_before_##line \
		__attribute__((unused, cleanup(portprof_label_scope_end))) = \
			portprof_label_enter(set)

#ifdef __cplusplus
}
#endif
#endif
