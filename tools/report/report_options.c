/* SPDX-License-Identifier: MIT */
/* What the command line of portprof report asks for. */
#include "config.h"

#include "tools/report/report_options.h"

#include "tools/color.h"
#include "tools/tools.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ROWS = 30 };

static const char help[] =
	"usage: portprof report [OPTION...]\n"
	"\n"
	"  -i, --input FILE    the profile (" PPI_DEFAULT_OUTPUT
	"); several are added up\n"
	"  -s, --sort KEYS     rows by function, module, line, address, "
	"thread,\n"
	"                      process, comm, or several: --sort "
	"module,thread\n"
	"  -n, --rows N        rows to show; 0 = all (30)\n"
	"      --children      those first that have most with all they call\n"
	"      --callers FUNC  who calls the function\n"
	"      --callees FUNC  what it calls\n"
	"      --inline        tell inlined functions apart\n"
	"  -e, --event NAME    only this event of several\n"
	"      --thread LIST   only these threads: names or numbers\n"
	"      --module LIST   only code of these files\n"
	"      --focus FUNC    only what is in this function or called by it\n"
	"      --time FROM,TO  only these seconds, if recorded with "
        "--timeline\n"
	"  -q, --quiet         the rows without the account\n"
	"  -x, --field-separator SEP   for spreadsheets\n"
	"      --json          for programs\n"
	"      --debug-dir DIR look for separate debug files here too\n"
	"      --color WHEN    auto, always or never\n"
	"\n"
	"Any pprof file can be read. Shares are of the event's own total;\n"
	"(unattributed) is what no sample stands for.\n";

enum {
	OPTION_CHILDREN = 256,
	OPTION_CALLERS,
	OPTION_CALLEES,
	OPTION_INLINE,
	OPTION_THREAD,
	OPTION_MODULE,
	OPTION_FOCUS,
	OPTION_TIME,
	OPTION_JSON,
	OPTION_DEBUG_DIR,
	OPTION_COLOR,
	OPTION_HELP
};

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "sort", required_argument, NULL, 's' },
	{ "rows", required_argument, NULL, 'n' },
	{ "children", no_argument, NULL, OPTION_CHILDREN },
	{ "callers", required_argument, NULL, OPTION_CALLERS },
	{ "callees", required_argument, NULL, OPTION_CALLEES },
	{ "inline", no_argument, NULL, OPTION_INLINE },
	{ "event", required_argument, NULL, 'e' },
	{ "thread", required_argument, NULL, OPTION_THREAD },
	{ "module", required_argument, NULL, OPTION_MODULE },
	{ "focus", required_argument, NULL, OPTION_FOCUS },
	{ "time", required_argument, NULL, OPTION_TIME },
	{ "quiet", no_argument, NULL, 'q' },
	{ "field-separator", required_argument, NULL, 'x' },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "debug-dir", required_argument, NULL, OPTION_DEBUG_DIR },
	{ "color", required_argument, NULL, OPTION_COLOR },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

static int read_sort(struct ppi_report_options *options, const char *text)
{
	const char *unknown;

	options->keys = ppi_rows_keys(text, &unknown);
	options->sort = text;
	if (options->keys)
		return PPI_EXIT_OK;
	return ppi_say_usage(PPI_EXIT_USAGE, "report",
	                     "--sort: '%.*s' is not one of function, module, "
	                     "line, address, thread, process, comm",
	                     (int)strcspn(unknown, ","), unknown);
}

static int read_rows(struct ppi_report_options *options, const char *text)
{
	uint64_t number;

	if (!ppi_read_number(text, 0, SIZE_MAX, &number))
		return ppi_say_usage(PPI_EXIT_USAGE, "report",
		                     "-n: '%s' is not a number of rows", text);
	options->rows = (size_t)number;
	return PPI_EXIT_OK;
}

/* A quote would be taken for that of a field, a line end for that of a row. */
static int read_separator(struct ppi_report_options *options, const char *text)
{
	options->form = PPI_FORM_CSV;
	options->separator = strcmp(text, "\\t") == 0 ? "\t" : text;
	if (text[0] && !strpbrk(text, "\"\n\r"))
		return PPI_EXIT_OK;
	return ppi_say_usage(PPI_EXIT_USAGE, "report",
	                     "-x: what stands between fields must be neither "
	                     "empty nor have quotes or line ends; try -x ,");
}

