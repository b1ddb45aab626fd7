/* SPDX-License-Identifier: MIT */
/* The one helper thread of the process: runs calls, drains sessions. */
#ifndef PPI_HELPER_H
#define PPI_HELPER_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/backend.h"

/* Something to be called now and then while it is registered. Returns the
 * longest time in ms until the next call. */
struct ppi_helper_task {
	unsigned (*run)(struct ppi_helper_task *task);
	uint64_t due_ns;
	bool is_running;
	struct ppi_helper_task *next;
};

/*
 * Start the thread if there is none yet in this process (one a process; after
 * fork the child starts its own when it needs one). It blocks every signal
 * and is named "portprof".
 */
portprof_status ppi_helper_start(struct ppi_diag *why);
int64_t ppi_helper_tid(void);

/* Run call(context) in the helper thread and wait for it. */
void ppi_helper_call(void (*call)(void *context), void *context);

/* Register; remove waits until the task does not run. */
void ppi_helper_add(struct ppi_helper_task *task);
void ppi_helper_remove(struct ppi_helper_task *task);

/* CPU time the helper thread has used, in ns. */
uint64_t ppi_helper_cpu_ns(void);

/* For simulated kernels, whose time does not pass by itself: from now on
 * calls run in the caller and registered tasks never. */
void ppi_helper_set_manual(bool manual);

#endif
