/* SPDX-License-Identifier: MIT */
/* All calls as a tree of functions, for people. */
#include "config.h"

#include "base/text.h"
#include "tools/report/report.h"
#include "tools/terminal.h"
#include "tools/tools.h"
#include "tools/view/short_names.h"
#include "tools/view/tree.h"
#include "tools/view/view.h"

#include <string.h>

/* ---- lines ---- */

struct lines {
	const struct ppi_tree *tree;
	const struct ppi_tree_wish *wish;
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

static const char *name_of(const struct lines *lines,
                           const struct ppi_tree_node *node, char *room,
                           size_t bytes)
{
	const char *name = ppi_tree_name(lines->tree, node)->function;

	return lines->wish->has_full_names
	               ? name : ppi_short_name(name, room, bytes);
}

/* The children of a node and theirs, by a way that takes no stack: chains of
 * other writers may be very deep. */
static void print_below(const struct lines *lines, uint32_t first,
                        uint64_t whole)
{
	const struct ppi_tree_node *nodes = lines->tree->nodes.data;
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

static void print_tree(const struct ppi_tree *tree,
                       const struct ppi_tree_wish *wish,
                       const struct ppi_report *report, FILE *out)
{
	struct lines lines = {
		.tree = tree,
		.wish = wish,
		.report = report,
		.scale = ppi_scale_of(report->what->unit, report->total),
		.least = wish->is_whole ? 1 : report->shown / 100 + 1,
		.out = out,
	};
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
	struct ppi_tree tree;
	bool is_good = ppi_tree_grow(&tree, view, wish->edge, wish->function);

	*weight = tree.weight;
	if (is_good && tree.weight)
		print_tree(&tree, wish, report, out);
	ppi_tree_free(&tree);
	return is_good;
}
