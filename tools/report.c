/* SPDX-License-Identifier: MIT */
/* portprof report: reads a profile, names its code, prints who is hot. */
#include "config.h"

#include "tools/report.h"

#include "tools/parts.h"
#include "tools/tools.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ROWS = 30 };

struct options {
	const char *input, *event;
	unsigned keys;
	size_t rows;
	bool has_rows, is_quiet, is_json;
};

static const char help[] =
	"usage: portprof report [OPTION...]\n"
	"\n"
	"  -i, --input FILE    the profile (" PPI_DEFAULT_OUTPUT ")\n"
	"  -n, --rows N        rows to show; 0 = all (30)\n"
	"  -e, --event NAME    only this event of several\n"
	"      --sort KEYS     rows by function, module, address, thread or\n"
	"                      process, or several: --sort module,thread\n"
	"  -q, --quiet         the rows without the account\n"
	"      --json          for programs\n"
	"\n"
	"Any pprof file can be read, also of other writers. Shares are of the\n"
	"event's own total; (unattributed) is what no sample stands for.\n";

enum { OPTION_SORT = 256, OPTION_JSON, OPTION_HELP };

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "rows", required_argument, NULL, 'n' },
	{ "event", required_argument, NULL, 'e' },
	{ "sort", required_argument, NULL, OPTION_SORT },
	{ "quiet", no_argument, NULL, 'q' },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

static int read_sort(struct options *options, const char *text)
{
	const char *unknown;

	options->keys = ppi_rows_keys(text, &unknown);
	if (options->keys)
		return PPI_EXIT_OK;
	return ppi_say_usage(PPI_EXIT_USAGE, "report",
	                     "--sort: '%.*s' is not one of function, module, "
	                     "address, thread, process",
	                     (int)strcspn(unknown, ","), unknown);
}

static int read_option(struct options *options, int option, const char *value)
{
	uint64_t number;

	switch (option) {
	case 'i':
		options->input = value;
		return PPI_EXIT_OK;
	case 'e':
		options->event = value;
		return PPI_EXIT_OK;
	case 'n':
		if (!ppi_read_number(value, 0, SIZE_MAX, &number))
			return ppi_say_usage(PPI_EXIT_USAGE, "report",
			                     "-n: '%s' is not a number of rows",
			                     value);
		options->rows = (size_t)number;
		options->has_rows = true;
		return PPI_EXIT_OK;
	case 'q':
		options->is_quiet = true;
		return PPI_EXIT_OK;
	case OPTION_SORT:
		return read_sort(options, value);
	case OPTION_JSON:
		options->is_json = true;
		return PPI_EXIT_OK;
	default: /* getopt_long has said what is wrong */
		fprintf(stderr, "Try 'portprof report --help'.\n");
		return PPI_EXIT_USAGE;
	}
}

/* -1: go on; else the exit status. */
static int read_options(int argc, char **argv, struct options *options)
{
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "+i:n:e:q", long_options,
	                             NULL)) != -1) {
		int status;

		if (option == OPTION_HELP) {
			fputs(help, stdout);
			return PPI_EXIT_OK;
		}
		status = read_option(options, option, optarg);
		if (status != PPI_EXIT_OK)
			return status;
	}
	if (optind == argc)
		return -1;
	return ppi_say_usage(PPI_EXIT_USAGE, "report",
	                     "'%s' is too much; a profile is named by -i",
	                     argv[optind]);
}

/* The index of the event that was asked for; SIZE_MAX and words if none. */
static size_t find_event(const portprof_profile *profile, const char *name)
{
	const portprof_profile_event *event;

	for (size_t i = 0;
	     (event = portprof_profile_event_get(profile, i)) != NULL; i++)
		if (strcmp(event->name, name) == 0 ||
		    strcmp(event->asked, name) == 0)
			return i;
	ppi_say("this profile has no event '%s'; it has:", name);
	for (size_t i = 0;
	     (event = portprof_profile_event_get(profile, i)) != NULL; i++)
		fprintf(stderr, "  %s\n", event->name);
	return SIZE_MAX;
}

static bool print_event(struct ppi_report *report,
                        const struct options *options)
{
	struct ppi_rows rows;

	if (!ppi_rows_build(report->profile, report->event, report->keys,
	                    report->names, &rows)) {
		ppi_say("out of memory");
		return false;
	}
	ppi_report_sum(report, rows.weight);
	if (!options->is_quiet)
		ppi_report_print_header(report, stdout);
	ppi_report_print_rows(report, &rows, stdout);
	ppi_rows_free(&rows);
	return true;
}

static bool print_json(struct ppi_report *report)
{
	struct ppi_rows functions, threads = { 0 };
	const char *why = "out of memory";
	bool is_good;

	if (!ppi_rows_build(report->profile, report->event,
	                    PPI_BY_FUNCTION | PPI_BY_MODULE, report->names,
	                    &functions)) {
		ppi_say("%s", why);
		return false;
	}
	is_good = ppi_rows_build(report->profile, report->event,
	                         PPI_BY_THREAD | PPI_BY_PROCESS, report->names,
	                         &threads);
	if (is_good) {
		ppi_report_sum(report, functions.weight);
		is_good = ppi_report_print_json(report, &functions, &threads,
		                                stdout, &why);
	}
	if (!is_good)
		ppi_say("%s", why);
	ppi_rows_free(&functions);
	ppi_rows_free(&threads);
	return is_good;
}

static bool print_all(struct ppi_report *report, const struct options *options)
{
	size_t count = portprof_profile_event_count(report->profile);
	size_t first = 0;

	if (options->event) {
		first = find_event(report->profile, options->event);
		if (first == SIZE_MAX)
			return false;
		count = first + 1;
	}
	if (options->is_json) {
		report->event = first;
		return print_json(report);
	}
	for (size_t i = first; i < count; i++) {
		report->event = i;
		if (i > first)
			putchar('\n');
		if (!print_event(report, options))
			return false;
	}
	return true;
}

static bool print_report(const portprof_profile *profile,
                         const struct options *options)
{
	struct ppi_report report = {
		.path = options->input,
		.profile = profile,
		.keys = options->keys,
		.row_limit = options->rows,
	};
	struct ppi_symbols_name *names = NULL;
	bool is_good = false;

	report.symbols = ppi_symbols_new(
		portprof_profile_origin_get(profile)->start_ns);
	if (report.symbols)
		names = ppi_name_locations(profile, report.symbols);
	report.names = names;
	if (!names)
		ppi_say("out of memory");
	else if (portprof_profile_event_count(profile) == 0)
		ppi_say("%s holds no event", options->input);
	else
		is_good = print_all(&report, options);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		ppi_say("the report could not be written");
		is_good = false;
	}
	free(names);
	ppi_symbols_free(report.symbols);
	return is_good;
}

int ppi_report_main(int argc, char **argv)
{
	struct options options = {
		.input = PPI_DEFAULT_OUTPUT,
		.keys = PPI_BY_FUNCTION | PPI_BY_MODULE,
		.rows = DEFAULT_ROWS,
	};
	portprof_profile *profile;
	bool is_good;
	int status = read_options(argc, argv, &options);

	if (status >= 0)
		return status;
	if (options.is_json && !options.has_rows)
		options.rows = 0;
	/* Looking for symbols must never download anything by itself. */
	unsetenv("DEBUGINFOD_URLS");
	profile = ppi_profile_open(options.input);
	if (!profile)
		return PPI_EXIT_FAILED;
	is_good = print_report(profile, &options);
	portprof_profile_free(profile);
	return is_good ? PPI_EXIT_OK : PPI_EXIT_FAILED;
}
