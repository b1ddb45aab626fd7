/* SPDX-License-Identifier: MIT */
/* Messages of the schema, one at a time, into a gzip member. */
#include "api/file/encode.h"

#include <errno.h>

static size_t put_varint(uint8_t *out, uint64_t value)
{
	size_t count = 0;

	while (value >= 0x80) {
		out[count++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	out[count++] = (uint8_t)value;
	return count;
}

/* Tag and length of a field of bytes. */
static void add_head(struct ppi_encoder *encoder, enum ppi_field field,
                     size_t bytes)
{
	uint8_t head[20];
	size_t count = put_varint(head, (uint64_t)field << 3 | 2);

	count += put_varint(head + count, bytes);
	ppi_gzip_add(&encoder->gzip, head, count);
}

static size_t pack(struct ppi_encoder *encoder, const ProtobufCMessage *message)
{
	size_t bytes = protobuf_c_message_get_packed_size(message);

	encoder->scratch.count = 0;
	if (!ppi_vector_reserve(&encoder->scratch, 1, bytes)) {
		if (!encoder->gzip.error)
			encoder->gzip.error = ENOMEM;
		return 0;
	}
	return protobuf_c_message_pack(message, encoder->scratch.data);
}

void ppi_encode(struct ppi_encoder *encoder, enum ppi_field field,
                const void *message)
{
	size_t bytes = pack(encoder, message);

	add_head(encoder, field, bytes);
	ppi_gzip_add(&encoder->gzip, encoder->scratch.data, bytes);
}

void ppi_encode_part(struct ppi_encoder *encoder, const Ppi__Profile *part)
{
	size_t bytes = pack(encoder, &part->base);

	ppi_gzip_add(&encoder->gzip, encoder->scratch.data, bytes);
}

void ppi_encode_string(struct ppi_encoder *encoder, const char *text,
                       size_t bytes)
{
	encoder->scratch.count = 0;
	if (!ppi_vector_add(&encoder->scratch, 1, text, bytes)) {
		if (!encoder->gzip.error)
			encoder->gzip.error = ENOMEM;
		return;
	}
	ppi_clean_utf8(encoder->scratch.data, bytes);
	add_head(encoder, PPI_FIELD_STRING, bytes);
	ppi_gzip_add(&encoder->gzip, encoder->scratch.data, bytes);
}

/* Bytes of the character at `at`, or 0 when it is none: RFC 3629 with its
 * bans on long forms, surrogates and what is above 10FFFF. */
static size_t character_at(const unsigned char *at, size_t left)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	length = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	if (length > left)
		return 0;
	if (at[0] == 0xe0)
		low = 0xa0;
	else if (at[0] == 0xed)
		high = 0x9f;
	else if (at[0] == 0xf0)
		low = 0x90;
	else if (at[0] == 0xf4)
		high = 0x8f;
	if (at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

void ppi_clean_utf8(char *text, size_t bytes)
{
	size_t at = 0;

	while (at < bytes) {
		size_t length = character_at((unsigned char *)text + at,
		                             bytes - at);

		if (length == 0)
			text[at] = '?';
		at += length ? length : 1;
	}
}
