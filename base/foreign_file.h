/* SPDX-License-Identifier: MIT */
/* Opening files that others wrote, named or put there. */
#ifndef PPI_FOREIGN_FILE_H
#define PPI_FOREIGN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <sys/stat.h>

enum ppi_foreign {
	PPI_FOREIGN_FILE = 0,
	/* For names that users type: also /dev/null, and, under the names that
	 * a shell's <(...) has, a pipe or socket that this process was started
	 * with. */
	PPI_FOREIGN_TYPED = 1,
	/* Not through a symbolic link. For folders that everybody writes to. */
	PPI_FOREIGN_NO_LINK = 2
};

/*
 * A descriptor to read from, or -1 with errno: EISDIR for a folder, EINVAL for
 * what is no regular file otherwise. Opening one of those could wait for ever
 * (FIFO), and do things (tape, watchdog), so they are not opened at all; what
 * becomes one in between is closed again, and does not wait either. `at` may
 * be NULL.
 */
int ppi_foreign_open(const char *path, unsigned how, struct stat *at);

/* The same as a stream. */
FILE *ppi_foreign_stream(const char *path, unsigned how);

/* All of it as text, to be freed; NULL with errno: EFBIG for more than `most`
 * bytes, EILSEQ for one that is 0. */
char *ppi_foreign_text(const char *path, unsigned how, size_t most);

/* The descriptor that a path names: /dev/fd/N, /dev/stdout and their like; -1: it
 * names none. */
int ppi_descriptor_named(const char *path);

/* Whether opening `path` finds a regular file or nothing, for libraries that
 * open by themselves. */
bool ppi_foreign_is_harmless(const char *path);

/* Read at an offset; how much there was of it. */
size_t ppi_foreign_read(int fd, void *bytes, size_t count, uint64_t offset);

/* What errno of these means, for people. */
const char *ppi_foreign_error(int error);

#endif
