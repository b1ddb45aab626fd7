/* SPDX-License-Identifier: MIT */
/* Event strings: the modifiers that every backend shares, and their values. */
#include "api/internal/event_parser.h"
#include "api/internal/number.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

/* Numbers have a largest value, flags do not. */
static const struct {
	const char *name;
	uint64_t least, most;
	const char *example;
} modifiers[MOD_COUNT] = {
	[MOD_U] = { "u", 0, 0, "u" },
	[MOD_K] = { "k", 0, 0, "k" },
	[MOD_H] = { "h", 0, 0, "h" },
	[MOD_MG] = { "mg", 0, 0, "mg" },
	[MOD_MH] = { "mh", 0, 0, "mh" },
	[MOD_PERIOD] = { "period", 1, INT64_MAX, "period=1000003" },
	[MOD_FREQ] = { "freq", 1, 1000000, "freq=100" },
	[MOD_PRECISE] = { "precise", 0, 3, "precise=2" },
	[MOD_HW_SMPL] = { "hw_smpl", 0, 0, "hw_smpl" },
	[MOD_EXCL] = { "excl", 0, 0, "excl" },
	[MOD_PINNED] = { "pinned", 0, 0, "pinned" },
	[MOD_CPU] = { "cpu", 0, INT_MAX - 1, "cpu=0" },
};

static bool part_is(const struct ppi_event_parser *p,
                    struct ppi_event_part part, const char *word)
{
	return part.length == strlen(word) &&
	       strncasecmp(p->text + part.at, word, part.length) == 0;
}

enum ppi_modifier ppi_event_modifier(const struct ppi_event_parser *p,
                                     struct ppi_event_part part)
{
	const char *equals = memchr(p->text + part.at, '=', part.length);
	enum ppi_modifier m = 0;

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

struct ppi_event_part ppi_event_value(const struct ppi_event_parser *p,
                                      struct ppi_event_part part,
                                      bool *has_value)
{
	size_t end = part.at + part.length;
	const char *equals = memchr(p->text + part.at, '=', part.length);
	size_t at = equals ? (size_t)(equals - p->text) + 1 : end;

	*has_value = equals != NULL;
	return (struct ppi_event_part){ at, end - at };
}

bool ppi_event_read_flag(const struct ppi_event_parser *p,
                         struct ppi_event_part value, uint64_t *out)
{
	char c = value.length == 1 ? p->text[value.at] : ' ';

	if (!strchr("ytYT1nfNF0", c))
		return false;
	*out = strchr("ytYT1", c) != NULL;
	return true;
}

static portprof_status read_number(const struct ppi_event_parser *p,
                                   enum ppi_modifier m,
                                   struct ppi_event_part value, uint64_t *out)
{
	const char *text = p->text + value.at;
	const char *wrong = ppi_number_read(text, value.length, out);

	if (!wrong && (*out < modifiers[m].least || *out > modifiers[m].most))
		wrong = "is out of range";
	if (!wrong)
		return PORTPROF_OK;
	return ppi_event_mistake(
		p, value.at,
		"the value '%.*s' of %s %s; give a number from %llu to %llu",
		(int)value.length, text, modifiers[m].name, wrong,
		(unsigned long long)modifiers[m].least,
		(unsigned long long)modifiers[m].most);
}

/* The same twice is harmless, as in libpfm4. */
static portprof_status keep(struct ppi_event_parser *p, enum ppi_modifier m,
                            size_t at, uint64_t value)
{
	if (p->place[m] && p->value[m] != value)
		return ppi_event_mistake(p, at,
		                         "%s was given another value at column "
		                         "%zu; keep one of the two",
		                         modifiers[m].name, p->place[m]);
	p->value[m] = value;
	p->place[m] = at + 1;
	return PORTPROF_OK;
}

portprof_status ppi_event_take_modifier(struct ppi_event_parser *p,
                                        enum ppi_modifier m,
                                        struct ppi_event_part part)
{
	bool has_value, is_number = modifiers[m].most > 0;
	struct ppi_event_part value = ppi_event_value(p, part, &has_value);
	uint64_t number = 1;
	portprof_status status = PORTPROF_OK;

