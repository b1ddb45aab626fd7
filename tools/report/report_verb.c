/* SPDX-License-Identifier: MIT */
/* portprof report: reads and symbolizes a profile, prints the hot functions. */
#include "config.h"

#include "tools/report/report.h"

#include "tools/page/html_report.h"
#include "tools/input.h"
#include "tools/view/give_names.h"
#include "tools/view/names_time.h"
#include "tools/options.h"
#include "tools/terminal.h"
#include "tools/view/named.h"
#include "tools/report/report_options.h"
#include "tools/view/ticker.h"
#include "tools/view/tree.h"
#include "tools/tools.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Printing one event after another. */
struct printing {
	struct ppi_report report;
	const struct ppi_report_options *options;
	struct ppi_view view;
};

/* ---- what is read ---- */

static portprof_profile *open_input(const struct ppi_report_options *options,
                                    const char *path)
{
	portprof_profile *profile;
	struct stat at;

	ppi_ticker_begin("reading", "MiB");
	if (stat(path, &at) == 0)
		atomic_store(&ppi_ticker_done, (uint64_t)at.st_size >> 20);
	profile = ppi_profile_open(path, options->program, options->memory_max);
	ppi_ticker_end();
	if (profile)
		ppi_names_by_time(profile, options->sources.root, NULL);
	return profile;
}

/* The profile of all inputs, added up. */
static portprof_profile *read_inputs(const struct ppi_report_options *options)
{
	portprof_profile *all = open_input(options, options->inputs[0]);

	for (size_t i = 1; all && i < options->input_count; i++) {
		portprof_profile *more =
			open_input(options, options->inputs[i]);

		if (more && portprof_profile_merge(all, more) == PORTPROF_OK) {
			portprof_profile_free(more);
			continue;
		}
		if (more)
			ppi_say("'%s' cannot be added to '%s': %s",
			        options->inputs[i], options->inputs[0],
			        portprof_last_diag()->words);
		portprof_profile_free(more);
		portprof_profile_free(all);
		all = NULL;
	}
	return all;
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

/* ---- what is printed ---- */

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
	ppi_report_sum(&printing->report, rows->weight + rows->left_weight);
	printing->report.left_out = rows->left_weight;
	if (printing->options->is_by_total)
		ppi_rows_by_total(rows);
	return true;
}

