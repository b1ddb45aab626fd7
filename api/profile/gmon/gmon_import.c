/* SPDX-License-Identifier: MIT */
/*
 * gmon.out into memory: bins become samples of a span, counted calls chains of
 * two.
 */
#include "config.h"

#include <portprof/gmon.h>

#include "api/common/diag.h"
#include "api/profile/gmon/gmon.h"
#include "api/profile/image.h"
#include "api/profile/model.h"
#include "base/foreign_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NS_PER_SECOND UINT64_C(1000000000)

struct converting {
	const char *path, *program;
	const struct ppi_gmon *gmon;
	struct ppi_image image; /* where there is a program */
	uint32_t mappings[16];  /* of the image's code */
	portprof_profile *profile;
	bool is_seconds;
	uint64_t ticks, weight, astray; /* so far; astray: in no code */
	const struct ppi_bounds *bounds;
	struct ppi_diag *why;
};

static portprof_status out_of_memory(const struct converting *converting)
{
	return ppi_fail(converting->why, PORTPROF_E_NOMEM, ENOMEM,
	                "read profile", "out of memory while reading '%s'",
	                converting->path);
}

/* ---- what is measured ---- */

/* The first event's name, and a sentence about it. */
static void describe(const struct converting *converting, char *name,
                     size_t name_bytes, char *words, size_t words_bytes)
{
	const struct ppi_gmon *gmon = converting->gmon;

	if (converting->is_seconds) {
		snprintf(name, name_bytes, "cpu");
		snprintf(words, words_bytes,
		         "CPU time of the program's own code, %" PRIu32
		         " ticks a second",
		         gmon->rate);
	} else if (gmon->rate == 0) {
		snprintf(name, name_bytes, "ticks");
		snprintf(words, words_bytes,
		         "ticks; how many make a second is not in the file");
	} else {
		snprintf(name, name_bytes, "%.15s/%" PRIu32,
		         gmon->dimension[0] ? gmon->dimension : "units",
		         gmon->rate);
		snprintf(words, words_bytes,
		         "ticks, of which %" PRIu32 " make one %.15s",
		         gmon->rate, gmon->dimension);
	}
}

static bool add_events(const struct converting *converting)
{
	portprof_profile *profile = converting->profile;
	bool has_calls = converting->gmon->arc_count > 0;
	char name[40], words[120];

	describe(converting, name, sizeof(name), words, sizeof(words));
	return ppi_profile_add_event(profile, name, words,
	                             converting->is_seconds
	                                     ? PORTPROF_UNIT_NANOSECONDS
	                                     : PORTPROF_UNIT_COUNT,
	                             converting->is_seconds) &&
	       (!has_calls ||
	        ppi_profile_add_event(
			profile, "calls",
			"calls, counted by code compiled with -pg; or, in what "
			"portprof export --arcs wrote, samples of them",
			PORTPROF_UNIT_COUNT, false)) &&
	       ppi_profile_add_types(profile);
}

/* ---- where ---- */

static bool add_mappings(struct converting *converting)
{
	char path[PATH_MAX];

	if (!converting->program)
		return true;
	if (!realpath(converting->program, path))
		snprintf(path, sizeof(path), "%s", converting->program);
	for (size_t i = 0; i < converting->image.code_count; i++) {
		const struct ppi_image_code *code = &converting->image.code[i];
		struct ppi_mapping mapping = {
			.shown = { .start = code->address,
			           .limit = code->address + code->bytes,
			           .file_offset = code->offset,
			           .path = path,
			           .build_id = converting->image.build_id },
		};

		converting->mappings[i] = ppi_profile_mapping(
			converting->profile, &mapping, false);
		if (converting->mappings[i] == PPI_NONE)
			return false;
	}
	converting->profile->has_main = true;
	return true;
}

/* A location; PPI_NONE without memory. */
static uint32_t locate(const struct converting *converting, uint64_t address,
                       bool *is_astray)
{
	uint32_t mapping = PPI_NONE;

	for (size_t i = 0;
	     converting->program && i < converting->image.code_count; i++) {
		const struct ppi_image_code *code = &converting->image.code[i];

		if (address >= code->address &&
		    address - code->address < code->bytes)
			mapping = converting->mappings[i];
	}
	*is_astray = converting->program && mapping == PPI_NONE;
	return ppi_profile_location(converting->profile, mapping, address, NULL,
	                            0, false);
}