	if (is_number && !has_value)
		return ppi_event_mistake(
			p, part.at, "%s needs a value, as in %s",
			modifiers[m].name, modifiers[m].example);
	if (is_number)
		status = read_number(p, m, value, &number);
	else if (has_value && !ppi_event_read_flag(p, value, &number))
		status =
			ppi_event_mistake(p, value.at,
		                          "the value '%.*s' of %s is neither 1 "
		                          "nor 0; write '%s', '%s=1' or '%s=0'",
		                          (int)value.length, p->text + value.at,
		                          modifiers[m].name, modifiers[m].name,
		                          modifiers[m].name, modifiers[m].name);
	return status ? status : keep(p, m, part.at, number);
}

portprof_status ppi_event_take_period(struct ppi_event_parser *p,
                                      struct ppi_event_part value)
{
	uint64_t period;
	portprof_status status = read_number(p, MOD_PERIOD, value, &period);

	return status ? status : keep(p, MOD_PERIOD, value.at - 1, period);
}

static bool is_set(const struct ppi_event_parser *p, enum ppi_modifier m)
{
	return p->place[m] && p->value[m];
}

static size_t first_place(const struct ppi_event_parser *p,
                          enum ppi_modifier from, enum ppi_modifier to)
{
	size_t first = SIZE_MAX;

	for (enum ppi_modifier m = from; m <= to; m++)
		if (p->place[m] && p->place[m] < first)
			first = p->place[m];
	return first == SIZE_MAX ? 0 : first;
}

/* As in libpfm4, giving any level switches off those that are not given. */
static portprof_status settle_levels(const struct ppi_event_parser *p)
{
	size_t modes = first_place(p, MOD_U, MOD_H);
	size_t worlds = first_place(p, MOD_MG, MOD_MH);
	struct ppi_event_request *request = p->request;

	request->has_modes = modes > 0;
	request->user = is_set(p, MOD_U);
	request->kernel = is_set(p, MOD_K);
	request->hypervisor = is_set(p, MOD_H);
	if (modes && !request->user && !request->kernel && !request->hypervisor)
		return ppi_event_mistake(
			p, modes - 1,
			"no privilege level is left to measure; name those you "
		        "want: u, k, or u:k");
	/* mg=0 alone leaves the host, which is libpfm4's default */
	request->has_guest_host = is_set(p, MOD_MG) || is_set(p, MOD_MH);
	request->exclude_guest = !is_set(p, MOD_MG);
	request->exclude_host = request->has_guest_host && !is_set(p, MOD_MH);
	if (p->place[MOD_MH] && !request->has_guest_host)
		return ppi_event_mistake(p, worlds - 1,
		                         "neither host nor guest is left to "
		                         "measure; write mg for guests alone");
	if (!request->has_guest_host)
		request->exclude_guest = false;
	return PORTPROF_OK;
}

portprof_status ppi_event_settle(const struct ppi_event_parser *p)
{
	struct ppi_event_request *request = p->request;
	size_t rate = p->place[MOD_FREQ], precise = p->place[MOD_PRECISE];

	if (p->place[MOD_PERIOD] && rate)
		return ppi_event_mistake(
			p, rate - 1,
			"a frequency cannot go with the period at column %zu; "
		        "keep one of the two",
			p->place[MOD_PERIOD]);
	/* both set attr.precise_ip in libpfm4, and the later one wins */
	if (precise && p->place[MOD_HW_SMPL] &&
	    p->value[MOD_PRECISE] != p->value[MOD_HW_SMPL])
		return ppi_event_mistake(
			p, precise - 1,
			"precise and hw_smpl (column %zu) contradict each "
		        "other; keep one of the two",
			p->place[MOD_HW_SMPL]);
	request->period = p->value[MOD_PERIOD];
	request->rate_hz = p->value[MOD_FREQ];
	request->precise = (unsigned)p->value[MOD_PRECISE];
	request->has_precise = precise || p->place[MOD_HW_SMPL];
	request->exclusive = is_set(p, MOD_EXCL);
	request->pinned = is_set(p, MOD_PINNED);
	request->cpu = p->place[MOD_CPU] ? (int)p->value[MOD_CPU] : -1;
	return settle_levels(p);
}
