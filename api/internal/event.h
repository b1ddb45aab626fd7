/* SPDX-License-Identifier: MIT */
/* Event strings taken apart. */
#ifndef PPI_EVENT_H
#define PPI_EVENT_H

#include "backends/backend.h"

/* Text to request; E_INVALID names column and remedy in `why`. */
portprof_status ppi_event_parse(const char *text,
                                struct ppi_event_request *request,
                                struct ppi_diag *why);

/*
 * The shortest string that parses to `request` again, its modes, period and
 * so on in a fixed order after `name` (which may be the backend's own spelling
 * of request->name). False when it does not fit in `bytes`.
 */
bool ppi_event_format(const struct ppi_event_request *request,
                      const char *name, char *out, size_t bytes);

#endif
