/* SPDX-License-Identifier: MIT */
/* What the command line of portprof report asks for. */
#include "config.h"

#include "tools/report/report_options.h"

#include "tools/memory.h"
#include "tools/options.h"
#include "tools/tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ROWS = 30 };

static const char help[] =
	"usage: portprof report [OPTION...] [FILE...]\n"
	"\n"
	"  -i, --input FILE    read these files and add them up ("
	PPI_DEFAULT_OUTPUT ")\n"
	"      --program FILE  the program that wrote a gmon.out (a.out)\n"
	"  -s, --sort KEYS     group by function, module, line, address, "
	"thread,\n"
	"                      process or comm, or by several "
	"(function)\n"
	"  -n, --rows N        print at most N rows; 0 = all (30)\n"
	"      --children      sort by weight with callees\n"
	"      --callers FUNC  print the callers of FUNC\n"
	"      --callees FUNC  print what FUNC calls\n"
	"      --inline        print inlined functions on their own\n"
	"  -e, --event NAME    report this event (all)\n"
	"      --thread LIST   keep samples of these threads: names or numbers\n"
	"      --module LIST   keep samples in these binaries\n"
	"      --focus FUNC    keep samples in FUNC and what it calls\n"
	"      --time FROM,TO  keep these seconds (record --timeline)\n"
	"  -q, --quiet         print the rows alone\n"
	"  -j, --json; -x, --field-separator SEP   print JSON; fields for "
	"spreadsheets\n"
	"      --html FILE     write a page for a browser\n"
	"      --debug-dir DIR look for separate debug files here too\n"
	"      --color WHEN    color the output: auto, always or never "
	"(auto)\n"
	PPI_MEMORY_HELP
	"\n"
	"Reads any pprof file and gmon.out. (unattributed) is weight without a "
	"sample.\n";

enum {
	OPTION_CHILDREN = 256,
	OPTION_PROGRAM,
	OPTION_CALLERS,
	OPTION_CALLEES,
	OPTION_INLINE,
	OPTION_THREAD,
	OPTION_MODULE,
	OPTION_FOCUS,
	OPTION_TIME,
	OPTION_DEBUG_DIR,
	OPTION_COLOR,
	OPTION_HTML,
	OPTION_MAX_MEMORY
};

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "program", required_argument, NULL, OPTION_PROGRAM },
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
	{ "json", no_argument, NULL, 'j' },
	{ "html", required_argument, NULL, OPTION_HTML },
	{ "debug-dir", required_argument, NULL, OPTION_DEBUG_DIR },
	{ "color", required_argument, NULL, OPTION_COLOR },
	{ "max-memory", required_argument, NULL, OPTION_MAX_MEMORY },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const struct ppi_line line = {
	.verb = "report",
	.help = help,
	.letters = "i:s:n:e:x:jqh",
	.options = long_options,
	.wrong = PPI_EXIT_USAGE,
};

static int read_sort(struct ppi_report_options *options, const char *text)
{
	const char *unknown;

	options->keys = ppi_rows_keys(text, &unknown);
	options->sort = text;
	if (options->keys)
		return PPI_EXIT_OK;
	return ppi_say_usage(line.wrong, line.verb,
	                     "--sort: '%.*s' is not one of function, module, "
	                     "line, address, thread, process, comm",
	                     (int)strcspn(unknown, ","), unknown);
}

static int read_rows(struct ppi_report_options *options, const char *text)
{
	uint64_t number = 0;
	int status = ppi_line_number(&line, "-n", text, 0, SIZE_MAX,
	                             "a number of rows", &number);

	options->rows = (size_t)number;
	return status;
}

static int read_times(struct ppi_report_options *options, const char *text)
{
	if (ppi_filter_read_times(text, &options->filter))
		return PPI_EXIT_OK;
	return ppi_say_usage(line.wrong, line.verb,
	                     "--time %s: give it as FROM,TO in seconds, as in "
	                     "2,5; one of the two may be missing",
	                     text);
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
	case OPTION_PROGRAM:
		return &options->program;
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
		options->form = PPI_FORM_CSV;
		return ppi_line_separator(&line, value, &options->separator);
	case OPTION_TIME:
		return read_times(options, value);
	case OPTION_COLOR:
		return ppi_line_color(&line, value);
	case OPTION_MAX_MEMORY:
		return ppi_memory_option(&line, value, &options->memory_max);
	case 'j':
		options->form = PPI_FORM_JSON;
		return PPI_EXIT_OK;
	case OPTION_HTML:
		options->form = PPI_FORM_HTML;
		options->page = value;
		return PPI_EXIT_OK;
	case OPTION_CHILDREN:
		options->is_by_total = true;
		return PPI_EXIT_OK;
	case OPTION_INLINE:
		options->has_inlines = true;
		return PPI_EXIT_OK;
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

	for (; optind < argc; optind++)
		options->inputs[options->input_count++] = argv[optind];
	if (options->callers || options->callees)
		options->keys |= PPI_BY_FUNCTION | PPI_BY_MODULE;
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
	ppi_line_begin();
	while ((option = ppi_line_next(&line, argc, argv)) >= 0) {
		int status = read_option(options, option, optarg);

		if (status != PPI_EXIT_OK)
			return status;
	}
	if (option != PPI_LINE_END)
		return ppi_line_status(&line, option);
	return complete(options, argc, argv);
}

void ppi_report_free_options(struct ppi_report_options *options)
{
	free(options->inputs);
	free(options->full_debug_folder);
}
