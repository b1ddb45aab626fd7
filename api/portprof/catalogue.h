/* SPDX-License-Identifier: MIT */
/* The catalogue: which events there are here, and whose they are. */
#ifndef PORTPROF_CATALOGUE_H
#define PORTPROF_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/export.h>
#include <portprof/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Who names an event. */
typedef enum portprof_source {
	PORTPROF_SOURCE_SOFTWARE = 1,  /* the kernel counts it, no PMU */
	PORTPROF_SOURCE_HARDWARE = 2,  /* a generic name for what a PMU counts */
	PORTPROF_SOURCE_CACHE = 3,     /* the same, of caches and predictors */
	PORTPROF_SOURCE_TABLE = 4,     /* libpfm4's table of this CPU's PMU */
	PORTPROF_SOURCE_SYSTEM = 5,    /* the system's own PMUs, as in sysfs */
	PORTPROF_SOURCE_TRACEPOINT = 6, /* a place in the kernel's code */
	PORTPROF_SOURCE_PLACE = 7      /* a place in a program: `name` is a form,
	                                * whose words in capitals are the
	                                * user's, and needs_mask is set */
} portprof_source;

/*
 * One event, or one unit mask of the event before it. `size` is what the
 * library knows of this struct: fields past it are not there. The strings are
 * never NULL and last, like the struct, as long as the call. Since 0.1.
 */
typedef struct portprof_catalogue_event {
	size_t size;
	portprof_source source;
	uint32_t is_mask;    /* a variant of the last event without this mark */
	uint32_t needs_mask; /* cannot be used but with one of its masks */
	const char *name;    /* an event string */
	const char *also;    /* other names of the same, blanks between */
	const char *pmu;
	const char *means;   /* "" where nobody says */
} portprof_catalogue_event;

/*
 * One PMU that libpfm4 or the system says is here. Whether it can be used, only
 * opening one of its events tells. `size` and strings as above. Since 0.1.
 */
typedef struct portprof_catalogue_pmu {
	size_t size;
	portprof_source source; /* TABLE or SYSTEM */
	uint32_t is_core;       /* it counts what CPU cores do */
	int64_t type;           /* in its events' encoding; -1 unknown */
	uint64_t event_count;
	const char *name;
	const char *means;
	const char *cpus;       /* which CPUs it is of, as in "0-3,8"; "" all */
	const char *terms;      /* SYSTEM: what PMU::raw:TERM=VALUE can say, as in
	                         * "event=config:0-7 inv=config:23" */
} portprof_catalogue_pmu;

/*
 * Call `take` for every event or PMU that `backend` (a name, or "auto" for all
 * of this system, each event once, as the best one has it) can name on this
 * machine, until it returns other than 0. Nothing is opened; names may be read
 * from files of the system. The struct is the library's and lasts as long as the
 * call.
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
