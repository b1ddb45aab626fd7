/* SPDX-License-Identifier: MIT */
/* Event strings, lists of them and presets in lists, as requests; what a backend does
 * with a request is in backend.h. */
#ifndef PPI_EVENT_H
#define PPI_EVENT_H

#include <portprof/tool.h>

#include "backends/backend.h"

/* ---- one event ---- */

/*
 * Text to request; E_INVALID names column and remedy in `why`, whose column is the
 * 1-based place of the mistake. Knows the
 * grammar of portprof/event.h and the modifiers that every backend shares; all
 * other parts stay in request->parts, in order.
 */
portprof_status ppi_event_parse(const char *text,
                                struct ppi_event_request *request,
                                struct ppi_diag *why);

/* The same, of an event that stands in a list: its column there is named. */
typedef size_t (*ppi_event_column_fn)(const void *context, size_t column);
portprof_status ppi_event_parse_in(const char *text,
                                   struct ppi_event_request *request,
                                   ppi_event_column_fn column_in,
                                   const void *context, struct ppi_diag *why);

/* Up to the first of `stops` that is in no place and no filter of an event. */
size_t ppi_event_span(const char *text, const char *stops);

/* Whether a word is in a list with commas, in upper or lower case; or a part's
 * key is. A list that is NULL has none. */
bool ppi_word_in(const char *word, size_t length, const char *list);
bool ppi_event_part_in(const struct ppi_event_request *request,
                       const struct ppi_event_part *part, const char *list);

/* ---- lists ---- */

/* The length of the first item of an event list, an event or a group in braces;
 * and of how many events the list is. */
size_t ppi_event_item(const char *list);
size_t ppi_event_members(const char *list);
/* From the end of an item to the next one, behind a comma and blanks. */
const char *ppi_event_next_item(const char *end);

/*
 * Read an event list, "cycles,{instructions,branches}:u": `take`, which may be
 * NULL, gets each event with its group's modifiers, until all are read or one is
 * malformed. E_INVALID then, with its column in the list.
 */
typedef void (*ppi_event_take_fn)(const struct ppi_event_request *request,
                                  void *context);
portprof_status ppi_event_list_read(const char *list, ppi_event_take_fn take,
                                    void *context, struct ppi_diag *why);

/* ---- presets: names in event lists for several events and a formula ---- */

/* The preset that an event names, `length` characters up to its modifiers; NULL:
 * none. Of several of that name it is the first whose events a backend of this
 * system knows, or the first of all. */
const portprof_preset *ppi_preset_find(const char *name, size_t length);
size_t ppi_preset_event_count(const portprof_preset *preset);

/* Say of which preset a refused event is. What no PMU here has is not a name that
 * nobody knows: E_NOTFOUND becomes E_UNSUPPORTED. */
portprof_status ppi_preset_blame(const struct ppi_event_request *request,
                                 struct ppi_diag *why);

/* portprof_group_metric, of the events of a plan. */
portprof_status ppi_metric_get(const struct ppi_event *events, size_t count,
                               const portprof_count *counts, size_t index,
                               portprof_metric *metric);

/* The same as factors of each of the events: the metric is the sum of values by
 * `of`, divided by that by `by` unless all of those are 0. False past the last. */
bool ppi_metric_factors(const struct ppi_event *events, size_t count,
                        size_t index, double *of, double *by);

#endif
