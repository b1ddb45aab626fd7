/* SPDX-License-Identifier: MIT */
/* Writes a file that is in memory: it takes its place when it is whole. */
#include "config.h"

#include "api/profile/whole_file.h"

#include "api/profile/atomic_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int write_all(int fd, const char *bytes, size_t count)
{
	while (count > 0) {
		ssize_t done = write(fd, bytes, count);

		if (done < 0 && errno != EINTR)
			return errno;
		if (done > 0) {
			bytes += done;
			count -= (size_t)done;
		}
	}
	return 0;
}

portprof_status ppi_file_put(const char *path, const char *bytes, size_t count,
                             struct ppi_diag *why)
{
	struct ppi_atomic_file draft;
	portprof_status status = ppi_atomic_file_open(&draft, path, why);
	int error = EFBIG;

	if (status)
		return status;
	if (!ppi_file_is_limited(count))
		error = write_all(draft.fd, bytes, count);
	if (error == 0)
		error = ppi_atomic_file_place(&draft);
	ppi_atomic_file_close(&draft, error != 0);
	return error ? ppi_fail(why, ppi_file_status(error), error,
	                        "write file", "cannot write '%s': %s", path,
	                        strerror(error))
	             : PORTPROF_OK;
}
