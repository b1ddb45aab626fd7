/* SPDX-License-Identifier: MIT */
/* The array sink: program counters in time order, as pcsample(2) stores. */
#include "api/core/sink.h"

/* A record that stands for several ticks at one pc repeats it, as illumos
 * does for owed ticks (uts/common/os/clock.c, profil_tick). A part that does
 * not fit is lost, and its share of the weight with it. */
static enum ppi_verdict take_sample(struct ppi_sink *sink,
                                    const portprof_record *record)
{
	const struct ppi_sink_request *request = sink->request;
	portprof_sink_stats *stats = &sink->stats;
	uint64_t room = request->room - stats->kept_samples;
	uint64_t fits = record->samples < room ? record->samples : room;

	for (uint64_t i = 0; i < fits; i++)
		request->pcs[stats->kept_samples + i] = record->address;
	stats->kept_samples += fits;
	stats->lost_samples += record->samples - fits;
	if (fits || record->samples == 0) {
		stats->kept_weight += record->weight;
		return PPI_KEPT;
	}
	stats->lost_weight += record->weight;
	return PPI_LOST;
}

static void array_take(struct ppi_sink *sink, const portprof_batch *batch,
                       uint8_t *verdicts)
{
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE)
			ppi_verdict_raise(verdicts, i,
			                  take_sample(sink, record));
	}
}

const struct ppi_sink_ops ppi_sink_array = {
	.name = "array",
	.wants_modules = false,
	.wants_account = false,
	.open = ppi_sink_nothing,
	.take = array_take,
	.flush = ppi_sink_nothing,
	.close = ppi_sink_nothing,
};
