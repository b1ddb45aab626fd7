/* SPDX-License-Identifier: MIT */
/* Event strings taken apart; backend.h has ppi_event_format. */
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
 * A string of a config: one event, or a group as "{cycles,instructions}:u", whose
 * members get what is behind the brace. How many there are; the index-th as an
 * event string, false past the last or when it does not fit; and whether all of
 * it is well-formed.
 */
size_t ppi_event_members(const char *text);
bool ppi_event_member(const char *text, size_t index, char *out, size_t bytes);
portprof_status ppi_event_check(const char *text, struct ppi_diag *why);

#endif
