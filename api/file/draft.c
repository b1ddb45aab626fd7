/* SPDX-License-Identifier: MIT */
/* A file that takes its place when it is whole. */
#include "api/file/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
		draft->fd = open(
			draft->name,
			O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
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

bool ppi_file_is_limited(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur;
}
