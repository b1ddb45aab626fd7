/* SPDX-License-Identifier: MIT */
/* The one helper thread of the process: runs calls, drains sessions. */
#ifndef PPI_HELPER_H
#define PPI_HELPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/backend.h"

/* Something to be called now and then while it is registered. run returns
 * the longest time in ms until the next call. */
struct ppi_helper_task {
	unsigned (*run)(struct ppi_helper_task *task);
	uint64_t due_ns;
	bool is_running;
	_Atomic bool is_wished; /* by ppi_helper_wish */
	struct ppi_helper_task *next;
};

/* Its stack where memory is limited: it must do for a sink that writes a file.
 * And how soon it sees that the program's own threads have all ended. */
enum { PPI_HELPER_STACK = 512 * 1024, PPI_HELPER_LOOK_MS = 500 };

/*
 * Whoever needs the thread takes it and gives it back; the first starts it,
 * the last ends it. It blocks every signal and is named "portprof". A forked
 * child has no helper until it takes one itself. When all other threads of the
 * process have ended it ends by itself, and calls run in the caller.
 */
portprof_status ppi_helper_take(struct ppi_diag *why);
void ppi_helper_give_back(void);

/* Take it without starting it, if nobody has it yet: calls run in the caller until
 * ppi_helper_begin, which does not wait for it to come up. It is given back as if
 * it had been started. */
void ppi_helper_take_later(void);
void ppi_helper_begin(void);

/*
 * A thread costs a short process more than all else: its end waits until the
 * thread has had a CPU once more. Who promises calls ppi_helper_begin when the
 * process has more to be looked at than samples, which need no thread: a second
 * thread, code that is unloaded, labels. True where that is still to come.
 */
void ppi_helper_promise_to_begin(void);
bool ppi_helper_begins_on_demand(void);

/* 0: there is none. Waits for one that was begun. */
int64_t ppi_helper_tid(void);

/* Whether the thread is this process's, and not that of one whose memory this
 * one shares. */
bool ppi_helper_is_ours(void);

/*
 * End the thread for a while, for calls that do what they should only in a
 * process of one thread; calls run in the caller meanwhile, tasks wait. False:
 * there was none to end, and then there is nothing to resume. Afterwards it has
 * another id.
 */
bool ppi_helper_suspend(void);
void ppi_helper_resume(void);

/* Run call(context) in the helper thread and wait for it. */
void ppi_helper_call(void (*call)(void *context), void *context);

/* Register (first run at once), run it soon instead of when it said; remove
 * waits until the task does not run. */
void ppi_helper_add(struct ppi_helper_task *task);
void ppi_helper_wake(struct ppi_helper_task *task);
void ppi_helper_wake_in(struct ppi_helper_task *task, unsigned ms);
void ppi_helper_remove(struct ppi_helper_task *task);
/* As wake, for a task that is registered; a signal handler may call it. Where
 * that cannot wake the thread (no sem_clockwait) the task runs when it said. */
void ppi_helper_wish(struct ppi_helper_task *task);

/* CPU time the helper thread has used so far, in ns. */
uint64_t ppi_helper_cpu_ns(void);

/* For simulated kernels, whose time does not pass by itself: from now on
 * there is no thread, calls run in the caller and registered tasks never. */
void ppi_helper_set_manual(bool manual);

/* Then: run every registered task once, as the thread would when it is due. */
void ppi_helper_run_tasks(void);

/* Before the helper is taken for the first time: a forked child has none
 * (api/core/process.c). */
void ppi_process_handle_forks(void);

/* For api/core/process.c: hold the helper's lock over a fork. */
void ppi_helper_before_fork(void);
void ppi_helper_after_fork_in_parent(void);
void ppi_helper_after_fork_in_child(void);

/* In a child of clone(2), where no handler has run: true if it was one. */
bool ppi_helper_renew(void);

#endif
