/* SPDX-License-Identifier: MIT */
/* Event strings taken apart and put together. */
#ifndef PPI_EVENT_H
#define PPI_EVENT_H

#include "backends/backend.h"

/*
 * Text to request; E_INVALID names column and remedy in `why`. Knows the
 * grammar of portprof/event.h and the modifiers that every backend shares;
 * unit masks and a PMU's own modifiers stay in request->name, in order.
 */
portprof_status ppi_event_parse(const char *text,
                                struct ppi_event_request *request,
                                struct ppi_diag *why);

/* The same; `column` gets the 1-based place of the mistake, for callers who
 * know where in a file the text stands. */
portprof_status ppi_event_parse_at(const char *text,
                                   struct ppi_event_request *request,
                                   size_t *column, struct ppi_diag *why);

/*
 * The shortest libpfm4 string that parses to `request` again: `name` (which
 * may be the backend's own spelling of request->name), then modes, period and
 * so on in a fixed order. False when it does not fit in `bytes`.
 */
bool ppi_event_format(const struct ppi_event_request *request,
                      const char *name, char *out, size_t bytes);

#endif
