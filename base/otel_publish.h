/* SPDX-License-Identifier: MIT */
/*
 * Our labels as OpenTelemetry's readers find them: each thread's record behind the
 * thread-local pointer otel_thread_ctx_v1 (OTEP 4947, "Thread Context"), and the names
 * of its keys in the process context (OTEP 4719).
 */
#ifndef PPI_OTEL_PUBLISH_H
#define PPI_OTEL_PUBLISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/otel_record.h"
#include "base/thread.h"

/* Make the record of a set's text (as ppi_label_store_add has it); its keys are
 * published. Returns its bytes; 0: it cannot be published, as another library of the
 * process has the context. Not in signal handlers. */
size_t ppi_otel_record_make(const char *text, size_t bytes,
                            unsigned char record[PPI_OTEL_RECORD_MAX]);

/* In a forked child, which has not inherited the mapping. */
void ppi_otel_renew(void);

/* What otel_thread_ctx_v1 is to ourselves: another library's has the same name. */
extern _Thread_local PPI_AT_ONCE const void *ppi_otel_record;

#endif
