/* SPDX-License-Identifier: MIT */
/* Records and their payloads: put into a room by backends, read again by sinks. */
#include "backends/backend.h"

#include <stddef.h>
#include <string.h>

bool ppi_room_add(struct ppi_room *room, const portprof_record *record,
                  const void *payload, size_t payload_bytes)
{
	size_t words = (payload_bytes + 7) / 8;
	portprof_record *slot;

	if (room->record_count == room->record_room ||
	    words > room->word_room - room->word_count)
		return false;
	slot = &room->records[room->record_count++];
	*slot = *record;
	slot->payload = room->word_count;
	slot->payload_words = words;
	if (words == 0)
		return true;
	room->words[room->word_count + words - 1] = 0; /* pad the last word */
	memcpy(&room->words[room->word_count], payload, payload_bytes);
	room->word_count += words;
	return true;
}

/* Longest path kept, so that a module always fits in PPI_WORDS_MIN. */
enum { PATH_BYTES = 4096 };

bool ppi_room_add_module(struct ppi_room *room, const portprof_record *record,
                         uint64_t file_offset, const void *build_id,
                         size_t build_id_bytes, const char *path)
{
	_Alignas(portprof_module) char
		bytes[sizeof(portprof_module) + PATH_BYTES] = { 0 };
	portprof_module *module = (portprof_module *)bytes;
	size_t length = strnlen(path, PATH_BYTES - 1);

	if (build_id_bytes > PORTPROF_BUILD_ID_BYTES)
		build_id_bytes = PORTPROF_BUILD_ID_BYTES;
	module->file_offset = file_offset;
	module->build_id_bytes = (uint32_t)build_id_bytes;
	if (build_id_bytes)
		memcpy(module->build_id, build_id, build_id_bytes);
	memcpy(module->path, path, length);
	return ppi_room_add(room, record, bytes,
	                    offsetof(portprof_module, path) + length + 1);
}

bool ppi_room_add_name(struct ppi_room *room, const portprof_record *record,
                       const char *name)
{
	return ppi_room_add(room, record, name, strlen(name) + 1);
}

/* The payload's bytes, or NULL when they are not inside the batch. */
static const uint64_t *payload_of(const portprof_batch *batch,
                                  const portprof_record *record)
{
	if (record->payload_words == 0 ||
	    record->payload > batch->word_count ||
	    record->payload_words > batch->word_count - record->payload)
		return NULL;
	return &batch->words[record->payload];
}

const portprof_module *portprof_batch_module(const portprof_batch *batch,
                                             const portprof_record *record)
{
	const uint64_t *payload = payload_of(batch, record);
	size_t bytes = (size_t)record->payload_words * 8;

	if (record->kind != PORTPROF_RECORD_MODULE || !payload ||
	    bytes <= offsetof(portprof_module, path) ||
	    ((const char *)payload)[bytes - 1] != '\0')
		return NULL;
	return (const portprof_module *)payload;
}

const char *portprof_batch_name(const portprof_batch *batch,
                                const portprof_record *record)
{
	const char *name = (const char *)payload_of(batch, record);

	if (record->kind != PORTPROF_RECORD_THREAD || !name ||
	    name[record->payload_words * 8 - 1] != '\0')
		return NULL;
	return name;
}

const uint64_t *portprof_batch_chain(const portprof_batch *batch,
                                     const portprof_record *record,
                                     size_t *depth)
{
	const uint64_t *chain = NULL;

	if (record->kind == PORTPROF_RECORD_SAMPLE &&
	    record->valid & PORTPROF_FIELD_CHAIN)
		chain = payload_of(batch, record);
	*depth = chain ? (size_t)record->payload_words : 0;
	return chain;
}

const portprof_branch *portprof_batch_branches(const portprof_batch *batch,
                                               const portprof_record *record,
                                               size_t *count)
{
	*count = 0;
	if (!(record->valid & PORTPROF_FIELD_BRANCHES) ||
	    record->branches > batch->word_count ||
	    record->branch_count >
	            (batch->word_count - record->branches) /
	                    (sizeof(portprof_branch) / 8))
		return NULL;
	*count = (size_t)record->branch_count;
	return (const portprof_branch *)(const void *)
	       &batch->words[record->branches];
}

const uint64_t *portprof_batch_values(const portprof_batch *batch,
                                      const portprof_record *record,
                                      size_t *count)
{
	*count = 0;
	if (!(record->valid & PORTPROF_FIELD_GROUP_VALUES) ||
	    record->values > batch->word_count ||
	    record->value_count > batch->word_count - record->values)
		return NULL;
	*count = (size_t)record->value_count;
	return &batch->words[record->values];
}
