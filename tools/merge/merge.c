/* SPDX-License-Identifier: MIT */
/* portprof merge: adds profiles or tables of regions up, of any number of
 * processes and hosts. */
#include "config.h"

#include "tools/merge/merge.h"

#include "tools/input.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/terminal.h"
#include "tools/tools.h"

#include <portprof.h>

#include <stdio.h>

struct merge {
	const char *output;
	uint64_t memory_max;
	bool is_quiet, is_json;
	portprof_profile *all;
	size_t merged, left_out;
};

#define AT(member) offsetof(struct merge, member)

static const struct ppi_option table[] = {
	{ 'o', "output", "FILE", "write the sum to this file (tables: standard "
	  "output)",
	  .take = ppi_take_text, .place = AT(output) },
	{ 'j', "json", NULL, "print the sum of tables as JSON",
	  .take = ppi_take_flag, .place = AT(is_json) },
	{ 'q', "quiet", NULL, "print no summary",
	  .take = ppi_take_flag, .place = AT(is_quiet) },
	PPI_MEMORY_OPTION(AT(memory_max)),
};

static const struct ppi_line line = {
	.verb = "merge",
	.usage = "-o OUTPUT [OPTION...] FILE...\n"
	         "[-o OUTPUT] [-j] TABLE...",
	.notes = "The profiles must have the same events. A binary that was "
	         "mapped elsewhere is recognized by its build-id. A profile "
	         "that cannot be merged is left out, and the exit status is 1. "
	         "TABLE is the JSON that a program with regions writes at its "
	         "exit when run with PORTPROF=regions.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.wrong = PPI_EXIT_USAGE,
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

static void say_left_out(size_t count)
{
	ppi_say("%zu file%s left out", count, count == 1 ? " was" : "s were");
}

static int write_sum(const struct merge *merge)
{
	if (!merge->all) {
		ppi_say("no profile was merged, and '%s' is not written",
		        merge->output);
		return PPI_EXIT_FAILED;
	}
	if (!ppi_profile_put(merge->all, merge->output))
		return PPI_EXIT_FAILED;
	if (!merge->is_quiet)
		ppi_say("%s: %zu profile%s merged, %zu different samples",
		        ppi_output_shown(merge->output), merge->merged,
		        merge->merged == 1 ? "" : "s",
		        portprof_profile_sample_count(merge->all));
	if (merge->left_out)
		say_left_out(merge->left_out);
	return merge->left_out ? PPI_EXIT_FAILED : PPI_EXIT_OK;
}

/* ---- tables of regions ---- */

static bool print_regions(const struct merge *merge,
                          const struct ppi_merge_regions *all)
{
	struct ppi_out out;

	return ppi_out_open(&out, merge->output) &&
	       ppi_out_close(&out, ppi_merge_regions_print(all, merge->is_json,
	                                                   out.stream));
}

static int merge_regions(const struct merge *merge, int argc, char **argv)
{
	struct ppi_merge_regions all = { 0 };
	bool is_good;

	for (int i = optind; i < argc; i++)
		ppi_merge_regions_add(&all, argv[i]);
	ppi_merge_regions_sort(&all);
	is_good = all.process_count > 0 && print_regions(merge, &all);
	if (all.process_count == 0)
		ppi_say("no table of regions was merged");
	else if (all.left_out)
		say_left_out(all.left_out);
	is_good = is_good && all.left_out == 0;
	ppi_merge_regions_free(&all);
	return is_good ? PPI_EXIT_OK : PPI_EXIT_FAILED;
}

int ppi_merge_main(int argc, char **argv)
{
	struct merge merge = { 0 };
	int status = ppi_line_read(&line, argc, argv, &merge);

	if (status != PPI_LINE_READ)
		return status;
	ppi_memory_limit(merge.memory_max);
	for (int i = optind; i < argc; i++) {
		argv[i] = (char *)ppi_input_name(argv[i]);
		if (!argv[i])
			return PPI_EXIT_FAILED;
	}
	if (optind < argc && ppi_input_is_regions(argv[optind]))
		return merge_regions(&merge, argc, argv);
	if (!merge.output)
		return ppi_line_wrong(&line, "no output given: -o FILE");
	if (optind == argc)
		return ppi_line_wrong(&line, "no profile given: portprof merge "
		                             "-o %s FILE...", merge.output);
	if (merge.is_json)
		return ppi_line_wrong(&line, "-j needs tables of regions; '%s' "
		                             "is not one", argv[optind]);
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
