/* SPDX-License-Identifier: MIT */
/* The command line of portprof record. */
#include "config.h"

#include "tools/record/record.h"

#include "tools/options.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"usage: portprof record [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	"       portprof record -p PID | -t TID | -a [OPTION...] [[--] COMMAND...]\n"
	"\n"
	"  -e, --event EVENT    measure these events: a,b or repeated (CPU time)\n"
	"  -F, --freq HZ        take HZ samples a second of CPU time (100), or\n"
	"  -c, --count N        take one sample every N ns or events\n"
	"  -g                   record call chains; --call-graph fp, dwarf, auto or none\n"
	"  -p, --pid PID        measure running processes: PID or PID,PID,...\n"
	"      --name NAME      measure all processes of this name or program path\n"
	"      --unit UNIT      measure a systemd unit; --container ID: a container\n"
	"  -t, --tid TID        measure a thread; -G, --cgroup NAME: a cgroup\n"
	"  -a, --all-cpus       measure the whole system; -C, --cpu 0,2-3: these CPUs\n"
	"  -D, --delay MS       start after MS milliseconds; --duration S: stop then\n"
	"      --no-inherit     leave out child processes; --no-estimates: do not sample\n"
	"                       CPUs; --no-names, --no-arguments: leave them out of FILE\n"
	"  -b, --backend NAME   use @BACKENDS (the best)\n"
	"  -m, --ring BYTES     size each kernel buffer: 64K, or a number of pages\n"
	"  -o, --output FILE    write there (" PPI_DEFAULT_OUTPUT "), keep the old as FILE.old\n"
	"      --config FILE    read settings from this file; --set NAME: and its [NAME]\n"
	"      --timeline TIME  keep the times of samples, rounded to TIME, such as 1s\n"
	"      --color WHEN     color messages: auto, always or never (auto)\n"
	"  -q, --quiet          print no summary; -v, --verbose: print how it measured\n"
	"The exit status is the command's, 128 + N if signal N killed it, 125 if\n"
	"portprof failed, 126 or 127 if the command cannot be run.\n";

/* As deep as the kernel goes (kernel.perf_event_max_stack). */
static const char chain_depth[] = "127";

enum {
	OPTION_CALL_GRAPH = 256,
	OPTION_NAME,
	OPTION_UNIT,
	OPTION_CONTAINER,
	OPTION_DURATION,
	OPTION_TIMELINE,
	OPTION_NO_INHERIT,
	OPTION_NO_ESTIMATES,
	OPTION_NO_NAMES,
	OPTION_NO_ARGUMENTS,
	OPTION_CONFIG,
	OPTION_SET,
	OPTION_COLOR
};

static const struct option long_options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "freq", required_argument, NULL, 'F' },
	{ "frequency", required_argument, NULL, 'F' },
	{ "count", required_argument, NULL, 'c' },
	{ "call-graph", required_argument, NULL, OPTION_CALL_GRAPH },
	{ "pid", required_argument, NULL, 'p' },
	{ "name", required_argument, NULL, OPTION_NAME },
	{ "unit", required_argument, NULL, OPTION_UNIT },
	{ "container", required_argument, NULL, OPTION_CONTAINER },
	{ "tid", required_argument, NULL, 't' },
	{ "all-cpus", no_argument, NULL, 'a' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "cgroup", required_argument, NULL, 'G' },
	{ "delay", required_argument, NULL, 'D' },
	{ "duration", required_argument, NULL, OPTION_DURATION },
	{ "timeline", required_argument, NULL, OPTION_TIMELINE },
	{ "no-inherit", no_argument, NULL, OPTION_NO_INHERIT },
	{ "no-estimates", no_argument, NULL, OPTION_NO_ESTIMATES },
	{ "no-names", no_argument, NULL, OPTION_NO_NAMES },
	{ "no-arguments", no_argument, NULL, OPTION_NO_ARGUMENTS },
	{ "backend", required_argument, NULL, 'b' },
	{ "ring", required_argument, NULL, 'm' },
	{ "output", required_argument, NULL, 'o' },
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "set", required_argument, NULL, OPTION_SET },
	{ "color", required_argument, NULL, OPTION_COLOR },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const struct ppi_line line = {
	.verb = "record",
	.help = help,
	.letters = "+e:F:c:gp:t:aC:G:D:b:m:o:qvh",
	.options = long_options,
	.wrong = PPI_EXIT_RECORD,
};

