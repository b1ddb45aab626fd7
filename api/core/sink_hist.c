/* SPDX-License-Identifier: MIT */
/* The histogram sink: profil(2) bins over many ranges, saturating. */
#include "api/core/sink.h"

#include <stdlib.h>

/* Weight that does not fill a tick yet waits here for the next sample, so
 * that the sum of ticks times the period stays the weight, to within one. */
struct hist_state {
	uint64_t tick_weight; /* weight of one tick; 0: count samples */
	uint64_t carry;
};

/* pc - offset = d goes to bin floor(d * scale / 131072): what the BSD and
 * illumos kernels compute (FreeBSD sys/kern/subr_prof.c, illumos
 * uts/common/os/clock.c), halved because theirs is a byte offset. The two
 * parts keep the product within 64 bits for any d. */
static uint64_t bin_of(uint64_t distance, uint64_t scale)
{
	uint64_t whole = distance >> 17, rest = distance & 131071;

	return whole * scale + (rest * scale >> 17);
}

/* The first distance whose bin is `bin` or a later one. */
static uint64_t distance_of(uint64_t bin, uint64_t scale)
{
	uint64_t whole = bin / scale, rest = bin % scale;

	return (whole << 17) + ((rest << 17) + scale - 1) / scale;
}

struct ppi_range ppi_range_of_text(const portprof_range *range)
{
	uint64_t bytes = distance_of(range->bin_count, range->scale);
	struct ppi_range text = {
		.start = range->offset,
		.end = range->offset + bytes,
		/* of other scales than powers of two bins end anywhere */
		.bin_bytes = 131072 % range->scale ?
		                     1 : 131072 / range->scale,
	};

	if (text.end < text.start)
		text.end = UINT64_MAX;
	return text;
}

static const portprof_range *find_range(const struct ppi_sink_request *req,
                                        uint64_t pc)
{
	size_t low = 0, high = req->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (req->ranges[middle].offset <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &req->ranges[low - 1] : NULL;
}

static uint64_t bin_max(unsigned bits)
{
	return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static uint64_t bin_get(const portprof_range *range, uint64_t bin)
{
	switch (range->bin_bits) {
	case 16:
		return ((const uint16_t *)range->bins)[bin];
	case 32:
		return ((const uint32_t *)range->bins)[bin];
	default:
		return ((const uint64_t *)range->bins)[bin];
	}
}

static void bin_set(const portprof_range *range, uint64_t bin,
                    uint64_t value)
{
	switch (range->bin_bits) {
	case 16:
		((uint16_t *)range->bins)[bin] = (uint16_t)value;
		break;
	case 32:
		((uint32_t *)range->bins)[bin] = (uint32_t)value;
		break;
	default:
		((uint64_t *)range->bins)[bin] = value;
	}
}

/* Add as much of `amount` as the bin can hold; returns what it could not. */
static uint64_t bin_add(struct ppi_sink *sink, const portprof_range *range,
                        uint64_t bin, uint64_t amount)
{
	uint64_t max = bin_max(range->bin_bits);
	uint64_t now = bin_get(range, bin), fits = max - now;

	if (amount == 0)
		return 0;
	if (amount >= fits && now != max)
		sink->stats.saturated_bins++;
	if (amount <= fits) {
		bin_set(range, bin, now + amount);
		return 0;
	}
	bin_set(range, bin, max);
	return amount - fits;
}

static uint64_t amount_of(struct ppi_sink *sink, const portprof_record *record)
{
	struct hist_state *state = sink->state;
	uint64_t ticks;

	if (sink->request->bin_unit == PORTPROF_BINS_WEIGHT)
		return record->weight;
	if (state->tick_weight == 0)
		return record->samples;
	state->carry += record->weight;
	ticks = state->carry / state->tick_weight;
	state->carry %= state->tick_weight;
	return ticks;
}

static enum ppi_verdict take_outside(struct ppi_sink *sink,
                                     const portprof_record *record)
{
	sink->stats.outside_samples += record->samples;
	sink->stats.outside_weight += record->weight;
	return PPI_OUTSIDE;
}

static enum ppi_verdict take_sample(struct ppi_sink *sink,
                                    const portprof_record *record)
{
	const struct ppi_sink_request *request = sink->request;
	const portprof_range *range;
	uint64_t pc = record->address, bin, amount, rest;

	if (record->valid & PORTPROF_FIELD_KERNEL &&
	    record->valid & PORTPROF_FIELD_USER_ADDRESS)
		pc = record->user_address;
	range = find_range(request, pc);
	if (!range)
		return take_outside(sink, record);
	bin = bin_of(pc - range->offset, range->scale);
	if (bin >= range->bin_count)
		return take_outside(sink, record);
	amount = amount_of(sink, record);
	rest = bin_add(sink, range, bin, amount);
	if (rest && rest == amount) {
		sink->stats.lost_samples += record->samples;
		sink->stats.lost_weight += record->weight;
		return PPI_LOST;
	}
	sink->stats.kept_samples += record->samples;
	sink->stats.kept_weight += record->weight;
	return PPI_KEPT;
}

static portprof_status hist_open(struct ppi_sink *sink,
                                 const struct ppi_run *run,
                                 struct ppi_diag *why)
{
	const struct ppi_event *event =
		&run->plan->events[sink->request->event];
	struct hist_state *state = calloc(1, sizeof(*state));

	if (!state)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "open histogram",
		                "out of memory");
	state->tick_weight = event->request.period;
	if (event->request.rate_hz && event->is_cpu_time)
		state->tick_weight = 1000000000u / event->request.rate_hz;
	sink->state = state;
	return PORTPROF_OK;
}

static void hist_take(struct ppi_sink *sink, const portprof_batch *batch,
                      uint8_t *verdicts)
{
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE &&
		    record->event == sink->request->event)
			ppi_verdict_raise(verdicts, i,
			                  take_sample(sink, record));
	}
}

static portprof_status hist_close(struct ppi_sink *sink,
                                  const struct ppi_run *run,
                                  struct ppi_diag *why)
{
	(void)run;
	(void)why;
	free(sink->state);
	sink->state = NULL;
	return PORTPROF_OK;
}

const struct ppi_sink_ops ppi_sink_hist = {
	.name = "histogram",
	.wants_modules = false,
	.wants_account = false,
	.open = hist_open,
	.take = hist_take,
	.flush = ppi_sink_nothing,
	.close = hist_close,
};
