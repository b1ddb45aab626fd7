/* SPDX-License-Identifier: MIT */
/* One gzip member at a time, made in memory or put to a descriptor. */
#ifndef PPI_FILE_GZIP_H
#define PPI_FILE_GZIP_H

#include <stdbool.h>

#include <zlib.h>

#include "base/vector.h"

enum {
	PPI_GZIP_PORTION = 1, /* level while measuring: quick */
	PPI_GZIP_FINAL = 6    /* level of a finished file: small */
};

struct ppi_gzip {
	z_stream z;
	struct ppi_vector out; /* bytes of the member so far */
	int fd;                /* -1: all of it stays in `out` */
	int error;             /* first errno; then nothing more is done */
};

/* 0 or an errno. fd -1 collects the member in memory. */
int ppi_gzip_open(struct ppi_gzip *gzip, int level, int fd);

/* Begin a new member, forgetting one that was begun. */
void ppi_gzip_begin(struct ppi_gzip *gzip);
void ppi_gzip_add(struct ppi_gzip *gzip, const void *bytes, size_t count);
/* Finish the member: 0 or the first errno since begin. */
int ppi_gzip_end(struct ppi_gzip *gzip);

void ppi_gzip_close(struct ppi_gzip *gzip);

#endif
