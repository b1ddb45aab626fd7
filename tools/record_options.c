/* SPDX-License-Identifier: MIT */
/* The command line of portprof record. */
#include "config.h"

#include "tools/record.h"

#include "tools/tools.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
	"usage: portprof record [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	"\n"
	"  -e, --event EVENT     what to measure: a comma list, or repeated\n"
	"                        (CPU time)\n"
	"  -F, --freq HZ         samples per second of the event's time (100)\n"
	"  -c, --count N         or one sample every N ns or events\n"
	"  -g                    call chains, by frame pointers\n"
	"      --call-graph fp   the same\n"
	"  -b, --backend NAME    perf, timer, itimer (the best that works)\n"
	"      --no-inherit      not the processes that the command creates\n"
	"  -o, --output FILE     (" PPI_DEFAULT_OUTPUT "); what was there before\n"
	"                        is kept as FILE.old\n"
	"      --config FILE     settings from this file\n"
	"      --set NAME        and from its section [NAME]\n"
	"  -q, --quiet           no summary; failures are still told\n"
	"\n"
	"The exit status is the command's, 128 + N if signal N killed it, 125\n"
	"if portprof failed, 126 and 127 if the command cannot be run.\n";

/* As deep as the kernel goes (kernel.perf_event_max_stack). */
static const char chain_depth[] = "127";

enum {
	OPTION_CALL_GRAPH = 256,
	OPTION_NO_INHERIT,
	OPTION_CONFIG,
	OPTION_SET,
	OPTION_HELP
};

static const struct option long_options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "freq", required_argument, NULL, 'F' },
	{ "count", required_argument, NULL, 'c' },
	{ "call-graph", required_argument, NULL, OPTION_CALL_GRAPH },
	{ "backend", required_argument, NULL, 'b' },
	{ "no-inherit", no_argument, NULL, OPTION_NO_INHERIT },
	{ "output", required_argument, NULL, 'o' },
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "set", required_argument, NULL, OPTION_SET },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

static int add_event(struct ppi_record_options *options, const char *text)
{
	size_t room = sizeof(options->events) / sizeof(options->events[0]);

	if (options->event_count == room)
		return ppi_say_usage(PPI_EXIT_RECORD, "record",
		                     "-e can be given %zu times", room);
	options->events[options->event_count++] = text;
	return PPI_EXIT_OK;
}

static int read_call_graph(struct ppi_record_options *options,
                           const char *value)
{
	if (strcmp(value, "fp") != 0)
		return ppi_say_usage(PPI_EXIT_RECORD, "record",
		                     "--call-graph %s: only fp (frame "
		                     "pointers) can be had", value);
	options->chains = chain_depth;
	return PPI_EXIT_OK;
}

static int read_option(struct ppi_record_options *options, int option,
                       const char *value)
{
	switch (option) {
	case 'e':
		return add_event(options, value);
	case 'F':
		options->frequency = value;
		return PPI_EXIT_OK;
	case 'c':
		options->period = value;
		return PPI_EXIT_OK;
	case 'g':
		options->chains = chain_depth;
		return PPI_EXIT_OK;
	case OPTION_CALL_GRAPH:
		return read_call_graph(options, value);
	case 'b':
		options->backend = value;
		return PPI_EXIT_OK;
	case OPTION_NO_INHERIT:
		options->children = "no";
		return PPI_EXIT_OK;
	case 'o':
		options->output = value;
		return PPI_EXIT_OK;
	case OPTION_CONFIG:
		options->config_path = value;
		return PPI_EXIT_OK;
	case OPTION_SET:
		options->set_name = value;
		return PPI_EXIT_OK;
	case 'q':
		options->is_quiet = true;
		return PPI_EXIT_OK;
	default: /* getopt_long has said what is wrong */
		fprintf(stderr, "Try 'portprof record --help'.\n");
		return PPI_EXIT_RECORD;
	}
}

int ppi_record_read_options(int argc, char **argv,
                            struct ppi_record_options *options)
{
	int option;

	/* "+": the options after the command are the command's */
	optind = 1;
	while ((option = getopt_long(argc, argv, "+e:F:c:gb:o:q", long_options,
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
	if (options->frequency && options->period)
		return ppi_say_usage(PPI_EXIT_RECORD, "record",
		                     "-F and -c exclude each other: a rate or "
		                     "a period");
	if (optind == argc)
		return ppi_say_usage(PPI_EXIT_RECORD, "record",
		                     "which command? portprof record -- "
		                     "COMMAND [ARGUMENT...]");
	options->command = argv + optind;
	return -1;
}
