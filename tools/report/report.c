/* SPDX-License-Identifier: MIT */
/*
 * portprof report: reads and symbolizes a profile, prints the hot functions.
 * This file has the command line and says what is printed; the forms have one
 * each:
 *
 *   report_text.c  a table of rows
 *   report_tree.c  calls as a tree
 *   report_holders.c  who held what others waited for
 *   report_csv.c   rows for spreadsheets
 *   report_json.c  everything for programs
 *   tools/page     a page for a browser
 */
#include "config.h"

#include "tools/report/report.h"

#include "tools/input.h"
#include "tools/options.h"
#include "tools/page/page.h"
#include "tools/terminal.h"
#include "tools/tools.h"
#include "tools/view/filter.h"
#include "tools/view/names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the command line ---- */

enum report_form {
	FORM_TEXT,
	FORM_CSV,
	FORM_JSON,
	FORM_HTML
};

/* Its members are the options of the command line. */
struct report_options {
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
	bool is_tree, has_full_names, wants_holders;
	struct ppi_filter filter;
	struct ppi_wall_wish wish;
	const char *callers, *callees; /* functions; NULL */
	struct ppi_named_sources sources; /* from the root; NULL */
	enum report_form form;
	const char *separator; /* of CSV */
	const char *page;      /* file of HTML */
	struct ppi_hidden hidden; /* in it */
	bool is_verbose;
};

enum { DEFAULT_ROWS = 30 };

static int take_input(const struct ppi_given *given, void *place)
{
	struct report_options *options = place;

	options->inputs[options->input_count++] = given->value;
	return PPI_EXIT_OK;
}

static int take_sort(const struct ppi_given *given, void *place)
{
	struct report_options *options = place;
	const char *unknown;

	options->keys = ppi_rows_keys(given->value, &options->label, &unknown);
	options->sort = given->value;
	if (options->keys)
		return PPI_EXIT_OK;
	return ppi_line_wrong(given->line,
	                      "%s: '%.*s' is not one of function, module, "
	                      "line, address, thread, process, comm, state, "
	                      "wait, on, holder, service, label:NAME",
	                      given->name,
	                      (int)strcspn(unknown, ","), unknown);
}

static int take_times(const struct ppi_given *given, void *filter)
{
	if (ppi_filter_read_times(given->value, filter))
		return PPI_EXIT_OK;
	return ppi_given_refuse(given, "FROM,TO in seconds or percent, such as "
	                               "2,5 or 2s, or ,500ms or 10%,20%");
}

#define AT(member) offsetof(struct report_options, member)

static const struct ppi_option table[] = {
	{ .help = "What to read" },
	{ 'i', "input", "FILE",
	  "read this file, like FILE; several are added up ("
	  PPI_DEFAULT_OUTPUT ")",
	  .take = take_input },
	{ 0, "program", "FILE", "the program that wrote a gmon.out (a.out)",
	  .take = ppi_take_text, .place = AT(program) },
	{ 'e', "event", "NAME", "report this event (all)",
	  .take = ppi_take_text, .place = AT(event) },
	{ 0, "thread", "LIST",
	  "keep samples of these threads: names or numbers",
	  .take = ppi_take_text, .place = AT(filter.threads) },
	{ 0, "module", "LIST", "keep samples in these binaries",
	  .take = ppi_take_text, .place = AT(filter.modules) },
	PPI_LABEL_OPTION(AT(filter.label)),
	{ 0, "focus", "FUNC", "keep samples in FUNC and what it calls",
	  .take = ppi_take_text, .place = AT(filter.functions) },
	{ 0, "time", "FROM,TO",
	  "keep these seconds, such as 1,2 or 500ms, or 10%,20%",
	  .take = take_times, .place = AT(filter) },
	PPI_WALL_OPTIONS(AT(wish)),
	PPI_DEBUG_DIR_OPTION(AT(sources.debug_folder)),
	PPI_DEBUGINFOD_OPTION,
	PPI_ROOT_OPTION(AT(sources.root)),
	PPI_MEMORY_OPTION(AT(memory_max)),
	{ .help = "What to print" },
	{ 's', "sort", "KEYS",
	  "group by function, module, line, address, thread, process, comm, "
	  "state, wait, on, holder, service or label:NAME, or by several "
	  "(function)",
	  .take = take_sort },
	PPI_ROWS_OPTION(AT(rows)),
	{ 0, "children", NULL, "sort by weight with callees",
	  .take = ppi_take_flag, .place = AT(is_by_total) },
	{ 0, "callers", "FUNC", "print the callers of FUNC",
	  .take = ppi_take_text, .place = AT(callers) },
	{ 0, "callees", "FUNC", "print what FUNC calls",
	  .take = ppi_take_text, .place = AT(callees) },
	{ 0, "tree", NULL,
	  "print calls as a tree: all, or --callers or --callees of FUNC",
	  .take = ppi_take_flag, .place = AT(is_tree) },
	{ 0, "holders", NULL, "print who held what threads waited for",
	  .take = ppi_take_flag, .place = AT(wants_holders) },
	{ 0, "latency", NULL,
	  "divide weights by the CPUs in use at that moment",
	  .take = ppi_take_flag, .place = AT(wish.is_latency) },
	{ 0, "full-names", NULL, "print whole names of C++ in the tree",
	  .take = ppi_take_flag, .place = AT(has_full_names) },
	{ 0, "inline", NULL, "print inlined functions on their own",
	  .take = ppi_take_flag, .place = AT(has_inlines) },
	{ 'q', "quiet", NULL, "print only the rows",
	  .take = ppi_take_flag, .place = AT(is_quiet) },
	{ 'j', "json", NULL, "print JSON",
	  .take = ppi_take_flag, .place = AT(is_json) },
	PPI_SEPARATOR_OPTION(AT(separator), "print fields for spreadsheets"),
	{ 0, "html", "FILE", "write a page for a browser",
	  .take = ppi_take_text, .place = AT(page) },
	PPI_HIDE_OPTIONS(AT(hidden)),
	{ 'v', "verbose", NULL,
	  "print all of how it was measured; what a page contains",
	  .take = ppi_take_flag, .place = AT(is_verbose) },
	PPI_COLOR_OPTION,
};

