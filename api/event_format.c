/* SPDX-License-Identifier: MIT */
/* Request to text: the canonical spelling of an event string. */
#include "api/internal/event.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

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
                      char *out, size_t bytes)
{
	struct text text = { .out = out, .bytes = bytes, .fits = bytes > 0 };

	add(&text, "%s", name);
	if (request->has_modes) {
		add_flag(&text, request->user, "u");
		add_flag(&text, request->kernel, "k");
		add_flag(&text, request->hypervisor, "h");
	}
	if (request->has_guest_host) {
		add_flag(&text, !request->exclude_guest, "mg");
		add_flag(&text, !request->exclude_host, "mh");
	}
	if (request->period)
		add(&text, ":period=%" PRIu64, request->period);
	if (request->rate_hz)
		add(&text, ":freq=%" PRIu64, request->rate_hz);
	if (request->precise)
		add(&text, ":precise=%u", request->precise);
	add_flag(&text, request->exclusive, "excl");
	add_flag(&text, request->pinned, "pinned");
	if (request->cpu >= 0)
		add(&text, ":cpu=%d", request->cpu);
	return text.fits;
}
