/* SPDX-License-Identifier: MIT */
/* Records of OpenTelemetry's thread contexts. */
#include "config.h"

#include "base/otel_record.h"

#include "base/processes.h"

#include <string.h>

/* How many bytes of attributes are behind a head. False: it is no whole record. */
static bool size_of(const unsigned char head[PPI_OTEL_HEAD], size_t *bytes)
{
	uint16_t size;

	memcpy(&size, head + PPI_OTEL_SIZE, sizeof(size));
	*bytes = size;
	return head[PPI_OTEL_VALID] == 1 &&
	       size <= PPI_OTEL_RECORD_MAX - PPI_OTEL_HEAD;
}

bool ppi_otel_record_read(uint32_t pid, uint64_t at,
                          unsigned char record[PPI_OTEL_RECORD_MAX],
                          size_t *bytes)
{
	if (at % 2 || !ppi_copy_from(pid, at, record, PPI_OTEL_HEAD) ||
	    !size_of(record, bytes) ||
	    (*bytes && !ppi_copy_from(pid, at + PPI_OTEL_HEAD,
	                              record + PPI_OTEL_HEAD, *bytes)))
		return false;
	*bytes += PPI_OTEL_HEAD;
	return true;
}

/* The entry at `at`, a key, a length and so many bytes; false: no whole one is left. */
static bool is_entry(const unsigned char *record, size_t bytes, size_t at)
{
	return at + 2 <= bytes && at + 2 + record[at + 1] <= bytes;
}

static size_t behind(const unsigned char *record, size_t at)
{
	return at + 2 + record[at + 1];
}

bool ppi_otel_record_has_names(const struct ppi_otel_keys *keys,
                               const unsigned char *record, size_t bytes)
{
	uint32_t count = atomic_load_explicit(&keys->count,
	                                      memory_order_acquire);

	for (size_t at = PPI_OTEL_HEAD; is_entry(record, bytes, at);
	     at = behind(record, at))
		if (record[at] >= count)
			return false;
	return true;
}

bool ppi_otel_record_has_ids(const unsigned char *record)
{
	static const unsigned char none[PPI_OTEL_VALID];

	return memcmp(record, none, sizeof(none)) != 0;
}

static void add(struct ppi_otel_text *text, const char *key, const void *value,
                size_t bytes)
{
	size_t key_bytes = strlen(key) + 1;

	if (key_bytes + bytes + 1 > sizeof(text->bytes) - text->used ||
	    memchr(value, '\0', bytes))
		return;
	memcpy(text->bytes + text->used, key, key_bytes);
	memcpy(text->bytes + text->used + key_bytes, value, bytes);
	text->used += key_bytes + bytes;
	text->bytes[text->used++] = '\0';
}

static void add_id(struct ppi_otel_text *text, const char *key,
                   const unsigned char *id, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";
	char out[32];
	unsigned char any = 0;

	for (size_t i = 0; i < bytes; i++) {
		any |= id[i];
		out[2 * i] = digits[id[i] >> 4];
		out[2 * i + 1] = digits[id[i] & 15];
	}
	if (any)
		add(text, key, out, 2 * bytes);
}

/* Of a key the last entry counts. */
static bool is_last(const unsigned char *record, size_t bytes, size_t at)
{
	for (size_t next = behind(record, at); is_entry(record, bytes, next);
	     next = behind(record, next))
		if (record[next] == record[at])
			return false;
	return true;
}

/* A key that is too long for the map has no name. */
void ppi_otel_record_text(const struct ppi_otel_keys *keys,
                          const unsigned char *record, size_t bytes,
                          bool with_ids, struct ppi_otel_text *text)
{
	text->used = 0;
	for (size_t at = PPI_OTEL_HEAD; is_entry(record, bytes, at);
	     at = behind(record, at))
		if (keys->names[record[at]][0] && is_last(record, bytes, at))
			add(text, keys->names[record[at]], record + at + 2,
			    record[at + 1]);
	if (!with_ids)
		return;
	add_id(text, "trace_id", record + PPI_OTEL_TRACE_ID, 16);
	add_id(text, "span_id", record + PPI_OTEL_SPAN_ID, 8);
}
