/* SPDX-License-Identifier: MIT */
/* All calls as a tree of functions, for people: samples are added up along
 * their chains. */
#include "config.h"

#include "base/text.h"
#include "base/vector.h"
#include "tools/report/report.h"
#include "tools/terminal.h"
#include "tools/tools.h"
#include "tools/view/chains.h"
#include "tools/view/owners.h"
#include "tools/view/rows.h"
#include "tools/view/short_names.h"
#include "tools/view/view.h"

#include <stdlib.h>
#include <string.h>

/* A function that was reached on one way. */
struct node {
	uint32_t frame; /* one that stands for it, in the fold */
	uint32_t parent;
	uint32_t first_child, next; /* heaviest first; PPI_NO_PAIR: none */
	uint64_t weight, self_weight;
};

struct tree {
	const struct ppi_tree_wish *wish;
	struct ppi_fold fold;
	struct ppi_pairs pairs; /* of parent + 1 and place: a node each */
	struct ppi_vector nodes; /* of struct node */
	uint32_t first_root;
	bool *is_wanted; /* by frame */
	struct ppi_vector path; /* of the sample in hand: frames, outermost
	                         * first */
	uint64_t weight;
};

/* ---- one chain ---- */

static bool put_on_path(struct tree *tree, uint32_t frame)
{
	return ppi_vector_add(&tree->path, sizeof(frame), &frame, 1);
}

/* Whether callers of its outermost frame are missing. */
static bool is_cut(const struct ppi_chain *chain)
{
	return chain->end == PPI_CHAIN_CUT || chain->end == PPI_CHAIN_ENDS;
}

static bool find_path(struct tree *tree, const portprof_profile_sample *sample)
{
	struct ppi_chain chain = { .depth = 1 };
	bool is_good = true;
	uint32_t from, to;

	tree->path.count = 0;
	if (sample->depth)
		ppi_chain_judge(tree->fold.view, sample, &chain);
	if (sample->depth && is_cut(&chain))
		is_good = put_on_path(tree, tree->fold.lost_frame);
	for (size_t i = chain.depth; is_good && i-- > 0;) {
		ppi_fold_frames(&tree->fold, sample, i, &from, &to);
		while (is_good && to-- > from)
			is_good = put_on_path(tree, to);
	}
	return is_good;
}

/* ---- nodes ---- */

static uint32_t enter(struct tree *tree, uint32_t parent, uint32_t frame)
{
	const struct node node = { .frame = frame, .parent = parent,
		                   .first_child = PPI_NO_PAIR,
		                   .next = PPI_NO_PAIR };
	uint32_t known = tree->pairs.count;
	uint32_t at = ppi_pairs_enter(&tree->pairs, parent + 1,
	                              ppi_fold_place(&tree->fold, frame));

	if (at != known || at == PPI_NO_PAIR)
		return at;
	if (!ppi_vector_add(&tree->nodes, sizeof(node), &node, 1))
		return PPI_NO_PAIR;
	return at;
}

/* Where on the path the tree begins: at the outermost of the functions that
 * are wanted; SIZE_MAX where there is none. */
static size_t find_start(const struct tree *tree)
{
	if (!tree->wish->function)
		return 0;
	for (size_t i = 0; i < tree->path.count; i++)
		if (tree->is_wanted[PPI_AT(&tree->path, uint32_t)[i]])
			return i;
	return SIZE_MAX;
}

static bool add_weight(struct tree *tree, uint64_t weight)
{
	const uint32_t *path = tree->path.data;
	size_t start = find_start(tree), count;
	uint32_t at = PPI_NO_PAIR;
	bool is_up = tree->wish->edge == PPI_CALLERS;

	if (start == SIZE_MAX)
		return true;
	tree->weight += weight;
	count = is_up ? start + 1 : tree->path.count - start;
	for (size_t i = 0; i < count; i++) {
		/* + 1 makes the parent of a root 0 */
		at = enter(tree, at, path[is_up ? start - i : start + i]);
		if (at == PPI_NO_PAIR)
			return false;
		PPI_AT(&tree->nodes, struct node)[at].weight += weight;
	}
	PPI_AT(&tree->nodes, struct node)[at].self_weight += weight;
	return true;
}

