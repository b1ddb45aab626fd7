/* SPDX-License-Identifier: MIT */
/* A group: counters that count the same instructions. */
#ifndef PORTPROF_GROUP_H
#define PORTPROF_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/config.h>
#include <portprof/event.h>
#include <portprof/export.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct portprof_group portprof_group;

/* The quality of a counter's value. */
typedef enum portprof_count_status {
	PORTPROF_COUNT_OK = 0,        /* counted all the time: scaled = raw */
	PORTPROF_COUNT_SCALED = 1,    /* multiplexed: scaled is an estimate */
	PORTPROF_COUNT_NEVER_RAN = 2, /* not counted at all; differs from zero */
	PORTPROF_COUNT_ERROR = 3,     /* pinned, but lost its counter */
	PORTPROF_COUNT_REFUSED = 4    /* not opened; group_event_diag says why */
} portprof_count_status;

/* One reading. The layout is final: arrays of it are passed. Since 0.1. */
typedef struct portprof_count {
	uint64_t raw;        /* as the kernel counted */
	uint64_t scaled;     /* raw * enabled / running, in full precision */
	uint64_t enabled_ns; /* how long the counter was enabled */
	uint64_t running_ns; /* how long it counted */
	uint64_t status;     /* portprof_count_status */
	uint64_t taken_ns;   /* CLOCK_MONOTONIC, just after the read; 0 after
	                      * portprof_group_event_read and in sums */
} portprof_count;

/*
 * Open the events of a comma-separated list ("cycles:u,instructions:u") as
 * one group on the whole process, with the best backend; counting starts at
 * once. With a config, its events, target and backend are used. Commas in a
 * filter do not separate events. With braces, as in "{cycles,instructions}:u,cs",
 * only the events in a pair of braces are read at one instant; values are in the
 * order of the list. The caller closes *group. Statuses as for
 * portprof_session_open. Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_group_open(const char *events,
                                                 portprof_group **group);
PORTPROF_API portprof_status portprof_group_open_config(
	const portprof_config *config, portprof_group **group);

/*
 * Values since open, or since reset, of the first `count` events, all read
 * at the same instant if the backend has PORTPROF_CAP_GROUP. Monotonic
 * between resets. The fast path: no allocation, lock or formatting; about one
 * system call. taken_ns is the same in all: no value includes anything later.
 * Any thread; async-signal-safe on success. E_INVALID if count is larger than
 * the number of events; E_FORKED in a forked child. Since 0.1.
 */
PORTPROF_API portprof_status portprof_group_read(portprof_group *group,
                                                 portprof_count *counts,
                                                 size_t count);

/*
 * One counter: the index-th event's value since open, or since reset, in the
 * cheapest possible way. If portprof_group_event_how says so, it is read in user
 * space, with about fifty instructions and no system call: in a group on one
 * thread (PORTPROF_TARGET_THREAD), by that thread, on hardware that the kernel
 * lets programs read. Otherwise, and whenever the counter is not on the PMU, it
 * takes one system call; the value is the same. While running_ns equals
 * enabled_ns, both may be as old as the kernel's last update of the counter;
 * portprof_group_read returns current ones, with their time. Two counters read
 * one after the other are not of one instant. *count is unchanged on failure:
 *   E_INVALID  no such event, or NULL
 *   E_FORKED   in a forked child
 *   E_SYSTEM   the kernel did not return the value
 * Any thread; async-signal-safe on success. Since 0.1.
 */
PORTPROF_API portprof_status portprof_group_event_read(portprof_group *group,
						       size_t index,
						       portprof_count *count);

/* How portprof_group_event_read reads the event, and, if not in user space,
 * why: a constant sentence. NULL if there is no such event. This is decided at
 * the first reading by the counted thread. Any thread; not in signal handlers.
 * Since 0.1. */
PORTPROF_API const char *portprof_group_event_how(portprof_group *group,
						  size_t index);

/*
 * Where CPUs are of several types (big and small cores), an event that several
 * types have is counted on each, and its value is the sum. This returns the
 * parts one by one, since open: the name of the type's PMU, its CPUs as in
 * "0-3,8", and its unscaled count. A part's running_ns is the time on such CPUs
 * with the counter on the PMU; if the thread never ran there, the part is
 * PORTPROF_COUNT_NEVER_RAN; if the type has no such event,
 * PORTPROF_COUNT_REFUSED. Strings are valid as long as the group. PORTPROF_END
 * past the last part, also of an event without parts.
 *   E_INVALID   no such event, or NULL
 *   E_FORKED, E_SYSTEM  as above
 * Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_group_part(portprof_group *group,
                                                 size_t index, size_t part,
                                                 const char **pmu,
                                                 const char **cpus,
                                                 portprof_count *count);

/*
 * Continue and pause (counting begins at open). Leaving a group running and
 * subtracting two readings is cheaper. reset sets all values and times to 0.
 * One thread at a time. Since 0.1.
 */
PORTPROF_API portprof_status portprof_group_start(portprof_group *group);
PORTPROF_API portprof_status portprof_group_stop(portprof_group *group);
PORTPROF_API portprof_status portprof_group_reset(portprof_group *group);

/*
 * Change a setting of an open group, running or not:
 *   add-thread, remove-thread
 *              start or stop counting the thread with this kernel id
 *              (gettid(2)). The group must be bound to a thread and have at most
 *              64 events. Values are sums over threads: those of each thread are
 *              read at one instant and scaled separately; counts of a removed
 *              thread stay in them. Adding a thread that is counted succeeds.
 *              Remove one that has ended before another gets its id. Adding a
 *              thread costs as much as opening and reading the group
 * As with start and stop, one thread at a time; others may read meanwhile.
 *   E_INVALID      no such setting, or not the id of a thread
 *   E_NOTFOUND     no such thread, or not one of the group's
 *   E_UNSUPPORTED  the group counts a process or the system, or its backend
 *                  counts no thread but the one that calls
 *   E_LIMIT        too many events, or too few descriptors
 * Or as for portprof_group_open. Not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_group_set_number(portprof_group *group,
						       const char *key,
						       uint64_t number);

/* Release everything. NULL does nothing. In a forked child it does not affect
 * the parent's counters. Since 0.1. */
PORTPROF_API void portprof_group_close(portprof_group *group);

/* The number of events, what each resolved to, why one was refused (status OK if
 * it was not; the words are then "" or a note about what its count lacks), the
 * backend that counts, and why better ones were not used, PORTPROF_END past the
 * last. Strings and diagnostics are valid as long as the group. Since 0.1. */
PORTPROF_API size_t portprof_group_event_count(const portprof_group *group);
PORTPROF_API portprof_status portprof_group_event(const portprof_group *group,
                                                  size_t index,
                                                  portprof_event_info *info);
PORTPROF_API const portprof_diag *
portprof_group_event_diag(const portprof_group *group, size_t index);
PORTPROF_API const char *
portprof_group_backend(const portprof_group *group);
PORTPROF_API portprof_status portprof_group_passed_over(
	const portprof_group *group, size_t index, const char **name,
	const char **reason);

#ifdef __cplusplus
}
#endif
#endif
