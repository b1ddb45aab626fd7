/* SPDX-License-Identifier: MIT */
/* The output path: drafts, names and whole portions. */
#include "api/file/output.h"

#include "api/file/gzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

portprof_status ppi_file_status(int os_errno)
{
	switch (os_errno) {
	case EACCES:
	case EPERM:
	case EROFS:
		return PORTPROF_E_DENIED;
	case ENOENT:
	case ENOTDIR:
		return PORTPROF_E_NOTFOUND;
	case ENAMETOOLONG:
	case EISDIR:
	case ELOOP:
		return PORTPROF_E_INVALID;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
	case EMFILE:
	case ENFILE:
		return PORTPROF_E_LIMIT;
	case ENOMEM:
		return PORTPROF_E_NOMEM;
	default:
		return PORTPROF_E_SYSTEM;
	}
}

static const char *remedy(int os_errno)
{
	switch (ppi_file_status(os_errno)) {
	case PORTPROF_E_DENIED:
		return "choose a folder that you may write to";
	case PORTPROF_E_NOTFOUND:
		return "create the folder first, or choose another";
	case PORTPROF_E_LIMIT:
		return os_errno == EMFILE || os_errno == ENFILE
		               ? "raise the limit of open files (ulimit -n)"
		               : "make room there, or choose another folder";
	default:
		return "choose another path";
	}
}

/* Is what is at `path` something that a profile may replace? */
static portprof_status check_place(const char *path, const char *folder,
                                   struct ppi_diag *why)
{
	struct stat at, above;

	if (stat(path, &at) != 0)
		return PORTPROF_OK; /* creating the draft will tell */
	if (S_ISDIR(at.st_mode))
		return ppi_fail(why, PORTPROF_E_INVALID, EISDIR, "check output",
		                "'%s' is a folder; name a file in it", path);
	if (!S_ISREG(at.st_mode))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "check output",
		                "'%s' is a pipe or device; a profile needs a "
		                "regular file, because it is rewritten at its "
		                "end",
		                path);
	/* in a folder such as /tmp only owners may rename: unlink(2) */
	if (stat(folder, &above) == 0 && above.st_mode & S_ISVTX &&
	    geteuid() != 0 && geteuid() != at.st_uid &&
	    geteuid() != above.st_uid)
		return ppi_fail(why, PORTPROF_E_DENIED, EPERM, "check output",
		                "'%s' belongs to somebody else and cannot be "
		                "replaced in '%s'; choose another path",
		                path, folder);
	return PORTPROF_OK;
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Create under a name that nothing has yet: PATH.PID-N.part. */
static int create(struct ppi_draft *draft)
{
	size_t room = strlen(draft->path) + 48;

	draft->name = malloc(room);
	if (!draft->name)
		return ENOMEM;
	for (unsigned n = 0; n < 1000; n++) {
		snprintf(draft->name, room, "%s.%ld-%u.part", draft->path,
		         (long)getpid(), n);
		draft->fd = open(draft->name,
		                 O_RDWR | O_APPEND | O_CREAT | O_EXCL |
		                         O_CLOEXEC,
		                 0666);
		if (draft->fd >= 0)
			return 0;
		if (errno != EEXIST)
			return errno;
	}
	return EEXIST;
}

portprof_status ppi_draft_open(struct ppi_draft *draft, const char *path,
                               struct ppi_diag *why)
{
	char *folder = folder_of(path);
	portprof_status status;
	int error;

	memset(draft, 0, sizeof(*draft));
	draft->fd = -1;
	draft->path = strdup(path);
	if (!folder || !draft->path) {
		status = ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open output",
		                  "out of memory for '%s'", path);
		goto fail;
	}
	status = check_place(path, folder, why);
	if (status != PORTPROF_OK)
		goto fail;
	error = create(draft);
	if (error) {
		status = ppi_fail(why, ppi_file_status(error), error,
		                  "open output",
		                  "cannot create '%s' in '%s': %s; %s", path,
		                  folder, strerror(error), remedy(error));
		goto fail;
	}
	free(folder);
	return PORTPROF_OK;
fail:
	free(folder);
	ppi_draft_close(draft, false);
	return status;
}

int ppi_draft_place(struct ppi_draft *draft)
{
	if (rename(draft->name, draft->path) != 0)
		return errno;
	free(draft->name);
	draft->name = NULL;
	return 0;
}

void ppi_draft_close(struct ppi_draft *draft, bool remove)
{
	if (draft->fd >= 0)
		close(draft->fd);
	if (draft->name && remove)
		unlink(draft->name);
	free(draft->name);
	free(draft->path);
	memset(draft, 0, sizeof(*draft));
	draft->fd = -1;
}

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
	char *old = old_name(path);
	struct stat at;

	memset(output, 0, sizeof(*output));
	output->draft.fd = -1;
	if (!old)
		return ppi_fail(why, PORTPROF_E_NOMEM, ENOMEM, "open output",
		                "out of memory for '%s'", path);
	if (stat(old, &at) == 0 && S_ISDIR(at.st_mode)) {
		ppi_fail(why, PORTPROF_E_INVALID, EISDIR, "check output",
		         "'%s' is a folder, so that the profile in '%s' "
		         "cannot be kept there; choose another path",
		         old, path);
		free(old);
		return PORTPROF_E_INVALID;
	}
	free(old);
	return ppi_draft_open(&output->draft, path, why);
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
		ssize_t put = write(output->draft.fd,
		                    (const char *)bytes + done, count - done);

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
	error = keep_old(output->draft.path);
	if (!error)
		error = ppi_draft_place(&output->draft);
	output->is_placed = !error;
	return error;
}

bool ppi_output_is_ours(const struct ppi_output *output)
{
	struct stat named, written;

	if (!output->is_placed)
		return false;
	if (stat(output->draft.path, &named) != 0)
		return errno == ENOENT;
	return fstat(output->draft.fd, &written) == 0 &&
	       named.st_dev == written.st_dev && named.st_ino == written.st_ino;
}

void ppi_output_close(struct ppi_output *output, bool is_child)
{
	ppi_draft_close(&output->draft, !is_child);
}