static int read_times(struct ppi_report_options *options, const char *text)
{
	if (ppi_filter_read_times(text, &options->filter))
		return PPI_EXIT_OK;
	return ppi_say_usage(PPI_EXIT_USAGE, "report",
	                     "--time %s: give it as FROM,TO in seconds, as in "
	                     "2,5 or 2.5, or ,10",
	                     text);
}

static int read_color(const char *value)
{
	if (ppi_color_choose(value))
		return PPI_EXIT_OK;
	return ppi_say_usage(PPI_EXIT_USAGE, "report",
	                     "--color %s: auto, always or never?", value);
}

/* Where an option's value goes that is taken as it is. */
static const char **word_of(struct ppi_report_options *options, int option)
{
	switch (option) {
	case OPTION_CALLERS:
		return &options->callers;
	case OPTION_CALLEES:
		return &options->callees;
	case OPTION_THREAD:
		return &options->filter.threads;
	case OPTION_MODULE:
		return &options->filter.modules;
	case OPTION_FOCUS:
		return &options->filter.functions;
	case OPTION_DEBUG_DIR:
		return &options->debug_folder;
	default:
		return &options->event;
	}
}

static int read_option(struct ppi_report_options *options, int option,
                       const char *value)
{
	switch (option) {
	case 'i':
		options->inputs[options->input_count++] = value;
		return PPI_EXIT_OK;
	case 's':
		return read_sort(options, value);
	case 'n':
		return read_rows(options, value);
	case 'q':
		options->is_quiet = true;
		return PPI_EXIT_OK;
	case 'x':
		return read_separator(options, value);
	case OPTION_TIME:
		return read_times(options, value);
	case OPTION_COLOR:
		return read_color(value);
	case OPTION_JSON:
		options->form = PPI_FORM_JSON;
		return PPI_EXIT_OK;
	case OPTION_CHILDREN:
		options->is_by_total = true;
		return PPI_EXIT_OK;
	case OPTION_INLINE:
		options->has_inlines = true;
		return PPI_EXIT_OK;
	case '?': /* getopt_long has said what is wrong */
		fprintf(stderr, "Try 'portprof report --help'.\n");
		return PPI_EXIT_USAGE;
	default:
		*word_of(options, option) = value;
		return PPI_EXIT_OK;
	}
}

/* libdw passes by what does not begin with a slash. */
static bool find_folder(struct ppi_report_options *options)
{
	options->full_debug_folder = realpath(options->debug_folder, NULL);
	if (options->full_debug_folder)
		return true;
	ppi_say("--debug-dir: '%s' cannot be opened: %s", options->debug_folder,
	        strerror(errno));
	return false;
}

/* What does not go together, and what is not said. */
static int complete(struct ppi_report_options *options, int argc, char **argv)
{
	static const char *const usual_inputs[] = { PPI_DEFAULT_OUTPUT };

	if (optind < argc)
		return ppi_say_usage(PPI_EXIT_USAGE, "report",
		                     "'%s' is too much; a profile is named "
		                     "by -i",
		                     argv[optind]);
	if (options->sort && (options->callers || options->callees))
		return ppi_say_usage(PPI_EXIT_USAGE, "report",
		                     "--sort cannot go with --callers and "
		                     "--callees: their rows are functions");
	if (options->debug_folder && !find_folder(options))
		return PPI_EXIT_FAILED;
	if (options->rows == SIZE_MAX)
		options->rows =
			options->form == PPI_FORM_TEXT ? DEFAULT_ROWS : 0;
	if (options->input_count == 0)
		options->inputs[options->input_count++] = usual_inputs[0];
	return -1;
}

int ppi_report_read_options(int argc, char **argv,
                            struct ppi_report_options *options)
{
	int option;

	*options = (struct ppi_report_options){
		.keys = PPI_BY_FUNCTION | PPI_BY_MODULE,
		.rows = SIZE_MAX,
	};
	options->inputs = calloc((size_t)argc + 1, sizeof(*options->inputs));
	if (!options->inputs) {
		ppi_say("out of memory");
		return PPI_EXIT_FAILED;
	}
	optind = 1;
	while ((option = getopt_long(argc, argv, "+i:s:n:e:x:q", long_options,
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
	return complete(options, argc, argv);
}

void ppi_report_free_options(struct ppi_report_options *options)
{
	free(options->inputs);
	free(options->full_debug_folder);
}
