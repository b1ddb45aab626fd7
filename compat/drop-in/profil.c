/* SPDX-License-Identifier: MIT */
/* profil() and pcsample(): one buffer of 16-bit bins a dialect, and program
 * counters in the order in which their ticks came. */
#include "compat/drop-in/profil.h"

#include "compat/drop-in/dialect.h"
#include "compat/drop-in/engine.h"

#include <errno.h>
#include <limits.h>

/* ---- pcsample() ---- */

/* Program counters in the order in which their ticks came. */

static struct {
	struct ppi_client client; /* first: a client is this */
	uintptr_t *next;
	long room;
	long stored; /* what the next call returns */
} sampled;

/* As the kernel does: it is full only when one more would be stored. */
static void take_pc(struct ppi_client *client, uint64_t pc, uint64_t weight_ns)
{
	uint64_t ticks = ppi_client_ticks(client, weight_ns);

	for (uint64_t i = 0; i < ticks; i++) {
		if (sampled.stored == sampled.room ||
		    !ppi_pages_can_write(ppi_engine_pages(), sampled.next,
		                         sizeof(*sampled.next))) {
			client->is_on = false;
			return;
		}
		*sampled.next++ = (uintptr_t)pc;
		sampled.stored++;
	}
}

long ppi_pcsample(uintptr_t *samples, long room)
{
	const struct ppi_rules *rules = ppi_rules_find("solaris");
	long before;

	if (room < 0) {
		errno = EINVAL;
		return -1;
	}
	if (!ppi_engine_begin(room > 0))
		return 0;
	ppi_dropin_profil_off();
	before = sampled.stored;
	sampled.next = samples;
	sampled.room = room;
	sampled.stored = 0;
	sampled.client.take = take_pc;
	sampled.client.is_on = room > 0;
	sampled.client.goes_on_in_child = rules->child_goes_on;
	ppi_client_set_rate(&sampled.client, ppi_tick_hz(rules));
	return ppi_engine_end(&sampled.client) ? -1 : before;
}

void ppi_dropin_pcsample_off(void)
{
	sampled.client.is_on = false;
	sampled.stored = 0;
}

/* ---- profil() ---- */

/* Each family has a buffer of its own, as programs of several dialects may
 * come together in one process. */
static struct profil {
	struct ppi_client client; /* first: a client is this */
	const struct ppi_rules *rules;
	struct ppi_bins bins;
	struct ppi_span span;
} buffers[PPI_FAMILIES];

/* As kernels do: where the buffer cannot be written profiling ends, and
 * nobody is told. */
static void count(struct profil *profil, uint64_t bin, uint64_t weight_ns)
{
	const struct ppi_rules *rules = profil->rules;
	uint16_t *at = (uint16_t *)((uintptr_t)profil->bins.base +
	                            (uintptr_t)bin * sizeof(*at));
	uint64_t ticks = ppi_client_ticks(&profil->client, weight_ns);
	/* a counter that wraps is a defect, but not one that stops */
	bool wraps = profil->bins.has_defects && !rules->full_stops;

	if (!ticks)
		return;
	if (!ppi_pages_can_write(ppi_engine_pages(), at, sizeof(*at)))
		profil->client.is_on = false;
	else if (ppi_store_add(at, sizeof(*at), ticks,
	                       wraps ? 0 : rules->bin_max) &&
	         rules->full_stops)
		profil->client.is_on = false;
}

static void take(struct ppi_client *client, uint64_t pc, uint64_t weight_ns)
{
	struct profil *profil = (struct profil *)client;
	uint64_t bin = ppi_rules_bin(profil->rules, &profil->bins, pc);

	if (bin != PPI_NO_BIN)
		count(profil, bin, weight_ns);
}

/* Which text can be counted; all of it where a defect brings the rest in. */
static void find_span(struct profil *profil)
{
	const struct ppi_bins *bins = &profil->bins;
	bool is_one_bin = profil->rules->family == PPI_FAMILY_SOLARIS &&
	                  bins->scale == 2;

	profil->client.spans = NULL;
	profil->client.span_count = 0;
	if (bins->has_defects)
		return;
	profil->client.spans = &profil->span;
	if (ppi_span_make(&profil->span, bins->offset, bins->bytes / 2, 2,
	                  is_one_bin ? 0 : bins->scale))
		profil->client.span_count = 1;
}

static bool is_off(const struct ppi_rules *rules, const void *bins,
                   unsigned scale)
{
	return scale < rules->off_below || (rules->null_is_off && !bins);
}

int ppi_profil(const struct ppi_rules *rules, void *bins, size_t bytes,
               uint64_t offset, unsigned scale)
{
	struct profil *profil = &buffers[rules->family];
	bool goes_on;

	if (scale > rules->scale_max) {
		errno = EINVAL;
		return -1;
	}
	goes_on = !is_off(rules, bins, scale);
	if (!ppi_engine_begin(goes_on))
		return 0;
	if (rules->family == PPI_FAMILY_SOLARIS)
		ppi_dropin_pcsample_off();
	profil->client.is_on = goes_on;
	if (goes_on) {
		profil->rules = rules;
		profil->bins = (struct ppi_bins){ bins, bytes, offset, scale,
			                          ppi_wants_defects() };
		profil->client.take = take;
		ppi_client_set_rate(&profil->client, ppi_tick_hz(rules));
		profil->client.goes_on_in_child = rules->child_goes_on;
		find_span(profil);
	}
	return ppi_engine_end(&profil->client);
}

void ppi_dropin_profil_off(void)
{
	buffers[PPI_FAMILY_SOLARIS].client.is_on = false;
}
