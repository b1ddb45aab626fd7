/* SPDX-License-Identifier: MIT */
/* Regions in code: what the parts of a program count, by name. */
#ifndef PORTPROF_REGION_H
#define PORTPROF_REGION_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/config.h>
#include <portprof/event.h>
#include <portprof/export.h>
#include <portprof/group.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* So many events regions can count. */
#define PORTPROF_REGION_EVENTS_MAX 64

/*
 * From now on portprof_region_begin and portprof_region_end count, in all
 * threads, the events, by the backend, of `config`; NULL: the default event.
 * Each thread gets a group of its own when it begins its first region, which
 * takes up to some milliseconds; here the calling thread gets its, so that
 * what cannot be counted is refused at once.
 *   E_BUSY     regions are open in this process already
 *   E_INVALID  the config's target is not this process
 *   E_LIMIT    more than PORTPROF_REGION_EVENTS_MAX events
 *   others     as portprof_group_open_config
 * Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status
portprof_regions_open(const portprof_config *config);

/*
 * Begin and end a region of the calling thread. Regions nest: what is counted
 * inside is part of all that are open around it. A name may be begun again
 * while it is open (recursion): each is a call, what is counted is counted
 * once. The string is copied when it is new. Costs a reading of the group each;
 * two readings a call are part of what is counted. While no regions are open
 * both do nothing, and return OK; but when $PORTPROF has "regions", the first
 * begin of a program that has opened none opens them, and a table is written at
 * the exit (portprof_region(3)).
 *   E_INVALID  NULL or ""; end: that name is not the innermost open region of
 *              this thread (nothing is changed then)
 *   E_FORKED   in a forked child: the regions are its parent's
 *   others     as portprof_group_open_config and portprof_group_read. What
 *              could not be opened in a thread is not tried there again; ends
 *              of regions that could not begin return the same
 * Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_region_begin(const char *name);
PORTPROF_API portprof_status portprof_region_end(const char *name);

/*
 * What one region counted. `counts` has one an event, in the order of the
 * config; of what is still open nothing is in it. `tid` is 0 in sums. All is the
 * library's and lasts as long as the call. `size` is the struct's.
 */
typedef struct portprof_region_info {
	size_t size;
	const char *name;
	uint64_t calls;     /* that have ended */
	uint64_t threads;   /* in which it ended at least once */
	int64_t tid;
	const portprof_count *counts;
	size_t count;
} portprof_region_info;

typedef int (*portprof_region_fn)(const portprof_region_info *region,
                                  void *context);

/*
 * Call `take` for each region that has ended at least once, in the order in
 * which their names were first begun, until it returns other than 0: sums over
 * all threads, those that have exited too; with by_thread each thread's own,
 * thread after thread. May be called while others count. `take` must not call
 * functions of this header.
 *   E_STATE    no regions are open
 * Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_regions_read(int by_thread,
                                                   portprof_region_fn take,
                                                   void *context);

/* How many events are counted, and what each resolved to. E_STATE as above;
 * 0 of them then. Since 0.1. */
PORTPROF_API size_t portprof_regions_event_count(void);
PORTPROF_API portprof_status
portprof_regions_event(size_t index, portprof_event_info *info);

/*
 * Give everything back; what was counted is gone, but for the table that
 * $PORTPROF asked for, which is written before. No other thread may be in a
 * function of this header meanwhile; begin and end do nothing afterwards.
 * Without open regions it does nothing. Since 0.1.
 */
PORTPROF_API void portprof_regions_close(void);

#ifdef __cplusplus
}
#endif
#endif
