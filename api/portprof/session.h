/* SPDX-License-Identifier: MIT */
/* A session: one open sampling measurement, its life and its accounting. */
#ifndef PORTPROF_SESSION_H
#define PORTPROF_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/config.h>
#include <portprof/event.h>
#include <portprof/export.h>
#include <portprof/sink.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Any thread may call any function of a session; calls are serialised. None
 * is for signal handlers. In a forked child a session is inert: every call
 * but close returns E_FORKED, and close frees memory without touching the
 * parent's measurement. All since 0.1.
 */
typedef struct portprof_session portprof_session;

/*
 * Take every resource that can fail; nothing is measured yet. On success
 * *session is the caller's, to be closed. Every status of status.h but
 * E_FORKED and E_STATE can occur; portprof_last_diag has the words.
 */
PORTPROF_API portprof_status portprof_session_open(
	const portprof_config *config, portprof_session **session);

/*
 * Start, stop: any number of times; totals go on until reset. Starting what
 * runs and stopping what is stopped is success. When stop returns, every
 * sample has reached its sinks and nothing more is written to the caller's
 * memory. start: E_BUSY when a one-per-process facility is taken.
 *
 * What a backend needs of the process, a timer or a signal, the application may
 * take while the session runs. It has it from the helper's next look on, 250 ms
 * later at most; a note says whether sampling goes on by another signal or has
 * ended, and CPU time from then on is in not_attached_weight.
 */
PORTPROF_API portprof_status portprof_session_start(portprof_session *session);
PORTPROF_API portprof_status portprof_session_stop(portprof_session *session);

/* Bring what was sampled so far to the sinks now, and files to the disk. */
PORTPROF_API portprof_status portprof_session_flush(portprof_session *session);

/* Begin all totals at 0 again (bins, arrays and files are left as they are).
 * E_STATE while running. */
PORTPROF_API portprof_status portprof_session_reset(portprof_session *session);

/* Stop if running, finish files, give back everything. NULL does nothing.
 * Returns the first failure of a sink (a full disk, say); closed all the same. */
PORTPROF_API portprof_status portprof_session_close(portprof_session *session);

/*
 * Change an open session, running or not, by the name of a setting. Of an event,
 * whose number is its place among the session's:
 *   period        a sample each so many, in the event's unit, from now on
 *   frequency     samples a second, from now on; an event that is sampled by
 *                 period (CPU time aside) cannot be given a rate, nor one by rate
 *                 a period
 *   enabled       0: this event is not measured any more, and others go on; 1: it
 *                 is again. Its total is what it counted while it was on
 *   samples-left  after so many samples more, beside those left from before, the
 *                 event is off: counted by the kernel, of a session that is bound
 *                 to one thread and running
 * and of the session, where the event is 0:
 *   wakeup-samples, wakeup-bytes
 *                 see portprof_session_fd; not in a callback of the session
 *   add-thread, remove-thread
 *                 measure that thread, too, or no longer, by its kernel id (of
 *                 gettid(2)): of a session that is bound to a thread, and of the
 *                 same process. Adding one that is measured is success. Its
 *                 weight is what it used in between; cpu_time_ns is 0, unknown,
 *                 from then on. E_NOTFOUND: no such thread. Not in a callback
 *   cpu-time      the CPU time in nanoseconds that the system charged to a target
 *                 that has ended (user + system of wait4(2)), which the session
 *                 can no longer ask for; after stop
 * What is granted is in portprof_session_stats; threads that began while the
 * session was open may keep their period, and a note says so. Weights are right
 * whatever the period was. A callback of the session may call it.
 *   E_INVALID      no such event or setting, or out of range
 *   E_UNSUPPORTED  this backend or event cannot; the words say what can
 *   E_STATE        not yet: the session, or the command that it measures, has
 *                  not begun
 */
PORTPROF_API portprof_status portprof_session_set_number(
	portprof_session *session, size_t event, const char *key,
	uint64_t number);

/*
 * A descriptor for an event loop: readable while at least so many samples wait
 * ("wakeup-samples" of portprof_session_set_number, 1 to 65536, as asked for 1), or
 * so many bytes of samples and what else is told ("wakeup-bytes", to 16 MiB), or
 * when no more can wait in memory, or the target or the session's duration has
 * ended and some wait. Looked for at least each 50 ms.
 *
 * From the first call on samples come to the sinks, callbacks too, in flush, stop
 * and close alone: in the thread that calls them. flush makes the descriptor
 * unreadable. A program that does not come in time finds samples lost, and
 * counted as lost.
 *
 * *fd is the session's, the same each time, and closed with it: poll it, and neither
 * read nor close it. Untouched on failure: E_LIMIT (too many open files), E_SYSTEM,
 * E_FORKED, E_STATE (in a callback), E_INVALID. Since 0.1.
 */
