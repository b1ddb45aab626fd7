/* SPDX-License-Identifier: MIT */
/* The callback sinks: the caller's function gets every batch, or the samples of
 * some ranges. */
#include "api/core/sink.h"

#include "base/unwind.h"

/* A batch that its callback has, or that was left by an exception or
 * pthread_exit in the middle: then its samples are lost. */
struct taking {
	struct ppi_sink *sink;
	const portprof_batch *batch;
	uint8_t *verdicts;
	bool is_taken;
};

static void count_batch(struct taking *taking)
{
	portprof_sink_stats *stats = &taking->sink->stats;

	for (size_t i = 0; i < taking->batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(taking->batch, i);

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		if (!taking->is_taken) {
			stats->lost_samples += record->samples;
			stats->lost_weight += record->weight;
			continue;
		}
		stats->kept_samples += record->samples;
		stats->kept_weight += record->weight;
		ppi_verdict_raise(taking->verdicts, i, PPI_KEPT);
	}
}

static void callback_take(struct ppi_sink *sink, const portprof_batch *batch,
                          uint8_t *verdicts)
{
	struct taking taking PPI_AT_LEAVE(count_batch) = { sink, batch,
		                                           verdicts, false };

	sink->request->take(batch, sink->request->context);
	taking.is_taken = true;
}

const struct ppi_sink_ops ppi_sink_callback = {
	.name = "callback",
	.wants_modules = true,
	.wants_account = false,
	.open = ppi_sink_nothing,
	.take = callback_take,
	.flush = ppi_sink_nothing,
	.close = ppi_sink_nothing,
};

/* Who looks on keeps nothing: what became of a sample is not his to say. */
static void observer_take(struct ppi_sink *sink, const portprof_batch *batch,
                          uint8_t *verdicts)
{
	(void)verdicts;
	sink->request->take(batch, sink->request->context);
}

const struct ppi_sink_ops ppi_sink_observer = {
	.name = "observer",
	.wants_modules = true,
	.wants_account = false,
	.open = ppi_sink_nothing,
	.take = observer_take,
	.flush = ppi_sink_nothing,
	.close = ppi_sink_nothing,
};

const struct ppi_sink_ops ppi_sink_range_callback = {
	.name = "range callback",
	.wants_modules = false,
	.wants_account = false,
	.open = ppi_sink_nothing,
	.take = callback_take,
	.flush = ppi_sink_nothing,
	.close = ppi_sink_nothing,
};
