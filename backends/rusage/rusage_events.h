/* SPDX-License-Identifier: MIT */
/* The events that the system's accounts have. */
#ifndef PPI_RUSAGE_EVENTS_H
#define PPI_RUSAGE_EVENTS_H

#include "backends/backend.h"
#include "backends/rusage/rusage_kernel.h"

/* Which part of an account an event is. */
enum rusage_field {
	RUSAGE_NONE,
	RUSAGE_CPU,
	RUSAGE_FAULTS,
	RUSAGE_MINOR,
	RUSAGE_MAJOR,
	RUSAGE_SWITCHES,
	RUSAGE_VOLUNTARY,
	RUSAGE_INVOLUNTARY
};

/* The field of a resolved event. */
enum rusage_field ppi_rusage_field_of(const struct ppi_event *event);

/* The value of a resolved event, whose field this is, in an account. */
uint64_t ppi_rusage_value(enum rusage_field field,
                          const struct ppi_event *event,
                          const struct rusage_usage *usage);

portprof_status
ppi_rusage_resolve_event(const struct rusage_kernel *kernel,
                         const struct ppi_event_request *request,
                         enum ppi_mode mode, struct ppi_event *event,
                         struct ppi_diag *why);

extern const struct ppi_catalogue_ops ppi_rusage_catalogue;

#endif
