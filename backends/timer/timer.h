/* SPDX-License-Identifier: MIT */
/* What the files of the timer backend share: session, threads, handler. */
#ifndef PPI_TIMER_H
#define PPI_TIMER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "backends/common/gate.h"
#include "backends/common/ticks.h"
#include "backends/timer/timer_kernel.h"

/*
 * One thread with its timer. The address is what the kernel hands back with
 * each tick, so an entry stays where it is until the session is closed.
 *
 * The CPU time that the session accounts for in a thread runs from base_ns
 * to the clock's present value. Written by the handler, in the thread itself:
 * due_ns, random and last_ns, then `ticks` with release order. Start writes them,
 * too, but only while no handler can be inside. is_armed is set last, with
 * release order, before the first tick can come: what the handler reads is there.
 */
struct timer_thread {
	int64_t tid;
	uint64_t timer;
	bool has_timer;
	bool is_counted;  /* base_ns is valid: a stretch is running */
	uint64_t base_ns;
	uint64_t last_ns; /* what its samples so far reach up to */
	uint64_t due_ns;  /* of its clock: when the next tick is meant to be */
	uint64_t random;
	/* where ends are estimated, until its first sample; length_ns 0: that
	 * has come */
	struct ppi_tick_head head;
	uint64_t looked_ns; /* its clock at the last look of the kernel's */
	_Atomic bool is_armed;
	_Atomic unsigned ticks;

	/* to find threads that block our signal */
	unsigned seen_ticks;
	uint64_t seen_ns;
	bool is_deaf;

	struct timer_thread *next_free;
};

/* Chunks double in size, so a handler finds its thread's in a few steps. */
enum { TIMER_FIRST_CHUNK = 64, TIMER_CHUNKS = 24 };

/* The handlers of all threads find all in one place: so many members. */
struct timer_state {
	struct ppi_backend_session *bs;
	const struct timer_kernel *kernel;
	struct ppi_tick_rate rate;
	uint64_t random;
	int64_t only_tid; /* 0 = all threads of the process */

	/* ---- what the handler reads ---- */
	_Atomic bool is_ticking;
	struct timer_thread *chunks[TIMER_CHUNKS];
	_Atomic unsigned chunk_count;
	struct ppi_tick_ring ring;

	struct timer_thread heir; /* of a forked child that continues */
	int64_t heir_pid;         /* 0: this is none */

	int signo;
	int asked_signo; /* no other will do; 0: any */
	struct sigaction before;
	bool is_displaced; /* the program has our signal, and no other is free */

	/* ---- threads, sorted by tid ---- */
	struct timer_thread **threads;
	size_t thread_count;
	struct timer_thread *free;
	int64_t *tids;     /* as the system lists them; room for both lists */
	size_t tid_count, tid_room;
	bool is_at_limit;  /* in this scan a timer was refused */
	int refusal;       /* errno of the last timer that was refused */
	uint64_t next_scan_ns, next_watch_ns;

	/* ---- the account ---- */
	uint64_t began_ns;         /* CLOCK_MONOTONIC of the last start */
	struct ppi_meter meter;    /* CPU time of the target */
	uint64_t attached_done_ns; /* of threads and stretches that are over */
	double variance_done;      /* of theirs, where ends are estimated */
};

/* ---- timer_threads.c: which threads there are ---- */

/*
 * Look which threads there are, attach to new ones, forget those that are
 * gone; *fresh is how many were new. While ticking, new timers are armed at
 * once. A thread that gets none is noted and tried again in the next scan.
 */
portprof_status ppi_timer_threads_scan(struct timer_state *state, size_t *fresh,
                                       struct ppi_diag *why);

/* Free the entries, when no handler can be inside any more. */
void ppi_timer_threads_free(struct timer_state *state);

/* ---- timer_handler.c: in a forked child; see struct ppi_heir_ops ---- */

bool ppi_timer_heir_begin(struct ppi_backend_session *bs);
void ppi_timer_heir_end(struct ppi_backend_session *bs);

/* ---- their timers, and their part of the account ---- */

/* Begin the account of a thread that has a timer, and arm that. Nonzero with errno
 * on failure. */
int ppi_timer_thread_begin(struct timer_state *state,
                           struct timer_thread *thread);

/* Arm all timers, with the present as the beginning of the account. */
portprof_status ppi_timer_threads_arm(struct timer_state *state,
                                      struct ppi_diag *why);
void ppi_timer_threads_disarm(struct timer_state *state);
void ppi_timer_threads_detach(struct timer_state *state);

/* CPU time of attached threads since open; and where ends are estimated, how far
 * their samples are from it by chance, squared. */
uint64_t ppi_timer_threads_attached_ns(struct timer_state *state,
                                       double *variance);

/* ---- what is looked at now and then ---- */

/* How soon to look again after start, and how often at once during it. */
enum { TIMER_SCAN_MS = 10, TIMER_STARTING_SCANS = 4 };

/* CPU time of the target so far; the helper thread's is not part of it. -1
 * and errno on failure. _see brings the meter up to date with it; _freshen
 * before either makes it exact to the moment. */
void ppi_timer_clock_freshen(const struct timer_state *state);
int ppi_timer_clock_read(const struct timer_state *state, uint64_t *ns);
int ppi_timer_clock_see(struct timer_state *state);

/* New threads, deaf ones, the handler; and when to come again. */
void ppi_timer_look_around(struct timer_state *state);

/* Leave the signal to the program that has taken it, and take another. The
 * timers stand still then. */
portprof_status ppi_timer_change_signal(struct timer_state *state,
                                        struct ppi_diag *why);

/* ---- timer_handler.c: what happens at a tick ---- */

/* Find a free signal and install the handler for this session. */
portprof_status ppi_timer_handler_install(struct timer_state *state,
                                          struct ppi_diag *why);

/* Whether the handler is still in place. */
bool ppi_timer_handler_is_ours(const struct timer_state *state);

/* Take another signal instead of one that the program has taken. The timers of
 * that one are deleted by now. */
portprof_status ppi_timer_handler_renew(struct timer_state *state,
                                        struct ppi_diag *why);

/* Wait until no handler is at work on this session. */
void ppi_timer_handler_wait(struct timer_state *state);

/* Put back what was there before. Timers are deleted by now. */
void ppi_timer_handler_remove(struct timer_state *state);

#endif
