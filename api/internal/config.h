/* SPDX-License-Identifier: MIT */
/* What a config holds; only config*.c writes it, only plan.c reads it all. */
#ifndef PPI_CONFIG_H
#define PPI_CONFIG_H

#include <portprof/config.h>

#include "api/internal/config_key.h"
#include "api/internal/sink.h"
#include "backends/backend.h"

struct portprof_config {
	char **events;          /* as given; none = the default event */
	char **event_origins;   /* one an event, as in origins */
	size_t event_count;
	char backend[32];       /* "auto" or a name */
	uint64_t required_caps;
	uint64_t frequency_hz;  /* for events that name neither; one of the */
	uint64_t period;        /* two is 0 */
	enum ppi_target_kind target;
	bool target_is_caller;  /* PPI_TARGET_TID: whoever opens */
	int64_t target_id;      /* tid or pid; 0 = this process */
	char *cpus;             /* PPI_TARGET_SYSTEM: NULL = all */
	char *cgroup;           /* PPI_TARGET_SYSTEM: NULL = whoever runs */
	bool follow_children;
	bool allow_refused;
	unsigned chain_depth;
	uint32_t sample_fields; /* PORTPROF_FIELD_ bits of the hardware */
	bool is_most_precise;   /* of events that say no level */
	size_t ring_bytes;
	uint64_t delay_ms;      /* from start to measuring */
	uint64_t duration_ms;   /* of measuring; 0 = until stop */
	uint64_t timeline_ms;   /* files keep when samples fell; 0 = not */
	struct ppi_sink_request sinks[PORTPROF_SINKS_MAX];
	size_t sink_count;
	size_t output_sink;     /* 1 + the sink that "output" made; 0 = none */
	unsigned given;         /* 1 << key: not the default any more */
	char *origins[PPI_KEY_COUNT]; /* FILE:LINE; NULL = the program's */
	char *file;             /* that was loaded last; NULL = none */
};

/* A copy that owns its strings; NULL when out of memory. */
portprof_config *ppi_config_copy(const portprof_config *config);

/* The default event when none was added. */
#define PPI_DEFAULT_EVENT "task-clock"
#define PPI_DEFAULT_HZ 100u

#endif
