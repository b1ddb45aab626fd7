/* SPDX-License-Identifier: MIT */
/* A session of waits beside no other event, for tests of what it tells. */
#ifndef WAITS_RUN_H
#define WAITS_RUN_H

#include "backends/backend.h"

enum { RUN_READY, RUN_BLOCKED, RUN_EVENTS };

/* The session of the case that runs. */
extern struct waits_run {
	struct ppi_backend_session bs;
	struct ppi_plan plan;
	struct ppi_event events[RUN_EVENTS];
	char notes[8][PPI_NOTE_BYTES];
} run;

/* With the target and the wishes of `plan`; the events are put in. After a failure
 * there is nothing to close. */
portprof_status waits_run_open(const void *kernel, const struct ppi_plan *plan,
                               int64_t helper_tid);
void waits_run_close(void);

/* All that there is, `records` at a time. */
void waits_run_drain(size_t records,
                     void (*take)(const portprof_batch *batch,
                                  const portprof_record *record));

/* A field of a record; "" where it has none. */
const char *waits_run_label(const portprof_batch *batch,
                            const portprof_record *record, uint32_t index);

/* What a file of the simulated /proc has; as many bytes of it as there is room for. */
int waits_run_put(char *text, size_t room, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Of the seam, for worlds where neither matters: a process with code of one file, and no
 * symbols of the kernel. */
void waits_run_each_code(void *self, int64_t pid,
                         void (*take)(void *context, uint64_t start,
                                      uint64_t limit, uint64_t offset,
                                      const char *path),
                         void *context);
void waits_run_no_symbol(void *self,
                         void (*take)(void *context, uint64_t address, char type,
                                      const char *name),
                         void *context);

#endif
