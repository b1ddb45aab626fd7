/* SPDX-License-Identifier: MIT */
/* Messages of the schema, one at a time, into a gzip member. */
#ifndef PPI_FILE_ENCODE_H
#define PPI_FILE_ENCODE_H

#include "api/profile/pprof/profile.pb-c.h"
#include "base/vector.h"

#include <zlib.h>

/* ---- one gzip member at a time ---- */

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

/* ---- messages ---- */

/* Numbers of the repeated fields of a profile (profile.proto). */
enum ppi_field {
	PPI_FIELD_SAMPLE_TYPE = 1,
	PPI_FIELD_SAMPLE = 2,
	PPI_FIELD_MAPPING = 3,
	PPI_FIELD_LOCATION = 4,
	PPI_FIELD_FUNCTION = 5,
	PPI_FIELD_STRING = 6,
	PPI_FIELD_PERIOD_TYPE = 11,
	PPI_FIELD_COMMENT = 13,
	PPI_FIELD_ACCOUNT = 1000,
	PPI_FIELD_THREAD = 1001
};

struct ppi_encoder {
	struct ppi_gzip gzip;
	struct ppi_vector scratch; /* bytes of the message in hand */
};

/* One element of a repeated field. */
void ppi_encode(struct ppi_encoder *encoder, enum ppi_field field,
                const void *message);

/* The fields that are set in `part`. */
void ppi_encode_part(struct ppi_encoder *encoder, const Ppi__Profile *part);

/* ---- text ---- */

/* The next string of the table, in UTF-8; and in place what it was made of: the
 * number of bytes. */
void ppi_encode_string(struct ppi_encoder *encoder, const char *text,
                       size_t bytes);
size_t ppi_bytes_of_utf8(char *text, size_t bytes);

#endif
