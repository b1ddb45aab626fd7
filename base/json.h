/* SPDX-License-Identifier: MIT */
/*
 * The one writer of JSON, piece by piece: no tree in memory, so that large
 * profiles can be written, and no library, so that every build has it.
 */
#ifndef PPI_JSON_H
#define PPI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Objects and arrays within each other, at most. */
enum { PPI_JSON_DEPTH = 8 };

struct ppi_json {
	FILE *out;
	unsigned depth;
	bool is_line; /* all on one line: one object of many */
	bool has_any[PPI_JSON_DEPTH];
	char close[PPI_JSON_DEPTH];
};

/* Begin an object on a stream; ppi_json_end closes it and whatever else is
 * open, and tells whether the stream took everything. */
void ppi_json_begin(struct ppi_json *json, FILE *out, bool is_line);
bool ppi_json_end(struct ppi_json *json);

/* Values. `key` is NULL in an array, and must need no escapes. */
void ppi_json_object(struct ppi_json *json, const char *key);
void ppi_json_array(struct ppi_json *json, const char *key);
void ppi_json_close(struct ppi_json *json);
/* What is no UTF-8 becomes U+FFFD; NULL becomes null. */
void ppi_json_text(struct ppi_json *json, const char *key, const char *text);
void ppi_json_number(struct ppi_json *json, const char *key, uint64_t number);
void ppi_json_signed(struct ppi_json *json, const char *key, int64_t number);
/* What is no number becomes null. */
void ppi_json_real(struct ppi_json *json, const char *key, double number);
void ppi_json_flag(struct ppi_json *json, const char *key, bool is_true);
void ppi_json_null(struct ppi_json *json, const char *key);

#endif
