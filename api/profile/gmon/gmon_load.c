/* SPDX-License-Identifier: MIT */
/* Reads a gmon.out file into memory; gmon_parse.c parses it. */
#include "config.h"

#include "api/profile/gmon/gmon_load.h"

#include <portprof/gmon.h>

#include "base/foreign_file.h"
#include "api/profile/gmon/gmon.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static portprof_status fail_file(const char *path, int error,
                                 struct ppi_diag *why)
{
	portprof_status status =
		error == ENOMEM ? PORTPROF_E_NOMEM : PORTPROF_E_SYSTEM;

	if (error == ENOENT || error == ENOTDIR)
		status = PORTPROF_E_NOTFOUND;
	else if (error == EACCES || error == EPERM)
		status = PORTPROF_E_DENIED;
	else if (error == EINVAL || error == EISDIR)
		status = PORTPROF_E_FORMAT;
	return ppi_fail(why, status, error, "read profile",
	                "cannot read '%s': %s", path, ppi_foreign_error(error));
}

/* As many bytes as there are; 0 or an errno, EFBIG for more than may be. */
static int load_all(int fd, struct ppi_bounds *bounds, struct ppi_vector *bytes)
{
	for (;;) {
		uint64_t wanted = bytes->count > bounds->file_bytes
		                          ? bytes->count
		                          : bounds->file_bytes;
		ssize_t got;

		if (!ppi_bounds_hold(bounds, wanted * PPI_GMON_GROWTH))
			return EFBIG;
		if (!ppi_vector_reserve(bytes, 1, 65536))
			return ENOMEM;
		got = read(fd, (char *)bytes->data + bytes->count,
		           bytes->room - bytes->count);
		if (got < 0 && errno != EINTR)
			return errno;
		if (got == 0)
			return 0;
		if (got > 0)
			bytes->count += (size_t)got;
	}
}

portprof_status ppi_gmon_load(const char *path, struct ppi_bounds *bounds,
                              struct ppi_vector *bytes, struct ppi_diag *why)
{
	struct stat at;
	int fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, &at), error;

	if (fd < 0)
		return fail_file(path, errno, why);
	bounds->file_bytes = (uint64_t)at.st_size;
	error = load_all(fd, bounds, bytes);
	close(fd);
	if (error == EFBIG)
		return ppi_bounds_fail(bounds, path, why);
	return error ? fail_file(path, error, why) : PORTPROF_OK;
}

int portprof_gmon_is(const char *path)
{
	unsigned char begin[64];
	ssize_t got;
	int fd;

	/* what is no regular file could not be read a second time */
	if (!path)
		return 0;
	fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, NULL);
	if (fd < 0)
		return 0;
	got = pread(fd, begin, sizeof(begin), 0);
	close(fd);
	return got > 0 && ppi_gmon_is(begin, (size_t)got);
}
