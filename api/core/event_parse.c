/* SPDX-License-Identifier: MIT */
/*
 * Event strings: text to request. Pure: asks no machine and no table of
 * events. It knows names, levels, period and rate; of all other parts it checks
 * the form alone, and the backend that resolves the event takes them or refuses
 * them. What libpfm4 would take silently in another sense than it is written
 * (signs, octal, no privilege level at all) is refused here, with the column and
 * what to write instead.
 */
#include "api/core/event.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- where an event string ends ---- */

/*
 * What in it has letters of its own: a program's places (file, symbol, address)
 * and filters between slashes. Lists ask here, too (ppi_event_span), so that
 * commas and braces mean the same to both.
 */

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

/*
 * The length of the place that an event is of, "mem:ADDRESS",
 * "breakpoint:SYMBOL", "uprobe:FILE:SYMBOL", with that word before it; 0 where it
 * is another event. What is in it parts nothing.
 */
static size_t place_bytes(const char *text)
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

/* Behind the filter that begins with the '/' at `at`; 0 where it does not end. */
static size_t skip_filter(const char *text, size_t at)
{
	char quote = '\0';

	for (at++; text[at] && (quote || text[at] != '/'); at++)
		if (quote ? text[at] == quote : strchr("\"'", text[at]) != NULL)
			quote = quote ? '\0' : text[at];
	return text[at] ? at + 1 : 0;
}

size_t ppi_event_span(const char *text, const char *stops)
{
	size_t at = place_bytes(text), end;
	bool has_part = false;

	while (text[at] && !strchr(stops, text[at])) {
		end = text[at] == '/' && has_part ?
		              skip_filter(text, at) : 0;
		has_part |= text[at] == ':';
		at = end ? end : at + 1;
	}
	return at;
}

/* ---- the parser ---- */

/* The modifiers that every backend shares. */
enum modifier { MOD_U, MOD_K, MOD_H, MOD_PERIOD, MOD_FREQ, MOD_COUNT };

struct parser {
	const char *text;
	struct ppi_event_request *request;
	uint64_t value[MOD_COUNT];
	size_t place[MOD_COUNT]; /* column it was given at; 0 = not given */
	ppi_event_column_fn column_in; /* of the list; NULL: it is in none */
	const void *context;
	struct ppi_diag *why;
};

/* A stretch of the text: one part, one value. */
struct stretch {
	size_t at, length;
};

/* Numbers have a largest value, flags do not. */
static const struct {
	const char *name;
	uint64_t least, most;
	const char *example;
} modifiers[MOD_COUNT] = {
	[MOD_U] = { "u", 0, 0, "u" },
	[MOD_K] = { "k", 0, 0, "k" },
	[MOD_H] = { "h", 0, 0, "h" },
	[MOD_PERIOD] = { "period", 1, INT64_MAX, "period=1000003" },
	[MOD_FREQ] = { "freq", 1, 1000000, "freq=100" },
};

static portprof_status mistake(const struct parser *p, size_t at,
                               const char *words, ...)
	__attribute__((format(printf, 3, 4)));

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

static portprof_status mistake(const struct parser *p, size_t at,
                               const char *words, ...)
{
	size_t column = p->column_in ? p->column_in(p->context, at + 1)
	                             : at + 1;
	char said[512], quoted[72];
	va_list values;

	va_start(values, words);
	vsnprintf(said, sizeof(said), words, values);
	va_end(values);
	return ppi_at_column(
		p->why, PORTPROF_REASON_SYNTAX, column,
		ppi_fail(p->why, PORTPROF_E_INVALID, 0, "check event string",
	                 "event '%s', column %zu%s: %s", quote(p->text, quoted),
	                 column, p->column_in ? " of the list" : "", said));
}

/* ---- letters ---- */

static bool is_name_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("_-:.=@", c));
}

static bool is_filter_letter(char c)
{
	return c >= ' ' && c < 127 && c != '{' && c != '}';
}

