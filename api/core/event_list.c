/* SPDX-License-Identifier: MIT */
/*
 * Event lists, "cycles,{instructions,branches}:u": the one reader of commas and
 * braces, for configs, groups, configuration files and the command's -e. What
 * stands between them is event_parse.c's.
 */
#include "api/core/event.h"

#include "api/core/diag.h"
#include "api/core/preset.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* One event of a list. `modifiers` is what stands behind its group's brace, and
 * up to which place; both NULL for an event without braces. */
struct place {
	const char *event;
	size_t length;
	const char *modifiers, *end;
	size_t group;
	bool is_first; /* of its group */
	const portprof_preset *preset; /* that stands there; NULL: an event does */
	size_t part;   /* which of its events */
};

/* The events of a preset are of its group, and those after the first are not
 * the group's first. */
static bool next_part(struct place *place)
{
	if (!place->preset ||
	    place->part + 1 == ppi_preset_event_count(place->preset))
		return false;
	place->part++;
	place->is_first = false;
	return true;
}

/* A PMU's event is no preset, whatever the PMU's name. */
static const portprof_preset *preset_at(const struct place *place)
{
	size_t length = strcspn(place->event, ":.@,}");

	if (length > place->length ||
	    strncmp(place->event + length, "::", 2) == 0)
		return NULL;
	return ppi_preset_find(place->event, length);
}

const char *ppi_event_next_item(const char *end)
{
	return *end == ',' ? end + 1 + strspn(end + 1, " \t") : end;
}

/* Begin with { .event = NULL }; false past the last. Never fails: a brace that
 * is not closed reaches to the end, and ppi_event_list_read refuses it. */
static bool next_event(const char *list, struct place *place)
{
	const char *at = list;

	if (next_part(place))
		return true;
	place->is_first = true;
	if (place->event) {
		at = place->event + place->length;
		place->is_first = !(place->modifiers && *at == ',');
		if (place->modifiers && *at != ',')
			at = place->end;
		if (*at == '\0')
			return false;
		at = ppi_event_next_item(at);
	}
	if (place->is_first) {
		place->group += place->event != NULL;
		place->modifiers = place->end = NULL;
	}
	if (place->is_first && *at == '{') {
		const char *close = strchr(++at, '}');

		place->modifiers = close ? close + 1 : at + strlen(at);
		place->end = place->modifiers + strcspn(place->modifiers, ",");
	}
	place->event = at;
	place->length = ppi_event_span(at, place->modifiers ? ",}" : ",");
	place->preset = preset_at(place);
	place->part = 0;
	return true;
}

/* What a backend takes for a group, by its first event. */
static bool is_of_group(const char *modifier)
{
	const struct ppi_backend_ops *ops;
	size_t length = strcspn(modifier, "=:.@,");

	for (size_t i = 0; (ops = ppi_backend_at(i)); i++)
		if (ppi_word_in(modifier, length, ops->group_modifiers))
			return true;
	return false;
}

/* Text that grows in a buffer of fixed size. */
struct text {
	char *out;
	size_t used, bytes;
};

static void add(struct text *text, const char *from, size_t length)
{
	if (text->used + length < text->bytes)
		memcpy(text->out + text->used, from, length);
	text->used += length;
}

/* The event with its group's modifiers, which go before the period of "@N". */
static bool spell(const struct place *place, char *out, size_t bytes)
{
	struct text text = { .out = out, .bytes = bytes };
	size_t length = ppi_event_span(place->event, place->modifiers ? "@,}"
	                                                              : "@,");
	const char *at = place->modifiers;
	size_t named = 0;

	if (place->preset) {
		const char *name = place->preset->events[place->part];

		named = strlen(place->preset->name);
		add(&text, name, strlen(name));
	}
	add(&text, place->event + named, length - named);
	while (at && at < place->end) {
		size_t part = 1 + strcspn(at + 1, ":.@,");

		if (place->is_first || !is_of_group(at + 1))
			add(&text, at, part);
		at += part;
	}
	add(&text, place->event + length, place->length - length);
	if (text.used >= bytes)
		return false;
	out[text.used] = '\0';
	return true;
}

size_t ppi_event_members(const char *list)
{
	struct place place = { .event = NULL };
	size_t count = 0;

	while (next_event(list, &place))
		count++;
	return count;
}

