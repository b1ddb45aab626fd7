/* SPDX-License-Identifier: MIT */
/* The command line of portprof stat. */
#include "config.h"

#include "tools/stat/stat.h"

#include "tools/options.h"
#include "tools/tools.h"

#include <string.h>

static const char help[] =
	"usage: portprof stat [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	"       portprof stat [OPTION...] -p PID | -t TID | -a | -C CPUS\n"
	"\n"
	"  -e, --event EVENTS  count these: a comma list, or repeated; {A,B} is a\n"
	"                      group, counted at the same time\n"
	"  -r, --repeat N      run N times; print mean and standard error\n"
	"  -I, --interval-print MS  print counts every MS milliseconds\n"
	"  -D, --delay MS      start counting after MS milliseconds\n"
	"  -p, --pid PID       count in processes (PID,PID,...) or a thread until they\n"
	"  -t, --tid TID         or COMMAND end, --duration SECONDS or Ctrl-C\n"
	"      --name NAME     count in all processes of this name or program path;\n"
	"                      --unit UNIT: in a systemd unit; --container ID\n"
	"  -a, --all-cpus; -C, --cpu 0,2-3   count on all CPUs, or on these\n"
	"  -G, --cgroup NAME   count what runs in this cgroup, on all CPUs or with -C\n"
	"      --no-inherit    leave out child processes\n"
	"  -b, --backend NAME  use this backend (the best that counts)\n"
	"      --config FILE, --set NAME  count the events of a configuration file\n"
	"  -x, --field-separator SEP      print fields as perf stat -x does\n"
	"  -j, --json          print JSON\n"
	"  -o, --output FILE   write there, - for standard output (standard error,\n"
	"                      since standard output is the command's)\n"
	"      --color WHEN    color the output: auto, always or never (auto)\n"
	"  -q, --quiet; -v, --verbose     print the table alone; or more of each event\n"
	"The exit status is the command's; 125 to 127 as for portprof record.\n";

enum {
	OPTION_NO_INHERIT = 256,
	OPTION_DURATION,
	OPTION_CONFIG,
	OPTION_SET,
	OPTION_COLOR,
	OPTION_NAME,
	OPTION_UNIT,
	OPTION_CONTAINER,
	INTERVAL_LEAST = 10, /* ms: below, printing is what is measured */
	DAYS_MS = 100 * 86400 * 1000u / 10 /* ten days, in ms */
};

static const struct option long_options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "repeat", required_argument, NULL, 'r' },
	{ "interval-print", required_argument, NULL, 'I' },
	{ "delay", required_argument, NULL, 'D' },
	{ "pid", required_argument, NULL, 'p' },
	{ "name", required_argument, NULL, OPTION_NAME },
	{ "unit", required_argument, NULL, OPTION_UNIT },
	{ "container", required_argument, NULL, OPTION_CONTAINER },
	{ "tid", required_argument, NULL, 't' },
	{ "all-cpus", no_argument, NULL, 'a' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "cgroup", required_argument, NULL, 'G' },
	{ "duration", required_argument, NULL, OPTION_DURATION },
	{ "no-inherit", no_argument, NULL, OPTION_NO_INHERIT },
	{ "backend", required_argument, NULL, 'b' },
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "set", required_argument, NULL, OPTION_SET },
	{ "field-separator", required_argument, NULL, 'x' },
	{ "json", no_argument, NULL, 'j' },
	{ "json-output", no_argument, NULL, 'j' },
	{ "output", required_argument, NULL, 'o' },
	{ "color", required_argument, NULL, OPTION_COLOR },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const struct ppi_line line = {
	.verb = "stat",
	.help = help,
	.letters = "+e:r:I:D:p:t:aC:G:b:x:jo:qvh",
	.options = long_options,
	.wrong = PPI_EXIT_RECORD,
};

static int add_event(struct ppi_stat_options *options, const char *text)
{
	size_t room = sizeof(options->events) / sizeof(options->events[0]);

	if (options->event_count == room)
		return ppi_say_usage(line.wrong, line.verb,
		                     "-e can be given %zu times", room);
	options->events[options->event_count++] = text;
	return PPI_EXIT_OK;
}

