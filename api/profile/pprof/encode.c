/* SPDX-License-Identifier: MIT */
/* Messages of the schema, one at a time, into a gzip member, which is made in
 * memory or put to a descriptor; and text of any bytes as UTF-8 and back. */
#include "config.h"

#include "api/profile/pprof/encode.h"

#include "api/profile/atomic_file.h"
#include "base/protobuf.h"
#include "base/text.h"
#include "base/vector.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <unistd.h>
#include <zlib.h>

/* ---- one gzip member ---- */

enum { STEP_BYTES = 1 << 16, GZIP_WINDOW = 15 + 16 };

int ppi_gzip_open(struct ppi_gzip *gzip, int level, int fd)
{
	memset(gzip, 0, sizeof(*gzip));
	gzip->fd = fd;
	if (deflateInit2(&gzip->z, level, Z_DEFLATED, GZIP_WINDOW, 8,
	                 Z_DEFAULT_STRATEGY) != Z_OK)
		return ENOMEM;
	return 0;
}

void ppi_gzip_begin(struct ppi_gzip *gzip)
{
	deflateReset(&gzip->z);
	gzip->out.count = 0;
	gzip->error = 0;
}

/* Put what is in `out` to the descriptor, when there is one. */
static int spill(struct ppi_gzip *gzip)
{
	const char *at = gzip->out.data;
	size_t left = gzip->out.count;

	if (gzip->fd < 0)
		return 0;
	if (ppi_file_is_limited(gzip->z.total_out))
		return EFBIG;
	while (left > 0) {
		ssize_t put = write(gzip->fd, at, left);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno;
		at += put;
		left -= (size_t)put;
	}
	gzip->out.count = 0;
	return 0;
}

static int run(struct ppi_gzip *gzip, int flush)
{
	struct ppi_vector *out = &gzip->out;
	int result;

	do {
		if (!ppi_vector_reserve(out, 1, STEP_BYTES))
			return ENOMEM;
		gzip->z.next_out = PPI_AT(out, Bytef) + out->count;
		gzip->z.avail_out = STEP_BYTES;
		result = deflate(&gzip->z, flush);
		out->count += STEP_BYTES - gzip->z.avail_out;
		if (result != Z_OK && result != Z_STREAM_END &&
		    result != Z_BUF_ERROR)
			return EINVAL;
		if (out->count >= STEP_BYTES) {
			int error = spill(gzip);

			if (error)
				return error;
		}
	} while (gzip->z.avail_out == 0);
	return 0;
}

void ppi_gzip_add(struct ppi_gzip *gzip, const void *bytes, size_t count)
{
	const Bytef *at = bytes;

	while (count > 0 && !gzip->error) {
		uInt step = count > INT_MAX ? INT_MAX : (uInt)count;

		gzip->z.next_in = (Bytef *)(uintptr_t)at;
		gzip->z.avail_in = step;
		gzip->error = run(gzip, Z_NO_FLUSH);
		at += step;
		count -= step;
	}
}

int ppi_gzip_end(struct ppi_gzip *gzip)
{
	if (!gzip->error)
		gzip->error = run(gzip, Z_FINISH);
	if (!gzip->error)
		gzip->error = spill(gzip);
	return gzip->error;
}

void ppi_gzip_close(struct ppi_gzip *gzip)
{
	deflateEnd(&gzip->z);
	ppi_vector_free(&gzip->out);
}

/* ---- messages ---- */

/* Tag and length of a field of bytes. */
static void add_head(struct ppi_encoder *encoder, enum ppi_field field,
                     size_t bytes)
{
	uint8_t head[2 * PPI_VARINT_BYTES];
	size_t count = ppi_varint_put(head, (uint64_t)field << 3 | 2);

	count += ppi_varint_put(head + count, bytes);
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

/* ---- text ---- */

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
		size_t length = ppi_text_bytes((const char *)at + plain,
		                               left - plain);

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
