/* SPDX-License-Identifier: MIT */
/* What backends that sample by timer signals have in common. */
#ifndef PPI_TICKS_H
#define PPI_TICKS_H

#include "backends/backend.h"
#include "backends/common/tick_ring.h"

/* How often ticks are asked for, and how often they can come. */
struct ppi_tick_rate {
	uint64_t period_ns; /* asked for */
	uint64_t tick_ns;   /* the kernel looks at timers; 0 = unknown */
	uint64_t spread_ns; /* a period is longer or shorter by up to that */
};

struct ppi_tick_rate ppi_tick_rate_of(const struct ppi_event *event,
                                      uint64_t tick_ns);

/*
 * How far it is to the next tick, at random, so that a program which works at
 * our rate is not met at one place: period_ns on average, within spread_ns of it,
 * all alike. Half a period is the most; less where the tick is nearly as long,
 * which would come too late for the next, and none where it is longer: then every
 * tick of the kernel is taken. _first is from a moment that has nothing to do with
 * our ticks. For signal handlers, too; *random is never 0.
 */
uint64_t ppi_tick_rate_next(const struct ppi_tick_rate *rate,
                            uint64_t *random);
uint64_t ppi_tick_rate_first(const struct ppi_tick_rate *rate,
                             uint64_t *random);

/*
 * The first sample of a thread (or process) whose ends are estimated: as if it had
 * been sampled long before it began. It stands for the whole period that it ends,
 * however much of that the thread has run; so the samples of many weigh on average
 * what they used, and what runs after the last sample of one is in the first of
 * another. Until then the kernel's looks count, each as a tick: a thread that runs
 * for moments is met by them as often as it deserves, while its CPU clock between
 * two of them is short or long.
 */
struct ppi_tick_head {
	uint64_t length_ns; /* the first sample's weight */
	uint64_t first_ns;  /* after so long it is due, */
	uint64_t looks;     /* which is at this look; 0: they are not known */
};
struct ppi_tick_head ppi_tick_rate_head(const struct ppi_tick_rate *rate,
                                        uint64_t *random);

/* How far, squared, the samples of a thread that used so much CPU time are from
 * it by chance. */
double ppi_tick_rate_variance(const struct ppi_tick_rate *rate,
                              uint64_t used_ns);

/* The same by samples alone, of threads of which nothing else is known: what the
 * first, the second or a later one (0, 1, ...) adds to it on average, as in
 * ppi_tick.squares. For signal handlers. */
int32_t ppi_tick_rate_squares(const struct ppi_tick_rate *rate,
                              unsigned sample);

/*
 * When the next tick is due, one that was due at due_ns having come at now_ns.
 * It is counted from when that was due, for ticks come late, and there shall be
 * as many as was asked for; but what a thread could not be told of for longer
 * than four periods is not made up for. May lie before now_ns. For signal
 * handlers, too.
 */
uint64_t ppi_tick_rate_due(const struct ppi_tick_rate *rate, uint64_t due_ns,
                           uint64_t now_ns, uint64_t *random);

/* The longer of the two: CPU time between two ticks in the long run. */
uint64_t ppi_tick_rate_granted_ns(const struct ppi_tick_rate *rate);

/* The longest CPU time between two ticks of one thread (R in the contract). */
uint64_t ppi_tick_rate_resolution_ns(const struct ppi_tick_rate *rate);

/* Room for what all CPUs can give in two seconds, of stacks in a quarter of
 * one; or what the plan says. */
struct ppi_tick_ring_size ppi_tick_ring_size(const struct ppi_plan *plan,
                                             const struct ppi_tick_rate *rate,
                                             unsigned cpus);

/* A ring of that size, or the one of the plan's area. */
bool ppi_tick_ring_init(struct ppi_tick_ring *ring,
                        const struct ppi_plan *plan,
                        const struct ppi_tick_rate *rate, unsigned cpus);

/* Tell the user when the kernel's tick is coarser than the period. */
void ppi_tick_rate_note(struct ppi_backend_session *bs,
                        const struct ppi_tick_rate *rate);
void ppi_tick_rate_account(const struct ppi_tick_rate *rate,
                           struct ppi_account *out);

/* Move ticks into `room` as samples until one of them is empty or full, or at
 * bs->ticks_end. Where another process takes them, nothing is moved. */
void ppi_ticks_drain(struct ppi_tick_ring *ring,
                     const struct ppi_backend_session *bs,
                     struct ppi_room *room);

/* Call chains of such a backend: its probe has both capabilities already, and
 * loses them here where they are not to be had. */
#define PPI_TICK_CHAINS (PORTPROF_CAP_CHAIN | PORTPROF_CAP_UNWIND)
void ppi_ticks_probe_chains(struct ppi_probe *out);

/* The event's own total: a clock that is looked at, while running. */
struct ppi_meter {
	uint64_t base_ns; /* its value at start */
	uint64_t seen_ns; /* its last known value */
	uint64_t done_ns; /* of stretches that are over */
	bool is_running;
	bool is_exact;    /* every look so far found it */
};

void ppi_meter_begin(struct ppi_meter *meter, uint64_t now_ns);
/* is_known false: it could not be read, and the last reading counts. */
void ppi_meter_see(struct ppi_meter *meter, bool is_known, uint64_t now_ns);
void ppi_meter_end(struct ppi_meter *meter);
uint64_t ppi_meter_total_ns(const struct ppi_meter *meter);

#endif
