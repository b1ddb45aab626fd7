/* SPDX-License-Identifier: MIT */
/* What goes over the wire, put together in memory. */
#include "config.h"

#include "tools/fleet/wire.h"

#include "base/protobuf.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

void ppi_wire_add(struct ppi_wire *wire, const void *bytes, size_t count)
{
	wire->is_short = wire->is_short ||
	                 !ppi_vector_add(&wire->bytes, 1, bytes, count);
}

void ppi_wire_text(struct ppi_wire *wire, const char *text)
{
	ppi_wire_add(wire, text, strlen(text));
}

void ppi_wire_print(struct ppi_wire *wire, const char *format, ...)
{
	va_list words;
	int length;
	char *end;

	va_start(words, format);
	length = vsnprintf(NULL, 0, format, words);
	va_end(words);
	if (length < 0 || wire->is_short ||
	    !ppi_vector_reserve(&wire->bytes, 1, (size_t)length + 1)) {
		wire->is_short = true;
		return;
	}
	end = (char *)wire->bytes.data + wire->bytes.count;
	va_start(words, format);
	vsnprintf(end, (size_t)length + 1, format, words);
	va_end(words);
	wire->bytes.count += (size_t)length;
}

void ppi_wire_free(struct ppi_wire *wire)
{
	ppi_vector_free(&wire->bytes);
	wire->is_short = false;
}

char *ppi_wire_string(struct ppi_wire *wire)
{
	char *text;

	ppi_wire_add(wire, "", 1);
	text = wire->is_short ? NULL : wire->bytes.data;
	if (text)
		memset(wire, 0, sizeof(*wire));
	else
		ppi_wire_free(wire);
	return text;
}

/* ---- protocol buffers ---- */

void ppi_wire_varint(struct ppi_wire *wire, uint64_t number)
{
	uint8_t bytes[PPI_VARINT_BYTES];

	ppi_wire_add(wire, bytes, ppi_varint_put(bytes, number));
}

void ppi_wire_number(struct ppi_wire *wire, unsigned field, uint64_t number)
{
	if (number == 0)
		return;
	ppi_wire_varint(wire, (uint64_t)field << 3);
	ppi_wire_varint(wire, number);
}

void ppi_wire_field(struct ppi_wire *wire, unsigned field, const void *bytes,
                    size_t count)
{
	ppi_wire_varint(wire, (uint64_t)field << 3 | 2);
	ppi_wire_varint(wire, count);
	ppi_wire_add(wire, bytes, count);
}

void ppi_wire_string_field(struct ppi_wire *wire, unsigned field,
                           const char *text)
{
	ppi_wire_field(wire, field, text, strlen(text));
}

void ppi_wire_message(struct ppi_wire *wire, unsigned field,
                      struct ppi_wire *part)
{
	ppi_wire_field(wire, field, part->bytes.data, part->bytes.count);
	wire->is_short |= part->is_short;
	part->bytes.count = 0;
}

/* ---- text ---- */

void ppi_wire_json(struct ppi_wire *wire, const char *text)
{
	ppi_wire_text(wire, "\"");
	while (*text) {
		uint32_t code;
		size_t length = ppi_text_character(text, &code);

		if (length == 0)
			ppi_wire_text(wire, "?");
		else if (code < 32)
			ppi_wire_print(wire, "\\u%04x", (unsigned)code);
		else if (code == '"' || code == '\\')
			ppi_wire_print(wire, "\\%c", (char)code);
		else
			ppi_wire_add(wire, text, length);
		text += length ? length : 1;
	}
	ppi_wire_text(wire, "\"");
}

void ppi_wire_base64(struct ppi_wire *wire, const void *bytes, size_t count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *from = bytes;

	for (size_t i = 0; i < count; i += 3) {
		size_t left = count - i;
		uint32_t three = (uint32_t)from[i] << 16 |
		                 (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
		                 (left > 2 ? from[i + 2] : 0u);
		char four[4];

		for (unsigned k = 0; k < 4; k++)
			four[k] = k <= left
			          ? digits[three >> (18 - 6 * k) & 63] : '=';
		ppi_wire_add(wire, four, sizeof(four));
	}
}

void ppi_wire_query(struct ppi_wire *wire, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789-._~";

	for (; *text; text++)
		if (strchr(plain, *text))
			ppi_wire_add(wire, text, 1);
		else
			ppi_wire_print(wire, "%%%02X", (unsigned char)*text);
}

/* ---- gzip ---- */

#ifdef HAVE_ZLIB

enum { STEP = 65536, GZIP_BITS = 15 + 16, LEVEL = 6 };

bool ppi_wire_pack(struct ppi_wire *to, const void *bytes, size_t count)
{
	z_stream z = { 0 };
	uint8_t step[STEP];
	int status = Z_OK;

	if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP_BITS, 8,
	                 Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	z.next_in = (Bytef *)(uintptr_t)bytes;
	z.avail_in = (uInt)count;
	while (status == Z_OK && count <= UINT32_MAX) {
		z.next_out = step;
		z.avail_out = STEP;
		status = deflate(&z, Z_FINISH);
		ppi_wire_add(to, step, STEP - z.avail_out);
	}
	deflateEnd(&z);
	return status == Z_STREAM_END && !to->is_short;
}

/* Members one after another are one stream. */
bool ppi_wire_unpack(struct ppi_wire *to, const void *bytes, size_t count,
                     size_t most)
{
	z_stream z = { 0 };
	uint8_t step[STEP];
	int status = Z_OK;

	if (count > UINT32_MAX || inflateInit2(&z, GZIP_BITS) != Z_OK)
		return false;
	z.next_in = (Bytef *)(uintptr_t)bytes;
	z.avail_in = (uInt)count;
	while (status == Z_OK && to->bytes.count <= most) {
		z.next_out = step;
		z.avail_out = STEP;
		status = inflate(&z, Z_NO_FLUSH);
		ppi_wire_add(to, step, STEP - z.avail_out);
		if (status == Z_STREAM_END && z.avail_in)
			status = inflateReset(&z);
	}
	inflateEnd(&z);
	return status == Z_STREAM_END && !to->is_short &&
	       to->bytes.count <= most;
}

#else

bool ppi_wire_pack(struct ppi_wire *to, const void *bytes, size_t count)
{
	(void)to;
	(void)bytes;
	(void)count;
	return false;
}

bool ppi_wire_unpack(struct ppi_wire *to, const void *bytes, size_t count,
                     size_t most)
{
	(void)most;
	return ppi_wire_pack(to, bytes, count);
}

#endif

/* ---- hashes ---- */

uint64_t ppi_hash_end(uint64_t hash)
{
	hash ^= hash >> 33;
	hash *= UINT64_C(0xff51afd7ed558ccd);
	hash ^= hash >> 33;
	hash *= UINT64_C(0xc4ceb9fe1a85ec53);
	return hash ^ hash >> 33;
}
