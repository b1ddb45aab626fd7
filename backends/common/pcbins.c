/* SPDX-License-Identifier: MIT */
/* Harvests of a kernel that counts in 16-bit bins which wrap: into wide ones
 * that do not, weighed, without the ticks of our helper, and as records. */
#include "backends/common/pcbins.h"

#include <string.h>

/* ---- weights of ticks, which never add up to more than the CPU time ---- */

void ppi_tickweight_start(struct ppi_tickweight *weight, uint64_t cpu_ns)
{
	weight->start_cpu_ns = cpu_ns;
	weight->start_attributed_ns = weight->attributed_ns;
}

uint64_t ppi_tickweight_foreign(const struct ppi_tickweight *weight,
                                uint64_t ticks, uint64_t cpu_ns,
                                uint64_t spare)
{
	uint64_t used = cpu_ns - weight->start_cpu_ns;
	uint64_t given = weight->attributed_ns - weight->start_attributed_ns;
	uint64_t room = 0;

	if (weight->num == 0) /* how long a tick is is not known */
		return 0;
	if (used > given)
		room = (used - given) * weight->den / weight->num;
	return ticks > room + spare ? ticks - room : 0;
}

void ppi_tickweight_begin(struct ppi_tickweight *weight, uint64_t ticks,
                          uint64_t cpu_ns)
{
	uint64_t sum;

	weight->ticks = ticks;
	weight->given = 0;
	weight->batch_ns = 0;
	if (ticks == 0)
		return;
	if (weight->num)
		weight->ideal_ns += ticks * weight->num / weight->den;
	else
		weight->ideal_ns = cpu_ns;
	sum = weight->ideal_ns < cpu_ns ? weight->ideal_ns : cpu_ns;
	if (sum < weight->attributed_ns)
		sum = weight->attributed_ns;
	weight->batch_ns = sum - weight->attributed_ns;
	weight->attributed_ns = sum;
}

/* batch_ns * ticks / all ticks, rounded down, without overflow. */
static uint64_t share(const struct ppi_tickweight *weight, uint64_t ticks)
{
	uint64_t whole = weight->batch_ns / weight->ticks;
	uint64_t rest = weight->batch_ns % weight->ticks;

	return whole * ticks + rest * ticks / weight->ticks;
}

uint64_t ppi_tickweight_of(const struct ppi_tickweight *weight, uint64_t ticks)
{
	if (weight->ticks == 0)
		return 0;
	return share(weight, weight->given + ticks) -
	       share(weight, weight->given);
}

void ppi_tickweight_give(struct ppi_tickweight *weight, uint64_t ticks)
{
	weight->given += ticks;
}

void ppi_tickweight_forget(struct ppi_tickweight *weight, uint64_t cpu_ns)
{
	weight->ideal_ns = cpu_ns;
	weight->attributed_ns = cpu_ns;
}

/* ---- when our helper works, and how many ticks can have hit it ---- */

bool ppi_own_ticks_next(struct ppi_own_ticks *own, bool is_running,
                        bool must_begin)
{
	if (must_begin || (is_running && own->round == PPI_ROUND_OVER))
		own->round = PPI_ROUND_ASLEEP;
	else if (is_running && own->is_on && own->round < PPI_ROUND_LAST)
		own->round++;
	else
		own->round = PPI_ROUND_OVER;
	return own->round != PPI_ROUND_OVER;
}

/* Twice what its CPU time makes on average, and two: where a tick falls is
 * chance, and some systems know that time as of the last switch only. */
uint64_t ppi_own_ticks_left(const struct ppi_own_ticks *own,
                            const struct ppi_cpu_meter *cpu,
                            const struct ppi_tickweight *tick, unsigned lump)
{
	uint64_t used_ns = cpu->helper.seen_ns - cpu->helper.base_ns, most;

	if (!own->is_on || tick->num == 0)
		return 0;
	most = 2 * (used_ns * tick->den / tick->num + 1 + lump);
	return most > own->taken ? most - own->taken : 0;
}

/* ---- bins ---- */

/* Most bins are empty and few gain anything: parts of a page or more are
 * compared at once, then four bins, and pages of seen[] and wide[] that no tick
 * ever concerned are not touched. */
enum { AT_ONCE = 4, PART_BINS = 2048 };

/* All of it is in a section of its own, between two symbols that linkers make of
 * its name; so nothing that the program runs, too, is called from there. */
#define BIN_READER __attribute__((noinline, section("ppi_bin_reader")))
extern const char __start_ppi_bin_reader[]
	__attribute__((visibility("hidden")));
extern const char __stop_ppi_bin_reader[]
	__attribute__((visibility("hidden")));

