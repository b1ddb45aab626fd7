/* SPDX-License-Identifier: MIT */
/* Messages of the schema, one at a time, into a gzip member. */
#include "api/profile/pprof/encode.h"

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

/*
 * Bytes that are no UTF-8, as paths may have, are kept as characters for private use:
 * U+EF80 to U+EFFF, as MirBSD's libc maps them. Such characters of a text itself are
 * kept byte by byte, so that each text is the same when it was read again.
 */
static bool is_kept(const unsigned char *at)
{
	return at[0] == 0xee && (at[1] & 0xfe) == 0xbe;
}

/* Bytes at `at` that stay as they are. */
static size_t plain_bytes(const unsigned char *at, size_t left)
{
	size_t plain = 0;

	while (plain < left) {
		size_t length = character_at(at + plain, left - plain);

		if (length == 0 || (length == 3 && is_kept(at + plain)))
			break;
		plain += length;
	}
	return plain;
}

static bool add_as_utf8(struct ppi_vector *to, const char *text, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end = at + bytes;

	while (at < end) {
		size_t plain = plain_bytes(at, (size_t)(end - at));

		if (plain && !ppi_vector_add(to, 1, at, plain))
			return false;
		at += plain;
		if (at < end) {
			const unsigned char kept[3] = {
				0xee, 0xbe | (*at >> 6 & 1), 0x80 | (*at & 0x3f)
			};

			if (!ppi_vector_add(to, 1, kept, sizeof(kept)))
				return false;
			at++;
		}
	}
	return true;
}

size_t ppi_bytes_of_utf8(char *text, size_t bytes)
{
	unsigned char *to = (unsigned char *)text;
	const unsigned char *at = to, *end = to + bytes;

	while (at < end)
		if (end - at >= 3 && is_kept(at)) {
			*to++ = (unsigned char)(0x80 | (at[1] & 1) << 6 |
			                        (at[2] & 0x3f));
			at += 3;
		} else {
			*to++ = *at++;
		}
	return (size_t)(to - (unsigned char *)text);
}

void ppi_encode_string(struct ppi_encoder *encoder, const char *text,
                       size_t bytes)
{
	encoder->scratch.count = 0;
	if (!add_as_utf8(&encoder->scratch, text, bytes)) {
		if (!encoder->gzip.error)
			encoder->gzip.error = ENOMEM;
		return;
	}
	bytes = encoder->scratch.count;
	add_head(encoder, PPI_FIELD_STRING, bytes);
	ppi_gzip_add(&encoder->gzip, encoder->scratch.data, bytes);
}
