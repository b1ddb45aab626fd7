/* SPDX-License-Identifier: MIT */
/* What a report prints of a profile: which events, folded how, in which form. */
#include "config.h"

#include "tools/report/report.h"

#include "tools/terminal.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Printing one event after another. */
struct printing {
	struct ppi_report report;
	const struct ppi_report_options *options;
	struct ppi_view view;
	struct ppi_subject *subjects; /* what is printed */
	size_t subject_count;
};

static bool out_of_memory(void)
{
	ppi_say("out of memory");
	return false;
}

static bool fold(struct printing *printing, unsigned keys,
                 struct ppi_rows *rows)
{
	if (!ppi_rows_fold(&printing->view, keys, rows))
		return out_of_memory();
	if (!ppi_rows_keep_modules(rows, printing->options->filter.modules))
		return out_of_memory();
	printing->report.idle_waits = rows->idle_weight;
	ppi_report_sum(&printing->report, rows->weight + rows->left_weight);
	if (printing->view.is_left_out)
		ppi_report_filter(&printing->report, rows->weight,
		                  rows->left_weight);
	if (printing->options->is_by_total)
		ppi_rows_by_total(rows);
	return true;
}

static void say_no_function(const struct printing *printing,
                            const char *function)
{
	char likely[512];

	ppi_rows_like(&printing->view, function, likely, sizeof(likely));
	ppi_say("no function '%s' is in a sample of %s%s", function,
	        printing->report.what->name,
	        likely[0] ? likely : "; -n 0 shows them all");
}

static bool fold_edges(struct printing *printing, enum ppi_edge edge,
                       bool has_chains, const char *function,
                       struct ppi_report_edges *edges)
{
	edges->function = function;
	if (!function)
		return true;
	if (!has_chains) {
		ppi_say("%s has no call chains, so the %s of %s are unknown: "
		        "record with -g",
		        printing->report.path,
		        edge == PPI_CALLEES ? "callees" : "callers", function);
		return false;
	}
	if (!ppi_rows_edges(&printing->view, printing->report.keys, edge,
	                    function, &edges->rows))
		return out_of_memory();
	if (edges->rows.count)
		return true;
	say_no_function(printing, function);
	return false;
}

static bool fold_more(struct printing *printing, bool has_chains,
                      struct ppi_report_more *more)
{
	const struct ppi_report_options *options = printing->options;

	return fold_edges(printing, PPI_CALLERS, has_chains, options->callers,
	                  &more->callers) &&
	       fold_edges(printing, PPI_CALLEES, has_chains, options->callees,
	                  &more->callees);
}

static void free_more(struct ppi_report_more *more)
{
	ppi_rows_free(&more->rows);
	ppi_rows_free(&more->callers.rows);
	ppi_rows_free(&more->callees.rows);
}

static void print_text(const struct printing *printing,
                       const struct ppi_rows *rows,
                       const struct ppi_report_more *more)
{
	const struct ppi_report *report = &printing->report;
	bool has_edges = more->callers.function || more->callees.function;

	if (!printing->options->is_quiet)
		ppi_report_print_header(report, stdout);
	if (more->holders)
		ppi_report_print_holders(report, more->holders, stdout);
	else if (!has_edges)
		ppi_report_print_rows(report, rows, stdout);
	if (more->callers.function)
		ppi_report_print_edges(report, PPI_CALLERS, &more->callers,
		                       stdout);
	if (more->callers.function && more->callees.function)
		putchar('\n');
	if (more->callees.function)
		ppi_report_print_edges(report, PPI_CALLEES, &more->callees,
		                       stdout);
	if (printing->options->is_quiet)
		return;
	if (!more->holders && !has_edges)
		ppi_report_print_hints(report, rows, stdout);
	ppi_report_print_rest(report, stdout);
}

static void print_csv(const struct printing *printing,
                      const struct ppi_rows *rows,
                      const struct ppi_report_more *more, bool is_first)
{
	const struct ppi_report *report = &printing->report;
	const char *separator = printing->options->separator;
	bool has_edges = more->callers.function || more->callees.function;

	if (is_first)
		ppi_report_print_csv_names(report, separator, has_edges,
		                           stdout);
	if (!has_edges)
		ppi_report_print_csv_rows(report, rows, separator, NULL,
		                          stdout);
	if (more->callers.function)
		ppi_report_print_csv_rows(report, &more->callers.rows,
		                          separator, "callers", stdout);
	if (more->callees.function)
		ppi_report_print_csv_rows(report, &more->callees.rows,
		                          separator, "callees", stdout);
}

static bool print_json(struct printing *printing, struct ppi_rows *functions,
                       struct ppi_report_more *more)
{
	struct ppi_rows threads;
	bool is_good;

