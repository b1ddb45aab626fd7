/* SPDX-License-Identifier: MIT */
/*
 * Call chains as speedscope reads them: one profile of the type "sampled", by
 * https://www.speedscope.app/file-format-schema.json.
 */
#include "config.h"

#include "tools/export/export.h"

#include "base/json.h"
#include "tools/view/rows.h"
#include "tools/output.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* A function, at whatever address. Names are kept once each, so their
 * addresses distinguish them. */
struct key {
	const char *function, *source_file;
};

struct frame {
	UT_hash_handle hh;
	struct key key;
	uint64_t line; /* where it was seen first */
	size_t number;
};

struct writing {
	const struct ppi_export *export;
	const struct ppi_symbols_name *names;
	struct frame *frames;
	size_t frame_count;
	struct ppi_json json;
};

static struct frame *frame_of(struct writing *writing,
                              const struct ppi_symbols_name *name)
{
	struct key key;
	struct frame *frame;

	memset(&key, 0, sizeof(key)); /* padding is compared too */
	key.function = name->function;
	key.source_file = name->source_file;
	HASH_FIND(hh, writing->frames, &key, sizeof(key), frame);
	if (frame)
		return frame;
	frame = malloc(sizeof(*frame));
	if (!frame)
		return NULL;
	frame->key = key;
	frame->line = name->line;
	frame->number = writing->frame_count++;
	HASH_ADD(hh, writing->frames, key, sizeof(frame->key), frame);
	return frame;
}

/* All functions of the profile, in the order of their numbers. */
static bool put_frames(struct writing *writing)
{
	size_t count = portprof_profile_location_count(writing->export->profile);

	for (size_t i = 0; i < count; i++)
		for (const struct ppi_symbols_name *name = &writing->names[i];
		     name; name = name->caller)
			if (!frame_of(writing, name))
				return false;
	ppi_json_object(&writing->json, "shared");
	ppi_json_array(&writing->json, "frames");
	for (struct frame *at = writing->frames; at; at = at->hh.next) {
		const char *file = at->key.source_file;

		ppi_json_object(&writing->json, NULL);
		ppi_json_text(&writing->json, "name", at->key.function);
		if (file && file[0])
			ppi_json_text(&writing->json, "file", file);
		if (file && file[0] && at->line)
			ppi_json_number(&writing->json, "line", at->line);
		ppi_json_close(&writing->json);
	}
	ppi_json_close(&writing->json);
	ppi_json_close(&writing->json);
	return true;
}

/* Names go from the innermost outwards, stacks the other way. */
static void put_outermost_first(struct writing *writing,
                                const struct ppi_symbols_name *name)
{
	if (name->caller)
		put_outermost_first(writing, name->caller);
	ppi_json_number(&writing->json, NULL, frame_of(writing, name)->number);
}

static void put_stack(struct writing *writing,
                      const portprof_profile_sample *sample)
{
	ppi_json_array(&writing->json, NULL);
	for (size_t i = sample->depth; i-- > 0;)
		put_outermost_first(writing,
		                    &writing->names[sample->locations[i]]);
	ppi_json_close(&writing->json);
}

static void put_samples(struct writing *writing, size_t event)
{
	const portprof_profile *profile = writing->export->profile;
	const portprof_profile_sample *sample;
	uint64_t sum = 0;

	ppi_json_array(&writing->json, "samples");
	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++)
		if (sample->weights[event])
			put_stack(writing, sample);
	ppi_json_close(&writing->json);
	ppi_json_array(&writing->json, "weights");
	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++) {
		if (sample->weights[event])
			ppi_json_number(&writing->json, NULL,
			                sample->weights[event]);
		sum += sample->weights[event];
	}
	ppi_json_close(&writing->json);
	ppi_json_number(&writing->json, "startValue", 0);
	ppi_json_number(&writing->json, "endValue", sum);
}

static bool put_profile(void *context, FILE *out)
{
	struct writing *writing = context;
	const struct ppi_export *export = writing->export;
	const portprof_profile_event *event = portprof_profile_event_get(
		export->profile, export->event_number);

	ppi_json_begin(&writing->json, out, true);
	ppi_json_text(&writing->json, "$schema",
	              "https://www.speedscope.app/file-format-schema.json");
	ppi_json_text(&writing->json, "exporter",
	              "portprof " PORTPROF_VERSION_STRING);
	ppi_json_text(&writing->json, "name", export->input);
	if (!put_frames(writing))
		return false;
	ppi_json_array(&writing->json, "profiles");
	ppi_json_object(&writing->json, NULL);
	ppi_json_text(&writing->json, "type", "sampled");
	ppi_json_text(&writing->json, "name", event->name);
	ppi_json_text(&writing->json, "unit",
	              event->unit == PORTPROF_UNIT_NANOSECONDS ? "nanoseconds"
	                                                       : "none");
	put_samples(writing, export->event_number);
	/* whether all was written is asked of the stream */
	ppi_json_end(&writing->json);
	return true;
}

bool ppi_export_speedscope(const struct ppi_export *export)
{
	struct ppi_named named;
	struct writing writing = { .export = export };
	struct frame *frame, *next;
	bool is_good;

	if (!ppi_export_name(export, true, true, &named))
		return false;
	writing.names = named.names;
	is_good = ppi_out_write(export->output, put_profile, &writing);
	HASH_ITER (hh, writing.frames, frame, next) {
		HASH_DEL(writing.frames, frame);
		free(frame);
	}
	ppi_named_free(&named);
	return is_good;
}
