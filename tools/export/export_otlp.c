/* SPDX-License-Identifier: MIT */
/*
 * A profile as OpenTelemetry has it: one message ProfilesData (otlp.proto). Of
 * each event it has a profile, and all share one dictionary. Attributes have
 * the names of OpenTelemetry's semantic conventions.
 */
#include "config.h"

#include "tools/export/export.h"

#include "base/pool.h"
#include "base/text.h"
#include "tools/export/otlp_tables.h"
#include "tools/output.h"
#include "tools/tools.h"
#include "tools/view/owners.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one profile for each event ---- */

/* Numbers of fields in otlp.proto that are written one at a time. */
enum {
	DATA_RESOURCE = 1,
	DATA_DICTIONARY = 2,
	RESOURCE_RESOURCE = 1,
	RESOURCE_SCOPE = 2,
	SCOPE_SCOPE = 1,
	SCOPE_PROFILE = 2,
	PROFILE_SAMPLE = 2
};

/* Attributes of a sample: whose it is, and labels. */
enum { LABELS_MAX = 64, OF_SAMPLE_MAX = 3 + LABELS_MAX };

struct thread { uint32_t pid, tid; int32_t name; };

/* A sample, in the order of what tells observations apart. */
struct piece {
	int32_t stack, thread, labels, link;
	size_t sample;
};

struct writing {
	const struct ppi_export *export;
	struct ppi_otlp_tables tables;
	struct ppi_pool threads;
	struct ppi_pool labels; /* lists of attributes */
	struct piece *pieces;
	size_t piece_count, event;
	int64_t *values; /* room for all samples */
	uint64_t *times;
};

/* ---- samples ---- */

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->labels != b->labels)
		return a->labels < b->labels ? -1 : 1;
	return a->sample < b->sample ? -1 : a->sample > b->sample;
}

