/* SPDX-License-Identifier: MIT */
/* Reading JSON (RFC 8259) piece by piece, as base/json.h writes it. */
#ifndef PPI_JSON_READ_H
#define PPI_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ppi_json_in {
	const char *text, *at; /* at its end is a zero byte */
	bool is_first;         /* of an object or array */
	bool is_wrong;         /* from then on nothing is read */
};

void ppi_json_in_begin(struct ppi_json_in *in, const char *text);

/* Enter an object or an array; then go on to its next member or element until
 * there is none, and it has been left. Keys that do not fit are cut. */
bool ppi_json_in_enter(struct ppi_json_in *in, char open);
bool ppi_json_in_key(struct ppi_json_in *in, char *key, size_t bytes);
bool ppi_json_in_item(struct ppi_json_in *in);

/* A string, to be freed; NULL for null, and for what is none. */
char *ppi_json_in_text(struct ppi_json_in *in);
/* False for null. Numbers are whole and not negative here. */
bool ppi_json_in_number(struct ppi_json_in *in, uint64_t *number);
/* The same of any number. */
bool ppi_json_in_real(struct ppi_json_in *in, double *number);
/* A value of any kind. */
void ppi_json_in_skip(struct ppi_json_in *in);
/* Whether all was right and nothing follows. */
bool ppi_json_in_end(struct ppi_json_in *in);
/* The line that was reached, from 1. */
size_t ppi_json_in_line(const struct ppi_json_in *in);

#endif
