/* SPDX-License-Identifier: MIT */
/* What a resolved event is to this backend. No header of the kernel's is included:
 * libpfm4 has one of its own in its place. */
#ifndef PERF_OWN_H
#define PERF_OWN_H

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

#endif
