/* SPDX-License-Identifier: MIT */
/* "{cycles,instructions}:u": events of one group, as one string. */
#include "api/internal/event.h"

#include <stdio.h>
#include <string.h>

/* Where the members begin and end; what is behind the brace goes to each. NULL:
 * it is not closed. */
static const char *members_of(const char *text, const char **end)
{
	if (text[0] != '{') {
		*end = text + strlen(text);
		return text;
	}
	*end = strchr(text, '}');
	return *end ? text + 1 : NULL;
}

size_t ppi_event_members(const char *text)
{
	const char *end, *at = members_of(text, &end);
	size_t count = 1;

	if (text[0] != '{' || !at)
		return 1;
	for (; at < end; at++)
		count += *at == ',';
	return count;
}

bool ppi_event_member(const char *text, size_t index, char *out, size_t bytes)
{
	const char *end, *at = members_of(text, &end);
	size_t length;

	if (!at)
		return false;
	if (text[0] != '{')
		return index == 0 &&
		       (size_t)snprintf(out, bytes, "%s", text) < bytes;
	for (; index > 0; index--) {
		at = memchr(at, ',', (size_t)(end - at));
		if (!at)
			return false;
		at++;
	}
	length = strcspn(at, ",}");
	return (size_t)snprintf(out, bytes, "%.*s%s", (int)length, at,
	                        end + 1) < bytes;
}

portprof_status ppi_event_check(const char *text, struct ppi_diag *why)
{
	struct ppi_event_request request;
	const char *close = strchr(text, '}');
	portprof_status status = PORTPROF_OK;
	char member[sizeof(request.text)];

	if (text[0] != '{')
		return ppi_event_parse(text, &request, why);
	if (!close || strchr(text + 1, '{') || strchr(close + 1, '}'))
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "parse event",
		                "event '%.200s': a group is written as "
		                "{cycles,instructions}, and groups do not nest",
		                text);
	if (close[1] && close[1] != ':')
		return ppi_fail(why, PORTPROF_E_INVALID, 0, "parse event",
		                "event '%.200s', column %zu: after a group come "
		                "modifiers for all of it, as in "
		                "{cycles,instructions}:u", text,
		                (size_t)(close - text) + 2);
	for (size_t i = 0; i < ppi_event_members(text) && !status; i++)
		status = ppi_event_member(text, i, member, sizeof(member))
			? ppi_event_parse(member, &request, why)
			: ppi_fail(why, PORTPROF_E_INVALID, 0, "parse event",
			           "event '%.200s': an event of the group is "
			           "too long", text);
	return status;
}
