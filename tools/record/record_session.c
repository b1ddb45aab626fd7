/* SPDX-License-Identifier: MIT */
/* A session of this process on the target, from opening to the last words. */
#include "config.h"

#include <portprof/tool.h>

#include "tools/options.h"
#include "tools/record/record.h"
#include "tools/symbols/symbols_held.h"
#include "tools/tools.h"
#include "tools/view/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the title ---- */

/* What was measured, for the header of a report: a command with its arguments,
 * processes with theirs, or the whole system. */

/* Text that is cut to its room, "..." where more was to come. */
struct title {
	char *text;
	size_t used, room;
};

static void add(struct title *title, const char *text, size_t bytes)
{
	size_t left = title->room - 1 - title->used;

	if (bytes > left) {
		bytes = left;
		if (title->room > 4)
			memcpy(title->text + title->room - 4, "...", 3);
		left = left > 3 ? left - 3 : 0;
		memcpy(title->text + title->used, text, left);
		title->used = title->room - 1;
		title->text[title->used] = '\0';
		return;
	}
	memcpy(title->text + title->used, text, bytes);
	title->used += bytes;
	title->text[title->used] = '\0';
}

/* As a shell would read it back. */
static void add_word(struct title *title, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%^~";

	if (title->used)
		add(title, " ", 1);
	if (word[0] && !word[strspn(word, plain)]) {
		add(title, word, strlen(word));
		return;
	}
	add(title, "'", 1);
	while (*word) {
		size_t length = strcspn(word, "'");

		add(title, word, length);
		word += length;
		if (*word) {
			add(title, "'\\''", 4);
			word++;
		}
	}
	add(title, "'", 1);
}

/* The command line of a process; programs may have written over it, as nginx
 * and PostgreSQL do: then it is one text. */
static void add_command_line(struct title *title, int64_t pid)
{
	char path[64], line[PPI_TITLE_BYTES];
	size_t got = 0, at = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%lld/cmdline", (long long)pid);
	file = fopen(path, "re");
	if (file) {
		got = fread(line, 1, sizeof(line) - 1, file);
		fclose(file);
	}
	line[got] = '\0';
	while (got && line[got - 1] == '\0')
		got--;
	if (got == 0)
		return;
	add(title, ": ", 2);
	if (strlen(line) == got) {
		add(title, line, got);
		return;
	}
	title->text += title->used;
	title->room -= title->used;
	title->used = 0;
	for (; at < got; at += strlen(line + at) + 1)
		add_word(title, line + at);
}

static void add_processes(struct title *title,
                          const struct ppi_record_options *options)
{
	const struct ppi_targets *targets = &options->targets;

	add(title, targets->words, strlen(targets->words));
	if (!options->hides_arguments && targets->count &&
	    !ppi_targets_are_several(targets))
		add_command_line(title, targets->processes[0].id);
}

void ppi_record_title(const struct ppi_record_options *options, char *out,
                      size_t bytes)
{
	const struct ppi_targets *targets = &options->targets;
	struct title title = { .text = out, .room = bytes };
	char text[128];

	out[0] = '\0';
	switch (targets->scope) {
	case PPI_SCOPE_COMMAND:
		add_word(&title, options->command[0]);
		for (size_t i = 1; options->command[i]; i++)
			if (!options->hides_arguments)
				add_word(&title, options->command[i]);
		break;
	case PPI_SCOPE_PROCESS:
		add_processes(&title, options);
		break;
	case PPI_SCOPE_THREAD:
		snprintf(text, sizeof(text), "thread %lld",
		         (long long)targets->thread);
		add(&title, text, strlen(text));
		break;
	default:
		if (targets->cgroup_name) {
			add(&title, "cgroup ", 7);
			add(&title, targets->cgroup_name,
			    strlen(targets->cgroup_name));
		} else if (targets->cpus) {
			add(&title, "CPUs ", 5);
			add(&title, targets->cpus, strlen(targets->cpus));
		} else
			add(&title, "the whole system", 16);
		break;
	}
}

