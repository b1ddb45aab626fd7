/* SPDX-License-Identifier: MIT */
/* Requests for perf events: the modifiers that perf adds to the core's. */
#include "backends/perf/events/perf_request.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum modifier {
	MOD_MG, MOD_MH, MOD_PRECISE, MOD_HW_SMPL, MOD_EXCL, MOD_PINNED,
	MOD_CPU, MOD_COUNT
};

/* Numbers have a largest value, flags do not. */
static const struct {
	const char *name;
	uint64_t most;
	const char *example;
} modifiers[MOD_COUNT] = {
	[MOD_MG] = { "mg", 0, "mg" },
	[MOD_MH] = { "mh", 0, "mh" },
	[MOD_PRECISE] = { "precise", 3, "precise=2" },
	[MOD_HW_SMPL] = { "hw_smpl", 0, "hw_smpl" },
	[MOD_EXCL] = { "excl", 0, "excl" },
	[MOD_PINNED] = { "pinned", 0, "pinned" },
	[MOD_CPU] = { "cpu", INT_MAX - 1, "cpu=0" },
};

struct reader {
	const struct ppi_event_request *request;
	struct perf_request *out;
	uint64_t value[MOD_COUNT];
	size_t place[MOD_COUNT]; /* column it was given at; 0 = not given */
	struct ppi_diag *why;
};

static portprof_status refuse(const struct reader *r, size_t column,
                              const char *words, ...)
	__attribute__((format(printf, 3, 4)));

static portprof_status refuse(const struct reader *r, size_t column,
                              const char *words, ...)
{
	char said[384];
	va_list values;

	va_start(values, words);
	vsnprintf(said, sizeof(said), words, values);
	va_end(values);
	return ppi_at_column(
		r->why, PORTPROF_REASON_PART, column,
		ppi_fail(r->why, PORTPROF_E_INVALID, 0, "resolve event",
	                 "event '%s', column %zu: %s", r->request->text, column,
	                 said));
}

static bool has_value(const struct ppi_event_part *part)
{
	return part->key_bytes < part->bytes;
}

static enum modifier modifier_of(const struct reader *r,
                                 const struct ppi_event_part *part)
{
	enum modifier m = 0;

	while (m < MOD_COUNT &&
	       !ppi_event_part_is(r->request, part, modifiers[m].name))
		m++;
	/* a PMU may have a unit mask of that name: coreduo::EST_TRANS:FREQ */
	if (m < MOD_COUNT && !has_value(part) && modifiers[m].most > 0 &&
	    strstr(r->request->name, "::"))
		return MOD_COUNT;
	return m;
}

/* libpfm4 takes one letter or digit: y t 1, n f 0. */
static bool read_flag(const char *value, int length, uint64_t *out)
{
	if (length != 1 || !strchr("ytYT1nfNF0", *value))
		return false;
	*out = strchr("ytYT1", *value) != NULL;
	return true;
}

/* That it is a number is checked already, but y and n are none. */
static bool read_number(const char *value, uint64_t most, uint64_t *out)
{
	if (*value < '0' || *value > '9')
		return false;
	*out = strtoull(value, NULL, 0);
	return *out <= most;
}

static portprof_status take(struct reader *r, enum modifier m,
                            const struct ppi_event_part *part)
{
	const char *name = modifiers[m].name;
	size_t column = part->at + 1u, at = part->key_bytes + 1u;
	const char *value = r->request->text + part->at + at;
	int length = has_value(part) ? (int)(part->bytes - at) : 0;
	uint64_t number = 1, most = modifiers[m].most;

	if (most && !has_value(part))
		return refuse(r, column, "%s needs a value, as in %s", name,
		              modifiers[m].example);
	if (most && !read_number(value, most, &number))
		return refuse(r, column + at, "the value '%.*s' of %s is out "
		              "of range; give a number from 0 to %llu", length,
		              value, name, (unsigned long long)most);
	if (!most && has_value(part) && !read_flag(value, length, &number))
		return refuse(r, column + at, "the value '%.*s' of %s is "
		              "neither 1 nor 0; write '%s', '%s=1' or '%s=0'",
		              length, value, name, name, name, name);
	/* the same twice is harmless, as in libpfm4 */
	if (r->place[m] && r->value[m] != number)
		return refuse(r, column, "%s has another value at column %zu; "
		              "keep one of the two", name, r->place[m]);
	r->value[m] = number;
	r->place[m] = column;
	return PORTPROF_OK;
}

static portprof_status append(struct reader *r,
                              const struct ppi_event_part *part,
                              const char *text, int length)
{
	char *name = r->out->core.name;
	size_t used = strlen(name), room = sizeof(r->out->core.name) - used;

	if (snprintf(name + used, room, ":%.*s", length, text) < (int)room)
		return PORTPROF_OK;
	return refuse(r, part->at + 1u, "the name is longer than %zu characters "
	              "here; give fewer unit masks",
	              sizeof(r->out->core.name) - 1);
}

/* The same twice is one. */
static portprof_status take_field(struct reader *r,
                                  const struct ppi_event_part *part)
{
	struct perf_asked *asked = &r->out->asked;
	uint8_t at = (uint8_t)(part->at + part->key_bytes + 1);
	uint8_t bytes = (uint8_t)(part->bytes - part->key_bytes - 1);
	const char *text = r->request->text;
	size_t i = 0;

	while (i < asked->field_count &&
	       (asked->field_bytes[i] != bytes ||
	        memcmp(text + asked->field_at[i], text + at, bytes) != 0))
		i++;
	if (i == PERF_RAW_MAX)
		return refuse(r, part->at + 1u, "samples keep %d fields at most",
		              PERF_RAW_MAX);
	asked->field_at[i] = at;
	asked->field_bytes[i] = bytes;
	asked->field_count += i == asked->field_count;
	return PORTPROF_OK;
}

