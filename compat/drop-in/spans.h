/* SPDX-License-Identifier: MIT */
/* The text that clients of the engine count, as the ranges of a session. */
#ifndef PPI_SPANS_H
#define PPI_SPANS_H

#include "compat/drop-in/client.h"

#include <portprof/sink.h>

/*
 * What all clients of the list that are on count: disjoint, at least one span.
 * *spans is to be freed. False when out of memory.
 */
bool ppi_spans_of(const struct ppi_client *clients, struct ppi_span **spans,
                  size_t *count);

/* Whether they are of somebody who counts everything. */
bool ppi_spans_are_whole(const struct ppi_span *spans, size_t count);

/* For portprof_config_add_range_callback. */
portprof_range ppi_span_range(const struct ppi_span *span);

/*
 * The span of `count` bins from `offset` on, `unit` bytes of text to a bin at
 * scale 65536. A scale of 0 puts everything into one bin. False when nothing
 * can be in it.
 */
bool ppi_span_make(struct ppi_span *span, uint64_t offset, uint64_t count,
                   uint64_t unit, uint32_t scale);

#endif