static const struct ppi_line line = {
	.verb = "report",
	.usage = "[OPTION...] [FILE...]",
	.notes = "Reads any pprof file, gmon.out, folded stacks, the text of "
	         "perf script, CPU profiles of gperftools. (unattributed) is weight "
	         "without a sample.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.wrong = PPI_EXIT_USAGE,
};

/* What is not said. */
static void complete(struct report_options *options, int argc, char **argv)
{
	static const char *const usual_inputs[] = { PPI_DEFAULT_OUTPUT };

	for (; optind < argc; optind++)
		options->inputs[options->input_count++] = argv[optind];
	if (options->callers || options->callees)
		options->keys |= PPI_BY_FUNCTION | PPI_BY_MODULE;
	options->form = options->page        ? FORM_HTML
	                : options->is_json   ? FORM_JSON
	                : options->separator ? FORM_CSV
	                                     : FORM_TEXT;
	if (options->rows == UINT64_MAX)
		options->rows =
			options->form == FORM_TEXT ? DEFAULT_ROWS : 0;
	if (options->input_count == 0)
		options->inputs[options->input_count++] = usual_inputs[0];
	options->filter.waits = options->wish.waits;
}

/* What is of waits goes with nothing that is not. */
static int check_waits(const struct report_options *options)
{
	const struct ppi_wall_wish *wish = &options->wish;

	if (wish->is_latency && (wish->states || wish->waits ||
	                         options->wants_holders))
		return ppi_line_wrong(&line, "--latency weighs the time that "
		                             "threads ran: leave out --state, "
		                             "--wait and --holders");
	if (options->wants_holders &&
	    (options->sort || options->callers || options->callees ||
	     options->is_tree || options->event ||
	     options->form == FORM_CSV || options->form == FORM_HTML))
		return ppi_line_wrong(&line, "--holders is a table of its own, "
		                             "as text or --json: leave out "
		                             "what asks for others");
	return ppi_wall_check(&line, options->event, wish);
}

/* Whether -s has one key, of what a tree can be printed for each. */
static bool has_one_owner(const struct report_options *options)
{
	/* for --callers those of functions are added */
	return !strchr(options->sort, ',') &&
	       options->keys & (PPI_BY_OWNER | PPI_BY_LABEL);
}

static int check_tree(const struct report_options *options)
{
	if (options->form != FORM_TEXT)
		return ppi_line_wrong(&line, "--tree is text; portprof export "
		                             "-f folded has the calls for "
		                             "other programs");
	if (options->callers && options->callees)
		return ppi_line_wrong(&line, "--tree grows in one direction: "
		                             "--callers or --callees");
	if (options->sort && !has_one_owner(options))
		return ppi_line_wrong(&line, "--tree shows functions: -s can "
		                             "only be one of thread, process, "
		                             "comm, service, label:NAME");
	return PPI_LINE_READ;
}

/* -1: go on; else the exit status. */
static int read_options(int argc, char **argv,
                        struct report_options *options)
{
	int status;

