/* SPDX-License-Identifier: MIT */
/* The dictionary that OTLP profiles share: what has a number there, and messages that
 * are written without being kept in memory. */
#ifndef PPI_EXPORT_OTLP_TABLES_H
#define PPI_EXPORT_OTLP_TABLES_H

#include <portprof.h>
#include <portprof/tool.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/pool.h"
#include "tools/export/otlp.pb-c.h"
#include "tools/symbols/symbols.h"

/* ---- nested messages ---- */

struct ppi_otlp_out {
	FILE *file; /* NULL: bytes are only counted */
	uint64_t bytes;
};

/* The fields that are set in a message, as fields of the one around. */
void ppi_otlp_put_fields(struct ppi_otlp_out *out, const void *message);

/* A field that holds a message, or what `put` writes, which must be the same when it is
 * called again. */
void ppi_otlp_put_message(struct ppi_otlp_out *out, unsigned field,
                          const void *message);
void ppi_otlp_put_nested(struct ppi_otlp_out *out, unsigned field,
                         void (*put)(struct ppi_otlp_out *out, void *context),
                         void *context);

/* `text` NULL: the number. */
void ppi_otlp_fill_value(PpiOtlp__AnyValue *value, const char *text,
                         int64_t number);

/* ---- tables: equal things have one number; nothing is number 0 ---- */

/* A span of a trace. */
struct ppi_otlp_link { uint8_t trace[16], span[8]; };

struct ppi_otlp_tables {
	const portprof_profile *profile;
	const struct ppi_symbols_name *names; /* by location */
	struct ppi_pool texts, functions, attributes, links;
	struct ppi_pool stacks; /* lists of locations */
	bool is_short; /* of memory */
};

/* The number of a thing, a new one if need be; 0, and that memory is short, for what
 * has none. */
int32_t ppi_otlp_number(struct ppi_otlp_tables *tables, struct ppi_pool *table,
                        const void *thing, size_t bytes);
/* The thing of a number from 1 on; *bytes unless NULL. NULL: there are no more. */
const void *ppi_otlp_thing(const struct ppi_pool *table, size_t number,
                           size_t *bytes);
/* What is no UTF-8 in it becomes '?'. */
int32_t ppi_otlp_text(struct ppi_otlp_tables *tables, const char *text);
/* `text` NULL: the number. */
int32_t ppi_otlp_attribute(struct ppi_otlp_tables *tables, const char *key,
                           const char *text, int64_t number);

/* All of them, behind the profiles; `context`: the tables. */
void ppi_otlp_put_dictionary(struct ppi_otlp_out *out, void *context);
void ppi_otlp_tables_free(struct ppi_otlp_tables *tables);

#endif
