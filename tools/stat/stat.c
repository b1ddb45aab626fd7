/* SPDX-License-Identifier: MIT */
/*
 * portprof stat: runs a command, or attaches, and counts what happens there.
 * Here are its command line, its series of runs, and what they came to.
 *
 *   stat_events.c   the events and groups: chosen, opened and read
 *   stat_run.c      one run, from the start to the end of what is counted
 *   stat_numbers.c  differences, means and their errors, metrics
 *   stat_places.c   counts of each CPU, core or thread
 *   stat_compare.c  beside those of an earlier run
 *   stat_text.c     prints a table, or fields
 *   stat_json.c     prints JSON
 */
#include "config.h"

#include "tools/stat/stat.h"

#include "base/clock_ns.h"
#include "tools/options.h"
#include "tools/tools.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- the command line ---- */

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
	{ 0, "timeout", "MS",
	  "stop after MS milliseconds, and end the command",
	  .take = ppi_take_number, .place = AT(timeout_ms), .least = 10,
	  .most = DAYS_MS, .what = "a number of milliseconds, from 10" },
	{ 'd', "detailed", NULL, "also count caches, TLBs and kinds of faults",
	  .take = ppi_take_flag, .place = AT(has_details) },
	{ 'M', "metrics", "LIST",
	  "count these presets, such as IPC; portprof list shows them",
	  .take = ppi_take_texts, .place = AT(events) },
	{ 'n', "null", NULL, "count no event: print times alone",
	  .take = ppi_take_flag, .place = AT(is_null) },
	{ .help = "How to count" },
	{ 'r', "repeat", "N", "run N times; print mean and standard error",
	  .take = ppi_take_number, .place = AT(runs), .least = 1,
	  .most = 1000000, .what = "a number of runs, from 1" },
	{ 'A', "no-aggr", NULL, "print each CPU apart (-a or -C)",
	  .take = ppi_take_flag, .place = AT(by_cpu) },
	{ 0, "per-core", NULL, "print each core apart (-a or -C)",
	  .take = ppi_take_flag, .place = AT(by_core) },
	{ 0, "per-thread", NULL, "print each thread apart (-p)",
	  .take = ppi_take_flag, .place = AT(by_thread) },
	{ 'b', "backend", "NAME", "use this backend (the best that counts)",
	  .take = ppi_take_text, .place = AT(backend),
	  .word = ppi_backend_word },
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
	{ 0, "compare", "FILE",
	  "also print what changed since FILE, which --json wrote",
	  .take = ppi_take_text, .place = AT(compare_to) },
	{ 0, "fail-above", "PERCENT",
	  "exit with 3 if an event of -e, or the clock, grew by more",
	  .take = ppi_take_percent, .place = AT(fail_above) },
	{ 0, "table", NULL, "print the time of each run (-r)",
	  .take = ppi_take_flag, .place = AT(has_table) },
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
		       "counted until it ends, and --timeout ends it";
	if (options->is_null && options->events.count)
		return "-n counts no event, and -e or -M names some";
	if (options->is_null && options->has_details)
		return "-n counts no event, and -d more than usual";
	if (options->by_cpu + options->by_core + options->by_thread > 1)
		return "-A, --per-core and --per-thread exclude each other";
	if ((options->by_cpu || options->by_core) &&
	    options->targets.scope != PPI_SCOPE_SYSTEM)
		return "-A and --per-core need -a or -C: elsewhere counts "
		       "follow threads from CPU to CPU";
	if (options->by_thread && options->targets.scope != PPI_SCOPE_PROCESS)
		return "--per-thread needs -p or the like: a command has its "
		       "threads yet to start";
	if (options->fail_above >= 0 && !options->compare_to)
		return "--fail-above is about what changed: give --compare "
		       "FILE";
	if (options->compare_to && options->interval_ms)
		return "--compare is about whole runs: leave -I out";
	if (options->has_table && options->runs < 2)
		return "--table prints the times of several runs: give -r";
	if (options->runs > 1 && !options->command)
		return "-r repeats a command, and no command was given";
	if (options->runs > 1 && options->interval_ms)
		return "-r and -I exclude each other: means of runs, or the "
		       "course of one";
	if (options->separator && options->is_json)
		return "-x and --json exclude each other";
	return NULL;
}

