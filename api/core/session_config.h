/* SPDX-License-Identifier: MIT */
/* What a config holds, and its settings by name; only session_config.c and config*.c
 * write it, only plan.c reads it all. */
#ifndef PPI_CONFIG_H
#define PPI_CONFIG_H

#include <stdbool.h>

#include <portprof/config.h>

#include "api/core/sink.h"
#include "backends/backend.h"

/* ---- settings by name: the keys of configuration files ---- */

enum ppi_key {
	PPI_KEY_EVENT, PPI_KEY_BACKEND, PPI_KEY_FREQUENCY, PPI_KEY_PERIOD,
	PPI_KEY_OUTPUT, PPI_KEY_CALLCHAIN, PPI_KEY_CHILDREN, PPI_KEY_RING,
	PPI_KEY_DELAY, PPI_KEY_DURATION, PPI_KEY_TIMELINE, PPI_KEY_REQUIRE,
	PPI_KEY_FIELDS, PPI_KEY_PRECISE, PPI_KEY_COMMAND, PPI_KEY_UNWIND,
	PPI_KEY_STACK, PPI_KEY_BRANCHES, PPI_KEY_LABELS, PPI_KEY_PARTIAL,
	PPI_KEY_LABEL_SETS,
	PPI_KEY_COUNT
};

/* PPI_KEY_COUNT when there is no such key. */
enum ppi_key ppi_key_find(const char *name);
const char *ppi_key_name(enum ppi_key key);

/* May it be given more than once in one set? */
bool ppi_key_is_list(enum ppi_key key);

/* E_INVALID, with the nearest known keys. */
portprof_status ppi_key_unknown(const char *name, struct ppi_diag *why);

/*
 * Apply one setting. On failure the config is as it was; the column of `why` is
 * the mistake's in `value`, or 0. A backend that this build lacks is only refused
 * when `must_exist`.
 */
portprof_status ppi_key_apply(portprof_config *config, enum ppi_key key,
                              const char *value, bool must_exist,
                              struct ppi_diag *why);

/*
 * Where a setting in force came from: "default", "the program", or the
 * "FILE:LINE" of a text. `index` counts events; it is 0 for other keys.
 */
const char *ppi_config_origin(const portprof_config *config, enum ppi_key key,
                              size_t index);

/* Called after a setting was changed: the program, or, when
 * `place` is not NULL, a text. False when out of memory. */
bool ppi_config_came_from(portprof_config *config, enum ppi_key key,
                          const char *place);

/* The setting is the default again. */
void ppi_config_forget_origin(portprof_config *config, enum ppi_key key);

/* ---- the config ---- */

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
	bool target_is_caller;  /* PPI_TARGET_TID: the thread that opens */
	int64_t target_id;      /* tid or pid; 0 = this process */
	int64_t *others;        /* PPI_TARGET_PID: measured with it */
	size_t other_count;
	char *cpus;             /* PPI_TARGET_SYSTEM: NULL = all */
	char *cgroup;           /* PPI_TARGET_SYSTEM: NULL = everybody */
	char *command;          /* for files: what was measured; NULL = not said */
	struct ppi_sink_request sinks[PORTPROF_SINKS_MAX];
	size_t sink_count;
	struct ppi_areas *pool;  /* its session collects from it; NULL = none */
	bool is_rehearsed;      /* for processes that are not there yet */
	size_t output_sink;     /* 1 + the sink that "output" made; 0 = none */
	unsigned given;         /* 1 << key: not the default any more */
	char *origins[PPI_KEY_COUNT]; /* FILE:LINE; NULL = the program's */
	char *file;             /* that was loaded last; NULL = none */
};

/* portprof_config_add_event. */
portprof_status ppi_config_add_events(portprof_config *config,
                                      const char *events,
                                      struct ppi_diag *why);

/* A copy that owns its strings; NULL when out of memory. */
portprof_config *ppi_config_copy(const portprof_config *config);

/* The default event when none was added. */
#define PPI_DEFAULT_EVENT "task-clock"
#define PPI_DEFAULT_HZ 100u

/* What `timeline = auto` is: slices that grow with the time measured, from the
 * finest on. No time that is written in figures is as long. */
#define PPI_TIMELINE_AUTO (UINT64_C(3155760000000) + 1)
#define PPI_TIMELINE_FINEST_NS UINT64_C(10000000)

/* ---- the table of settings (config_settings.c) ---- */

/* A word that stands for a number; of a set of bits, for one of them. */
struct ppi_word {
	const char *name;
	uint64_t number;
};

/* How the value is written. */
enum ppi_form {
	PPI_FORM_TEXT,   /* no number: each in a way of its own */
	PPI_FORM_NUMBER, /* or one of `words` */
	PPI_FORM_BYTES,  /* 65536, 64K, 1M */
	PPI_FORM_TIME,   /* 500ms, 10s; kept in milliseconds */
	PPI_FORM_CHOICE, /* one of `words`, and nothing else */
	PPI_FORM_BITS    /* a list of `words`, or `none` */
};

/* A row of the table. */
struct ppi_setting {
	const char *name;
	enum ppi_form form;
	bool is_list;     /* can be given more than once in a set */
	bool prints_zero; /* else 0 is: not set */
	uint64_t min, max;
	const char *unit;   /* behind a number, with a blank */
	const char *remedy; /* what to give instead of a bad value; of a
			     * CHOICE what is wrong with it */
	const struct ppi_word *words;
	const char *none; /* a list without any */
};

const struct ppi_setting *ppi_setting_of(enum ppi_key key);

/* Check a number against the table and keep it; the rival of the two that give
 * a rate is gone then. */
portprof_status ppi_setting_keep(portprof_config *config, enum ppi_key key,
				 uint64_t number, struct ppi_diag *why);

#endif