	more->sort = printing->options->sort;
	if (more->sort && !fold(printing, printing->report.keys, &more->rows))
		return false;
	if (!fold(printing, PPI_BY_THREAD | PPI_BY_PROCESS, &threads))
		return false;
	printing->report.more = more;
	is_good = ppi_report_print_json(&printing->report, functions, &threads,
	                                stdout);
	if (!is_good && !ferror(stdout))
		out_of_memory();
	ppi_rows_free(&threads);
	return is_good;
}

static bool print_tree(struct printing *printing, const struct ppi_rows *rows)
{
	const struct ppi_report_options *options = printing->options;
	const struct ppi_tree_wish wish = {
		.edge = options->callers ? PPI_CALLERS : PPI_CALLEES,
		.function = options->callers ? options->callers
		                             : options->callees,
		.has_full_names = options->has_full_names,
		.is_whole = options->rows == 0,
		.each = options->keys & (PPI_BY_OWNER | PPI_BY_LABEL),
	};
	uint64_t weight;

	if (!rows->has_chains) {
		ppi_say("%s has no call chains, so there is no tree: record "
		        "with -g", printing->report.path);
		return false;
	}
	if (!options->is_quiet)
		ppi_report_print_header(&printing->report, stdout);
	if (!ppi_report_print_tree(&printing->report, &printing->view, &wish,
	                           stdout, &weight))
		return out_of_memory();
	if (weight == 0 && wish.function)
		say_no_function(printing, wish.function);
	return weight || !wish.function;
}

/* What a thread did is said where it may have waited, if nobody asked for
 * anything else. */
static unsigned keys_of(const struct ppi_report_options *options,
                        const struct ppi_subject *subject)
{
	bool may_wait = subject->states & ~(1u << PPI_RUNNING);

	if (!may_wait || options->sort || options->callers || options->callees)
		return options->keys;
	return options->keys | PPI_BY_WAIT;
}

static bool print_subject(struct printing *printing,
                          const struct ppi_subject *subject, bool is_first)
{
	const struct ppi_report_options *options = printing->options;
	bool is_json = options->form == PPI_REPORT_JSON;
	struct ppi_report_more more = { 0 };
	struct ppi_report_holders holders = { 0 };
	struct ppi_rows rows;
	bool is_good;

	ppi_subject_show(subject, &printing->view);
	printing->report.event = subject->event;
	printing->report.subject = subject;
	printing->report.keys = keys_of(options, subject);
	if (!fold(printing,
	          is_json || options->is_tree ? PPI_BY_FUNCTION | PPI_BY_MODULE
	                                      : printing->report.keys,
	          &rows))
		return false;
	is_good = options->is_tree ||
	          fold_more(printing, rows.has_chains, &more);
	if (is_good && ppi_report_who_of(options)) {
		more.holders = &holders;
		if (!ppi_report_find_holders(&printing->view,
		                             ppi_report_who_of(options),
		                             &holders))
			is_good = out_of_memory();
	}
	if (is_good &&
	    !ppi_chains_sum(&printing->view, &printing->report.chains))
		is_good = out_of_memory();
	if (is_good && options->is_tree) {
		if (!is_first)
			putchar('\n');
		is_good = print_tree(printing, &rows);
	} else if (is_good && is_json) {
		is_good = print_json(printing, &rows, &more);
	} else if (is_good && options->form == PPI_REPORT_CSV) {
		print_csv(printing, &rows, &more, is_first);
	} else if (is_good) {
		if (!is_first)
			putchar('\n');
		print_text(printing, &rows, &more);
	}
	ppi_chains_free(&printing->report.chains);
	ppi_report_free_holders(&holders);
	free_more(&more);
	ppi_rows_free(&rows);
	return is_good;
}

static bool print_events(struct printing *printing)
{
	if (printing->options->form == PPI_REPORT_HTML)
		return ppi_page_report(&printing->report, &printing->view,
		                       printing->subjects,
		                       printing->subject_count,
		                       printing->options->page,
		                       &printing->options->hidden,
		                       printing->options->is_verbose);
	for (size_t i = 0; i < printing->subject_count; i++)
		if (!print_subject(printing, &printing->subjects[i], i == 0))
			return false;
	return true;
}

/* ---- what is looked at ---- */

/* The page lets its reader choose; text has no event twice. */
static bool is_wanted_too(const struct printing *printing, size_t event)
{
	const struct ppi_subject *first = &printing->subjects[0];
	struct ppi_subject one;

	if (!first->is_joined)
		return event != first->event;
	if (printing->options->form == PPI_REPORT_HTML)
		return true;
	ppi_subject_of_event(printing->view.profile, event, &one);
	return !(one.states & first->states);
}

static bool add_subject(struct printing *printing, size_t event)
{
	const portprof_profile *profile = printing->view.profile;
	struct ppi_subject *subject =
		&printing->subjects[printing->subject_count++];

	ppi_subject_of_event(profile, event, subject);
	return printing->options->wish.shows_idle ||
	       ppi_subject_hide_idle(profile, subject) || out_of_memory();
}

