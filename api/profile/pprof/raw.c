/* SPDX-License-Identifier: MIT */
/*
 * A profile as its messages are in the file, before they are validated: the
 * fields of a message, a sample taken apart, and all messages of a part of a
 * file in lists. Samples are read by hand, and the others by protobuf-c.
 */
#include "api/profile/pprof/raw.h"

#include "api/profile/pprof/encode.h"
#include "base/protobuf.h"

/* ---- fields, one after another, not trusted ---- */

/* What a message may take: no honest one comes near. */
enum { MESSAGE_BYTES_MAX = 64 << 20 };

/* False when it is damaged. */
static bool read_field(struct ppi_proto_cursor *from,
                       struct ppi_proto_field *field)
{
	return ppi_proto_next(from, field) && field->count <= MESSAGE_BYTES_MAX;
}

/* Of a field of bytes; others have none to point at. */
static struct ppi_proto_cursor field_cursor(const struct ppi_proto_field *field)
{
	return (struct ppi_proto_cursor){ field->bytes,
		                          field->bytes + field->count };
}

/* ---- a sample ---- */

/*
 * One sample's message taken apart. By hand, and not by protobuf-c, which asks
 * for memory for each list and label: a large profile is nothing but samples.
 * Samples are kept as they stand in the file until they are needed, where
 * they are a quarter of the size.
 */

/* Numbers of fields, as profile.proto has them. */
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABELS = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3, LABEL_UNIT = 4 };

