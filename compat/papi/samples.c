/* SPDX-License-Identifier: MIT */
/*
 * Samples of a set's events: each `threshold` of them call a handler, or count in
 * bins. They come in the thread that passes samples on, or in PAPI_stop, never in a
 * signal handler.
 */
#include "config.h"

#include "compat/papi/own.h"

#include "base/arithmetic.h"
#include "compat/drop-in/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ppi_papi_sampling {
	PAPI_overflow_handler_t handler; /* NULL: bins */
	uint64_t threshold, carry;
	unsigned width; /* bytes of a bin */
	int count;
	PAPI_sprofil_t ranges[];
};

/* PAPI's rule: of the ranges that begin at or before the pc, the last has it; the
 * bin is (pc - offset) * scale / 131072. Bins stop at their largest value. */
static void count_in_bins(const struct ppi_papi_sampling *sampling, uint64_t pc,
                          uint64_t ticks)
{
	const PAPI_sprofil_t *range = NULL, *other = sampling->ranges;
	uint64_t bin;
	unsigned char *at;

	for (int i = 0; i < sampling->count; i++, other++)
		if ((uintptr_t)other->pr_off <= pc &&
		    (!range || (char *)range->pr_off <= (char *)other->pr_off))
			range = other;
	if (!range)
		return;
	bin = ppi_scale(pc - (uintptr_t)range->pr_off, range->pr_scale, 131072);
	if (bin >= range->pr_size / sampling->width)
		return;
	at = (unsigned char *)range->pr_base + bin * sampling->width;
	if (sampling->width == sizeof(uint64_t))
		*(uint64_t *)(void *)at += ticks;
	else
		ppi_store_add(at, sampling->width, ticks,
		              UINT32_MAX >> (32 - 8 * sampling->width));
}

static void take(const portprof_batch *batch, void *context)
{
	struct ppi_papi_set *set = context;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);
		struct ppi_papi_sampling *sampling;
		unsigned index;
		uint64_t ticks;

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		index = set->sampled[record->event];
		sampling = set->events[index].sampling;
		sampling->carry += record->weight;
		ticks = sampling->carry / sampling->threshold;
		sampling->carry %= sampling->threshold;
		if (!sampling->handler && ticks)
			count_in_bins(sampling, record->address, ticks);
		for (; sampling->handler && ticks; ticks--)
			sampling->handler(set->id,
			                  (void *)(uintptr_t)record->address,
			                  1LL << index, NULL);
	}
}

static portprof_status start_new(struct ppi_papi_set *set)
{
	portprof_config *config;
	portprof_status status = ppi_papi_config(set, &config);
	char period[32];
	unsigned char count = 0;

	for (int i = 0; !status && i < set->count; i++) {
		if (!set->events[i].sampling)
			continue;
		snprintf(period, sizeof(period), ":period=%llu",
		         (unsigned long long)set->events[i].sampling->threshold);
		status = ppi_papi_add(set, config, i, period);
		set->sampled[count++] = (unsigned char)i;
	}
	if (!status)
		status = portprof_config_add_callback(config, take, set);
	if (!status)
		status = portprof_session_open(config, &set->session);
	portprof_config_free(config);
	return status ? status : portprof_session_start(set->session);
}

portprof_status ppi_papi_samples_start(struct ppi_papi_set *set)
{
	if (set->session)
		return portprof_session_start(set->session);
	return ppi_papi_samples_state(set) ? start_new(set) : PORTPROF_OK;
}

int ppi_papi_samples_state(const struct ppi_papi_set *set)
{
	int state = 0;

	for (int i = 0; i < set->count; i++)
		if (set->events[i].sampling)
			state |= set->events[i].sampling->handler ?
			         PAPI_OVERFLOWING : PAPI_PROFILING;
	return state;
}

void ppi_papi_samples_forget(struct ppi_papi_set *set, int index)
{
	portprof_session_close(set->session);
	set->session = NULL;
	free(set->events[index].sampling);
	set->events[index].sampling = NULL;
}

/* Sample, or with threshold 0 no longer. */
static int sample(int id, int code, int threshold,
                  const struct ppi_papi_sampling *wanted,
                  const PAPI_sprofil_t *ranges)
{
	size_t bytes = (size_t)wanted->count * sizeof(*ranges);
	struct ppi_papi_sampling *sampling = NULL;
	int index;

	FIND_SET(set, id);
	index = ppi_papi_index(set, code);
	if (set->is_running)
		return ppi_papi_fail(PAPI_EISRUN);
	if (index < 0)
		return ppi_papi_fail(PAPI_ENOEVNT);
	if (threshold < 0 || (threshold && !wanted->handler && !ranges))
		return ppi_papi_fail(PAPI_EINVAL);
	if (threshold) {
		sampling = malloc(sizeof(*sampling) + bytes);
		if (!sampling)
			return ppi_papi_fail(PAPI_ENOMEM);
		*sampling = *wanted;
		sampling->threshold = (uint64_t)threshold;
		if (bytes)
			memcpy(sampling->ranges, ranges, bytes);
	}
	ppi_papi_samples_forget(set, index);
	set->events[index].sampling = sampling;
	return PAPI_OK;
}

int PAPI_overflow(int id, int code, int threshold, int flags,
                  PAPI_overflow_handler_t handler)
{
	struct ppi_papi_sampling wanted = { .handler = handler };

	if (flags & ~(PAPI_OVERFLOW_FORCE_SW | PAPI_OVERFLOW_HARDWARE))
		return ppi_papi_fail(PAPI_EINVAL);
	return sample(id, code, threshold, &wanted, NULL);
}

int PAPI_get_overflow_event_index(int id, long long vector, int *indexes,
                                  int *number)
{
	int count = 0;

	FIND_SET(set, id);
	if (!vector || !indexes || !number || *number < 1)
		return ppi_papi_fail(PAPI_EINVAL);
	for (int i = 0; i < set->count && count < *number; i++)
		if (vector >> i & 1)
			indexes[count++] = i;
	*number = count;
	return PAPI_OK;
}

int PAPI_sprofil(PAPI_sprofil_t *ranges, int count, int id, int code,
                 int threshold, int flags)
{
	struct ppi_papi_sampling wanted = {
		.width = flags & PAPI_PROFIL_BUCKET_64 ? 8 :
		         flags & PAPI_PROFIL_BUCKET_32 ? 4 : 2,
		.count = count,
	};

	if (count < 0 || (count > 0 && !ranges))
		return ppi_papi_fail(PAPI_EINVAL);
	for (int i = 0; threshold > 0 && i < count; i++)
		if (!ranges[i].pr_base || ranges[i].pr_scale < 2 ||
		    ranges[i].pr_scale > 131072)
			return ppi_papi_fail(PAPI_EINVAL);
	if (flags & ~(PAPI_PROFIL_WEIGHTED | PAPI_PROFIL_FORCE_SW |
	              PAPI_PROFIL_BUCKET_16 | PAPI_PROFIL_BUCKET_32 |
	              PAPI_PROFIL_BUCKET_64)) {
		ppi_papi_say("PAPI_profil", "of its flags only WEIGHTED, "
		             "FORCE_SW and the widths of bins are supported");
		return ppi_papi_fail(PAPI_ENOSUPP);
	}
	return sample(id, code, threshold, &wanted, ranges);
}

int PAPI_profil(void *bins, unsigned bytes, vptr_t offset, unsigned scale,
                int id, int code, int threshold, int flags)
{
	PAPI_sprofil_t range = { bins, bytes, offset, scale };

	return PAPI_sprofil(&range, 1, id, code, threshold, flags);
}
