/* SPDX-License-Identifier: MIT */
/*
 * A profile as OpenTelemetry has it: one message ProfilesData (otlp.proto). Of
 * each event it has a profile, and all share one dictionary. Attributes have
 * the names of OpenTelemetry's semantic conventions.
 */
#include "config.h"

#include "tools/export/export.h"

#include "base/pool.h"
#include "base/protobuf.h"
#include "base/text.h"
#include "tools/export/otlp.pb-c.h"
#include "tools/output.h"
#include "tools/tools.h"
#include "tools/view/owners.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables: equal things have one number; nothing is number 0 ---- */

/* The number of a thing, a new one if need be. -1 when out of memory. */
static int32_t table_number(struct ppi_pool *table, const void *thing,
                            size_t bytes)
{
	uint32_t number;

	if (bytes == 0)
		return 0;
	number = ppi_pool_enter(table, thing, bytes);
	return number == PPI_NONE ? -1 : (int32_t)number + 1;
}

/* The thing of a number from 1 on; *bytes unless NULL. NULL: there are no more. */
static const void *table_thing(const struct ppi_pool *table, size_t number,
                               size_t *bytes)
{
	return number <= ppi_pool_count(table)
		? ppi_pool_key(table, (uint32_t)number - 1, bytes) : NULL;
}

/* The number of a text; what is no UTF-8 in it becomes '?'. */
static int32_t text_number(struct ppi_pool *texts, const char *text)
{
	size_t bytes = strlen(text);
	char *clean = malloc(bytes + 1);
	int32_t number;

	if (!clean)
		return -1;
	memcpy(clean, text, bytes + 1);
	for (size_t i = 0; i < bytes;) {
		uint32_t code;
		size_t length = ppi_text_character(clean + i, &code);

		if (length == 0)
			clean[i] = '?';
		i += length ? length : 1;
	}
	number = table_number(texts, clean, bytes);
	free(clean);
	return number;
}

/* ---- nested messages, written without keeping them in memory ---- */

struct otlp_out {
	FILE *file; /* NULL: bytes are only counted */
	uint64_t bytes;
};

static void put_bytes(struct otlp_out *out, const void *data, size_t bytes)
{
	out->bytes += bytes;
	if (out->file && bytes)
		fwrite(data, 1, bytes, out->file);
}

static void put_varint(struct otlp_out *out, uint64_t number)
{
	uint8_t bytes[PPI_VARINT_BYTES];

	put_bytes(out, bytes, ppi_varint_put(bytes, number));
}

/* A field of the wire type 2: so many bytes follow. */
static void put_head(struct otlp_out *out, unsigned field, uint64_t bytes)
{
	put_varint(out, field << 3 | 2);
	put_varint(out, bytes);
}

struct stream {
	ProtobufCBuffer base;
	struct otlp_out *out;
};

static void append(ProtobufCBuffer *buffer, size_t bytes, const uint8_t *data)
{
	put_bytes(((struct stream *)(void *)buffer)->out, data, bytes);
}

/* The fields that are set in a message, as fields of the one around. */
static void put_part(struct otlp_out *out, const void *message)
{
	struct stream stream = { { append }, out };

	if (out->file)
		protobuf_c_message_pack_to_buffer(message, &stream.base);
	else
		out->bytes += protobuf_c_message_get_packed_size(message);
}

/* A field that holds a message, a text, or what `put` writes, which must be
 * the same when it is called again. */
static void put_message(struct otlp_out *out, unsigned field,
                        const void *message)
{
	put_head(out, field, protobuf_c_message_get_packed_size(message));
	put_part(out, message);
}

static void put_text(struct otlp_out *out, unsigned field,
                     const char *text, size_t bytes)
{
	put_head(out, field, bytes);
	put_bytes(out, text, bytes);
}

static void put_nested(struct otlp_out *out, unsigned field,
                       void (*put)(struct otlp_out *out, void *context),
                       void *context)
{
	struct otlp_out counted = { 0 };

	put(&counted, context);
	put_head(out, field, counted.bytes);
	if (out->file)
		put(out, context);
	else
		out->bytes += counted.bytes;
}

/* ---- one profile for each event ---- */

/* Numbers of fields in otlp.proto that are written one at a time. */
enum {
	DATA_RESOURCE = 1,
	DATA_DICTIONARY = 2,
	RESOURCE_RESOURCE = 1,
	RESOURCE_SCOPE = 2,
	SCOPE_SCOPE = 1,
	SCOPE_PROFILE = 2,
	PROFILE_SAMPLE = 2,
	TABLE_MAPPING = 1,
	TABLE_LOCATION = 2,
	TABLE_FUNCTION = 3,
	TABLE_LINK = 4,
	TABLE_STRING = 5,
	TABLE_ATTRIBUTE = 6,
	TABLE_STACK = 7
};

