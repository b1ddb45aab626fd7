/* SPDX-License-Identifier: MIT */
/* portprof merge: adds profiles up, of any number of processes and hosts. */
#include "config.h"

#include "tools/memory.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/record/parts.h"
#include "tools/tools.h"

#include <portprof.h>

#include <stdio.h>

static const char help[] =
	"usage: portprof merge -o OUTPUT [OPTION...] FILE...\n"
	"\n"
	"  -o, --output FILE    write the sum of all profiles there\n"
	"  -q, --quiet          do not print what was merged\n"
	PPI_MEMORY_HELP
	"\n"
	"The profiles must have the same events. A file that was mapped elsewhere is the\n"
	"same one by its build-id. One that cannot be merged is left out, with status 1.\n";

enum { OPTION_MAX_MEMORY = 256 };

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "max-memory", required_argument, NULL, OPTION_MAX_MEMORY },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const struct ppi_line line = {
	.verb = "merge",
	.help = help,
	.letters = "o:qh",
	.options = long_options,
	.wrong = PPI_EXIT_USAGE,
};

struct merge {
	const char *output;
	uint64_t memory_max;
	bool is_quiet;
	portprof_profile *all;
	size_t merged, left_out;
};

/* One file is in memory beside the sum, never two. */
static void add(struct merge *merge, const char *path)
{
	portprof_profile *part =
		ppi_profile_open(path, NULL, merge->memory_max);
	const char *damage =
		part ? portprof_profile_origin_get(part)->damage : NULL;

	if (damage)
		ppi_say("%s: %s", path, damage);
	if (part && !merge->all) {
		merge->all = part;
		merge->merged++;
		return;
	}
	if (part && portprof_profile_merge(merge->all, part) == PORTPROF_OK) {
		merge->merged++;
	} else {
		if (part)
			ppi_say("'%s' is left out: %s", path,
			        portprof_last_diag()->words);
		merge->left_out++;
	}
	portprof_profile_free(part);
}

static int write_sum(const struct merge *merge)
{
	if (!merge->all) {
		ppi_say("no profile was merged, and '%s' is not written",
		        merge->output);
		return PPI_EXIT_FAILED;
	}
	if (portprof_profile_write(merge->all, merge->output)) {
		ppi_say_failure(NULL);
		return PPI_EXIT_FAILED;
	}
	if (!merge->is_quiet)
		ppi_say("%s: %zu profiles merged, %zu different samples",
		        merge->output, merge->merged,
		        portprof_profile_sample_count(merge->all));
	if (merge->left_out)
		ppi_say("%zu files were left out", merge->left_out);
	return merge->left_out ? PPI_EXIT_FAILED : PPI_EXIT_OK;
}

static int read_options(struct merge *merge, int argc, char **argv)
{
	int option, status;

	ppi_line_begin();
	while ((option = ppi_line_next(&line, argc, argv)) >= 0) {
		status = PPI_EXIT_OK;
		if (option == 'o')
			merge->output = optarg;
		else if (option == 'q')
			merge->is_quiet = true;
		else
			status = ppi_memory_option(&line, optarg,
			                           &merge->memory_max);
		if (status != PPI_EXIT_OK)
			return status;
	}
	if (option != PPI_LINE_END)
		return ppi_line_status(&line, option);
	if (!merge->output)
		return ppi_say_usage(line.wrong, line.verb,
		                     "no output given: -o FILE");
	if (optind == argc)
		return ppi_say_usage(line.wrong, line.verb,
		                     "no profile given: portprof merge -o %s "
		                     "FILE...", merge->output);
	return -1;
}

int ppi_merge_main(int argc, char **argv)
{
	struct merge merge = { 0 };
	int status = read_options(&merge, argc, argv);

	if (status >= 0)
		return status;
	ppi_memory_limit(merge.memory_max);
	if (!merge.is_quiet)
		ppi_progress_begin("merging");
	for (int first = optind, i = first; i < argc; i++) {
		add(&merge, argv[i]);
		ppi_progress_step((uint64_t)(i - first) + 1,
		                  (uint64_t)(argc - first), "profiles");
	}
	ppi_progress_end();
	status = write_sum(&merge);
	portprof_profile_free(merge.all);
	return status;
}