void ppi_pcbins_code(struct ppi_text *out)
{
	out->start = (uint64_t)(uintptr_t)__start_ppi_bin_reader;
	out->end = (uint64_t)(uintptr_t)__stop_ppi_bin_reader;
}

static const uint16_t zeroes[PART_BINS];

static inline size_t part_bins(const struct ppi_pcbins *bins)
{
	size_t pieces = bins->count / PART_BINS / PPI_BINS_PARTS + 1;

	return pieces * PART_BINS;
}

static inline size_t end_of(const struct ppi_pcbins *bins, size_t first)
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

static uint64_t word_at(const uint16_t *bins)
{
	uint64_t word;

	memcpy(&word, bins, sizeof(word)); /* becomes a load */
	return word;
}

static BIN_READER bool are_same(const uint16_t *a, const uint16_t *b,
                                size_t count)
{
	enum { ROW = 8 * AT_ONCE };
	size_t i = 0;

	for (; i + ROW <= count; i += ROW) {
		uint64_t differs = 0;

		for (size_t k = i; k < i + ROW; k += AT_ONCE)
			differs |= word_at(a + k) ^ word_at(b + k);
		if (differs)
			return false;
	}
	for (; i < count; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* [first, end) of a buffer is what was seen of it. */
static BIN_READER bool is_as_seen(const struct ppi_pcbins *bins,
                                  const uint16_t *buffer, size_t first,
                                  size_t end)
{
	bool was_hit = bins->seen_in[first / part_bins(bins)];

	for (size_t i = first, count; i < end; i += count) {
		count = end - i < PART_BINS ? end - i : PART_BINS;
		if (!are_same(buffer + i, was_hit ? bins->seen + i : zeroes,
		              count))
			return false;
	}
	return true;
}

static BIN_READER void read_part(struct ppi_pcbins *bins, uint16_t *buffer,
                                 size_t first, size_t end)
{
	size_t i = first;

	for (; i + AT_ONCE <= end; i += AT_ONCE) {
		if (word_at(buffer + i) == word_at(bins->seen + i))
			continue;
		for (size_t k = i; k < i + AT_ONCE; k++)
			read_bin(bins, buffer + k, k);
	}
	for (; i < end; i++)
		read_bin(bins, buffer + i, i);
}

BIN_READER void ppi_pcbins_read(struct ppi_pcbins *bins, unsigned which)
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

BIN_READER void ppi_pcbins_clear(struct ppi_pcbins *bins, unsigned which)
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
static BIN_READER size_t next_wide(const struct ppi_pcbins *bins, size_t i)
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

static void drop(struct ppi_pcbins *bins, size_t i, uint32_t ticks)
{
	bins->wide[i] -= ticks;
	bins->waiting -= ticks;
}

uint64_t ppi_pcbins_put_aside_own(struct ppi_pcbins *bins,
                                  const struct ppi_own_ticks *own,
                                  uint64_t most)
{
	uint64_t left = own->round >= PPI_ROUND_AT_WORK ? most : 0;

	for (size_t i = own->code_first;
	     i < own->code_end && i < bins->count; i++)
		drop(bins, i, bins->wide[i]);
	for (size_t i = next_wide(bins, bins->cursor);
	     left && i < bins->count; i = next_wide(bins, i + 1)) {
		uint32_t part = bins->wide[i] < left ? bins->wide[i] :
		                                       (uint32_t)left;

		if (ppi_own_ticks_is_programs(own, i))
			continue;
		drop(bins, i, part);
		left -= part;
	}
	return own->round >= PPI_ROUND_AT_WORK ? most - left : 0;
}

/* Look at it without taking it. */
static bool peek(struct ppi_pcbins *bins, size_t *bin,
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
	if (!peek(bins, bin, ticks))
		return false;
	bins->wide[*bin] = 0;
	bins->waiting -= *ticks;
	bins->cursor++;
	return true;
}

/* ---- bins as records ---- */

void ppi_pcgive(struct ppi_pcbins *bins, const struct ppi_pcregion *region,
                struct ppi_tickweight *weight, struct ppi_room *room)
{
	uint32_t ticks;
	size_t bin;

	while (peek(bins, &bin, &ticks)) {
		portprof_record record = {
			.kind = PORTPROF_RECORD_SAMPLE,
			.address = region->offset + bin * region->bin_bytes,
			.span = region->bin_bytes,
			.samples = ticks,
			.weight = ppi_tickweight_of(weight, ticks),
		};

		if (!ppi_room_add(room, &record, NULL, 0))
			return;
		ppi_tickweight_give(weight, ticks);
		ppi_pcbins_take(bins, &bin, &ticks);
	}
}