/* What was asked for; else the sum of all states, and what else there is. */
static bool find_subjects(struct printing *printing)
{
	const struct ppi_report_options *options = printing->options;
	const portprof_profile *profile = printing->view.profile;
	size_t count = portprof_profile_event_count(profile);
	struct ppi_wall_wish wish = options->wish;

	if (ppi_report_who_of(options) && !wish.states)
		wish.states = 1u << PPI_BLOCKED;
	printing->subjects = calloc(count + 2, sizeof(*printing->subjects));
	if (!printing->subjects)
		return out_of_memory();
	printing->subject_count = 1;
	if (!ppi_subject_choose(profile, printing->report.path, options->event,
	                        &wish, true, &printing->subjects[0]))
		return false;
	if (options->event || wish.states || wish.waits || wish.is_latency ||
	    options->form == PPI_REPORT_JSON)
		return true;
	for (size_t i = 0; i < count; i++)
		if (is_wanted_too(printing, i) && !add_subject(printing, i))
			return false;
	return true;
}

static bool print_filtered(struct printing *printing)
{
	bool *is_left_out = NULL, is_good = false;

	if (printing->view.label &&
	    !ppi_labels_check(printing->view.profile, printing->view.label))
		return false;
	switch (ppi_filter_apply(&printing->options->filter,
	                         printing->view.profile, printing->view.names,
	                         &is_left_out)) {
	case PPI_FILTER_OK:
		printing->view.is_left_out = is_left_out;
		is_good = find_subjects(printing) && print_events(printing);
		for (size_t i = 0; i < printing->subject_count; i++)
			ppi_subject_free(&printing->subjects[i]);
		free(printing->subjects);
		break;
	case PPI_FILTER_MEMORY:
		out_of_memory();
		break;
	case PPI_FILTER_NOTHING: /* it has said so */
		break;
	}
	/* a page has said it, to wherever it was to go */
	if (printing->options->form != PPI_REPORT_HTML)
		is_good = ppi_stdout_is_whole("the report") && is_good;
	free(is_left_out);
	return is_good;
}

/* How to go on from here, for who reads it on a terminal. */
static void say_more(const struct ppi_report_options *options)
{
#ifdef HAVE_CURSES
	char words[PPI_SHOWN_BYTES + 80], room[PPI_SHOWN_BYTES];

	if (options->input_count != 1)
		return;
	snprintf(words, sizeof(words), "portprof browse %s walks through it: "
	         "callers, source, threads, times",
	         ppi_shown(options->inputs[0], room));
	putchar('\n');
	ppi_put_wrapped_to(stdout, words, 0, ppi_line_width(stdout));
#else
	(void)options;
#endif
}

/* "a.pb.gz + b.pb.gz" */
static char *join_inputs(const struct ppi_report_options *options)
{
	size_t bytes = 1;
	char *all;

	for (size_t i = 0; i < options->input_count; i++)
		bytes += strlen(options->inputs[i]) + 3;
	all = calloc(1, bytes);
	for (size_t i = 0; all && i < options->input_count; i++) {
		if (i)
			strcat(all, " + ");
		strcat(all, options->inputs[i]);
	}
	return all;
}

bool ppi_report_print(const portprof_profile *profile,
                         const struct ppi_report_options *options)
{
	struct printing printing = {
		.report = { .profile = profile,
		            .keys = options->keys,
		            .is_short = options->form == PPI_REPORT_TEXT &&
		                        !options->is_verbose,
		            .row_limit = (size_t)options->rows },
		.options = options,
		.view = { .profile = profile, .label = options->label },
	};
	struct ppi_named named;
	char *path = join_inputs(options);
	bool has_names = ppi_named_find(&named, profile,
	                                options->keys & (PPI_BY_LINE |
	                                                 PPI_BY_ADDRESS) ||
	                                options->form == PPI_REPORT_HTML,
	                                options->has_inlines,
	                                &options->sources);
	bool is_good = false, is_watched;

	printing.report.path = path && options->hidden.paths &&
	                               strrchr(path, '/')
	                               ? strrchr(path, '/') + 1 : path;
	printing.report.symbols = named.symbols;
	printing.report.names = printing.view.names = named.names;
	is_watched = options->form == PPI_REPORT_TEXT && !options->is_quiet &&
	             ppi_is_terminal(stdout);
	if (options->form == PPI_REPORT_TEXT)
		ppi_pager_begin();
	if (path && has_names)
		is_good = print_filtered(&printing);
	else
		out_of_memory();
	if (is_good && is_watched)
		say_more(options);
	ppi_pager_end();
	free(path);
	ppi_named_free(&named);
	return is_good;
}
