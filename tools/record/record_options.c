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

/* As deep as the kernel goes (kernel.perf_event_max_stack). */
#define PPI_CHAIN_DEPTH "127"

static int take_call_graph(const struct ppi_given *given, void *place)
{
	struct ppi_record_options *options = place;
	const char *value = given->value;
	bool has_bytes = strncmp(value, "dwarf,", 6) == 0;

	options->chains = PPI_CHAIN_DEPTH;
	options->stack = has_bytes ? value + 6 : options->stack;
	if (has_bytes || strcmp(value, "dwarf") == 0)
		options->unwind = "dwarf";
	else if (strcmp(value, "fp") == 0 || strcmp(value, "auto") == 0)
		options->unwind = value;
	else if (strcmp(value, "none") == 0)
		options->chains = "off";
	else
		return ppi_given_refuse(given,
		                        "one of auto, fp, dwarf, dwarf,BYTES, "
		                        "none");
	return PPI_EXIT_OK;
}

/* A plain number is one of pages, as with perf; else the library reads it,
 * but for the suffixes that only perf has. */
static int take_ring(const struct ppi_given *given, void *place)
{
	struct ppi_own_text *ring = place;
	const char *value = given->value;
	size_t digits = strspn(value, "0123456789");
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), number;
	const char *suffix = value + digits;

	ring->text = value;
	if (digits == 0 || digits >= sizeof(ring->room))
		return PPI_EXIT_OK;
	memcpy(ring->room, value, digits);
	ring->room[digits] = '\0';
	if (!ppi_read_number(ring->room, 0, UINT32_MAX, &number))
		return PPI_EXIT_OK;
	if (strcmp(suffix, "") == 0)
		number *= page;
	else if (strcmp(suffix, "G") == 0)
		number <<= 30;
	else if (strcmp(suffix, "B") != 0)
		return PPI_EXIT_OK;
	snprintf(ring->room, sizeof(ring->room), "%" PRIu64, number);
	ring->text = ring->room;
	return PPI_EXIT_OK;
}

/* A plain number is one of the row's unit; all else the library reads. */
static int take_time(const struct ppi_given *given, void *place)
{
	struct ppi_own_text *time = place;
	const char *value = given->value;
	bool is_plain = value[0] && !value[strspn(value, "0123456789.")];
	int length = snprintf(time->room, sizeof(time->room), "%s%s", value,
	                      given->option->what);

	time->text = is_plain && length < (int)sizeof(time->room) ? time->room
	                                                          : value;
	return PPI_EXIT_OK;
}

#define AT(member) offsetof(struct ppi_record_options, member)

