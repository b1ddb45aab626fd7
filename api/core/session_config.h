/* SPDX-License-Identifier: MIT */
/* What a config holds; only config*.c writes it, only plan.c reads it all. */
#ifndef PPI_CONFIG_H
#define PPI_CONFIG_H

#include <portprof/config.h>

#include "api/core/config_key.h"
#include "api/core/sink.h"
#include "backends/backend.h"

/* An item of an event list: an event, or a group in braces. */
struct ppi_config_event {
	char *text;   /* as given */
	char *origin; /* as in origins */
	struct ppi_event_request *requests; /* its events, read */
	size_t request_count;
};

struct portprof_config {
	struct ppi_config_event *events; /* none = the default event */
	size_t event_count;
	size_t last_added;      /* so many of them by the last call */
	char backend[32];       /* "auto" or a name */
	uint64_t required_caps;
	/* Those settings that are numbers. Frequency and period are of events
	 * that name neither; one of the two is 0. Times are in milliseconds. */
	uint64_t number[PPI_KEY_COUNT];
	enum ppi_target_kind target;
	bool target_is_caller;  /* PPI_TARGET_TID: whoever opens */
	int64_t target_id;      /* tid or pid; 0 = this process */
	int64_t *others;        /* PPI_TARGET_PID: measured with it */
	size_t other_count;
	char *cpus;             /* PPI_TARGET_SYSTEM: NULL = all */
	char *cgroup;           /* PPI_TARGET_SYSTEM: NULL = whoever runs */
	char *command;          /* for files: what was measured; NULL = not said */
	struct ppi_sink_request sinks[PORTPROF_SINKS_MAX];
	size_t sink_count;
	struct ppi_pool *pool;  /* its session collects from it; NULL = none */
	bool is_rehearsed;      /* for processes that are not there yet */
	size_t output_sink;     /* 1 + the sink that "output" made; 0 = none */
	unsigned given;         /* 1 << key: not the default any more */
	char *origins[PPI_KEY_COUNT]; /* FILE:LINE; NULL = the program's */
	char *file;             /* that was loaded last; NULL = none */
};

/* portprof_config_add_event; *column, which may be NULL, is the place of the
 * mistake in `events`. */
portprof_status ppi_config_add_events(portprof_config *config,
                                      const char *events, size_t *column,
                                      struct ppi_diag *why);

/* A copy that owns its strings; NULL when out of memory. */
portprof_config *ppi_config_copy(const portprof_config *config);

/* The default event when none was added. */
#define PPI_DEFAULT_EVENT "task-clock"
#define PPI_DEFAULT_HZ 100u

#endif
