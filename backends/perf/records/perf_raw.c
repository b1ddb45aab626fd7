/* SPDX-License-Identifier: MIT */
/*
 * What a tracepoint tells of an occurrence, field by field: where each lies is in
 * its file `format` (Documentation/trace/events.rst), in lines such as
 *
 *	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *
 * A text whose length varies is a word: 16 bits where it begins, above them its
 * length (include/trace/stages/stage1_struct_define.h, __data_loc and __rel_loc).
 */
#include "backends/perf/records/perf_raw.h"

#include <stdio.h>
#include <string.h>

static bool begins(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* Whether a word stands alone in the type: "const char", and not "unsigned
 * char", of which there are addresses and bytes. */
static bool is_of_letters(const char *type, size_t bytes)
{
	char text[96];

	snprintf(text, sizeof(text), "%.*s", (int)bytes, type);
	return strstr(text, "char") && !strstr(text, "unsigned") &&
	       !strchr(text, '*');
}

static enum perf_raw_kind kind_of(const char *type, size_t bytes,
                                  bool is_array, unsigned size, bool is_signed)
{
	bool is_text = is_of_letters(type, bytes);

	if (begins(type, "__data_loc"))
		return is_text ? PERF_RAW_TEXT_AT : PERF_RAW_OTHER;
	if (begins(type, "__rel_loc"))
		return is_text ? PERF_RAW_TEXT_BEHIND : PERF_RAW_OTHER;
	if (is_array)
		return is_text ? PERF_RAW_TEXT : PERF_RAW_OTHER;
	if ((size != 1 && size != 2 && size != 4 && size != 8) ||
	    (begins(type, "struct ") && !memchr(type, '*', bytes)))
		return PERF_RAW_OTHER;
	return is_signed ? PERF_RAW_SIGNED : PERF_RAW_UNSIGNED;
}

static bool read_field(const char *line, struct perf_raw_field *field)
{
	const char *end = strchr(line, ';'), *name;
	unsigned offset, size, is_signed = 0;

	if (!end || sscanf(end, "; offset:%u; size:%u; signed:%u", &offset,
	                   &size, &is_signed) < 2 ||
	    offset > UINT16_MAX || size > UINT16_MAX)
		return false;
	for (name = end; name > line && name[-1] != ' ' && name[-1] != '*';)
		name--;
	field->name = name;
	field->name_bytes = strcspn(name, "[;");
	field->offset = (uint16_t)offset;
	field->bytes = (uint16_t)size;
	field->kind = kind_of(line, (size_t)(name - line),
	                      name[field->name_bytes] == '[', size,
	                      is_signed);
	return field->name_bytes > 0;
}

bool ppi_perf_raw_next(const char **at, struct perf_raw_field *field)
{
	while ((*at = strstr(*at, "field:"))) {
		*at += strlen("field:");
		if (read_field(*at, field) && !begins(field->name, "common_"))
			return true;
	}
	return false;
}

/* ---- from a record ---- */

/* As the machine has it, lowest byte first or last. */
static uint64_t number_at(const unsigned char *from, size_t bytes)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (bytes) {
	case 1:
		return *from;
	case 2:
		memcpy(&two, from, sizeof(two));
		return two;
	case 4:
		memcpy(&four, from, sizeof(four));
		return four;
	default:
		memcpy(&eight, from, sizeof(eight));
		return eight;
	}
}

static int64_t signed_number(uint64_t number, size_t bytes)
{
	uint64_t sign = UINT64_C(1) << (bytes * 8 - 1);

	return (int64_t)((number ^ sign) - sign);
}

/* Where a text lies; false: not in the record. */
static bool find_text(const struct perf_raw_field *field,
                      const struct perf_seen *seen, size_t *at, size_t *bytes)
{
	uint32_t word;

	*at = field->offset;
	*bytes = field->bytes;
	if (field->kind != PERF_RAW_TEXT) {
		word = (uint32_t)number_at(seen->raw + field->offset, 4);
		*at = (word & 0xffff) + (field->kind == PERF_RAW_TEXT_BEHIND
			? (size_t)field->offset + 4 : 0);
		*bytes = word >> 16;
	}
	return *at <= seen->raw_bytes && *bytes <= seen->raw_bytes - *at;
}

static void add_text(portprof_event_field *out, const unsigned char *text,
                     size_t bytes, struct ppi_room *room)
{
	size_t length = strnlen((const char *)text, bytes);

	if (length >= PERF_RAW_TEXT_BYTES)
		length = PERF_RAW_TEXT_BYTES - 1;
	out->text_bytes = (uint32_t)length + 1;
	memset(&room->words[room->word_count], 0, (length + 8) / 8 * 8);
	memcpy(&room->words[room->word_count], text, length);
	room->word_count += (length + 8) / 8;
}

void ppi_perf_raw_add(const struct perf_raw_field *field, unsigned index,
                      const struct perf_seen *seen, struct ppi_room *room)
{
	portprof_event_field out = { .index = index };
	size_t head = room->word_count, at, bytes;
	uint64_t number;

	if ((size_t)field->offset + field->bytes > seen->raw_bytes)
		return;
	if (field->kind == PERF_RAW_SIGNED ||
	    field->kind == PERF_RAW_UNSIGNED) {
		number = number_at(seen->raw + field->offset, field->bytes);
		out.number = field->kind == PERF_RAW_SIGNED
			? signed_number(number, field->bytes) : (int64_t)number;
		room->word_count += sizeof(out) / 8;
	} else {
		if (!find_text(field, seen, &at, &bytes))
			return;
		room->word_count += sizeof(out) / 8;
		add_text(&out, seen->raw + at, bytes, room);
	}
	memcpy(&room->words[head], &out, sizeof(out));
}
