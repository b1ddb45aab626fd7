/* SPDX-License-Identifier: MIT */
/* The bounds of what a file that is read may take. */
#include "config.h"

#include "api/profile/memory.h"

#include "backends/backend.h"
#include "base/foreign_file.h"
#include "base/vector.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

portprof_status ppi_bounds_fail(const struct ppi_bounds *bounds,
                                const char *name, struct ppi_diag *why)
{
	return ppi_fail(why, PORTPROF_E_LIMIT, 0, "read profile",
	                "'%s' takes more than %llu MiB of memory to read, %s: "
	                "is it damaged, or made to do harm?",
	                name,
	                (unsigned long long)(ppi_bounds_bytes(bounds) >> 20),
	                bounds->asked ? "the requested limit"
	                : ppi_bounds_bytes(bounds) < PPI_BOUNDS_MOST
	                        ? "too much for its size"
	                        : "the usual limit");
}

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

		if (!ppi_bounds_hold(bounds, wanted * PPI_LOAD_GROWTH))
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

portprof_status ppi_bounds_load(struct ppi_bounds *bounds, const char *path,
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
