/* SPDX-License-Identifier: MIT */
/* portprof names: names the code of profiles that were written without. */
#include "config.h"

#include "tools/view/names.h"

#include "tools/input.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>

struct wanted {
	const char *input, *output;
	struct ppi_named_sources sources;
	struct ppi_hidden hidden;
	uint64_t memory_max;
};

#define AT(member) offsetof(struct wanted, member)

static const struct ppi_option table[] = {
	{ 'i', "input", "FILE",
	  "the same as FILE alone (" PPI_DEFAULT_OUTPUT ")",
	  .take = ppi_take_text, .place = AT(input) },
	{ 'o', "output", "FILE", "write the named profile there (FILE itself)",
	  .take = ppi_take_text, .place = AT(output) },
	PPI_DEBUG_DIR_OPTION(AT(sources.debug_folder)),
	PPI_DEBUGINFOD_OPTION,
	PPI_ROOT_OPTION(AT(sources.root)),
	PPI_HIDE_OPTIONS(AT(hidden)),
	PPI_MEMORY_OPTION(AT(memory_max)),
};

static const struct ppi_line line = {
	.verb = "names",
	.usage = "[OPTION...] [FILE...]",
	.about = "Writes functions, source lines and inlined functions into "
	         "profiles, so that they can be read without the binaries. "
	         "portprof record does so by itself.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.wrong = PPI_EXIT_USAGE,
};

static bool name_one(const struct wanted *wanted, const char *path)
{
	portprof_profile *profile;
	const char *damage;
	size_t unnamed = 0;
	bool is_good;

	if (ppi_input_is_stream(path)) {
		ppi_say("'%s' cannot be rewritten in place: use portprof "
		        "export -f pprof -o FILE, then names FILE",
		        path);
		return false;
	}
	profile = ppi_profile_open(path, NULL, wanted->memory_max);
	if (!profile)
		return false;
	damage = portprof_profile_origin_get(profile)->damage;
	if (damage)
		ppi_say("%s: %s", path, damage);
	is_good = ppi_names_give(profile, &wanted->sources, NULL, &unnamed);
	is_good = is_good && ppi_hide(&wanted->hidden, profile) &&
	          ppi_profile_put(profile, wanted->output ? wanted->output
	                                                  : path);
	if (is_good && unnamed)
		ppi_say("%s: %zu of %zu addresses are in no known function; "
		        "portprof report shows in which files", path,
		        unnamed, portprof_profile_location_count(profile));
	portprof_profile_free(profile);
	return is_good;
}

int ppi_names_main(int argc, char **argv)
{
	struct wanted wanted = { 0 };
	int status = ppi_line_read(&line, argc, argv, &wanted);
	bool is_good = true;

	if (status != PPI_LINE_READ)
		goto free;
	if (wanted.output && argc - optind + (wanted.input != NULL) > 1) {
		status = ppi_line_wrong(&line,
		                        "unexpected argument '%s': -o writes "
		                        "one profile; portprof merge makes one "
		                        "of several",
		                        argv[argc - 1]);
		goto free;
	}
	ppi_memory_limit(wanted.memory_max);
	if (wanted.input || optind == argc)
		is_good = name_one(&wanted, wanted.input ? wanted.input
		                                         : PPI_DEFAULT_OUTPUT);
	for (; optind < argc; optind++)
		is_good &= name_one(&wanted, argv[optind]);
	status = is_good ? PPI_EXIT_OK : PPI_EXIT_FAILED;
free:
	free(wanted.sources.debug_folder);
	free(wanted.sources.root);
	return status;
}