static int add_event(struct ppi_record_options *options, const char *text)
{
	size_t room = sizeof(options->events) / sizeof(options->events[0]);

	if (options->event_count == room)
		return ppi_say_usage(line.wrong, line.verb,
		                     "-e can be given %zu times", room);
	options->events[options->event_count++] = text;
	return PPI_EXIT_OK;
}

static int read_call_graph(struct ppi_record_options *options,
                           const char *value)
{
	bool has_bytes = strncmp(value, "dwarf,", 6) == 0;

	options->chains = chain_depth;
	options->stack = has_bytes ? value + 6 : options->stack;
	if (has_bytes || strcmp(value, "dwarf") == 0)
		options->unwind = "dwarf";
	else if (strcmp(value, "fp") == 0 || strcmp(value, "auto") == 0)
		options->unwind = value;
	else if (strcmp(value, "none") == 0)
		options->chains = "off";
	else
		return ppi_say_usage(line.wrong, line.verb,
		                     "--call-graph %s: use fp (frame "
		                     "pointers), dwarf or dwarf,BYTES (frame "
		                     "tables), auto or none", value);
	return PPI_EXIT_OK;
}

static int choose_scope(struct ppi_record_options *options,
                        enum ppi_scope scope)
{
	if (options->scope != PPI_SCOPE_COMMAND && options->scope != scope)
		return ppi_say_usage(line.wrong, line.verb,
		                     "one target at a time: -p, --name, "
		                     "--unit, --container, -t and -a (-C, -G) "
		                     "exclude each other");
	options->scope = scope;
	return PPI_EXIT_OK;
}

static int refuse_second(const char *option, const char *value)
{
	return ppi_say_usage(line.wrong, line.verb,
	                     "one target at a time: a second one was given by "
	                     "%s %s", option, value);
}

static int read_thread(struct ppi_record_options *options, const char *value)
{
	uint64_t id;

	if (options->thread)
		return refuse_second("-t", value);
	if (!ppi_read_number(value, 1, INT32_MAX, &id))
		return ppi_line_refuse(&line, "-t", value,
		                       "the number of a thread");
	options->thread = (int64_t)id;
	return choose_scope(options, PPI_SCOPE_THREAD);
}

/* -p, --name and the like. */
static int read_target(struct ppi_record_options *options, int option,
                       const char *value)
{
	struct ppi_targets *targets = &options->targets;

	if (ppi_targets_are_given(targets))
		return refuse_second(option == 'p'           ? "-p"
		                     : option == OPTION_NAME ? "--name"
		                     : option == OPTION_UNIT ? "--unit"
		                                             : "--container",
		                     value);
	if (option == 'p' && !ppi_targets_is_list(value))
		return ppi_line_refuse(&line, "-p", value,
		                       "the number of a process");
	*(option == 'p'           ? &targets->pids
	  : option == OPTION_NAME ? &targets->name
	  : option == OPTION_UNIT ? &targets->unit
	                          : &targets->container) = value;
	return choose_scope(options, PPI_SCOPE_PROCESS);
}

/* A plain number is one of pages, as with perf; else the library reads it,
 * but for the suffixes that only perf has. */
static int read_ring(struct ppi_record_options *options, const char *value)
{
	size_t digits = strspn(value, "0123456789");
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), number;
	const char *suffix = value + digits;
	char room[24];

	options->ring = value;
	if (digits == 0 || digits >= sizeof(room))
		return PPI_EXIT_OK;
	memcpy(room, value, digits);
	room[digits] = '\0';
	if (!ppi_read_number(room, 0, UINT32_MAX, &number))
		return PPI_EXIT_OK;
	if (strcmp(suffix, "") == 0)
		number *= page;
	else if (strcmp(suffix, "G") == 0)
		number <<= 30;
	else if (strcmp(suffix, "B") != 0)
		return PPI_EXIT_OK;
	snprintf(options->ring_bytes, sizeof(options->ring_bytes),
	         "%" PRIu64, number);
	options->ring = options->ring_bytes;
	return PPI_EXIT_OK;
}

