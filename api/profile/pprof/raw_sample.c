/* SPDX-License-Identifier: MIT */
/*
 * One sample's message taken apart. By hand, and not by protobuf-c, which asks
 * for memory for each list and label: a large profile is nothing but samples.
 * Samples are kept as they stand in the file until they are needed, where
 * they are a quarter of the size.
 */
#include "api/profile/pprof/raw.h"

#include "api/profile/pprof/wire.h"

/* Numbers of fields, as profile.proto has them. */
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABELS = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3, LABEL_UNIT = 4 };

/* A list of numbers: packed, as ours are, or one number a field. */
static portprof_status add_numbers(struct ppi_vector *list,
                                   const struct ppi_wire_field *field)
{
	struct ppi_cursor from;
	uint64_t value = field->value;

	if (field->wire == PPI_WIRE_VARINT)
		return ppi_vector_add(list, sizeof(value), &value, 1)
		               ? PORTPROF_OK
		               : PORTPROF_E_NOMEM;
	if (field->wire != PPI_WIRE_BYTES)
		return PORTPROF_E_FORMAT;
	/* no number takes less than a byte */
	if (!ppi_vector_reserve(list, sizeof(value), field->count))
		return PORTPROF_E_NOMEM;
	from = ppi_field_cursor(field);
	while (from.at < from.end) {
		if (!ppi_read_varint(&from, &value))
			return PORTPROF_E_FORMAT;
		PPI_AT(list, uint64_t)[list->count++] = value;
	}
	return PORTPROF_OK;
}

static int64_t *label_part(struct ppi_raw_label *label, uint32_t number)
{
	switch (number) {
	case LABEL_KEY:
		return &label->key;
	case LABEL_STR:
		return &label->str;
	case LABEL_NUM:
		return &label->num;
	case LABEL_UNIT:
		return &label->unit;
	default:
		return NULL;
	}
}

static portprof_status add_label(struct ppi_vector *labels,
                                 const struct ppi_wire_field *message)
{
	struct ppi_raw_label label = { 0 };
	struct ppi_cursor from;

	if (message->wire != PPI_WIRE_BYTES)
		return PORTPROF_E_FORMAT;
	from = ppi_field_cursor(message);
	while (from.at < from.end) {
		struct ppi_wire_field field = { 0 };
		int64_t *part;

		if (!ppi_read_field(&from, &field))
			return PORTPROF_E_FORMAT;
		part = label_part(&label, field.number);
		if (part && field.wire != PPI_WIRE_VARINT)
			return PORTPROF_E_FORMAT;
		if (part)
			*part = (int64_t)field.value;
	}
	return ppi_vector_add(labels, sizeof(label), &label, 1)
	               ? PORTPROF_OK
	               : PORTPROF_E_NOMEM;
}

portprof_status ppi_raw_sample_read(const struct ppi_raw_sample *sample,
                                    struct ppi_raw_parts *parts)
{
	struct ppi_cursor from = { sample->bytes,
		                   sample->bytes + sample->count };
	portprof_status status = PORTPROF_OK;

	parts->locations.count = 0;
	parts->values.count = 0;
	parts->labels.count = 0;
	while (from.at < from.end && status == PORTPROF_OK) {
		struct ppi_wire_field field = { 0 };

		if (!ppi_read_field(&from, &field))
			return PORTPROF_E_FORMAT;
		if (field.number == SAMPLE_LOCATIONS)
			status = add_numbers(&parts->locations, &field);
		else if (field.number == SAMPLE_VALUES)
			status = add_numbers(&parts->values, &field);
		else if (field.number == SAMPLE_LABELS)
			status = add_label(&parts->labels, &field);
	}
	return status;
}

void ppi_raw_parts_free(struct ppi_raw_parts *parts)
{
	ppi_vector_free(&parts->locations);
	ppi_vector_free(&parts->values);
	ppi_vector_free(&parts->labels);
}