/* Options that have a number. */
static int read_numbers(struct ppi_stat_options *options, int option,
                        const char *value)
{
	uint64_t number = 0;
	int status;

	switch (option) {
	case 'r':
		status = ppi_line_number(&line, "-r", value, 1, 1000000,
		                     "a number of runs, from 1", &number);
		options->runs = (unsigned)number;
		return status;
	case 'I':
		return ppi_line_number(&line, "-I", value, INTERVAL_LEAST, DAYS_MS,
		                   "a number of milliseconds, from 10",
		                   &options->interval_ms);
	case 'D':
		return ppi_line_number(&line, "-D", value, 0, DAYS_MS,
		                   "a number of milliseconds",
		                   &options->delay_ms);
	case OPTION_DURATION:
		return ppi_line_seconds(&line, "--duration", value, DAYS_MS,
		                        &options->duration_ms);
	default:
		status = ppi_line_number(&line, "-t", value, 1, INT32_MAX,
		                     "the number of a thread", &number);
		options->tid = (int64_t)number;
		return status;
	}
}

/* -p, --name and the like. */
static int read_target(struct ppi_stat_options *options, int option,
                       const char *value)
{
	struct ppi_targets *targets = &options->targets;

	if (ppi_targets_are_given(targets))
		return ppi_say_usage(line.wrong, line.verb,
		                     "one target at a time: -p, --name, --unit "
		                     "and --container exclude each other");
	if (option == 'p' && !ppi_targets_is_list(value))
		return ppi_line_refuse(&line, "-p", value,
		                       "the number of a process");
	*(option == 'p'           ? &targets->pids
	  : option == OPTION_NAME ? &targets->name
	  : option == OPTION_UNIT ? &targets->unit
	                          : &targets->container) = value;
	return PPI_EXIT_OK;
}

static int read_option(struct ppi_stat_options *options, int option,
                       const char *value)
{
	switch (option) {
	case 'e':
		return add_event(options, value);
	case 'r':
	case 'I':
	case 'D':
	case OPTION_DURATION:
	case 't':
		return read_numbers(options, option, value);
	case 'p':
	case OPTION_NAME:
	case OPTION_UNIT:
	case OPTION_CONTAINER:
		return read_target(options, option, value);
	case 'G':
	case 'C':
		*(option == 'G' ? &options->cgroup : &options->cpus) = value;
		/* fall through */
	case 'a':
		options->is_system = true;
		break;
	case OPTION_NO_INHERIT:
		options->follows_children = false;
		break;
	case 'b':
		options->backend = value;
		break;
	case OPTION_CONFIG:
		options->config_path = value;
		break;
	case OPTION_SET:
		options->set_name = value;
		break;
	case 'x':
		return ppi_line_separator(&line, value, &options->separator);
	case 'j':
		options->is_json = true;
		break;
	case 'o':
		options->output = value;
		break;
	case OPTION_COLOR:
		return ppi_line_color(&line, value);
	case 'q':
		options->is_quiet = true;
		break;
	case 'v':
	default:
		options->is_verbose = true;
		break;
	}
	return PPI_EXIT_OK;
}

bool ppi_stat_is_attached(const struct ppi_stat_options *options)
{
	return ppi_targets_are_given(&options->targets) || options->tid ||
	       options->is_system;
}

/* What does not go together; NULL if everything does. */
static const char *contradiction(const struct ppi_stat_options *options)
{
	bool is_attached = ppi_stat_is_attached(options);

	if (ppi_targets_are_given(&options->targets) + (options->tid != 0) +
	    options->is_system > 1)
		return "-p and its like, -t and -a, -C or -G exclude each other";
	if (!is_attached && !options->command)
		return "which command? portprof stat -- COMMAND [ARGUMENT...]";
	if (options->duration_ms && !is_attached)
		return "--duration goes with -p, -t, -a and their like: a command is counted "
		       "until it ends";
	if (options->runs > 1 && !options->command)
		return "-r runs a command several times, and there is none";
	if (options->runs > 1 && options->interval_ms)
		return "-r and -I exclude each other: means of runs, or the "
		       "course of one";
	if (options->separator && options->is_json)
		return "-x and --json exclude each other";
	return NULL;
}

int ppi_stat_read_options(int argc, char **argv,
                          struct ppi_stat_options *options)
{
	const char *words;
	int option;

	memset(options, 0, sizeof(*options));
	options->runs = 1;
	options->follows_children = true;
	ppi_line_begin();
	while ((option = ppi_line_next(&line, argc, argv)) >= 0) {
		int status = read_option(options, option, optarg);

		if (status != PPI_EXIT_OK)
			return status;
	}
	if (option != PPI_LINE_END)
		return ppi_line_status(&line, option);
	if (optind < argc)
		options->command = argv + optind;
	words = contradiction(options);
	return words ? ppi_say_usage(line.wrong, line.verb, "%s", words)
	             : -1;
}
