/* SPDX-License-Identifier: MIT */
/* OpenTelemetry's process context, read. */
#include "config.h"

#include "base/otel_context.h"

#include "base/processes.h"
#include "base/protobuf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the payload: a message ProcessContext of
 * opentelemetry/proto/processcontext/v1development, or, as OTEP 4719 had it first, a
 * Resource of opentelemetry/proto/resource/v1 ---- */

/* The next field; a `part` of those that have a length. False at the end and where
 * it makes no sense; *is_good says which. */
static bool take_field(struct ppi_proto_cursor *bytes, uint64_t *field,
                       struct ppi_proto_cursor *part, bool *is_good)
{
	struct ppi_proto_field got;

	*part = (struct ppi_proto_cursor){ NULL, NULL };
	if (bytes->at == bytes->end)
		return false;
	*is_good = ppi_proto_next(bytes, &got);
	if (!*is_good)
		return false;
	*field = got.number;
	if (got.wire == PPI_PROTO_BYTES)
		*part = (struct ppi_proto_cursor){ got.bytes,
			                           got.bytes + got.count };
	return true;
}

/* A text without zero bytes that has room. */
static void keep_text(const struct ppi_proto_cursor *text, char *out)
{
	size_t bytes = (size_t)(text->end - text->at);

	if (bytes == 0 || bytes > PPI_OTEL_TEXT_MAX ||
	    memchr(text->at, '\0', bytes))
		return;
	memcpy(out, text->at, bytes);
	out[bytes] = '\0';
}

static bool is_key(const struct ppi_proto_cursor *text, const char *key)
{
	size_t bytes = (size_t)(text->end - text->at);

	return bytes == strlen(key) && memcmp(text->at, key, bytes) == 0;
}

static char *place_of(struct ppi_otel_resource *resource,
                      const struct ppi_proto_cursor *key)
{
	return is_key(key, "service.name") ? resource->name
	       : is_key(key, "service.version") ? resource->version
	       : is_key(key, "service.instance.id") ? resource->instance
	       : is_key(key, "deployment.environment.name")
	               ? resource->environment : NULL;
}

/* KeyValue: a key (1) and an AnyValue (2), which may be a text (1). */
static bool take_attribute(struct ppi_proto_cursor attribute, void *resource)
{
	struct ppi_proto_cursor part, key = { 0 }, value = { 0 }, text = { 0 };
	uint64_t field;
	bool is_good = true;
	char *place;

	while (take_field(&attribute, &field, &part, &is_good)) {
		if (field == 1 && part.at)
			key = part;
		if (field == 2 && part.at)
			value = part;
	}
	if (!is_good || !key.at)
		return false;
	while (take_field(&value, &field, &part, &is_good))
		if (field == 1 && part.at)
			text = part;
	place = place_of(resource, &key);
	if (place && text.at)
		keep_text(&text, place);
	return is_good;
}

/* AnyValue, ArrayValue (5), AnyValues (1), texts (1). */
static void take_keys(struct ppi_proto_cursor value, struct ppi_otel_keys *keys)
{
	struct ppi_proto_cursor list = { 0 }, one, text;
	uint64_t field;
	bool is_good = true;
	uint32_t count = 0;

	while (take_field(&value, &field, &text, &is_good))
		if (field == 5 && text.at)
			list = text;
	while (count < PPI_OTEL_KEYS &&
	       take_field(&list, &field, &one, &is_good)) {
		char *name = keys->names[count];
		struct ppi_proto_cursor key = { 0 };

		if (field != 1 || !one.at)
			continue;
		while (take_field(&one, &field, &text, &is_good))
			if (field == 1 && text.at)
				key = text;
		if (count >= atomic_load(&keys->count) && key.at &&
		    key.end - key.at < PPI_OTEL_KEY_BYTES &&
		    !memchr(key.at, '\0', (size_t)(key.end - key.at)))
			memcpy(name, key.at, (size_t)(key.end - key.at));
		count++;
	}
	if (count > atomic_load(&keys->count))
		atomic_store_explicit(&keys->count, count,
		                      memory_order_release);
}

/* A message whose field 2 has a length: a KeyValue (its value), or a ProcessContext (more
 * attributes); of a Resource it is a number. */
static bool has_second(struct ppi_proto_cursor message)
{
	struct ppi_proto_cursor part;
	uint64_t field;
	bool is_good = true;

	while (take_field(&message, &field, &part, &is_good))
		if (field == 2 && part.at)
			return true;
	return false;
}

