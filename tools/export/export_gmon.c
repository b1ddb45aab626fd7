/* SPDX-License-Identifier: MIT */
/* Writes a profile as gmon.out, and says what that leaves out. */
#include "config.h"

#include "tools/export/export.h"

#include "tools/view/view.h"
#include "tools/output.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What fell in the file that a mapping is of. */
static uint64_t weight_in(const struct ppi_export *export, const char *path)
{
	const portprof_profile *profile = export->profile;
	const portprof_profile_sample *sample;
	uint64_t weight = 0;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++) {
		const portprof_profile_location *leaf;
		const portprof_profile_mapping *mapping;

		if (sample->depth == 0)
			continue;
		leaf = portprof_profile_location_get(profile,
		                                     sample->locations[0]);
		mapping = portprof_profile_mapping_get(profile, leaf->mapping);
		if (mapping && strcmp(mapping->path, path) == 0)
			weight += sample->weights[export->event_number];
	}
	return weight;
}

/* Of the files that another --module would take, the one with most. */
static const char *heaviest_other(const struct ppi_export *export,
                                  uint64_t *most)
{
	const portprof_profile_mapping *mapping;
	const char *heaviest = NULL;
	const char *own = export->module;

	*most = 0;
	if (!own) {
		mapping = portprof_profile_mapping_get(export->profile, 0);
		own = mapping ? mapping->path : "";
	}
	for (size_t i = 0;
	     (mapping = portprof_profile_mapping_get(export->profile, i)) !=
	     NULL;
	     i++) {
		const char *slash = strrchr(mapping->path, '/');
		uint64_t weight;

		if (mapping->path[0] != '/' ||
		    strcmp(mapping->path, own) == 0 ||
		    strcmp(slash + 1, own) == 0)
			continue;
		weight = weight_in(export, mapping->path);
		if (weight > *most) {
			*most = weight;
			heaviest = slash + 1;
		}
	}
	return heaviest;
}

static void say_outside(const struct ppi_export *export, portprof_unit unit,
                        const portprof_gmon_written *written)
{
	uint64_t all = written->kept_weight + written->outside_weight, most;
	const char *other = heaviest_other(export, &most);
	char words[64], part[64];

	ppi_say_weight(ppi_scale_of(unit, written->outside_weight),
	               written->outside_weight, words, sizeof(words));
	if (other)
		ppi_say("%s (%.1f %%) are outside this file, %s of that in %s: "
		        "--module %s exports those",
		        words, ppi_percent(written->outside_weight, all),
		        ppi_say_weight(ppi_scale_of(unit, most), most, part,
		                       sizeof(part)),
		        other, other);
	else
		ppi_say("%s (%.1f %%) are outside this file", words,
		        ppi_percent(written->outside_weight, all));
}

static void say_written(const struct ppi_export *export, const char *path,
                        const portprof_gmon_written *written)
{
	portprof_unit unit = portprof_profile_event_get(export->profile,
	                                                export->event_number)
	                             ->unit;
	char words[64];

	ppi_say("%s: %s in %" PRIu64 " ticks, %" PRIu32 " of them one %s, in "
	        "bins of %" PRIu64 " bytes of code",
	        path,
	        ppi_say_weight(ppi_scale_of(unit, written->kept_weight),
	                       written->kept_weight, words, sizeof(words)),
	        written->ticks, written->rate,
	        strcmp(written->dimension, "seconds") == 0 ? "second"
	                                                   : written->dimension,
	        written->bin_bytes);
	if (written->outside_weight)
		say_outside(export, unit, written);
	if (export->with_chains && written->arcs == 0)
		ppi_say("it has no call chains, so no callers are written: "
		        "record with -g");
	else if (export->with_chains)
		ppi_say("%" PRIu64 " pairs of caller and function: gprof's "
		        "numbers of calls are samples",
		        written->arcs);
}

bool ppi_export_gmon(const struct ppi_export *export)
{
	const char *path = export->output;
	portprof_gmon_written written = { .size = sizeof(written) };
	portprof_gmon_wanted wanted = {
		.size = sizeof(wanted),
		.event = export->event_number,
		.module = export->module,
		.file = export->program,
		.rate_hz = export->rate_hz,
		.with_chains = export->with_chains,
	};
	struct ppi_spool spool;
	bool is_good;

	if (!ppi_spool_begin(&spool, path, false))
		return false;
	is_good = portprof_gmon_write(export->profile, &wanted, spool.path,
	                              &written) == PORTPROF_OK;
	if (!is_good)
		ppi_say_failure(NULL);
	if (!ppi_spool_end(&spool, is_good) || !is_good)
		return false;
	/* that there is nothing is no small talk */
	if (!export->is_quiet || written.ticks == 0)
		say_written(export, ppi_output_shown(path), &written);
	return true;
}
