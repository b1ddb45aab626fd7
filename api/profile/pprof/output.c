/* SPDX-License-Identifier: MIT */
/* The file of a session: its temporary name, its place, the file that was there
 * before, whole portions appended to it, and at the end all of them as one. */
#include "config.h"

#include "api/profile/pprof/pprof.h"
#include "api/profile/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- portions, one after another ---- */

static char *old_name(const char *path)
{
	size_t room = strlen(path) + sizeof(".old");
	char *old = malloc(room);

	if (old)
		snprintf(old, room, "%s.old", path);
	return old;
}

portprof_status ppi_output_open(struct ppi_output *output, const char *path,
                                struct ppi_diag *why)
{
	portprof_status status;
	struct stat at;
	char *old;

	memset(output, 0, sizeof(*output));
	status = ppi_atomic_file_open(&output->draft, path, why);
	if (status != PORTPROF_OK)
		return status;
	old = old_name(output->draft.path);
	if (!old)
		status = ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open output",
		                  "out of memory for '%s'", path);
	else if (stat(old, &at) == 0 && S_ISDIR(at.st_mode))
		status = ppi_fail(why, PORTPROF_E_INVALID, EISDIR,
		                  "check output",
		                  "'%s' is a folder, so that the profile in "
		                  "'%s' cannot be kept there; choose another "
		                  "path", old, path);
	free(old);
	if (status == PORTPROF_OK)
		return PORTPROF_OK;
	ppi_atomic_file_close(&output->draft, true);
	return ppi_because(why, PORTPROF_REASON_OUTPUT, status);
}

static int keep_old(const char *path)
{
	char *old;
	int error = 0;

	if (access(path, F_OK) != 0)
		return 0;
	old = old_name(path);
	if (!old)
		return ENOMEM;
	if (rename(path, old) != 0 && errno != ENOENT)
		error = errno;
	free(old);
	return error;
}

/* Take away what was written of a portion, now or before the next one: what
 * would come behind it could not be read. */
static int mend(struct ppi_output *output)
{
	if (!output->is_torn)
		return 0;
	if (!ppi_atomic_file_regain(&output->draft))
		return EBADF;
	if (ftruncate(output->draft.fd, (off_t)output->size) != 0)
		return errno;
	output->is_torn = false;
	return 0;
}

int ppi_output_append(struct ppi_output *output, const void *bytes,
                      size_t count)
{
	size_t done = 0;
	int error = mend(output);

	if (!error && ppi_file_is_limited(output->size + count))
		error = EFBIG;
	while (!error && done < count) {
		ssize_t put;

		if (!ppi_atomic_file_regain(&output->draft)) {
			error = EBADF;
			break;
		}
		put = write(output->draft.fd, (const char *)bytes + done,
		            count - done);
		if (put > 0)
			done += (size_t)put;
		else if (put == 0 || errno != EINTR)
			error = put == 0 ? ENOSPC : errno;
	}
	if (!error) {
		output->size += count;
		return 0;
	}
	output->is_torn = done > 0;
	mend(output);
	return error;
}

int ppi_output_place(struct ppi_output *output)
{
	int error;

	if (output->is_placed)
		return 0;
	if (!ppi_atomic_file_regain(&output->draft))
		return EBADF;
	error = keep_old(output->draft.path);
	if (!error)
		error = ppi_atomic_file_place(&output->draft);
	output->is_placed = !error;
	return error;
}

/* Whether PATH is the file being written, or nothing is there any more. */
static bool is_at_path(const struct ppi_output *output)
{
	struct stat named;

	if (!output->is_placed)
		return false;
	if (stat(output->draft.path, &named) != 0)
		return errno == ENOENT;
	return (uint64_t)named.st_dev == output->draft.device &&
	       (uint64_t)named.st_ino == output->draft.inode;
}

void ppi_output_close(struct ppi_output *output, bool is_child)
{
	ppi_atomic_file_close(&output->draft, !is_child);
}

/* ---- from many portions to one, when the measurement is over ---- */

/* A file of more than this is left in portions: putting it together takes
 * memory that the measured program may need. */
enum { FINISH_BYTES_MAX = 64 << 20 };

/* The draft of the one portion, in the place of them all. */
static void replace(const struct ppi_output *output,
                    const portprof_profile *profile)
{
	struct ppi_atomic_file draft;
	struct stat at;

	if (ppi_atomic_file_open(&draft, output->draft.path, NULL) !=
	    PORTPROF_OK)
		return;
	if (fstat(output->draft.fd, &at) == 0 &&
	    fchmod(draft.fd, at.st_mode & 0777) == 0 &&
	    ppi_profile_write_fd(profile, draft.fd) == 0 &&
	    is_at_path(output))
		ppi_atomic_file_place(&draft);
	ppi_atomic_file_close(&draft, true);
}

void ppi_finish(struct ppi_output *output)
{
	portprof_profile *profile;

	if (!is_at_path(output) ||
	    !ppi_atomic_file_regain(&output->draft) ||
	    output->size > FINISH_BYTES_MAX ||
	    lseek(output->draft.fd, 0, SEEK_SET) != 0 ||
	    ppi_profile_read_fd(output->draft.fd, output->draft.path, 0,
	                        &profile, NULL) != PORTPROF_OK)
		return;
	if (!portprof_profile_origin_get(profile)->damage)
		replace(output, profile);
	portprof_profile_free(profile);
}
