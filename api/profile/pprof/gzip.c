/* SPDX-License-Identifier: MIT */
/* One gzip member at a time, made in memory or put to a descriptor. */
#include "config.h"

#include "api/profile/pprof/gzip.h"

#include "api/profile/atomic_file.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

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

void ppi_gzip_add(struct ppi_gzip *gzip, const void *bytes,
                     size_t count)
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