/* -1: go on; else the exit status, words are said. */
static int read_options(int argc, char **argv,
                        struct ppi_stat_options *options)
{
	const char *words;
	int status;

	*options = (struct ppi_stat_options){ .runs = 1, .fail_above = -1 };
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

/* ---- the words for statuses ---- */

const struct ppi_stat_printer *ppi_stat_printer(const struct ppi_stat *stat)
{
	return stat->options.is_json     ? &ppi_stat_json
	       : stat->options.separator ? &ppi_stat_separated
	                                 : &ppi_stat_text;
}

/* It could be had with more rights, or later. */
bool ppi_stat_is_supported(const struct ppi_stat_event *event)
{
	return event->refusal.status != PORTPROF_E_UNSUPPORTED ||
	       event->refusal.os_errno == EACCES ||
	       event->refusal.os_errno == EPERM;
}

const char *ppi_stat_status(const struct ppi_stat_event *event,
                            const struct ppi_stat_value *value)
{
	if (value->is_by_wait4)
		return "by wait4";
	switch (value->status) {
	case PORTPROF_COUNT_OK:
		return "ok";
	case PORTPROF_COUNT_SCALED:
		return "scaled";
	case PORTPROF_COUNT_NEVER_RAN:
		return "never ran";
	case PORTPROF_COUNT_ERROR:
		return "lost its counter";
	case PPI_STAT_IDLE:
		return "idle";
	default:
		return ppi_stat_is_supported(event) ? "refused"
		                                    : "not supported";
	}
}

/* ---- values ---- */

static struct ppi_stat_value value_of(const struct ppi_stat_event *event,
                                      const portprof_count *from)
{
	if (event->refusal.status != PORTPROF_OK)
		return (struct ppi_stat_value){
			.status = PORTPROF_COUNT_REFUSED
		};
	return ppi_stat_between(from, &event->now);
}

/* When the last of the values was read; what happened later is in none. */
static uint64_t read_at(const struct ppi_stat *stat)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < stat->event_count; i++)
		if (stat->events[i].now.taken_ns > last_ns)
			last_ns = stat->events[i].now.taken_ns;
	return last_ns ? last_ns : ppi_monotonic_ns();
}

void ppi_stat_interval(struct ppi_stat *stat, uint64_t started_ns,
                       uint64_t *last_ns)
{
	struct ppi_stat_value *values =
		calloc(stat->event_count, sizeof(*values));
	uint64_t now = read_at(stat);
	struct ppi_stat_view view = { .values = values,
		                      .wall_ns = now - *last_ns,
		                      .at_ns = now - started_ns,
		                      .is_interval = true };

	for (size_t i = 0; values && i < stat->event_count; i++) {
		struct ppi_stat_event *event = &stat->events[i];

		values[i] = value_of(event, &event->before);
		event->before = event->now;
	}
	if (values)
		ppi_stat_printer(stat)->interval(stat, &view);
	ppi_out_step(&stat->file);
	free(values);
	*last_ns = now;
}

static void add_time(struct ppi_stat_sum *sum, uint64_t ns)
{
	struct ppi_stat_value value = { .value = (double)ns, .exact = ns };

	ppi_stat_sum_add(sum, &value);
}

/* A run has ended: its values join those of the others. */
static void take_run(struct ppi_stat *stat)
{
	for (size_t i = 0; i < stat->event_count; i++) {
		struct ppi_stat_event *event = &stat->events[i];

		event->last = value_of(event, &event->base);
		event->last.is_by_wait4 = event->is_by_wait4;
		ppi_stat_sum_add(&event->sum, &event->last);
	}
	if (stat->walls)
		stat->walls[stat->done] = stat->times.wall_ns;
	add_time(&stat->wall, stat->times.wall_ns);
	if (stat->times.has_cpu) {
		add_time(&stat->user, stat->times.user_ns);
		add_time(&stat->system, stat->times.system_ns);
	}
	stat->done++;
}

