/* SPDX-License-Identifier: MIT */
/* A profile, or the difference of two, as one file for a browser. */
#ifndef PPI_HTML_PAGE_H
#define PPI_HTML_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/page/page_tree.h"
#include "tools/report/report.h"

/* One event of one profile. In a difference there are two: before, after. */
struct ppi_page_series {
	const char *label;
	struct ppi_report report; /* summed; its chains are judged */
	struct ppi_view view;
	char *account;            /* the text report's header */
};

struct ppi_page {
	const char *title;
	bool is_diff, is_normalized;
	size_t tested_count; /* functions of a difference with time of their own */
	struct ppi_page_series *series;
	size_t series_count;
	struct ppi_page_tree tree;
	/* Source and instructions, as JSON; NULL: nothing was looked for. */
	char *code;
};

/* Fill `tree` from the series. False when out of memory. */
bool ppi_page_grow(struct ppi_page *page);

/* What is known besides the tree, as JSON to be freed; NULL when out of
 * memory. */
char *ppi_page_facts(const struct ppi_page *page, size_t *bytes);

/*
 * Write the page; "-" is standard output. Says why and returns false when it
 * cannot be written; a file that was there is untouched then.
 */
bool ppi_page_write(struct ppi_page *page, const char *path);

/* The page's text around the data (made from tools/page by embed.awk): a line
 * "@DATA@" stands for the data, "@NONCE@" for the page's nonce. */
extern const char *const ppi_page_text[];
extern const size_t ppi_page_text_lines;

#endif