PORTPROF_API portprof_status portprof_session_fd(portprof_session *session,
                                                 int *fd);

/* How a total is known. */
typedef enum portprof_certainty {
	PORTPROF_UNKNOWN = 0, /* the number is a lower bound */
	PORTPROF_EXACT = 1
} portprof_certainty;

/*
 * The account of one event, at this moment or, when stopped, for good:
 *
 *   delivered_samples = kept + outside + lost
 *   total_weight      = kept + outside + unattributed - excess
 *
 * Excess is there only where weights are estimates, which have a standard
 * error: where CPUs are sampled, and not threads. Then the total is what the
 * system charged, whatever the samples say.
 *
 * A sample is kept when at least one sink took it, outside when all that did
 * not found it outside their regions, else lost. `size` as elsewhere.
 */
typedef struct portprof_stats {
	size_t size;
	uint64_t delivered_samples;
	uint64_t kept_samples;
	uint64_t outside_samples;
	uint64_t lost_samples;
	uint64_t total_weight; /* what the event itself counted */
	uint64_t kept_weight;
	uint64_t outside_weight;
	uint64_t unattributed_weight;   /* no sample stands for it: tails of
	                                 * threads, and what follows */
	uint64_t not_attached_weight;   /* part of it: threads not attached */
	uint64_t throttled;             /* times the kernel held us back */
	uint64_t cpu_time_ns;           /* of the target while running */
	uint64_t own_cost_ns;           /* CPU time of our helper thread */
	uint32_t lost_certainty;        /* portprof_certainty */
	uint32_t unattributed_certainty;
	double requested_hz; /* 0 when a period was asked for */
	double granted_hz;   /* what the kernel agreed to; 0 unknown */
	double achieved_hz;  /* samples per second of CPU time */
	uint64_t requested_period; /* in the event's unit; 0 when by rate */
	uint64_t granted_period;   /* 0 unknown or varying */
	uint64_t excess_weight;    /* samples stand for so much too much */
	uint64_t standard_error;   /* of all weights together; 0: they are no
	                            * estimates. Of a part of them that has a
	                            * share of s: this times the root of s */
	uint64_t idle_time_ns;     /* of the CPUs, where the system is measured;
	                            * it is in no total */
} portprof_stats;

/* E_INVALID: no such event or sink. */
PORTPROF_API portprof_status portprof_session_stats(portprof_session *session,
                                                    size_t event,
                                                    portprof_stats *stats);
PORTPROF_API portprof_status portprof_session_sink_stats(
	portprof_session *session, size_t sink, portprof_sink_stats *stats);

/* How many events are open, and what the index-th resolved to. */
PORTPROF_API size_t
portprof_session_event_count(const portprof_session *session);
PORTPROF_API portprof_status portprof_session_event(
	const portprof_session *session, size_t index,
	portprof_event_info *info);

/* The backend in use (static string) and its capabilities in this session. */
PORTPROF_API const char *
portprof_session_backend(const portprof_session *session);
PORTPROF_API uint64_t portprof_session_caps(const portprof_session *session);

/*
 * The verdict: why each better backend was passed over, best rank first.
 * Returns 0 and fills both pointers, or E_INVALID when index is past the
 * last. Strings belong to the session.
 */
PORTPROF_API portprof_status portprof_session_passed_over(
	const portprof_session *session, size_t index, const char **name,
	const char **reason);

/*
 * What the user should know of how this is measured ("kernel samples are
 * not permitted: system time is charged to the next user pc"), NULL past
 * the last. The string belongs to the session.
 */
PORTPROF_API const char *
portprof_session_note(portprof_session *session, size_t index);

/* How notes begin that say in words what the numbers of a profile say, too: its
 * ends of chains, and its standard error. Who shows those need not show these. */
#define PORTPROF_NOTE_CHAINS    "call chains by frame tables: "
#define PORTPROF_NOTE_ESTIMATES "CPUs are sampled: "

#ifdef __cplusplus
}
#endif
#endif
