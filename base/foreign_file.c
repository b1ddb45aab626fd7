/* SPDX-License-Identifier: MIT */
/* Opening files that others wrote, named or put there. */
#include "config.h"

#include "base/foreign_file.h"

#include "base/vector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ppi_descriptor_named(const char *path)
{
	static const char *const names[] = { "/dev/stdin", "/dev/stdout",
		                             "/dev/stderr" };
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	const char *number = NULL;
	char *end;
	long descriptor;

	for (int i = 0; i < 3; i++)
		if (strcmp(path, names[i]) == 0)
			return i;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			number = path + strlen(folders[i]);
	if (!number || *number < '0' || *number > '9')
		return -1;
	descriptor = strtol(number, &end, 10);
	return *end || descriptor > 0xffffff ? -1 : (int)descriptor;
}

static int open_inherited(const char *path, struct stat *at)
{
	int descriptor = ppi_descriptor_named(path);

	if (descriptor < 0 || fstat(descriptor, at) != 0 ||
	    (!S_ISFIFO(at->st_mode) && !S_ISSOCK(at->st_mode))) {
		errno = EINVAL;
		return -1;
	}
	return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

static int refuse(const struct stat *at)
{
	errno = S_ISDIR(at->st_mode) ? EISDIR : EINVAL;
	return -1;
}

int ppi_foreign_open(const char *path, unsigned how, struct stat *at)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, fd;
	struct stat own;

	if (!at)
		at = &own;
	if (how & PPI_FOREIGN_NO_LINK)
		flags |= O_NOFOLLOW;
	if (stat(path, at) != 0)
		return -1;
	if (how & PPI_FOREIGN_TYPED &&
	    (S_ISFIFO(at->st_mode) || S_ISSOCK(at->st_mode)))
		return open_inherited(path, at);
	if (how & PPI_FOREIGN_TYPED && strcmp(path, "/dev/null") == 0)
		return open(path, flags);
	if (!S_ISREG(at->st_mode))
		return refuse(at);
	fd = open(path, flags);
	if (fd < 0)
		return -1;
	if (fstat(fd, at) == 0 && S_ISREG(at->st_mode)) {
		/* where opening such a name duplicates, so is the offset */
		if (ppi_descriptor_named(path) >= 0)
			lseek(fd, 0, SEEK_SET);
		return fd;
	}
	close(fd);
	return refuse(at);
}

FILE *ppi_foreign_stream(const char *path, unsigned how)
{
	int fd = ppi_foreign_open(path, how, NULL), error;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file) {
		error = errno;
		close(fd);
		errno = error;
	}
	return file;
}

char *ppi_foreign_text(const char *path, unsigned how, size_t most)
{
	FILE *file = ppi_foreign_stream(path, how);
	struct ppi_vector text = { 0 };
	char piece[4096];
	int error = file ? 0 : errno;
	size_t got;

	while (!error && (got = fread(piece, 1, sizeof(piece), file)) > 0)
		if (got > most - text.count)
			error = EFBIG;
		else if (!ppi_vector_add(&text, 1, piece, got))
			error = ENOMEM;
	if (!error && ferror(file))
		error = errno;
	if (!error && !ppi_vector_add(&text, 1, "", 1))
		error = ENOMEM;
	if (!error && strlen(text.data) + 1 != text.count)
		error = EILSEQ;
	if (file)
		fclose(file);
	if (!error)
		return text.data;
	ppi_vector_free(&text);
	errno = error;
	return NULL;
}

bool ppi_foreign_is_harmless(const char *path)
{
	struct stat at;

	return stat(path, &at) != 0 || S_ISREG(at.st_mode);
}

size_t ppi_foreign_read(int fd, void *bytes, size_t count, uint64_t offset)
{
	size_t done = 0;

	while (done < count && offset <= (uint64_t)INT64_MAX - done) {
		ssize_t got = pread(fd, (char *)bytes + done, count - done,
		                    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

const char *ppi_foreign_error(int error)
{
	return error == EINVAL   ? "not a regular file"
	       : error == EILSEQ ? "it is no text"
	                         : strerror(error);
}
