/* SPDX-License-Identifier: MIT */
/*
 * Where an event string ends, and what in it has letters of its own: a
 * program's places (file, symbol, address) and filters between slashes. Lists
 * and the parser both ask here, so that commas and braces mean the same to both.
 */
#include "api/core/event.h"

#include <string.h>
#include <strings.h>

/* What an event of a program's own place begins with, and how many parts with a
 * colon between them name it: a file, a symbol or address. */
static const struct {
	const char *begin;
	unsigned parts;
} places[] = {
	{ "mem:", 1 }, { "breakpoint:", 1 }, { "uprobe:", 2 },
	{ "uretprobe:", 2 },
};

static bool is_place_letter(char c)
{
	return c > ' ' && c < 127 && !strchr("@,{}\"'", c);
}

size_t ppi_event_place(const char *text)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t at = strlen(places[i].begin);

		if (strncasecmp(text, places[i].begin, at) != 0 ||
		    text[at] == ':')
			continue;
		for (unsigned part = 0; part < places[i].parts; part++) {
			at += part > 0 && text[at] == ':';
			while (text[at] != ':' && is_place_letter(text[at]))
				at++;
		}
		return at;
	}
	return 0;
}

size_t ppi_event_skip_filter(const char *text, size_t at)
{
	char quote = '\0';

	for (at++; text[at] && (quote || text[at] != '/'); at++)
		if (quote ? text[at] == quote : strchr("\"'", text[at]) != NULL)
			quote = quote ? '\0' : text[at];
	return text[at] ? at + 1 : 0;
}

size_t ppi_event_span(const char *text, const char *stops)
{
	size_t at = ppi_event_place(text), end;
	bool has_part = false;

	while (text[at] && !strchr(stops, text[at])) {
		end = text[at] == '/' && has_part ?
		              ppi_event_skip_filter(text, at) : 0;
		has_part |= text[at] == ':';
		at = end ? end : at + 1;
	}
	return at;
}