/* The first character that may not stand where it does, or the end. */
static size_t first_wrong(const char *text)
{
	size_t at = place_bytes(text);
	bool has_part = at > 0;

	for (;;) {
		size_t end = text[at] == '/' && has_part
			? skip_filter(text, at) : 0;

		if (!end && !is_name_letter(text[at]))
			return at;
		has_part |= text[at] == ':';
		for (at++; at < end; at++)
			if (!is_filter_letter(text[at]))
				return at;
	}
}

static portprof_status check_letters(const struct parser *p)
{
	const char *text = p->text;
	size_t i = first_wrong(text), place = place_bytes(text);

	if (i >= sizeof(p->request->text))
		return mistake(p, sizeof(p->request->text) - 1,
			       "it is longer than %zu characters",
			       sizeof(p->request->text) - 1);
	if (text[0] == '\0')
		return mistake(p, 0,
			       "an event name is missing; cpu-clock "
			       "exists everywhere");
	if (text[i] == '\0')
		return PORTPROF_OK;
	if (text[i] == '/' && !place && memchr(text, ':', i))
		return mistake(p, i,
			       "this filter does not end; write a second '/' "
			       "after it, as in "
			       "sched:sched_switch/prev_pid==1/");
	if (text[i] == ',')
		return mistake(p, i,
			       "a comma separates events: give each as a "
			       "separate string");
	if (text[i] == ' ')
		return mistake(
			p, i, "an event string has no blanks; remove this one");
	if (text[i] == '/')
		return mistake(
			p, i,
			"the notation PMU/EVENT/ is perf's; write PMU::EVENT");
	if (text[i] > ' ' && text[i] < 127)
		return mistake(
			p, i, "the character %c is not allowed in an event "
			      "string",
			text[i]);
	return mistake(p, i, "the byte 0x%02x is not printable ASCII",
		       (unsigned)(unsigned char)text[i]);
}

/* ---- modifiers ---- */

static bool part_is(const struct parser *p,
                    struct stretch part, const char *word)
{
	return part.length == strlen(word) &&
	       strncasecmp(p->text + part.at, word, part.length) == 0;
}

static enum modifier modifier_at(const struct parser *p,
                                 struct stretch part)
{
	const char *equals = memchr(p->text + part.at, '=', part.length);
	enum modifier m = 0;

	if (equals)
		part.length = (size_t)(equals - (p->text + part.at));
	while (m < MOD_COUNT && !part_is(p, part, modifiers[m].name))
		m++;
	/* a PMU may have a unit mask of that name: coreduo::EST_TRANS:FREQ */
	if (m < MOD_COUNT && !equals && modifiers[m].most > 0 &&
	    strstr(p->text, "::"))
		return MOD_COUNT;
	return m;
}

static struct stretch value_of(const struct parser *p,
                               struct stretch part,
                               bool *has_value)
{
	size_t end = part.at + part.length;
	const char *equals = memchr(p->text + part.at, '=', part.length);
	size_t at = equals ? (size_t)(equals - p->text) + 1 : end;

	*has_value = equals != NULL;
	return (struct stretch){ at, end - at };
}

static bool read_flag(const struct parser *p,
                      struct stretch value, uint64_t *out)
{
	char c = value.length == 1 ? p->text[value.at] : ' ';

	if (!strchr("ytYT1nfNF0", c))
		return false;
	*out = strchr("ytYT1", c) != NULL;
	return true;
}

static portprof_status read_number(const struct parser *p,
                                   enum modifier m,
                                   struct stretch value, uint64_t *out)
{
	const char *text = p->text + value.at;
	const char *wrong = ppi_number_read(text, value.length, out);

	if (!wrong && (*out < modifiers[m].least || *out > modifiers[m].most))
		wrong = "is out of range";
	if (!wrong)
		return PORTPROF_OK;
	return mistake(
		p, value.at,
		"the value '%.*s' of %s %s; give a number from %llu to %llu",
		(int)value.length, text, modifiers[m].name, wrong,
		(unsigned long long)modifiers[m].least,
		(unsigned long long)modifiers[m].most);
}

