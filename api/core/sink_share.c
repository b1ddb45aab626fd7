/* SPDX-License-Identifier: MIT */
/* The sink that stores samples in shared memory, for another process. */
#include "api/core/sink.h"

#include <stdlib.h>
#include <time.h>

/* How long to wait for room: modules come in crowds, samples go elsewhere. */
enum { PATIENCE = 200, NAP_NS = 1000000 };

struct share {
	struct ppi_area *area;
	size_t notes; /* told so far */
};

static portprof_status share_open(struct ppi_sink *sink,
                                  const struct ppi_run *run,
                                  struct ppi_diag *why)
{
	struct share *share = calloc(1, sizeof(*share));

	if (!share)
		return ppi_fail(why, PORTPROF_E_NOMEM, 0, "share memory",
		                "out of memory");
	share->area = run->plan->area;
	sink->state = share;
	return PORTPROF_OK;
}

static bool put(struct ppi_area *area, const portprof_batch *batch,
                const portprof_record *record)
{
	const void *payload = record->payload_words ?
		&batch->words[record->payload] : NULL;

	return ppi_area_put(area, record, payload,
	                    (size_t)record->payload_words * 8);
}

/* Without its module a sample has no name: that is worth a little patience. */
static bool put_patiently(struct ppi_area *area, const portprof_batch *batch,
                          const portprof_record *record)
{
	struct timespec nap = { 0, NAP_NS };

	for (int i = 0; i < PATIENCE; i++) {
		if (put(area, batch, record))
			return true;
		if (ppi_area_is_abandoned(area))
			return false;
		nanosleep(&nap, NULL);
	}
	return false;
}

static void take_sample(struct ppi_sink *sink, const portprof_batch *batch,
                        const portprof_record *record, uint8_t *verdict)
{
	const struct share *share = sink->state;

	if (put_patiently(share->area, batch, record)) {
		ppi_verdict_raise(verdict, 0, PPI_KEPT);
		sink->stats.kept_samples += record->samples;
		sink->stats.kept_weight += record->weight;
	} else {
		sink->stats.lost_samples += record->samples;
		sink->stats.lost_weight += record->weight;
	}
}

static void share_take(struct ppi_sink *sink, const portprof_batch *batch,
                       uint8_t *verdicts)
{
	const struct share *share = sink->state;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE)
			take_sample(sink, batch, record, &verdicts[i]);
		else
			put_patiently(share->area, batch, record);
	}
}

/* One event is all that a session in another process measures. */
static void tell_account(struct ppi_area *area, const struct ppi_run *run,
                         bool is_last)
{
	const portprof_stats *stats = run->stats;
	const struct ppi_account account = {
		.total_weight = stats->total_weight -
		                stats->not_attached_weight,
		.not_attached = stats->not_attached_weight,
		.cpu_time_ns = stats->cpu_time_ns,
		.own_cost_ns = stats->own_cost_ns,
		.is_estimate = stats->standard_error != 0,
		.variance = (double)stats->standard_error *
		            (double)stats->standard_error,
		.lost_samples = stats->lost_samples,
		.throttled = stats->throttled,
		.granted_period = stats->granted_period,
		.granted_hz = stats->granted_hz,
		.lost_certainty = stats->lost_certainty,
		.total_certainty = stats->unattributed_certainty,
	};

	ppi_area_account(area, &account, is_last);
}

static portprof_status share_flush(struct ppi_sink *sink,
                                   const struct ppi_run *run,
                                   struct ppi_diag *why)
{
	struct share *share = sink->state;

	(void)why;
	while (share->notes < run->note_count &&
	       ppi_area_note(share->area, run->notes[share->notes]))
		share->notes++;
	tell_account(share->area, run, false);
	return PORTPROF_OK;
}

/* In a forked child the area is the parent's. */
static portprof_status share_close(struct ppi_sink *sink,
                                   const struct ppi_run *run,
                                   struct ppi_diag *why)
{
	struct share *share = sink->state;
	portprof_status status = run ? share_flush(sink, run, why) : PORTPROF_OK;

	if (run)
		tell_account(share->area, run, true);
	free(share);
	sink->state = NULL;
	return status;
}

const struct ppi_sink_ops ppi_sink_share = {
	.name = "share",
	.wants_modules = true,
	.wants_account = true,
	.open = share_open,
	.take = share_take,
	.flush = share_flush,
	.close = share_close,
};
