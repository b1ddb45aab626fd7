/* SPDX-License-Identifier: MIT */
/* Harvest: 16-bit bins that wrap into wide ones that do not. */
#include "backends/common/pcbins.h"

#include <string.h>

/* Most bins are empty and few gain anything: parts of a page or more are
 * compared at once, then four bins, and pages of seen[] and wide[] that no tick
 * ever concerned are not touched. */
enum { AT_ONCE = 4, PART_BINS = 2048 };

static const uint16_t zeroes[PART_BINS];

static size_t part_bins(const struct ppi_pcbins *bins)
{
	size_t pieces = bins->count / PART_BINS / PPI_BINS_PARTS + 1;

	return pieces * PART_BINS;
}

static size_t end_of(const struct ppi_pcbins *bins, size_t first)
{
	size_t room = bins->count - first, part = part_bins(bins);

	return first + (room < part ? room : part);
}

/* What a step of a bin is worth in ticks. */
static uint32_t ticks_of(struct ppi_pcbins *bins, uint16_t step)
{
	uint64_t ns;

	if (bins->step_max == 0 || step <= bins->step_max)
		return step;
	ns = step * (uint64_t)1000 + bins->rest_ns;
	bins->rest_ns = ns % bins->tick_ns;
	return (uint32_t)(ns / bins->tick_ns);
}

/* The difference is taken modulo 65536, as the kernel counts. */
static void read_bin(struct ppi_pcbins *bins, volatile uint16_t *bin,
                     size_t i)
{
	uint16_t now = *bin, step = (uint16_t)(now - bins->seen[i]);
	uint32_t ticks;

	if (step == 0)
		return;
	if (step > bins->largest_step)
		bins->largest_step = step;
	ticks = ticks_of(bins, step);
	bins->seen[i] = now;
	bins->wide[i] += ticks;
	bins->waiting += ticks;
	bins->seen_in[i / part_bins(bins)] = true;
	bins->wide_in[i / part_bins(bins)] = true;
	if (bins->asleep)
		ppi_own_ticks_mark(bins->asleep, i);
	if (i < bins->cursor)
		bins->cursor = i;
}

/* [first, end) of a buffer is what was seen of it. */
static bool is_as_seen(const struct ppi_pcbins *bins, const uint16_t *buffer,
                       size_t first, size_t end)
{
	bool was_hit = bins->seen_in[first / part_bins(bins)];

	for (size_t i = first, count; i < end; i += count) {
		count = end - i < PART_BINS ? end - i : PART_BINS;
		if (memcmp(buffer + i, was_hit ? bins->seen + i : zeroes,
		           count * sizeof(*buffer)))
			return false;
	}
	return true;
}

static void read_part(struct ppi_pcbins *bins, uint16_t *buffer, size_t first,
                      size_t end)
{
	size_t i = first;

	for (; i + AT_ONCE <= end; i += AT_ONCE) {
		if (memcmp(buffer + i, bins->seen + i,
		           AT_ONCE * sizeof(*buffer)) == 0)
			continue;
		for (size_t k = i; k < i + AT_ONCE; k++)
			read_bin(bins, buffer + k, k);
	}
	for (; i < end; i++)
		read_bin(bins, buffer + i, i);
}

void ppi_pcbins_read(struct ppi_pcbins *bins, unsigned which)
{
	uint16_t *buffer = bins->buffer[which];

	if (bins->waiting == 0)
		memset(bins->wide_in, 0, sizeof(bins->wide_in));
	for (size_t i = 0, end; i < bins->count; i = end) {
		end = end_of(bins, i);
		if (!is_as_seen(bins, buffer, i, end))
			read_part(bins, buffer, i, end);
	}
}

void ppi_pcbins_clear(struct ppi_pcbins *bins, unsigned which)
{
	uint16_t *buffer = bins->buffer[which];

	for (size_t i = 0, end; i < bins->count; i = end) {
		bool *was_hit = &bins->seen_in[i / part_bins(bins)];

		end = end_of(bins, i);
		for (size_t k = i; *was_hit && k < end; k++) {
			if (bins->seen[k] == 0 && buffer[k] == 0)
				continue;
			bins->seen[k] = 0;
			buffer[k] = 0;
		}
		*was_hit = false;
	}
}

/* The first bin from i on that has something; count: none. */
static size_t next_wide(const struct ppi_pcbins *bins, size_t i)
{
	size_t part = part_bins(bins);

	while (i < bins->count && bins->wide[i] == 0)
		i = bins->wide_in[i / part] ? i + 1 : (i / part + 1) * part;
	return i < bins->count ? i : bins->count;
}

static size_t fullest(const struct ppi_pcbins *bins)
{
	size_t found = bins->cursor;

	for (size_t i = next_wide(bins, found); i < bins->count;
	     i = next_wide(bins, i + 1))
		if (bins->wide[i] > bins->wide[found])
			found = i;
	return found;
}

uint64_t ppi_pcbins_put_aside(struct ppi_pcbins *bins, uint64_t ticks,
                              uint64_t most)
{
	uint64_t left = ticks;

	while (left && bins->waiting) {
		uint32_t *bin = &bins->wide[fullest(bins)];
		uint32_t part = *bin < left ? *bin : (uint32_t)left;

		if (*bin <= most)
			break;
		*bin -= part;
		bins->waiting -= part;
		left -= part;
	}
	return ticks - left;
}

uint64_t ppi_pcbins_put_aside_own(struct ppi_pcbins *bins,
                                  const struct ppi_own_ticks *own,
                                  uint64_t most)
{
	uint64_t left = most;

	for (size_t i = next_wide(bins, bins->cursor);
	     left && i < bins->count; i = next_wide(bins, i + 1)) {
		uint32_t part = bins->wide[i] < left ? bins->wide[i] :
		                                       (uint32_t)left;

		if (ppi_own_ticks_is_programs(own, i))
			continue;
		bins->wide[i] -= part;
		bins->waiting -= part;
		left -= part;
	}
	return most - left;
}

bool ppi_pcbins_peek(struct ppi_pcbins *bins, size_t *bin,
                          uint32_t *ticks)
{
	size_t i;

	if (bins->waiting == 0)
		return false;
	i = next_wide(bins, bins->cursor);
	bins->cursor = i;
	*bin = i;
	*ticks = bins->wide[i];
	return true;
}

bool ppi_pcbins_take(struct ppi_pcbins *bins, size_t *bin,
                          uint32_t *ticks)
{
	if (!ppi_pcbins_peek(bins, bin, ticks))
		return false;
	bins->wide[*bin] = 0;
	bins->waiting -= *ticks;
	bins->cursor++;
	return true;
}
