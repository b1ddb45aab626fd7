/* SPDX-License-Identifier: MIT */
/*
 * What a backend does with a parsed request: finds a part by its key, refuses
 * one with its column, and writes the request as text.
 */
#include "api/core/event.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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
	return ppi_fail(why, status, 0, "resolve event",
	                "event '%s', column %u: drop '%.*s': %s", request->text,
	                part->at + 1u, part->bytes, request->text + part->at,
	                words);
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
