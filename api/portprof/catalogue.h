/* SPDX-License-Identifier: MIT */
/* The catalogue: events and PMUs of this machine. */
#ifndef PORTPROF_CATALOGUE_H
#define PORTPROF_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/export.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The origin of an event. */
typedef enum portprof_source {
	PORTPROF_SOURCE_SOFTWARE = 1,  /* the kernel counts it, no PMU */
	PORTPROF_SOURCE_HARDWARE = 2,  /* a generic name for what a PMU counts */
	PORTPROF_SOURCE_CACHE = 3,     /* the same for caches and predictors */
	PORTPROF_SOURCE_TABLE = 4,     /* libpfm4's table of this CPU's PMU */
	PORTPROF_SOURCE_SYSTEM = 5,    /* the system's own PMUs, as in sysfs */
	PORTPROF_SOURCE_TRACEPOINT = 6, /* a place in the kernel's code */
	PORTPROF_SOURCE_PLACE = 7      /* a place in a program: `name` is a
	                                * template whose words in capitals must
	                                * be replaced, and needs_mask is set */
} portprof_source;

/*
 * One event, or one unit mask of the event before it. `size` is the size of this
 * struct in the library: members past it do not exist. The strings are never
 * NULL and valid, like the struct, during the call. Since 0.1.
 */
typedef struct portprof_catalogue_event {
	size_t size;
	portprof_source source;
	uint32_t is_mask;    /* a unit mask of the last event with 0 here */
	uint32_t needs_mask; /* can only be used with one of its masks */
	const char *name;    /* an event string */
	const char *also;    /* other names, separated by blanks */
	const char *pmu;
	const char *means;   /* a description; may be "" */
} portprof_catalogue_event;

/*
 * One PMU of this machine according to libpfm4 or the system. Open one of its
 * events to find out whether it can be used. `size` and strings as above. Since
 * 0.1.
 */
typedef struct portprof_catalogue_pmu {
	size_t size;
	portprof_source source; /* TABLE or SYSTEM */
	uint32_t is_core;       /* it counts events of CPU cores */
	int64_t type;           /* in its events' encoding; -1 unknown */
	uint64_t event_count;
	const char *name;
	const char *means;
	const char *cpus;       /* the CPUs it covers, as in "0-3,8"; "" all */
	const char *terms;      /* SYSTEM: the terms of PMU::raw:TERM=VALUE, as in
	                         * "event=config:0-7 inv=config:23" */
} portprof_catalogue_pmu;

/*
 * Call `take` for every event or PMU that `backend` (a name, or "auto" for all
 * backends, each event once, as described by the best one) can name on this
 * machine, until it returns nonzero. No event is opened; names may be read
 * from files of the system. The struct belongs to the library and is valid
 * during the call.
 *   E_INVALID  no such backend
 * Any thread, not in signal handlers. Since 0.1.
 */
typedef int (*portprof_event_fn)(const portprof_catalogue_event *event,
                                 void *context);
typedef int (*portprof_pmu_fn)(const portprof_catalogue_pmu *pmu,
                               void *context);
PORTPROF_API portprof_status portprof_catalogue_events(const char *backend,
                                                       portprof_event_fn take,
                                                       void *context);
PORTPROF_API portprof_status portprof_catalogue_pmus(const char *backend,
                                                     portprof_pmu_fn take,
                                                     void *context);

#ifdef __cplusplus
}
#endif
#endif