/* A list of numbers: packed, as ours are, or one number a field. */
static portprof_status add_numbers(struct ppi_vector *list,
                                   const struct ppi_proto_field *field)
{
	struct ppi_proto_cursor from;
	uint64_t value = field->value;

	if (field->wire == PPI_PROTO_VARINT)
		return ppi_vector_add(list, sizeof(value), &value, 1)
		               ? PORTPROF_OK
		               : PORTPROF_E_NOMEM;
	if (field->wire != PPI_PROTO_BYTES)
		return PORTPROF_E_FORMAT;
	/* no number takes less than a byte */
	if (!ppi_vector_reserve(list, sizeof(value), field->count))
		return PORTPROF_E_NOMEM;
	from = field_cursor(field);
	while (from.at < from.end) {
		if (!ppi_varint_read(&from, &value))
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
                                 const struct ppi_proto_field *message)
{
	struct ppi_raw_label label = { 0 };
	struct ppi_proto_cursor from;

	if (message->wire != PPI_PROTO_BYTES)
		return PORTPROF_E_FORMAT;
	from = field_cursor(message);
	while (from.at < from.end) {
		struct ppi_proto_field field;
		int64_t *part;

		if (!read_field(&from, &field))
			return PORTPROF_E_FORMAT;
		part = label_part(&label, field.number);
		if (part && field.wire != PPI_PROTO_VARINT)
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
	struct ppi_proto_cursor from = { sample->bytes,
		                   sample->bytes + sample->count };
	portprof_status status = PORTPROF_OK;

	parts->locations.count = 0;
	parts->values.count = 0;
	parts->labels.count = 0;
	while (from.at < from.end && status == PORTPROF_OK) {
		struct ppi_proto_field field;

		if (!read_field(&from, &field))
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

/* ---- other messages ---- */

/* protobuf-c asks for memory here; it is given back all at once. */
struct unpacking {
	struct ppi_arena *arena;
	bool is_out;
};

static void *take_memory(void *context, size_t bytes)
{
	struct unpacking *unpacking = context;
	void *taken = ppi_arena_take(unpacking->arena, bytes);

	unpacking->is_out |= !taken;
	return taken;
}

static void leave_memory(void *context, void *memory)
{
	(void)context;
	(void)memory;
}

void *ppi_unpack(const ProtobufCMessageDescriptor *kind,
                 struct ppi_arena *arena, const uint8_t *bytes, size_t count,
                 portprof_status *status)
{
	struct unpacking unpacking = { arena, false };
	ProtobufCAllocator allocator = { take_memory, leave_memory,
		                         &unpacking };
	void *message =
		protobuf_c_message_unpack(kind, &allocator, count, bytes);

	if (!message)
		*status = unpacking.is_out ? PORTPROF_E_NOMEM
		                           : PORTPROF_E_FORMAT;
	return message;
}

/* ---- lists of them ---- */

/* By enum ppi_raw_list. */
static const unsigned char element_bytes[PPI_RAW_LISTS] = {
	[PPI_RAW_STRINGS] = sizeof(struct ppi_raw_string),
	[PPI_RAW_TYPES] = sizeof(Ppi__ValueType),
	[PPI_RAW_MAPPINGS] = sizeof(Ppi__Mapping),
	[PPI_RAW_FUNCTIONS] = sizeof(Ppi__Function),
	[PPI_RAW_LOCATIONS] = sizeof(struct ppi_raw_location),
	[PPI_RAW_LINES] = sizeof(struct ppi_raw_line),
	[PPI_RAW_SAMPLES] = sizeof(struct ppi_raw_sample),
	[PPI_RAW_COMMENTS] = sizeof(int64_t),
	[PPI_RAW_THREADS] = sizeof(struct ppi_raw_thread),
};

uint64_t ppi_raw_bytes(const struct ppi_raw *raw)
{
	uint64_t sum = raw->arena.total + raw->news.total + raw->scratch.total;

	for (size_t i = 0; i < PPI_RAW_LISTS; i++)
		sum += (uint64_t)raw->lists[i].room * element_bytes[i];
	return sum;
}

/*
 * Whether the next field can be taken in. What a message becomes is largest
 * for an empty one of a kind that has many fields: Stats in an Event, 300
 * bytes for four.
 */
static bool has_room(const struct ppi_raw *raw,
                     const struct ppi_proto_field *field)
{
	uint64_t more = field->number == PPI_FIELD_STRING
	                        ? field->count
	                        : (uint64_t)field->count * 80;

	return !raw->bounds ||
	       ppi_bounds_hold(raw->bounds, ppi_raw_bytes(raw) + more);
}

static bool append(struct ppi_raw *raw, enum ppi_raw_list list, size_t bytes,
                   const void *from, size_t count)
{
	return ppi_vector_add(&raw->lists[list], bytes, from, count);
}

static size_t count_of(const struct ppi_raw *raw, enum ppi_raw_list list)
{
	return raw->lists[list].count;
}

static portprof_status add_sample(struct ppi_raw *raw,
                                  const struct ppi_proto_field *field)
{
	struct ppi_raw_sample sample = { field->bytes, field->count };
	portprof_status status = ppi_raw_sample_read(&sample, &raw->parts);

	if (status != PORTPROF_OK)
		return status;
	sample.bytes = (const uint8_t *)ppi_arena_copy(
		&raw->news, field->bytes, field->count);
	return sample.bytes && append(raw, PPI_RAW_SAMPLES, sizeof(sample),
	                              &sample, 1)
	               ? PORTPROF_OK
	               : PORTPROF_E_NOMEM;
}

static bool add_location(struct ppi_raw *raw, const Ppi__Location *message)
{
	struct ppi_raw_location location = {
		message->id,
		message->mapping_id,
		message->address,
		count_of(raw, PPI_RAW_LINES),
		message->n_line,
		message->is_folded,
	};

	for (size_t i = 0; i < message->n_line; i++) {
		const Ppi__Line *from = message->line[i];
		struct ppi_raw_line line = { from->function_id, from->line,
			                     from->column };

		if (!append(raw, PPI_RAW_LINES, sizeof(line), &line, 1))
			return false;
	}
	return append(raw, PPI_RAW_LOCATIONS, sizeof(location), &location, 1);
}

static bool add_thread(struct ppi_raw *raw, const Ppi__Thread *message)
{
	struct ppi_raw_thread thread = {
		message->pid,
		message->tid,
		ppi_arena_copy(&raw->arena, message->name,
		               strlen(message->name)),
		message->owner,
		message->began_ns,
	};

	return thread.name &&
	       append(raw, PPI_RAW_THREADS, sizeof(thread), &thread, 1);
}

static bool add_string(struct ppi_raw *raw, const struct ppi_proto_field *field)
{
	char *text = ppi_arena_copy(&raw->arena, field->bytes, field->count);
	struct ppi_raw_string string = { text, 0 };

	if (!text)
		return false;
	string.bytes = ppi_bytes_of_utf8(text, field->count);
	return append(raw, PPI_RAW_STRINGS, sizeof(string), &string, 1);
}

static portprof_status done(bool is_added)
{
	return is_added ? PORTPROF_OK : PORTPROF_E_NOMEM;
}

/* The kinds of message that are unpacked one by one. */
static const ProtobufCMessageDescriptor *kind_of(uint32_t number)
{
	switch (number) {
	case PPI_FIELD_SAMPLE_TYPE:
	case PPI_FIELD_PERIOD_TYPE:
		return &ppi__value_type__descriptor;
	case PPI_FIELD_MAPPING:
		return &ppi__mapping__descriptor;
	case PPI_FIELD_LOCATION:
		return &ppi__location__descriptor;
	case PPI_FIELD_FUNCTION:
		return &ppi__function__descriptor;
	case PPI_FIELD_THREAD:
		return &ppi__thread__descriptor;
	default:
		return NULL;
	}
}

static portprof_status add_message(struct ppi_raw *raw,
                                   const struct ppi_proto_field *field,
                                   const ProtobufCMessageDescriptor *kind)
{
	portprof_status status = PORTPROF_OK;
	const void *message;

	ppi_arena_reset(&raw->scratch);
	message = ppi_unpack(kind, &raw->scratch, field->bytes, field->count,
	                     &status);
	if (!message)
		return status;
	switch (field->number) {
	case PPI_FIELD_SAMPLE_TYPE:
		return done(append(raw, PPI_RAW_TYPES, sizeof(Ppi__ValueType),
		                   message, 1));
	case PPI_FIELD_PERIOD_TYPE:
		raw->single.period_type =
			((const Ppi__ValueType *)message)->type;
		raw->single.period_unit =
			((const Ppi__ValueType *)message)->unit;
		return PORTPROF_OK;
	case PPI_FIELD_MAPPING:
		return done(append(raw, PPI_RAW_MAPPINGS, sizeof(Ppi__Mapping),
		                   message, 1));
	case PPI_FIELD_LOCATION:
		return done(add_location(raw, message));
	case PPI_FIELD_FUNCTION:
		return done(append(raw, PPI_RAW_FUNCTIONS,
		                   sizeof(Ppi__Function), message, 1));
	default:
		return done(add_thread(raw, message));
	}
}

static portprof_status add_comments(struct ppi_raw *raw,
                                    const struct ppi_proto_field *field)
{
	struct ppi_proto_cursor from;
	uint64_t value = field->value;

	if (field->wire == PPI_PROTO_VARINT)
		return done(append(raw, PPI_RAW_COMMENTS, sizeof(value),
		                   &value, 1));
	from = field_cursor(field);
	while (from.at < from.end) {
		if (!ppi_varint_read(&from, &value))
			return PORTPROF_E_FORMAT;
		if (!append(raw, PPI_RAW_COMMENTS, sizeof(value), &value, 1))
			return PORTPROF_E_NOMEM;
	}
	return PORTPROF_OK;
}

/* The account is unpacked when it is known to be the last. */
static portprof_status add_account(struct ppi_raw *raw,
                                   const struct ppi_proto_field *field)
{
	const char *copy =
		ppi_arena_copy(&raw->news, field->bytes, field->count);

	if (!copy)
		return PORTPROF_E_NOMEM;
	raw->single.account = (const uint8_t *)copy;
	raw->single.account_bytes = field->count;
	return PORTPROF_OK;
}

/* Where a scalar goes, by its number in profile.proto. */
static int64_t *scalar(struct ppi_raw_single *single, uint32_t number)
{
	switch (number) {
	case 7:
		return &single->drop_frames;
	case 8:
		return &single->keep_frames;
	case 9:
		return &single->time_ns;
	case 10:
		return &single->duration_ns;
	case 12:
		return &single->period;
	case 14:
		return &single->default_type;
	case 15:
		return &single->doc_url;
	default:
		return NULL;
	}
}

/* ---- the messages of a part ---- */

static portprof_status add_field(struct ppi_raw *raw,
                                 const struct ppi_proto_field *field)
{
	const ProtobufCMessageDescriptor *kind = kind_of(field->number);
	bool is_bytes = field->wire == PPI_PROTO_BYTES;
	int64_t *single = scalar(&raw->single, field->number);

	if (field->number == PPI_FIELD_SAMPLE)
		return is_bytes ? add_sample(raw, field) : PORTPROF_E_FORMAT;
	if (kind)
		return is_bytes ? add_message(raw, field, kind)
		                : PORTPROF_E_FORMAT;
	if (single && field->wire != PPI_PROTO_VARINT)
		return PORTPROF_E_FORMAT;
	if (single)
		*single = (int64_t)field->value;
	if (field->number == PPI_FIELD_COMMENT)
		return is_bytes || field->wire == PPI_PROTO_VARINT
		               ? add_comments(raw, field)
		               : PORTPROF_E_FORMAT;
	if (field->number == PPI_FIELD_STRING)
		return is_bytes ? done(add_string(raw, field))
		                : PORTPROF_E_FORMAT;
	if (field->number == PPI_FIELD_ACCOUNT)
		return is_bytes ? add_account(raw, field) : PORTPROF_E_FORMAT;
	return PORTPROF_OK; /* somebody else's field */
}

portprof_status ppi_raw_add(struct ppi_raw *raw, const uint8_t *bytes,
                            size_t count)
{
	struct ppi_proto_cursor from = { bytes, bytes + count };
	struct ppi_raw_single single = raw->single;
	size_t counts[PPI_RAW_LISTS];
	portprof_status status = PORTPROF_OK;

	for (size_t i = 0; i < PPI_RAW_LISTS; i++)
		counts[i] = raw->lists[i].count;
	while (from.at < from.end && status == PORTPROF_OK) {
		struct ppi_proto_field field;

		if (!read_field(&from, &field))
			status = PORTPROF_E_FORMAT;
		else if (!has_room(raw, &field))
			status = PORTPROF_E_LIMIT;
		else
			status = add_field(raw, &field);
	}
	if (status == PORTPROF_OK)
		return status;
	for (size_t i = 0; i < PPI_RAW_LISTS; i++)
		raw->lists[i].count = counts[i];
	raw->single = single;
	return status;
}

/* The last account stays: a portion without one changes nothing of it. */
bool ppi_raw_forget_samples(struct ppi_raw *raw)
{
	struct ppi_arena news = { 0 };
	char *account = NULL;

	if (raw->single.account) {
		account = ppi_arena_copy(&news, raw->single.account,
		                         raw->single.account_bytes);
		if (!account)
			return false;
	}
	ppi_arena_free(&raw->news);
	raw->news = news;
	raw->single.account = (const uint8_t *)account;
	raw->lists[PPI_RAW_SAMPLES].count = 0;
	return true;
}

void ppi_raw_free(struct ppi_raw *raw)
{
	for (size_t i = 0; i < PPI_RAW_LISTS; i++)
		ppi_vector_free(&raw->lists[i]);
	ppi_raw_parts_free(&raw->parts);
	ppi_arena_free(&raw->arena);
	ppi_arena_free(&raw->news);
	ppi_arena_free(&raw->scratch);
}
