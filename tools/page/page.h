/* SPDX-License-Identifier: MIT */
/* A profile, or the difference of two, as one file for a browser. */
#ifndef PPI_PAGE_H
#define PPI_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "tools/options.h"
#include "tools/view/account.h"
#include "tools/view/owners.h"
#include "tools/view/view.h"

/* ---- all call chains as one tree of frames ---- */

struct ppi_page_frame;

/* A function of a module. */
struct ppi_page_function {
	const char *name, *module, *path;
	const char *source_file;
	bool is_named, is_kernel;
};

/* One sample of a series, its node numbered as in `order`. */
struct ppi_page_sample {
	uint32_t node, thread, slice; /* thread, slice: 0 unknown */
	uint32_t series;
	uint32_t wait; /* of the tree's `waits`; 0 unknown */
	uint32_t set;  /* of the tree's label sets; 0 none */
	uint64_t weight, samples;
};

/* A thread under one of its names. */
struct ppi_page_thread {
	uint32_t pid, tid;
	const char *name;
};

struct ppi_page_lane;

struct ppi_page_tree {
	struct ppi_page_frame *table;
	struct ppi_page_function *functions; /* [0] stands for lost callers */
	uint32_t function_count, function_room;

	struct ppi_pairs nodes; /* of parent + 1 and function */
	uint32_t *order;        /* of nodes: the place in the written tree */
	uint32_t *written;      /* the other way round */
	uint32_t *depth;        /* by node */

	struct ppi_page_lane *lanes; /* of threads, by number */
	struct ppi_page_thread *thread_list;
	uint32_t thread_count;

	/* What threads did: "running", "blocked:lock", numbered from 0 on. Empty
	 * where waits were not measured. */
	struct ppi_labels waits;
	bool has_waits;

	/* Labels that say more than who, when and what threads did: by key their
	 * values; pairs of key and value; and sets, each a smaller set (0: none)
	 * and a pair. A number in `sets` + 1 is a sample's. */
	struct ppi_vector keys; /* of struct ppi_labels */
	struct ppi_pairs label_pairs, sets;

	struct ppi_page_sample *samples;
	size_t sample_count;

	uint64_t start_ns, slice_ns; /* slice 1 begins at start_ns */
	uint32_t slice_count;
};

/* ---- the page ---- */

/* One event of one profile. In a difference there are two: before, after. */
struct ppi_page_series {
	const char *label;
	struct ppi_report report; /* summed; its chains are judged */
	struct ppi_view view;
	char *account;            /* the text report's header */
	/* Of a difference: what one sample stands for, and of several runs the
	 * square of the share of a weight that their mean is off by. */
	double sample_weight, spread;
};

struct ppi_page {
	const char *title;
	bool is_diff, is_normalized;
	size_t tested_count; /* functions of a difference with time of their
	                      * own */
	size_t freedom; /* degrees of it, of what runs differ by */
	struct ppi_page_series *series;
	size_t series_count;
	struct ppi_page_tree tree;
	/* Source and instructions, as JSON; NULL: nothing was looked for. Of one
	 * series. */
	char *code;
	size_t code_series;
};

static inline struct ppi_labels *
ppi_page_key(const struct ppi_page_tree *tree, size_t i)
{
	return &PPI_AT(&tree->keys, struct ppi_labels)[i];
}

/* ---- its parts (page_grow.c, page_facts.c, page_text.c) ---- */

/* Fill `tree` from the series. False when out of memory. */
bool ppi_page_grow(struct ppi_page *page);

void ppi_page_tree_free(struct ppi_page_tree *tree);

/*
 * The tree as unsigned LEB128 numbers, column by column: the nodes in depth
 * first order (how many levels up from the node before its parent is; its
 * function), then of each series the samples (node less that of the sample
 * before, thread, slice, weight, count of samples, with waits their number, and with
 * labels that of their set).
 * To be freed; NULL when out of memory.
 */
unsigned char *ppi_page_tree_pack(const struct ppi_page *page, size_t *bytes);

/* What is known beside the tree, as JSON to be freed; NULL when out of
 * memory. */
char *ppi_page_facts(const struct ppi_page *page, size_t *bytes);

/* The code of the hottest functions as JSON, to be freed; NULL when out of
 * memory. */
char *ppi_page_code(const struct ppi_view *view);

/* The page's text around the data (made from tools/page by embed.awk): a line
 * "@DATA@" stands for the data, "@NONCE@" for the page's nonce. */
extern const char *const ppi_page_text[];
extern const size_t ppi_page_text_lines;

/* ---- what verbs make of it ---- */

/* What is looked at of a profile as a page: `count` subjects. Says why when it
 * returns false. */
bool ppi_page_report(const struct ppi_report *report,
                     const struct ppi_view *view,
                     const struct ppi_subject *subjects, size_t count,
                     const char *path, const struct ppi_hidden *hidden,
                     bool is_verbose);

/* Say what of a profile is in the page that somebody may not want to send. */
void ppi_page_say(const struct ppi_page *page, const struct ppi_report *report,
                  const struct ppi_hidden *hidden);

/* Fill the sums, the chains and the account of a series whose report and view
 * are set; false when out of memory. ppi_page_free is due in any case. */
bool ppi_page_sum(struct ppi_page_series *series);
void ppi_page_free(struct ppi_page *page);

/*
 * Write the page; "-" is standard output. Says why and returns false when it
 * cannot be written; a file that was there is untouched then.
 */
bool ppi_page_write(struct ppi_page *page, const char *path);

#endif
