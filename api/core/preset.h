/* SPDX-License-Identifier: MIT */
/* Presets: names in event lists for several events and a formula. */
#ifndef PPI_PRESET_H
#define PPI_PRESET_H

#include <portprof/tool.h>

#include "backends/backend.h"

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
