/* SPDX-License-Identifier: MIT */
/* portprof fetch: brings profiles back from an engine that a fleet has, as one. */
#include "config.h"

#include "base/clock_ns.h"
#include "tools/fleet/fleet.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct options {
	struct ppi_fleet fleet;
	struct ppi_fetch fetch;
	const char *output;
	uint64_t since_ms, until_ms;
	bool is_quiet;
};

#define AT(member) offsetof(struct options, member)

static const struct ppi_option table[] = {
	{ 0, "from", "URL",
	  "read from there: clickhouse+http://HOST:8123/DATABASE, "
	  "pyroscope+http://HOST:4040, parca+http://HOST:7070, "
	  "http://HOST/PATH; or +https",
	  .take = ppi_take_text, .place = AT(fleet.to) },
	{ 'o', "output", "FILE", "write the profile there (" PPI_DEFAULT_OUTPUT
	  ")", .take = ppi_take_text, .place = AT(output) },
	{ .help = "Which samples" },
	{ 0, "since", "TIME", "from so long ago on: 30m, 24h, 7d (1h)",
	  .take = ppi_take_age, .place = AT(since_ms) },
	{ 0, "until", "TIME", "until so long ago (now)",
	  .take = ppi_take_age, .place = AT(until_ms) },
	{ 0, "service", "NAME", "of this service (all)",
	  .take = ppi_take_text, .place = AT(fetch.service) },
	{ 0, "host", "NAME", "of this host (all)",
	  .take = ppi_take_text, .place = AT(fetch.host) },
	{ 0, "version", "TEXT", "of this version (all)",
	  .take = ppi_take_text, .place = AT(fetch.version) },
	{ 0, "label", "NAME=TEXT", "with this label; repeat for several",
	  .take = ppi_take_texts, .place = AT(fetch.labels) },
	{ 'e', "event", "NAME", "of this event (ClickHouse: all; others: cpu)",
	  .take = ppi_take_text, .place = AT(fetch.event) },
	{ 0, "partial", NULL,
	  "without what servers have that are away, where the engine has several",
	  .take = ppi_take_flag, .place = AT(fetch.takes_part) },
	{ .help = "The connection" },
	PPI_CONNECTION_OPTIONS(AT(fleet)),
	PPI_MEMORY_OPTION(AT(fleet.memory_max)),
	{ 'q', "quiet", NULL, "print no summary",
	  .take = ppi_take_flag, .place = AT(is_quiet) },
};

static const struct ppi_line line = {
	.verb = "fetch",
	.usage = "--from URL [OPTION...]",
	.notes = "Then: portprof report, or portprof diff of two of them.",
	.options = table,
	.option_count = sizeof(table) / sizeof(table[0]),
	.one_word_more = "--from names the place, -o the file",
	.wrong = PPI_EXIT_USAGE,
};

static int complete(struct options *options)
{
	struct ppi_fetch *fetch = &options->fetch;
	uint64_t now_ns = 0;

	if (!options->fleet.to)
		return ppi_line_wrong(&line, "no place given: --from URL");
	for (size_t i = 0; i < fetch->labels.count; i++)
		if (!strchr(fetch->labels.list[i], '='))
			return ppi_line_wrong(&line, "--label '%s': not "
			                      "NAME=TEXT",
			                      fetch->labels.list[i]);
	if (!options->since_ms)
		options->since_ms = 3600000;
	if (options->until_ms >= options->since_ms)
		return ppi_line_wrong(&line, "--until is before --since: "
		                             "nothing lies between");
	if (!options->output)
		options->output = PPI_DEFAULT_OUTPUT;
	ppi_clock_ns(CLOCK_REALTIME, &now_ns);
	fetch->from_ns = now_ns - options->since_ms * 1000000u;
	fetch->to_ns = now_ns - options->until_ms * 1000000u;
	fetch->fleet = &options->fleet;
	fetch->memory_max = options->fleet.memory_max
	                    ? options->fleet.memory_max
	                    : (uint64_t)1 << 30;
	return PPI_LINE_READ;
}

/* What came is read as any file that others wrote, and written as ours are. */
static portprof_profile *read_fetched(const struct options *options,
                                      const struct ppi_wire *fetched)
{
	portprof_profile *profile = NULL;
	char *path, *folder = ppi_folder_make(&path);
	FILE *file = folder ? fopen(path, "we") : NULL;
	bool is_good = file && fwrite(fetched->bytes.data, 1,
	                              fetched->bytes.count, file) ==
	                              fetched->bytes.count;

	if (file)
		is_good &= fclose(file) == 0;
	if (folder && !is_good)
		ppi_say("a temporary file cannot be written: set TMPDIR to a "
		        "directory with room");
	if (is_good && portprof_profile_read(path, options->fleet.memory_max,
	                                     &profile) != PORTPROF_OK) {
		ppi_say("%s: what came back is no profile: %s",
		        ppi_fleet_shown(&options->fleet),
		        portprof_last_diag()->words);
		ppi_memory_say_remedy();
	}
	ppi_folder_remove(folder, path);
	return profile;
}

static bool fetch_all(struct options *options)
{
	struct ppi_wire fetched = { 0 };
	portprof_profile *profile = NULL;
	bool is_good = options->fleet.url.engine->fetch(&options->fetch,
	                                                &fetched);

	if (is_good && fetched.bytes.count)
		profile = read_fetched(options, &fetched);
	ppi_wire_free(&fetched);
	if (is_good && !fetched.bytes.count && !profile &&
	    portprof_last_diag()->status == PORTPROF_OK)
		ppi_say("%s has nothing of that: try a longer --since, or "
		        "another --service", ppi_fleet_shown(&options->fleet));
	is_good = profile && portprof_profile_sample_count(profile) > 0;
	if (profile && !is_good)
		ppi_say("%s has no samples of that: try a longer --since, or "
		        "another --service", ppi_fleet_shown(&options->fleet));
	is_good = is_good && ppi_profile_put(profile, options->output);
	if (is_good && !options->is_quiet)
		ppi_say("%s: %zu stacks; portprof report -i %s shows them",
		        options->output,
		        portprof_profile_sample_count(profile),
		        options->output);
	portprof_profile_free(profile);
	return is_good;
}

int ppi_fetch_main(int argc, char **argv)
{
	struct options options = { 0 };
	int status = ppi_line_read(&line, argc, argv, &options);

	if (status == PPI_LINE_READ)
		status = complete(&options);
	if (status != PPI_LINE_READ)
		return status;
	ppi_memory_limit(options.fleet.memory_max);
	status = PPI_EXIT_USAGE;
	if (!ppi_fleet_begin(&options.fleet, "from"))
		goto end;
	if (!options.fleet.url.engine->fetch) {
		status = ppi_line_wrong(&line, "%s does not give profiles back: "
		                        "fetch from the engine behind it",
		                        options.fleet.url.engine->shown);
		goto end;
	}
	options.fetch.http = ppi_http_open(&options.fleet);
	status = options.fetch.http && fetch_all(&options) ? PPI_EXIT_OK
	                                                   : PPI_EXIT_FAILED;
	ppi_http_close(options.fetch.http);
end:
	ppi_fleet_end(&options.fleet);
	return status;
}