/* Asked at every bin and call, as each may become a sample. */
static bool is_in_bounds(const struct converting *converting)
{
	const struct ppi_bounds *bounds = converting->bounds;

	return ppi_bounds_hold(bounds,
	                       bounds->file_bytes * PPI_LOAD_GROWTH +
	                               ppi_profile_bytes(converting->profile));
}

/* ---- ticks ---- */

/* What so many ticks are in all; so their parts add up to it. */
static uint64_t weight_of(const struct converting *converting, uint64_t ticks)
{
	uint64_t rate = converting->gmon->rate;

	if (!converting->is_seconds)
		return ticks;
	return ticks / rate * NS_PER_SECOND +
	       ticks % rate * NS_PER_SECOND / rate;
}

static uint32_t span_label(portprof_profile *profile, uint64_t span)
{
	struct ppi_label label = {
		.key = ppi_profile_text(profile, "span", 4),
		.unit = ppi_profile_text(profile, "bytes", 5),
		.number = (int64_t)span,
	};

	if (label.key == PPI_NONE || label.unit == PPI_NONE)
		return PPI_NONE;
	return ppi_profile_labels(profile, &label, span > 1 ? 1 : 0);
}

static bool add_bin(struct converting *converting, uint64_t address,
                    uint64_t ticks, uint32_t labels)
{
	uint64_t before = weight_of(converting, converting->ticks);
	uint64_t samples[2] = { ticks, 0 };
	uint64_t weights[2] = {
		weight_of(converting, converting->ticks + ticks) - before, 0
	};
	bool is_astray;
	uint32_t location = locate(converting, address, &is_astray);
	portprof_profile_sample sample = {
		.locations = &location,
		.depth = 1,
		.samples = samples,
		.weights = weights,
	};

	converting->ticks += ticks;
	if (is_astray)
		converting->astray += ticks;
	return location != PPI_NONE &&
	       ppi_profile_sample(converting->profile, &sample, labels) &&
	       is_in_bounds(converting);
}

static bool add_histogram(struct converting *converting,
                          const struct ppi_gmon_histogram *histogram)
{
	uint64_t bins = histogram->bin_count;
	uint64_t bytes = histogram->high - histogram->low;
	uint32_t labels =
		span_label(converting->profile, (bytes + bins - 1) / bins);

	if (labels == PPI_NONE)
		return false;
	for (size_t i = 0; i < bins; i++) {
		uint64_t ticks = ppi_gmon_bin(histogram, i);
		uint64_t address = histogram->low + bytes / bins * i +
		                   bytes % bins * i / bins;

		if (ticks && !add_bin(converting, address, ticks, labels))
			return false;
	}
	return true;
}

/* The caller's address lies behind the call; 0 is for what nobody called. */
static bool add_arc(struct converting *converting,
                    const struct ppi_gmon_arc *arc)
{
	bool is_astray;
	uint32_t locations[2] = {
		locate(converting, arc->self, &is_astray),
		arc->from ? locate(converting, arc->from - 1, &is_astray) : 0,
	};
	uint64_t samples[2] = { 0, arc->count }, weights[2] = { 0, arc->count };
	portprof_profile_sample sample = {
		.locations = locations,
		.depth = arc->from ? 2 : 1,
		.samples = samples,
		.weights = weights,
	};

	return locations[0] != PPI_NONE && locations[1] != PPI_NONE &&
	       ppi_profile_sample(converting->profile, &sample, 0) &&
	       is_in_bounds(converting);
}

/* ---- what is unknown ---- */

static bool add_notes(const struct converting *converting)
{
	portprof_profile *profile = converting->profile;
	struct stat file, program;
	char words[400];

	if (!ppi_profile_note(profile,
	                      "gmon.out has no threads, command, time of the "
	                      "run, code in shared libraries or lost samples"))
		return false;
	if (!converting->program &&
	    !ppi_profile_note(profile, "gmon.out does not name the program "
	                               "that wrote it: no symbols"))
		return false;
	if (converting->astray) {
		snprintf(words, sizeof(words),
		         "%" PRIu64 " of %" PRIu64 " ticks lie in no code of "
		         "'%s': is it the program that wrote '%s'?",
		         converting->astray, converting->ticks,
		         converting->program, converting->path);
		if (!ppi_profile_note(profile, words))
			return false;
	}
	if (converting->program && stat(converting->path, &file) == 0 &&
	    stat(converting->program, &program) == 0 &&
	    program.st_mtime > file.st_mtime) {
		snprintf(words, sizeof(words),
		         "'%s' is newer than '%s': if it was rebuilt since, "
		         "the names below are wrong",
		         converting->program, converting->path);
		if (!ppi_profile_note(profile, words))
			return false;
	}
	if (converting->gmon->block_count == 0)
		return true;
	snprintf(words, sizeof(words),
	         "counts of %" PRIu64 " basic blocks are left out",
	         converting->gmon->block_count);
	return ppi_profile_note(profile, words);
}

