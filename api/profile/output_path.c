/* SPDX-License-Identifier: MIT */
/* What is written to when a path is: links are followed to their end. */
#include "config.h"

#include "api/profile/output_path.h"

#include "base/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

enum { LINKS_MAX = 40 }; /* as many as Linux follows: path_resolution(7) */

/* `name` as seen from the folder of `path`. NULL: out of memory. */
static char *beside(const char *path, const char *name)
{
	const char *slash = name[0] == '/' ? NULL : strrchr(path, '/');
	size_t kept = slash ? (size_t)(slash + 1 - path) : 0;
	size_t room = kept + strlen(name) + 1;
	char *joined = malloc(room);

	if (joined)
		snprintf(joined, room, "%.*s%s", (int)kept, path, name);
	return joined;
}

/* The program may go to another folder. */
static char *absolute(const char *path)
{
	char folder[PATH_MAX + 1];

	if (path[0] == '/' || !getcwd(folder, PATH_MAX))
		return strdup(path);
	strcat(folder, "/");
	return beside(folder, path);
}

/*
 * In a folder where everybody may write, a link of somebody else leads where he
 * wants us to write. Kernels refuse to follow it, too (proc(5),
 * protected_symlinks), but we do that ourselves.
 */
static bool is_trap(const char *path, const struct stat *link)
{
	char *folder = beside(path, ".");
	struct stat above;
	bool is_open = folder && stat(folder, &above) == 0 &&
	               above.st_mode & S_ISVTX && above.st_mode & S_IWOTH;

	free(folder);
	return is_open && link->st_uid != geteuid() &&
	       link->st_uid != above.st_uid;
}

/* Follow the link at *path, if there is one, by a step: 0, or an errno. */
static int follow(char **path, bool *is_link)
{
	char target[PATH_MAX + 1];
	struct stat at;
	ssize_t length;
	char *next;

	*is_link = lstat(*path, &at) == 0 && S_ISLNK(at.st_mode);
	if (!*is_link)
		return 0;
	if (is_trap(*path, &at))
		return EPERM;
	length = readlink(*path, target, PATH_MAX);
	if (length < 0)
		return errno;
	target[length] = '\0';
	next = beside(*path, target);
	if (!next)
		return ENOMEM;
	free(*path);
	*path = next;
	return 0;
}

static int walk(struct ppi_output_path *found)
{
	bool is_link = true;
	int error = 0;

	for (unsigned n = 0; !error && is_link; n++) {
		found->descriptor = ppi_descriptor_named(found->path);
		if (found->descriptor >= 0)
			return 0;
		error = n < LINKS_MAX ? follow(&found->path, &is_link) : ELOOP;
	}
	return error;
}

/* Links of /proc lead to what has no name, or not that one any more. */
static bool is_same(const char *path, const char *end)
{
	struct stat first, last;

	if (stat(path, &first) != 0)
		return stat(end, &last) != 0;
	return stat(end, &last) == 0 && first.st_dev == last.st_dev &&
	       first.st_ino == last.st_ino;
}

static portprof_status refuse(const char *path, int error,
                              struct ppi_diag *why)
{
	if (error == ENOMEM)
		return ppi_fail(why, PORTPROF_E_NOMEM, error, "check output",
		                "out of memory for '%s'", path);
	if (error == EPERM)
		return ppi_fail(why, PORTPROF_E_DENIED, error, "check output",
		                "'%s' is a link of another user, in a folder "
		                "where everybody may write; name the file that "
		                "it leads to", path);
	if (error == ENOENT)
		return ppi_fail(why, PORTPROF_E_NOTFOUND, error, "check output",
		                "'%s' leads to a file that was moved or "
		                "deleted; choose another path", path);
	if (error == EBADF)
		return ppi_fail(why, PORTPROF_E_INVALID, error, "check output",
		                "'%s': that descriptor is not open; choose "
		                "another path", path);
	return ppi_fail(why, PORTPROF_E_INVALID, error, "check output",
	                "cannot follow the link '%s': %s; choose another path",
	                path, strerror(error));
}

portprof_status ppi_output_path_find(struct ppi_output_path *found,
                                     const char *path, struct ppi_diag *why)
{
	struct ppi_output_path at = { .path = absolute(path) };
	struct stat there;
	int error = at.path ? walk(&at) : ENOMEM;

	if (error) {
		/* words below */
	} else if (at.descriptor >= 0) {
		at.is_stream = true;
		error = fcntl(at.descriptor, F_GETFD) < 0 ? EBADF : 0;
	} else if (stat(path, &there) == 0 && !S_ISREG(there.st_mode) &&
	           !S_ISDIR(there.st_mode)) {
		at.is_stream = true;
		free(at.path);
		at.path = absolute(path);
		error = at.path ? 0 : ENOMEM;
	} else if (!is_same(path, at.path)) {
		error = ENOENT;
	}
	if (error) {
		free(at.path);
		return refuse(path, error, why);
	}
	*found = at;
	return PORTPROF_OK;
}
