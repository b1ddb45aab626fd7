/* SPDX-License-Identifier: MIT */
/*
 * What a tracing library says of a thread: OpenTelemetry's record (OTEP 4947, "Thread
 * Context"), of any bytes, as the text of a set of labels (ppi_label_store_add).
 */
#ifndef PPI_OTEL_RECORD_H
#define PPI_OTEL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/otel_context.h"

/* The pointer to it, in the symbols of the program or of a library. */
#define PPI_OTEL_SYMBOL "otel_thread_ctx_v1"

/* Its fixed part, and all of it at most; where its members lie. */
enum {
	PPI_OTEL_TRACE_ID = 0,
	PPI_OTEL_SPAN_ID = 16,
	PPI_OTEL_VALID = 24,
	PPI_OTEL_FLAGS = 25,
	PPI_OTEL_SIZE = 26,
	PPI_OTEL_HEAD = 28,
	PPI_OTEL_RECORD_MAX = 640
};

struct ppi_otel_text {
	char bytes[2048];
	size_t used;
};

/* What lies there in a process, and how many bytes it has. False: it is no whole
 * record. Async-signal-safe, as are all of these. */
bool ppi_otel_record_read(uint32_t pid, uint64_t at,
                          unsigned char record[PPI_OTEL_RECORD_MAX],
                          size_t *bytes);

/* Whether all keys have a name by now. */
bool ppi_otel_record_has_names(const struct ppi_otel_keys *keys,
                               const unsigned char *record, size_t bytes);

/* Whether it says which trace or span. */
bool ppi_otel_record_has_ids(const unsigned char *record);

/* Its attributes; `trace_id` and `span_id` as W3C writes them, where they are asked for.
 * What has no room is left out. */
void ppi_otel_record_text(const struct ppi_otel_keys *keys,
                          const unsigned char *record, size_t bytes,
                          bool with_ids, struct ppi_otel_text *text);

#endif
