/* SPDX-License-Identifier: MIT */
/* What the files of portprof list share. */
#ifndef PPI_LIST_H
#define PPI_LIST_H

#include <portprof.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ppi_list_options {
	const char *pattern;  /* NULL: none */
	const char *explain;  /* an event string; NULL: none */
	const char *backend;  /* "auto" */
	bool is_all, is_json;
};

/* Whether an event can be used here and now. */
enum ppi_list_usable {
	PPI_LIST_UNTRIED, /* too many of its kind: one of them was tried */
	PPI_LIST_USABLE,
	PPI_LIST_COUNTED, /* it can be counted, not sampled */
	PPI_LIST_REFUSED
};

struct ppi_list_event {
	portprof_catalogue_event event; /* its strings are in `text` */
	char *text;
	enum ppi_list_usable usable;
	char *why;            /* NULL unless it is refused */
	size_t masks;         /* how many follow it in the catalogue */
};

/* Events of one source and PMU, as they follow each other. */
struct ppi_list_group {
	portprof_source source;
	const char *pmu;
	size_t first, count;
	bool is_usable;       /* one of them is */
};

struct ppi_list {
	struct ppi_list_options options;
	struct ppi_list_event *events; /* that match */
	size_t event_count, event_room;
	struct ppi_list_group *groups;
	size_t group_count;
	struct ppi_list_pmu {
		portprof_catalogue_pmu pmu; /* its strings are in `text` */
		char *text;
	} *pmus;
	size_t pmu_count, pmu_room;
	size_t preset_count;     /* that match */
	bool presets_by_meaning; /* no event and no preset has such a name */
};

/* Whether a name fits: a glob, or else a part of it; case does not matter. */
bool ppi_list_fits(const char *pattern, const char *name);

/* The word for a source: "software", "libpfm4", ... */
const char *ppi_list_source(portprof_source source);
const portprof_catalogue_pmu *ppi_list_pmu(const struct ppi_list *list,
                                           const char *name);

/* How many presets match, by their names or else by what they mean. */
size_t ppi_list_find_presets(struct ppi_list *list);

void ppi_list_print_text(const struct ppi_list *list, FILE *out);
void ppi_list_print_json(const struct ppi_list *list, FILE *out);

/* Everything an event string means: the exit status. */
int ppi_list_explain(struct ppi_list *list, FILE *out);

#endif
