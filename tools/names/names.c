/* SPDX-License-Identifier: MIT */
/* portprof names: names the code of profiles that were written without. */
#include "config.h"

#include "tools/names/names.h"

#include "tools/memory.h"
#include "tools/options.h"
#include "tools/record/parts.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>

static const char help[] =
	"usage: portprof names [OPTION...] [FILE...]\n"
	"\n"
	"  -i, --input FILE     the same as FILE alone (" PPI_DEFAULT_OUTPUT ")\n"
	"  -o, --output FILE    write the named profile there (the file itself)\n"
	"      --debug-dir DIR  also look for separate debug files here\n"
	PPI_MEMORY_HELP
	"\n"
	"Functions, source lines and inlined functions are written into the profile,\n"
	"so that it can be read without the binaries. record does that by itself.\n";

enum { OPTION_DEBUG_DIR = 256, OPTION_MAX_MEMORY };

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "debug-dir", required_argument, NULL, OPTION_DEBUG_DIR },
	{ "max-memory", required_argument, NULL, OPTION_MAX_MEMORY },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const struct ppi_line line = {
	.verb = "names",
	.help = help,
	.letters = "i:o:h",
	.options = long_options,
	.wrong = PPI_EXIT_USAGE,
};

struct wanted {
	const char *input, *output;
	struct ppi_names_sources sources;
	uint64_t memory_max;
};

static int read_option(struct wanted *wanted, int option, const char *value)
{
	switch (option) {
	case 'i':
		wanted->input = value;
		return PPI_EXIT_OK;
	case 'o':
		wanted->output = value;
		return PPI_EXIT_OK;
	case OPTION_DEBUG_DIR:
		wanted->sources.debug_folder = value;
		return PPI_EXIT_OK;
	default:
		return ppi_memory_option(&line, value, &wanted->memory_max);
	}
}

static bool name_one(const struct wanted *wanted, const char *path)
{
	portprof_profile *profile =
		ppi_profile_open(path, NULL, wanted->memory_max);
	const char *damage;
	bool is_good;

	if (!profile)
		return false;
	damage = portprof_profile_origin_get(profile)->damage;
	if (damage)
		ppi_say("%s: %s", path, damage);
	is_good = ppi_names_give(profile, &wanted->sources);
	if (is_good && portprof_profile_write(
			       profile, wanted->output ? wanted->output
		                                       : path)) {
		ppi_say_failure(NULL);
		is_good = false;
	}
	portprof_profile_free(profile);
	return is_good;
}

int ppi_names_main(int argc, char **argv)
{
	struct wanted wanted = { 0 };
	int option, status;
	bool is_good = true;

	ppi_line_begin();
	while ((option = ppi_line_next(&line, argc, argv)) >= 0) {
		status = read_option(&wanted, option, optarg);
		if (status != PPI_EXIT_OK)
			return status;
	}
	if (option != PPI_LINE_END)
		return ppi_line_status(&line, option);
	if (wanted.output && argc - optind + (wanted.input != NULL) > 1)
		return ppi_line_too_many(&line, argv[argc - 1],
		                         "one profile is written to -o; "
		                         "portprof merge makes one of several");
	ppi_memory_limit(wanted.memory_max);
	if (wanted.input || optind == argc)
		is_good = name_one(&wanted, wanted.input ? wanted.input
		                                         : PPI_DEFAULT_OUTPUT);
	for (; optind < argc; optind++)
		is_good &= name_one(&wanted, argv[optind]);
	return is_good ? PPI_EXIT_OK : PPI_EXIT_FAILED;
}
