/* SPDX-License-Identifier: MIT */
/* What the command line of portprof report asks for. */
#include "config.h"

#include "tools/report/report_options.h"

#include "tools/options.h"
#include "tools/tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	const char *unknown;

	options->keys = ppi_rows_keys(given->value, &options->label, &unknown);
	options->sort = given->value;
	if (options->keys)
		return PPI_EXIT_OK;
	return ppi_line_wrong(given->line,
	                      "%s: '%.*s' is not one of function, module, "
	                      "line, address, thread, process, comm, label:NAME",
	                      given->name,
	                      (int)strcspn(unknown, ","), unknown);
}

static int take_times(const struct ppi_given *given, void *filter)
{
	if (ppi_filter_read_times(given->value, filter))
		return PPI_EXIT_OK;
	return ppi_given_refuse(given, "FROM,TO in seconds, such as 2,5 or 2, "
	                               "or ,5");
}

static int take_label(const struct ppi_given *given, void *label)
{
	const char *equals = strchr(given->value, '=');

	if (!equals || equals == given->value || !equals[1])
		return ppi_given_refuse(given, "NAME=VALUE[,VALUE...]");
	*(const char **)label = given->value;
	return PPI_EXIT_OK;
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
	{ 0, "label", "NAME=LIST", "keep samples with these values of a label",
	  .take = take_label, .place = AT(filter.label) },
	{ 0, "focus", "FUNC", "keep samples in FUNC and what it calls",
	  .take = ppi_take_text, .place = AT(filter.functions) },
	{ 0, "time", "FROM,TO", "keep these seconds (needs record --timeline)",
	  .take = take_times, .place = AT(filter) },
	PPI_DEBUG_DIR_OPTION(AT(sources.debug_folder)),
	PPI_DEBUGINFOD_OPTION,
	PPI_ROOT_OPTION(AT(sources.root)),
	PPI_MEMORY_OPTION(AT(memory_max)),
	{ .help = "What to print" },
	{ 's', "sort", "KEYS",
	  "group by function, module, line, address, thread, process, comm "
	  "or label:NAME, or by several (function)",
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
	{ 'v', "verbose", NULL, "print what the page contains (with --html)",
	  .take = ppi_take_flag, .place = AT(is_verbose) },
	PPI_COLOR_OPTION,
};

static const struct ppi_line line = {
	.verb = "report",
	.usage = "[OPTION...] [FILE...]",
	.notes = "Reads any pprof file, gmon.out, folded stacks, the text of perf "
	         "script, CPU profiles of gperftools. (unattributed) is weight "
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
	options->form = options->page        ? PPI_FORM_HTML
	                : options->is_json   ? PPI_FORM_JSON
	                : options->separator ? PPI_FORM_CSV
	                                     : PPI_FORM_TEXT;
	if (options->rows == UINT64_MAX)
		options->rows =
			options->form == PPI_FORM_TEXT ? DEFAULT_ROWS : 0;
	if (options->input_count == 0)
		options->inputs[options->input_count++] = usual_inputs[0];
}

static int check_tree(const struct ppi_report_options *options)
{
	if (options->form != PPI_FORM_TEXT)
		return ppi_line_wrong(&line, "--tree is text; portprof export "
		                             "-f folded has the calls for "
		                             "other programs");
	if (options->callers && options->callees)
		return ppi_line_wrong(&line, "--tree grows in one direction: "
		                             "--callers or --callees");
	if (options->sort)
		return ppi_line_wrong(&line, "--tree shows functions: leave "
		                             "out -s");
	return PPI_LINE_READ;
}

int ppi_report_read_options(int argc, char **argv,
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
	complete(options, argc, argv);
	if (!options->page && (ppi_hides(&options->hidden) ||
	                       options->is_verbose))
		return ppi_line_wrong(&line, "--no-paths, --no-host, "
		                             "--no-source and -v need --html");
	return options->is_tree ? check_tree(options) : status;
}

void ppi_report_free_options(struct ppi_report_options *options)
{
	free(options->inputs);
	free(options->sources.debug_folder);
	free(options->sources.root);
}