/* The same twice is harmless, as in libpfm4. */
static portprof_status keep(struct parser *p, enum modifier m,
                            size_t at, uint64_t value)
{
	if (p->place[m] && p->value[m] != value)
		return mistake(p, at,
			       "%s has another value at column %zu; keep one "
			       "of the two",
			       modifiers[m].name, p->place[m]);
	p->value[m] = value;
	p->place[m] = at + 1;
	return PORTPROF_OK;
}

static portprof_status take_modifier(struct parser *p,
                                     enum modifier m,
                                     struct stretch part)
{
	bool has_value, is_number = modifiers[m].most > 0;
	struct stretch value = value_of(p, part, &has_value);
	uint64_t number = 1;
	portprof_status status = PORTPROF_OK;

	if (is_number && !has_value)
		return mistake(
			p, part.at, "%s needs a value, as in %s",
			modifiers[m].name, modifiers[m].example);
	if (is_number)
		status = read_number(p, m, value, &number);
	else if (has_value && !read_flag(p, value, &number))
		status =
			mistake(p, value.at,
		                          "the value '%.*s' of %s is neither 1 "
		                          "nor 0; write '%s', '%s=1' or '%s=0'",
		                          (int)value.length, p->text + value.at,
		                          modifiers[m].name, modifiers[m].name,
		                          modifiers[m].name, modifiers[m].name);
	return status ? status : keep(p, m, part.at, number);
}

static portprof_status take_period(struct parser *p,
                                   struct stretch value)
{
	uint64_t period;
	portprof_status status = read_number(p, MOD_PERIOD, value, &period);

	return status ? status : keep(p, MOD_PERIOD, value.at - 1, period);
}

static bool is_set(const struct parser *p, enum modifier m)
{
	return p->place[m] && p->value[m];
}

static size_t first_place(const struct parser *p,
                          enum modifier from, enum modifier to)
{
	size_t first = SIZE_MAX;

	for (enum modifier m = from; m <= to; m++)
		if (p->place[m] && p->place[m] < first)
			first = p->place[m];
	return first == SIZE_MAX ? 0 : first;
}

/* As in libpfm4, giving any level switches off those that are not given. */
static portprof_status settle_levels(const struct parser *p)
{
	size_t modes = first_place(p, MOD_U, MOD_H);
	struct ppi_event_request *request = p->request;

	request->has_modes = modes > 0;
	request->user = is_set(p, MOD_U);
	request->kernel = is_set(p, MOD_K);
	request->hypervisor = is_set(p, MOD_H);
	if (modes && !request->user && !request->kernel && !request->hypervisor)
		return mistake(
			p, modes - 1,
			"no privilege level is left to measure; name those you "
		        "want: u, k, or u:k");
	return PORTPROF_OK;
}

static portprof_status settle(const struct parser *p)
{
	size_t rate = p->place[MOD_FREQ];

	if (p->place[MOD_PERIOD] && rate)
		return mistake(
			p, rate - 1,
			"a frequency cannot be combined with the period at "
			"column %zu; keep one of the two",
			p->place[MOD_PERIOD]);
	p->request->period = p->value[MOD_PERIOD];
	p->request->rate_hz = p->value[MOD_FREQ];
	p->request->is_rate_own = p->request->period || p->request->rate_hz;
	return settle_levels(p);
}

/* ---- parts ---- */

/* Up to the next separator, with the filter that ends it. libpfm4 separates by
 * '.' as well as by ':'. */
static struct stretch part_at(const struct parser *p,
                              size_t at)
{
	size_t length = strcspn(p->text + at, ":.@/");

	if (p->text[at + length] == '/')
		length = skip_filter(p->text, at + length) - at;
	return (struct stretch){ at, length };
}

static bool has_filter(const struct parser *p, struct stretch part)
{
	return part.length && p->text[part.at + part.length - 1] == '/';
}

