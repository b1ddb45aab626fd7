/* SPDX-License-Identifier: MIT */
/*
 * Files that take their place when they are whole: where a path leads, a draft
 * beside it, and what is written with one: a file in memory, and files of the
 * command.
 */
#include "config.h"

#include "api/profile/atomic_file.h"

#include <portprof/tool.h>

#include "api/common/diag.h"
#include "base/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where a path leads: links are followed to their end ---- */

struct output_path {
	char *path;      /* absolute, and no link; of a stream as it was named.
	                  * To be freed */
	bool is_stream;  /* a pipe, a device, or a descriptor: what is written
	                  * there cannot be taken back, and nothing may replace
	                  * it */
	int descriptor;  /* the one that the path names, such as /dev/stdout; or
	                  * -1 */
};

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
static int follow_link(char **path, bool *is_link)
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

static int follow_links(struct output_path *found)
{
	bool is_link = true;
	int error = 0;

	for (unsigned n = 0; !error && is_link; n++) {
		found->descriptor = ppi_descriptor_named(found->path);
		if (found->descriptor >= 0)
			return 0;
		error = n < LINKS_MAX ? follow_link(&found->path, &is_link)
		                      : ELOOP;
	}
	return error;
}

/* Links of /proc lead to what has no name, or not that one any more. */
static bool is_same_file(const char *path, const char *end)
{
	struct stat first, last;

	if (stat(path, &first) != 0)
		return stat(end, &last) != 0;
	return stat(end, &last) == 0 && first.st_dev == last.st_dev &&
	       first.st_ino == last.st_ino;
}

static portprof_status refuse_path(const char *path, int error,
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

/* E_NOTFOUND, E_DENIED, E_INVALID, E_NOMEM: *found is unchanged. */
static portprof_status find_path(struct output_path *found, const char *path,
                                 struct ppi_diag *why)
{
	struct output_path at = { .path = absolute(path) };
	struct stat there;
	int error = at.path ? follow_links(&at) : ENOMEM;

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
	} else if (!is_same_file(path, at.path)) {
		error = ENOENT;
	}
	if (error) {
		free(at.path);
		return refuse_path(path, error, why);
	}
	*found = at;
	return PORTPROF_OK;
}

/* ---- the draft, until it takes its place ---- */

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
	case ENXIO:   /* a socket */
	case ENOTSUP:
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

static const char *remedy(int os_errno, const char *folder)
{
	struct stat at;

	switch (ppi_file_status(os_errno)) {
	case PORTPROF_E_DENIED:
		return "choose a folder that you may write to";
	case PORTPROF_E_NOTFOUND:
		return stat(folder, &at) == 0
		               ? "choose another folder"
		               : "create the folder first, or choose another";
	case PORTPROF_E_LIMIT:
		return os_errno == EMFILE || os_errno == ENFILE
		               ? "raise the limit of open files (ulimit -n)"
		               : "make room there, or choose another folder";
	default:
		return "choose another path";
	}
}

