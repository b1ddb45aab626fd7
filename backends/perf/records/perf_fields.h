/* SPDX-License-Identifier: MIT */
/* Fields of samples that only some hardware has: requesting and describing them. */
#ifndef PERF_FIELDS_H
#define PERF_FIELDS_H

#include "backends/perf/events/perf_attr.h"
#include "backends/perf/records/perf_decode.h"

/* Each field that the plan asks for is one that some sampled event can have. */
portprof_status ppi_perf_fields_check(const struct ppi_plan *plan,
                                      struct ppi_diag *why);

/* Add what the plan asks for to the shape of samples. */
void ppi_perf_fields_ask(const struct ppi_plan *plan, struct perf_shape *shape);

/* How many words of a room its fields take, and put them there. */
size_t ppi_perf_fields_words(const struct perf_seen *seen);
void ppi_perf_fields_add(uint32_t fields, const struct perf_seen *seen,
                         struct ppi_room *room, portprof_record *record);

/* What of it this refusal is about, for people. */
const char *ppi_perf_fields_refused(uint32_t fields, int os_error);

#endif
