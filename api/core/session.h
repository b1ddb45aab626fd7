/* SPDX-License-Identifier: MIT */
/* What a session consists of; session.c drives it, session_query.c sums it up,
 * session_steer.c changes it while it is open. */
#ifndef PPI_SESSION_H
#define PPI_SESSION_H

#include <pthread.h>
#include <time.h>

#include <portprof/session.h>

#include "api/core/helper.h"
#include "api/core/open.h"
#include "api/core/pump.h"

/* Time and cost of the stretches it ran, and of the one running now. */
struct ppi_stretch {
	uint64_t begun_ns, ran_ns;        /* CLOCK_MONOTONIC */
	uint64_t helper_ns, own_cost_ns;  /* CPU time of the helper thread */
	uint64_t first_realtime_ns;       /* CLOCK_REALTIME of the first start */
};

/* Totals at the last reset, to be subtracted. */
struct ppi_baseline {
	struct ppi_account *accounts;       /* one an event */
	struct ppi_tally *tallies;          /* one an event */
	portprof_sink_stats sinks[PORTPROF_SINKS_MAX];
	uint64_t ran_ns, own_cost_ns;
};

/* portprof_session_fd: a pipe with a byte in it while samples wait. */
struct ppi_notice {
	bool is_on, is_readable;
	int ends[2];
	uint64_t devices[2]; /* what they were: a program may close them */
	uint64_t files[2];
	uint64_t samples, bytes; /* of which so many; 0: not asked for */
};

/* CPU time after a start in which no sample came, though some were to be
 * expected. */
struct ppi_silence {
	bool is_begun, is_over, was_told;
	uint64_t samples; /* that had come when it began, */
	uint64_t used_ns; /* and the CPU time used */
};

struct portprof_session {
	struct ppi_opened opened;
	pthread_mutex_t lock; /* recursive: callbacks may ask for stats */
	bool is_running;      /* measuring */
	bool is_waiting;      /* started, but its delay is not over */
	bool is_paused_for_call;
	bool is_delivering;   /* sinks are at work: not the time to stop */
	bool is_served;       /* by the helper, and nobody called */
	bool is_alone;        /* there is no helper yet, see backends/backend.h */
	bool is_complete;     /* the process ends: its files were closed */
	struct ppi_pump pump;
	struct ppi_sink sinks[PORTPROF_SINKS_MAX];
	size_t sink_count;
	struct ppi_modules modules;
	struct ppi_helper_task task;
	uint64_t flush_due_ns;
	uint64_t begins_ns, ends_ns; /* of the last start, CLOCK_MONOTONIC */
	struct ppi_stretch stretch;
	struct ppi_baseline baseline;
	struct ppi_silence silence;
	uint64_t told_cpu_time_ns; /* "cpu-time" of portprof_session_set_number */
	struct ppi_notice notice;
	struct ppi_diag failure;   /* first failure of drain or of a sink */
	struct portprof_session *next; /* all sessions of this process */
};

/* Fill one event's stats as of now; the lock is held. */
void ppi_account_fill(struct portprof_session *session, size_t event,
                      portprof_stats *stats);

/* A note if no sample has come since the start, and for long; the lock is held. After
 * the start, and after the sinks have what had come. */
void ppi_silence_begin(struct portprof_session *session);
void ppi_silence_look(struct portprof_session *session);

/* Make what is counted now the zero of later accounts; the lock is held. */
void ppi_account_reset(struct portprof_session *session);

/* The lock, for a public call: E_FORKED in a child, and E_STATE for a call
 * from a callback of the session unless that is harmless. */
portprof_status ppi_session_enter(portprof_session *session, const char *call,
                                  bool from_callback_too);

/* Keep the first failure of drain or of a sink, for close to return. */
void ppi_session_remember(struct portprof_session *session,
                          const struct ppi_diag *why);
uint64_t ppi_session_clock_ns(clockid_t clock);

/* All sinks of a session (session_sinks.c); the lock is held. After a failed open
 * there is none. _turn begins the next window in `path`. _drop frees memory alone, as in
 * a forked child. */
portprof_status ppi_session_open_sinks(struct portprof_session *session,
                                       struct ppi_diag *why);
portprof_status ppi_session_flush_sinks(struct portprof_session *session,
                                        struct ppi_diag *why);
portprof_status ppi_session_turn_sinks(struct portprof_session *session,
                                       const char *path, struct ppi_diag *why);
portprof_status ppi_session_finish_sinks(struct portprof_session *session,
                                         struct ppi_diag *why);
void ppi_session_drop_sinks(struct portprof_session *session);

/* For the end of the process; the lock is held. Stop, and close the files: sinks
 * have nothing to do any more, and keep their accounts. */
bool ppi_session_has_file(const struct portprof_session *session);
void ppi_session_complete(struct portprof_session *session);

/* Stop drawing samples and bring all of them to the sinks; and start again.
 * For session.c and for process.c around an exec; the lock is held. */
portprof_status ppi_session_pause(struct portprof_session *session,
                                  struct ppi_diag *why);
portprof_status ppi_session_resume(struct portprof_session *session,
                                   struct ppi_diag *why);

/* The descriptor (session_steer.c); the lock is held. After samples were held or
 * delivered; give it back, in a forked child, too. */
void ppi_notice_look(struct portprof_session *session);
void ppi_notice_close(struct ppi_notice *notice);

/* The list of this process's sessions (process.c). */
void ppi_process_add(struct portprof_session *session);
void ppi_process_remove(struct portprof_session *session);
/* In a forked child the copy of one is about to be freed. */
void ppi_process_forget_left(const struct portprof_session *session);

#endif
