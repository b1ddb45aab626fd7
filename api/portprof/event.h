/* SPDX-License-Identifier: MIT */
/* Event strings: checking them, and what they resolve to. */
#ifndef PORTPROF_EVENT_H
#define PORTPROF_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/export.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Event strings are libpfm4's, everywhere:
 *
 *   [pmu::]EVENT[:umask...][:modifier[=value]...][@period]
 *
 * Modifiers of every backend: u, k, h (privilege levels), period=N, freq=HZ. `@N`
 * at the end is another spelling of `period=N`. Numbers are decimal or
 * 0x-hexadecimal, a '.' parts like a ':', and case does not matter. All other
 * parts are the backend's, which takes each or refuses it: of perf mg, mh (guest,
 * host), precise=0..3, hw_smpl, pinned, excl, cpu=N, unit masks and modifiers of
 * the PMU's own. portprof-events(7) has the grammar.
 *
 * Of perf are events of places: tracepoints with a filter, GROUP:NAME/FILTER/, in
 * which anything but a brace may stand; breakpoints, mem:ADDRESS[/BYTES]:r|w|rw|x
 * and breakpoint:SYMBOL[+OFFSET][/BYTES]:x|w|rw|r; and probes,
 * uprobe:FILE:SYMBOL[+OFFSET] and uretprobe:FILE:SYMBOL.
 */

/* Units of an event's weight. */
typedef enum portprof_unit {
	PORTPROF_UNIT_NANOSECONDS = 1, /* of CPU time */
	PORTPROF_UNIT_COUNT = 2        /* events */
} portprof_unit;

/*
 * What an event string means on one backend. Fill `size` with
 * sizeof(portprof_event_info) before the first call; no more than that is
 * written, what an older library does not know is 0, and size stays.
 *
 * The strings are never NULL and as long as they have to be. They belong to what
 * was asked: to a session, a group or the regions until it is closed; to the
 * calling thread, where no object was asked (portprof_event_look_up,
 * portprof_event_try), until it calls one of these two again or ends. Copy what
 * is to last longer. Since 0.1.
 */
typedef struct portprof_event_info {
	size_t size;
	portprof_unit unit;
	const char *canonical; /* resolves to the same measurement again */
	const char *description; /* one line: exactly what will be measured */
	uint64_t period;       /* asked, in the event's unit; 0 = by rate */
	uint64_t rate_hz;      /* asked; 0 = by period */
	uint32_t counts_user;  /* 1 if user mode is sampled or counted */
	uint32_t counts_kernel;
	uint32_t counts_hypervisor;
	uint32_t is_counted_only; /* cannot be sampled */
	const char *pmu;       /* whose event it is; "" = a generic one */
	const char *encoding;  /* what the kernel is asked for, in the backend's
	                        * words: "type 4, config 0x3c, precise 2" */
	/* What a count stands for: count * scale is in scaled_unit, "Joules"
	 * say; "" and 1 where a count is a number of events. */
	const char *scaled_unit;
	double scale;
} portprof_event_info;

/*
 * Event lists: event strings with commas between them, those of a group within
 * braces. What stands behind a brace is for each event of its group, but that
 * pinned and excl, which are a group's, are for the first.
 *
 *   list  = item {"," item}
 *   item  = event | "{" event {"," event} "}" [":" modifier ...] ["@" period]
 *
 * A preset, such as IPC, is its events (portprof-events(7)).
 *
 * The index-th event of a list, from 0, with its group's modifiers: "b:u" of
 * "{a,b}:u". *group, if `group` is not NULL, is the number of its item. Outputs
 * are untouched on failure:
 *   E_INVALID   the list or an event of it is malformed; the words say where
 *   E_NOTFOUND  there are no more events; no diagnostic
 *   E_LIMIT     it does not fit in `bytes`
 * Any thread, not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_event_list_get(const char *list,
                                                     size_t index, char *event,
                                                     size_t bytes,
                                                     size_t *group);

/*
 * What an event string means on `backend`: a name, or "auto" for the best
 * backend that knows the event, usable here and now or not.
 *
 * portprof_event_look_up reads tables and files of the system and opens
 * nothing, so neither a missing PMU nor missing rights are in the way. With
 * backend NULL it checks the form alone, without asking any machine; info is
 * untouched then and may be NULL. Names, and parts that are a backend's, are
 * not checked so.
 *
 * portprof_event_try also opens the event where only the kernel knows whether
 * this machine has it, and closes it again.
 *   E_INVALID      malformed (the words name the column), out of range, no such
 *                  backend, or NULL
 *   E_NOTFOUND     no such event; the words name the nearest known ones
 *   E_UNSUPPORTED  this backend cannot measure it
 * Any thread, not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_event_look_up(const char *event_string,
						    const char *backend,
						    portprof_event_info *info);
PORTPROF_API portprof_status portprof_event_try(const char *event_string,
						const char *backend,
						portprof_event_info *info);

#ifdef __cplusplus
}
#endif
#endif