static bool add_samples(struct tree *tree)
{
	const struct ppi_view *view = tree->fold.view;
	const portprof_profile_sample *sample;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++) {
		if ((view->is_left_out && view->is_left_out[i]) ||
		    sample->weights[view->event] == 0)
			continue;
		if (!find_path(tree, sample) ||
		    !add_weight(tree, sample->weights[view->event]))
			return false;
	}
	return true;
}

/* ---- in order ---- */

struct order {
	uint64_t weight;
	uint32_t node;
};

/* Rising, so that linking each as the first leaves the heaviest first. */
static int compare(const void *left, const void *right)
{
	const struct order *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	return a->node > b->node ? -1 : 1;
}

static bool link_children(struct tree *tree)
{
	struct node *nodes = tree->nodes.data;
	uint32_t count = tree->pairs.count;
	struct order *order = calloc(count + 1u, sizeof(*order));

	if (!order)
		return false;
	for (uint32_t i = 0; i < count; i++)
		order[i] = (struct order){ nodes[i].weight, i };
	qsort(order, count, sizeof(*order), compare);
	tree->first_root = PPI_NO_PAIR;
	for (uint32_t i = 0; i < count; i++) {
		struct node *node = &nodes[order[i].node];
		uint32_t *first = node->parent == PPI_NO_PAIR
		                          ? &tree->first_root
		                          : &nodes[node->parent].first_child;

		node->next = *first;
		*first = order[i].node;
	}
	free(order);
	return true;
}

/* ---- lines ---- */

struct lines {
	const struct tree *tree;
	const struct ppi_report *report;
	struct ppi_scale scale;
	uint64_t least; /* what weighs less is summed up */
	FILE *out;
};

enum { NUMBERS_WIDTH = 38, NAME_LEAST = 24, INDENT_MOST = 256 };

static void print_numbers(const struct lines *lines, uint64_t weight,
                          uint64_t of_parent, uint64_t self_weight)
{
	double share = ppi_percent(weight, lines->report->shown);
	const char *color = share >= 5     ? ppi_color(lines->out, PPI_RED)
	                    : share >= 0.5 ? ppi_color(lines->out, PPI_GREEN)
	                                   : "";
	char text[64], self[16] = "-";

	if (self_weight)
		snprintf(self, sizeof(self), "%.1f%%",
		         ppi_percent(self_weight, lines->report->shown));
	fprintf(lines->out, " %10s %s%6.1f%%%s %7.1f%% %8s ",
	        ppi_say_weight(lines->scale, weight, text, sizeof(text)), color,
	        share, color[0] ? ppi_color(lines->out, PPI_PLAIN) : "",
	        ppi_percent(weight, of_parent), self);
}

/* One column a level, until too little would be left for names. */
static void print_name(const struct lines *lines, size_t depth,
                       const char *name)
{
	size_t width = (size_t)ppi_table_width(lines->out);
	size_t room = width > NUMBERS_WIDTH + NAME_LEAST
	                      ? width - NUMBERS_WIDTH : NAME_LEAST;
	size_t indent = depth, most = room - NAME_LEAST;
	char shown[PPI_SHOWN_BYTES], fits[PPI_SHOWN_BYTES], level[32] = "";

	if (most > INDENT_MOST)
		most = INDENT_MOST;
	if (indent > most) {
		indent = most;
		snprintf(level, sizeof(level), "[%zu] ", depth);
	}
	name = ppi_shown(name, shown);
	room -= indent + strlen(level);
	fprintf(lines->out, "%*s%s%s\n", (int)indent, "", level,
	        ppi_fit_name(name, room, fits));
}

static const char *name_of(const struct lines *lines, const struct node *node,
                           char *room, size_t bytes)
{
	const char *name = lines->tree->fold.frames[node->frame]->function;

	return lines->tree->wish->has_full_names
	               ? name : ppi_short_name(name, room, bytes);
}

/* The children of a node and theirs, by a way that takes no stack: chains of
 * other writers may be very deep. */
