/* SPDX-License-Identifier: MIT */
/* Pieces of OTLP profiles. */
#include "config.h"

#include "tools/export/otlp.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

int32_t ppi_otlp_number(struct ppi_otlp_table *table, const void *thing,
                        size_t bytes)
{
	struct ppi_otlp_item *item;

	if (bytes == 0)
		return 0;
	HASH_FIND(hh, table->items, thing, bytes, item);
	if (item)
		return item->number;
	item = malloc(sizeof(*item) + bytes + 1);
	if (!item)
		return -1;
	memcpy(item + 1, thing, bytes);
	((char *)(item + 1))[bytes] = '\0';
	item->number = ++table->count;
	HASH_ADD_KEYPTR(hh, table->items, item + 1, bytes, item);
	return item->number;
}

void ppi_otlp_table_free(struct ppi_otlp_table *table)
{
	struct ppi_otlp_item *item, *next;

	HASH_ITER (hh, table->items, item, next) {
		HASH_DEL(table->items, item);
		free(item);
	}
	table->count = 0;
}

int32_t ppi_otlp_text(struct ppi_otlp_table *texts, const char *text)
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
	number = ppi_otlp_number(texts, clean, bytes);
	free(clean);
	return number;
}

/* ---- Writing ---- */

static void put_bytes(struct ppi_otlp_out *out, const void *data, size_t bytes)
{
	out->bytes += bytes;
	if (out->file && bytes)
		fwrite(data, 1, bytes, out->file);
}

static void put_varint(struct ppi_otlp_out *out, uint64_t number)
{
	uint8_t bytes[10];
	size_t count = 0;

	for (; number > 127; number >>= 7)
		bytes[count++] = (uint8_t)(number | 128);
	bytes[count++] = (uint8_t)number;
	put_bytes(out, bytes, count);
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

void ppi_otlp_put_part(struct ppi_otlp_out *out, const void *message)
{
	struct stream stream = { { append }, out };

	if (out->file)
		protobuf_c_message_pack_to_buffer(message, &stream.base);
	else
		out->bytes += protobuf_c_message_get_packed_size(message);
}

void ppi_otlp_put(struct ppi_otlp_out *out, unsigned field, const void *message)
{
	put_head(out, field, protobuf_c_message_get_packed_size(message));
	ppi_otlp_put_part(out, message);
}

void ppi_otlp_put_text(struct ppi_otlp_out *out, unsigned field,
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
