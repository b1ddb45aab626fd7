/* SPDX-License-Identifier: MIT */
/*
 * portprof report: reads and symbolizes a profile, prints the hot functions.
 * This file has the command line and what is read by it; the others:
 *
 *   report_print.c    what is printed of it, event by event
 *   report_text.c     a table of rows
 *   report_hints.c    what is said below it
 *   report_tree.c     calls as a tree
 *   report_holders.c  who held what others waited for, or woke them
 *   report_csv.c      rows for spreadsheets
 *   report_json.c     everything for programs
 *   tools/page        a page for a browser
 */
#include "config.h"

#include "tools/report/report.h"

#include "tools/input.h"
#include "tools/options.h"
#include "tools/page/page.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the command line ---- */

enum { DEFAULT_ROWS = 30 };

static int take_input(const struct ppi_given *given, void *place)
{
	struct ppi_report_options *options = place;

	options->inputs[options->input_count++] = given->value;
	return PPI_EXIT_OK;
}

static int take_sort(const struct ppi_given *given, void *place)
{
	struct ppi_report_options *options = place;
	struct ppi_given wrong = *given;
	char word[256];

	options->keys =
		ppi_rows_keys(given->value, &options->label, &wrong.value);
	options->sort = given->value;
	if (options->keys)
		return PPI_EXIT_OK;
	snprintf(word, sizeof(word), "%.*s",
	         (int)strcspn(wrong.value, ","), wrong.value);
	wrong.value = word;
	return ppi_given_refuse_word(&wrong);
}

static int take_peek(const struct ppi_given *given, void *place)
{
	struct ppi_report_options *options = place;

	options->callers = options->callees = given->value;
	return PPI_EXIT_OK;
}

static const char *sort_word(size_t i)
{
	return ppi_rows_word(i, 0);
}

static int take_times(const struct ppi_given *given, void *filter)
{
	if (ppi_filter_read_times(given->value, filter))
		return PPI_EXIT_OK;
	return ppi_given_refuse(given, "FROM,TO in seconds or percent, such as "
	                               "2,5 or 2s, or ,500ms or 10%,20%");
}

#define AT(member) offsetof(struct ppi_report_options, member)

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
	  "group by @WORDS, or by several (function)",
	  .take = take_sort, .word = sort_word },
	PPI_ROWS_OPTION(AT(rows)),
	{ 0, "children", NULL, "sort by weight with callees",
	  .take = ppi_take_flag, .place = AT(is_by_total) },
	{ 0, "callers", "FUNC", "print the callers of FUNC",
	  .take = ppi_take_text, .place = AT(callers) },
	{ 0, "callees", "FUNC", "print what FUNC calls",
	  .take = ppi_take_text, .place = AT(callees) },
	{ 'p', "peek", "FUNC", "print both: callers and callees of FUNC",
	  .take = take_peek },
	{ 't', "tree", NULL,
	  "print calls as a tree: all, or --callers or --callees of FUNC",
	  .take = ppi_take_flag, .place = AT(is_tree) },
	{ 0, "holders", NULL, "print who held what threads waited for",
	  .take = ppi_take_flag, .place = AT(wants_holders) },
	{ 0, "wakers", NULL, "print who ended what threads waited for",
	  .take = ppi_take_flag, .place = AT(wants_wakers) },
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
static void complete(struct ppi_report_options *options, int argc, char **argv)
{
	static const char *const usual_inputs[] = { PPI_DEFAULT_OUTPUT };

	for (; optind < argc; optind++)
		options->inputs[options->input_count++] = argv[optind];
	if (options->callers || options->callees)
		options->keys |= PPI_BY_FUNCTION | PPI_BY_MODULE;
	options->form = options->page        ? PPI_REPORT_HTML
	                : options->is_json   ? PPI_REPORT_JSON
	                : options->separator ? PPI_REPORT_CSV
	                                     : PPI_REPORT_TEXT;
	if (options->rows == UINT64_MAX)
		options->rows =
			options->form == PPI_REPORT_TEXT ? DEFAULT_ROWS : 0;
	if (options->input_count == 0)
		options->inputs[options->input_count++] = usual_inputs[0];
	options->filter.waits = options->wish.waits;
}

/* What is of waits goes with nothing that is not. */
static int check_waits(const struct ppi_report_options *options)
{
	const struct ppi_wall_wish *wish = &options->wish;

	if (wish->is_latency && (wish->states || wish->waits ||
	                         ppi_report_who_of(options)))
		return ppi_line_wrong(&line, "--latency weighs the time that "
		                             "threads ran: leave out --state, "
		                             "--wait, --holders and --wakers");
	if (options->wants_holders && options->wants_wakers)
		return ppi_line_wrong(&line, "--holders and --wakers are tables "
		                             "of their own: ask for one");
	if (ppi_report_who_of(options) &&
	    (options->sort || options->callers || options->callees ||
	     options->is_tree || options->event ||
	     options->form == PPI_REPORT_CSV || options->form == PPI_REPORT_HTML))
		return ppi_line_wrong(&line, "%s is a table of its own, "
		                             "as text or --json: leave out "
		                             "what asks for others",
		                      options->wants_holders ? "--holders"
		                                             : "--wakers");
	return ppi_wall_check(&line, options->event, wish);
}

/* Whether -s has one key, of what a tree can be printed for each. */
static bool has_one_owner(const struct ppi_report_options *options)
{
	/* for --callers those of functions are added */
	return !strchr(options->sort, ',') &&
	       options->keys & (PPI_BY_OWNER | PPI_BY_LABEL);
}

static int check_tree(const struct ppi_report_options *options)
{
	if (options->form != PPI_REPORT_TEXT)
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
                        struct ppi_report_options *options)
{
	int status;

	*options = (struct ppi_report_options){
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
	if (options->page && (options->sort || options->callers ||
	                      options->callees || options->is_by_total ||
	                      options->rows != UINT64_MAX))
		return ppi_line_wrong(&line, "a page has all rows, in any "
		                             "order, with their callers: leave "
		                             "out -s, -n, --children, --callers "
		                             "and --callees");
	complete(options, argc, argv);
	if (!options->page && ppi_hides(&options->hidden))
		return ppi_line_wrong(&line, "--no-paths, --no-host and "
		                             "--no-source need --html");
	status = check_waits(options);
	return status == PPI_LINE_READ && options->is_tree
	               ? check_tree(options) : status;
}

/* Either way. */
static void free_options(struct ppi_report_options *options)
{
	free(options->inputs);
	free(options->sources.debug_folder);
	free(options->sources.root);
}

/* ---- what is read ---- */

static portprof_profile *open_input(const struct ppi_report_options *options,
                                    const char *path)
{
	portprof_profile *profile = ppi_profile_open(path, options->program,
	                                             options->memory_max);

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
	int status = read_options(argc, argv, &options);

	if (status < 0) {
		ppi_settle_debuginfod();
		ppi_memory_limit(options.memory_max);
		profile = read_inputs(&options);
		status = profile && hide(profile, &options) &&
		                         ppi_report_print(profile, &options)
		                 ? PPI_EXIT_OK
		                 : PPI_EXIT_FAILED;
		portprof_profile_free(profile);
	}
	free_options(&options);
	return status;
}
