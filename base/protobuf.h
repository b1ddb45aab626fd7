/* SPDX-License-Identifier: MIT */
/* Messages of protocol buffers as bytes: protobuf.dev/programming-guides/encoding. What
 * is read is not trusted. */
#ifndef PPI_PROTOBUF_H
#define PPI_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PPI_VARINT_BYTES = 10 };

/* A number as 1 to PPI_VARINT_BYTES bytes: how many. */
static inline size_t ppi_varint_put(uint8_t *out, uint64_t number)
{
	size_t count = 0;

	for (; number >= 0x80; number >>= 7)
		out[count++] = (uint8_t)(number | 0x80);
	out[count++] = (uint8_t)number;
	return count;
}

/* Bytes being read. */
struct ppi_proto_cursor {
	const uint8_t *at, *end;
};

/* False when it ends too early, or is longer than any number. */
static inline bool ppi_varint_read(struct ppi_proto_cursor *from,
                                   uint64_t *number)
{
	uint64_t sum = 0;

	for (unsigned shift = 0; shift < 64 && from->at < from->end; shift += 7) {
		uint8_t byte = *from->at++;

		sum |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*number = sum;
			return true;
		}
	}
	return false;
}

enum ppi_proto_wire {
	PPI_PROTO_VARINT = 0,
	PPI_PROTO_64 = 1,
	PPI_PROTO_BYTES = 2,
	PPI_PROTO_32 = 5
};

struct ppi_proto_field {
	uint32_t number;
	enum ppi_proto_wire wire;
	uint64_t value;       /* of a varint, else 0 */
	const uint8_t *bytes; /* of the others; of a varint none */
	size_t count;
};

/* The next field. False when it is damaged, or there is none. */
static inline bool ppi_proto_next(struct ppi_proto_cursor *from,
                                  struct ppi_proto_field *field)
{
	uint64_t tag, left = 0;

	if (!ppi_varint_read(from, &tag) || tag >> 3 == 0 ||
	    tag >> 3 > UINT32_MAX)
		return false;
	field->number = (uint32_t)(tag >> 3);
	field->wire = (enum ppi_proto_wire)(tag & 7);
	field->value = 0;
	switch (tag & 7) {
	case PPI_PROTO_VARINT:
		if (!ppi_varint_read(from, &field->value))
			return false;
		break;
	case PPI_PROTO_64:
		left = 8;
		break;
	case PPI_PROTO_32:
		left = 4;
		break;
	case PPI_PROTO_BYTES:
		if (!ppi_varint_read(from, &left))
			return false;
		break;
	default:
		return false;
	}
	if (left > (size_t)(from->end - from->at))
		return false;
	field->bytes = from->at;
	field->count = (size_t)left;
	from->at += field->count;
	return true;
}

#endif
