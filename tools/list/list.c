/* SPDX-License-Identifier: MIT */
/* portprof list: which events can be measured here, and what they mean. */
#include "config.h"

#include "tools/list/list.h"

#include "tools/backends.h"
#include "tools/options.h"
#include "tools/tools.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
	"usage: portprof list [OPTION...] [PATTERN]\n"
	"       portprof list [OPTION...] --explain EVENT\n"
	"\n"
	"Lists the events that can be used here and now. PATTERN is a glob ('L1-*',\n"
	"'sched:*'), part of a name or a word of its description, and lists each event\n"
	"that matches, usable or not.\n"
	"\n"
	"  -a, --all           also list unit masks, tracepoints and unusable events\n"
	"      --explain EVENT explain an event string: encoding, levels, rate, CPUs,\n"
	"                      which backends measure it, and why others do not\n"
	"  -b, --backend NAME  list the events of this backend (the best)\n"
	"  -j, --json          print JSON\n"
	"      --color WHEN    color the output: auto, always or never (auto)\n"
	"  -h, --help          print this help\n"
	"\n"
	"Each event is opened to try it, unless there are too many of its kind.\n"
	"Exit status: 0 success, 1 no event matches, 2 wrong usage.\n";

enum { OPTION_EXPLAIN = 256, OPTION_COLOR };

static const struct option long_options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "explain", required_argument, NULL, OPTION_EXPLAIN },
	{ "backend", required_argument, NULL, 'b' },
	{ "json", no_argument, NULL, 'j' },
	{ "color", required_argument, NULL, OPTION_COLOR },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const struct ppi_line line = {
	.verb = "list",
	.help = help,
	.letters = "ab:jh",
	.options = long_options,
	.wrong = PPI_EXIT_USAGE,
};

static int read_option(struct ppi_list_options *options, int option,
                       const char *value)
{
	switch (option) {
	case 'a':
		options->is_all = true;
		break;
	case OPTION_EXPLAIN:
		options->explain = value;
		break;
	case 'b':
		options->backend = value;
		break;
	case OPTION_COLOR:
		return ppi_line_color(&line, value);
	case 'j':
	default:
		options->is_json = true;
		break;
	}
	return PPI_EXIT_OK;
}

/* -1: go on; else the exit status. */
static int read_options(int argc, char **argv,
                        struct ppi_list_options *options)
{
	int option;

	options->backend = "auto";
	ppi_line_begin();
	while ((option = ppi_line_next(&line, argc, argv)) >= 0) {
		int status = read_option(options, option, optarg);

		if (status != PPI_EXIT_OK)
			return status;
	}
	if (option != PPI_LINE_END)
		return ppi_line_status(&line, option);
	if (optind < argc)
		options->pattern = argv[optind++];
	if (optind < argc)
		return ppi_line_too_many(&line, argv[optind],
		                         "one pattern at a time, and in quotes, "
		                         "as in 'L1-*'");
	if (options->pattern && options->explain)
		return ppi_say_usage(line.wrong, line.verb,
		                     "--explain takes an event string, and no "
		                     "pattern beside it");
	return -1;
}

const char *ppi_list_source(portprof_source source)
{
	static const char *const names[] = {
		[PORTPROF_SOURCE_SOFTWARE] = "software",
		[PORTPROF_SOURCE_HARDWARE] = "hardware",
		[PORTPROF_SOURCE_CACHE] = "cache",
		[PORTPROF_SOURCE_TABLE] = "libpfm4",
		[PORTPROF_SOURCE_SYSTEM] = "system",
		[PORTPROF_SOURCE_TRACEPOINT] = "tracepoint",
	};

	return (size_t)source < sizeof(names) / sizeof(names[0]) &&
	                       names[source]
	               ? names[source]
	               : "other";
}

const portprof_catalogue_pmu *ppi_list_pmu(const struct ppi_list *list,
                                           const char *name)
{
	for (size_t i = 0; i < list->pmu_count; i++)
		if (strcmp(list->pmus[i].name, name) == 0)
			return &list->pmus[i];
	return NULL;
}

static int nothing_fits(const struct ppi_list *list)
{
	portprof_event_info info = { .size = sizeof(info) };
	portprof_backend_info backend;
	const char *pattern = list->options.pattern;
	bool is_unknown;

	if (!pattern && ppi_backend_find_info(list->options.backend, &backend) &&
	    !backend.is_usable) {
		ppi_say("backend %s has no events here: %s", backend.name,
		        backend.reason);
		return PPI_EXIT_FAILED;
	}
	if (!pattern) {
		ppi_say("no backend of this system has a catalogue: they "
		        "measure CPU time, cpu-clock and task-clock, alone");
		ppi_say("portprof doctor says why perf, which has one, cannot "
		        "be used");
		return PPI_EXIT_FAILED;
	}
	/* the library knows the nearest names of what is none */
	is_unknown = portprof_event_try(pattern, list->options.backend,
					&info) == PORTPROF_E_NOTFOUND;
	ppi_say_no_match(pattern,
	                 is_unknown ? portprof_last_diag()->words : "",
	                 "portprof list -a shows everything that there is");
	return PPI_EXIT_FAILED;
}

static int print(const struct ppi_list *list)
{
	if (list->options.is_json)
		ppi_list_print_json(list, stdout);
	else if (list->event_count == 0)
		return nothing_fits(list);
	else
		ppi_list_print_text(list, stdout);
	return list->event_count ? PPI_EXIT_OK : PPI_EXIT_FAILED;
}

int ppi_list_main(int argc, char **argv)
{
	struct ppi_list list = { .events = NULL };
	int status = read_options(argc, argv, &list.options);

	if (status >= 0)
		return status;
	if (list.options.explain) {
		portprof_catalogue_pmus(list.options.backend, ppi_list_take_pmu,
		                        &list);
		status = ppi_list_explain(&list, stdout);
	} else {
		status = ppi_list_collect(&list) ? print(&list)
		                                 : PPI_EXIT_FAILED;
	}
	ppi_list_free(&list);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		ppi_say("the list could not be written");
		status = PPI_EXIT_FAILED;
	}
	return status;
}
