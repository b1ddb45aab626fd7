/* SPDX-License-Identifier: MIT */
/* sprofil(): many regions, bins of 16 or 32 bits, one for the rest. */
#define PORTPROF_COMPAT_OWN_NAMES

#include "compat/drop-in/sprofil.h"

#include "compat/drop-in/dialect.h"
#include "compat/drop-in/engine.h"
#include "compat/drop-in/portprof/compat/glibc.h"
#include "compat/drop-in/profil.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- which region and bin an address belongs to ---- */

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

/* ---- sprofil() ---- */

static struct sprofil {
	struct ppi_client client; /* first: a client is this */
	struct ppi_wanted *wanted;
	struct ppi_pieces pieces;
	struct ppi_span *spans;
	unsigned width; /* bytes of a bin */
	bool wraps;     /* the overflow bin does, with defects */
	bool is_begun;  /* the next call stops */
} self;

static void count(size_t owner, uint64_t bin, uint64_t weight_ns)
{
	const struct ppi_wanted *wanted = &self.wanted[owner];
	void *at = (char *)wanted->base + bin * self.width;
	uint64_t ticks = ppi_client_ticks(&self.client, weight_ns);
	uint64_t top = self.width == sizeof(uint16_t) ? UINT16_MAX :
	                                                UINT32_MAX;

	if (!ticks)
		return;
	if (self.wraps && self.pieces.has_overflow &&
	    owner == self.pieces.overflow)
		top = 0;
	if (ppi_pages_can_write(ppi_engine_pages(), at, self.width))
		ppi_store_add(at, self.width, ticks, top);
	else
		self.client.is_on = false;
}

static void take(struct ppi_client *client, uint64_t pc, uint64_t weight_ns)
{
	size_t owner;
	uint64_t bin;

	(void)client;
	if (ppi_pieces_find(&self.pieces, self.wanted, pc, &owner, &bin))
		count(owner, bin, weight_ns);
}

static void forget(void)
{
	free(self.wanted);
	free(self.spans);
	ppi_pieces_free(&self.pieces);
	self.wanted = NULL;
	self.spans = NULL;
	self.client.is_on = false;
	self.is_begun = false;
}

/* A piece's bins begin at its owner's offset: only where that is a whole bin
 * away is a wide one of any use. */
static struct ppi_span span_of(const struct ppi_piece *piece)
{
	const struct ppi_wanted *wanted = &self.wanted[piece->owner];
	struct ppi_span span;

	if (!ppi_span_make(&span, wanted->offset, wanted->bins,
	                   self.pieces.unit, wanted->scale))
		span.bin_bytes = 1;
	while ((piece->start - wanted->offset) % span.bin_bytes ||
	       (piece->end - wanted->offset) % span.bin_bytes)
		span.bin_bytes /= 2;
	span.start = piece->start;
	span.end = piece->end;
	return span;
}

static bool prepare(const struct prof *regions, size_t count, unsigned flags)
{
	self.width = flags & PROF_UINT ? sizeof(uint32_t) : sizeof(uint16_t);
	self.wraps = ppi_wants_defects();
	self.wanted = calloc(count ? count : 1, sizeof(*self.wanted));
	if (!self.wanted)
		return false;
	for (size_t i = 0; i < count; i++)
		self.wanted[i] = (struct ppi_wanted){
			regions[i].pr_base, regions[i].pr_size / self.width,
			regions[i].pr_off,
			regions[i].pr_scale < UINT32_MAX ?
				(uint32_t)regions[i].pr_scale : UINT32_MAX,
		};
	if (!ppi_pieces_make(&self.pieces, self.wanted, count, self.width))
		return false;
	self.spans = calloc(self.pieces.count ? self.pieces.count : 1,
	                    sizeof(*self.spans));
	for (size_t i = 0; self.spans && i < self.pieces.count; i++)
		self.spans[i] = span_of(&self.pieces.list[i]);
	return self.spans != NULL;
}

static void turn_on(const struct ppi_rules *rules)
{
	bool has_rest = self.pieces.has_overflow;

	self.is_begun = self.pieces.count > 0;
	self.client.is_on = self.is_begun;
	self.client.take = take;
	self.client.spans = has_rest ? NULL : self.spans;
	self.client.span_count = has_rest ? 0 : self.pieces.count;
	ppi_client_set_rate(&self.client, ppi_tick_hz(rules));
}

static void tell_period(struct timeval *period, unsigned hz)
{
	unsigned us = (1000000 + hz / 2) / hz;

	if (!period)
		return;
	period->tv_sec = us / 1000000;
	period->tv_usec = us % 1000000;
}

int ppi_sprofil(struct prof *regions, int count, struct timeval *period,
                unsigned flags)
{
	const struct ppi_rules *rules = ppi_rules_find("glibc");
	bool is_good = true, was_begun;
	int result;

	if (count < 0 || (count > 0 && !regions)) {
		errno = EINVAL;
		return -1;
	}
	tell_period(period, ppi_tick_hz(rules));
	if (!ppi_engine_begin(false))
		return 0;
	was_begun = self.is_begun;
	/* also what a start without a region, or one that failed, left */
	forget();
	if (!was_begun) {
		is_good = prepare(regions, (size_t)count, flags);
		if (is_good)
			turn_on(rules);
		else
			forget();
	}
	result = ppi_engine_end(&self.client);
	if (result)
		self.is_begun = false;
	if (!is_good) {
		errno = ENOMEM;
		return -1;
	}
	return result;
}
