/* SPDX-License-Identifier: MIT */
/* Harvest: 16-bit bins that wrap into wide ones that do not. */
#include "backends/shared/pcbins.h"

#include <string.h>

/* Most bins are empty: they are looked at four at a time, and pages of seen[]
 * and wide[] that no tick ever concerned are not touched for writing. */
enum { AT_ONCE = 4 };

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
	if (bins->asleep)
		ppi_own_ticks_mark(bins->asleep, i);
	if (i < bins->cursor)
		bins->cursor = i;
}

static bool is_empty(const uint16_t *four)
{
	uint64_t value;

	memcpy(&value, four, sizeof(value));
	return value == 0;
}

void ppi_pcbins_read(struct ppi_pcbins *bins, unsigned which)
{
	uint16_t *buffer = bins->buffer[which];
	size_t i = 0;

	for (; i + AT_ONCE <= bins->count; i += AT_ONCE) {
		/* a bin that wrapped to 0 was seen as something else */
		if (is_empty(buffer + i) && is_empty(bins->seen + i))
			continue;
		for (size_t k = i; k < i + AT_ONCE; k++)
			read_bin(bins, buffer + k, k);
	}
	for (; i < bins->count; i++)
		read_bin(bins, buffer + i, i);
}

void ppi_pcbins_clear(struct ppi_pcbins *bins, unsigned which)
{
	uint16_t *buffer = bins->buffer[which];

	for (size_t i = 0; i < bins->count; i++) {
		if (bins->seen[i] == 0 && buffer[i] == 0)
			continue;
		bins->seen[i] = 0;
		buffer[i] = 0;
	}
}

static size_t fullest(const struct ppi_pcbins *bins)
{
	size_t found = bins->cursor;

	for (size_t i = found; i < bins->count; i++)
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

	for (size_t i = bins->cursor; left && i < bins->count; i++) {
		uint32_t part = bins->wide[i] < left ? bins->wide[i] :
		                                       (uint32_t)left;

		if (part == 0 || ppi_own_ticks_is_programs(own, i))
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
	size_t i = bins->cursor;

	if (bins->waiting == 0)
		return false;
	while (i < bins->count && bins->wide[i] == 0)
		i++;
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
