/* SPDX-License-Identifier: MIT */
/* The dictionary of OTLP profiles (otlp.proto), and messages that are written without
 * being kept in memory. */
#include "config.h"

#include "tools/export/otlp_tables.h"

#include "base/protobuf.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- nested messages, written without keeping them in memory ---- */

static void put_bytes(struct ppi_otlp_out *out, const void *data, size_t bytes)
{
	out->bytes += bytes;
	if (out->file && bytes)
		fwrite(data, 1, bytes, out->file);
}

static void put_varint(struct ppi_otlp_out *out, uint64_t number)
{
	uint8_t bytes[PPI_VARINT_BYTES];

	put_bytes(out, bytes, ppi_varint_put(bytes, number));
}

/* A field of the wire type 2: so many bytes follow. */
static void put_head(struct ppi_otlp_out *out, unsigned field, uint64_t bytes)
{
	put_varint(out, field << 3 | 2);
	put_varint(out, bytes);
}

struct stream {
	ProtobufCBuffer base;
	struct ppi_otlp_out *out;
};

static void append(ProtobufCBuffer *buffer, size_t bytes, const uint8_t *data)
{
	put_bytes(((struct stream *)(void *)buffer)->out, data, bytes);
}

void ppi_otlp_put_fields(struct ppi_otlp_out *out, const void *message)
{
	struct stream stream = { { append }, out };

	if (out->file)
		protobuf_c_message_pack_to_buffer(message, &stream.base);
	else
		out->bytes += protobuf_c_message_get_packed_size(message);
}

void ppi_otlp_put_message(struct ppi_otlp_out *out, unsigned field,
                          const void *message)
{
	put_head(out, field, protobuf_c_message_get_packed_size(message));
	ppi_otlp_put_fields(out, message);
}

static void put_text(struct ppi_otlp_out *out, unsigned field,
                     const char *text, size_t bytes)
{
	put_head(out, field, bytes);
	put_bytes(out, text, bytes);
}

void ppi_otlp_put_nested(struct ppi_otlp_out *out, unsigned field,
                         void (*put)(struct ppi_otlp_out *out, void *context),
                         void *context)
{
	struct ppi_otlp_out counted = { 0 };

	put(&counted, context);
	put_head(out, field, counted.bytes);
	if (out->file)
		put(out, context);
	else
		out->bytes += counted.bytes;
}

/* ---- numbers ---- */

struct function { int32_t name, file; };
/* With a text, or a number where that is -1. */
struct attribute { int64_t number; int32_t key, text; };

int32_t ppi_otlp_number(struct ppi_otlp_tables *tables, struct ppi_pool *table,
                        const void *thing, size_t bytes)
{
	uint32_t number;

	if (bytes == 0)
		return 0;
	number = ppi_pool_enter(table, thing, bytes);
	tables->is_short |= number == PPI_NONE;
	return number == PPI_NONE ? 0 : (int32_t)number + 1;
}

const void *ppi_otlp_thing(const struct ppi_pool *table, size_t number,
                           size_t *bytes)
{
	return number <= ppi_pool_count(table)
		? ppi_pool_key(table, (uint32_t)number - 1, bytes) : NULL;
}

int32_t ppi_otlp_text(struct ppi_otlp_tables *tables, const char *text)
{
	size_t bytes = strlen(text);
	char *clean = malloc(bytes + 1);
	int32_t number;

	if (!clean) {
		tables->is_short = true;
		return 0;
	}
	memcpy(clean, text, bytes + 1);
	for (size_t i = 0; i < bytes;) {
		uint32_t code;
		size_t length = ppi_text_character(clean + i, &code);

		if (length == 0)
			clean[i] = '?';
		i += length ? length : 1;
	}
	number = ppi_otlp_number(tables, &tables->texts, clean, bytes);
	free(clean);
	return number;
}

static int32_t function_of(struct ppi_otlp_tables *tables,
                           const struct ppi_symbols_name *name)
{
	struct function function = {
		ppi_otlp_text(tables, name->function),
		name->source_file ? ppi_otlp_text(tables, name->source_file) : 0,
	};

	return ppi_otlp_number(tables, &tables->functions, &function,
	                       sizeof(function));
}

