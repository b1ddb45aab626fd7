/* SPDX-License-Identifier: MIT */
/* Event strings taken apart; backend.h has ppi_event_format. */
#ifndef PPI_EVENT_H
#define PPI_EVENT_H

#include "backends/backend.h"

/*
 * Text to request; E_INVALID names column and remedy in `why`. Knows the
 * grammar of portprof/event.h and the modifiers that every backend shares; all
 * other parts stay in request->parts, in order.
 */
portprof_status ppi_event_parse(const char *text,
                                struct ppi_event_request *request,
                                struct ppi_diag *why);

/* The same; `column` gets the 1-based place of the mistake, for callers who
 * know where in a file the text stands. */
portprof_status ppi_event_parse_at(const char *text,
                                   struct ppi_event_request *request,
                                   size_t *column, struct ppi_diag *why);

/* Whether a word is in a list with commas, in upper or lower case; or a part's
 * key is. A list that is NULL has none. */
bool ppi_word_in(const char *word, size_t length, const char *list);
bool ppi_event_part_in(const struct ppi_event_request *request,
                       const struct ppi_event_part *part, const char *list);

/*
 * Event lists, "cycles,{instructions,branches}:u" (event_list.c). How many events
 * there are; the index-th with its group's modifiers, false past the last or when
 * it does not fit; the length of the first item, an event or a group in braces;
 * and whether all of it is well-formed, or at which column it is not.
 */
size_t ppi_event_members(const char *list);
bool ppi_event_member(const char *list, size_t index, char *out, size_t bytes);
size_t ppi_event_item(const char *list);
portprof_status ppi_event_list_check(const char *list, size_t *column,
                                     struct ppi_diag *why);

#endif