/* A plain number is one of `unit`; all else the library reads. */
static const char *with_unit(const char *value, const char *unit,
                             char room[32])
{
	bool is_plain = value[0] && !value[strspn(value, "0123456789.")];

	if (!is_plain || snprintf(room, 32, "%s%s", value, unit) >= 32)
		return value;
	return room;
}

/* Options whose value is kept as it is; NULL for others. */
static const char **place_of(struct ppi_record_options *options, int option)
{
	switch (option) {
	case 'F':
		return &options->frequency;
	case 'c':
		return &options->period;
	case 'b':
		return &options->backend;
	case 'o':
		return &options->output;
	case OPTION_CONFIG:
		return &options->config_path;
	case OPTION_SET:
		return &options->set_name;
	default:
		return NULL;
	}
}

static int read_option(struct ppi_record_options *options, int option,
                       const char *value)
{
	const char **place = place_of(options, option);

	if (place) {
		*place = value;
		return PPI_EXIT_OK;
	}
	switch (option) {
	case 'e':
		return add_event(options, value);
	case 'g':
		options->chains = chain_depth;
		return PPI_EXIT_OK;
	case OPTION_CALL_GRAPH:
		return read_call_graph(options, value);
	case 'p':
	case OPTION_NAME:
	case OPTION_UNIT:
	case OPTION_CONTAINER:
		return read_target(options, option, value);
	case 't':
		return read_thread(options, value);
	case 'G':
		options->cgroup = value;
		return choose_scope(options, PPI_SCOPE_SYSTEM);
	case 'C':
		options->cpus = value;
		return choose_scope(options, PPI_SCOPE_SYSTEM);
	case 'a':
		return choose_scope(options, PPI_SCOPE_SYSTEM);
	case OPTION_NO_INHERIT:
		options->children = "no";
		return PPI_EXIT_OK;
	case OPTION_NO_ESTIMATES:
		options->children = "exact";
		return PPI_EXIT_OK;
	case OPTION_NO_ARGUMENTS:
		options->hides_arguments = true;
		return PPI_EXIT_OK;
	case OPTION_NO_NAMES:
		options->is_nameless = true;
		return PPI_EXIT_OK;
	case 'm':
		return read_ring(options, value);
	case 'D':
		options->delay = with_unit(value, "ms", options->delay_text);
		return PPI_EXIT_OK;
	case OPTION_DURATION:
		options->duration = with_unit(value, "s",
		                              options->duration_text);
		return PPI_EXIT_OK;
	case OPTION_TIMELINE:
		options->timeline = with_unit(value, "s",
		                              options->timeline_text);
		return PPI_EXIT_OK;
	case OPTION_COLOR:
		return ppi_line_color(&line, value);
	case 'q':
		options->is_quiet = true;
		return PPI_EXIT_OK;
	case 'v':
	default:
		options->is_verbose = true;
		return PPI_EXIT_OK;
	}
}

/* What cannot go together. */
static int check_options(const struct ppi_record_options *options)
{
	if (options->frequency && options->period)
		return ppi_say_usage(line.wrong, line.verb,
		                     "-F and -c exclude each other: a rate or "
		                     "a period");
	if (options->is_quiet && options->is_verbose)
		return ppi_say_usage(line.wrong, line.verb,
		                     "-q and -v exclude each other");
	if (!options->command && options->scope == PPI_SCOPE_COMMAND)
		return ppi_say_usage(line.wrong, line.verb,
		                     "which command? portprof record -- "
		                     "COMMAND [ARGUMENT...]; or whom: -p PID");
	return -1;
}

int ppi_record_read_options(int argc, char **argv,
                            struct ppi_record_options *options)
{
	int option;

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
	/* the threads of a thread are its process's: nothing to follow */
	if (options->scope == PPI_SCOPE_THREAD)
		options->children = "no";
	return check_options(options);
}
