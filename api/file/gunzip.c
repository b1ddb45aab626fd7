/* SPDX-License-Identifier: MIT */
/* A file as its gzip members, each whole and checked, or as plain bytes. */
#include "api/file/gunzip.h"

#include "api/file/vector.h"

#include <errno.h>
#include <unistd.h>
#include <zlib.h>

enum { STEP_BYTES = 1 << 16, GZIP_WINDOW = 15 + 16 };

/* gzip makes at most 1032 bytes of one: a small file may become this large,
 * and then it is an attack and no profile. */
#define MEMBER_BYTES_MAX ((size_t)1 << 30)

struct reader {
	int fd;
	int error;              /* of read */
	uint8_t input[STEP_BYTES];
	uint8_t *at;            /* the next byte of input */
	size_t left;
	uint64_t taken;         /* bytes of the file before `at` */
	struct ppi_vector member; /* bytes of the one in hand */
};

/* Make sure that there is input. False at the end, and on an error. */
static bool refill(struct reader *reader)
{
	ssize_t got;

	if (reader->left > 0)
		return true;
	do
		got = read(reader->fd, reader->input, sizeof(reader->input));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		reader->error = errno;
	if (got <= 0)
		return false;
	reader->at = reader->input;
	reader->left = (size_t)got;
	return true;
}

static void consume(struct reader *reader, size_t count)
{
	reader->at += count;
	reader->left -= count;
	reader->taken += count;
}

static portprof_status make_room(struct ppi_vector *bytes)
{
	if (bytes->count >= MEMBER_BYTES_MAX)
		return PORTPROF_E_LIMIT;
	return ppi_vector_reserve(bytes, 1, STEP_BYTES) ? PORTPROF_OK
	                                                : PORTPROF_E_NOMEM;
}

static portprof_status read_plain(struct reader *reader)
{
	struct ppi_vector *bytes = &reader->member;

	while (refill(reader)) {
		portprof_status status = make_room(bytes);

		if (status != PORTPROF_OK)
			return status;
		ppi_vector_add(bytes, 1, reader->at, reader->left);
		consume(reader, reader->left);
	}
	return PORTPROF_OK;
}

/* One member: OK, E_FORMAT when it is damaged, *is_cut when the file ends
 * before it does. */
static portprof_status read_member(struct reader *reader, z_stream *z,
                                   bool *is_cut)
{
	struct ppi_vector *bytes = &reader->member;
	int result = Z_OK;

	while (result != Z_STREAM_END) {
		portprof_status status = make_room(bytes);

		if (status != PORTPROF_OK)
			return status;
		if (!refill(reader)) {
			*is_cut = true;
			return PORTPROF_E_FORMAT;
		}
		z->next_in = reader->at;
		z->avail_in = (uInt)reader->left;
		z->next_out = (uint8_t *)bytes->data + bytes->count;
		z->avail_out = STEP_BYTES;
		result = inflate(z, Z_NO_FLUSH);
		bytes->count += STEP_BYTES - z->avail_out;
		consume(reader, reader->left - z->avail_in);
		if (result == Z_MEM_ERROR)
			return PORTPROF_E_NOMEM;
		if (result != Z_OK && result != Z_STREAM_END &&
		    result != Z_BUF_ERROR)
			return PORTPROF_E_FORMAT;
	}
	return PORTPROF_OK;
}

typedef portprof_status take_fn(void *context, const uint8_t *bytes,
                                size_t count);

static portprof_status read_members(struct reader *reader, take_fn *take,
                                    void *context, struct ppi_gunzip_end *end)
{
	portprof_status status = PORTPROF_OK;
	z_stream z = { 0 };

	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return PORTPROF_E_NOMEM;
	while (status == PORTPROF_OK && refill(reader)) {
		reader->member.count = 0;
		inflateReset(&z);
		status = read_member(reader, &z, &end->is_cut);
		if (status == PORTPROF_OK)
			status = take(context, reader->member.data,
			              reader->member.count);
		if (status != PORTPROF_OK)
			break;
		end->members++;
		end->whole = reader->taken;
	}
	inflateEnd(&z);
	return status;
}

portprof_status ppi_gunzip(int fd, take_fn *take, void *context,
                           struct ppi_gunzip_end *end, int *error)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	portprof_status status;

	memset(end, 0, sizeof(*end));
	if (!reader)
		return PORTPROF_E_NOMEM;
	reader->fd = fd;
	refill(reader);
	end->is_plain = reader->left < 1 || reader->at[0] != 0x1f ||
	                (reader->left > 1 && reader->at[1] != 0x8b);
	if (!end->is_plain) {
		status = read_members(reader, take, context, end);
	} else {
		status = read_plain(reader);
		if (status == PORTPROF_OK)
			status = take(context, reader->member.data,
			              reader->member.count);
		if (status == PORTPROF_OK) {
			end->members = 1;
			end->whole = reader->taken;
		}
	}
	while (refill(reader)) /* to know the size */
		consume(reader, reader->left);
	end->size = reader->taken;
	*error = reader->error;
	ppi_vector_free(&reader->member);
	free(reader);
	if (*error)
		return PORTPROF_E_SYSTEM;
	return status == PORTPROF_E_FORMAT ? PORTPROF_OK : status;
}
