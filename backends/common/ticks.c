/* SPDX-License-Identifier: MIT */
/* Rates, rings, records and totals of backends that sample by timers. */
#include "backends/common/ticks.h"

#include <stdio.h>

enum {
	RING_MIN = 4096,
	RING_MAX = 65536,
	STACKS_MIN = 64,
	STACKS_MAX = 2048,
	DEFAULT_HZ = 100
};

#define NS_PER_S UINT64_C(1000000000)

struct ppi_tick_rate ppi_tick_rate_of(const struct ppi_event *event,
                                      uint64_t tick_ns)
{
	struct ppi_tick_rate rate = { event->period, tick_ns, 0 };
	uint64_t hz = event->rate_hz ? event->rate_hz : DEFAULT_HZ;

	if (!rate.period_ns)
		rate.period_ns = hz < NS_PER_S ? NS_PER_S / hz : 1;
	if (rate.period_ns > tick_ns)
		rate.spread_ns = rate.period_ns - tick_ns;
	if (rate.spread_ns > rate.period_ns / 2)
		rate.spread_ns = rate.period_ns / 2;
	return rate;
}

/* xorshift64: Marsaglia, Journal of Statistical Software 8 (14), 2003. */
static uint64_t next_random(uint64_t *random)
{
	uint64_t x = *random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *random = x;
}

uint64_t ppi_tick_rate_next(const struct ppi_tick_rate *rate,
                            uint64_t *random)
{
	uint64_t least = rate->period_ns - rate->spread_ns;

	if (!rate->spread_ns)
		return rate->period_ns;
	return least + next_random(random) % (2 * rate->spread_ns + 1);
}

/*
 * From a moment in a period that is as likely in a long one as it is long: a
 * point below the longest is taken when a period drawn beside it reaches so
 * far. So a thread is met as often at its beginning as later.
 */
static uint64_t draw_first(const struct ppi_tick_rate *rate, uint64_t *random,
                           uint64_t *length)
{
	uint64_t longest = rate->period_ns + rate->spread_ns, point;

	do {
		point = 1 + next_random(random) % longest;
		*length = ppi_tick_rate_next(rate, random);
	} while (point > *length);
	return point;
}

uint64_t ppi_tick_rate_first(const struct ppi_tick_rate *rate,
                             uint64_t *random)
{
	uint64_t length;

	return draw_first(rate, random, &length);
}

struct ppi_tick_head ppi_tick_rate_head(const struct ppi_tick_rate *rate,
                                        uint64_t *random)
{
	struct ppi_tick_head head;

	if (!rate->spread_ns)
		head.length_ns = head.first_ns = ppi_tick_rate_granted_ns(rate);
	else
		head.first_ns = draw_first(rate, random, &head.length_ns);
	head.looks = rate->tick_ns
		? (head.first_ns + rate->tick_ns - 1) / rate->tick_ns : 0;
	return head;
}

/*
 * A thread of less than half a period has at most one sample, which weighs a
 * period: used * E[length^2] / period - used^2. A longer one misses at either end
 * what does not depend on how long it is, and not more than that.
 */
double ppi_tick_rate_variance(const struct ppi_tick_rate *rate,
                              uint64_t used_ns)
{
	double period = (double)ppi_tick_rate_granted_ns(rate);
	double spread = (double)rate->spread_ns;
	double used = (double)used_ns < period / 2 ? (double)used_ns : period / 2;

	return used * (period + spread * spread / (3 * period) - used);
}

uint64_t ppi_tick_rate_due(const struct ppi_tick_rate *rate, uint64_t due_ns,
                           uint64_t now_ns, uint64_t *random)
{
	if (due_ns + 4 * rate->period_ns < now_ns)
		due_ns = now_ns;
	return due_ns + ppi_tick_rate_next(rate, random);
}

uint64_t ppi_tick_rate_granted_ns(const struct ppi_tick_rate *rate)
{
	return rate->period_ns > rate->tick_ns ? rate->period_ns :
	                                         rate->tick_ns;
}

