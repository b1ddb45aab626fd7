/* SPDX-License-Identifier: MIT */
/* A file as its gzip members, each whole and checked, or as plain bytes. */
#include "config.h"

#include "api/profile/pprof/gunzip.h"

#include "base/vector.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { STEP_BYTES = 1 << 16, GZIP_WINDOW = 15 + 16 };

struct reader {
	int fd;
	struct ppi_bounds *bounds;
	bool is_regular;        /* its size is known */
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
	if (!reader->is_regular)
		reader->bounds->file_bytes = reader->taken;
}

static portprof_status make_room(struct reader *reader)
{
	struct ppi_vector *bytes = &reader->member;

	if (!ppi_bounds_hold(reader->bounds, bytes->count + STEP_BYTES))
		return PORTPROF_E_LIMIT;
	return ppi_vector_reserve(bytes, 1, STEP_BYTES) ? PORTPROF_OK
	                                                : PORTPROF_E_NOMEM;
}

static portprof_status read_plain(struct reader *reader)
{
	struct ppi_vector *bytes = &reader->member;

	while (refill(reader)) {
		portprof_status status = make_room(reader);

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
		portprof_status status = make_room(reader);

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

/* The size of the file, as far as it can be known. A file that is larger than
 * what it may become has not to be read to know that. */
static portprof_status look_at_size(struct reader *reader)
{
	struct stat at;

	reader->is_regular = fstat(reader->fd, &at) == 0 &&
	                     S_ISREG(at.st_mode);
	if (reader->is_regular)
		reader->bounds->file_bytes = (uint64_t)at.st_size;
	return ppi_bounds_hold(reader->bounds, reader->bounds->file_bytes)
	               ? PORTPROF_OK
	               : PORTPROF_E_LIMIT;
}

portprof_status ppi_gunzip(int fd, struct ppi_bounds *bounds, take_fn *take,
                           void *context, struct ppi_gunzip_end *end,
                           int *error)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	portprof_status status;

	memset(end, 0, sizeof(*end));
	*error = 0;
	if (!reader)
		return PORTPROF_E_NOMEM;
	reader->fd = fd;
	reader->bounds = bounds;
	status = look_at_size(reader);
	if (status != PORTPROF_OK) {
		free(reader);
		return status;
	}
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
	end->size = reader->taken + reader->left;
	if (reader->is_regular && end->size < bounds->file_bytes)
		end->size = bounds->file_bytes;
	*error = reader->error;
	ppi_vector_free(&reader->member);
	free(reader);
	if (*error)
		return PORTPROF_E_SYSTEM;
	return status == PORTPROF_E_FORMAT ? PORTPROF_OK : status;
}