static const struct ppi_option table[] = {
	{ .help = "What to measure" },
	{ 'e', "event", "EVENT",
	  "sample this event; a,b or repeated: several (CPU time)",
	  .take = ppi_take_texts, .place = AT(events) },
	PPI_TARGET_OPTIONS(AT(targets)),
	{ 0, "no-inherit", NULL, "leave out child processes",
	  .take = ppi_take_what, .place = AT(children), .what = "no" },
	{ 'D', "delay", "MS", "start after MS milliseconds",
	  .take = take_time, .place = AT(delay), .what = "ms" },
	{ 0, "duration", "S", "stop after S seconds",
	  .take = take_time, .place = AT(duration), .what = "s" },
	{ .help = "How to measure" },
	{ 'F', "freq", "HZ", "take HZ samples a second of CPU time (about 100)",
	  .take = ppi_take_text, .place = AT(frequency) },
	{ .name = "frequency", .value = "HZ" },
	{ 'c', "count", "N", "take one sample every N nanoseconds or events",
	  .take = ppi_take_text, .place = AT(period) },
	{ 'g', NULL, NULL, "record call chains, as --call-graph auto",
	  .take = ppi_take_what, .place = AT(chains), .what = PPI_CHAIN_DEPTH },
	{ 0, "call-graph", "HOW",
	  "record call chains by frame tables where that works (auto), by "
	  "them alone (dwarf or dwarf,BYTES), by frame pointers (fp), or "
	  "not at all (none)",
	  .take = take_call_graph },
	{ 'b', "backend", "NAME", "use @BACKENDS (the best)",
	  .take = ppi_take_text, .place = AT(backend) },
	{ 'm', "ring", "BYTES",
	  "size of each kernel buffer: 64K, or a number of pages",
	  .take = take_ring, .place = AT(ring) },
	{ 0, "no-estimates", NULL,
	  "do not sample CPUs to estimate what short processes used",
	  .take = ppi_take_what, .place = AT(children), .what = "exact" },
	{ 0, "config", "FILE", "read settings from this file",
	  .take = ppi_take_text, .place = AT(config_path) },
	{ 0, "set", "NAME", "also read the settings of its section [NAME]",
	  .take = ppi_take_text, .place = AT(set_name) },
	{ .help = "What to write" },
	{ 'o', "output", "FILE",
	  "write there (" PPI_DEFAULT_OUTPUT "); an old FILE becomes FILE.old",
	  .take = ppi_take_text, .place = AT(output) },
	{ 0, "timeline", "TIME",
	  "keep the times of samples, rounded to TIME, such as 1s",
	  .take = take_time, .place = AT(timeline), .what = "s" },
	{ 0, "labels", "FIELDS",
	  "label samples by data-address, latency, data-source, branches, ...",
	  .take = ppi_take_text, .place = AT(labels) },
	PPI_DEBUGINFOD_OPTION,
	{ 0, "no-names", NULL, "leave names of functions out of FILE",
	  .take = ppi_take_flag, .place = AT(is_nameless) },
	{ 0, "no-arguments", NULL, "leave the command's arguments out of FILE",
	  .take = ppi_take_flag, .place = AT(hides_arguments) },
	PPI_HIDE_OPTIONS(AT(hidden)),
	PPI_COLOR_OPTION,
	{ 'q', "quiet", NULL, "print no summary",
	  .take = ppi_take_flag, .place = AT(is_quiet) },
	{ 'v', "verbose", NULL, "print how it was measured",
	  .take = ppi_take_flag, .place = AT(is_verbose) },
};

struct ppi_line ppi_record_line(void)
{
	return (struct ppi_line){
		.verb = "record",
		.usage = "[OPTION...] [--] COMMAND [ARGUMENT...]\n"
		         "-p PID | -t TID | -a [OPTION...] [[--] COMMAND...]",
		.notes = "The exit status is the command's, 128 + N if signal "
		         "N killed it, 125 if portprof failed, 126 or 127 if "
		         "the command cannot be run.",
		.options = table,
		.option_count = sizeof(table) / sizeof(table[0]),
		.ends_at_word = true,
		.wrong = PPI_EXIT_RECORD,
	};
}

/* What cannot go together. */
static int check_options(const struct ppi_line *line,
                         const struct ppi_record_options *options)
{
	if (options->frequency && options->period)
		return ppi_line_wrong(line, "-F and -c exclude each other: a "
		                            "rate or a period");
	if (options->is_quiet && options->is_verbose)
		return ppi_line_wrong(line, "-q and -v exclude each other");
	if (!options->command && options->targets.scope == PPI_SCOPE_COMMAND)
		return ppi_line_wrong(line,
		                      "no command given; try portprof record "
		                      "-- COMMAND, or -p PID");
	return PPI_LINE_READ;
}

int ppi_record_read_options(const struct ppi_line *line, int argc, char **argv,
                            struct ppi_record_options *options)
{
	int status = ppi_line_read(line, argc, argv, options);

	if (status == PPI_LINE_READ)
		status = ppi_targets_choose(&options->targets, line);
	if (status != PPI_LINE_READ)
		return status;
	if (optind < argc)
		options->command = argv + optind;
	else if (options->takes_system &&
	         options->targets.scope == PPI_SCOPE_COMMAND)
		options->targets.scope = PPI_SCOPE_SYSTEM;
	/* the threads of a thread are its process's: nothing to follow */
	if (options->targets.scope == PPI_SCOPE_THREAD)
		options->children = "no";
	return check_options(line, options);
}
