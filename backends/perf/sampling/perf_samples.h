/* SPDX-License-Identifier: MIT */
/* From the rings to records: samples, what they weigh, and what else the kernel
 * reports. */
#ifndef PERF_SAMPLES_H
#define PERF_SAMPLES_H

#include "backends/perf/records/perf_records.h"
#include "backends/perf/session/perf_session.h"

struct perf_ring;
struct perf_thread;

/* Words of a payload at most: a chain, and what a record holds beside. */
enum { PERF_PAYLOAD_WORDS = PPI_WORDS_MIN + (1 << 13) };

/* When rings are emptied, and up to which record. */
struct perf_drain {
	uint64_t began_ns;     /* no sample is older */
	uint64_t until_ns;     /* what is younger stays in the rings */
	uint64_t looked_at_ns; /* nothing in them is younger than that */
	bool is_fork_told;     /* of the front record: its name is not */
	unsigned nap_ms;       /* drain_every_ms by the rate */
	uint64_t next_scan_ns, next_adapt_ns, next_rate_look_ns;
};

/* How finely places are told apart: instructions of one line of the cache, of
 * one small function, of one page. */
enum { PERF_BEAT_SCALES = 3, PERF_BEAT_LAGS = 16, PERF_BEAT_FAR = 128 };

/* Of one thread's clock. All 0 to begin with. */
struct perf_beat {
	int64_t tid;       /* whose; 0: nobody's yet */
	unsigned strangers; /* samples of others since its last */
	unsigned count;    /* samples so far */
	uint64_t recent[PERF_BEAT_FAR];
	/* How often a sample was at the place of the one so many before it, and
	 * of one before that by a multiple of as many. */
	struct {
		uint16_t near[PERF_BEAT_LAGS + 1], far[PERF_BEAT_LAGS + 1];
	} same[PERF_BEAT_SCALES];
};

/* Whose samples are, and what they stand for. */
struct perf_weighing {
	bool must_read_counts; /* only these say whose a sample is, see perf_open.c */
	bool has_values;    /* samples carry the event's own count; else */
	bool has_clocks;    /* those of CPU time weigh what threads' clocks
	                     * show: perf_clocks.c */
	bool has_late_bases; /* some threads' clocks were not read at start */
	bool has_fresh_samples; /* since clocks were read last */
	size_t read_on;     /* clocks that are read without a sample, too */
	bool is_id_doubtful; /* a sample may bear another event's id */
	struct perf_raw_field *raw; /* PERF_RAW_MAX of each event; NULL: no
	                             * event has fields to tell */
	struct perf_beat beat; /* of one thread's CPU time */
	bool has_beat;         /* and a note says so */
};

/* ---- perf_drain.c: all rings, oldest record first ---- */

/* A record of ours with what is common to all kinds. */
portprof_record ppi_perf_new_record(const struct perf_state *state,
                                    const struct perf_ring *ring,
                                    const struct perf_seen *seen,
                                    enum portprof_record_kind kind);
/* Whether it is of somebody whose profile this is. */
bool ppi_perf_is_wanted(const struct ppi_backend_session *bs,
                        const struct perf_seen *seen);
bool ppi_perf_has_room(const struct ppi_room *room, size_t words);
/* Now, by the clock of the records; later than any where it is not known. */
uint64_t ppi_perf_record_clock(const struct ppi_backend_session *bs);
portprof_status ppi_perf_drain_rings(struct ppi_backend_session *bs,
                                     struct ppi_room *room);

/* ---- perf_sample.c: one sample ---- */

/* False when there is no room: offer it again. */
bool ppi_perf_take_sample(struct ppi_backend_session *bs,
                          const struct perf_ring *ring,
                          const struct perf_seen *seen, struct ppi_room *room);
const struct perf_source *ppi_perf_source_of(const struct perf_state *state,
                                             uint64_t id);

/*
 * Note a sample. Not 0: every so many samples fell at the same place again, and
 * those between at others, so long that it is no chance: the program goes
 * through the same places in so many periods of the clock, and at none of them
 * is it met but at these. (Where each sample falls at one place it may be the
 * only one, and nothing is seen.)
 */
unsigned ppi_perf_beat_see(struct perf_beat *beat, int64_t tid,
                           uint64_t address);

/* ---- perf_clocks.c: weights by the clocks of threads, where samples of
 * inherited clocks have no count; else nothing happens ---- */

/* Just before events are switched on, and after they are off. */
void ppi_perf_clocks_start(struct ppi_backend_session *bs);
void ppi_perf_clocks_stop(struct ppi_backend_session *bs);
/* After it is known how far rings are filled. */
void ppi_perf_clocks_look(struct ppi_backend_session *bs);
/* Some sources were closed: their samples in the rings are no one's. */
void ppi_perf_clocks_recount(struct ppi_backend_session *bs);
uint64_t ppi_perf_clocks_weigh(struct ppi_backend_session *bs, uint32_t event,
                               uint32_t tid);
/* Of a sample that was weighed, without what only that one sample has: the
 * thread may have no other. */
void ppi_perf_clocks_remember(struct ppi_backend_session *bs,
                              const portprof_record *record,
                              const uint64_t *words, size_t word_count);
/* It executes a program. Its last sample is of the one before, and what follows has no
 * place there. */
void ppi_perf_clocks_exec(struct ppi_backend_session *bs, uint32_t tid);
/* It has ended, or all has stopped: what it used since its last sample is one
 * more. False when there is no room. */
bool ppi_perf_clocks_end(struct ppi_backend_session *bs,
                         struct perf_thread *thread, struct ppi_room *room);
bool ppi_perf_clocks_end_all(struct ppi_backend_session *bs,
                             struct ppi_room *room);
/* The front record of a ring is about to be popped. */
void ppi_perf_clocks_pass(struct ppi_backend_session *bs,
                          const struct perf_ring *ring);

#endif
