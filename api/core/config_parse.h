/* SPDX-License-Identifier: MIT */
/* Parses configuration text line by line. */
#ifndef PPI_CONFIG_PARSE_H
#define PPI_CONFIG_PARSE_H

#include "backends/backend.h"

/* A setting, or the beginning of a section (key is NULL). The strings stay
 * as long as the text. */
struct ppi_config_line {
	const char *section; /* "" before the first one */
	const char *key, *value;
	unsigned line;
	size_t key_column, value_column; /* 1-based, in bytes */
};

typedef portprof_status (*ppi_config_line_fn)(
	const struct ppi_config_line *line, void *context,
	struct ppi_diag *why);

/*
 * Call `take` for every section and setting, in order, until one fails.
 * `text` has a zero after its `bytes` bytes and is changed on the way;
 * `name` stands for it in messages: "NAME:LINE:COLUMN: words".
 */
portprof_status ppi_config_read(const char *name, char *text, size_t bytes,
                                ppi_config_line_fn take, void *context,
                                struct ppi_diag *why);

/* A failure with its place. */
portprof_status ppi_config_mistake(struct ppi_diag *why,
                                   portprof_status status, const char *name,
                                   unsigned line, size_t column,
                                   const char *words, ...)
	__attribute__((format(printf, 6, 7)));

#endif
