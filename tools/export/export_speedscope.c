/* SPDX-License-Identifier: MIT */
/*
 * Call chains as speedscope reads them: a profile of the type "sampled" for each
 * thread, whose samples are in the order of time where it was kept, by
 * https://www.speedscope.app/file-format-schema.json. Where waits were measured it is
 * all of the time, and what a thread waited for is the innermost frame.
 */
#include "config.h"

#include "tools/export/export.h"

#include "base/json.h"
#include "base/vector.h"
#include "tools/output.h"
#include "tools/tools.h"
#include "tools/view/owners.h"
#include "tools/view/rows.h"

#include <inttypes.h>
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

/* Those of one thread follow each other. */
struct entry {
	uint32_t thread;
	uint64_t time_ns; /* 0: not kept */
	size_t sample;
};

struct thread {
	uint32_t pid, tid;
	const char *name;
	uint64_t weight;
};

struct threads {
	struct ppi_vector entries; /* struct entry */
	struct ppi_vector threads; /* struct thread, by number */
};

struct writing {
	const struct ppi_export *export;
	const struct ppi_symbols_name *names;
	struct frame *frames;
	size_t frame_count; /* those of waits are numbered behind them */
	struct ppi_labels waits;
	struct threads threads;
	struct ppi_json json;
};

/* The frame of what a sample's thread waited for; NULL: it has none, or out of
 * memory, as *is_good says. */
static const struct ppi_label_value *
wait_of(struct writing *writing, const portprof_profile_sample *sample,
        bool *is_good)
{
	const struct ppi_label_value *value;
	char name[128];

	if (!ppi_subject_frame(writing->export->profile, sample, name,
	                       sizeof(name)))
		return NULL;
	value = ppi_labels_enter(&writing->waits, name);
	*is_good &= value != NULL;
	return value;
}

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

/* In the order of their numbers, which is that of their first coming. */
static bool put_wait_frames(struct writing *writing)
{
	const portprof_profile_sample *sample;
	bool is_good = true;
	uint32_t known = 0;

	for (size_t i = 0;
	     is_good && (sample = portprof_profile_sample_get(
				 writing->export->profile, i)) != NULL; i++) {
		const struct ppi_label_value *value =
			wait_of(writing, sample, &is_good);

		if (!value || value->number < known)
			continue;
		known = value->number + 1;
		ppi_json_object(&writing->json, NULL);
		ppi_json_text(&writing->json, "name", value->text);
		ppi_json_close(&writing->json);
	}
	return is_good;
}

/* All functions of the profile, in the order of their numbers. */
static bool put_frames(struct writing *writing)
{
	size_t count = portprof_profile_location_count(writing->export->profile);
	bool is_good;

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
	is_good = put_wait_frames(writing);
	ppi_json_close(&writing->json);
	ppi_json_close(&writing->json);
	return is_good;
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
	bool is_good = true;
	const struct ppi_label_value *wait =
		wait_of(writing, sample, &is_good);

	ppi_json_array(&writing->json, NULL);
	for (size_t i = sample->depth; i-- > 0;)
		put_outermost_first(writing,
		                    &writing->names[sample->locations[i]]);
	if (wait)
		ppi_json_number(&writing->json, NULL,
		                writing->frame_count + wait->number);
	ppi_json_close(&writing->json);
}

/* ---- a profile for each thread, in the order of time ---- */

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->sample < b->sample ? -1 : a->sample > b->sample;
}

static bool add_sample(struct threads *threads,
                       const struct ppi_owner *owner, uint64_t time_ns,
                       size_t number, uint64_t weight)
{
	struct entry entry = { owner->number, time_ns, number };
	struct thread thread = { owner->pid, owner->tid, owner->name, 0 };

	while (threads->threads.count <= owner->number)
		if (!ppi_vector_add(&threads->threads, sizeof(thread), &thread,
		                    1))
			return false;
	PPI_AT(&threads->threads, struct thread)[owner->number].weight +=
		weight;
	return ppi_vector_add(&threads->entries, sizeof(entry), &entry, 1);
}

static bool find_threads(const struct ppi_export *export,
                         struct threads *threads)
{
	const portprof_profile *profile = export->profile;
	const portprof_profile_sample *sample;
	struct ppi_owners owners;
	bool is_good = ppi_owners_open(&owners, profile,
	                               PPI_BY_THREAD | PPI_BY_PROCESS);

