/* SPDX-License-Identifier: MIT */
/*
 * Event strings: text to request. Pure: asks no machine and no table of
 * events. What libpfm4 would take silently in another sense than it is
 * written (signs, octal, a value of mg, no privilege level at all) is refused
 * here, with the column and what to write instead.
 */
#include "api/internal/event_parser.h"
#include "api/internal/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The text may hold anything here, so it is quoted with '?' for what a
 * terminal should not get, and cut when long. */
static const char *quote(const char *text, char out[72])
{
	size_t i = 0;

	for (; text[i] && i < 60; i++)
		out[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
	strcpy(out + i, text[i] ? "..." : "");
	return out;
}

portprof_status ppi_event_mistake(const struct ppi_event_parser *p, size_t at,
                                  const char *words, ...)
{
	char said[512], quoted[72];
	va_list values;

	va_start(values, words);
	vsnprintf(said, sizeof(said), words, values);
	va_end(values);
	if (p->column)
		*p->column = at + 1;
	return ppi_fail(p->why, PORTPROF_E_INVALID, 0, "check event string",
	                "event '%s', column %zu: %s", quote(p->text, quoted),
	                at + 1, said);
}

static bool is_name_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("_-:.=@", c));
}

static portprof_status check_letters(const struct ppi_event_parser *p)
{
	const char *text = p->text;
	size_t i = 0;

	while (is_name_letter(text[i]))
		i++;
	if (i >= sizeof(p->request->text))
		return ppi_event_mistake(p, sizeof(p->request->text) - 1,
		                         "it is longer than %zu characters",
		                         sizeof(p->request->text) - 1);
	if (text[0] == '\0')
		return ppi_event_mistake(p, 0,
		                         "an event name is missing; cpu-clock "
		                         "exists everywhere");
	if (text[i] == '\0')
		return PORTPROF_OK;
	if (text[i] == ',')
		return ppi_event_mistake(p, i,
		                         "a comma separates events: give each "
		                         "one as a string of its own");
	if (text[i] == ' ')
		return ppi_event_mistake(
			p, i, "an event string has no blanks; remove this one");
	if (text[i] == '/')
		return ppi_event_mistake(
			p, i,
			"the notation PMU/EVENT/ is perf's; write PMU::EVENT");
	if (text[i] > ' ' && text[i] < 127)
		return ppi_event_mistake(
			p, i, "the character %c occurs in no event string",
			text[i]);
	return ppi_event_mistake(p, i, "the byte 0x%02x is not printable ASCII",
	                         (unsigned)(unsigned char)text[i]);
}

/* Up to the next separator. libpfm4 separates by '.' as well as by ':'. */
static struct ppi_event_part part_at(const struct ppi_event_parser *p,
                                     size_t at)
{
	return (struct ppi_event_part){ at, strcspn(p->text + at, ":.@") };
}

static portprof_status append(const struct ppi_event_parser *p,
                              const char *separator, struct ppi_event_part part)
{
	char *name = p->request->name;
	size_t used = strlen(name), room = sizeof(p->request->name) - used;
	int length = snprintf(name + used, room, "%s%.*s", separator,
	                      (int)part.length, p->text + part.at);

	if (length < (int)room)
		return PORTPROF_OK;
	return ppi_event_mistake(p, part.at,
	                         "the name is longer than %zu characters here; "
	                         "give fewer unit masks",
	                         sizeof(p->request->name) - 1);
}

/* A unit mask, or a modifier of the PMU's own: only its form is checked. */
static portprof_status take_other(const struct ppi_event_parser *p,
                                  struct ppi_event_part part)
{
	const char *text = p->text + part.at, *wrong = NULL;
	bool has_value;
	struct ppi_event_part value = ppi_event_value(p, part, &has_value);
	uint64_t ignored;

	if (*text == '=')
		return ppi_event_mistake(
			p, part.at, "a modifier's name is missing before '='");
	if (has_value && !ppi_event_read_flag(p, value, &ignored))
		wrong = ppi_number_read(p->text + value.at, value.length,
		                        &ignored);
	if (wrong)
		return ppi_event_mistake(p, value.at,
		                         "the value '%.*s' %s; modifiers take "
		                         "a number, or y or n",
		                         (int)value.length, p->text + value.at,
		                         wrong);
	/* no unit mask is a number but a raw one, which begins with 0x */
	if (!has_value && *text >= '0' && *text <= '9')
		wrong = ppi_number_read(text, part.length, &ignored);
	if (!has_value && strspn(text, "0123456789") == part.length)
		return ppi_event_mistake(
			p, part.at,
			"the number %.*s belongs to no modifier; a period is "
		        "written period=N or @N",
			(int)part.length, text);
	if (wrong && strncasecmp(text, "0x", 2) == 0)
		return ppi_event_mistake(p, part.at,
		                         "the raw unit mask '%.*s' %s",
		                         (int)part.length, text, wrong);
	return append(p, ":", part);
}

