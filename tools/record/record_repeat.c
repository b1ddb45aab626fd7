/* SPDX-License-Identifier: MIT */
/* A command recorded several times, its samples added up in one file: shares and
 * changes are surer by the root of the runs. */
#include "config.h"

#include "tools/record/record.h"

#include <portprof/tool.h>

#include "tools/output.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add_run(const char *path, portprof_profile **all)
{
	portprof_profile *run;

	if (portprof_profile_read(path, 0, &run)) {
		ppi_say_failure(NULL);
		return false;
	}
	if (!*all) {
		*all = run;
		return true;
	}
	if (portprof_profile_merge(*all, run)) {
		ppi_say_failure("--repeat");
		portprof_profile_free(run);
		return false;
	}
	portprof_profile_free(run);
	return true;
}

static bool write_all(const portprof_profile *all, uint64_t done,
                      const char *path,
                      const struct ppi_record_options *options)
{
	char of[32] = "";

	ppi_keep_old(path);
	if (!ppi_profile_put(all, path))
		return false;
	if (done < options->runs)
		snprintf(of, sizeof(of), "%u of ", (unsigned)done);
	if (!options->is_quiet)
		ppi_say("added up %s%u runs in %s; look at it: portprof report "
		        "%s", of, (unsigned)options->runs, path, path);
	return true;
}

int ppi_record_repeat(struct ppi_record_options *options)
{
	const char *output = options->output ? options->output
	                                     : PPI_DEFAULT_OUTPUT;
	portprof_profile *all = NULL;
	bool was_quiet = options->is_quiet, is_good = true, was_ended;
	uint64_t done = 0;
	char *path, *folder = ppi_folder_make(&path);
	int status = PPI_EXIT_RECORD;

	if (!folder)
		return PPI_EXIT_RECORD;
	for (uint64_t i = 0; is_good && i < options->runs; i++) {
		options->output = path;
		options->is_quiet = true; /* one line for all is enough */
		status = ppi_record_live(options, NULL);
		/* 125 to 127: it was not run; above: a signal ended it, and who
		 * pressed Ctrl-C does not want another run */
		is_good = status < PPI_EXIT_RECORD && add_run(path, &all);
		done += is_good;
	}
	options->is_quiet = was_quiet;
	was_ended = status > PPI_EXIT_NOT_FOUND;
	if (was_ended && !done && !was_quiet)
		ppi_say("no run was finished, and %s is not written", output);
	if (done && (is_good || was_ended))
		is_good = write_all(all, done, output, options);
	portprof_profile_free(all);
	ppi_folder_remove(folder, path);
	return is_good || status ? status : PPI_EXIT_RECORD;
}
