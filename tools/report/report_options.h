/* SPDX-License-Identifier: MIT */
/* What the command line of portprof report asks for. */
#ifndef PPI_REPORT_OPTIONS_H
#define PPI_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/options.h"
#include "tools/view/named.h"
#include "tools/view/filter.h"

enum ppi_report_form {
	PPI_FORM_TEXT,
	PPI_FORM_CSV,
	PPI_FORM_JSON,
	PPI_FORM_HTML
};

struct ppi_report_options {
	const char **inputs; /* at least one */
	size_t input_count;
	const char *program; /* that wrote a gmon.out; NULL: a.out */
	uint64_t memory_max; /* 0: the usual */
	const char *event; /* NULL: all */
	const char *sort;  /* as it was given; NULL: by function */
	unsigned keys;     /* PPI_BY_ bits */
	const char *label; /* up to a comma: of PPI_BY_LABEL */
	uint64_t rows;     /* 0: all */
	bool is_by_total, is_quiet, has_inlines, is_json;
	bool is_tree, has_full_names;
	struct ppi_filter filter;
	const char *callers, *callees; /* functions; NULL */
	struct ppi_named_sources sources; /* from the root; NULL */
	enum ppi_report_form form;
	const char *separator; /* of CSV */
	const char *page;      /* file of HTML */
	struct ppi_hidden hidden; /* in it */
	bool is_verbose;
};

/* -1: go on; else the exit status. */
int ppi_report_read_options(int argc, char **argv,
                            struct ppi_report_options *options);

/* Either way. */
void ppi_report_free_options(struct ppi_report_options *options);

#endif
