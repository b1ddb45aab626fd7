/* SPDX-License-Identifier: MIT */
/* portprof diff: what changed between two profiles, beyond chance. */
#include "config.h"

#include "tools/diff/changes.h"
#include "tools/html/html_report.h"
#include "tools/memory.h"
#include "tools/options.h"
#include "tools/record/parts.h"
#include "tools/report/report_named.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: portprof diff [OPTION...] BEFORE AFTER\n"
	"\n"
	"  -s, --sort KEYS     rows by function, module, line or comm, or several\n"
	"  -n, --rows N        print at most N rows; 0 = all (30)\n"
	"  -a, --all           also print what changed no more than by chance\n"
	"      --normalize     scale BEFORE to the total of AFTER\n"
	"  -e, --event NAME    compare this event (the first)\n"
	"      --html FILE     write a page for a browser\n"
	"  -x, --field-separator SEP   print fields for spreadsheets\n"
	"  -q, --quiet         print the rows alone\n"
	"      --debug-dir DIR look for separate debug files here too\n"
	"      --color WHEN    auto, always or never\n"
	PPI_MEMORY_HELP
	"\n"
	"Rows are weights of functions' own code. A row is beyond noise if chance "
	"moves\n"
	"none of them as far in 95 of 100 pairs of equal runs.\n";

enum {
	OPTION_NORMALIZE = 256,
	OPTION_HTML,
	OPTION_DEBUG_DIR,
	OPTION_COLOR,
	OPTION_MAX_MEMORY
};

