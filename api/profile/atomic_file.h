/* SPDX-License-Identifier: MIT */
/* A file that takes its place when it is whole. */
#ifndef PPI_FILE_ATOMIC_FILE_H
#define PPI_FILE_ATOMIC_FILE_H

#include <sys/types.h>

#include "backends/backend.h"

/*
 * A file under another name until it takes its place; without any name where
 * the system and the file system know such files, so that nothing is left of
 * one whose process is killed.
 */
struct ppi_atomic_file {
	char *path;        /* of the result */
	char *name;        /* of the draft; NULL: it has none, or has its place */
	int fd;            /* -1: none; read and append */
	bool is_nameless;
	bool is_stream;    /* a pipe, a device or a descriptor: it has its place,
	                    * and what is written is there at once */
	mode_t mode;       /* of the file to be replaced; 0: there is none */
	/* Which file it is: the program may close what it does not know, and
	 * open its own in its place. The size of ino_t depends on config.h. */
	uint64_t device, inode;
};

/* Make a draft beside `path`: everything that can be wrong with the path is
 * found now, and said. */
portprof_status ppi_atomic_file_open(struct ppi_atomic_file *draft,
                                     const char *path, struct ppi_diag *why);
/* Put it at `path`, over what is there; it stays open. 0 or an errno. */
int ppi_atomic_file_place(struct ppi_atomic_file *draft);

/*
 * Whether the descriptor still is the file's; if not, the file is opened anew
 * where it still is: false when it is not. Asked before each use: what is
 * between the question and the use, a few instructions, is the window in which
 * a program that closes our descriptor can still meet us.
 */
bool ppi_atomic_file_regain(struct ppi_atomic_file *draft);

/* Close what is ours; take the draft away unless it was placed. */
void ppi_atomic_file_close(struct ppi_atomic_file *draft, bool remove);

/* The status that an errno of a file operation stands for. */
portprof_status ppi_file_status(int os_errno);

/* Whether a file may not have this size: a write past the limit would raise
 * SIGXFSZ, which ends the program (setrlimit(2)). */
bool ppi_file_is_limited(uint64_t size);

/* Put so many bytes at `path`, over what is there, whole or not at all. */
portprof_status ppi_file_put(const char *path, const char *bytes, size_t count,
                             struct ppi_diag *why);

#endif
