/* SPDX-License-Identifier: MIT */
/* Rates, rings, records and totals of backends that sample by timers. */
#include "backends/shared/ticks.h"

enum { RING_MIN = 4096, RING_MAX = 65536, DEFAULT_HZ = 100 };

#define NS_PER_S UINT64_C(1000000000)

struct ppi_tick_rate ppi_tick_rate_of(const struct ppi_event *event,
                                      uint64_t tick_ns)
{
	struct ppi_tick_rate rate = { event->period, tick_ns };
	uint64_t hz = event->rate_hz ? event->rate_hz : DEFAULT_HZ;

	if (!rate.period_ns)
		rate.period_ns = hz < NS_PER_S ? NS_PER_S / hz : 1;
	return rate;
}

uint64_t ppi_tick_rate_granted_ns(const struct ppi_tick_rate *rate)
{
	return rate->period_ns > rate->tick_ns ? rate->period_ns :
	                                         rate->tick_ns;
}

uint64_t ppi_tick_rate_resolution_ns(const struct ppi_tick_rate *rate)
{
	return rate->period_ns + rate->tick_ns;
}

size_t ppi_tick_ring_cells(const struct ppi_plan *plan,
                           const struct ppi_tick_rate *rate, unsigned cpus)
{
	uint64_t cells = 2 * NS_PER_S / ppi_tick_rate_granted_ns(rate) * cpus;

	if (cells < RING_MIN)
		cells = RING_MIN;
	if (cells > RING_MAX)
		cells = RING_MAX;
	if (plan->ring_bytes)
		cells = plan->ring_bytes / sizeof(struct ppi_pcring_cell);
	return (size_t)cells;
}

bool ppi_tick_ring_init(struct ppi_pcring *ring, const struct ppi_plan *plan,
                        const struct ppi_tick_rate *rate, unsigned cpus)
{
	size_t bytes;
	void *memory;

	if (!plan->area)
		return ppi_pcring_init(ring,
		                       ppi_tick_ring_cells(plan, rate, cpus));
	memory = ppi_area_ring(plan->area, &bytes);
	ppi_pcring_write_to(ring, memory, bytes);
	return true;
}

void ppi_tick_rate_note(struct ppi_backend_session *bs,
                        const struct ppi_tick_rate *rate)
{
	if (rate->tick_ns > rate->period_ns)
		ppi_note(bs, "asked for a sample every %llu ns; the kernel "
		         "looks at CPU timers every %llu ns: fewer samples "
		         "with larger weights",
		         (unsigned long long)rate->period_ns,
		         (unsigned long long)rate->tick_ns);
}

void ppi_tick_rate_account(const struct ppi_tick_rate *rate,
                           struct ppi_account *out)
{
	if (!rate->tick_ns)
		return;
	out->granted_period = ppi_tick_rate_granted_ns(rate);
	out->granted_hz = (double)NS_PER_S / (double)out->granted_period;
}

void ppi_ticks_drain(struct ppi_pcring *ring, int64_t pid,
                     struct ppi_room *room)
{
	struct ppi_tick tick;

	while (!ring->is_foreign && room->record_count < room->record_room &&
	       ppi_pcring_take(ring, &tick))
		ppi_tick_give(&tick, pid, room);
}

void ppi_tick_give(const struct ppi_tick *tick, int64_t pid,
                   struct ppi_room *room)
{
	const portprof_record record = {
		.kind = PORTPROF_RECORD_SAMPLE,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID |
		         PORTPROF_FIELD_TIME,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tick->tid,
		.time_ns = tick->time_ns,
		.address = tick->pc,
		.span = 1,
		.weight = tick->weight,
		.samples = 1,
	};

	ppi_room_add(room, &record, NULL, 0);
}

void ppi_meter_begin(struct ppi_meter *meter, uint64_t now_ns)
{
	meter->base_ns = meter->seen_ns = now_ns;
	meter->is_running = true;
}

/* Clocks of several threads are summed one after the other, so a reading can
 * be behind the one before; a total never goes back. */
void ppi_meter_see(struct ppi_meter *meter, bool is_known, uint64_t now_ns)
{
	if (!is_known)
		meter->is_exact = false;
	else if (now_ns > meter->seen_ns)
		meter->seen_ns = now_ns;
}

void ppi_meter_end(struct ppi_meter *meter)
{
	meter->done_ns = ppi_meter_total_ns(meter);
	meter->is_running = false;
}

uint64_t ppi_meter_total_ns(const struct ppi_meter *meter)
{
	uint64_t total = meter->done_ns;

	if (meter->is_running)
		total += meter->seen_ns - meter->base_ns;
	return total;
}
