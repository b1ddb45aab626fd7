/* SPDX-License-Identifier: MIT */
/* The bytes of a gmon.out. */
#include "api/file/gmon_load.h"

#include <portprof/gmon.h>

#include "compat/gmon/gmon.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bins of 16 bits for 2 GiB of code. */
#define MOST_BYTES ((size_t)1 << 30)

static portprof_status fail_file(const char *path, int error,
                                 struct ppi_diag *why)
{
	portprof_status status =
		error == ENOMEM ? PORTPROF_E_NOMEM : PORTPROF_E_SYSTEM;

	if (error == ENOENT || error == ENOTDIR)
		status = PORTPROF_E_NOTFOUND;
	else if (error == EACCES || error == EPERM)
		status = PORTPROF_E_DENIED;
	else if (error == EFBIG)
		return ppi_fail(why, PORTPROF_E_LIMIT, error, "read profile",
		                "'%s' is larger than 1 GiB: no gmon.out of one "
		                "program is",
		                path);
	return ppi_fail(why, status, error, "read profile",
	                "cannot read '%s': %s", path, strerror(error));
}

static int load_all(int fd, struct ppi_vector *bytes)
{
	for (;;) {
		ssize_t got;

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
		if (bytes->count > MOST_BYTES)
			return EFBIG;
	}
}

portprof_status ppi_gmon_load(const char *path, struct ppi_vector *bytes,
                              struct ppi_diag *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		return fail_file(path, errno, why);
	error = load_all(fd, bytes);
	close(fd);
	return error ? fail_file(path, error, why) : PORTPROF_OK;
}

int portprof_gmon_is(const char *path)
{
	unsigned char begin[64];
	ssize_t got;
	struct stat at;
	int fd;

	/* what is no regular file could not be read a second time */
	if (!path || stat(path, &at) != 0 || !S_ISREG(at.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = pread(fd, begin, sizeof(begin), 0);
	close(fd);
	return got > 0 && ppi_gmon_is(begin, (size_t)got);
}