static portprof_status append(const struct parser *p,
                              const char *separator, struct stretch part)
{
	char *name = p->request->name;
	size_t used = strlen(name), room = sizeof(p->request->name) - used;
	int length = snprintf(name + used, room, "%s%.*s", separator,
	                      (int)part.length, p->text + part.at);

	if (length < (int)room)
		return PORTPROF_OK;
	return mistake(p, part.at,
		       "the name is longer than %zu characters",
		       sizeof(p->request->name) - 1);
}

/* check_letters has measured the text. */
static portprof_status keep_part(struct parser *p, struct stretch part,
                                 size_t key_bytes)
{
	p->request->parts[p->request->part_count++] = (struct ppi_event_part){
		.at = (uint8_t)part.at,
		.bytes = (uint8_t)part.length,
		.key_bytes = (uint8_t)key_bytes,
	};
	return PORTPROF_OK;
}

/* field=NAME: which fields of an occurrence samples keep. */
static bool is_field(const struct parser *p, struct stretch part,
                     struct stretch value)
{
	part.length = value.at - 1 - part.at;
	return part_is(p, part, "field");
}

static portprof_status check_field(struct parser *p, struct stretch part,
                                   struct stretch value)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "0123456789_";
	size_t length = strspn(p->text + value.at, letters);

	if (length == 0 || length != value.length)
		return mistake(p, value.at, "field takes the name of a field, as "
			       "in sched:sched_switch:field=prev_comm");
	return keep_part(p, part, value.at - 1 - part.at);
}

/* A unit mask, or a modifier of the backend's: only its form is checked. */
static portprof_status take_other(struct parser *p, struct stretch part)
{
	const char *text = p->text + part.at, *wrong = NULL;
	bool has_value;
	struct stretch value = value_of(p, part, &has_value);
	uint64_t ignored;

	/* the signs in a filter are its own */
	if (has_filter(p, part))
		return keep_part(p, part, part.length);
	if (*text == '=')
		return mistake(
			p, part.at, "a modifier's name is missing before '='");
	if (!has_value && part_is(p, part, "field"))
		return check_field(p, part,
		                   (struct stretch){
					   .at = part.at + part.length });
	if (has_value && is_field(p, part, value))
		return check_field(p, part, value);
	if (has_value && !read_flag(p, value, &ignored))
		wrong = ppi_number_read(p->text + value.at, value.length,
		                        &ignored);
	if (wrong)
		return mistake(p, value.at,
			       "the value '%.*s' %s; modifiers take "
			       "a number, or y or n",
			       (int)value.length, p->text + value.at,
			       wrong);
	/* no unit mask is a number but a raw one, which begins with 0x */
	if (!has_value && *text >= '0' && *text <= '9')
		wrong = ppi_number_read(text, part.length, &ignored);
	if (!has_value && strspn(text, "0123456789") == part.length)
		return mistake(
			p, part.at,
			"the number %.*s belongs to no modifier; a period is "
		        "written period=N or @N",
			(int)part.length, text);
	if (wrong && strncasecmp(text, "0x", 2) == 0)
		return mistake(p, part.at,
			       "the raw unit mask '%.*s' %s",
			       (int)part.length, text, wrong);
	return keep_part(p, part, has_value ? value.at - 1 - part.at
	                                    : part.length);
}

static portprof_status take_part(struct parser *p,
                                 struct stretch part)
{
	enum modifier m = has_filter(p, part) ? MOD_COUNT
	                                      : modifier_at(p, part);

	return m == MOD_COUNT ? take_other(p, part)
	                      : take_modifier(p, m, part);
}

/* @N, another spelling of period=N, ends the string. */
static portprof_status take_at(struct parser *p, size_t at)
{
	struct stretch value = { at + 1, strlen(p->text + at + 1) };
	size_t more = strcspn(p->text + value.at, ":.@");

	if (value.length == 0)
		return mistake(p, at,
			       "a period is missing after '@'");
	if (more < value.length)
		return mistake(p, value.at + more,
			       "nothing may follow the period; put "
			       "@%.*s at the very end",
			       (int)more, p->text + value.at);
	return take_period(p, value);
}

