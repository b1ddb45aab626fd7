/* SPDX-License-Identifier: MIT */
/*
 * portprof record: samples a command or a running target into a profile. Here
 * are its command line, and recording a command from outside.
 *
 *   record_settings.c  the effective settings: file and command line
 *   record_session.c   a session, from opening to the end of its file
 *   record_attach.c    what runs already
 *   record_repeat.c    a command several times, added up
 *   record_again.c     options of a file, which can be read again
 *   record_health.c    what came of windows that are sent
 *   record_push.c      windows that are sent to a fleet's engine
 *   record_preload.c   a command from inside, by the preloaded object
 *   record_say.c       refusals, the summary and the warnings
 */
#include "config.h"

#include "tools/record/record.h"

#include "base/label_post.h"
#include "tools/options.h"
#include "tools/symbols/symbols_held.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the command line ---- */

/* As deep as the kernel goes (kernel.perf_event_max_stack). */
#define PPI_CHAIN_DEPTH "127"

static const char *call_graph_word(size_t i)
{
	static const char *const words[] = { "auto", "fp", "dwarf",
		                             "dwarf,BYTES", "none", NULL };

	return words[i];
}

/* As the library has them (portprof_config(3), labels). */
static const char *label_word(size_t i)
{
	static const char *const words[] = {
		"data-address", "latency", "branches", "data-source",
		"instruction-latency", "transaction", "physical-address",
		"page-sizes", NULL
	};

	return words[i];
}

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
		return ppi_given_refuse_word(given);
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
	{ 0, "wall", NULL,
	  "also measure the time that threads were ready or blocked",
	  .take = ppi_take_what, .place = AT(waits), .what = "wall" },
	{ 0, "off-cpu", NULL, "measure that time alone",
	  .take = ppi_take_what, .place = AT(waits), .what = "off-cpu" },
	{ 0, "wakers", NULL,
	  "with either: also record who wakes waiting threads",
	  .take = ppi_take_what, .place = AT(wakers), .what = "wakers" },
	PPI_TARGET_OPTIONS(AT(targets)),
	{ 0, "no-inherit", NULL, "leave out child processes",
	  .take = ppi_take_what, .place = AT(children), .what = "no" },
	{ 'D', "delay", "MS", "start after MS milliseconds",
	  .take = take_time, .place = AT(delay), .what = "ms" },
	{ 0, "duration", "S", "stop after S seconds",
	  .take = take_time, .place = AT(duration), .what = "s" },
	{ 0, "repeat", "N", "run the command N times, and add the samples up",
	  .take = ppi_take_number, .place = AT(runs), .least = 1,
	  .most = 100000, .what = "a number of runs, from 1" },
	{ .help = "How to measure" },
	{ 'F', "freq", "HZ", "take HZ samples a second of CPU time (about 100; by perf 499 of "
	  "a command, or of a process for at most ten seconds)",
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
	  .take = take_call_graph, .word = call_graph_word },
	{ 'b', "backend", "NAME", "use @WORDS (the best)",
	  .take = ppi_take_text, .place = AT(backend),
	  .word = ppi_backend_word },
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
	  "keep the times of samples, rounded to TIME, such as 1s; 0: none "
	  "(10ms, more after 20 s)",
	  .take = take_time, .place = AT(timeline), .what = "s" },
	{ 0, "labels", "FIELDS",
	  "label samples by @WORDS, or by several",
	  .take = ppi_take_text, .place = AT(labels), .word = label_word },
	PPI_DEBUGINFOD_OPTION,
	{ 0, "no-names", NULL, "leave names of functions out of FILE",
	  .take = ppi_take_flag, .place = AT(is_nameless) },
	{ 0, "no-arguments", NULL, "leave the command's arguments out of FILE",
	  .take = ppi_take_flag, .place = AT(hides_arguments) },
	PPI_HIDE_OPTIONS(AT(hidden)),
	{ .help = "Where to send it" },
	{ 0, "push", "URL",
	  "send a window after the other to a fleet's engine instead of "
	  "writing a file; see portprof push",
	  .take = ppi_take_text, .place = AT(push.fleet.to) },
	{ 0, "every", "TIME", "a window is so long (60s)",
	  .take = ppi_take_age, .place = AT(push.every_ms) },
	{ 0, "spool", "DIR", "keep windows there until they are sent",
	  .take = ppi_take_text, .place = AT(push.spool) },
	{ 0, "keep", "TIME", "drop windows that are older (7d)",
	  .take = ppi_take_age, .place = AT(push.keep_ms) },
	{ 0, "spool-size", "SIZE", "drop the oldest above SIZE (256M)",
	  .take = ppi_take_memory, .place = AT(push.spool_bytes) },
	{ 0, "options", "FILE",
	  "read more options from FILE, one a line, and again at SIGHUP",
	  .take = ppi_take_text, .place = AT(options_path) },
	{ 0, "health", "FILE",
	  "write there what came of it, for Prometheus' textfile collector",
	  .take = ppi_take_text, .place = AT(push.health) },
	PPI_SENT_OPTIONS(AT(push.fleet)),
	PPI_CONNECTION_OPTIONS(AT(push.fleet)),
	{ .help = "What to print" },
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
	if (options->wakers && !options->waits)
		return ppi_line_wrong(line, "--wakers is about waits: add "
		                            "--off-cpu or --wall");
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
	if (options->runs > 1 && (line->verb[0] != 'r' ||
	                          options->targets.scope != PPI_SCOPE_COMMAND))
		return ppi_line_wrong(line, "--repeat is for record and a "
		                            "command, which runs as often");
	status = check_options(line, options);
	return status == PPI_LINE_READ ? ppi_push_check(line, options) : status;
}

