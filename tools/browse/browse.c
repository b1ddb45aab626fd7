/* SPDX-License-Identifier: MIT */
/* portprof browse: a profile on the whole terminal, with the tables and keys of
 * portprof top (tools/screen). */
#include "config.h"

#include "tools/input.h"
#include "tools/options.h"
#include "tools/screen/screen.h"
#include "tools/tools.h"
#include "tools/view/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *input, *program, *event;
	struct ppi_named_sources sources;
	uint64_t memory_max;
	struct ppi_screen_start start;
};

#define AT(member) offsetof(struct options, member)

static const struct ppi_option table[] = {
	{ 'i', "input", "FILE",
	  "read this file, like FILE (" PPI_DEFAULT_OUTPUT ")",
	  .take = ppi_take_text, .place = AT(input) },
	{ 0, "program", "FILE", "the program that wrote a gmon.out (a.out)",
	  .take = ppi_take_text, .place = AT(program) },
	{ 'e', "event", "NAME", "begin with this event (the first; all of record --wall)",
	  .take = ppi_take_text, .place = AT(event) },
	PPI_SCREEN_OPTIONS(AT(start)),
	PPI_DEBUG_DIR_OPTION(AT(sources.debug_folder)),
	PPI_DEBUGINFOD_OPTION,
	PPI_ROOT_OPTION(AT(sources.root)),
	PPI_MEMORY_OPTION(AT(memory_max)),
};

static const size_t places[] = { AT(input) };

static const struct ppi_line line = {
	.verb = "browse",
	.usage = "[OPTION...] [FILE]",
	.about = "Shows a profile on the terminal: functions, their callers, "
	         "the tree of calls, source and instructions, threads, "
	         "processes, modules, a part of the time. The key ? lists the "
	         "keys.",
	.notes = "Reads what portprof report reads.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.places = places,
	.place_count = 1,
	.one_word_more = "one file is shown",
	.wrong = PPI_EXIT_USAGE,
};

static portprof_profile *open_input(const struct options *options)
{
	portprof_profile *profile = ppi_profile_open(
		options->input, options->program, options->memory_max);

	if (profile)
		ppi_names_by_time(profile, options->sources.root, NULL);
	return profile;
}

/* Until it is left. */
static bool show(portprof_profile *profile, struct ppi_symbols_name *names,
                 const struct options *options, size_t event)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	struct ppi_screen_data data = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.all = { .profile = profile, .names = names },
		.head = profile,
		.version = 1,
		.sources = options->sources,
	};
	char target[2048];
	struct ppi_screen_title title = {
		.verb = "browse",
		.target = target,
		.backend = origin->backend,
		.ended = "",
		.elapsed_ns = origin->duration_ns,
	};
	struct ppi_screen_start start = options->start;
	struct ppi_screen *screen;

	start.event = event;
	screen = ppi_screen_begin(&data, &start);
	if (!screen)
		return false;
	snprintf(target, sizeof(target), "%.900s%s%.900s", options->input,
	         origin->command[0] ? ": " : "", origin->command);
	while (ppi_screen_turn(screen, &title))
		;
	ppi_screen_end(screen);
	return true;
}

static bool browse(const struct options *options)
{
	portprof_profile *profile = open_input(options);
	struct ppi_named named;
	bool is_good = false;
	size_t event;

	if (!profile)
		return false;
	event = ppi_event_choose(profile, options->input, options->event);
	if (event != SIZE_MAX) {
		if (ppi_named_find(&named, profile, false, false,
		                   &options->sources))
			is_good = show(profile, named.names, options,
			               options->event ? event : SIZE_MAX);
		else
			ppi_say("out of memory");
		ppi_named_free(&named);
	}
	portprof_profile_free(profile);
	return is_good;
}

int ppi_browse_main(int argc, char **argv)
{
	struct options options = { .input = PPI_DEFAULT_OUTPUT };
	int status = ppi_line_read(&line, argc, argv, &options);

	if (status == PPI_LINE_READ) {
		ppi_settle_debuginfod();
		ppi_memory_limit(options.memory_max);
		status = ppi_screen_can("browse", "portprof report") &&
		                         browse(&options)
		                 ? PPI_EXIT_OK
		                 : PPI_EXIT_FAILED;
	}
	free(options.sources.debug_folder);
	free(options.sources.root);
	return status;
}
