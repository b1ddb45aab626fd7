/* SPDX-License-Identifier: MIT */
/*
 * What the core does for backends (backends/backend.h): notes and findings, what
 * is the same in many, the parts of a request, the words nearest to a mistyped one.
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

void ppi_note_again(struct ppi_backend_session *bs, char **note,
                    const char *words, ...)
{
	va_list values;

	if (!*note && bs->note_count == bs->note_room)
		return;
	if (!*note)
		*note = bs->notes[bs->note_count++];
	va_start(values, words);
	vsnprintf(*note, PPI_NOTE_BYTES, words, values);
	va_end(values);
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
