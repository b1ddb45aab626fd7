/* SPDX-License-Identifier: MIT */
/*
 * The sinks that keep samples in memory or hand them on: array, callback, and shared
 * memory for another process. sink_hist.c counts them in bins, sink_writer.c writes a
 * file.
 */
#include "api/core/sink.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <time.h>

/* ---- array: program counters in time order, as pcsample(2) stores ---- */

/* A record that stands for several ticks at one pc repeats it, as illumos
 * does for owed ticks (uts/common/os/clock.c, profil_tick). A part that does
 * not fit is lost, and its share of the weight with it. */
static enum ppi_verdict store_sample(struct ppi_sink *sink,
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
			                  store_sample(sink, record));
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

/* ---- callbacks: every batch, or the samples of some ranges ---- */

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

/* ---- shared memory, for another process ---- */

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

static void share_sample(struct ppi_sink *sink, const portprof_batch *batch,
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
			share_sample(sink, batch, record, &verdicts[i]);
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
