/* SPDX-License-Identifier: MIT */
/*
 * What the core does for backends (backends/backend.h): notes and findings, what
 * is the same in many, the parts of a request, the words nearest to a mistyped one,
 * and records with their payloads, which sinks read again here.
 */
#include "api/core/event.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- notes and findings ---- */

void ppi_note(struct ppi_backend_session *bs, const char *words, ...)
{
	char note[PPI_NOTE_BYTES];
	va_list values;

	va_start(values, words);
	vsnprintf(note, sizeof(note), words, values);
	va_end(values);
	for (size_t i = 0; i < bs->note_count; i++)
		if (strcmp(bs->notes[i], note) == 0)
			return;
	if (bs->note_count < bs->note_room)
		memcpy(bs->notes[bs->note_count++], note, sizeof(note));
}

void ppi_probe_report(struct ppi_probe *probe, const char *topic,
                      const char *name, portprof_verdict verdict,
                      const char *remedy, const char *words, ...)
{
	portprof_finding finding = { .size = sizeof(finding),
		                     .verdict = verdict,
		                     .backend = "",
		                     .topic = topic,
		                     .name = name,
		                     .remedy = remedy ? remedy : "" };
	char text[480];
	va_list values;

	if (!probe->take)
		return;
	va_start(values, words);
	vsnprintf(text, sizeof(text), words, values);
	va_end(values);
	finding.words = text;
	probe->take(&finding, probe->context);
}

portprof_status ppi_no_count(struct ppi_backend_session *bs, portprof_count *out,
                             size_t count)
{
	(void)bs;
	(void)out;
	(void)count;
	return PORTPROF_E_UNSUPPORTED;
}

/* ---- the parts of a request: finding, refusing, writing ---- */

bool ppi_event_part_is(const struct ppi_event_request *request,
                       const struct ppi_event_part *part, const char *key)
{
	return strlen(key) == part->key_bytes &&
	       strncasecmp(request->text + part->at, key, part->key_bytes) == 0;
}

bool ppi_word_in(const char *word, size_t length, const char *list)
{
	while (list && *list) {
		size_t here = strcspn(list, ",");

		if (here == length && strncasecmp(list, word, length) == 0)
			return true;
		list += here;
		list += *list == ',';
	}
	return false;
}

bool ppi_event_part_in(const struct ppi_event_request *request,
                       const struct ppi_event_part *part, const char *list)
{
	return ppi_word_in(request->text + part->at, part->key_bytes, list);
}

portprof_status ppi_event_refuse_part(const struct ppi_event_request *request,
                                      const struct ppi_event_part *part,
                                      portprof_status status,
                                      struct ppi_diag *why, const char *words)
{
	return ppi_at_column(
		why, PORTPROF_REASON_PART, part->at + 1u,
		ppi_fail(why, status, 0, "resolve event",
	                 "event '%s', column %u: drop '%.*s': %s", request->text,
	                 part->at + 1u, part->bytes, request->text + part->at,
	                 words));
}

/* Text that grows in a buffer of fixed size. */
struct text {
	char *out;
	size_t used, bytes;
	bool fits;
};

static void add(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
	size_t room = text->bytes - text->used;
	va_list values;
	int length;

	if (!text->fits)
		return;
	va_start(values, format);
	length = vsnprintf(text->out + text->used, room, format, values);
	va_end(values);
	text->fits = length >= 0 && (size_t)length < room;
	if (text->fits)
		text->used += (size_t)length;
}

static void add_flag(struct text *text, bool is_set, const char *flag)
{
	if (is_set)
		add(text, ":%s", flag);
}

bool ppi_event_format(const struct ppi_event_request *request, const char *name,
                      const char *more, char *out, size_t bytes)
{
	struct text text = { .out = out, .bytes = bytes, .fits = bytes > 0 };

	add(&text, "%s", name);
	if (request->has_modes) {
		add_flag(&text, request->user, "u");
		add_flag(&text, request->kernel, "k");
		add_flag(&text, request->hypervisor, "h");
	}
	if (request->period)
		add(&text, ":period=%" PRIu64, request->period);
	if (request->rate_hz)
		add(&text, ":freq=%" PRIu64, request->rate_hz);
	add(&text, "%s", more);
	return text.fits;
}

/* ---- the known words nearest to a mistyped one ---- */

enum { WORD_BYTES = 96, SLOTS = 3 };

static bool same_letter(char a, char b)
{
	if (a == '_')
		a = '-';
	if (b == '_')
		b = '-';
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Optimal string alignment: insert, delete, replace, swap of neighbours. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_BYTES + 1];
	size_t n = strnlen(a, WORD_BYTES), m = strnlen(b, WORD_BYTES);

	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3];
		unsigned *two_above = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned cost = !same_letter(a[i - 1], b[j - 1]);

			row[j] = least(above[j] + 1, row[j - 1] + 1,
			               above[j - 1] + cost);
			if (i > 1 && j > 1 && cost &&
			    same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]) &&
			    two_above[j - 2] + 1 < row[j])
				row[j] = two_above[j - 2] + 1;
		}
	}
	return rows[n % 3][m];
}

void ppi_nearest_begin(struct ppi_nearest *nearest, const char *word)
{
	memset(nearest, 0, sizeof(*nearest));
	snprintf(nearest->word, sizeof(nearest->word), "%s", word);
}

static bool is_known_already(const struct ppi_nearest *nearest,
                             const char *known)
{
	for (int i = 0; i < SLOTS; i++)
		if (strcasecmp(nearest->best[i], known) == 0)
			return true;
	return false;
}

void ppi_nearest_offer(struct ppi_nearest *nearest, const char *known)
{
	size_t length = strlen(nearest->word), other = strlen(known);
	size_t gap = length > other ? length - other : other - length;
	size_t limit = length / 3 + 1;
	unsigned d;

	if (gap > limit || other >= WORD_BYTES ||
	    is_known_already(nearest, known))
		return;
	d = distance(nearest->word, known);
	if (d > limit)
		return;
	for (int i = 0; i < SLOTS; i++) {
		if (nearest->best[i][0] && nearest->distance[i] <= d)
			continue;
		memmove(&nearest->best[i + 1], &nearest->best[i],
		        sizeof(nearest->best[0]) * (size_t)(SLOTS - 1 - i));
		memmove(&nearest->distance[i + 1], &nearest->distance[i],
		        sizeof(nearest->distance[0]) *
		        (size_t)(SLOTS - 1 - i));
		snprintf(nearest->best[i], WORD_BYTES, "%s", known);
		nearest->distance[i] = d;
		return;
	}
}

const char *ppi_nearest_say(const struct ppi_nearest *nearest, char *out,
                            size_t out_bytes)
{
	const char *a = nearest->best[0], *b = nearest->best[1];
	const char *c = nearest->best[2];

	if (c[0])
		snprintf(out, out_bytes, "; did you mean %s, %s or %s?", a, b,
		         c);
	else if (b[0])
		snprintf(out, out_bytes, "; did you mean %s or %s?", a, b);
	else if (a[0])
		snprintf(out, out_bytes, "; did you mean %s?", a);
	else if (out_bytes)
		out[0] = '\0';
	return out;
}

/* ---- records and their payloads ---- */

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
