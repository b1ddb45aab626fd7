/* SPDX-License-Identifier: MIT */
/* All call chains of a page as one tree of frames. */
#ifndef PPI_HTML_PAGE_TREE_H
#define PPI_HTML_PAGE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/view/pairs.h"

struct ppi_page;
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

	struct ppi_page_sample *samples;
	size_t sample_count;

	uint64_t start_ns, slice_ns; /* slice 1 begins at start_ns */
	uint32_t slice_count;
};

void ppi_page_tree_free(struct ppi_page_tree *tree);

/*
 * The tree as unsigned LEB128 numbers, column by column: the nodes in depth
 * first order (how many levels up from the node before its parent is; its
 * function), then of each series the samples (node less that of the sample
 * before, thread, slice, weight, count of samples). To be freed; NULL when
 * out of memory.
 */
unsigned char *ppi_page_tree_pack(const struct ppi_page *page, size_t *bytes);

#endif