static const struct option long_options[] = {
	{ "sort", required_argument, NULL, 's' },
	{ "rows", required_argument, NULL, 'n' },
	{ "all", no_argument, NULL, 'a' },
	{ "normalize", no_argument, NULL, OPTION_NORMALIZE },
	{ "event", required_argument, NULL, 'e' },
	{ "html", required_argument, NULL, OPTION_HTML },
	{ "field-separator", required_argument, NULL, 'x' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "debug-dir", required_argument, NULL, OPTION_DEBUG_DIR },
	{ "color", required_argument, NULL, OPTION_COLOR },
	{ "max-memory", required_argument, NULL, OPTION_MAX_MEMORY },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const struct ppi_line line = {
	.verb = "diff",
	.help = help,
	.letters = "s:n:ae:x:qh",
	.options = long_options,
	.wrong = PPI_EXIT_USAGE,
};

struct options {
	const char *inputs[2];
	const char *event, *page, *separator;
	char *debug_folder;
	struct ppi_diff_form form;
	bool is_normalized;
	uint64_t memory_max;
};

/* ---- the command line ---- */

/* Numbers of threads, processes and addresses differ from run to run. */
static int read_sort(struct options *options, const char *text)
{
	const char *unknown;
	unsigned keys = ppi_rows_keys(text, &unknown);

	if (!keys)
		return ppi_line_refuse(&line, "--sort", text,
		                       "made of function, module, line, comm");
	if (keys & (PPI_BY_ADDRESS | PPI_BY_THREAD | PPI_BY_PROCESS))
		return ppi_line_refuse(&line, "--sort", text,
		                       "the same in two runs; comm is the "
		                       "name of a thread");
	options->form.keys = keys;
	return PPI_EXIT_OK;
}

static int read_folder(struct options *options, const char *folder)
{
	free(options->debug_folder);
	options->debug_folder = realpath(folder, NULL);
	if (options->debug_folder)
		return PPI_EXIT_OK;
	ppi_say("--debug-dir: '%s' cannot be opened", folder);
	return PPI_EXIT_FAILED;
}

static int read_option(struct options *options, int option, const char *value)
{
	uint64_t number = 0;
	int status = PPI_EXIT_OK;

	switch (option) {
	case 's':
		return read_sort(options, value);
	case 'n':
		status = ppi_line_number(&line, "-n", value, 0, SIZE_MAX,
		                         "a number of rows", &number);
		options->form.row_limit = (size_t)number;
		return status;
	case 'a':
		options->form.shows_all = true;
		return status;
	case OPTION_NORMALIZE:
		options->is_normalized = true;
		return status;
	case OPTION_HTML:
		options->page = value;
		return status;
	case 'x':
		return ppi_line_separator(&line, value, &options->separator);
	case 'q':
		options->form.is_quiet = true;
		return status;
	case OPTION_DEBUG_DIR:
		return read_folder(options, value);
	case OPTION_COLOR:
		return ppi_line_color(&line, value);
	case OPTION_MAX_MEMORY:
		return ppi_memory_option(&line, value, &options->memory_max);
	default:
		options->event = value;
		return status;
	}
}

static int read_options(int argc, char **argv, struct options *options)
{
	int option, count = 0;

	ppi_line_begin();
	while ((option = ppi_line_next(&line, argc, argv)) >= 0) {
		int status = read_option(options, option, optarg);

		if (status != PPI_EXIT_OK)
			return status;
	}
	if (option != PPI_LINE_END)
		return ppi_line_status(&line, option);
	for (; optind < argc; optind++) {
		if (count == 2)
			return ppi_line_too_many(&line, argv[optind],
			                         "two profiles are compared");
		options->inputs[count++] = argv[optind];
	}
	if (count < 2)
		return ppi_say_usage(line.wrong, line.verb,
		                     "name two profiles: diff BEFORE AFTER");
	return -1;
}

/* ---- two profiles ---- */

struct side {
	portprof_profile *profile;
	struct ppi_named named;
};

/* "task-clock" of "task-clock:freq=100": rates may differ. */
static bool is_same_event(const char *left, const char *right)
{
	size_t length = strcspn(left, ":");

	return strcspn(right, ":") == length &&
	       strncmp(left, right, length) == 0;
}

static size_t find_event(const portprof_profile *profile, const char *path,
                         const char *name)
{
	const portprof_profile_event *event;

	for (size_t i = 0;
	     (event = portprof_profile_event_get(profile, i)) != NULL; i++)
		if (!name || strcmp(event->asked, name) == 0 ||
		    is_same_event(name, event->name))
			return i;
	ppi_say("'%s' has no event '%s'", path, name ? name : "");
	return SIZE_MAX;
}

static bool open_side(struct side *side, const struct options *options,
                      int which, const char *event,
                      struct ppi_page_series *series)
{
	static const char *const labels[] = { "Before", "After" };
	const char *path = options->inputs[which];
	size_t number;

	side->profile = ppi_profile_open(path, NULL, options->memory_max);
	if (!side->profile)
		return false;
	number = find_event(side->profile, path, event);
	if (number == SIZE_MAX)
		return false;
	if (!ppi_named_find(&side->named, side->profile,
	                    options->form.keys & PPI_BY_LINE, false,
	                    options->debug_folder)) {
		ppi_say("out of memory");
		return false;
	}
	*series = (struct ppi_page_series){
		.label = labels[which],
		.report = { .path = path,
		            .profile = side->profile,
		            .symbols = side->named.symbols,
		            .names = side->named.names,
		            .event = number },
		.view = { .profile = side->profile,
		          .names = side->named.names,
		          .event = number },
	};
	if (ppi_html_sum(series))
		return true;
	ppi_say("out of memory");
	return false;
}

static bool print(const struct options *options, struct ppi_page *page)
{
	struct ppi_page_series *series = page->series;
	struct ppi_changes changes;
	unsigned keys = options->page ? PPI_BY_FUNCTION | PPI_BY_MODULE
	                              : options->form.keys;
	bool is_good = ppi_changes_find(&series[0], &series[1], keys,
	                                options->is_normalized, &changes);

	page->tested_count = changes.count;
	if (is_good && options->page)
		is_good = ppi_page_grow(page);
	if (!is_good)
		ppi_say("out of memory");
	else if (options->page)
		is_good = ppi_page_write(page, options->page);
	else if (options->separator)
		ppi_diff_print_csv(&changes, keys, options->separator, stdout);
	else
		ppi_diff_print(&series[0], &series[1], &changes,
		               &options->form, stdout);
	ppi_changes_free(&changes);
	return is_good;
}

static bool compare(const struct options *options)
{
	struct ppi_page_series series[2] = { 0 };
	struct side sides[2] = { 0 };
	struct ppi_page page = { .is_diff = true,
		                 .is_normalized = options->is_normalized,
		                 .series = series,
		                 .series_count = 2 };
	bool is_good = open_side(&sides[0], options, 0, options->event,
	                         &series[0]);

	if (is_good)
		is_good = open_side(&sides[1], options, 1,
		                    series[0].report.what->name, &series[1]);
	if (is_good) {
		page.title = portprof_profile_origin_get(sides[1].profile)
		                     ->command;
		if (!page.title[0])
			page.title = "Difference of two profiles";
		is_good = print(options, &page);
	}
	ppi_html_free(&page);
	for (int i = 0; i < 2; i++) {
		ppi_named_free(&sides[i].named);
		portprof_profile_free(sides[i].profile);
	}
	return is_good;
}

int ppi_diff_main(int argc, char **argv)
{
	struct options options = {
		.form = { .keys = PPI_BY_FUNCTION | PPI_BY_MODULE,
		          .row_limit = 30 },
	};
	int status = read_options(argc, argv, &options);

	if (status < 0) {
		/* Looking for symbols must never download by itself. */
		unsetenv("DEBUGINFOD_URLS");
		ppi_memory_limit(options.memory_max);
		status = compare(&options) ? PPI_EXIT_OK : PPI_EXIT_FAILED;
	}
	free(options.debug_folder);
	return status;
}
