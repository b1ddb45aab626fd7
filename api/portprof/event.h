/* SPDX-License-Identifier: MIT */
/* Event strings: checking and explaining them. */
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
 * Event strings have the syntax of libpfm4 on every backend:
 *
 *   [pmu::]EVENT[:umask...][:modifier[=value]...][@period]
 *
 * Modifiers of every backend: u, k, h (privilege levels), period=N, freq=HZ. `@N`
 * at the end is short for `period=N`. Numbers are decimal or 0x-hexadecimal, a
 * '.' separates like a ':', and case is ignored. A backend accepts or refuses
 * each other part: perf has mg, mh (guest, host), precise=0..3, hw_smpl, pinned,
 * excl, cpu=N, unit masks and modifiers of the PMU. portprof-events(7) has the
 * grammar.
 *
 * perf also has events of places: tracepoints with a filter, GROUP:NAME/FILTER/,
 * which may contain anything except braces; breakpoints,
 * mem:ADDRESS[/BYTES]:r|w|rw|x and
 * breakpoint:SYMBOL[+OFFSET][/BYTES]:x|w|rw|r; and probes,
 * uprobe:FILE:SYMBOL[+OFFSET] and uretprobe:FILE:SYMBOL.
 */

/* Units of an event's weight. */
typedef enum portprof_unit {
	PORTPROF_UNIT_NANOSECONDS = 1, /* of CPU time */
	PORTPROF_UNIT_COUNT = 2        /* events */
} portprof_unit;

/*
 * What an event string means on one backend. Set `size` to
 * sizeof(portprof_event_info) before the first call; no more than that is
 * written, members that an older library does not know are set to 0, and size is
 * unchanged.
 *
 * The strings are never NULL, and of any length. They belong to the session, the
 * group or the regions until it is closed; those of portprof_event_look_up and
 * portprof_event_try belong to the calling thread, until it calls one of these
 * two again or ends. Copy them to keep them longer. Since 0.1.
 */
typedef struct portprof_event_info {
	size_t size;
	portprof_unit unit;
	const char *canonical; /* resolves to the same measurement */
	const char *description; /* one line: exactly what is measured */
	uint64_t period;       /* requested, in the event's unit; 0 = by rate */
	uint64_t rate_hz;      /* requested; 0 = by period */
	uint32_t counts_user;  /* 1 if user mode is sampled or counted */
	uint32_t counts_kernel;
	uint32_t counts_hypervisor;
	uint32_t is_counted_only; /* cannot be sampled */
	const char *pmu;       /* of the event; "" = a generic event */
	const char *encoding;  /* what is requested from the kernel, for
	                        * printing: "type 4, config 0x3c, precise 2" */
	/* count * scale is in scaled_unit, such as "Joules"; "" and 1 if a count
	 * is a number of events. */
	const char *scaled_unit;
	double scale;
} portprof_event_info;

/*
 * Event lists: event strings separated by commas, those of a group in braces.
 * Blanks may follow a comma.
 * Modifiers after a closing brace apply to each event of its group, except pinned
 * and excl, which apply to the group and are added to its first event.
 *
 *   list  = item {"," item}
 *   item  = event | "{" event {"," event} "}" [":" modifier ...] ["@" period]
 *
 * A preset, such as IPC, is replaced by its events (portprof-events(7)).
 *
 * The index-th event of a list, from 0, with its group's modifiers: "b:u" in
 * "{a,b}:u". *group, if `group` is not NULL, is set to the number of its item.
 * PORTPROF_END past the last event. Outputs are unchanged then and on failure:
 *   E_INVALID   the list or an event of it is malformed; the words say where
 *   E_LIMIT     it does not fit in `bytes`
 * Any thread, not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_event_list_get(const char *list,
                                                     size_t index, char *event,
                                                     size_t bytes,
                                                     size_t *group);

/*
 * What an event string means on `backend`: a name, or "auto" for the best
 * backend that knows the event, usable here or not.
 *
 * portprof_event_look_up reads tables and files of the system and opens no
 * event, so it needs neither a PMU nor permission. With backend NULL it only
 * checks the syntax, not names or parts of a backend; info is then unchanged and
 * may be NULL.
 *
 * Where only the kernel knows whether this machine has the event,
 * portprof_event_try also opens it and closes it again.
 *   E_INVALID      malformed (the words name the column), out of range, no such
 *                  backend, or NULL
 *   E_NOTFOUND     no such event; the words have the nearest known names
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