static bool find(const char *list, size_t index, struct place *place)
{
	*place = (struct place){ .event = NULL };
	while (next_event(list, place))
		if (index-- == 0)
			return true;
	return false;
}

size_t ppi_event_item(const char *list)
{
	const char *close = list[0] == '{' ? strchr(list, '}') : NULL;
	size_t group = close ? (size_t)(close - list) : 0;

	return close ? group + strcspn(close, ",") : ppi_event_span(list, ",");
}

static portprof_status mistake(const char *list, size_t at, size_t *column,
                               const char *words, struct ppi_diag *why)
{
	if (column)
		*column = at + 1;
	return ppi_fail(why, PORTPROF_E_INVALID, 0, "check event list",
	                "'%.200s', column %zu: %s", list, at + 1, words);
}

static portprof_status check_braces(const char *list, size_t *column,
                                    struct ppi_diag *why)
{
	const char *at = list;

	while (*at) {
		const char *open = at, *bad;

		at += ppi_event_item(at);
		if (*open == '{') {
			bad = open + 1 + strcspn(open + 1, "{}");
			if (*bad != '}')
				return mistake(list, (size_t)(*bad ? bad - list
				                              : open - list),
				               column, *bad ? "groups do not "
				               "nest; remove this brace"
				               : "this brace is not closed; add "
				               "a }", why);
			if (!strchr(":.@,", bad[1]))
				return mistake(list, (size_t)(bad + 1 - list),
				               column, "after a group comes a "
				               "comma, or modifiers for all of "
				               "it, as in {cycles,instructions}"
				               ":u", why);
			open = bad + 1;
		}
		bad = open + strcspn(open, "{}");
		if (bad < at)
			return mistake(list, (size_t)(bad - list), column,
			               "a brace begins a group or ends it, as "
			               "in {cycles,instructions}:u", why);
		at = ppi_event_next_item(at);
	}
	return PORTPROF_OK;
}

/* Where in the list the n-th character of an event, as spelled, comes from. */
struct spelled {
	const char *list;
	struct place place;
};

static size_t column_in(const void *context, size_t column)
{
	const struct spelled *spelled = context;
	const struct place *place = &spelled->place;
	const char *list = spelled->list;
	size_t at = (size_t)(place->event - list);

	if (place->preset) {
		size_t name = strlen(place->preset->events[place->part]);
		size_t named = strlen(place->preset->name);

		column = column > name ? column - name + named : 1;
	}
	if (column <= place->length || !place->length || !place->modifiers)
		return at + column;
	return (size_t)(place->modifiers - list) + column - place->length;
}

portprof_status ppi_event_list_read(const char *list, ppi_event_take_fn take,
                                    void *context, size_t *column,
                                    struct ppi_diag *why)
{
	struct spelled spelled = { list, { .event = NULL } };
	struct place *place = &spelled.place;
	struct ppi_event_request request;
	char event[sizeof(request.text)];
	portprof_status status = check_braces(list, column, why);

	while (status == PORTPROF_OK && next_event(list, place)) {
		if (!spell(place, event, sizeof(event)))
			return mistake(list, (size_t)(place->event - list),
			               column, "this event is too long", why);
		status = ppi_event_parse_in(event, &request,
		                            strcmp(event, list) ? column_in
		                                                : NULL,
		                            &spelled, column, why);
		request.preset = place->preset;
		request.preset_event = place->part;
		if (status == PORTPROF_OK && take)
			take(&request, context);
	}
	return status;
}

portprof_status portprof_event_list_get(const char *list, size_t index,
                                        char *event, size_t bytes,
                                        size_t *group)
{
	struct ppi_diag why;
	struct place place;

	if (!list || !event)
		return ppi_refuse_null("portprof_event_list_get",
		                       list ? "event" : "list");
	if (ppi_event_list_read(list, NULL, NULL, NULL, &why))
		return ppi_report(&why);
	if (!find(list, index, &place))
		return PORTPROF_END;
	if (!spell(&place, event, bytes))
		return ppi_refuse(PORTPROF_E_LIMIT, "read event list",
		                  "event number %zu of '%.200s' is longer than "
		                  "%zu bytes", index, list, bytes);
	if (group)
		*group = place.group;
	return PORTPROF_OK;
}

const portprof_preset *portprof_event_list_preset(const char *list,
                                                  size_t index)
{
	struct place place;

	if (!list || !find(list, index, &place))
		return NULL;
	return place.part == 0 ? place.preset : NULL;
}
