/* SPDX-License-Identifier: MIT */
/* Parts of OTLP profiles: tables that number their entries, and nested messages
 * that are written without keeping them in memory. */
#ifndef PPI_OTLP_H
#define PPI_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <uthash.h>

#include "tools/export/otlp.pb-c.h"

/* ---- Tables: equal things have one number; nothing is number 0 ---- */

struct ppi_otlp_item {
	UT_hash_handle hh;
	int32_t number;
	/* the bytes of the thing follow, and a zero byte */
};

struct ppi_otlp_table {
	struct ppi_otlp_item *items; /* in the order of their numbers */
	int32_t count;               /* without the 0th */
};

/* The number of a thing, a new one if need be. -1 when out of memory. */
int32_t ppi_otlp_number(struct ppi_otlp_table *table, const void *thing,
                        size_t bytes);
static inline const void *ppi_otlp_thing(const struct ppi_otlp_item *item)
{
	return item + 1;
}
void ppi_otlp_table_free(struct ppi_otlp_table *table);

/* The number of a text; what is no UTF-8 in it becomes '?'. */
int32_t ppi_otlp_text(struct ppi_otlp_table *texts, const char *text);

/* ---- Writing ---- */

struct ppi_otlp_out {
	FILE *file; /* NULL: bytes are only counted */
	uint64_t bytes;
};

/* A field that holds a message, a text, or what `put` writes, which must be
 * the same when it is called again. */
void ppi_otlp_put(struct ppi_otlp_out *out, unsigned field,
                  const void *message);
void ppi_otlp_put_text(struct ppi_otlp_out *out, unsigned field,
                       const char *text, size_t bytes);
void ppi_otlp_put_nested(struct ppi_otlp_out *out, unsigned field,
                         void (*put)(struct ppi_otlp_out *out, void *context),
                         void *context);

/* The fields that are set in a message, as fields of the one around. */
void ppi_otlp_put_part(struct ppi_otlp_out *out, const void *message);

#endif
