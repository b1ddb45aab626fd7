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
 * Modifiers that portprof itself understands on every backend: u, k, h
 * (privilege levels), mg, mh (guest, host), period=N, freq=HZ, precise=0..3,
 * hw_smpl, pinned, excl, cpu=N. `@N` at the end is another spelling of
 * `period=N`. Numbers are decimal or 0x-hexadecimal, a '.' parts like a ':',
 * and case does not matter. All other parts are unit masks and modifiers of
 * the PMU's own, and are passed on. portprof-events(7) has the grammar.
 */

/* Units of an event's weight. */
typedef enum portprof_unit {
	PORTPROF_UNIT_NANOSECONDS = 1, /* of CPU time */
	PORTPROF_UNIT_COUNT = 2        /* events */
} portprof_unit;

/*
 * What an event string means on one backend. Fill `size` with
 * sizeof(portprof_event_info) before the call; no more than that is written,
 * and size becomes what was written. Since 0.1.
 */
typedef struct portprof_event_info {
	size_t size;
	portprof_unit unit;
	char canonical[256];   /* resolves to the same measurement again */
	char description[256]; /* one line: exactly what will be measured */
	uint64_t period;       /* asked, in the event's unit; 0 = by rate */
	uint64_t rate_hz;      /* asked; 0 = by period */
	uint32_t counts_user;  /* 1 if user mode is sampled or counted */
	uint32_t counts_kernel;
	uint32_t precise;      /* level that will be asked of the hardware */
	uint32_t backend_type; /* perf: attr.type; else 0 */
	uint64_t backend_config[3]; /* perf: attr.config, config1, config2 */
	char pmu[64];             /* whose event it is; "" = a generic one */
	uint32_t counts_hypervisor;
	uint32_t counts_guest;    /* what runs in virtual machines here */
	uint32_t counts_host;     /* what does not */
	uint32_t is_pinned;       /* shall always have a counter */
	uint32_t is_exclusive;    /* shall have the PMU for itself */
	uint32_t is_counted_only; /* cannot be sampled */
} portprof_event_info;

/*
 * Check the form of an event string, on its own, without asking any machine:
 * E_INVALID names the column of the mistake in the diagnostic. Any thread,
 * not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_event_check(const char *event_string);

/*
 * Say what `event_string` means on `backend` (a name, or "auto" for the best
 * that knows it, whether or not it is usable here and now). Opens nothing
 * that outlives the call.
 *   E_INVALID      malformed, out of range, or no such backend
 *   E_NOTFOUND     no such event; the words name the nearest known ones
 *   E_UNSUPPORTED  this backend cannot measure it
 * Any thread, not in signal handlers. Since 0.1.
 */
PORTPROF_API portprof_status portprof_event_explain(const char *event_string,
                                                    const char *backend,
                                                    portprof_event_info *info);

/*
 * The same, but what the string means wherever it could be opened: nothing is
 * opened, so that no lack of a PMU or of rights is in the way. Since 0.1.
 */
PORTPROF_API portprof_status portprof_event_describe(
	const char *event_string, const char *backend,
	portprof_event_info *info);

#ifdef __cplusplus
}
#endif
#endif