static portprof_status take_part(struct ppi_event_parser *p,
                                 struct ppi_event_part part)
{
	enum ppi_modifier m = ppi_event_modifier(p, part);
	bool was_given = m < MOD_COUNT && p->place[m];
	portprof_status status;

	if (m == MOD_COUNT)
		return take_other(p, part);
	status = ppi_event_take_modifier(p, m, part);
	/* a request has no field for it: libpfm4 reads it from the name */
	if (status == PORTPROF_OK && m == MOD_HW_SMPL && p->value[m] &&
	    !was_given)
		status = append(p, ":hw_smpl",
		                (struct ppi_event_part){ part.at, 0 });
	return status;
}

/* @N, another spelling of period=N, ends the string. */
static portprof_status take_at(struct ppi_event_parser *p, size_t at)
{
	struct ppi_event_part value = { at + 1, strlen(p->text + at + 1) };
	size_t more = strcspn(p->text + value.at, ":.@");

	if (value.length == 0)
		return ppi_event_mistake(p, at,
		                         "a period is missing after '@'");
	if (more < value.length)
		return ppi_event_mistake(p, value.at + more,
		                         "nothing may follow the period; put "
		                         "@%.*s at the very end",
		                         (int)more, p->text + value.at);
	return ppi_event_take_period(p, value);
}

static portprof_status take_parts(struct ppi_event_parser *p, size_t at)
{
	portprof_status status = PORTPROF_OK;

	while (status == PORTPROF_OK &&
	       (p->text[at] == ':' || p->text[at] == '.')) {
		struct ppi_event_part part = part_at(p, at + 1);

		if (part.length == 0 && p->text[part.at] == '\0')
			return ppi_event_mistake(
				p, at, "nothing follows this '%c'; remove it",
				p->text[at]);
		if (part.length == 0)
			return ppi_event_mistake(
				p, part.at,
				"a part is empty; remove one of '%c%c'",
				p->text[at], p->text[part.at]);
		status = take_part(p, part);
		at = part.at + part.length;
	}
	if (status || p->text[at] != '@')
		return status;
	return take_at(p, at);
}

static portprof_status take_name(struct ppi_event_parser *p, size_t *at)
{
	struct ppi_event_part pmu = part_at(p, 0), name = pmu;
	const char *text = p->text;
	portprof_status status = PORTPROF_OK;
	bool has_pmu = strncmp(text + pmu.length, "::", 2) == 0;

	if (pmu.length == 0)
		return ppi_event_mistake(
			p, 0, "an event name is missing before '%c'", text[0]);
	if (has_pmu)
		name = part_at(p, pmu.length + 2);
	if (name.length == 0)
		return ppi_event_mistake(
			p, name.at,
			"an event name is missing after the PMU '%.*s'",
			(int)pmu.length, text);
	if (has_pmu && (ppi_event_modifier(p, name) < MOD_COUNT ||
	                memchr(text, '=', pmu.length)))
		return ppi_event_mistake(p, pmu.length,
		                         "'::' stands between PMU and event "
		                         "only; write ':' before a modifier");
	if (ppi_event_modifier(p, name) < MOD_COUNT ||
	    memchr(text + name.at, '=', name.length))
		return ppi_event_mistake(
			p, name.at,
			"'%.*s' is no event but a modifier; an event comes "
		        "first, as in cpu-clock:u",
			(int)name.length, text + name.at);
	if (has_pmu)
		status = append(p, "", pmu);
	p->request->name_column = (uint16_t)(name.at + 1);
	*at = name.at + name.length;
	return status ? status : append(p, has_pmu ? "::" : "", name);
}

portprof_status ppi_event_parse_at(const char *text,
                                   struct ppi_event_request *request,
                                   size_t *column, struct ppi_diag *why)
{
	struct ppi_event_request draft = { .cpu = -1 };
	struct ppi_event_parser p = {
		.text = text, .request = &draft, .column = column, .why = why
	};
	size_t at = 0;
	portprof_status status = check_letters(&p);

	if (status == PORTPROF_OK)
		status = take_name(&p, &at);
	if (status == PORTPROF_OK)
		status = take_parts(&p, at);
	if (status == PORTPROF_OK)
		status = ppi_event_settle(&p);
	if (status)
		return status;
	strcpy(draft.text, text); /* check_letters has measured it */
	*request = draft;
	return PORTPROF_OK;
}

portprof_status ppi_event_parse(const char *text,
                                struct ppi_event_request *request,
                                struct ppi_diag *why)
{
	return ppi_event_parse_at(text, request, NULL, why);
}
