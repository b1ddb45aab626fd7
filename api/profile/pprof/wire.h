/* SPDX-License-Identifier: MIT */
/* Fields of protobuf messages, one after another, not trusted. */
#ifndef PPI_FILE_WIRE_H
#define PPI_FILE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes being read. */
struct ppi_cursor {
	const uint8_t *at, *end;
};

enum ppi_wire {
	PPI_WIRE_VARINT = 0,
	PPI_WIRE_64 = 1,
	PPI_WIRE_BYTES = 2,
	PPI_WIRE_32 = 5
};

/* A field as it stands in the file. */
struct ppi_wire_field {
	uint32_t number;
	enum ppi_wire wire;
	uint64_t value;       /* varint */
	const uint8_t *bytes; /* of PPI_WIRE_BYTES */
	size_t count;
};

/* Of a field of PPI_WIRE_BYTES; others have none to point at. */
static inline struct ppi_cursor
ppi_field_cursor(const struct ppi_wire_field *field)
{
	return (struct ppi_cursor){ field->bytes, field->bytes + field->count };
}

/* What a message may take: no honest one comes near. */
enum { PPI_MESSAGE_BYTES_MAX = 64 << 20 };

static inline bool ppi_read_varint(struct ppi_cursor *from, uint64_t *value)
{
	uint64_t sum = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (from->at == from->end)
			return false;
		sum |= (uint64_t)(*from->at & 0x7f) << shift;
		if (!(*from->at++ & 0x80)) {
			*value = sum;
			return true;
		}
	}
	return false;
}

/* False when it is damaged. */
bool ppi_read_field(struct ppi_cursor *from, struct ppi_wire_field *field);

#endif