	for (size_t i = 0; is_good && (sample = portprof_profile_sample_get(
					       profile, i)) != NULL; i++) {
		uint64_t weight = ppi_export_weight(export, i, sample);
		const struct ppi_owner *owner;

		if (!weight)
			continue;
		owner = ppi_owners_find(&owners, sample);
		is_good = owner && add_sample(threads, owner,
		                              portprof_profile_sample_time(
						      profile, i),
		                              i, weight);
	}
	if (is_good && threads->entries.count)
		qsort(threads->entries.data, threads->entries.count,
		      sizeof(struct entry), compare_entries);
	ppi_owners_close(&owners);
	return is_good;
}

static void put_samples(struct writing *writing,
                        const struct entry *from, const struct entry *to)
{
	const portprof_profile *profile = writing->export->profile;

	ppi_json_array(&writing->json, "samples");
	for (const struct entry *at = from; at < to; at++)
		put_stack(writing, portprof_profile_sample_get(profile,
		                                               at->sample));
	ppi_json_close(&writing->json);
	ppi_json_array(&writing->json, "weights");
	for (const struct entry *at = from; at < to; at++)
		ppi_json_number(&writing->json, NULL,
		                ppi_export_weight(
					writing->export, at->sample,
					portprof_profile_sample_get(
						profile, at->sample)));
	ppi_json_close(&writing->json);
}

static void put_thread(struct writing *writing, const struct thread *thread,
                       const struct entry *from, const struct entry *to)
{
	const portprof_profile_event *event = ppi_export_event(writing->export);
	char name[400];

	if (thread && thread->tid)
		snprintf(name, sizeof(name), "%.100s/%" PRIu32 ": %.250s",
		         thread->name[0] ? thread->name : "?", thread->tid,
		         event->name);
	else
		snprintf(name, sizeof(name), "%.250s", event->name);
	ppi_json_object(&writing->json, NULL);
	ppi_json_text(&writing->json, "type", "sampled");
	ppi_json_text(&writing->json, "name", name);
	ppi_json_text(&writing->json, "unit",
	              event->unit == PORTPROF_UNIT_NANOSECONDS ? "nanoseconds"
	                                                       : "none");
	put_samples(writing, from, to);
	ppi_json_number(&writing->json, "startValue", 0);
	ppi_json_number(&writing->json, "endValue",
	                thread ? thread->weight : 0);
	ppi_json_close(&writing->json);
}

/* The first that speedscope shows is the busiest. */
static void put_threads(struct writing *writing, const struct threads *threads)
{
	const struct thread *list = threads->threads.data;
	const struct entry *entries = threads->entries.data;
	size_t count = threads->entries.count, end;
	uint32_t busiest = 0;

	for (uint32_t i = 1; i < threads->threads.count; i++)
		if (list[i].weight > list[busiest].weight)
			busiest = i;
	ppi_json_array(&writing->json, "profiles");
	for (size_t i = 0; i < count; i = end) {
		for (end = i; end < count &&
		              entries[end].thread == entries[i].thread; end++)
			;
		put_thread(writing, &list[entries[i].thread], entries + i,
		           entries + end);
	}
	if (!count)
		put_thread(writing, NULL, NULL, NULL);
	ppi_json_close(&writing->json);
	ppi_json_number(&writing->json, "activeProfileIndex", busiest);
}

static bool put_profile(void *context, FILE *out)
{
	struct writing *writing = context;
	const struct ppi_export *export = writing->export;

	ppi_json_begin(&writing->json, out, true);
	ppi_json_text(&writing->json, "$schema",
	              "https://www.speedscope.app/file-format-schema.json");
	ppi_json_text(&writing->json, "exporter",
	              "portprof " PORTPROF_VERSION_STRING);
	ppi_json_text(&writing->json, "name", export->input);
	if (!put_frames(writing))
		return false;
	put_threads(writing, &writing->threads);
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
	ppi_labels_open(&writing.waits, export->profile, "");
	is_good = find_threads(export, &writing.threads);
	if (!is_good)
		ppi_say("out of memory");
	is_good = is_good &&
	          ppi_out_write(export->output, put_profile, &writing);
	ppi_labels_close(&writing.waits);
	ppi_vector_free(&writing.threads.entries);
	ppi_vector_free(&writing.threads.threads);
	HASH_ITER (hh, writing.frames, frame, next) {
		HASH_DEL(writing.frames, frame);
		free(frame);
	}
	ppi_named_free(&named);
	return is_good;
}