/* Whether it is a ProcessContext: its first field is empty, or has attributes and is none. */
static bool is_process_context(struct ppi_proto_cursor payload)
{
	struct ppi_proto_cursor first, inner;
	uint64_t field;
	bool is_good = true;

	if (has_second(payload))
		return true;
	return take_field(&payload, &field, &first, &is_good) && field == 1 &&
	       first.at && !has_second(first) &&
	       (first.at == first.end ||
	        (take_field(&first, &field, &inner, &is_good) && field == 1 &&
	         inner.at && has_second(inner)));
}

/* Each attribute; false, also of `take`, at what makes no sense. */
static bool each_attribute(struct ppi_proto_cursor message, bool is_context,
                           bool (*take)(struct ppi_proto_cursor attribute,
                                        void *context),
                           void *context)
{
	struct ppi_proto_cursor part;
	uint64_t field;
	bool is_good = true;

	while (is_good && take_field(&message, &field, &part, &is_good))
		if (is_context && field == 1)
			is_good = part.at && each_attribute(part, false, take,
			                                    context);
		else if (field == (is_context ? 2 : 1))
			is_good = part.at && take(part, context);
	return is_good;
}

static bool take_key_map(struct ppi_proto_cursor attribute, void *keys)
{
	struct ppi_proto_cursor part, key = { 0 }, value = { 0 };
	uint64_t field;
	bool is_good = true;

	while (take_field(&attribute, &field, &part, &is_good)) {
		if (field == 1)
			key = part;
		if (field == 2)
			value = part;
	}
	if (key.at && value.at && is_key(&key, "threadlocal.attribute_key_map"))
		take_keys(value, keys);
	return true;
}

static void find_keys(const void *payload, size_t bytes,
                      struct ppi_otel_keys *keys)
{
	const struct ppi_proto_cursor all = {
		payload, (const unsigned char *)payload + bytes
	};

	each_attribute(all, is_process_context(all), take_key_map, keys);
}

bool ppi_otel_parse(const void *payload, size_t bytes,
                    struct ppi_otel_resource *resource)
{
	const struct ppi_proto_cursor all = {
		payload, (const unsigned char *)payload + bytes
	};

	memset(resource, 0, sizeof(*resource));
	return each_attribute(all, is_process_context(all), take_attribute,
	                      resource);
}

/* ---- the header, where it is mapped ---- */

/* Packed. The pointer is the process's. */
struct header {
	char signature[8];
	uint32_t version, payload_bytes;
	uint64_t published_at_ns; /* 0: it is being written */
	uint64_t payload;
};

_Static_assert(sizeof(struct header) == 32, "as OTEP 4719 has it");

enum { HEADER_VERSION = 2 };

static bool read_header(uint32_t pid, uint64_t address, struct header *header)
{
	return ppi_process_read(pid, address, header, sizeof(*header)) ==
	               sizeof(*header) &&
	       memcmp(header->signature, "OTEL_CTX", 8) == 0 &&
	       header->version == HEADER_VERSION && header->published_at_ns &&
	       header->payload_bytes &&
	       header->payload_bytes <= PPI_OTEL_PAYLOAD_MAX;
}

/* Memory of another process is copied by the kernel: a pointer to nowhere is an
 * error, no fault. What was read is whole if the time is the same afterwards. */
static bool read_all(uint32_t pid, struct ppi_otel_resource *resource,
                     struct ppi_otel_keys *keys)
{
	struct header before, after;
	const uint64_t address = ppi_process_marks(pid).context;
	unsigned char *payload;
	bool is_good;

	memset(resource, 0, sizeof(*resource));
	if (!address || !read_header(pid, address, &before))
		return false;
	payload = malloc(before.payload_bytes);
	if (!payload)
		return false;
	is_good = ppi_process_read(pid, before.payload, payload,
	                           before.payload_bytes) ==
	                  before.payload_bytes &&
	          read_header(pid, address, &after) &&
	          after.published_at_ns == before.published_at_ns &&
	          ppi_otel_parse(payload, before.payload_bytes, resource);
	if (is_good && keys)
		find_keys(payload, before.payload_bytes, keys);
	free(payload);
	if (!is_good)
		memset(resource, 0, sizeof(*resource));
	return is_good;
}

bool ppi_otel_read(uint32_t pid, struct ppi_otel_resource *resource)
{
	return read_all(pid, resource, NULL);
}

bool ppi_otel_read_keys(uint32_t pid, struct ppi_otel_keys *keys)
{
	struct ppi_otel_resource resource;

	return read_all(pid, &resource, keys);
}
