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

#include <inttypes.h>
#include <stdlib.h>
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

static bool print_one(const struct ppi_report *report,
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

/* ---- one for each thread, process or value of a label ---- */

struct whole {
	char name[256];
	uint32_t number;
	uint64_t weight;
};

struct wholes {
	struct ppi_vector list; /* of struct whole, by number, then by weight */
	uint32_t *of;           /* by sample */
	bool *is_left_out;      /* all but one of them */
};

/* Its number, and its name when it is new; false when out of memory. */
static bool find_whole(struct wholes *wholes, const struct ppi_owner *owner,
                       const struct ppi_label_value *value,
                       const struct ppi_labels *labels, uint32_t *number)
{
	struct whole whole = { .number = value ? value->number
		                               : owner->number };
	char name[PPI_SHOWN_BYTES];

	*number = whole.number;
	if (whole.number < wholes->list.count)
		return true;
	if (value)
		snprintf(whole.name, sizeof(whole.name), "%.100s=%.150s",
		         labels->name, ppi_shown(value->text, name));
	else if (owner->tid || owner->pid)
		snprintf(whole.name, sizeof(whole.name), "%.200s/%" PRIu32,
		         owner->name[0] ? ppi_shown(owner->name, name) : "?",
		         owner->tid ? owner->tid : owner->pid);
	else
		snprintf(whole.name, sizeof(whole.name), "%.200s",
		         ppi_shown(owner->name, name));
	return ppi_vector_add(&wholes->list, sizeof(whole), &whole, 1);
}

static bool find_wholes(struct wholes *wholes, const struct ppi_view *view,
                        unsigned keys)
{
	const portprof_profile_sample *sample;
	struct ppi_owners owners;
	struct ppi_labels labels;
	bool is_label = keys & PPI_BY_LABEL;
	bool is_good = ppi_owners_open(&owners, view->profile, keys);

	ppi_labels_open(&labels, view->profile, is_label ? view->label : "");
	for (size_t i = 0;
	     is_good &&
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++) {
		const struct ppi_owner *owner =
			is_label ? NULL : ppi_owners_find(&owners, sample);
		const struct ppi_label_value *value =
			is_label ? ppi_labels_find(&labels, sample) : NULL;

		is_good = (owner || value) &&
		          find_whole(wholes, owner, value, &labels,
		                     &wholes->of[i]);
		if (is_good && ppi_view_has(view, i))
			PPI_AT(&wholes->list, struct whole)[wholes->of[i]]
				.weight += ppi_view_weight(view, i, sample);
	}
	ppi_labels_close(&labels);
	ppi_owners_close(&owners);
	return is_good;
}

static int compare_wholes(const void *left, const void *right)
{
	const struct whole *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* What its branch would be summed up in is left out. */
static bool print_wholes(const struct ppi_report *report,
                         const struct ppi_view *view,
                         const struct ppi_tree_wish *wish,
                         struct wholes *wholes, FILE *out, uint64_t *weight)
{
	struct ppi_scale scale =
		ppi_scale_of(report->what->unit, report->total);
	size_t samples = portprof_profile_sample_count(view->profile), i;
	uint64_t least = wish->is_whole ? 1 : report->shown / 100 + 1;
	uint64_t one, rest = 0;
	const struct whole *list = wholes->list.data;
	struct ppi_view part = *view;
	char text[64];

	part.is_left_out = wholes->is_left_out;
	for (i = 0; i < wholes->list.count && list[i].weight >= least; i++) {
		for (size_t k = 0; k < samples; k++)
			wholes->is_left_out[k] =
				wholes->of[k] != list[i].number ||
				(view->is_left_out && view->is_left_out[k]);
		fprintf(out, "%s%s%s%s: %s, %.1f %% of %s\n",
		        i ? "\n" : "", ppi_color(out, PPI_BOLD), list[i].name,
		        ppi_color(out, PPI_PLAIN),
		        ppi_say_weight(scale, list[i].weight, text,
		                       sizeof(text)),
		        ppi_percent(list[i].weight, report->shown),
		        report->is_filtered ? "what is shown" : "the total");
		if (!print_one(report, &part, wish, out, &one))
			return false;
		*weight += one;
	}
	for (size_t k = i; k < wholes->list.count; k++)
		rest += list[k].weight;
	if (rest)
		fprintf(out, "\n(%zu smaller, %s; -n 0 shows all)\n",
		        wholes->list.count - i,
		        ppi_say_weight(scale, rest, text, sizeof(text)));
	return true;
}

bool ppi_report_print_tree(const struct ppi_report *report,
                           const struct ppi_view *view,
                           const struct ppi_tree_wish *wish, FILE *out,
                           uint64_t *weight)
{
	size_t samples = portprof_profile_sample_count(view->profile);
	struct wholes wholes = { 0 };
	bool is_good;

	if (!wish->each)
		return print_one(report, view, wish, out, weight);
	*weight = 0;
	wholes.of = calloc(samples + 1, sizeof(*wholes.of));
	wholes.is_left_out = calloc(samples + 1, sizeof(*wholes.is_left_out));
	is_good = wholes.of && wholes.is_left_out &&
	          find_wholes(&wholes, view, wish->each);
	if (is_good) {
		if (wholes.list.count)
			qsort(wholes.list.data, wholes.list.count,
			      sizeof(struct whole), compare_wholes);
		is_good = print_wholes(report, view, wish, &wholes, out,
		                       weight);
	}
	ppi_vector_free(&wholes.list);
	free(wholes.is_left_out);
	free(wholes.of);
	return is_good;
}