enum { EVENT_ROOM = 256 }; /* a canonical event string */

/* ---- opening ---- */

/* The flush puts the file in its place: a process that is killed from now on leaves
 * one that can be read. */
portprof_status ppi_record_start(portprof_session *session)
{
	portprof_status status = portprof_session_start(session);

	return status ? status : portprof_session_flush(session);
}

static void hold(const portprof_batch *batch, void *held)
{
	ppi_held_lock(held);
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);

		ppi_held_see(held, record,
		             portprof_batch_module(batch, record));
	}
	ppi_held_look(held);
	ppi_held_unlock(held);
}

static const char *path_of(const struct ppi_record *record)
{
	return record->spool.stream ? record->spool.path
	                            : record->settings.output;
}

portprof_session *ppi_record_prepare(const struct ppi_record *record,
                                     portprof_config *config, int64_t child)
{
	portprof_session *session = NULL;
	char title[PPI_TITLE_BYTES];
	portprof_status status;

	if (!config)
		return NULL;
	/* frame tables of what is measured are read from here on; the command
	 * runs without this limit, also one that is started after this */
	ppi_memory_limit(0);
	ppi_record_title(&record->options, title, sizeof(title));
	if (record->live)
		snprintf(record->live->title, sizeof(record->live->title),
		         "%s", title);
	status = ppi_targets_set(&record->options.targets, child, config);
	if (status == PORTPROF_OK)
		status = portprof_config_set(config, "command", title);
	if (status == PORTPROF_OK)
		status = portprof_config_write_to(config,
		                                  path_of(record));
	if (status == PORTPROF_OK && record->held)
		status = portprof_config_add_observer(config, hold,
		                                      record->held);
	if (status == PORTPROF_OK)
		status = portprof_session_open(config, &session);
	portprof_config_free(config);
	return session;
}

portprof_session *ppi_record_open(const struct ppi_record *record,
                                  portprof_config *config, int64_t child)
{
	portprof_session *session = ppi_record_prepare(record, config, child);

	/* what fails counts as nothing: the caller reads the diagnostic */
	if (session && ppi_record_start(session)) {
		portprof_session_close(session);
		session = NULL;
	}
	return session;
}

/* ---- the end ---- */

/* The file that failed is still one: with what was written before. */
static void say_unwhole(const struct ppi_record *record, const char *stopping)
{
	const char *path = record->settings.output;

	if (stopping[0] && strcmp(stopping, portprof_last_diag()->words) != 0)
		ppi_say("stopping: %s", stopping);
	ppi_say_failure("writing");
	ppi_say("what was written before can be read: portprof report -i %s",
	        path);
}

/*
 * What wait4 tells is without processes that nobody waited for, such as children
 * of who ignores SIGCHLD, and without those that go on. An event's clock may run
 * ahead of it while interrupts and a hypervisor have the CPU, and no further:
 * what is more than that is of such processes, and the clock is right.
 */
static bool is_charge_whole(const struct ppi_end *end,
                            const portprof_event_info *event,
                            const portprof_stats *stats)
{
	const uint64_t slack = 20000000 + end->cpu_time_ns / 50 +
	                       4 * stats->standard_error;

	return event->unit != PORTPROF_UNIT_NANOSECONDS ||
	       end->taken_ns == UINT64_MAX ||
	       stats->total_weight <= end->cpu_time_ns + end->taken_ns + slack;
}

static void tell_cpu_time(const struct ppi_record *record,
                          portprof_session *session, const struct ppi_end *end)
{
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_event_info event = { .size = sizeof(event) };
	uint64_t ns = end->cpu_time_ns;

	if (portprof_session_stats(session, 0, &stats) == PORTPROF_OK &&
	    portprof_session_event(session, 0, &event) == PORTPROF_OK &&
	    !ppi_is_wait(event.canonical) &&
	    !is_charge_whole(end, &event, &stats)) {
		bool is_estimate = stats.standard_error > 0;

		if (!record->options.is_quiet)
			ppi_say("the system charged %.3f s, without processes "
			        "that were not waited for or still run; CPU "
			        "time is what %s",
			        (double)ns / 1e9, is_estimate
			        ? "was sampled" : "the event counted");
		if (is_estimate)
			return;
		ns = stats.total_weight;
	}
	portprof_session_set_number(session, 0, "cpu-time", ns);
}