/* ---- a command, by a session of this process ---- */

/* The command passed every check, and still the system refuses to run it; or
 * nothing was measured after all. */
static int undo(const struct ppi_record *record, portprof_session *session,
                const struct ppi_before *before, int status)
{
	portprof_session_close(session);
	ppi_record_undo(record->spool.path, before);
	return status;
}

/* Until the watcher has seen enough; a command that was started for it ends
 * then, too. One that a signal ended leaves nothing to look at. */
static void show_until_end(struct ppi_live *live, portprof_session *session,
                           struct ppi_child *child)
{
	char ended[64] = "";

	while (live->turn(live, session, ended) && !ppi_kept_signal()) {
		if (ended[0] || !ppi_child_has_ended(child))
			continue;
		ppi_pass_signals_to(0);
		if (ppi_child_was_killed(child))
			break;
		snprintf(ended, sizeof(ended), "the command has ended");
	}
	if (!ended[0] && !ppi_child_has_ended(child))
		kill(child->pid, SIGTERM);
	live->end(live);
}

void ppi_record_ask_for_labels(const char *variable)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", (long)getpid());
	setenv(variable, text, 1);
}

/* Signals end the command, and that ends the recording. */
static void push_until_end(struct ppi_push *push, portprof_session *session,
                           struct ppi_child *child)
{
	while (!ppi_child_has_ended(child))
		ppi_push_turn(push, &session, 50);
}

int ppi_record_command(const struct ppi_record *record,
                       portprof_config *config, char *const *environment)
{
	struct ppi_before before;
	struct ppi_child child = {
		.has_no_terminal = record->live != NULL,
		.has_no_output = record->spool.is_standard_output,
	};
	struct ppi_end end = { 0 };
	portprof_session *session;
	portprof_status stopped;
	int status;

	ppi_record_look(record->spool.path, &before);
	if (!environment)
		ppi_record_ask_for_labels(
			ppi_settings_own_events(&record->settings)
				? PPI_LABELS_TIMES : PPI_LABELS_NOW);
	if (!config || !ppi_child_start(&child, record->program,
	                                record->options.command, environment)) {
		portprof_config_free(config);
		return PPI_EXIT_RECORD;
	}
	session = ppi_record_open(record, config, child.pid);
	if (!session) {
		ppi_child_cancel(&child);
		return ppi_kept_signal() ? 128 + ppi_kept_signal() : -1;
	}
	status = ppi_child_release(&child, record->options.command[0]);
	if (status)
		return undo(record, session, &before, status);
	if (record->live)
		show_until_end(record->live, session, &child);
	else if (record->push)
		push_until_end(record->push, session, &child);
	/* what its last samples stand for can be asked until it is reaped */
	ppi_child_await_end(&child);
	stopped = portprof_session_stop(session);
	ppi_child_wait(&child, &end);
	ppi_say_end(record, &end);
	if (ppi_say_too_short(record, &end))
		return undo(record, session, &before, end.exit_status);
	if (stopped == PORTPROF_E_NOTFOUND) {
		ppi_say_nobody(record);
		return undo(record, session, &before,
		            end.exit_status ? end.exit_status
		                            : PPI_EXIT_RECORD);
	}
	if (!ppi_record_finish(record, session, &end))
		return end.exit_status ? end.exit_status : PPI_EXIT_RECORD;
	return end.exit_status;
}