/* Is what is at `path` something that a profile may replace? */
static portprof_status check_place(struct ppi_atomic_file *draft,
                                   const char *folder, struct ppi_diag *why)
{
	const char *path = draft->path;
	struct stat at, above;

	/* a draft without a name never meets that */
	if (stat(path, &at) != 0 && errno == ENAMETOOLONG)
		return ppi_fail(why, PORTPROF_E_INVALID, ENAMETOOLONG,
		                "check output", "the output's name is longer "
		                "than this file system allows: '%.40s...'; "
		                "choose a shorter one", path);
	if (stat(path, &at) != 0)
		return PORTPROF_OK; /* creating the draft will tell */
	if (S_ISDIR(at.st_mode))
		return ppi_fail(why, PORTPROF_E_INVALID, EISDIR, "check output",
		                "'%s' is a folder; name a file in it", path);
	draft->mode = at.st_mode & 0777;
	/* in a folder such as /tmp only owners may rename: unlink(2) */
	if (stat(folder, &above) == 0 && above.st_mode & S_ISVTX &&
	    geteuid() != 0 && geteuid() != at.st_uid &&
	    geteuid() != above.st_uid)
		return ppi_fail(why, PORTPROF_E_DENIED, EPERM, "check output",
		                "'%s' belongs to another user and cannot be "
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

/* A name beside the path that nothing has yet: PATH.PID-N.part. */
static bool make_name(struct ppi_atomic_file *draft, unsigned n)
{
	size_t room = strlen(draft->path) + 48;

	if (!draft->name)
		draft->name = malloc(room);
	if (draft->name)
		snprintf(draft->name, room, "%s.%ld-%u.part", draft->path,
		         (long)getpid(), n);
	return draft->name != NULL;
}

enum { NAMES_MAX = 1000 };

static int create_named(struct ppi_atomic_file *draft)
{
	for (unsigned n = 0; n < NAMES_MAX; n++) {
		if (!make_name(draft, n))
			return ENOMEM;
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

#ifdef O_TMPFILE

/* Where a descriptor can be found by a path: open(2), O_TMPFILE. */
static void say_descriptor(int fd, char path[64])
{
	snprintf(path, 64, "/proc/self/fd/%d", fd);
}

/* False where there are no such files, or no way to name one later. */
static bool create_nameless(struct ppi_atomic_file *draft, const char *folder)
{
	char path[64];

	draft->fd = open(folder, O_RDWR | O_APPEND | O_TMPFILE | O_CLOEXEC,
	                 0666);
	if (draft->fd < 0)
		return false;
	say_descriptor(draft->fd, path);
	draft->is_nameless = access(path, F_OK) == 0;
	if (!draft->is_nameless) {
		close(draft->fd);
		draft->fd = -1;
	}
	return draft->is_nameless;
}

static int link_to(const struct ppi_atomic_file *draft, const char *name)
{
	char path[64];

	say_descriptor(draft->fd, path);
	return linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ?
		       0 : errno;
}

#else

static bool create_nameless(struct ppi_atomic_file *draft, const char *folder)
{
	(void)draft;
	(void)folder;
	return false;
}

static int link_to(const struct ppi_atomic_file *draft, const char *name)
{
	(void)draft;
	(void)name;
	return ENOSYS;
}

#endif

static int note_identity(struct ppi_atomic_file *draft)
{
	struct stat at;

	if (fstat(draft->fd, &at) != 0)
		return errno;
	draft->device = (uint64_t)at.st_dev;
	draft->inode = at.st_ino;
	return 0;
}

/* What replaces a file is readable for nobody else than that was. */
static int create_draft(struct ppi_atomic_file *draft, const char *folder)
{
	int error = create_nameless(draft, folder) ? 0 : create_named(draft);

	if (!error && draft->mode && fchmod(draft->fd, draft->mode) != 0)
		error = errno;
	return error ? error : note_identity(draft);
}

static portprof_status open_file(struct ppi_atomic_file *draft,
                                 const char *path, struct ppi_diag *why)
{
	char *folder = folder_of(draft->path);
	portprof_status status = PORTPROF_E_NOMEM;
	int error;

	if (!folder)
		return ppi_fail(why, status, ENOMEM, "open output",
		                "out of memory for '%s'", path);
	status = check_place(draft, folder, why);
	error = status == PORTPROF_OK ? create_draft(draft, folder) : 0;
	if (error)
		status = ppi_fail(why, ppi_file_status(error), error,
		                  "open output",
		                  "cannot create '%s' in '%s': %s; %s", path,
		                  folder, strerror(error), remedy(error, folder));
	free(folder);
	return status;
}

/* A disk is a device that nobody means to write a profile to. */
static int open_stream(struct ppi_atomic_file *draft, int descriptor)
{
	struct stat at;

	draft->is_stream = true;
	if (descriptor >= 0)
		draft->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
	else if (stat(draft->path, &at) == 0 && S_ISBLK(at.st_mode))
		return ENOTSUP;
	else
		draft->fd = open(draft->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return draft->fd < 0 ? errno : note_identity(draft);
}

static portprof_status find_and_open(struct ppi_atomic_file *draft,
                                     const char *path, bool takes_streams,
                                     struct ppi_diag *why)
{
	struct output_path at;
	portprof_status status = find_path(&at, path, why);
	int error;

	if (status != PORTPROF_OK)
		return status;
	draft->path = at.path;
	if (!at.is_stream)
		return open_file(draft, path, why);
	if (!takes_streams)
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "check output",
		                "'%s' is a pipe or device; a profile needs a "
		                "regular file, because it is rewritten at its "
		                "end",
		                path);
	error = open_stream(draft, at.descriptor);
	if (error)
		return ppi_fail(why, ppi_file_status(error), error,
		                "open stream", "cannot write to '%s': %s; %s",
		                path, strerror(error),
		                remedy(error, draft->path));
	return PORTPROF_OK;
}

/* takes_streams: a pipe, device or descriptor is opened as it is, for writing
 * in order and once. Opening a pipe with a name waits for its reader. */
static portprof_status open_draft(struct ppi_atomic_file *draft,
                                  const char *path, bool takes_streams,
                                  struct ppi_diag *why)
{
	portprof_status status;

	memset(draft, 0, sizeof(*draft));
	draft->fd = -1;
	status = find_and_open(draft, path, takes_streams, why);
	if (status == PORTPROF_OK)
		return PORTPROF_OK;
	/* where a stream does not open nothing else is meant by its name */
	if (!draft->is_stream)
		ppi_because(why, PORTPROF_REASON_OUTPUT, status);
	ppi_atomic_file_close(draft, true);
	return status;
}

portprof_status ppi_atomic_file_open(struct ppi_atomic_file *draft,
                                     const char *path, struct ppi_diag *why)
{
	return open_draft(draft, path, false, why);
}

/* What has no name gets one beside the path, which can replace what is there:
 * linkat(2) does not. */
static int give_name(struct ppi_atomic_file *draft)
{
	int error = EEXIST;

	for (unsigned n = 0; error == EEXIST && n < NAMES_MAX; n++)
		error = make_name(draft, n) ? link_to(draft, draft->name) :
		                              ENOMEM;
	if (error) {
		free(draft->name);
		draft->name = NULL;
	}
	return error;
}

int ppi_atomic_file_place(struct ppi_atomic_file *draft)
{
	int error = 0;

	if (draft->is_stream || (!draft->is_nameless && !draft->name))
		return 0; /* it is there */
	if (draft->is_nameless && !draft->name) {
		error = link_to(draft, draft->path);
		if (error == 0)
			draft->is_nameless = false;
		if (error != EEXIST)
			return error;
		error = give_name(draft);
	}
	if (error)
		return error;
	if (rename(draft->name, draft->path) != 0)
		return errno;
	draft->is_nameless = false;
	free(draft->name);
	draft->name = NULL;
	return 0;
}

/* Whether the descriptor still is the file's. */
static bool is_ours(const struct ppi_atomic_file *draft)
{
	struct stat at;

	return draft->fd >= 0 && fstat(draft->fd, &at) == 0 &&
	       (uint64_t)at.st_dev == draft->device && at.st_ino == draft->inode;
}

/* What is at a number that was ours and is not any more is left alone. */
bool ppi_atomic_file_regain(struct ppi_atomic_file *draft)
{
	if (is_ours(draft))
		return true;
	draft->fd = -1;
	if (draft->is_stream || (draft->is_nameless && !draft->name))
		return false; /* nothing else leads to it */
	draft->fd = open(draft->name ? draft->name : draft->path,
	                 O_RDWR | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (is_ours(draft))
		return true;
	if (draft->fd >= 0)
		close(draft->fd);
	draft->fd = -1;
	return false;
}

void ppi_atomic_file_close(struct ppi_atomic_file *draft, bool remove)
{
	if (is_ours(draft))
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

/* ---- a file that is in memory, written at once ---- */

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

/* ---- files of the command, which are written as profiles are ---- */

struct portprof_output {
	struct ppi_atomic_file draft;
};

portprof_status portprof_output_open(const char *path,
                                     portprof_output **output)
{
	struct ppi_diag why = { 0 };
	portprof_output *new;
	portprof_status status;

	if (!path)
		return ppi_refuse_null("portprof_output_open", "path");
	if (!output)
		return ppi_refuse_null("portprof_output_open", "output");
	new = malloc(sizeof(*new));
	if (!new)
		return ppi_refuse(PORTPROF_E_NOMEM, "open output",
		                  "out of memory for '%s'", path);
	status = open_draft(&new->draft, path, true, &why);
	if (status != PORTPROF_OK) {
		free(new);
		return ppi_report(&why);
	}
	*output = new;
	return PORTPROF_OK;
}

int portprof_output_fd(const portprof_output *output)
{
	return output->draft.fd;
}

const char *portprof_output_path(const portprof_output *output)
{
	return output->draft.is_stream ? NULL : output->draft.path;
}

portprof_status portprof_output_place(portprof_output *output)
{
	struct ppi_diag why = { 0 };
	int error = ppi_atomic_file_place(&output->draft);

	if (!error)
		return PORTPROF_OK;
	ppi_fail(&why, ppi_file_status(error), error, "write file",
	         "cannot write '%s': %s; nothing was changed",
	         output->draft.path, strerror(error));
	return ppi_report(&why);
}

void portprof_output_close(portprof_output *output)
{
	if (output)
		ppi_atomic_file_close(&output->draft, true);
	free(output);
}