int32_t ppi_otlp_attribute(struct ppi_otlp_tables *tables, const char *key,
                           const char *text, int64_t number)
{
	struct attribute attribute;

	memset(&attribute, 0, sizeof(attribute)); /* padding is compared too */
	attribute.number = number;
	attribute.key = ppi_otlp_text(tables, key);
	attribute.text = text ? ppi_otlp_text(tables, text) : -1;
	return ppi_otlp_number(tables, &tables->attributes, &attribute,
	                       sizeof(attribute));
}

void ppi_otlp_fill_value(PpiOtlp__AnyValue *value, const char *text,
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

/* ---- the dictionary ---- */

/* Numbers of its fields in otlp.proto. */
enum {
	TABLE_MAPPING = 1,
	TABLE_LOCATION = 2,
	TABLE_FUNCTION = 3,
	TABLE_LINK = 4,
	TABLE_STRING = 5,
	TABLE_ATTRIBUTE = 6,
	TABLE_STACK = 7
};

/* Functions of a location; a deeper one is cut. */
enum { LINES_MAX = 64 };

static void put_mappings(struct ppi_otlp_tables *tables, struct ppi_otlp_out *out)
{
	static const PpiOtlp__Mapping none = PPI_OTLP__MAPPING__INIT;
	const portprof_profile_mapping *mapping;

	ppi_otlp_put_message(out, TABLE_MAPPING, &none);
	for (size_t i = 0; (mapping = portprof_profile_mapping_get(
				    tables->profile, i)) != NULL; i++) {
		PpiOtlp__Mapping message = PPI_OTLP__MAPPING__INIT;
		int32_t build_id;

		message.memory_start = mapping->start;
		message.memory_limit = mapping->limit;
		message.file_offset = mapping->file_offset;
		message.filename_strindex = ppi_otlp_text(tables, mapping->path);
		if (mapping->build_id[0]) {
			build_id = ppi_otlp_attribute(
				tables, "process.executable.build_id.gnu",
				mapping->build_id, 0);
			message.attribute_indices = &build_id;
			message.n_attribute_indices = 1;
		}
		ppi_otlp_put_message(out, TABLE_MAPPING, &message);
	}
}

static void put_locations(struct ppi_otlp_tables *tables, struct ppi_otlp_out *out)
{
	static const PpiOtlp__Location none = PPI_OTLP__LOCATION__INIT;
	const portprof_profile_location *location;

	ppi_otlp_put_message(out, TABLE_LOCATION, &none);
	for (size_t i = 0; (location = portprof_profile_location_get(
				    tables->profile, i)) != NULL; i++) {
		PpiOtlp__Location message = PPI_OTLP__LOCATION__INIT;
		PpiOtlp__Line lines[LINES_MAX], *at[LINES_MAX];

		message.address = location->address;
		message.lines = at;
		if (location->mapping != SIZE_MAX)
			message.mapping_index = (int32_t)location->mapping + 1;
		for (const struct ppi_symbols_name *name = &tables->names[i];
		     name && name->is_named && message.n_lines < LINES_MAX;
		     name = name->caller) {
			PpiOtlp__Line *line = &lines[message.n_lines];

			ppi_otlp__line__init(line);
			line->function_index = function_of(tables, name);
			line->line = (int64_t)name->line;
			at[message.n_lines++] = line;
		}
		ppi_otlp_put_message(out, TABLE_LOCATION, &message);
	}
}

static void put_functions(struct ppi_otlp_tables *tables, struct ppi_otlp_out *out)
{
	PpiOtlp__Function message = PPI_OTLP__FUNCTION__INIT;
	const struct function *function;

	ppi_otlp_put_message(out, TABLE_FUNCTION, &message);
	for (size_t i = 1; (function = ppi_otlp_thing(&tables->functions, i,
	                                           NULL)) != NULL; i++) {
		message.name_strindex = function->name;
		message.filename_strindex = function->file;
		ppi_otlp_put_message(out, TABLE_FUNCTION, &message);
	}
}

static void put_link(struct ppi_otlp_out *out, const struct ppi_otlp_link *link)
{
	PpiOtlp__Link message = PPI_OTLP__LINK__INIT;

	message.trace_id.data = (uint8_t *)(uintptr_t)link->trace;
	message.trace_id.len = sizeof(link->trace);
	message.span_id.data = (uint8_t *)(uintptr_t)link->span;
	message.span_id.len = sizeof(link->span);
	ppi_otlp_put_message(out, TABLE_LINK, &message);
}

/* Spans of traces; none has identifiers of the usual lengths, too. */
static void put_links(struct ppi_otlp_tables *tables, struct ppi_otlp_out *out)
{
	static const struct ppi_otlp_link none;
	const struct ppi_otlp_link *link;

	put_link(out, &none);
	for (size_t i = 1; (link = ppi_otlp_thing(&tables->links, i, NULL)) != NULL;
	     i++)
		put_link(out, link);
}

static void put_stacks(struct ppi_otlp_tables *tables, struct ppi_otlp_out *out)
{
	static const PpiOtlp__Stack none = PPI_OTLP__STACK__INIT;
	const uint32_t *locations;
	size_t bytes;

	ppi_otlp_put_message(out, TABLE_STACK, &none);
	for (size_t number = 1; (locations = ppi_otlp_thing(
					 &tables->stacks, number, &bytes)) != NULL;
	     number++) {
		PpiOtlp__Stack message = PPI_OTLP__STACK__INIT;

		message.n_location_indices = bytes / sizeof(*locations);
		message.location_indices = calloc(message.n_location_indices,
		                                  sizeof(int32_t));
		if (!message.location_indices) {
			tables->is_short = true;
			return;
		}
		for (size_t i = 0; i < message.n_location_indices; i++)
			message.location_indices[i] = (int32_t)locations[i] + 1;
		ppi_otlp_put_message(out, TABLE_STACK, &message);
		free(message.location_indices);
	}
}

static void put_attributes(struct ppi_otlp_tables *tables, struct ppi_otlp_out *out)
{
	static const PpiOtlp__KeyValueAndUnit none =
		PPI_OTLP__KEY_VALUE_AND_UNIT__INIT;
	const struct attribute *attribute;

	ppi_otlp_put_message(out, TABLE_ATTRIBUTE, &none);
	for (size_t i = 1; (attribute = ppi_otlp_thing(&tables->attributes, i,
	                                            NULL)) != NULL; i++) {
		PpiOtlp__KeyValueAndUnit message =
			PPI_OTLP__KEY_VALUE_AND_UNIT__INIT;
		PpiOtlp__AnyValue value;

		ppi_otlp_fill_value(&value,
		           attribute->text > 0
		                   ? ppi_otlp_thing(&tables->texts,
		                                 (size_t)attribute->text, NULL)
		                   : NULL,
		           attribute->number);
		message.key_strindex = attribute->key;
		message.value = &value;
		ppi_otlp_put_message(out, TABLE_ATTRIBUTE, &message);
	}
}

/* Texts come last: the other tables may bring some. */
void ppi_otlp_put_dictionary(struct ppi_otlp_out *out, void *context)
{
	struct ppi_otlp_tables *tables = context;
	const char *text;

	put_mappings(tables, out);
	put_locations(tables, out);
	put_functions(tables, out);
	put_links(tables, out);
	put_attributes(tables, out);
	put_stacks(tables, out);
	put_text(out, TABLE_STRING, "", 0);
	for (size_t i = 1; (text = ppi_otlp_thing(&tables->texts, i, NULL)) != NULL;
	     i++)
		put_text(out, TABLE_STRING, text, strlen(text));
}

void ppi_otlp_tables_free(struct ppi_otlp_tables *tables)
{
	ppi_pool_free(&tables->texts);
	ppi_pool_free(&tables->functions);
	ppi_pool_free(&tables->attributes);
	ppi_pool_free(&tables->stacks);
	ppi_pool_free(&tables->links);
}
