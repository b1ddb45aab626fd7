/* SPDX-License-Identifier: MIT */
/* How long a tick is: as the system reports it, or as a clock measures it. */
#include "backends/profil/profil_state.h"

#include <errno.h>
#include <string.h>

/* Enough edges for a rate within a percent, and the longest wait for them. */
enum { EDGES = 48, STEP_NS = 40000, WAIT_NS = 400000000 };

struct measurement {
	uint64_t gap_ns[EDGES];
	uint32_t ticks[EDGES];
	size_t count;
};

static uint64_t sum_of(const volatile uint16_t *bins, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += bins[i];
	return sum;
}

/* Burn CPU time where only we are, and write down when the bins move. */
static void watch_edges(const struct profil_kernel *kernel,
                        const uint16_t *bins, size_t count,
                        struct measurement *m)
{
	uint64_t begun = kernel->now_ns(kernel->self), last_edge = 0;
	uint64_t seen = 0;

	while (m->count < EDGES) {
		uint64_t now, sum;

		kernel->burn(kernel->self, STEP_NS);
		now = kernel->now_ns(kernel->self);
		sum = sum_of(bins, count);
		if (now - begun > WAIT_NS)
			return;
		if (sum == seen)
			continue;
		if (last_edge) {
			m->gap_ns[m->count] = now - last_edge;
			m->ticks[m->count++] = (uint32_t)(sum - seen);
		}
		last_edge = now;
		seen = sum;
	}
}

/* A gap in which we did not run is too long: only those count that are at
 * most half as long again as the shortest. */
static void average(const struct measurement *m, struct ppi_tickweight *tick)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < m->count; i++)
		if (m->gap_ns[i] / m->ticks[i] < least)
			least = m->gap_ns[i] / m->ticks[i];
	for (size_t i = 0; i < m->count; i++) {
		if (m->gap_ns[i] / m->ticks[i] > least + least / 2)
			continue;
		tick->num += m->gap_ns[i];
		tick->den += m->ticks[i];
	}
}

static portprof_status measure(struct ppi_backend_session *bs,
                               struct ppi_diag *why)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	struct ppi_pcbins whole = state->bins;
	struct ppi_pcregion region = state->region;
	struct measurement m = { .count = 0 };
	struct ppi_text place;
	portprof_status status;
	size_t bytes;

	kernel->burn_range(kernel->self, &place);
	state->region.offset = place.start;
	state->region.scale = 65536;
	state->bins.count = (size_t)(place.end - place.start + 1) / 2;
	state->bins.active = 0;
	bytes = state->bins.count * sizeof(uint16_t);
	state->bins.buffer[0] = kernel->map(kernel->self, bytes);
	status = state->bins.buffer[0] ?
	                 ppi_profil_claim(bs, why) :
	                 ppi_fail(why, PORTPROF_E_NOMEM, errno, "map bins",
	                          "out of memory: %s", strerror(errno));
	if (status == PORTPROF_OK) {
		watch_edges(kernel, state->bins.buffer[0], state->bins.count,
		            &m);
		status = ppi_profil_give_back(bs, why);
	}
	if (state->bins.buffer[0])
		kernel->unmap(kernel->self, state->bins.buffer[0], bytes);
	state->bins = whole;
	state->region = region;
	average(&m, &state->weight);
	if (status == PORTPROF_OK && state->weight.den == 0)
		status = ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0,
		                  "measure rate", "%s accepts profil() and "
		                  "samples nothing: use another backend",
		                  state->rules->region.system);
	return status;
}

portprof_status ppi_profil_rate(struct ppi_backend_session *bs,
                                struct ppi_diag *why)
{
	const struct profil_kernel *kernel = profil_kernel_of(bs);
	struct profil_state *state = profil_state_of(bs);
	unsigned hz = 0;

	if (state->rules->rate_is_told)
		hz = kernel->rate_hz(kernel->self);
	if (hz == 0)
		return measure(bs, why);
	state->weight.num = 1000000000u;
	state->weight.den = hz;
	return PORTPROF_OK;
}
