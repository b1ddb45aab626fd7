/* SPDX-License-Identifier: MIT */
/*
 * The portprof command: picks the verb and hands over to its folder. What verbs
 * share:
 *
 *   options.c   command lines and help, by each verb's table
 *   messages.c  messages, text for terminals and fields
 *   terminal.c  colours, a pager, a progress line
 *   input.c     the profile that a verb reads
 *   output.c    the file that a verb writes
 *   ticker.c    the same of what is one call of the library
 *   json_read.c reads JSON
 *   launch.c    starting the command that is measured; launch_find.c finds it
 *   targets/    what else is measured
 *   fleet/      profiles to and from the engines that fleets have
 *   symbols/    names of addresses
 *   view/       rows, trees and folds of a profile
 */
#include "config.h"

#include <portprof.h>

#include "base/host.h"
#include "tools/tools.h"

#include <stdio.h>
#include <string.h>

struct verb {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
};

static const struct verb verbs[] = {
	{ "record", "run a command and write where its time goes",
	  ppi_record_main },
	{ "report", "show the hot functions of a profile", ppi_report_main },
	{ "browse", "walk through a profile on the terminal", ppi_browse_main },
	{ "annotate", "show the source and instructions of a function",
	  ppi_annotate_main },
	{ "diff", "show what changed between two profiles", ppi_diff_main },
	{ "selftest", "test what works on this machine, clause by clause",
	  ppi_selftest_main },
	{ "top", "show on the terminal what is hot now", ppi_top_main },
	{ "stat", "run a command and count what happens in it",
	  ppi_stat_main },
	{ "doctor", "show what works here, and how to enable the rest",
	  ppi_doctor_main },
	{ "list", "list the events that can be measured here", ppi_list_main },
	{ "export", "write a profile for another tool, such as gprof",
	  ppi_export_main },
	{ "merge", "add profiles up", ppi_merge_main },
	{ "names", "write the names of functions into a profile",
	  ppi_names_main },
	{ "push", "send profiles to the engine of a fleet", ppi_push_main },
	{ "fetch", "bring profiles of a fleet back, as one", ppi_fetch_main },
	{ "config", "check a configuration file, and show its settings",
	  ppi_config_main },
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static void print_help(void)
{
	printf("usage: portprof VERB [OPTION...]\n\n");
	for (size_t i = 0; i < VERB_COUNT; i++)
		printf("  %-10s %s\n", verbs[i].name, verbs[i].summary);
	printf("\nA beginning is enough: portprof rep. portprof help VERB "
	       "[OPTION] shows options;\nportprof --version -v lists what is "
	       "built in.\n\n"
	       "A first profile:\n"
	       "  portprof record -F 1000 -- COMMAND\n"
	       "  portprof report\n");
}

static void print_row(const char *name, const char *answer, const char *gives)
{
	if (strncmp(answer, "no", 2) == 0)
		printf("  %-20s %s; without it: %s\n", name, answer, gives);
	else
		printf("  %-20s %s\n", name, answer);
}

/* What a report of a bug has to say; the name of the machine is not in it. */
static void print_version(bool is_verbose)
{
	struct ppi_host machine;

	printf("portprof %s\n", portprof_version());
	if (!is_verbose)
		return;
	if (strcmp(portprof_version(), PORTPROF_VERSION_STRING) != 0)
		printf("  %-20s %s: not of the same version as the library\n",
		       "command", PORTPROF_VERSION_STRING);
	ppi_host_read(&machine);
	printf("  %-20s %s\n  %-20s %s\n", "system", machine.system, "processor",
	       machine.cpu);
#if defined(__clang__)
	printf("  %-20s %s\n", "compiled by", __VERSION__);
#elif defined(__GNUC__)
	printf("  %-20s GCC %s\n", "compiled by", __VERSION__);
#endif
#define ROW(name, answer, gives) print_row(name, answer, gives);
	PPI_BUILD_TABLE(ROW)
#undef ROW
}

static void unknown_verb(const char *name)
{
	struct ppi_guess guess = { .wanted = name };
	char known[256] = "", likely[128];
	size_t length = strlen(name), begun = 0;

	if (name[0] == '-') {
		ppi_say_usage(PPI_EXIT_USAGE, NULL,
		              "'%s' is not an option of portprof; a verb comes "
		              "first, as in portprof record %s", name, name);
		return;
	}
	for (size_t i = 0; i < VERB_COUNT; i++)
		begun += length && strncmp(verbs[i].name, name, length) == 0;
	for (size_t i = 0; i < VERB_COUNT; i++) {
		size_t used = strlen(known);

		if (begun && strncmp(verbs[i].name, name, length) != 0)
			continue;
		snprintf(known + used, sizeof(known) - used, "%s%s",
		         used ? ", " : "", verbs[i].name);
		ppi_guess_offer(&guess, verbs[i].name);
	}
	if (begun) {
		ppi_say_usage(PPI_EXIT_USAGE, NULL,
		              "'%s' is short for several: %s", name, known);
		return;
	}
	ppi_say_usage(PPI_EXIT_USAGE, NULL,
	              "'%s' is not a verb; there are: %s%s", name, known,
	              ppi_guess_words(&guess, "", likely, sizeof(likely)));
}

static bool is_verbose_flag(const char *word)
{
	return strcmp(word, "-v") == 0 || strcmp(word, "--verbose") == 0;
}

/* By its name, or a beginning that no other has. NULL: words were said. */
static const struct verb *find_verb(const char *name)
{
	const struct verb *begun = NULL;
	size_t length = strlen(name), count = 0;

	for (size_t i = 0; i < VERB_COUNT; i++) {
		if (strncmp(name, verbs[i].name, length) != 0)
			continue;
		if (!verbs[i].name[length])
			return &verbs[i];
		begun = &verbs[i];
		count++;
	}
	if (length && count == 1)
		return begun;
	unknown_verb(name);
	return NULL;
}

/* "portprof help VERB [OPTION]" */
static int help_with(char *name, char *option)
{
	char help[] = "--help";
	char *line[] = { name, help, option, NULL };
	const struct verb *verb = find_verb(name);

	return verb ? verb->run(option ? 3 : 2, line) : PPI_EXIT_USAGE;
}

/* Words that were not written are no success. */
static int finish(int status)
{
	return status != PPI_EXIT_OK || ppi_stdout_is_whole("standard output")
	               ? status
	               : PPI_EXIT_FAILED;
}

static int run(int argc, char **argv)
{
	const struct verb *verb;
	const char *word = argc > 1 ? argv[1] : "";

	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		print_version(argc > 2 && is_verbose_flag(argv[2]));
		return PPI_EXIT_OK;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
	    strcmp(word, "help") == 0) {
		if (argc > 2)
			return help_with(argv[2], argv[3]);
		print_help();
		return PPI_EXIT_OK;
	}
	if (argc < 2)
		return ppi_say_usage(PPI_EXIT_USAGE, NULL,
		                     "no verb given; try portprof record -- "
		                     "COMMAND, then portprof report");
	verb = find_verb(word);
	return verb ? verb->run(argc - 1, argv + 1) : PPI_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	return finish(run(argc, argv));
}
