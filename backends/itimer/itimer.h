/* SPDX-License-Identifier: MIT */
/* What the files of the itimer backend share: session, threads, handler. */
#ifndef PPI_ITIMER_H
#define PPI_ITIMER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "backends/itimer/itimer_kernel.h"
#include "backends/common/cpu_time.h"
#include "backends/common/gate.h"
#include "backends/common/ticks.h"

/* What a refusal also offers, where the system has it (config.h). */
#ifdef PPI_BACKEND_TIMER
#define ITIMER_ELSE ", or use the timer or perf backend"
#define ITIMER_UNBIASED "; the timer and perf backends have one a thread"
#else
#define ITIMER_ELSE ""
#define ITIMER_UNBIASED ""
#endif

/*
 * What is known of one thread. The key is put in by the first that comes: the
 * thread itself in its handler, or start. Only the thread writes last_ns while
 * ticks are taken. A slot is given back when its thread is gone.
 */
struct itimer_slot {
	_Atomic long tid; /* SLOT_FREE, SLOT_LEFT, or a thread's id */
	uint64_t last_ns; /* what its samples so far reach up to */
};

/* A table with open addresses: a signal handler can search it and add itself
 * without a lock, which thread-local storage of a library cannot promise. */
struct itimer_table {
	struct itimer_slot *slots;
	size_t mask;
};

/* One timer serves the process, and its handler finds all in one place: so many
 * members. */
struct itimer_state {
	struct ppi_backend_session *bs;
	const struct itimer_kernel *kernel;
	struct ppi_tick_rate rate;
	uint64_t random;

	/* ---- what the handler reads ---- */
	_Atomic bool is_ticking;
	bool is_by_thread; /* weights by threads' clocks, not the process's */
	uint64_t began_ns; /* CLOCK_MONOTONIC of the last start */
	struct itimer_table table;
	struct ppi_tick_ring ring;
	_Atomic size_t crowded;     /* ticks of threads without a slot */
	atomic_flag is_being_read;  /* process_last_ns, where it is used */
	uint64_t process_last_ns;
	atomic_flag is_due_changing; /* due_ns */
	uint64_t due_ns;    /* of the process's clock: the next sample's */
	uint64_t length_ns; /* where ends are estimated, the weight of the first
	                     * sample since start; 0: it has come */
	uint64_t base_ns;   /* the process's clock at start */
	double variance_done; /* of stretches that are over */

	int64_t heir_pid; /* of a forked child that continues; 0: this is none */
	_Atomic unsigned heir_samples;

	struct sigaction before;
	bool is_displaced; /* the program has taken handler or timer */
	uint64_t sampled_ns;   /* the meter's total when it did */
	uint64_t unsampled_ns; /* after that, of stretches that are over */
	uint64_t every_ns; /* how the system shows our timer */

	int64_t *tids;
	size_t tid_count, tid_room;
	uint64_t next_look_ns, next_sweep_ns;
	struct ppi_meter meter; /* CPU time of the process */
	struct ppi_cpu_watch watch; /* on the clock that it is read from */
};

/* ---- itimer_threads.c: what each thread's samples reach up to ---- */

bool ppi_itimer_table_init(struct itimer_table *table, size_t threads);
void ppi_itimer_table_free(struct itimer_table *table);

/* The thread's slot, made if there is none (*is_new); NULL when the table is
 * full. Async-signal-safe for the thread's own id. */
struct itimer_slot *ppi_itimer_table_get(struct itimer_table *table, long tid,
                                         bool *is_new);

/* Begin with all threads that exist now and their clocks as they stand. Where
 * the system does not tell, is_by_thread becomes false. */
portprof_status ppi_itimer_threads_begin(struct itimer_state *state,
                                         struct ppi_diag *why);

/* Look at all threads' clocks, so that the process's is exact. */
void ppi_itimer_threads_freshen(struct itimer_state *state);

/* Give back the slots of threads that are gone. */
void ppi_itimer_threads_sweep(struct itimer_state *state);

/* ---- itimer_handler.c: in a forked child; see struct ppi_heir_ops ---- */

bool ppi_itimer_heir_begin(struct ppi_backend_session *bs);
void ppi_itimer_heir_end(struct ppi_backend_session *bs);

/* ---- itimer.c: ITIMER_PROF ---- */

/* E_BUSY when the timer runs: it would be the program's. */
portprof_status ppi_itimer_arm(struct itimer_state *state,
                               struct ppi_diag *why);
/* The next tick after so much CPU time; a timer that is the program's by now goes
 * on. For the handler. */
void ppi_itimer_arm_next(const struct itimer_state *state, uint64_t left_ns);
/* Stop the ticks, and wait for handlers; a timer that is the program's by now
 * continues. */
void ppi_itimer_disarm(struct itimer_state *state);

/* ---- itimer_handler.c: what happens at a tick ---- */

/* Take SIGPROF, or E_BUSY when somebody has it. */
portprof_status ppi_itimer_handler_install(struct itimer_state *state,
                                           struct ppi_diag *why);
bool ppi_itimer_handler_is_ours(const struct itimer_state *state);

/* Throw away ticks that are pending. The timer is stopped by now. */
void ppi_itimer_handler_flush(const struct itimer_state *state);

/* Put back what was there before, but stay the session of SIGPROF; and take
 * it again, or E_BUSY. */
void ppi_itimer_handler_yield(const struct itimer_state *state);
portprof_status ppi_itimer_handler_retake(struct itimer_state *state,
                                          struct ppi_diag *why);

/* Wait until no handler is at work on this session. */
void ppi_itimer_handler_wait(struct itimer_state *state);

/* Put back what was there before. The timer is stopped by now. */
void ppi_itimer_handler_remove(struct itimer_state *state);

#endif
