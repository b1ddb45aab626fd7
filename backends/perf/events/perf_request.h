/* SPDX-License-Identifier: MIT */
/* Requests for perf events: the modifiers that perf adds to the core's. */
#ifndef PERF_REQUEST_H
#define PERF_REQUEST_H

#include "backends/backend.h"

/* So many fields of a tracepoint a sample keeps. */
enum { PERF_RAW_MAX = 8 };

/* What perf's own modifiers ask for. */
struct perf_asked {
	unsigned precise;         /* 0..3 */
	bool has_precise;         /* it was given, be it 0 */
	bool wants_max_precision; /* it was not: as high as the kernel grants */
	bool pinned, exclusive;
	bool has_guest_host; /* mg or mh was given; else resolving decides */
	bool exclude_guest, exclude_host; /* what the kernel is to leave out */
	int cpu;             /* -1 = not given */
	/* field=NAME: where the names stand in request.text */
	uint8_t field_count, field_at[PERF_RAW_MAX], field_bytes[PERF_RAW_MAX];
};

struct perf_request {
	struct ppi_event_request core; /* its name has the unit masks too */
	struct perf_asked asked;
};

/* The private bytes of an event of perf. */
struct perf_own {
	uint32_t type;      /* attr.type */
	uint32_t precise;   /* attr.precise_ip */
	uint64_t config[3]; /* attr.config, config1, config2 */
	uint32_t bp_type;   /* of a breakpoint: attr.bp_type */
	bool has_path;      /* config1 is to be a pointer to request.name, which
	                     * is the file of a probe */
	bool is_return;     /* such a probe, of returns */
	bool is_probe;      /* that, or a tracepoint that somebody made of a
	                     * place */
	bool is_of_program; /* a place in what a process executes until its
	                     * next execve */
	bool is_package;    /* counted for whole packages, on CPUs of its PMU's
	                     * cpumask */
	uint8_t filter_at, filter_bytes; /* in request.text; 0 = none */
	struct perf_asked asked;
}
/* they lie in words of the core's */
__attribute__((may_alias));

_Static_assert(sizeof(struct perf_own) <=
               sizeof(((struct ppi_event *)0)->own),
               "the core keeps room for the private bytes of an event");

static inline const struct perf_own *perf_own(const struct ppi_event *event)
{
	return (const void *)event->own;
}

static inline struct perf_own *perf_own_of(struct ppi_event *event)
{
	return (void *)event->own;
}

/* Take perf's modifiers out of a request, and what is left into its name: unit
 * masks and the PMU's own modifiers. E_INVALID names part and column. */
portprof_status ppi_perf_request_read(const struct ppi_event_request *request,
                                      struct perf_request *out,
                                      struct ppi_diag *why);

/* An event of this request, of which nothing is known yet. */
struct ppi_event ppi_perf_request_event(const struct perf_request *request);

/* Levels and worlds as they were asked for; user and kernel, without guests, where
 * nothing was. */
void ppi_perf_set_modes(struct ppi_event *event);

/* ppi_event_format with perf's modifiers. */
bool ppi_perf_request_format(const struct ppi_event_request *core,
                             const struct perf_asked *asked, const char *name,
                             char *out, size_t bytes);

/* Where in the user's text a part stands, from 1. */
size_t ppi_perf_column_of(const struct ppi_event_request *request,
                          const char *part);

#endif