static void print_below(const struct lines *lines, uint32_t first,
                        uint64_t whole)
{
	const struct node *nodes = lines->tree->nodes.data;
	char room[PPI_SHOWN_BYTES], words[64];
	uint32_t at = first, parent = PPI_NO_PAIR, small;
	uint64_t rest;
	size_t depth = 0, count;

	for (;;) {
		if (at != PPI_NO_PAIR && nodes[at].weight >= lines->least) {
			print_numbers(lines, nodes[at].weight,
			              parent == PPI_NO_PAIR
			                      ? whole : nodes[parent].weight,
			              nodes[at].self_weight);
			print_name(lines, depth,
			           name_of(lines, &nodes[at], room,
			                   sizeof(room)));
			parent = at;
			at = nodes[at].first_child;
			depth++;
			continue;
		}
		rest = 0;
		count = 0;
		for (small = at; small != PPI_NO_PAIR;
		     small = nodes[small].next, count++)
			rest += nodes[small].weight;
		if (rest >= lines->least && count) {
			snprintf(words, sizeof(words),
			         "(%zu smaller; -n 0 shows all)", count);
			print_numbers(lines, rest,
			              parent == PPI_NO_PAIR
			                      ? whole : nodes[parent].weight,
			              0);
			print_name(lines, depth, words);
		}
		if (parent == PPI_NO_PAIR)
			return;
		at = nodes[parent].next;
		parent = nodes[parent].parent;
		depth--;
	}
}

static void print_tree(const struct tree *tree, const struct ppi_report *report,
                       FILE *out)
{
	struct lines lines = {
		.tree = tree,
		.report = report,
		.scale = ppi_scale_of(report->what->unit, report->total),
		.least = tree->wish->is_whole ? 1 : report->shown / 100 + 1,
		.out = out,
	};
	const struct ppi_tree_wish *wish = tree->wish;
	char text[64], room[PPI_SHOWN_BYTES];

	if (wish->function)
		fprintf(out, "%s %s, %s (%.1f %% of %s):\n",
		        wish->edge == PPI_CALLERS ? "Callers of" : "Called by",
		        ppi_shown(wish->function, room),
		        ppi_say_weight(lines.scale, tree->weight, text,
		                       sizeof(text)),
		        ppi_percent(tree->weight, report->shown),
		        report->is_filtered ? "what is shown" : "the total");
	fprintf(out, "%s %10s %7s %8s %8s function%s\n",
	        ppi_color(out, PPI_BOLD), "total", "share",
	        wish->edge == PPI_CALLERS ? "of it" : "of caller",
	        wish->edge == PPI_CALLERS ? "begins" : "self",
	        ppi_color(out, PPI_PLAIN));
	print_below(&lines, tree->first_root, tree->weight);
}

bool ppi_report_print_tree(const struct ppi_report *report,
                           const struct ppi_view *view,
                           const struct ppi_tree_wish *wish, FILE *out,
                           uint64_t *weight)
{
	struct tree tree = { .wish = wish };
	struct ppi_rows rows;
	bool is_good = ppi_fold_begin(&tree.fold, view,
	                              PPI_BY_FUNCTION | PPI_BY_MODULE);

	if (is_good)
		tree.is_wanted = calloc(tree.fold.frame_count,
		                        sizeof(*tree.is_wanted));
	is_good = is_good && tree.is_wanted;
	if (is_good && wish->function)
		ppi_functions_meant(wish->function,
		                    tree.fold.unknown_frame + 1u,
		                    ppi_fold_function, &tree.fold,
		                    tree.is_wanted);
	is_good = is_good && add_samples(&tree) && link_children(&tree);
	*weight = tree.weight;
	if (is_good && tree.weight)
		print_tree(&tree, report, out);
	free(tree.is_wanted);
	ppi_vector_free(&tree.path);
	ppi_vector_free(&tree.nodes);
	ppi_pairs_free(&tree.pairs);
	memset(&rows, 0, sizeof(rows));
	ppi_fold_end(&tree.fold, &rows);
	ppi_rows_free(&rows);
	return is_good;
}
