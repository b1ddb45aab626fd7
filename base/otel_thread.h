/* SPDX-License-Identifier: MIT */
/*
 * What a tracing library of this process says its threads work for: OpenTelemetry's
 * thread context (OTEP 4947), read by the handler that interrupts the thread. A record
 * becomes a set of labels of the store, so that all else is as with our own.
 */
#ifndef PPI_OTEL_THREAD_H
#define PPI_OTEL_THREAD_H

#include <stdint.h>

/* Look whether some library has such contexts, and which keys; now and then. Not in
 * signal handlers. */
void ppi_otel_threads_look(void);

/* The set of the calling thread's context; 0: it has none. Async-signal-safe. */
uint32_t ppi_otel_thread_set(void);

#endif