static portprof_status convert(struct converting *converting)
{
	const struct ppi_gmon *gmon = converting->gmon;
	portprof_status status;
	bool is_good;

	converting->is_seconds =
		gmon->rate && strcmp(gmon->dimension, "seconds") == 0;
	converting->profile = ppi_profile_new();
	if (!converting->profile)
		return out_of_memory(converting);
	is_good = add_events(converting) && add_mappings(converting);
	for (size_t i = 0; is_good && i < gmon->histogram_count; i++)
		is_good = add_histogram(converting, &gmon->histograms[i]);
	for (size_t i = 0; is_good && i < gmon->arc_count; i++)
		is_good = add_arc(converting, &gmon->arcs[i]);
	if (is_good && add_notes(converting))
		return PORTPROF_OK;
	status = is_in_bounds(converting)
	                 ? out_of_memory(converting)
	                 : ppi_bounds_fail(converting->bounds,
	                                   converting->path, converting->why);
	portprof_profile_free(converting->profile);
	return status;
}

static portprof_status parse(struct converting *converting,
                             const struct ppi_vector *bytes,
                             struct ppi_gmon *gmon)
{
	unsigned pointer_bytes =
		converting->program ? converting->image.pointer_bytes : 0;
	struct ppi_gmon_why words;
	enum ppi_gmon_status status = ppi_gmon_parse(
		bytes->data, bytes->count, pointer_bytes, gmon, &words);

	if (status == PPI_GMON_MEMORY)
		return out_of_memory(converting);
	if (status != PPI_GMON_OK)
		return ppi_fail(converting->why, PORTPROF_E_FORMAT, 0,
		                "read profile", "'%s' cannot be read %s",
		                converting->path, words.words);
	if (!converting->program ||
	    (gmon->pointer_bytes == converting->image.pointer_bytes &&
	     gmon->is_swapped == converting->image.is_swapped))
		return PORTPROF_OK;
	ppi_gmon_free(gmon);
	return ppi_fail(converting->why, PORTPROF_E_FORMAT, 0, "read profile",
	                "'%s' was written by a program for another machine "
	                "than '%s': name the program that wrote it",
	                converting->path, converting->program);
}

portprof_status portprof_gmon_read(const char *path, const char *program,
                                   uint64_t memory_max,
                                   portprof_profile **profile)
{
	struct ppi_bounds bounds = { .asked = memory_max };
	struct ppi_diag why = { 0 };
	struct converting converting = { .path = path,
		                         .program = program,
		                         .bounds = &bounds,
		                         .why = &why };
	struct ppi_vector bytes = { 0 };
	struct ppi_gmon gmon = { 0 };
	portprof_status status;

	if (!path)
		return ppi_refuse_null("portprof_gmon_read", "path");
	if (!profile)
		return ppi_refuse_null("portprof_gmon_read", "profile");
	status = ppi_bounds_load(&bounds, path, &bytes, &why);
	if (status == PORTPROF_OK && program)
		status = ppi_image_read(program, &converting.image, &why);
	if (status == PORTPROF_OK)
		status = parse(&converting, &bytes, &gmon);
	if (status == PORTPROF_OK) {
		converting.gmon = &gmon;
		status = convert(&converting);
		ppi_gmon_free(&gmon);
	}
	ppi_vector_free(&bytes);
	if (status != PORTPROF_OK)
		return ppi_report(&why);
	*profile = converting.profile;
	return PORTPROF_OK;
}

/* ---- what a file is ---- */

int portprof_gmon_is(const char *path)
{
	unsigned char begin[64];
	ssize_t got;
	int fd;

	/* what is no regular file could not be read a second time */
	if (!path)
		return 0;
	fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, NULL);
	if (fd < 0)
		return 0;
	got = pread(fd, begin, sizeof(begin), 0);
	close(fd);
	return got > 0 && ppi_gmon_is(begin, (size_t)got);
}
