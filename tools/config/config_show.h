/* SPDX-License-Identifier: MIT */
/* The settings in force, as portprof config shows them. */
#ifndef PPI_CONFIG_SHOW_H
#define PPI_CONFIG_SHOW_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One line of the table. */
struct ppi_config_row {
	const char *key;
	char *value;       /* NULL: not set, and nothing stands for it */
	char *origin;      /* "FILE:LINE", "default", "environment" */
	/* Of an event: whether it is one that can be measured here. */
	bool is_refused, is_unknown;
	char *why;
};

struct ppi_config_rows {
	struct ppi_config_row *list;
	size_t count;
};

struct ppi_config_view {
	const char *path, *set; /* asked for; NULL */
	bool is_json;
	char *file;             /* that was read; NULL: there is none */
	const char *found_by;   /* "--config", "$PORTPROF_CONFIG", ... */
	char **sets;            /* the names of all sets in it */
	size_t set_count;
	struct ppi_config_rows record;  /* of portprof record */
	struct ppi_config_rows preload; /* of $PORTPROF */
	bool has_preload;
	bool is_good;           /* no mistake, every event is known */
};

/* False with words, and nothing to show. */
bool ppi_config_view_read(struct ppi_config_view *view);
void ppi_config_view_free(struct ppi_config_view *view);

void ppi_config_print_text(const struct ppi_config_view *view, FILE *out);
void ppi_config_print_json(const struct ppi_config_view *view, FILE *out);

#endif
