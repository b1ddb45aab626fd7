/* SPDX-License-Identifier: MIT */
/* Settings by name: the keys of configuration files. */
#ifndef PPI_CONFIG_KEY_H
#define PPI_CONFIG_KEY_H

#include <stdbool.h>

#include <portprof/config.h>

#include "backends/backend.h"

enum ppi_key {
	PPI_KEY_EVENT, PPI_KEY_BACKEND, PPI_KEY_FREQUENCY, PPI_KEY_PERIOD,
	PPI_KEY_OUTPUT, PPI_KEY_CALLCHAIN, PPI_KEY_CHILDREN, PPI_KEY_RING,
	PPI_KEY_DELAY, PPI_KEY_DURATION, PPI_KEY_TIMELINE, PPI_KEY_REQUIRE,
	PPI_KEY_FIELDS, PPI_KEY_PRECISE, PPI_KEY_COMMAND, PPI_KEY_UNWIND,
	PPI_KEY_STACK, PPI_KEY_BRANCHES, PPI_KEY_LABELS, PPI_KEY_PARTIAL,
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
 * Apply one setting. On failure the config is as it was and *column, which
 * may be NULL, is the 1-based place of the mistake in `value`. A backend that
 * this build lacks is only refused when `must_exist`.
 */
portprof_status ppi_key_apply(portprof_config *config, enum ppi_key key,
                              const char *value, bool must_exist,
                              size_t *column, struct ppi_diag *why);

/*
 * Where a setting in force came from: "default", "the program", or the
 * "FILE:LINE" of a text. `index` counts events; it is 0 for other keys.
 */
const char *ppi_config_origin(const portprof_config *config, enum ppi_key key,
                              size_t index);

/* Called by whoever changes a setting, after it: the program, or, when
 * `place` is not NULL, a text. False when out of memory. */
bool ppi_config_came_from(portprof_config *config, enum ppi_key key,
                          const char *place);

/* The setting is the default again. */
void ppi_config_forget_origin(portprof_config *config, enum ppi_key key);

#endif
