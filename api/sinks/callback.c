/* SPDX-License-Identifier: MIT */
/* The callback sinks: the caller's function gets every batch, or all that the
 * backend tells of some regions. */
#include "api/internal/sink.h"

static portprof_status callback_open(struct ppi_sink *sink,
                                     const struct ppi_run *run,
                                     struct ppi_diag *why)
{
	(void)sink;
	(void)run;
	(void)why;
	return PORTPROF_OK;
}

static void callback_take(struct ppi_sink *sink, const portprof_batch *batch,
                          uint8_t *verdicts)
{
	sink->request->take(batch, sink->request->context);
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = &batch->records[i];

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		sink->stats.kept_samples += record->samples;
		sink->stats.kept_weight += record->weight;
		ppi_verdict_raise(verdicts, i, PPI_KEPT);
	}
}

static portprof_status callback_flush(struct ppi_sink *sink,
                                      const struct ppi_run *run,
                                      struct ppi_diag *why)
{
	(void)sink;
	(void)run;
	(void)why;
	return PORTPROF_OK;
}

static portprof_status callback_close(struct ppi_sink *sink,
                                      const struct ppi_run *run,
                                      struct ppi_diag *why)
{
	(void)sink;
	(void)run;
	(void)why;
	return PORTPROF_OK;
}

const struct ppi_sink_ops ppi_sink_callback = {
	.name = "callback",
	.wants_modules = true,
	.wants_account = false,
	.open = callback_open,
	.take = callback_take,
	.flush = callback_flush,
	.close = callback_close,
};

const struct ppi_sink_ops ppi_sink_region_callback = {
	.name = "region callback",
	.wants_modules = false,
	.wants_account = false,
	.open = callback_open,
	.take = callback_take,
	.flush = callback_flush,
	.close = callback_close,
};