uint64_t ppi_tick_rate_resolution_ns(const struct ppi_tick_rate *rate)
{
	return rate->period_ns + rate->spread_ns + rate->tick_ns;
}

/* One that has a single sample was most probably short: then it adds all of its
 * squared weight, and what ppi_tick_rate_variance is at most when a second comes. */
int32_t ppi_tick_rate_squares(const struct ppi_tick_rate *rate,
                              unsigned sample)
{
	uint64_t period = ppi_tick_rate_granted_ns(rate);
	uint64_t share = rate->spread_ns * PPI_TICK_SQUARE / period;
	int32_t more = (int32_t)(share * share / PPI_TICK_SQUARE / 3);

	if (sample == 0)
		return PPI_TICK_SQUARE + more;
	return sample == 1 ? -(PPI_TICK_SQUARE + more) / 2 -
	                     PPI_TICK_SQUARE / 4 : 0;
}

static uint64_t within(uint64_t value, uint64_t least, uint64_t most)
{
	return value < least ? least : value > most ? most : value;
}

struct ppi_tick_ring_size ppi_tick_ring_size(const struct ppi_plan *plan,
                                             const struct ppi_tick_rate *rate,
                                             unsigned cpus)
{
	uint64_t a_second = NS_PER_S / ppi_tick_rate_granted_ns(rate) * cpus;
	struct ppi_tick_ring_size size = { .stack_bytes = plan->stack_bytes,
		                           .bytes = plan->ring_bytes };

	size.samples = (size_t)(plan->stack_bytes
		? within(a_second / 4, STACKS_MIN, STACKS_MAX)
		: within(2 * a_second, RING_MIN, RING_MAX));
	return size;
}

bool ppi_tick_ring_init(struct ppi_tick_ring *ring,
                        const struct ppi_plan *plan,
                        const struct ppi_tick_rate *rate, unsigned cpus)
{
	struct ppi_tick_ring_size size = ppi_tick_ring_size(plan, rate, cpus);
	size_t bytes, stack_bytes;
	void *memory;

	if (!plan->area)
		return ppi_tick_ring_make(ring, &size);
	memory = ppi_area_ring(plan->area, &bytes, &stack_bytes);
	ppi_tick_ring_use(ring, stack_bytes, memory, bytes, true);
	return true;
}

void ppi_tick_rate_note(struct ppi_backend_session *bs,
                        const struct ppi_tick_rate *rate)
{
	if (rate->tick_ns > rate->period_ns)
		ppi_note(bs, "requested a sample every %llu ns, but the kernel "
		         "checks CPU timers every %llu ns: samples are fewer "
		         "and weigh more",
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

static bool is_before(const struct ppi_tick_ring *ring, uint64_t place)
{
	return !ring->is_foreign &&
	       (ptrdiff_t)(ppi_tick_ring_tail(ring) - (size_t)place) < 0;
}

uint64_t ppi_ticks_place(const struct ppi_backend_session *bs)
{
	return bs->ticks ? ppi_tick_ring_head(bs->ticks) : 0;
}

bool ppi_ticks_wait_before(const struct ppi_backend_session *bs,
                           uint64_t place)
{
	return bs->ticks && is_before(bs->ticks, place);
}

void ppi_ticks_drain(struct ppi_tick_ring *ring,
                     const struct ppi_backend_session *bs,
                     struct ppi_room *room)
{
	while (is_before(ring, bs->ticks_end) &&
	       ppi_tick_ring_move(ring, bs->owner_pid, room) == PPI_TICK_MOVED)
		;
}

void ppi_ticks_probe_chains(struct ppi_probe *out)
{
	struct ppi_limit *limit = &out->limits[out->limit_count];
	const char *why;

	if (ppi_context_has_stack(&why))
		return;
	out->caps &= ~(uint64_t)PPI_TICK_CHAINS;
	out->limit_count++;
	limit->caps = PPI_TICK_CHAINS;
	limit->status = PORTPROF_E_UNSUPPORTED;
	snprintf(limit->words, sizeof(limit->words), "call chains: %s", why);
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
