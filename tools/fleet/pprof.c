/* SPDX-License-Identifier: MIT */
/* A pprof profile put together piece by piece; numbers of fields are those of
 * profile.proto of https://github.com/google/pprof. */
#include "config.h"

#include "tools/fleet/pprof.h"

#include <stdio.h>
#include <string.h>

enum {
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13
};

static uint64_t text(struct ppi_pprof *pprof, const char *text)
{
	size_t known = ppi_pool_count(&pprof->strings);
	uint32_t number = ppi_pool_enter(&pprof->strings, text, strlen(text));

	pprof->out.is_short |= number == PPI_NONE;
	if (number == known)
		ppi_wire_string_field(&pprof->texts, PROFILE_STRING, text);
	return number;
}

void ppi_pprof_open(struct ppi_pprof *pprof)
{
	memset(pprof, 0, sizeof(*pprof));
	text(pprof, "");
}

static void put_type(struct ppi_pprof *pprof, unsigned field, const char *type,
                     const char *unit)
{
	ppi_wire_number(&pprof->part, 1, text(pprof, type));
	ppi_wire_number(&pprof->part, 2, text(pprof, unit));
	ppi_wire_message(&pprof->out, field, &pprof->part);
}

void ppi_pprof_types(struct ppi_pprof *pprof, const char *const *events,
                     const char *const *units, size_t count)
{
	char name[512];

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "samples%s%s", i ? ":" : "",
		         i ? events[i] : "");
		put_type(pprof, PROFILE_TYPE, name, "count");
	}
	for (size_t i = count; i > 0; i--)
		put_type(pprof, PROFILE_TYPE, events[i - 1], units[i - 1]);
	if (count) {
		put_type(pprof, PROFILE_PERIOD_TYPE, events[0], units[0]);
		ppi_wire_number(&pprof->out, PROFILE_PERIOD, 1);
	}
}

/* The id of what `part` says, which is a field of the profile if it is new. */
static uint64_t identify(struct ppi_pprof *pprof, struct ppi_pool *known,
                         unsigned field)
{
	struct ppi_wire *part = &pprof->part;
	size_t count = ppi_pool_count(known);
	uint64_t number = ppi_pool_enter(known, part->bytes.data,
	                                 part->bytes.count);

	pprof->out.is_short |= number == PPI_NONE;
	if (number == count) {
		ppi_wire_number(part, 1, number + 1);
		ppi_wire_message(&pprof->out, field, part);
	}
	part->bytes.count = 0;
	return number + 1;
}

uint64_t ppi_pprof_mapping(struct ppi_pprof *pprof, uint64_t start,
                           uint64_t limit, uint64_t offset, const char *path,
                           const char *build_id)
{
	ppi_wire_number(&pprof->part, 2, start);
	ppi_wire_number(&pprof->part, 3, limit);
	ppi_wire_number(&pprof->part, 4, offset);
	ppi_wire_number(&pprof->part, 5, text(pprof, path));
	ppi_wire_number(&pprof->part, 6, text(pprof, build_id));
	ppi_wire_number(&pprof->part, 7, 1); /* has functions */
	return identify(pprof, &pprof->mappings, PROFILE_MAPPING);
}

static uint64_t function(struct ppi_pprof *pprof,
                         const struct ppi_pprof_line *line)
{
	ppi_wire_number(&pprof->part, 2, text(pprof, line->function));
	ppi_wire_number(&pprof->part, 3, text(pprof, line->function));
	ppi_wire_number(&pprof->part, 4, text(pprof, line->file));
	return identify(pprof, &pprof->functions, PROFILE_FUNCTION);
}

uint64_t ppi_pprof_location(struct ppi_pprof *pprof, uint64_t mapping,
                            uint64_t address,
                            const struct ppi_pprof_line *lines, size_t count)
{
	struct ppi_wire whole = { 0 };
	uint64_t id;

	ppi_wire_number(&whole, 2, mapping);
	ppi_wire_number(&whole, 3, address);
	for (size_t i = 0; i < count; i++) {
		ppi_wire_number(&pprof->inner, 1, function(pprof, &lines[i]));
		ppi_wire_number(&pprof->inner, 2, lines[i].line);
		ppi_wire_message(&whole, 4, &pprof->inner);
	}
	ppi_wire_add(&pprof->part, whole.bytes.data, whole.bytes.count);
	pprof->out.is_short |= whole.is_short;
	id = identify(pprof, &pprof->locations, PROFILE_LOCATION);
	ppi_wire_free(&whole);
	return id;
}

static void put_label(struct ppi_pprof *pprof,
                      const struct ppi_pprof_label *label)
{
	ppi_wire_number(&pprof->inner, 1, text(pprof, label->name));
	if (label->text) {
		ppi_wire_number(&pprof->inner, 2, text(pprof, label->text));
	} else {
		ppi_wire_number(&pprof->inner, 3, (uint64_t)label->number);
		ppi_wire_number(&pprof->inner, 4,
		                text(pprof, label->unit ? label->unit : ""));
	}
	ppi_wire_message(&pprof->part, 3, &pprof->inner);
}

void ppi_pprof_sample(struct ppi_pprof *pprof, const uint64_t *locations,
                      size_t depth, const uint64_t *samples,
                      const uint64_t *weights, size_t events,
                      const struct ppi_pprof_label *labels, size_t label_count)
{
	for (size_t i = 0; i < depth; i++)
		ppi_wire_varint(&pprof->inner, locations[i]);
	ppi_wire_message(&pprof->part, 1, &pprof->inner);
	for (size_t i = 0; i < events; i++)
		ppi_wire_varint(&pprof->inner, samples[i]);
	for (size_t i = events; i > 0; i--)
		ppi_wire_varint(&pprof->inner, weights[i - 1]);
	ppi_wire_message(&pprof->part, 2, &pprof->inner);
	for (size_t i = 0; i < label_count; i++)
		put_label(pprof, &labels[i]);
	ppi_wire_message(&pprof->out, PROFILE_SAMPLE, &pprof->part);
}

bool ppi_pprof_close(struct ppi_pprof *pprof, uint64_t start_ns,
                     uint64_t duration_ns, const char *comment,
                     struct ppi_wire *to)
{
	struct ppi_wire *out = &pprof->out;
	bool is_good;

	ppi_wire_number(out, PROFILE_TIME, start_ns);
	ppi_wire_number(out, PROFILE_DURATION, duration_ns);
	if (comment)
		ppi_wire_number(out, PROFILE_COMMENT, text(pprof, comment));
	ppi_wire_add(out, pprof->texts.bytes.data, pprof->texts.bytes.count);
	is_good = !out->is_short && !pprof->part.is_short &&
	          !pprof->inner.is_short && !pprof->texts.is_short &&
	          ppi_wire_pack(to, out->bytes.data, out->bytes.count);
	ppi_wire_free(out);
	ppi_wire_free(&pprof->part);
	ppi_wire_free(&pprof->inner);
	ppi_wire_free(&pprof->texts);
	ppi_pool_free(&pprof->strings);
	ppi_pool_free(&pprof->functions);
	ppi_pool_free(&pprof->mappings);
	ppi_pool_free(&pprof->locations);
	return is_good;
}
