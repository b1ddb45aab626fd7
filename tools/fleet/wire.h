/* SPDX-License-Identifier: MIT */
/* What goes over the wire, put together in memory: protocol buffers, JSON, query
 * strings, gzip; and hashes that are the same on all hosts. */
#ifndef PPI_FLEET_WIRE_H
#define PPI_FLEET_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"

/* Bytes that grow. After a failure, which is always that of memory, nothing is
 * added any more: it is asked once, at the end. */
struct ppi_wire {
	struct ppi_vector bytes;
	bool is_short; /* of memory */
};

void ppi_wire_add(struct ppi_wire *wire, const void *bytes, size_t count);
void ppi_wire_text(struct ppi_wire *wire, const char *text);
void ppi_wire_print(struct ppi_wire *wire, const char *format, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 2, 3)))
#endif
	;
void ppi_wire_free(struct ppi_wire *wire);

/* A copy of the bytes with a zero byte behind, for the C library; NULL when out of
 * memory, then or before. The wire is freed. */
char *ppi_wire_string(struct ppi_wire *wire);

/* ---- protocol buffers; base/protobuf.h reads them ---- */

void ppi_wire_varint(struct ppi_wire *wire, uint64_t number);
/* 0 is what a field that is missing has, so it is left out. */
void ppi_wire_number(struct ppi_wire *wire, unsigned field, uint64_t number);
void ppi_wire_field(struct ppi_wire *wire, unsigned field, const void *bytes,
                    size_t count);
void ppi_wire_string_field(struct ppi_wire *wire, unsigned field,
                           const char *text);
/* `part` is emptied. */
void ppi_wire_message(struct ppi_wire *wire, unsigned field,
                      struct ppi_wire *part);

/* ---- text ---- */

/* In quotes, as JSON has it; what is no UTF-8 becomes '?'. */
void ppi_wire_json(struct ppi_wire *wire, const char *text);
void ppi_wire_base64(struct ppi_wire *wire, const void *bytes, size_t count);
/* As part of a query string (RFC 3986). */
void ppi_wire_query(struct ppi_wire *wire, const char *text);

/* ---- gzip ---- */

/* False when out of memory, or in a build without zlib. */
bool ppi_wire_pack(struct ppi_wire *to, const void *bytes, size_t count);
/* False, too, for what is damaged or longer than `most`. */
bool ppi_wire_unpack(struct ppi_wire *to, const void *bytes, size_t count,
                     size_t most);

/* ---- hashes ---- */

/* The last step of MurmurHash3, which spreads what ppi_hash_add gives: the same on
 * all hosts. */
uint64_t ppi_hash_end(uint64_t hash);

#endif