/* So many bytes in hexadecimal; false for anything else. */
static bool read_id(const char *text, uint8_t *id, size_t bytes)
{
	if (strlen(text) != 2 * bytes ||
	    strspn(text, "0123456789abcdef") != 2 * bytes)
		return false;
	for (size_t i = 0; i < bytes; i++) {
		char pair[] = { text[2 * i], text[2 * i + 1], '\0' };

		id[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return true;
}

/* Labels are attributes; those of a trace and a span are a link. */
static void find_labels(struct writing *writing,
                        const portprof_profile_sample *sample,
                        struct piece *piece)
{
	struct ppi_otlp_tables *tables = &writing->tables;
	int32_t list[LABELS_MAX];
	struct ppi_otlp_link link = { { 0 }, { 0 } };
	bool has_span = false;
	size_t count = 0;
	portprof_profile_label label;

	for (size_t i = 0; count < LABELS_MAX &&
	                   portprof_profile_label_get(writing->export->profile,
	                                              sample, i, &label);
	     i++) {
		if (strcmp(label.name, "trace_id") == 0)
			read_id(label.text, link.trace, sizeof(link.trace));
		if (strcmp(label.name, "span_id") == 0)
			has_span = read_id(label.text, link.span,
			                   sizeof(link.span));
		if (!ppi_label_is_own(label.name))
			list[count++] = ppi_otlp_attribute(
				tables, label.name,
				label.text[0] ? label.text : NULL,
				label.number);
	}
	piece->labels = ppi_otlp_number(tables, &writing->labels, list,
	                                count * sizeof(*list));
	piece->link = has_span ? ppi_otlp_number(tables, &tables->links, &link,
	                                         sizeof(link)) : 0;
}

static bool find_pieces(struct writing *writing)
{
	struct ppi_otlp_tables *tables = &writing->tables;
	const portprof_profile *profile = writing->export->profile;
	size_t count = portprof_profile_sample_count(profile);

	writing->pieces = calloc(count + 1, sizeof(*writing->pieces));
	writing->values = calloc(count + 1, sizeof(*writing->values));
	writing->times = calloc(count + 1, sizeof(*writing->times));
	if (!writing->pieces || !writing->values || !writing->times)
		return false;
	writing->piece_count = count;
	for (size_t i = 0; i < count; i++) {
		const portprof_profile_sample *sample =
			portprof_profile_sample_get(profile, i);
		struct thread thread = {
			sample->pid, sample->tid,
			ppi_otlp_text(tables, sample->thread_name),
		};
		size_t bytes = sample->depth * sizeof(*sample->locations);

		find_labels(writing, sample, &writing->pieces[i]);
		writing->pieces[i].sample = i;
		writing->pieces[i].stack = ppi_otlp_number(
			tables, &tables->stacks, sample->locations, bytes);
		writing->pieces[i].thread = ppi_otlp_number(
			tables, &writing->threads, &thread, sizeof(thread));
	}
	qsort(writing->pieces, count, sizeof(*writing->pieces), compare_pieces);
	return !tables->is_short;
}

static size_t find_attributes(struct writing *writing,
                              const struct piece *piece, int32_t *attributes)
{
	struct ppi_otlp_tables *tables = &writing->tables;
	const portprof_profile_sample *sample = portprof_profile_sample_get(
		tables->profile, piece->sample);
	size_t count = 0;

	if (sample->pid)
		attributes[count++] = ppi_otlp_attribute(
			tables, "process.pid", NULL, sample->pid);
	if (sample->tid)
		attributes[count++] = ppi_otlp_attribute(
			tables, "thread.id", NULL, sample->tid);
	if (sample->thread_name[0])
		attributes[count++] = ppi_otlp_attribute(
			tables, "thread.name", sample->thread_name, 0);
	if (piece->labels) {
		size_t bytes;
		const int32_t *list = ppi_otlp_thing(
			&writing->labels, (size_t)piece->labels, &bytes);

		memcpy(attributes + count, list, bytes);
		count += bytes / sizeof(*attributes);
	}
	return count;
}

/* Observations of one chain and thread: with their times where these are
 * known, else their sum. */
static void put_sample(struct writing *writing, struct ppi_otlp_out *out,
                       size_t first, size_t end)
{
	const portprof_profile *profile = writing->export->profile;
	bool has_times = portprof_profile_origin_get(profile)->timeline_ns != 0;
	PpiOtlp__Sample message = PPI_OTLP__SAMPLE__INIT;
	int32_t attributes[OF_SAMPLE_MAX];
	size_t count = 0;

	for (size_t i = first; i < end; i++) {
		size_t number = writing->pieces[i].sample;
		uint64_t weight = portprof_profile_sample_get(profile, number)
		                          ->weights[writing->event];

		if (weight == 0)
			continue;
		if (!has_times && count) {
			writing->values[0] += (int64_t)weight;
			continue;
		}
		writing->values[count] = (int64_t)weight;
		writing->times[count++] =
			portprof_profile_sample_time(profile, number);
	}
	if (count == 0)
		return;
	message.stack_index = writing->pieces[first].stack;
	message.attribute_indices = attributes;
	message.n_attribute_indices =
		find_attributes(writing, &writing->pieces[first], attributes);
	message.link_index = writing->pieces[first].link;
	message.values = writing->values;
	message.n_values = count;
	message.timestamps_unix_nano = writing->times;
	message.n_timestamps_unix_nano = has_times ? count : 0;
	ppi_otlp_put_message(out, PROFILE_SAMPLE, &message);
}

static void put_profile(struct ppi_otlp_out *out, void *context)
{
	struct writing *writing = context;
	const portprof_profile *profile = writing->export->profile;
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	const portprof_profile_event *event =
		portprof_profile_event_get(profile, writing->event);
	const struct piece *pieces = writing->pieces;
	PpiOtlp__Profile message = PPI_OTLP__PROFILE__INIT;
	PpiOtlp__ValueType type = PPI_OTLP__VALUE_TYPE__INIT;

	type.type_strindex = ppi_otlp_text(&writing->tables, event->name);
	type.unit_strindex = ppi_otlp_text(
		&writing->tables, event->unit == PORTPROF_UNIT_NANOSECONDS
		                 ? "nanoseconds" : "count");
	message.sample_type = &type;
	message.time_unix_nano = origin->start_ns;
	message.duration_nano = origin->duration_ns;
	ppi_otlp_put_fields(out, &message);
	for (size_t first = 0, end; first < writing->piece_count; first = end) {
		for (end = first + 1; end < writing->piece_count &&
		                      pieces[end].stack == pieces[first].stack &&
		                      pieces[end].thread == pieces[first].thread &&
		                      pieces[end].labels == pieces[first].labels;)
			end++;
		put_sample(writing, out, first, end);
	}
}

static void put_scope(struct ppi_otlp_out *out, void *context)
{
	static char name[] = "portprof", version[] = PORTPROF_VERSION_STRING;
	struct writing *writing = context;
	const struct ppi_export *export = writing->export;
	size_t count = portprof_profile_event_count(export->profile);
	PpiOtlp__InstrumentationScope scope =
		PPI_OTLP__INSTRUMENTATION_SCOPE__INIT;

	scope.name = name;
	scope.version = version;
	ppi_otlp_put_message(out, SCOPE_SCOPE, &scope);
	for (writing->event = 0; writing->event < count; writing->event++)
		if (!export->event || writing->event == export->event_number)
			ppi_otlp_put_nested(out, SCOPE_PROFILE, put_profile,
			                    writing);
}

/* Where it was measured; NULL when that is not one host. */
static const char *host_of(const portprof_profile_origin *origin)
{
	static const char key[] = "host: ";
	const char *host = NULL;

	for (size_t i = 0; i < origin->fact_count; i++) {
		if (strncmp(origin->facts[i], key, strlen(key)) != 0)
			continue;
		if (host)
			return NULL;
		host = origin->facts[i] + strlen(key);
	}
	return host;
}

enum { ATTRIBUTES_MAX = 64 };

/* A text that is no UTF-8 is no name of anything. */
static void put_attributes_of(struct ppi_otlp_out *out,
                              const char *const *attributes)
{
	PpiOtlp__Resource resource = PPI_OTLP__RESOURCE__INIT;
	PpiOtlp__KeyValue pairs[ATTRIBUTES_MAX], *at[ATTRIBUTES_MAX];
	PpiOtlp__AnyValue values[ATTRIBUTES_MAX];
	size_t count = 0;

	for (; *attributes && count < ATTRIBUTES_MAX; attributes += 2) {
		if (!ppi_text_is_clean(attributes[1]))
			continue;
		ppi_otlp__key_value__init(&pairs[count]);
		ppi_otlp_fill_value(&values[count], attributes[1], 0);
		pairs[count].key = (char *)(uintptr_t)attributes[0];
		pairs[count].value = &values[count];
		at[count] = &pairs[count];
		count++;
	}
	resource.attributes = at;
	resource.n_attributes = count;
	if (count)
		ppi_otlp_put_message(out, RESOURCE_RESOURCE, &resource);
}

static void put_resource(struct ppi_otlp_out *out, void *context)
{
	struct writing *writing = context;
	const char *host = host_of(portprof_profile_origin_get(
		writing->export->profile));
	const char *const own[] = { host ? "host.name" : NULL, host, NULL };

	put_attributes_of(out, writing->export->attributes
	                       ? writing->export->attributes : own);
	ppi_otlp_put_nested(out, RESOURCE_SCOPE, put_scope, writing);
}

static bool put_data(void *context, FILE *file)
{
	struct writing *writing = context;
	struct ppi_otlp_out out = { file, 0 };

	ppi_otlp_put_nested(&out, DATA_RESOURCE, put_resource, writing);
	ppi_otlp_put_nested(&out, DATA_DICTIONARY, ppi_otlp_put_dictionary,
	                    &writing->tables);
	return !writing->tables.is_short;
}

bool ppi_export_otlp(const struct ppi_export *export)
{
	struct writing writing = {
		.export = export, .tables.profile = export->profile,
	};
	struct ppi_named names;
	bool is_good = ppi_export_name(export, true, true, &names);

	if (is_good) {
		writing.tables.names = names.names;
		is_good = find_pieces(&writing);
		if (!is_good)
			ppi_say("out of memory");
		is_good = is_good && ppi_out_write(export->output, put_data,
		                                   &writing);
		ppi_named_free(&names);
	}
	if (is_good && !export->is_quiet)
		ppi_say("experimental: OTLP profiles of opentelemetry-proto "
		        "1.11.0 (profiles v1development)");
	free(writing.pieces);
	free(writing.values);
	free(writing.times);
	ppi_pool_free(&writing.threads);
	ppi_pool_free(&writing.labels);
	ppi_otlp_tables_free(&writing.tables);
	return is_good;
}