/* Functions of a location; a deeper one is cut. And of a sample attributes: whose it
 * is, and labels. */
enum { LINES_MAX = 64, LABELS_MAX = 64, OF_SAMPLE_MAX = 3 + LABELS_MAX };

struct function { int32_t name, file; };
struct thread { uint32_t pid, tid; int32_t name; };
/* A span of a trace. */
struct link { uint8_t trace[16], span[8]; };
/* With a text, or a number where that is -1. */
struct attribute { int64_t number; int32_t key, text; };

/* A sample, in the order of what tells observations apart. */
struct piece {
	int32_t stack, thread, labels, link;
	size_t sample;
};

struct writing {
	const struct ppi_export *export;
	const struct ppi_symbols_name *names;
	struct ppi_pool texts, functions, attributes, stacks, threads;
	struct ppi_pool labels; /* lists of attributes */
	struct ppi_pool links;
	struct piece *pieces;
	size_t piece_count, event;
	int64_t *values; /* room for all samples */
	uint64_t *times;
	bool is_short; /* of memory */
};

/* 0, and that memory is short, for what has no number. */
static int32_t numbered(struct writing *writing, int32_t number)
{
	writing->is_short |= number < 0;
	return number < 0 ? 0 : number;
}

static int32_t text_of(struct writing *writing, const char *text)
{
	return numbered(writing, text_number(&writing->texts, text));
}

static int32_t function_of(struct writing *writing,
                           const struct ppi_symbols_name *name)
{
	struct function function = {
		text_of(writing, name->function),
		name->source_file ? text_of(writing, name->source_file) : 0,
	};

	return numbered(writing,
	                table_number(&writing->functions, &function,
	                             sizeof(function)));
}

/* `text` NULL: the number. */
static int32_t attribute_of(struct writing *writing, const char *key,
                            const char *text, int64_t number)
{
	struct attribute attribute;

	memset(&attribute, 0, sizeof(attribute)); /* padding is compared too */
	attribute.number = number;
	attribute.key = text_of(writing, key);
	attribute.text = text ? text_of(writing, text) : -1;
	return numbered(writing,
	                table_number(&writing->attributes, &attribute,
	                             sizeof(attribute)));
}

static void fill_value(PpiOtlp__AnyValue *value, const char *text,
                       int64_t number)
{
	ppi_otlp__any_value__init(value);
	if (text) {
		value->value_case = PPI_OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		value->string_value = (char *)(uintptr_t)text;
	} else {
		value->value_case = PPI_OTLP__ANY_VALUE__VALUE_INT_VALUE;
		value->int_value = number;
	}
}

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
	int32_t list[LABELS_MAX];
	struct link link = { { 0 }, { 0 } };
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
			list[count++] = attribute_of(
				writing, label.name,
				label.text[0] ? label.text : NULL,
				label.number);
	}
	piece->labels = numbered(writing, table_number(&writing->labels, list,
	                                               count * sizeof(*list)));
	piece->link = has_span ? numbered(writing,
	                                  table_number(&writing->links, &link,
	                                               sizeof(link)))
	                       : 0;
}

static bool find_pieces(struct writing *writing)
{
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
			text_of(writing, sample->thread_name),
		};
		size_t bytes = sample->depth * sizeof(*sample->locations);

		find_labels(writing, sample, &writing->pieces[i]);
		writing->pieces[i].sample = i;
		writing->pieces[i].stack = numbered(
			writing, table_number(&writing->stacks,
			                      sample->locations, bytes));
		writing->pieces[i].thread = numbered(
			writing, table_number(&writing->threads, &thread,
			                      sizeof(thread)));
	}
	qsort(writing->pieces, count, sizeof(*writing->pieces), compare_pieces);
	return !writing->is_short;
}

static size_t find_attributes(struct writing *writing,
                              const struct piece *piece, int32_t *attributes)
{
	const portprof_profile *profile = writing->export->profile;
	const portprof_profile_sample *sample =
		portprof_profile_sample_get(profile, piece->sample);
	size_t count = 0;

	if (sample->pid)
		attributes[count++] = attribute_of(writing, "process.pid", NULL,
		                                   sample->pid);
	if (sample->tid)
		attributes[count++] = attribute_of(writing, "thread.id", NULL,
		                                   sample->tid);
	if (sample->thread_name[0])
		attributes[count++] = attribute_of(writing, "thread.name",
		                                   sample->thread_name, 0);
	if (piece->labels) {
		size_t bytes;
		const int32_t *list = table_thing(
			&writing->labels, (size_t)piece->labels, &bytes);

		memcpy(attributes + count, list, bytes);
		count += bytes / sizeof(*attributes);
	}
	return count;
}

