/* SPDX-License-Identifier: MIT */
/* Fields of protobuf messages, one after another, not trusted. */
#include "api/profile/pprof/wire.h"

bool ppi_read_field(struct ppi_cursor *from, struct ppi_wire_field *field)
{
	uint64_t tag, left;

	if (!ppi_read_varint(from, &tag) || tag >> 3 == 0 ||
	    tag >> 3 > UINT32_MAX)
		return false;
	field->number = (uint32_t)(tag >> 3);
	field->wire = (enum ppi_wire)(tag & 7);
	switch (tag & 7) {
	case PPI_WIRE_VARINT:
		return ppi_read_varint(from, &field->value);
	case PPI_WIRE_64:
		field->count = 8;
		break;
	case PPI_WIRE_32:
		field->count = 4;
		break;
	case PPI_WIRE_BYTES:
		if (!ppi_read_varint(from, &left) ||
		    left > PPI_MESSAGE_BYTES_MAX)
			return false;
		field->count = (size_t)left;
		break;
	default:
		return false;
	}
	if (field->count > (size_t)(from->end - from->at))
		return false;
	field->bytes = from->at;
	from->at += field->count;
	return true;
}
