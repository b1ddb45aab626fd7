/* SPDX-License-Identifier: MIT */
/*
 * What a tracing library says that a blocked thread works for, of any process:
 * OpenTelemetry's thread context (OTEP 4947) where it lies in the thread's memory. A
 * thread that runs may change it at any time, so that nothing is known of that one.
 */
#ifndef PPI_OTEL_REACH_H
#define PPI_OTEL_REACH_H

#include "base/otel_record.h"

/* A process whose threads have contexts. */
struct ppi_otel_reach;

/* NULL: it publishes no keys of contexts (OTEP 4719), or may not be read. */
struct ppi_otel_reach *ppi_otel_reach_new(uint32_t pid);
void ppi_otel_reach_free(struct ppi_otel_reach *reach);

enum ppi_otel_answer { PPI_OTEL_NOTHING, PPI_OTEL_SAYS, PPI_OTEL_UNKNOWN };

/*
 * The record of a thread, if it was blocked all the while. `turns`: how often it has had
 * a CPU so far, which is the same at another reading if it has not run between; 0: that
 * is not known.
 */
enum ppi_otel_answer ppi_otel_reach_read(struct ppi_otel_reach *reach,
                                         int64_t tid,
                                         unsigned char record[PPI_OTEL_RECORD_MAX],
                                         size_t *bytes, uint64_t *turns);

/*
 * The pointer of the calling thread, of this process; 0: there is none. False: that is not
 * known. Async-signal-safe, also beside ppi_otel_reach_look, which looks again for
 * libraries that came or went, once a second at most.
 */
bool ppi_otel_reach_here(const struct ppi_otel_reach *reach,
                         uint64_t thread_pointer, uint64_t *pointer);
void ppi_otel_reach_look(struct ppi_otel_reach *reach);

/* The names of the keys that its records have. */
const struct ppi_otel_keys *ppi_otel_reach_keys(const struct ppi_otel_reach *reach);

/* Whether the process runs the program that it was found in. */
bool ppi_otel_reach_is_current(const struct ppi_otel_reach *reach);

#endif
