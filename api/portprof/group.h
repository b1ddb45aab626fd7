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

/* What a counter's value is worth. */
typedef enum portprof_count_status {
	PORTPROF_COUNT_OK = 0,        /* counted all the time: scaled = raw */
	PORTPROF_COUNT_SCALED = 1,    /* multiplexed: scaled is an estimate */
	PORTPROF_COUNT_NEVER_RAN = 2, /* not counted at all: not zero */
	PORTPROF_COUNT_ERROR = 3,     /* pinned, and could not be kept so */
	PORTPROF_COUNT_REFUSED = 4    /* not opened; group_event_diag says why */
} portprof_count_status;

/* One reading. The layout is final: arrays of it are passed. Since 0.1. */
typedef struct portprof_count {
	uint64_t raw;        /* as the kernel counted */
	uint64_t scaled;     /* raw * enabled / running, in full precision */
	uint64_t enabled_ns; /* time the counter wanted to count */
	uint64_t running_ns; /* time it did */
	uint64_t status;     /* portprof_count_status */
	uint64_t taken_ns;   /* CLOCK_MONOTONIC, when it had been read; 0 = not
	                      * told, by portprof_group_event_read and in sums */
} portprof_count;

/*
 * Open the events of a comma-separated list ("cycles:u,instructions:u") as
 * one group on the whole process, best backend; they count from now on. With
 * a config, its events, target and backend are used. Commas within a filter
 * part no events. With braces, as in "{cycles,instructions}:u,cs",
 * only what is within a pair of them is of one instant; values come in the order
 * of the list all the same. The caller closes *group. Statuses as for
 * portprof_session_open. Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_group_open(const char *events,
                                                 portprof_group **group);
PORTPROF_API portprof_status portprof_group_open_config(
	const portprof_config *config, portprof_group **group);

/*
 * Values since open, or since reset, of the first `count` events, all taken
 * at the same instant where the backend has PORTPROF_CAP_GROUP. Monotonic
 * between resets. The fast path: no allocation, lock or formatting; about one
 * system call. taken_ns is the same in all: what happened after it is in none. Any thread; async-signal-safe on success. E_INVALID if count
 * is larger than the number of events; E_FORKED in a forked child. Since 0.1.
 */
PORTPROF_API portprof_status portprof_group_read(portprof_group *group,
                                                 portprof_count *counts,
                                                 size_t count);

/*
 * One counter: the index-th event's value since open, or since reset. The
 * cheapest reading there is. Where portprof_group_event_how says so it is done
 * in user space, in some fifty instructions and without a system call: for a
 * group on one thread (PORTPROF_TARGET_THREAD), by that thread, on
 * hardware that the kernel lets programs read. Otherwise, and whenever the
 * counter is not on the PMU at that moment, it is one system call; which way
 * it was cannot be seen in the value. While running_ns equals enabled_ns the
 * two may be as old as the kernel's last look at the counter;
 * portprof_group_read has them of now, and says when that is. Two counters read one after the other
 * are not of one instant. *count is untouched on failure:
 *   E_INVALID  no such event, or NULL
 *   E_FORKED   in a forked child
 *   E_SYSTEM   the kernel would not tell
 * Any thread; async-signal-safe on success. Since 0.1.
 */
PORTPROF_API portprof_status portprof_group_event_read(portprof_group *group,
						       size_t index,
						       portprof_count *count);

/* How portprof_group_event_read reads that event, and if not in user space,
 * why: a sentence in constant memory. NULL when there is no such event. What is
 * possible shows at the first reading by the thread that is counted. Any
 * thread; not in signal handlers. Since 0.1. */
PORTPROF_API const char *portprof_group_event_how(portprof_group *group,
						  size_t index);

/*
 * Where CPUs are of several types (big and small cores), an event that each of
 * them knows is counted on all, and its value is their sum. This tells the
 * parts one by one, since open: the name of the type's PMU, its CPUs as in
 * "0-3,8", and what it counted, which is not scaled. A part's running_ns is the
 * time spent on such CPUs with the counter on the PMU; one that was never there
 * is PORTPROF_COUNT_NEVER_RAN, one that has no such event
 * PORTPROF_COUNT_REFUSED. Strings live as long as the group.
 *   E_NOTFOUND  past the last part; the event has no parts (no diagnostic)
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
 * Pause and go on (counting begins at open). Leaving a group running and
 * subtracting two reads is cheaper. reset makes all values and times 0.
 * One thread at a time. Since 0.1.
 */
PORTPROF_API portprof_status portprof_group_start(portprof_group *group);
PORTPROF_API portprof_status portprof_group_stop(portprof_group *group);
PORTPROF_API portprof_status portprof_group_reset(portprof_group *group);

/*
 * Change an open group, running or not, by the name of a setting:
 *   add-thread, remove-thread
 *              count that thread, too, or no longer, by its kernel id (of
 *              gettid(2)): of a group that is bound to a thread, of up to 64
 *              events. Values are sums over threads: each is of one instant by
 *              itself, and scaled by itself; what a removed thread counted stays
 *              in them. Adding one that is counted is success; one that has ended
 *              is removed as others are, before another has its id. A thread
 *              that is added costs what opening and reading the group does
 * As start and stop, one thread at a time; others may read meanwhile.
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

/* Give everything back. NULL does nothing. In a forked child it does not
 * touch the parent's counters. Since 0.1. */
PORTPROF_API void portprof_group_close(portprof_group *group);

/* How many events, what each resolved to, why one was refused (status OK if
 * it was not: then the words are "" or a note about what its count lacks), and
 * which backend counts. Strings live as long as the group; the diagnostic too.
 * Since 0.1. */
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