/* By weight: of names that are as like, the hottest comes first. */
static void say_no_function(const struct printing *printing,
                            const char *function)
{
	struct ppi_guess guess = { .wanted = function };
	struct ppi_rows rows;
	char likely[512] = "";

	if (ppi_rows_fold(&printing->view, PPI_BY_FUNCTION, &rows)) {
		for (size_t i = 0; i < rows.count; i++)
			ppi_guess_offer(&guess, rows.rows[i].function);
		ppi_guess_words(&guess, "", likely, sizeof(likely));
		ppi_rows_free(&rows);
	}
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
	if (!ppi_rows_edges_by(&printing->view, printing->report.keys, edge,
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
	if (!has_edges)
		ppi_report_print_rows(report, rows, stdout);
	if (more->callers.function)
		ppi_report_print_edges(report, PPI_CALLERS, &more->callers,
		                       stdout);
	if (more->callers.function && more->callees.function)
		putchar('\n');
	if (more->callees.function)
		ppi_report_print_edges(report, PPI_CALLEES, &more->callees,
		                       stdout);
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
	if (!is_good)
		ppi_say("the report could not be written");
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

static bool print_event(struct printing *printing, size_t event, bool is_first)
{
	const struct ppi_report_options *options = printing->options;
	bool is_json = options->form == PPI_FORM_JSON;
	struct ppi_report_more more = { 0 };
	struct ppi_rows rows;
	bool is_good;

	printing->report.event = printing->view.event = event;
	if (!fold(printing,
	          is_json ? PPI_BY_FUNCTION | PPI_BY_MODULE : options->keys,
	          &rows))
		return false;
	is_good = options->is_tree ||
	          fold_more(printing, rows.has_chains, &more);
	if (is_good &&
	    !ppi_chains_sum(&printing->view, &printing->report.chains))
		is_good = out_of_memory();
	if (is_good && options->is_tree) {
		if (!is_first)
			putchar('\n');
		is_good = print_tree(printing, &rows);
	} else if (is_good && is_json) {
		is_good = print_json(printing, &rows, &more);
	} else if (is_good && options->form == PPI_FORM_CSV) {
		print_csv(printing, &rows, &more, is_first);
	} else if (is_good) {
		if (!is_first)
			putchar('\n');
		print_text(printing, &rows, &more);
	}
	ppi_chains_free(&printing->report.chains);
	free_more(&more);
	ppi_rows_free(&rows);
	return is_good;
}

static bool print_events(struct printing *printing)
{
	const char *wanted = printing->options->event;
	size_t count = portprof_profile_event_count(printing->view.profile);
	size_t first = ppi_event_choose(printing->view.profile,
	                                printing->report.path, wanted);

	if (first == SIZE_MAX)
		return false;
	if (wanted || printing->options->form == PPI_FORM_JSON)
		count = first + 1;
	if (printing->options->form == PPI_FORM_HTML)
		return ppi_html_report(&printing->report, &printing->view,
		                       first, count - first,
		                       printing->options->page,
		                       &printing->options->hidden,
		                       printing->options->is_verbose);
	for (size_t i = first; i < count; i++)
		if (!print_event(printing, i, i == first))
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
		is_good = print_events(printing);
		break;
	case PPI_FILTER_MEMORY:
		out_of_memory();
		break;
	case PPI_FILTER_NOTHING: /* it has said so */
		break;
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		ppi_say("the report could not be written");
		is_good = false;
	}
	free(is_left_out);
	return is_good;
}

static bool print_report(const portprof_profile *profile,
                         const struct ppi_report_options *options)
{
	struct printing printing = {
		.report = { .profile = profile,
		            .keys = options->keys,
		            .row_limit = (size_t)options->rows },
		.options = options,
		.view = { .profile = profile, .label = options->label },
	};
	struct ppi_named named;
	char *path = join_inputs(options);
	bool has_names = ppi_named_find(&named, profile,
	                                options->keys & (PPI_BY_LINE |
	                                                 PPI_BY_ADDRESS) ||
	                                options->form == PPI_FORM_HTML,
	                                options->has_inlines,
	                                &options->sources);
	bool is_good = false;

	printing.report.path = path && options->hidden.paths &&
	                               strrchr(path, '/')
	                               ? strrchr(path, '/') + 1 : path;
	printing.report.symbols = named.symbols;
	printing.report.names = printing.view.names = named.names;
	if (options->form == PPI_FORM_TEXT)
		ppi_pager_begin();
	if (path && has_names)
		is_good = print_filtered(&printing);
	else
		out_of_memory();
	ppi_pager_end();
	free(path);
	ppi_named_free(&named);
	return is_good;
}

/* Names are found by what is hidden then. */
static bool hide(portprof_profile *profile,
                 const struct ppi_report_options *options)
{
	return !ppi_hides(&options->hidden) ||
	       (ppi_names_give(profile, &options->sources, NULL, NULL) &&
	        ppi_hide(&options->hidden, profile));
}

int ppi_report_main(int argc, char **argv)
{
	struct ppi_report_options options;
	portprof_profile *profile;
	int status = ppi_report_read_options(argc, argv, &options);

	if (status < 0) {
		ppi_settle_debuginfod();
		ppi_memory_limit(options.memory_max);
		profile = read_inputs(&options);
		status = profile && hide(profile, &options) &&
		                         print_report(profile, &options)
		                 ? PPI_EXIT_OK
		                 : PPI_EXIT_FAILED;
		portprof_profile_free(profile);
	}
	ppi_report_free_options(&options);
	return status;
}
