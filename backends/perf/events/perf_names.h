/* SPDX-License-Identifier: MIT */
/* Event names that every Linux kernel has, with or without libpfm4. */
#ifndef PPI_PERF_NAMES_H
#define PPI_PERF_NAMES_H

#include "backends/perf/events/perf_request.h"

enum { PPI_PERF_NAME_BYTES = 40 };

/* A generic event: kernel's numbers for it, our spelling, what it is. */
struct ppi_perf_name {
	uint32_t type;
	uint64_t config;
	char name[PPI_PERF_NAME_BYTES];
	const char *means;
	const char *pmu; /* under which libpfm4 has it */
	bool is_software; /* the kernel counts it, no PMU */
};

/*
 * Find a generic software, hardware or cache event, or a raw one (rHEX), by
 * name: upper or lower case, '-' or '_', "perf::" before it or not.
 */
bool ppi_perf_name_find(const char *name, struct ppi_perf_name *out);

/* The other way round; raw events are not found. */
bool ppi_perf_name_of(uint32_t type, uint64_t config,
                      struct ppi_perf_name *out);

/* Called with an event and each of its names, the first of them name->name;
 * true ends the walk. */
typedef bool (*ppi_perf_name_fn)(const struct ppi_perf_name *name,
                                 const char *spelling, void *context);
bool ppi_perf_names_walk(ppi_perf_name_fn visit, void *context);

/* Offer all generic names but the raw ones. */
void ppi_perf_names_offer(struct ppi_nearest *nearest);

/* E_UNSUPPORTED for levels and worlds that mean nothing where the kernel itself
 * counts: h, mg and precise. */
portprof_status ppi_perf_check_software(const struct ppi_event *event,
                                        const char *name,
                                        struct ppi_diag *why);

/* What libpfm4 would say of a generic event, without asking it. */
portprof_status ppi_perf_name_fill(const struct ppi_perf_name *name,
                                   struct ppi_event *event,
                                   struct ppi_diag *why);

/* ---- a resolved event as text ---- */

/* "in user and kernel mode"; a constant string. */
const char *ppi_perf_say_levels(const struct ppi_event *event);

/* event->encoding, of what is known by now. */
void ppi_perf_encode(struct ppi_event *event);

/*
 * Unit, canonical form and description, when the numbers are known. `name` is
 * the canonical name, `means` what the event is in words. E_INVALID when it is
 * too long to be spelled out.
 */
portprof_status ppi_perf_event_finish(struct ppi_event *event,
                                      enum ppi_mode mode, const char *name,
                                      const char *means,
                                      struct ppi_diag *why);

/* perf_catalogue.c: what `portprof list` shows. */
extern const struct ppi_catalogue_ops ppi_perf_catalogue;

#endif
