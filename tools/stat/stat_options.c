/* SPDX-License-Identifier: MIT */
/* The command line of portprof stat. */
#include "config.h"

#include "tools/stat/stat.h"

#include "tools/options.h"
#include "tools/tools.h"

#include <string.h>

enum {
	INTERVAL_LEAST = 10,              /* ms: below, printing is measured */
	DAYS_MS = 10 * 86400 * 1000       /* ten days */
};

#define AT(member) offsetof(struct ppi_stat_options, member)

static const struct ppi_option table[] = {
	{ .help = "What to count" },
	{ 'e', "event", "EVENT",
	  "count this event; a,b or repeated: several; {a,b}: a group, "
	  "counted at the same time",
	  .take = ppi_take_texts, .place = AT(events) },
	PPI_TARGET_OPTIONS(AT(targets)),
	{ 0, "no-inherit", NULL, "leave out child processes",
	  .take = ppi_take_flag, .place = AT(has_no_children) },
	{ 'D', "delay", "MS", "start after MS milliseconds",
	  .take = ppi_take_number, .place = AT(delay_ms), .least = 0,
	  .most = DAYS_MS, .what = "a number of milliseconds" },
	{ 0, "duration", "S", "stop after S seconds",
	  .take = ppi_take_seconds, .place = AT(duration_ms), .most = DAYS_MS },
	{ .help = "How to count" },
	{ 'r', "repeat", "N", "run N times; print mean and standard error",
	  .take = ppi_take_number, .place = AT(runs), .least = 1,
	  .most = 1000000, .what = "a number of runs, from 1" },
	{ 'b', "backend", "NAME", "use this backend (the best that counts)",
	  .take = ppi_take_text, .place = AT(backend) },
	{ 0, "config", "FILE", "count the events of this configuration file",
	  .take = ppi_take_text, .place = AT(config_path) },
	{ 0, "set", "NAME", "also count the events of its section [NAME]",
	  .take = ppi_take_text, .place = AT(set_name) },
	{ .help = "What to print" },
	{ 'I', "interval-print", "MS", "print counts every MS milliseconds",
	  .take = ppi_take_number, .place = AT(interval_ms),
	  .least = INTERVAL_LEAST, .most = DAYS_MS,
	  .what = "a number of milliseconds, from 10" },
	PPI_SEPARATOR_OPTION(AT(separator),
	                     "print fields as perf stat -x does"),
	{ 'j', "json", NULL, "print JSON",
	  .take = ppi_take_flag, .place = AT(is_json) },
	{ .name = "json-output" },
	{ 'o', "output", "FILE",
	  "write there, - for standard output (standard error, as standard "
	  "output is the command's)",
	  .take = ppi_take_text, .place = AT(output) },
	PPI_COLOR_OPTION,
	{ 'q', "quiet", NULL, "print only the table",
	  .take = ppi_take_flag, .place = AT(is_quiet) },
	{ 'v', "verbose", NULL, "print more of each event",
	  .take = ppi_take_flag, .place = AT(is_verbose) },
};

static const struct ppi_line line = {
	.verb = "stat",
	.usage = "[OPTION...] [--] COMMAND [ARGUMENT...]\n"
	         "-p PID | -t TID | -a [OPTION...] [[--] COMMAND...]",
	.notes = "The exit status is the command's, 128 + N if signal N killed "
	         "it, 125 if portprof failed, 126 or 127 if the command cannot "
	         "be run.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.ends_at_word = true,
	.wrong = PPI_EXIT_RECORD,
};

bool ppi_stat_is_attached(const struct ppi_stat_options *options)
{
	return options->targets.scope != PPI_SCOPE_COMMAND;
}

/* What does not go together; NULL if everything does. */
static const char *contradiction(const struct ppi_stat_options *options)
{
	bool is_attached = ppi_stat_is_attached(options);

	if (!is_attached && !options->command)
		return "no command given; try portprof stat -- COMMAND, or "
		       "-p PID";
	if (options->duration_ms && !is_attached)
		return "--duration needs -p, -t, -a or the like: a command is "
		       "counted until it ends";
	if (options->runs > 1 && !options->command)
		return "-r repeats a command, and no command was given";
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
	int status;

	*options = (struct ppi_stat_options){ .runs = 1 };
	status = ppi_line_read(&line, argc, argv, options);
	if (status == PPI_LINE_READ)
		status = ppi_targets_choose(&options->targets, &line);
	if (status != PPI_LINE_READ)
		return status;
	if (optind < argc)
		options->command = argv + optind;
	words = contradiction(options);
	return words ? ppi_line_wrong(&line, "%s", words) : PPI_LINE_READ;
}
