/* SPDX-License-Identifier: MIT */
/*
 * The CPU profile of gperftools, by its docs/cpuprofile-fileformat.html: words
 * of this machine, a header, call chains with their numbers of samples, a
 * trailer, and the mappings as in /proc/PID/maps. Its readers find names
 * themselves, in the files.
 */
#include "config.h"

#include "tools/export/export.h"

#include "tools/output.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_code_file(const portprof_profile_mapping *mapping)
{
	return mapping->path[0] == '/' && !strpbrk(mapping->path, "\n");
}

/* Microseconds that a sample stands for, 1 of what is no time. */
static uint64_t find_period(const struct ppi_export *export)
{
	const portprof_profile_sample *sample;
	double samples = 0, weight = 0;
	uint64_t period;

	if (portprof_profile_event_get(export->profile, export->event_number)
	            ->unit != PORTPROF_UNIT_NANOSECONDS)
		return 1;
	for (size_t i = 0; (sample = portprof_profile_sample_get(
				    export->profile, i)) != NULL; i++) {
		samples += (double)sample->samples[export->event_number];
		weight += (double)sample->weights[export->event_number];
	}
	period = samples > 0 ? (uint64_t)(weight / samples / 1e3 + 0.5) : 1;
	return period ? period : 1;
}

static void put_word(uint64_t number, FILE *out)
{
	uintptr_t word = (uintptr_t)number;

	fwrite(&word, sizeof(word), 1, out);
}

/* Readers take 1 from callers: they expect return addresses. */
static void put_chain(const struct ppi_export *export,
                      const portprof_profile_sample *sample, FILE *out)
{
	put_word(sample->samples[export->event_number], out);
	put_word(sample->depth ? sample->depth : 1, out);
	if (sample->depth == 0)
		put_word(0, out);
	for (size_t i = 0; i < sample->depth; i++)
		put_word(portprof_profile_location_get(export->profile,
		                                       sample->locations[i])
		                         ->address + (i > 0), out);
}

static bool put_profile(void *context, FILE *out)
{
	const struct ppi_export *export = context;
	const portprof_profile_mapping *mapping;
	const portprof_profile_sample *sample;
	const uint64_t header[] = { 0, 3, 0, find_period(export), 0 };

	for (size_t i = 0; i < sizeof(header) / sizeof(header[0]); i++)
		put_word(header[i], out);
	for (size_t i = 0; (sample = portprof_profile_sample_get(
				    export->profile, i)) != NULL; i++)
		if (sample->samples[export->event_number])
			put_chain(export, sample, out);
	put_word(0, out);
	put_word(1, out);
	put_word(0, out);
	for (size_t i = 0; (mapping = portprof_profile_mapping_get(
				    export->profile, i)) != NULL; i++)
		if (is_code_file(mapping))
			fprintf(out, "%08" PRIx64 "-%08" PRIx64 " r-xp %08"
			        PRIx64 " 00:00 0 %s\n",
			        mapping->start, mapping->limit,
			        mapping->file_offset, mapping->path);
	return true;
}

bool ppi_export_gperftools(const struct ppi_export *export)
{
	struct ppi_export copy = *export;

	return ppi_out_write(export->output, put_profile, &copy);
}
