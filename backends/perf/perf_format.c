/* SPDX-License-Identifier: MIT */
/* Terms of PMU events, and the bits that they stand for. */
#include "backends/perf/perf_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_part(const char **text, struct perf_field *field)
{
	unsigned long first, last;
	char *end;

	if (**text < '0' || **text > '9' || field->count == PERF_FIELD_PARTS)
		return false;
	first = last = strtoul(*text, &end, 10);
	if (*end == '-')
		last = strtoul(end + 1, &end, 10);
	if (first > last || last > 63)
		return false;
	field->parts[field->count].first = (unsigned char)first;
	field->parts[field->count].last = (unsigned char)last;
	field->count++;
	*text = end;
	return true;
}

bool perf_format_parse(const char *text, struct perf_field *field)
{
	memset(field, 0, sizeof(*field));
	if (strncmp(text, "config", 6) != 0)
		return false;
	text += 6;
	if (*text >= '1' && *text <= '2')
		field->config = (unsigned)(*text++ - '0');
	if (*text++ != ':')
		return false;
	while (parse_part(&text, field))
		if (*text != ',')
			return *text == '\0' || *text == '\n';
		else
			text++;
	return false;
}

static unsigned width_of(const struct perf_field *field)
{
	unsigned width = 0;

	for (size_t i = 0; i < field->count; i++)
		width += field->parts[i].last - field->parts[i].first + 1u;
	return width;
}

uint64_t perf_format_most(const struct perf_field *field)
{
	unsigned width = width_of(field);

	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

bool perf_format_put(const struct perf_field *field, uint64_t value,
                     uint64_t config[PERF_FORMAT_CONFIGS])
{
	uint64_t *word = &config[field->config];

	if (value > perf_format_most(field))
		return false;
	for (size_t i = 0; i < field->count; i++) {
		unsigned first = field->parts[i].first;
		unsigned width = field->parts[i].last - first + 1u;
		uint64_t mask = width >= 64 ? UINT64_MAX
		                            : (UINT64_C(1) << width) - 1;

		*word = (*word & ~(mask << first)) | (value & mask) << first;
		value = width >= 64 ? 0 : value >> width;
	}
	return true;
}

bool perf_format_next(const char **text, char *name, size_t name_bytes,
                      uint64_t *value)
{
	size_t length = strcspn(*text, "=,\n");
	const char *at = *text + length;
	char *end;

	if (length == 0 || length >= name_bytes)
		return false;
	*value = 1;
	if (*at == '=') {
		errno = 0;
		*value = strtoull(at + 1, &end, 0);
		if (end == at + 1 || errno || at[1] == '-')
			return false;
		at = end;
	}
	if (*at != ',' && *at != '\n' && *at != '\0')
		return false;
	memcpy(name, *text, length);
	name[length] = '\0';
	*text = *at == ',' || *at == '\n' ? at + 1 : at;
	return true;
}