/* Values of the last run, of the running one, or the means of all. */
static void take_values(const struct ppi_stat *stat,
                        struct ppi_stat_value *values)
{
	for (size_t i = 0; i < stat->event_count; i++) {
		const struct ppi_stat_event *event = &stat->events[i];
		const struct ppi_stat_sum *sum = &event->sum;

		if (stat->done <= 1) {
			values[i] = event->last;
			continue;
		}
		values[i] = (struct ppi_stat_value){
			.status = sum->status,
			.value = sum->mean,
			.exact = (uint64_t)(sum->mean + 0.5),
			.raw = sum->raw / stat->done,
			.enabled_ns = sum->enabled_ns / stat->done,
			.running_ns = sum->running_ns / stat->done,
			.is_by_wait4 = sum->is_by_wait4,
		};
	}
}

/* ---- the verb ---- */

static bool open_output(struct ppi_stat *stat)
{
	const char *path = stat->options.output;

	stat->file = (struct ppi_out){
		.stream = stat->options.command ? stderr : stdout
	};
	if (path && !ppi_out_open(&stat->file, path))
		return false;
	stat->out = stat->file.stream;
	return true;
}

static bool print(struct ppi_stat *stat)
{
	struct ppi_stat_value *values =
		calloc(stat->event_count + 1, sizeof(*values));
	struct ppi_stat_view view = {
		.values = values,
		.wall_ns = (uint64_t)stat->wall.mean,
	};

	if (!values) {
		ppi_say("out of memory");
		return false;
	}
	take_values(stat, values);
	ppi_stat_compare(stat);
	ppi_stat_printer(stat)->final(stat, &view);
	free(values);
	return true;
}

/* What ended it before it was through; our own --timeout is no news. */
static void say_killed(const struct ppi_stat *stat)
{
	const struct ppi_stat_options *options = &stat->options;
	bool has_breakpoints = false;

	for (size_t i = 0; i < stat->event_count; i++)
		has_breakpoints |= ppi_is_breakpoint(stat->events[i].asked);
	if (!options->is_quiet &&
	    !(options->timeout_ms && stat->end.signal == SIGTERM))
		ppi_say_killed(&stat->end, has_breakpoints);
}

/* All runs: the last one's exit status. One that a signal has ended ends the
 * series, for that is what Ctrl-C is pressed for. */
static int run_all(struct ppi_stat *stat)
{
	int status = -1;

	ppi_catch_signals();
	for (unsigned i = 0; i < stat->options.runs && status < 0; i++) {
		status = stat->options.command ? ppi_stat_run_command(stat)
		                               : ppi_stat_run_attached(stat);
		if (status >= 0)
			break;
		take_run(stat);
		ppi_stat_close(stat);
		if (stat->end.signal)
			break;
	}
	if (stat->done == 0)
		return status;
	if (!print(stat))
		return PPI_EXIT_RECORD;
	say_killed(stat);
	ppi_stat_say_grown(stat);
	if (status < 0)
		status = stat->end.exit_status;
	if (status == 0 && stat->has_grown)
		return PPI_EXIT_GROWN;
	return status == 0 && stat->gap ? PPI_EXIT_RECORD : status;
}

int ppi_stat_main(int argc, char **argv)
{
	struct ppi_stat stat = { .out = NULL };
	int status = read_options(argc, argv, &stat.options);

	if (status >= 0)
		return status;
	status = PPI_EXIT_RECORD;
	if (!ppi_stat_choose(&stat))
		goto free;
	if (stat.options.command) {
		int found = ppi_find_program(stat.options.command[0],
		                             &stat.program);

		status = found ? found : status;
		if (found)
			goto free;
	}
	if (stat.options.targets.scope == PPI_SCOPE_PROCESS &&
	    !ppi_targets_find(&stat.options.targets))
		goto free;
	if (!ppi_stat_spread(&stat) || !ppi_stat_compare_read(&stat))
		goto free;
	if (stat.options.has_table)
		stat.walls = calloc((size_t)stat.options.runs,
		                    sizeof(*stat.walls));
	if (!open_output(&stat))
		goto free;
	status = run_all(&stat);
	if (!ppi_out_close(&stat.file, stat.done > 0) && stat.done > 0)
		status = PPI_EXIT_RECORD;
free:
	ppi_targets_free(&stat.options.targets);
	ppi_stat_free(&stat);
	return status;
}
