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
 * Acquire every resource that can fail; nothing is measured yet. On success
 * the caller owns *session and must close it. Returns any status of status.h
 * except E_FORKED and E_STATE; portprof_last_diag has the reason.
 */
PORTPROF_API portprof_status portprof_session_open(
	const portprof_config *config, portprof_session **session);

/*
 * Start and stop, any number of times; totals continue until reset. Starting a
 * running session and stopping a stopped one succeed. When stop returns, every
 * sample has reached its sinks and nothing more is written to the caller's
 * memory. start: E_BUSY if a one-per-process facility is in use.
 *
 * The application may start to use a timer or signal of the backend while the
 * session runs. The backend gives it up within 250 ms. A note says whether
 * sampling continues with another signal or has ended; CPU time that is not
 * sampled from then on is in not_attached_weight.
 */
PORTPROF_API portprof_status portprof_session_start(portprof_session *session);
PORTPROF_API portprof_status portprof_session_stop(portprof_session *session);

/* Pass what was sampled so far to the sinks now, and files to the disk. */
PORTPROF_API portprof_status portprof_session_flush(portprof_session *session);

/* Set all totals to 0; bins, arrays and files are unchanged. E_STATE while
 * running. */
PORTPROF_API portprof_status portprof_session_reset(portprof_session *session);

/* Stop if running, complete files, release everything. NULL does nothing.
 * Returns the first failure of a sink, such as a full disk; the session is
 * closed nevertheless. exit(3) stops sessions that are open and completes their
 * files; histograms, arrays and callbacks get nothing then. */
PORTPROF_API portprof_status portprof_session_close(portprof_session *session);

/*
 * Change a setting of an open session, running or not. Of the event with this
 * index:
 *   period        take a sample every `number` units from now on
 *   frequency     take `number` samples per second from now on. Only CPU time
 *                 can change between period and rate
 *   enabled       0: stop measuring this event only; 1: continue. Its total is
 *                 what it counted while enabled
 *   samples-left  the kernel disables the event after `number` more samples, in
 *                 addition to those left from before. The session must be bound
 *                 to one thread, and running
 * Of the session, where the event is 0:
 *   wakeup-samples, wakeup-bytes
 *                 see portprof_session_fd; not in a callback of the session
 *   add-thread, remove-thread
 *                 start or stop measuring the thread with this kernel id
 *                 (gettid(2)). The session must be bound to a thread of the same
 *                 process. Adding a thread that is measured succeeds. Its weight
 *                 is what it used in between; cpu_time_ns is 0, unknown, from
 *                 then on. E_NOTFOUND: no such thread. Not in a callback
 *   cpu-time      the CPU time in nanoseconds that the system charged to a target
 *                 that has ended (user + system of wait4(2)), for which the
 *                 session can no longer ask; after stop
 * portprof_session_stats has what was granted; threads that started while the
 * session was open may keep their period, and a note says so. Weights are correct
 * whatever the period was. A callback of the session may call this.
 *   E_INVALID      no such event or setting, or out of range
 *   E_UNSUPPORTED  not with this backend or event; the words say which can
 *   E_STATE        the session, or the command that it measures, has not
 *                  started yet
 */
PORTPROF_API portprof_status portprof_session_set_number(
	portprof_session *session, size_t event, const char *key,
	uint64_t number);

/*
 * A descriptor for an event loop. It is readable while enough samples wait
 * ("wakeup-samples" of portprof_session_set_number, 1 to 65536, default 1), or
 * enough bytes of samples and other records ("wakeup-bytes", up to 16 MiB); when
 * no more can wait in memory; and when some wait and the target or the session's
 * duration has ended. Checked at least every 50 ms.
 *
 * After the first call, samples reach sinks and callbacks only in flush, stop
 * and close, in the thread that calls them. flush makes the descriptor
 * unreadable. If the program does not call it in time, samples without room are
 * counted as lost.
 *
 * *fd belongs to the session, is the same each time, and is closed with it: poll
 * it, but neither read nor close it. Unchanged on failure: E_LIMIT (too many open
 * files), E_SYSTEM, E_FORKED, E_STATE (in a callback), E_INVALID. Since 0.1.
 */
PORTPROF_API portprof_status portprof_session_fd(portprof_session *session,
                                                 int *fd);

/* How accurate a total is. */
typedef enum portprof_certainty {
	PORTPROF_UNKNOWN = 0, /* the number is a lower bound */
	PORTPROF_EXACT = 1
} portprof_certainty;

/*
 * The account of one event: current values or, once stopped, final ones:
 *
 *   delivered_samples = kept + outside + lost
 *   total_weight      = kept + outside + unattributed - excess
 *
 * Only estimates have an excess and a standard error: weights of sampled CPUs
 * instead of threads. The total is then what the system charged, whatever the
 * samples weigh.
 *
 * A sample is kept if at least one sink took it, outside if it was outside the
 * ranges of all sinks that did not, otherwise lost. `size` as elsewhere.
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
	uint64_t unattributed_weight;   /* weight without a sample: ends of
	                                 * threads, and the following */
	uint64_t not_attached_weight;   /* part of it: threads not attached */
	uint64_t throttled;             /* how often the kernel throttled us */
	uint64_t cpu_time_ns;           /* of the target while running */
	uint64_t own_cost_ns;           /* CPU time of our helper thread */
	uint32_t lost_certainty;        /* portprof_certainty */
	uint32_t unattributed_certainty;
	double requested_hz; /* 0 if a period was requested */
	double granted_hz;   /* by the kernel; 0 unknown */
	double achieved_hz;  /* samples per second of CPU time */
	uint64_t requested_period; /* in the event's unit; 0 if by rate */
	uint64_t granted_period;   /* 0 unknown or varying */
	uint64_t excess_weight;    /* weight of samples above the total */
	uint64_t standard_error;   /* of all weights together; 0: they are not
	                            * estimates. The error of a part with the
	                            * share s is this times the root of s */
	uint64_t idle_time_ns;     /* of the CPUs, when measuring the system;
	                            * in no total */
} portprof_stats;

/* E_INVALID: no such event or sink. */
PORTPROF_API portprof_status portprof_session_stats(portprof_session *session,
                                                    size_t event,
                                                    portprof_stats *stats);
PORTPROF_API portprof_status portprof_session_sink_stats(
	portprof_session *session, size_t sink, portprof_sink_stats *stats);

/* The number of open events, and what the index-th resolved to. */
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
 * Why each better backend was not used, best rank first; PORTPROF_END past the
 * last. Strings belong to the session.
 */
PORTPROF_API portprof_status portprof_session_passed_over(
	const portprof_session *session, size_t index, const char **name,
	const char **reason);

/*
 * What the user should know about the measurement ("kernel samples are not
 * permitted: system time is charged to the next user pc"); NULL past the last.
 * The string belongs to the session.
 */
PORTPROF_API const char *
portprof_session_note(portprof_session *session, size_t index);

/* Prefixes of notes that programs treat in a way of their own. The first two
 * repeat in words what the numbers of a profile say, how its chains end and its
 * standard error: programs that show the numbers may leave them out. The third
 * says whom the session does not measure. */
#define PORTPROF_NOTE_CHAINS    "call chains by frame tables: "
#define PORTPROF_NOTE_ESTIMATES "CPUs are sampled: "
#define PORTPROF_NOTE_MISSED    "not measured: "

#ifdef __cplusplus
}
#endif
#endif