/* False, with words, when the file has what was to be left out. */
static bool finish_file(const struct ppi_record *record, bool has_samples)
{
	const struct ppi_record_options *options = &record->options;
	bool is_nameless = options->is_nameless || !has_samples;
	bool hides = ppi_hides(&options->hidden);

	if ((is_nameless && !hides) ||
	    ppi_names_write(path_of(record), record->held, is_nameless,
	                    &options->hidden))
		return true;
	if (!hides) {
		ppi_say("functions have no names; try: portprof names %s",
		        record->settings.output);
		return true;
	}
	if (record->spool.stream)
		unlink(record->spool.path);
	ppi_say("'%s' still has what was to be left out; do not send it",
	        ppi_output_shown(record->settings.output));
	return false;
}

bool ppi_record_finish(const struct ppi_record *record,
                       portprof_session *session, const struct ppi_end *end)
{
	portprof_stats stats = { .size = sizeof(stats) };
	portprof_event_info event = { .size = sizeof(event) };
	const char *backend = portprof_session_backend(session);
	char stopping[PORTPROF_WORDS_BYTES] = "", name[EVENT_ROOM] = "";
	uint64_t children;
	bool is_known;

	if (portprof_session_stop(session))
		snprintf(stopping, sizeof(stopping), "%s",
		         portprof_last_diag()->words);
	/* what it used before and after is none of ours */
	if (end->cpu_time_ns && !record->settings.delay_ms &&
	    !record->settings.duration_ms)
		tell_cpu_time(record, session, end);
	children = portprof_session_children(session);
	is_known = portprof_session_stats(session, 0, &stats) == PORTPROF_OK &&
	           portprof_session_event(session, 0, &event) == PORTPROF_OK;
	/* the session's strings go with it */
	if (is_known)
		snprintf(name, sizeof(name), "%s", event.canonical);
	event.canonical = name;
	ppi_say_passed_over(record, session);
	if (record->options.is_verbose)
		ppi_say_details(session);
	if (is_known)
		ppi_say_costs(record, session, end, &stats);
	if (portprof_session_close(session)) {
		say_unwhole(record, stopping);
		return false;
	}
	if (stopping[0])
		ppi_say("stopping: %s", stopping);
	if (!finish_file(record, !is_known || stats.kept_samples))
		return false;
	if (is_known)
		ppi_say_summary(record, end, backend, &event, &stats);
	if (children && record->options.targets.scope == PPI_SCOPE_COMMAND)
		ppi_say_left(record, children);
	return true;
}

/* ---- a file that was there before ---- */

void ppi_record_look(const char *output, struct ppi_before *before)
{
	struct stat at;

	before->is_there = stat(output, &at) == 0;
	if (before->is_there) {
		before->device = at.st_dev;
		before->inode = at.st_ino;
	}
}

static bool is_same(const struct ppi_before *before, const char *path)
{
	struct ppi_before now;

	ppi_record_look(path, &now);
	return before->is_there && now.is_there &&
	       before->device == now.device && before->inode == now.inode;
}

void ppi_record_undo(const char *output, const struct ppi_before *before)
{
	size_t bytes = strlen(output) + sizeof(".old");
	char *old = malloc(bytes);

	if (!old || is_same(before, output)) {
		free(old);
		return; /* ours never came to its place */
	}
	snprintf(old, bytes, "%s.old", output);
	if (is_same(before, old))
		rename(old, output);
	else if (!before->is_there)
		unlink(output);
	free(old);
}