static portprof_status take_parts(struct parser *p, size_t at)
{
	portprof_status status = PORTPROF_OK;

	while (status == PORTPROF_OK &&
	       (p->text[at] == ':' || p->text[at] == '.')) {
		struct stretch part = part_at(p, at + 1);

		if (part.length == 0 && p->text[part.at] == '\0')
			return mistake(
				p, at, "nothing follows this '%c'; remove it",
				p->text[at]);
		if (part.length == 0 && place_bytes(p->text))
			return mistake(
				p, part.at,
				"a part is empty; symbols of C++ are written "
				"mangled, as nm prints them");
		if (part.length == 0)
			return mistake(
				p, part.at,
				"a part is empty; remove one of '%c%c'",
				p->text[at], p->text[part.at]);
		status = take_part(p, part);
		at = part.at + part.length;
	}
	if (status || p->text[at] == '\0')
		return status;
	if (p->text[at] != '@')
		return mistake(p, at, "after a filter comes a ':' or '@'");
	return take_at(p, at);
}

/* A place stands whole in the name. */
static portprof_status take_place(struct parser *p, size_t *at)
{
	size_t end = place_bytes(p->text);
	size_t colon = strcspn(p->text, ":");
	size_t last = end;

	while (p->text[last - 1] != ':')
		last--;
	if (last == end || strchr(":@", p->text[colon + 1]))
		return mistake(
			p, last == end ? end : colon + 1,
			"the place of '%.*s' is missing; write mem:ADDRESS, "
			"breakpoint:SYMBOL or uprobe:FILE:SYMBOL",
			(int)colon, p->text);
	if (strncasecmp(p->text, "u", 1) == 0 && last == colon + 1)
		return mistake(p, end, "a symbol is missing after the file, as "
			       "in %.*s:FILE:SYMBOL", (int)colon, p->text);
	p->request->name_column = 1;
	*at = end;
	return append(p, "", (struct stretch){ 0, end });
}

static portprof_status take_name(struct parser *p, size_t *at)
{
	struct stretch pmu = part_at(p, 0), name = pmu;
	const char *text = p->text;
	portprof_status status = PORTPROF_OK;
	bool has_pmu = strncmp(text + pmu.length, "::", 2) == 0;

	if (pmu.length == 0)
		return mistake(
			p, 0, "an event name is missing before '%c'", text[0]);
	if (has_pmu)
		name = part_at(p, pmu.length + 2);
	if (name.length == 0)
		return mistake(
			p, name.at,
			"an event name is missing after the PMU '%.*s'",
			(int)pmu.length, text);
	if (has_pmu && (modifier_at(p, name) < MOD_COUNT ||
	                memchr(text, '=', pmu.length)))
		return mistake(p, pmu.length,
			       "'::' is allowed only between PMU and event; "
			       "write ':' before a modifier");
	if (modifier_at(p, name) < MOD_COUNT ||
	    memchr(text + name.at, '=', name.length))
		return mistake(
			p, name.at,
			"'%.*s' is a modifier, not an event; an event comes "
		        "first, as in cpu-clock:u",
			(int)name.length, text + name.at);
	if (has_pmu)
		status = append(p, "", pmu);
	p->request->name_column = (uint16_t)(name.at + 1);
	*at = name.at + name.length;
	return status ? status : append(p, has_pmu ? "::" : "", name);
}

portprof_status ppi_event_parse_in(const char *text,
                                   struct ppi_event_request *request,
                                   ppi_event_column_fn column_in,
                                   const void *context, struct ppi_diag *why)
{
	struct ppi_event_request draft = { .part_count = 0 };
	struct parser p = {
		.text = text, .request = &draft, .column_in = column_in,
		.context = context, .why = why
	};
	size_t at = 0;
	portprof_status status = check_letters(&p);

	if (status == PORTPROF_OK)
		status = place_bytes(text) ? take_place(&p, &at)
		                               : take_name(&p, &at);
	if (status == PORTPROF_OK)
		status = take_parts(&p, at);
	if (status == PORTPROF_OK)
		status = settle(&p);
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
	return ppi_event_parse_in(text, request, NULL, NULL, why);
}