/* Observations of one chain and thread: with their times where these are
 * known, else their sum. */
static void put_sample(struct writing *writing, struct otlp_out *out,
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
	put_message(out, PROFILE_SAMPLE, &message);
}

static void put_profile(struct otlp_out *out, void *context)
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

	type.type_strindex = text_of(writing, event->name);
	type.unit_strindex = text_of(
		writing, event->unit == PORTPROF_UNIT_NANOSECONDS
		                 ? "nanoseconds" : "count");
	message.sample_type = &type;
	message.time_unix_nano = origin->start_ns;
	message.duration_nano = origin->duration_ns;
	put_part(out, &message);
	for (size_t first = 0, end; first < writing->piece_count; first = end) {
		for (end = first + 1; end < writing->piece_count &&
		                      pieces[end].stack == pieces[first].stack &&
		                      pieces[end].thread == pieces[first].thread &&
		                      pieces[end].labels == pieces[first].labels;)
			end++;
		put_sample(writing, out, first, end);
	}
}

static void put_scope(struct otlp_out *out, void *context)
{
	static char name[] = "portprof", version[] = PORTPROF_VERSION_STRING;
	struct writing *writing = context;
	const struct ppi_export *export = writing->export;
	size_t count = portprof_profile_event_count(export->profile);
	PpiOtlp__InstrumentationScope scope =
		PPI_OTLP__INSTRUMENTATION_SCOPE__INIT;

	scope.name = name;
	scope.version = version;
	put_message(out, SCOPE_SCOPE, &scope);
	for (writing->event = 0; writing->event < count; writing->event++)
		if (!export->event || writing->event == export->event_number)
			put_nested(out, SCOPE_PROFILE, put_profile,
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
static void put_attributes_of(struct otlp_out *out,
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
		fill_value(&values[count], attributes[1], 0);
		pairs[count].key = (char *)(uintptr_t)attributes[0];
		pairs[count].value = &values[count];
		at[count] = &pairs[count];
		count++;
	}
	resource.attributes = at;
	resource.n_attributes = count;
	if (count)
		put_message(out, RESOURCE_RESOURCE, &resource);
}

static void put_resource(struct otlp_out *out, void *context)
{
	struct writing *writing = context;
	const char *host = host_of(portprof_profile_origin_get(
		writing->export->profile));
	const char *const own[] = { host ? "host.name" : NULL, host, NULL };

	put_attributes_of(out, writing->export->attributes
	                       ? writing->export->attributes : own);
	put_nested(out, RESOURCE_SCOPE, put_scope, writing);
}

/* ---- the dictionary ---- */

static void put_mappings(struct writing *writing, struct otlp_out *out)
{
	static const PpiOtlp__Mapping none = PPI_OTLP__MAPPING__INIT;
	const portprof_profile_mapping *mapping;

	put_message(out, TABLE_MAPPING, &none);
	for (size_t i = 0; (mapping = portprof_profile_mapping_get(
				    writing->export->profile, i)) != NULL;
	     i++) {
		PpiOtlp__Mapping message = PPI_OTLP__MAPPING__INIT;
		int32_t build_id;

		message.memory_start = mapping->start;
		message.memory_limit = mapping->limit;
		message.file_offset = mapping->file_offset;
		message.filename_strindex = text_of(writing, mapping->path);
		if (mapping->build_id[0]) {
			build_id = attribute_of(
				writing, "process.executable.build_id.gnu",
				mapping->build_id, 0);
			message.attribute_indices = &build_id;
			message.n_attribute_indices = 1;
		}
		put_message(out, TABLE_MAPPING, &message);
	}
}

static void put_locations(struct writing *writing, struct otlp_out *out)
{
	static const PpiOtlp__Location none = PPI_OTLP__LOCATION__INIT;
	const portprof_profile_location *location;

	put_message(out, TABLE_LOCATION, &none);
	for (size_t i = 0; (location = portprof_profile_location_get(
				    writing->export->profile, i)) != NULL;
	     i++) {
		PpiOtlp__Location message = PPI_OTLP__LOCATION__INIT;
		PpiOtlp__Line lines[LINES_MAX], *at[LINES_MAX];

		message.address = location->address;
		message.lines = at;
		if (location->mapping != SIZE_MAX)
			message.mapping_index = (int32_t)location->mapping + 1;
		for (const struct ppi_symbols_name *name = &writing->names[i];
		     name && name->is_named && message.n_lines < LINES_MAX;
		     name = name->caller) {
			PpiOtlp__Line *line = &lines[message.n_lines];

			ppi_otlp__line__init(line);
			line->function_index = function_of(writing, name);
			line->line = (int64_t)name->line;
			at[message.n_lines++] = line;
		}
		put_message(out, TABLE_LOCATION, &message);
	}
}

static void put_functions(struct writing *writing, struct otlp_out *out)
{
	PpiOtlp__Function message = PPI_OTLP__FUNCTION__INIT;
	const struct function *function;

	put_message(out, TABLE_FUNCTION, &message);
	for (size_t i = 1; (function = table_thing(&writing->functions, i,
	                                           NULL)) != NULL; i++) {
		message.name_strindex = function->name;
		message.filename_strindex = function->file;
		put_message(out, TABLE_FUNCTION, &message);
	}
}

static void put_link(struct otlp_out *out, const struct link *link)
{
	PpiOtlp__Link message = PPI_OTLP__LINK__INIT;

	message.trace_id.data = (uint8_t *)(uintptr_t)link->trace;
	message.trace_id.len = sizeof(link->trace);
	message.span_id.data = (uint8_t *)(uintptr_t)link->span;
	message.span_id.len = sizeof(link->span);
	put_message(out, TABLE_LINK, &message);
}

/* Spans of traces; none has identifiers of the usual lengths, too. */
static void put_links(struct writing *writing, struct otlp_out *out)
{
	static const struct link none;
	const struct link *link;

	put_link(out, &none);
	for (size_t i = 1; (link = table_thing(&writing->links, i, NULL)) != NULL;
	     i++)
		put_link(out, link);
}

static void put_stacks(struct writing *writing, struct otlp_out *out)
{
	static const PpiOtlp__Stack none = PPI_OTLP__STACK__INIT;
	const uint32_t *locations;
	size_t bytes;

	put_message(out, TABLE_STACK, &none);
	for (size_t number = 1; (locations = table_thing(
					 &writing->stacks, number, &bytes)) != NULL;
	     number++) {
		PpiOtlp__Stack message = PPI_OTLP__STACK__INIT;

		message.n_location_indices = bytes / sizeof(*locations);
		message.location_indices = calloc(message.n_location_indices,
		                                  sizeof(int32_t));
		if (!message.location_indices) {
			writing->is_short = true;
			return;
		}
		for (size_t i = 0; i < message.n_location_indices; i++)
			message.location_indices[i] = (int32_t)locations[i] + 1;
		put_message(out, TABLE_STACK, &message);
		free(message.location_indices);
	}
}

static void put_attributes(struct writing *writing, struct otlp_out *out)
{
	static const PpiOtlp__KeyValueAndUnit none =
		PPI_OTLP__KEY_VALUE_AND_UNIT__INIT;
	const struct attribute *attribute;

	put_message(out, TABLE_ATTRIBUTE, &none);
	for (size_t i = 1; (attribute = table_thing(&writing->attributes, i,
	                                            NULL)) != NULL; i++) {
		PpiOtlp__KeyValueAndUnit message =
			PPI_OTLP__KEY_VALUE_AND_UNIT__INIT;
		PpiOtlp__AnyValue value;

		fill_value(&value,
		           attribute->text > 0
		                   ? table_thing(&writing->texts,
		                                 (size_t)attribute->text, NULL)
		                   : NULL,
		           attribute->number);
		message.key_strindex = attribute->key;
		message.value = &value;
		put_message(out, TABLE_ATTRIBUTE, &message);
	}
}

/* Texts come last: the other tables may bring some. */
static void put_dictionary(struct otlp_out *out, void *context)
{
	struct writing *writing = context;
	const char *text;

	put_mappings(writing, out);
	put_locations(writing, out);
	put_functions(writing, out);
	put_links(writing, out);
	put_attributes(writing, out);
	put_stacks(writing, out);
	put_text(out, TABLE_STRING, "", 0);
	for (size_t i = 1; (text = table_thing(&writing->texts, i, NULL)) != NULL;
	     i++)
		put_text(out, TABLE_STRING, text, strlen(text));
}

static bool put_data(void *context, FILE *file)
{
	struct writing *writing = context;
	struct otlp_out out = { file, 0 };

	put_nested(&out, DATA_RESOURCE, put_resource, writing);
	put_nested(&out, DATA_DICTIONARY, put_dictionary, writing);
	return !writing->is_short;
}

bool ppi_export_otlp(const struct ppi_export *export)
{
	struct writing writing = { .export = export };
	struct ppi_named names;
	bool is_good = ppi_export_name(export, true, true, &names);

	if (is_good) {
		writing.names = names.names;
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
	ppi_pool_free(&writing.texts);
	ppi_pool_free(&writing.functions);
	ppi_pool_free(&writing.attributes);
	ppi_pool_free(&writing.stacks);
	ppi_pool_free(&writing.threads);
	ppi_pool_free(&writing.labels);
	ppi_pool_free(&writing.links);
	return is_good;
}