	*options = (struct report_options){
		.keys = PPI_BY_FUNCTION | PPI_BY_MODULE,
		.rows = UINT64_MAX,
	};
	options->inputs = calloc((size_t)argc + 1, sizeof(*options->inputs));
	if (!options->inputs) {
		ppi_say("out of memory");
		return PPI_EXIT_FAILED;
	}
	status = ppi_line_read(&line, argc, argv, options);
	if (status == PPI_LINE_READ && (options->page != NULL) +
	    options->is_json + (options->separator != NULL) > 1)
		status = ppi_line_wrong(&line, "--html, --json and -x are "
		                               "three forms of a report: ask "
		                               "for one");
	if (status != PPI_LINE_READ)
		return status;
	complete(options, argc, argv);
	if (!options->page && ppi_hides(&options->hidden))
		return ppi_line_wrong(&line, "--no-paths, --no-host and "
		                             "--no-source need --html");
	status = check_waits(options);
	return status == PPI_LINE_READ && options->is_tree
	               ? check_tree(options) : status;
}

/* Either way. */
static void free_options(struct report_options *options)
{
	free(options->inputs);
	free(options->sources.debug_folder);
	free(options->sources.root);
}

/* ---- what is read ---- */

static portprof_profile *open_input(const struct report_options *options,
                                    const char *path)
{
	portprof_profile *profile = ppi_profile_open(path, options->program,
	                                             options->memory_max);

	if (profile)
		ppi_names_by_time(profile, options->sources.root, NULL);
	return profile;
}

/* The profile of all inputs, added up. */
static portprof_profile *read_inputs(const struct report_options *options)
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
static char *join_inputs(const struct report_options *options)
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

/* Printing one event after another. */
struct printing {
	struct ppi_report report;
	const struct report_options *options;
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
	const struct report_options *options = printing->options;

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
	if (!printing->options->is_quiet)
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
	if (!is_good)
		ppi_say("the report could not be written");
	ppi_rows_free(&threads);
	return is_good;
}

static bool print_tree(struct printing *printing, const struct ppi_rows *rows)
{
	const struct report_options *options = printing->options;
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
static unsigned keys_of(const struct report_options *options,
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
	const struct report_options *options = printing->options;
	bool is_json = options->form == FORM_JSON;
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
	if (is_good && options->wants_holders) {
		more.holders = &holders;
		if (!ppi_report_find_holders(&printing->view, &holders))
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
	} else if (is_good && options->form == FORM_CSV) {
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
	if (printing->options->form == FORM_HTML)
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
	if (printing->options->form == FORM_HTML)
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
	const struct report_options *options = printing->options;
	const portprof_profile *profile = printing->view.profile;
	size_t count = portprof_profile_event_count(profile);
	struct ppi_wall_wish wish = options->wish;

	if (options->wants_holders && !wish.states)
		wish.states = 1u << PPI_BLOCKED;
	printing->subjects = calloc(count + 2, sizeof(*printing->subjects));
	if (!printing->subjects)
		return out_of_memory();
	printing->subject_count = 1;
	if (!ppi_subject_choose(profile, printing->report.path, options->event,
	                        &wish, true, &printing->subjects[0]))
		return false;
	if (options->event || wish.states || wish.waits || wish.is_latency ||
	    options->form == FORM_JSON)
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
	if (fflush(stdout) != 0 || ferror(stdout)) {
		ppi_say("the report could not be written");
		is_good = false;
	}
	free(is_left_out);
	return is_good;
}

/* How to go on from here, for who reads it on a terminal. */
static void say_more(const struct report_options *options)
{
#ifdef HAVE_CURSES
	char room[PPI_SHOWN_BYTES];

	if (options->input_count == 1)
		printf("\nportprof browse %s walks through it: callers, "
		       "source, threads, times\n",
		       ppi_shown(options->inputs[0], room));
#else
	(void)options;
#endif
}

static bool print_report(const portprof_profile *profile,
                         const struct report_options *options)
{
	struct printing printing = {
		.report = { .profile = profile,
		            .keys = options->keys,
		            .is_short = options->form == FORM_TEXT &&
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
	                                options->form == FORM_HTML,
	                                options->has_inlines,
	                                &options->sources);
	bool is_good = false, is_watched;

	printing.report.path = path && options->hidden.paths &&
	                               strrchr(path, '/')
	                               ? strrchr(path, '/') + 1 : path;
	printing.report.symbols = named.symbols;
	printing.report.names = printing.view.names = named.names;
	is_watched = options->form == FORM_TEXT && !options->is_quiet &&
	             ppi_is_terminal(stdout);
	if (options->form == FORM_TEXT)
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

/* Names are found by what is hidden then. */
static bool hide(portprof_profile *profile,
                 const struct report_options *options)
{
	return !ppi_hides(&options->hidden) ||
	       (ppi_names_give(profile, &options->sources, NULL, NULL) &&
	        ppi_hide(&options->hidden, profile));
}

int ppi_report_main(int argc, char **argv)
{
	struct report_options options;
	portprof_profile *profile;
	int status = read_options(argc, argv, &options);

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
	free_options(&options);
	return status;
}
