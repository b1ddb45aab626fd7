/* SPDX-License-Identifier: MIT */
/* The text that clients of the engine count, as the ranges of a session. */
#include "compat/drop-in/spans.h"

#include <stdlib.h>
#include <string.h>

/* Programs lie below on every system. It is 2^46 of the widest bins, or 2^16, which
 * a size_t takes in either case. */
static const uint64_t space_end = (uint64_t)1 << (sizeof(size_t) > 4 ? 62 : 32);
static const uint64_t widest_bin = 65536;

bool ppi_span_make(struct ppi_span *span, uint64_t offset, uint64_t count,
                   uint64_t unit, uint32_t scale)
{
	uint64_t room = space_end - offset, bytes;

	if (offset >= space_end || count == 0)
		return false;
	span->start = offset;
	span->bin_bytes = 1;
	/* in two parts, as the product may not fit */
	bytes = scale ? count / scale : UINT64_MAX;
	if (!scale || bytes >= room / (65536 * unit)) {
		bytes = room;
	} else {
		bytes = bytes * 65536 * unit +
		        (count % scale * 65536 * unit + scale - 1) / scale;
		if (scale <= 65536 && (scale & (scale - 1)) == 0)
			span->bin_bytes = 65536 * unit / scale;
		else
			bytes += unit; /* rounded twice, by glibc's formula */
	}
	if (span->bin_bytes > widest_bin)
		span->bin_bytes = widest_bin;
	span->end = offset + (bytes < room ? bytes : room);
	return true;
}

bool ppi_spans_are_whole(const struct ppi_span *spans, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (spans[i].end == space_end)
			return true;
	return false;
}

portprof_range ppi_span_range(const struct ppi_span *span)
{
	uint64_t bytes = span->end - span->start, bin = span->bin_bytes;

	/* the library takes fewer than 2^47 bins */
	while (bytes / bin >> 47)
		bin *= 2;
	return (portprof_range){
		.offset = span->start,
		.scale = (uint32_t)(131072 / bin),
		.bin_count = (size_t)((bytes + bin - 1) / bin),
	};
}

static int by_start(const void *a, const void *b)
{
	const struct ppi_span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Those that meet become one, told to the byte: their bins need not agree.
 * What rounding up to whole bins adds must not meet the next one either. */
static size_t join(struct ppi_span *spans, size_t count)
{
	size_t kept = 0;

	qsort(spans, count, sizeof(*spans), by_start);
	for (size_t i = 0; i < count; i++) {
		struct ppi_span *last = kept ? &spans[kept - 1] : NULL;

		if (!last || spans[i].start >= last->end + last->bin_bytes) {
			spans[kept++] = spans[i];
			continue;
		}
		last->bin_bytes = 1;
		if (spans[i].end > last->end)
			last->end = spans[i].end;
	}
	return kept;
}

static size_t count_of(const struct ppi_client *client)
{
	if (!client->is_on)
		return 0;
	return client->spans ? client->span_count : 1;
}

bool ppi_spans_of(const struct ppi_client *clients, struct ppi_span **spans,
                  size_t *count)
{
	const struct ppi_span everything = { 0, space_end, widest_bin };
	size_t used = 0, all = 1;

	for (const struct ppi_client *c = clients; c; c = c->next)
		all += count_of(c);
	*spans = calloc(all, sizeof(**spans));
	if (!*spans)
		return false;
	for (const struct ppi_client *c = clients; c; c = c->next) {
		const struct ppi_span *from = c->spans ? c->spans : &everything;

		if (count_of(c))
			memcpy(&(*spans)[used], from,
			       count_of(c) * sizeof(*from));
		used += count_of(c);
	}
	if (!used) /* nothing can be counted, but time goes on */
		(*spans)[used++] = everything;
	*count = join(*spans, used);
	return true;
}
