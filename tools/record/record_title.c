/* SPDX-License-Identifier: MIT */
/* What was measured, for the header of a report: a command with its arguments,
 * processes with theirs, or the whole system. */
#include "config.h"

#include "tools/record/record.h"

#include "tools/tools.h"

#include <stdio.h>
#include <string.h>

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