static portprof_status read_part(struct reader *r,
                                 const struct ppi_event_part *part)
{
	enum modifier m = modifier_of(r, part);
	bool was_given = m < MOD_COUNT && r->place[m];
	portprof_status status;

	if (has_value(part) && ppi_event_part_is(r->request, part, "field"))
		return take_field(r, part);
	if (m == MOD_COUNT)
		return append(r, part, r->request->text + part->at,
		              part->bytes);
	status = take(r, m, part);
	/* attr has no field for it: libpfm4 reads it from the name */
	if (status == PORTPROF_OK && m == MOD_HW_SMPL && r->value[m] &&
	    !was_given)
		status = append(r, part, "hw_smpl", 7);
	return status;
}

static bool is_set(const struct reader *r, enum modifier m)
{
	return r->place[m] && r->value[m];
}

/* mg=0 alone leaves the host, which is libpfm4's default. */
static portprof_status settle_worlds(const struct reader *r,
                                     struct perf_asked *asked)
{
	size_t first = r->place[MOD_MG];

	if (!first || (r->place[MOD_MH] && r->place[MOD_MH] < first))
		first = r->place[MOD_MH];
	asked->has_guest_host = is_set(r, MOD_MG) || is_set(r, MOD_MH);
	asked->exclude_guest = asked->has_guest_host && !is_set(r, MOD_MG);
	asked->exclude_host = asked->has_guest_host && !is_set(r, MOD_MH);
	if (r->place[MOD_MH] && !asked->has_guest_host)
		return refuse(r, first, "neither host nor guest is left to "
		              "measure; write mg for guests only");
	return PORTPROF_OK;
}

static portprof_status settle(const struct reader *r)
{
	struct perf_asked *asked = &r->out->asked;
	size_t precise = r->place[MOD_PRECISE];

	/* both set attr.precise_ip in libpfm4, and the later one wins */
	if (precise && r->place[MOD_HW_SMPL] &&
	    r->value[MOD_PRECISE] != r->value[MOD_HW_SMPL])
		return refuse(r, precise, "precise and hw_smpl (column %zu) "
		              "contradict each other; keep one of the two",
		              r->place[MOD_HW_SMPL]);
	asked->precise = (unsigned)r->value[MOD_PRECISE];
	asked->has_precise = precise || r->place[MOD_HW_SMPL];
	asked->wants_max_precision = !asked->has_precise &&
	                             strcmp(r->request->wish,
	                                    "precise=max") == 0;
	asked->exclusive = is_set(r, MOD_EXCL);
	asked->pinned = is_set(r, MOD_PINNED);
	asked->cpu = r->place[MOD_CPU] ? (int)r->value[MOD_CPU] : -1;
	return settle_worlds(r, asked);
}

portprof_status ppi_perf_request_read(const struct ppi_event_request *request,
                                      struct perf_request *out,
                                      struct ppi_diag *why)
{
	struct reader r = { .request = request, .out = out, .why = why };
	portprof_status status = PORTPROF_OK;

	*out = (struct perf_request){ .core = *request };
	for (size_t i = 0; i < request->part_count && !status; i++)
		status = read_part(&r, &request->parts[i]);
	return status ? status : settle(&r);
}

struct ppi_event ppi_perf_request_event(const struct perf_request *request)
{
	struct ppi_event event = { .request = request->core };

	perf_own_of(&event)->asked = request->asked;
	return event;
}

void ppi_perf_set_modes(struct ppi_event *event)
{
	const struct ppi_event_request *request = &event->request;
	struct perf_own *own = perf_own_of(event);

	event->counts_user = !request->has_modes || request->user;
	event->counts_kernel = !request->has_modes || request->kernel;
	event->counts_hypervisor = request->hypervisor;
	own->precise = own->asked.precise;
	if (!own->asked.has_guest_host)
		own->asked.exclude_guest = true;
}

bool ppi_perf_request_format(const struct ppi_event_request *core,
                             const struct perf_asked *asked, const char *name,
                             char *out, size_t bytes)
{
	char more[PPI_EVENT_TEXT + 96], precise[24] = "", cpu[24] = "";
	size_t used;
	bool tells_worlds = asked->has_guest_host;

	if (asked->precise)
		snprintf(precise, sizeof(precise), ":precise=%u",
		         asked->precise);
	if (asked->cpu >= 0)
		snprintf(cpu, sizeof(cpu), ":cpu=%d", asked->cpu);
	snprintf(more, sizeof(more), "%s%s%s%s%s%s",
	         tells_worlds && !asked->exclude_guest ? ":mg" : "",
	         tells_worlds && !asked->exclude_host ? ":mh" : "", precise,
	         asked->exclusive ? ":excl" : "",
	         asked->pinned ? ":pinned" : "", cpu);
	used = strlen(more);
	for (size_t i = 0; i < asked->field_count && used < sizeof(more); i++)
		used += (size_t)snprintf(more + used, sizeof(more) - used,
		                         ":field=%.*s", asked->field_bytes[i],
		                         core->text + asked->field_at[i]);
	return ppi_event_format(core, name, more, out, bytes);
}

size_t ppi_perf_column_of(const struct ppi_event_request *request,
                          const char *part)
{
	const char *text = request->text + request->name_column - 1;
	size_t length = strlen(part);

	while (*text) {
		size_t here = strcspn(text, ":.@=");

		if (strncasecmp(text, part, length) == 0 &&
		    (here == length || strcspn(text, ":.@") == length))
			return (size_t)(text - request->text) + 1;
		text += strcspn(text, ":.@");
		text += strspn(text, ":.@");
	}
	return request->name_column;
}
