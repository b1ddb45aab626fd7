/* SPDX-License-Identifier: MIT */
/* The regions of sprofil(): which region and bin an address belongs to. */
#include "compat/drop-in/regions.h"

#include "compat/drop-in/rules.h"
#include "compat/drop-in/spans.h"

#include <stdlib.h>
#include <string.h>

struct rank {
	uint64_t offset;
	size_t index;
};

/* Highest first; qsort alone may swap those that are equal. */
static int by_offset(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

static bool insert(struct ppi_pieces *pieces, size_t at, uint64_t start,
                   uint64_t end, size_t owner)
{
	size_t bytes = (pieces->count + 1) * sizeof(*pieces->list);
	struct ppi_piece *list;

	if (start >= end)
		return true;
	list = realloc(pieces->list, bytes);
	if (!list)
		return false;
	memmove(&list[at + 1], &list[at],
	        (pieces->count - at) * sizeof(*list));
	list[at] = (struct ppi_piece){ start, end, owner };
	pieces->list = list;
	pieces->count++;
	return true;
}

/* All of [start, end) that is nobody's yet. */
static bool insert_gaps(struct ppi_pieces *pieces, uint64_t start,
                        uint64_t end, size_t owner)
{
	size_t at = 0;

	while (start < end && at < pieces->count) {
		struct ppi_piece there = pieces->list[at];

		if (start < there.start) {
			uint64_t gap_end = end < there.start ? end :
			                                       there.start;

			if (!insert(pieces, at, start, gap_end, owner))
				return false;
			at++;
		}
		if (there.end > start)
			start = there.end;
		at++;
	}
	return insert(pieces, at, start, end, owner);
}

/* The first byte that is past the last bin. */
static uint64_t end_of(const struct ppi_wanted *wanted, unsigned unit)
{
	struct ppi_span span;
	uint64_t end;

	if (!ppi_span_make(&span, wanted->offset, wanted->bins, unit,
	                   wanted->scale))
		return wanted->offset;
	end = span.end;
	/* a span may be longer by some bytes than the bins are */
	while (end > wanted->offset &&
	       ppi_entry_of(end - 1 - wanted->offset, unit, wanted->scale) >=
	               wanted->bins)
		end--;
	return end;
}

bool ppi_pieces_make(struct ppi_pieces *pieces, const struct ppi_wanted *wanted,
                     size_t count, unsigned unit)
{
	struct rank *ranks = calloc(count ? count : 1, sizeof(*ranks));
	bool is_good = ranks != NULL;

	*pieces = (struct ppi_pieces){ .unit = unit };
	for (size_t i = 0; is_good && i < count; i++)
		ranks[i] = (struct rank){ wanted[i].offset, i };
	if (is_good)
		qsort(ranks, count, sizeof(*ranks), by_offset);
	for (size_t i = 0; is_good && i < count; i++) {
		size_t index = ranks[i].index;
		const struct ppi_wanted *w = &wanted[index];

		if (w->scale < 2 || w->bins == 0)
			continue;
		is_good = insert_gaps(pieces, w->offset, end_of(w, unit),
		                      index);
		if (w->offset == 0 && w->scale == 2 && !pieces->has_overflow) {
			pieces->overflow = index;
			pieces->has_overflow = true;
		}
	}
	free(ranks);
	if (!is_good)
		ppi_pieces_free(pieces);
	return is_good;
}

void ppi_pieces_free(struct ppi_pieces *pieces)
{
	free(pieces->list);
	memset(pieces, 0, sizeof(*pieces));
}

bool ppi_pieces_find(const struct ppi_pieces *pieces,
                     const struct ppi_wanted *wanted, uint64_t pc,
                     size_t *owner, uint64_t *bin)
{
	size_t low = 0, high = pieces->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pieces->list[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && pc < pieces->list[low - 1].end) {
		const struct ppi_wanted *w;

		*owner = pieces->list[low - 1].owner;
		w = &wanted[*owner];
		*bin = ppi_entry_of(pc - w->offset, pieces->unit, w->scale);
		return true;
	}
	*owner = pieces->overflow;
	*bin = 0;
	return pieces->has_overflow;
}