/* As ppi_record_command returns. */
static int record_outside(const struct ppi_record *record)
{
	return ppi_record_command(record,
	                          ppi_settings_config(&record->settings), NULL);
}

/* ---- the verb ---- */

/* Whether a backend is known to work only inside the process it measures. */
static bool is_inside_only(const char *name)
{
	portprof_backend_info info;

	return ppi_backend_find_info(name, &info) &&
	       !(info.caps & PORTPROF_CAP_ATTACH);
}

/*
 * From outside where that can be, because then nothing runs in the program;
 * else by the preloaded object, if the user leaves us the choice, or has named
 * what works only inside. That is asked last: it probes backends. Of several
 * events it can have one, so then what is said is what was missing outside.
 */
static int run(struct ppi_record *record)
{
	const char *backend = ppi_settings_get(&record->settings, "backend");
	size_t own_events = ppi_settings_own_events(&record->settings);
	int status;

	if (record->options.targets.scope != PPI_SCOPE_COMMAND)
		return ppi_record_attach(record);
	status = record_outside(record);
	if (status >= 0)
		return status;
	if ((!backend || strcmp(backend, "auto") == 0) && own_events == 1)
		return ppi_record_preload(record);
	if (portprof_last_diag()->status == PORTPROF_E_UNSUPPORTED &&
	    own_events && is_inside_only(backend))
		return ppi_record_preload(record);
	ppi_say_refusal(record);
	return PPI_EXIT_RECORD;
}

int ppi_record_live(struct ppi_record_options *options, struct ppi_live *live)
{
	struct ppi_record record = { .live = live, .options = *options };
	int status = PPI_EXIT_RECORD;

	if (!ppi_settings_read(&record.options, &record.settings))
		goto free;
	if (record.options.command) {
		status = ppi_find_program(record.options.command[0],
		                          &record.program);
		if (status)
			goto free;
	}
	status = PPI_EXIT_RECORD;
	if (record.options.push.fleet.to) {
		record.push = ppi_push_begin(&record);
		if (!record.push)
			goto free;
	}
	if (!ppi_spool_begin(&record.spool, record.settings.output, true))
		goto free;
	ppi_catch_signals();
	if (record.options.again)
		ppi_reload_by_hang_up();
	if (!record.options.is_nameless || live)
		record.held = ppi_held_new(record.options.targets.scope ==
		                           PPI_SCOPE_SYSTEM);
	if (record.held && record.options.targets.scope == PPI_SCOPE_COMMAND)
		ppi_held_know_mounts(record.held);
	if (record.push && record.held)
		ppi_held_keep(record.held, PPI_PUSH_KEPT_BYTES);
	if (live)
		live->held = record.held;
	status = run(&record);
	if (!ppi_spool_end(&record.spool, access(record.spool.path, F_OK) == 0))
		status = status ? status : PPI_EXIT_RECORD;
free:
	if (!ppi_push_end(record.push))
		status = status ? status : PPI_EXIT_RECORD;
	ppi_fleet_end(&record.options.push.fleet);
	ppi_held_free(record.held);
	free(record.program);
	ppi_targets_free(&record.options.targets);
	ppi_settings_free(&record.settings);
	return status;
}

int ppi_record_main(int argc, char **argv)
{
	struct ppi_record_options options = { 0 };
	struct ppi_again again = { .argc = argc, .argv = argv };
	int status = ppi_again_read(&again, &options);

	if (status == PPI_LINE_READ)
		status = options.runs > 1 ? ppi_record_repeat(&options)
		                          : ppi_record_live(&options, NULL);
	free(again.text);
	return status;
}
