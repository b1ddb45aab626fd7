/* SPDX-License-Identifier: MIT */
/* Regions: counting events in named parts of a program. */
#ifndef PORTPROF_REGION_H
#define PORTPROF_REGION_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/config.h>
#include <portprof/event.h>
#include <portprof/export.h>
#include <portprof/group.h>
#include <portprof/label.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The maximum number of events of regions, and of sets with the process's own. */
#define PORTPROF_REGION_EVENTS_MAX 64
#define PORTPROF_REGION_SETS_MAX 16

/*
 * A set of regions: names, events and counts. In all functions NULL means the
 * process's own set, which code can name without being handed anything: a program
 * opens it, or $PORTPROF. A library that counts its own regions opens a set with
 * a handle, and disturbs neither the program nor other libraries. Since 0.1.
 */
typedef struct portprof_regions portprof_regions;

/*
 * Start counting the events of `config` (NULL: the default event) between
 * portprof_region_begin and portprof_region_end, in all threads: in a new set,
 * which the caller closes, or, with `regions` NULL, in the process's own. Each
 * thread opens its own group when it begins its first region of a set, which
 * takes up to a few milliseconds; the calling thread opens its group here, so that
 * events that cannot be counted are refused at once.
 *   E_BUSY     the process's own set is open
 *   E_INVALID  the config's target is not this process
 *   E_LIMIT    more than PORTPROF_REGION_EVENTS_MAX events, or too many sets
 *   others     as portprof_group_open_config
 * Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_regions_open(
	const portprof_config *config, portprof_regions **regions);

/*
 * Begin and end a region of the calling thread. Regions nest: counts of an inner
 * region are part of all outer ones of its set. A name may be begun again while it
 * is open (recursion): this counts one more call, but its events only once. A new
 * name is copied. Both read the group, and the cost of two readings per call is
 * part of the counts. While the process's own set is not open both do nothing with
 * it and return OK; but if $PORTPROF has "regions", and the program has opened
 * none, the first begin opens it, and a table is written at exit
 * (portprof_region(3)).
 *   E_INVALID  NULL or ""; end: that name is not the innermost open region of
 *              this thread (nothing is changed)
 *   E_FORKED   in a forked child: the regions belong to its parent
 *   others     as portprof_group_open_config and portprof_group_read. A group
 *              that could not be opened in a thread is not tried again there;
 *              the ends of its regions return the same status
 * Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_region_begin(portprof_regions *regions,
                                                   const char *name);
PORTPROF_API portprof_status portprof_region_end(portprof_regions *regions,
                                                 const char *name);

/*
 * What the calling thread counted in a region that it has open, since it began
 * (in recursion: since the outermost began): the first `count` events.
 *   E_INVALID  NULL, the region is not open in this thread, or `count` is larger
 *              than the number of events
 *   E_STATE    the process's own set is not open
 *   others     as portprof_region_begin
 * Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_region_read(portprof_regions *regions,
                                                  const char *name,
                                                  portprof_count *counts,
                                                  size_t count);

/*
 * The way back from a jump over ends: the number of regions that the calling
 * thread has open, asked before setjmp, and after longjmp the end of all but that
 * many, at one instant, as a call of each. E_INVALID: fewer are open. Statuses
 * otherwise as of portprof_region_end. Any thread; not in signal handlers. Since
 * 0.1.
 */
PORTPROF_API size_t portprof_region_depth(const portprof_regions *regions);
PORTPROF_API portprof_status portprof_region_end_to(portprof_regions *regions,
                                                    size_t depth);

/*
 * What one region counted, without calls that are still open. `counts` has one
 * for each event, in the order of the config. `tid` is 0 in sums. Everything
 * belongs to the library and is valid during the call. `size` is the struct's.
 */
typedef struct portprof_region_info {
	size_t size;
	const char *name;
	uint64_t calls;     /* number of calls that have ended */
	uint64_t threads;   /* number of threads in which it has ended */
	int64_t tid;
	const portprof_count *counts;
	size_t count;
	/* Those that the thread had when a call began; none in sums over them. */
	const portprof_label *labels;
	size_t label_count;
} portprof_region_info;

typedef int (*portprof_region_fn)(const portprof_region_info *region,
                                  void *context);

/* What portprof_regions_read keeps apart, added up. */
#define PORTPROF_REGIONS_BY_THREAD 1
#define PORTPROF_REGIONS_BY_LABELS 2

/*
 * Call `take` for each region that has ended at least once, in the order in
 * which their names were first begun, until it returns nonzero: sums over all
 * threads, including those that have exited, and over all labels. By thread: the
 * counts of each thread, one thread after the other. By labels: those of each set
 * of labels (portprof_label(3)) that its calls began in, in the order in which sets
 * were made; a call belongs to the set that the thread was in when it began, and its
 * events, in recursion, to that of the outermost. May be called while others count.
 * `take` must not call functions of this header.
 *   E_INVALID  `by` has another bit
 *   E_STATE    the process's own set is not open
 *   E_NOMEM    out of memory; `take` was not called
 * Any thread; not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_regions_read(portprof_regions *regions,
                                                   int by,
                                                   portprof_region_fn take,
                                                   void *context);

/* The number of counted events, and what each resolved to. While the process's
 * own set is not open 0, and E_STATE. Since 0.1. */
PORTPROF_API size_t
portprof_regions_event_count(const portprof_regions *regions);
PORTPROF_API portprof_status
portprof_regions_event(const portprof_regions *regions, size_t index,
                       portprof_event_info *info);

/*
 * Release everything and discard the counts, after writing the table that
 * $PORTPROF requests of the process's own set. No other thread may be in a
 * function with this set meanwhile. Closing the own set while it is not open does
 * nothing. Since 0.1.
 */
PORTPROF_API void portprof_regions_close(portprof_regions *regions);

#ifdef __cplusplus
}
#endif
#endif
