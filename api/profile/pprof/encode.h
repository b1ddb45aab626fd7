/* SPDX-License-Identifier: MIT */
/* Messages of the schema, one at a time, into a gzip member. */
#ifndef PPI_FILE_ENCODE_H
#define PPI_FILE_ENCODE_H

#include "api/profile/pprof/gzip.h"
#include "api/profile/pprof/profile.pb-c.h"

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

/* The next string of the table, in UTF-8; and in place what it was made of: the
 * number of bytes. */
void ppi_encode_string(struct ppi_encoder *encoder, const char *text,
                       size_t bytes);
size_t ppi_bytes_of_utf8(char *text, size_t bytes);

/* Replace what is not UTF-8 by '?', in place. */
void ppi_clean_utf8(char *text, size_t bytes);

#endif
